//! Images that lie side by side in a file, read in one go.

use std::ops::Range;

use sectile::drive::native::{Source, walk};
use sectile::error::{Error, Result as Read};
use sectile::job::{Machine, Step, Tally};

use super::choice::Chosen;
use crate::cli::failure::Result;

/// Bytes between two images that are rather read than asked around.
const GAP: u64 = 16 << 10;

/// Most bytes that are read in one go, unless one image has more.
const MOST: u64 = 4 << 20;

/// Some images, and the part of the file that holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    pub range: Range<u64>,
    /// Which of the chosen images.
    pub images: Range<usize>,
}

/// Puts images together that are to be read in one go; they must be in the order of the file.
pub fn runs(chosen: &[Chosen]) -> Vec<Together> {
    let mut runs: Vec<Together> = Vec::new();
    for (at, image) in chosen.iter().enumerate() {
        let end = image.at + image.bytes;
        match runs.last_mut() {
            Some(run) if image.at <= run.range.end + GAP && end - run.range.start <= MOST => {
                run.range.end = end;
                run.images.end = at + 1;
            }
            _ => runs.push(Together {
                range: image.at..end,
                images: at..at + 1,
            }),
        }
    }
    runs
}

impl Together {
    /// The bytes of one of its images among its own.
    pub fn part<'b>(&self, bytes: &'b [u8], image: &Chosen) -> &'b [u8] {
        let place = |at: u64| usize::try_from(at.saturating_sub(self.range.start)).ok();
        let found = place(image.at).zip(place(image.at + image.bytes));
        found
            .and_then(|(start, end)| bytes.get(start..end))
            .unwrap_or_default()
    }
}

/// Reads a part of a file.
pub fn read(source: &Source, range: Range<u64>, tally: &mut Tally) -> Result<Vec<u8>> {
    let mut machine = Once {
        file: source.name().to_owned(),
        range,
        bytes: None,
    };
    walk(source, &mut machine, tally)?;
    let bytes = machine.bytes.unwrap_or_default();
    tally.bytes_payload += bytes.len() as u64;
    Ok(bytes)
}

/// One read.
struct Once {
    file: String,
    range: Range<u64>,
    bytes: Option<Vec<u8>>,
}

impl Machine for Once {
    type Item = ();

    fn step(&mut self) -> Read<Step<()>> {
        Ok(match self.bytes {
            None => Step::Need(self.range.clone()),
            Some(_) => Step::Done,
        })
    }

    fn feed(&mut self, at: u64, bytes: &[u8], _: Option<u64>) -> Read<()> {
        let asked = self.range.end - self.range.start;
        if at != self.range.start || bytes.len() as u64 != asked {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked,
                got: bytes.len() as u64,
            });
        }
        self.bytes = Some(bytes.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_in_one_go_and_no_more_than_makes_sense() {
        let image = |at: u64, bytes: u64| Chosen {
            ion: 0,
            peak: 0,
            at,
            bytes,
        };
        let together = |chosen: &[Chosen]| -> Vec<(Range<u64>, Range<usize>)> {
            let runs = runs(chosen).into_iter();
            runs.map(|run| (run.range, run.images)).collect()
        };
        assert_eq!(
            together(&[
                image(100, 10),
                image(110, 10),
                image(120 + GAP, 5),
                image(200_000, 1)
            ]),
            [(100..125 + GAP, 0..3), (200_000..200_001, 3..4)]
        );
        let large = [image(0, MOST), image(MOST, 10)];
        assert_eq!(together(&large), [(0..MOST, 0..1), (MOST..MOST + 10, 1..2)]);
        assert!(together(&[]).is_empty());
        let run = &runs(&[image(100, 2), image(102, 3)])[0];
        assert_eq!(run.part(b"abcde", &image(102, 3)), b"cde");
    }
}
