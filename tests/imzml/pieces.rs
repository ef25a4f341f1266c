//! The same dataset however the bytes arrive, and memory that does not grow with the XML.

use sectile::imzml::reader::Reader;

use crate::text::{END, MEMORY, Xml, drive, read, read_in};

/// Everything that a cut may fall into.
fn awkward() -> String {
    let mut xml = Xml::row(3);
    xml.content += "<!-- a - comment -- with > and <b> and -x-> -->";
    xml.instrument += r#"<cvParam accession='MS:1000557' name='L&lt;Q &amp; "FT" &#956;'/>"#;
    xml.spectra[1] = xml.spectra[1].replace(
        "<scan>",
        "<![CDATA[ <scan> ]] > ]]]><userParam name='a > b' value=\"'>'\"/>\n<scan\n\t>",
    );
    xml.spectra[2] = xml.spectra[2].replace("<binary/>", "<binary>QUJD</binary ><?note ? > ?>");
    format!("\u{feff}{}", xml.text())
}

#[test]
fn any_cut_gives_the_same() {
    let xml = awkward();
    let whole = read(xml.as_bytes()).unwrap();
    assert_eq!(whole.spectra.len(), 3);
    assert_eq!(whole.instrument.as_deref(), Some("L<Q & \"FT\" \u{3bc}"));
    for chunk in [1, 2, 3, 7, 64, 4096, 65536] {
        assert_eq!(
            read_in(xml.as_bytes(), chunk).unwrap(),
            whole,
            "chunks of {chunk}"
        );
    }
    for at in 0..xml.len() {
        let mut reader = Reader::new("test.imzML", MEMORY);
        reader.push(&xml.as_bytes()[..at]).unwrap();
        reader.push(&xml.as_bytes()[at..]).unwrap();
        assert_eq!(reader.finish().unwrap(), whole, "cut at {at}");
    }
}

#[test]
fn the_machine_reads_once_and_takes_parts() {
    let xml = awkward();
    let whole = read(xml.as_bytes()).unwrap();
    for (hidden, part) in [(false, usize::MAX), (false, 100), (true, 0)] {
        let mut reader = Reader::new("test.imzML", MEMORY);
        let reads = drive(&mut reader, xml.as_bytes(), hidden, part).unwrap();
        let parts = if hidden { 1 } else { xml.len().div_ceil(part) };
        assert!(reads as usize <= parts);
        assert_eq!(reader.finish().unwrap(), whole);
    }
}

#[test]
fn a_file_that_changes_is_noticed() {
    use sectile::job::{Machine, Step};
    let mut reader = Reader::new("test.imzML", MEMORY);
    assert!(matches!(reader.step(), Ok(Step::Need(_))));
    reader.feed(0, b"<mzML>", Some(3 << 20)).unwrap();
    assert!(matches!(reader.step(), Ok(Step::Need(range)) if range.start == 6));
    assert!(reader.feed(7, b"  ", Some(3 << 20)).is_err(), "a gap");
    assert!(matches!(reader.step(), Ok(Step::Need(_))));
    let error = reader.feed(6, b"  ", Some(4 << 20)).unwrap_err();
    assert!(error.to_string().contains("changed"));
}

#[test]
fn two_hundred_thousand_spectra_take_an_index_and_no_more() {
    const COUNT: u64 = 200_000;
    const INDEX: u64 = COUNT * 48;
    for (announced, most) in [(COUNT, INDEX), (1, INDEX * 5 / 2)] {
        // At the end 4 bytes a spectrum more, to find positions that repeat.
        let memory = most + COUNT * 4 + 10_000;
        let mut reader = Reader::new("big.imzML", memory);
        let head = Xml::row(0).head(announced);
        let total = 700 * COUNT;
        let mut buffer = head.into_bytes();
        let mut fed = 0;
        let mut longest = 0;
        for index in 0..COUNT {
            // The same text but for its numbers: memory would show in what the reader holds.
            buffer.extend_from_slice(short_spectrum(index).as_bytes());
            if buffer.len() >= 60_000 {
                feed(&mut reader, &mut fed, &buffer, total);
                longest = longest.max(reader.pending());
                buffer.clear();
            }
        }
        buffer.extend_from_slice(END.as_bytes());
        feed(&mut reader, &mut fed, &buffer, total);
        assert!(longest < 1000, "{longest} bytes kept of a tag");
        assert!(reader.peak() <= memory);
        assert_eq!(reader.spectra(), COUNT);
        let dataset = reader.finish().unwrap();
        assert_eq!(dataset.spectra.len() as u64, COUNT);
        let ok = dataset.spectra.iter().zip(0..).all(|(spectrum, index)| {
            spectrum.mz().at == 16 + index * 36
                && u64::from(spectrum.x.cast_unsigned()) == index % 500 + 1
        });
        assert!(ok);
        assert_eq!((dataset.grid.width, dataset.grid.height), (500, 400));
    }
}

fn feed(reader: &mut Reader, fed: &mut u64, bytes: &[u8], total: u64) {
    use sectile::job::{Machine, Step};
    // As a driver does, so that the size is known; then the announcement is believed.
    let mut rest = bytes;
    while !rest.is_empty() {
        let Ok(Step::Need(range)) = reader.step() else {
            return;
        };
        let part = rest.len().min((range.end - range.start) as usize);
        reader.feed(*fed, &rest[..part], Some(total)).unwrap();
        *fed += part as u64;
        rest = &rest[part..];
    }
}

#[test]
fn reads_grow_where_there_is_memory_and_are_accounted_for() {
    use sectile::job::{Machine, Step};
    const XML: u64 = 24 << 20;
    for (memory, most_reads, longest) in [
        (256 << 20, 8, 4 << 20),
        (24 << 20, 13, 2 << 20),
        (15 << 20, 24, 1 << 20),
    ] {
        let mut reader = Reader::new("test.imzML", memory);
        let (mut at, mut reads, mut most) = (0, 0, 0);
        let mut text = b"<mzML><run>".to_vec();
        while at < XML {
            let Ok(Step::Need(range)) = reader.step() else {
                panic!("{at}")
            };
            let len = range.end - range.start;
            text.resize(len as usize, b' ');
            reader.feed(at, &text, Some(XML)).unwrap();
            text.clear();
            (at, reads, most) = (range.end, reads + 1, most.max(len));
            assert!(reader.held() >= most.saturating_sub(1 << 20));
        }
        assert!(reads <= most_reads, "{reads} reads with {memory}");
        assert_eq!(most, longest);
    }
}

fn short_spectrum(index: u64) -> String {
    let at = 16 + index * 36;
    format!(
        r#"<spectrum defaultArrayLength="3"><scan><cvParam accession="IMS:1000050" value="{}"/><cvParam accession="IMS:1000051" value="{}"/></scan><binaryDataArray><referenceableParamGroupRef ref="mz"/><cvParam accession="IMS:1000102" value="{at}"/><cvParam accession="IMS:1000103" value="3"/></binaryDataArray><binaryDataArray><referenceableParamGroupRef ref="intensity"/><cvParam accession="IMS:1000102" value="{}"/><cvParam accession="IMS:1000103" value="3"/></binaryDataArray></spectrum>"#,
        index % 500 + 1,
        index / 500 + 1,
        at + 24
    )
}

#[test]
fn an_index_that_does_not_fit_is_refused() {
    let mut reader = Reader::new("test.imzML", 20_000);
    let text = Xml::row(1000).text();
    let error = text
        .as_bytes()
        .chunks(100)
        .find_map(|part| reader.push(part).err());
    let error = error.expect("1000 spectra take 48,000 bytes");
    assert_eq!(error.code(), "budget");
    assert_eq!(reader.push(b"more").unwrap_err(), error, "the error stays");
    assert!(reader.peak() <= 20_000);
}
