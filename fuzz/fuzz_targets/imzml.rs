//! Whatever the bytes, the imzML reader ends, gives the same answer however they are cut, and what it
//! finds can be decoded or is refused.
//!
//! `cargo fuzz run imzml fuzz/corpus/imzml tests/data/imzml -- -dict=fuzz/imzml.dict -max_len=16384`
//! (on a stable toolchain with `RUSTC_BOOTSTRAP=1` in the environment).

#![no_main]

use libfuzzer_sys::fuzz_target;
use sectile::error::Result;
use sectile::imzml::Dataset;
use sectile::imzml::reader::{PIXEL_LIMIT, Reader};
use sectile::imzml::spectrum::{check_intensity, check_mz, decode, decode_f32};

const MEMORY: u64 = 1 << 20;

/// Reads XML in pieces whose lengths follow from `seed`; without one, whole.
fn read(xml: &[u8], seed: Option<u64>) -> Result<Dataset> {
    let mut reader = Reader::new("fuzz.imzML", MEMORY);
    sectile_fuzz::push(xml, seed, |part| {
        reader.push(part)?;
        assert!(reader.peak() <= MEMORY);
        assert!(reader.pending() <= xml.len());
        Ok(())
    });
    reader.finish()
}

fuzz_target!(|bytes: &[u8]| {
    // The last byte but one says how much of the input is the ibd.
    let split = bytes.len().saturating_sub(2);
    let share = usize::from(bytes.get(split).copied().unwrap_or(0));
    let (xml, ibd) = bytes.split_at(bytes.len() - split * share / 1024);
    let seed = sectile_fuzz::seed(bytes);
    let whole = read(xml, None);
    assert!(read(xml, Some(seed)) == whole);
    let Ok(mut dataset) = whole else {
        return;
    };
    assert!(!dataset.spectra.is_empty());
    let pixels = dataset.grid.pixels();
    assert!(pixels <= PIXEL_LIMIT);
    let size = ibd.len() as u64;
    let settled = dataset
        .settle("fuzz.ibd", size, &ibd[..ibd.len().min(16)])
        .is_ok();
    let (mut wide, mut narrow) = (Vec::new(), Vec::new());
    for (index, spectrum) in dataset.spectra.iter().enumerate() {
        assert!(u64::from(dataset.grid.pixel(spectrum)) < pixels);
        for array in [spectrum.mz(), spectrum.intensity()] {
            assert!(!settled || array.end() <= size || array.len == 0);
            // Where the ibd has too little, whatever there is serves as well.
            let from = array.at.min(size) as usize;
            let to = array.end().min(size) as usize;
            let part = &ibd[from..to.max(from)];
            let index = index as u64;
            if decode(array, part, "fuzz.ibd", index, &mut wide).is_ok() {
                assert!(wide.len() as u64 == u64::from(array.len));
                let _ = check_mz(&wide, array, "fuzz.ibd", index);
                let _ = check_intensity(&wide, array, "fuzz.ibd", index);
            }
            if decode_f32(array, part, "fuzz.ibd", index, &mut narrow).is_ok() {
                let same = narrow
                    .iter()
                    .zip(&wide)
                    .all(|(a, b)| f64::from(*a).to_bits() == b.to_bits() || a.is_nan());
                assert!(same && narrow.len() == wide.len());
            }
        }
    }
});
