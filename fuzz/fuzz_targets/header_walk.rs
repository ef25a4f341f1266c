//! Whatever the bytes, the header walk ends, asks only for what is there, and gives the same answer
//! however the bytes arrive.
//!
//! `cargo fuzz run header_walk fuzz/corpus/header_walk tests/data/fits -- -dict=fuzz/header.dict`
//! (on a stable toolchain with `RUSTC_BOOTSTRAP=1` in the environment).

#![no_main]

use libfuzzer_sys::fuzz_target;
use sectile::error::Result;
use sectile::fits::Image;
use sectile::fits::hdu::Selection;
use sectile::fits::walk::{FIRST_READ, HDU_LIMIT, HEADER_LIMIT, Walk};
use sectile::job::{Machine, Step};

/// Walks to the end. A `part` cuts every answer to that many bytes; without one the size is hidden
/// if `hidden`, and answers are whole.
fn walk(mut walk: Walk, file: &[u8], hidden: bool, part: Option<usize>) -> (Result<Image>, u32) {
    let total = file.len() as u64;
    // Each turn hands out an HDU, or takes at least one byte, or is the last.
    let turns = u64::from(HDU_LIMIT) * 2 + total * 2 + 10;
    let mut hdus = 0;
    let mut fed = false;
    for _ in 0..turns {
        match walk.step() {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return (Err(error), hdus);
            }
            Ok(Step::Done) => return (walk.into_image(), hdus),
            Ok(Step::Ready(hdu)) => {
                hdus += 1;
                assert!(hdu.header.cards().count() > 0);
                assert!(hdu.next_at > hdu.header_at);
            }
            Ok(Step::Need(range)) => {
                assert!(range.start < range.end);
                assert!(range.end - range.start <= HEADER_LIMIT.max(FIRST_READ));
                assert!(hidden || !fed || range.end <= total);
                fed = true;
                let from = range.start.min(total) as usize;
                let to = range.end.min(total) as usize;
                let to = part.map_or(to, |part| to.min(from + part));
                let size = (!hidden).then_some(total);
                walk.feed(range.start, &file[from..to], size)
                    .expect("these bytes were asked for");
            }
        }
    }
    panic!("the walk does not end");
}

fuzz_target!(|file: &[u8]| {
    let name = "fuzz.fits";
    let (whole, hdus) = walk(Walk::all(name), file, false, None);
    if let Ok(image) = &whole {
        assert!(image.data_at + image.data_len() <= file.len() as u64);
        assert!(image.cards.iter().all(|card| card.len() == 80));
        if let Some(wcs) = &image.wcs {
            let _ = wcs.pixel_to_sky(0.0, 0.0);
            assert!(wcs.offset(wcs, image.width, image.height).pixels == 0.0);
        }
    }
    let part = usize::from(file.last().copied().unwrap_or(0)) * 16 + 64;
    assert!(walk(Walk::all(name), file, false, Some(part)) == (whole, hdus));
    let _ = walk(Walk::all(name), file, true, None);
    for selection in [
        Selection::Default,
        Selection::Index(1),
        Selection::Name("SCI".to_owned(), Some(2)),
    ] {
        let to_image = || Walk::new(name, selection.clone(), 1);
        let _ = walk(to_image(), file, false, None);
        let mask = Selection::Name("DQ".to_owned(), None);
        let _ = walk(to_image().with_mask(mask), file, false, None);
    }
});
