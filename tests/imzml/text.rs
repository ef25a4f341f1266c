//! Small imzML files written in the tests, and ways to read them.

use std::fmt::Write;

use sectile::error::Error;
use sectile::imzml::Dataset;
use sectile::imzml::reader::Reader;
use sectile::imzml::spectrum::{check_lengths, decode};
use sectile::job::{Machine, Step};

pub(crate) const MEMORY: u64 = 1 << 20;

/// Reads XML that is all there.
pub(crate) fn read(xml: &[u8]) -> Result<Dataset, Error> {
    read_in(xml, xml.len().max(1))
}

/// Reads XML in chunks of so many bytes.
pub(crate) fn read_in(xml: &[u8], chunk: usize) -> Result<Dataset, Error> {
    let mut reader = Reader::new("test.imzML", MEMORY);
    for part in xml.chunks(chunk) {
        reader.push(part)?;
    }
    reader.finish()
}

/// Runs a machine over bytes in memory; `hidden` keeps their number from it, `part` cuts answers.
pub(crate) fn drive<M: Machine>(
    machine: &mut M,
    bytes: &[u8],
    hidden: bool,
    part: usize,
) -> Result<u32, Error> {
    let mut reads = 0;
    loop {
        match machine.step()? {
            Step::Done => return Ok(reads),
            Step::Ready(_) => {}
            Step::Need(range) => {
                assert!(range.start < range.end);
                let from = range.start.min(bytes.len() as u64) as usize;
                let to = range.end.min(bytes.len() as u64) as usize;
                let to = if hidden { to } else { to.min(from + part) };
                let total = (!hidden).then_some(bytes.len() as u64);
                machine.feed(range.start, &bytes[from..to], total)?;
                reads += 1;
                assert!(reads < 100_000, "the machine does not end");
            }
        }
    }
}

/// m/z and intensities of one spectrum.
pub(crate) fn peaks(
    dataset: &Dataset,
    ibd: &[u8],
    index: usize,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let spectrum = &dataset.spectra[index];
    check_lengths(spectrum, "test.ibd", index as u64)?;
    let mut found = [Vec::new(), Vec::new()];
    for (array, out) in [spectrum.mz(), spectrum.intensity()]
        .into_iter()
        .zip(&mut found)
    {
        let bytes = &ibd[array.at as usize..array.end() as usize];
        decode(array, bytes, "test.ibd", index as u64, out)?;
    }
    let [mz, intensity] = found;
    Ok((mz, intensity))
}

/// A whole file: what stands in the usual places, each of which a test may replace.
#[derive(Clone)]
pub(crate) struct Xml {
    pub(crate) content: String,
    pub(crate) groups: String,
    pub(crate) settings: String,
    pub(crate) instrument: String,
    pub(crate) spectra: Vec<String>,
}

pub(crate) fn term(accession: &str, name: &str, value: &str) -> String {
    let (vocabulary, _) = accession.split_once(':').unwrap();
    format!(
        r#"<cvParam cvRef="{vocabulary}" accession="{accession}" name="{name}" value="{value}"/>"#
    )
}

/// An array of `len` values, `bytes` long.
pub(crate) fn array(group: &str, at: &str, len: &str, bytes: &str) -> String {
    format!(
        r#"<binaryDataArray encodedLength="0"><referenceableParamGroupRef ref="{group}"/>{}{}{}<binary/></binaryDataArray>"#,
        term("IMS:1000102", "external offset", at),
        term("IMS:1000103", "external array length", len),
        term("IMS:1000104", "external encoded length", bytes),
    )
}

pub(crate) fn scan(x: &str, y: &str) -> String {
    format!(
        r#"<scanList count="1"><scan>{}{}</scan></scanList>"#,
        term("IMS:1000050", "position x", x),
        term("IMS:1000051", "position y", y)
    )
}

/// A spectrum of three peaks, f64 m/z and f32 intensities.
pub(crate) fn spectrum(scan: &str, arrays: &[String]) -> String {
    format!(
        r#"<spectrum id="s" defaultArrayLength="3" index="0">{scan}<binaryDataArrayList count="2">{}</binaryDataArrayList></spectrum>"#,
        arrays.concat()
    )
}

/// The arrays of the spectrum number `index`.
pub(crate) fn arrays(index: u64) -> [String; 2] {
    let at = 16 + index * 36;
    [
        array("mz", &at.to_string(), "3", "24"),
        array("intensity", &(at + 24).to_string(), "3", "12"),
    ]
}

impl Xml {
    /// A row of `count` spectra.
    pub(crate) fn row(count: u64) -> Self {
        let one = |index: u64| spectrum(&scan(&(index + 1).to_string(), "1"), &arrays(index));
        let mut groups = String::new();
        for (id, kind, number) in [
            (
                "mz",
                ("MS:1000514", "m/z array"),
                ("MS:1000523", "64-bit float"),
            ),
            (
                "intensity",
                ("MS:1000515", "intensity array"),
                ("MS:1000521", "32-bit float"),
            ),
        ] {
            let terms = [kind, number, ("MS:1000576", "no compression")];
            let terms = terms
                .map(|(accession, name)| term(accession, name, ""))
                .concat();
            write!(
                groups,
                r#"<referenceableParamGroup id="{id}">{terms}</referenceableParamGroup>"#
            )
            .unwrap();
        }
        Self {
            content: [
                term("MS:1000127", "centroid spectrum", ""),
                term("IMS:1000080", "universally unique identifier", UUID),
                term("IMS:1000031", "processed", ""),
            ]
            .concat(),
            groups,
            settings: r#"<cvParam accession="IMS:1000046" name="pixel size x" value="50" unitAccession="UO:0000017"/>"#.to_owned(),
            instrument: String::new(),
            spectra: (0..count).map(one).collect(),
        }
    }

    pub(crate) fn head(&self, count: u64) -> String {
        format!(
            r#"<?xml version="1.0"?>
<mzML xmlns="http://psi.hupo.org/ms/mzml" version="1.1"><fileDescription><fileContent>{}</fileContent></fileDescription>
<referenceableParamGroupList count="2">{}</referenceableParamGroupList>
<scanSettingsList count="1"><scanSettings id="s">{}</scanSettings></scanSettingsList>
<instrumentConfigurationList count="1"><instrumentConfiguration id="i">{}</instrumentConfiguration></instrumentConfigurationList>
<run id="run"><spectrumList count="{count}">"#,
            self.content, self.groups, self.settings, self.instrument
        )
    }

    pub(crate) fn text(&self) -> String {
        let head = self.head(self.spectra.len() as u64);
        format!("{head}{}{END}", self.spectra.concat())
    }

    pub(crate) fn read(&self) -> Result<Dataset, Error> {
        read(self.text().as_bytes())
    }

    /// The message of the error that it must give.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        self.read().unwrap_err().to_string()
    }
}

pub(crate) const END: &str = "</spectrumList></run></mzML>\n";
pub(crate) const UUID: &str = "{0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0}";
