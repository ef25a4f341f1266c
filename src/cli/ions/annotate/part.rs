//! What is finished of one shard, as files that grow, so that a killed run can be gone on with.
//!
//! Scores and images are appended; a line `[position,scores,images]` says that all before `position`
//! of the shard's ions is in the first so many bytes of each. A line is written once those bytes are
//! on the disk, and counts once its line end is there; whatever lies behind the last line's bytes is
//! cut off when the shard is gone on with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::ops::Range;
use std::path::Path;

use super::names::Shard;
use crate::cli::failure::{Failure, Result};

/// More than this is no list of saves.
const LONGEST: u64 = 16 << 20;

/// Bytes that are gathered before they are written.
const GATHERED: usize = 64 << 10;

/// Bytes that one open part holds.
pub const HELD: u64 = 2 * GATHERED as u64;

/// A shard's files, open for more.
#[derive(Debug)]
pub struct Part {
    names: Shard,
    scores: Growing,
    images: Growing,
    saves: File,
    position: u32,
}

/// How far a shard has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Save {
    position: u32,
    scores: u64,
    images: u64,
}

impl Part {
    /// Opens what an earlier run has finished of a shard, or begins it.
    pub fn open(names: Shard, shard: &Range<u32>) -> Result<Self> {
        let mut saves = open(&names.saves)?;
        let mut text = Vec::new();
        Read::by_ref(&mut saves)
            .take(LONGEST)
            .read_to_end(&mut text)
            .map_err(|error| Failure::file(&names.saves, "cannot read", &error))?;
        let mut scores = Growing::open(&names.scores)?;
        let mut images = Growing::open(&names.images)?;
        let (whole, last) = last(&text, shard);
        let there = last.filter(|save| save.scores <= scores.size && save.images <= images.size);
        let (whole, save) = match there {
            Some(save) => (whole, save),
            None => (
                0,
                Save {
                    position: shard.start,
                    scores: 0,
                    images: 0,
                },
            ),
        };
        // The lines first: they must not outlive what they speak of.
        saves
            .set_len(whole)
            .and_then(|()| saves.seek(SeekFrom::Start(whole)))
            .map_err(|error| Failure::file(&names.saves, "cannot write", &error))?;
        scores.cut(&names.scores, save.scores)?;
        images.cut(&names.images, save.images)?;
        Ok(Self {
            names,
            scores,
            images,
            saves,
            position: save.position,
        })
    }

    /// The first ion that is not finished.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Adds scores; they count once they are [committed](Self::commit).
    pub fn add_scores(&mut self, bytes: &[u8]) -> Result<()> {
        self.scores.add(&self.names.scores, bytes)
    }

    /// Adds an image; it counts once it is [committed](Self::commit).
    pub fn add_image(&mut self, bytes: &[u8]) -> Result<()> {
        self.images.add(&self.names.images, bytes)
    }

    /// Waits until all that was added is on the disk, then notes that all before `position` is.
    pub fn commit(&mut self, position: u32) -> Result<()> {
        self.scores.sync(&self.names.scores)?;
        self.images.sync(&self.names.images)?;
        let line = format!("[{position},{},{}]\n", self.scores.size, self.images.size);
        self.saves
            .write_all(line.as_bytes())
            .and_then(|()| self.saves.sync_data())
            .map_err(|error| Failure::file(&self.names.saves, "cannot write", &error))?;
        self.position = position;
        Ok(())
    }
}

/// The first ion of a shard that is not finished, as its files say without being opened for more.
pub fn position(names: &Shard, shard: &Range<u32>) -> u32 {
    let mut text = Vec::new();
    let file = File::open(&names.saves).map(|file| file.take(LONGEST));
    let read = file.and_then(|mut file| file.read_to_end(&mut text));
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let (_, last) = last(&text, shard);
    let good = last.filter(|save| {
        read.is_ok() && save.scores <= size(&names.scores) && save.images <= size(&names.images)
    });
    good.map_or(shard.start, |save| save.position)
}

/// The saved scores of a finished shard, to be read from the first on.
pub fn scores(names: &Shard, shard: &Range<u32>) -> Result<BufReader<Take<File>>> {
    let refused = |error: &io::Error| Failure::file(&names.scores, "cannot read back", error);
    let text = fs::read(&names.saves).map_err(|error| refused(&error))?;
    let end = last(&text, shard).1.map_or(0, |save| save.scores);
    let file = File::open(&names.scores).map_err(|error| refused(&error))?;
    Ok(BufReader::with_capacity(GATHERED, file.take(end)))
}

/// The last save that a list of them tells of, and the bytes of the list up to its line's end.
fn last(text: &[u8], shard: &Range<u32>) -> (u64, Option<Save>) {
    let lines = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    let (mut whole, mut last) = (0, None::<Save>);
    for line in lines {
        let Ok((position, scores, images)) = serde_json::from_slice::<(u32, u64, u64)>(line) else {
            break;
        };
        let before = last.map_or((shard.start, 0, 0), |save| {
            (save.position, save.scores, save.images)
        });
        let grows = position >= before.0 && scores >= before.1 && images >= before.2;
        if !grows || position > shard.end {
            break;
        }
        whole += line.len() as u64;
        last = Some(Save {
            position,
            scores,
            images,
        });
    }
    (whole, last)
}

/// A file that is appended to.
#[derive(Debug)]
struct Growing {
    file: File,
    gathered: Vec<u8>,
    /// Bytes written and gathered.
    size: u64,
}

impl Growing {
    fn open(path: &Path) -> Result<Self> {
        let file = open(path)?;
        let size = file
            .metadata()
            .map_err(|error| Failure::file(path, "cannot write", &error))?
            .len();
        Ok(Self {
            file,
            gathered: Vec::with_capacity(GATHERED),
            size,
        })
    }

    fn cut(&mut self, path: &Path, size: u64) -> Result<()> {
        self.size = size;
        self.file
            .set_len(size)
            .and_then(|()| self.file.seek(SeekFrom::Start(size)))
            .map_err(|error| Failure::file(path, "cannot write", &error))?;
        Ok(())
    }

    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        if self.gathered.len() + bytes.len() > GATHERED {
            self.flush(path)?;
        }
        self.size += bytes.len() as u64;
        if bytes.len() >= GATHERED {
            return self
                .file
                .write_all(bytes)
                .map_err(|error| Failure::file(path, "cannot write", &error));
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self, path: &Path) -> Result<()> {
        self.file
            .write_all(&self.gathered)
            .map_err(|error| Failure::file(path, "cannot write", &error))?;
        self.gathered.clear();
        Ok(())
    }

    fn sync(&mut self, path: &Path) -> Result<()> {
        self.flush(path)?;
        self.file
            .sync_data()
            .map_err(|error| Failure::file(path, "cannot write", &error))
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| Failure::file(path, "cannot write", &error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use crate::cli::ions::annotate::names::Names;

    fn shard(folder: &Path) -> Shard {
        let names = Names::new(folder);
        fs::create_dir_all(&names.shards).unwrap();
        names.shard(3)
    }

    fn read(names: &Shard) -> (Vec<u8>, Vec<u8>) {
        let mut kept = Vec::new();
        scores(names, &(10..50)).unwrap().read_to_end(&mut kept).unwrap();
        (kept, fs::read(&names.images).unwrap())
    }

    #[test]
    fn what_is_committed_stays_and_what_is_not_goes() {
        let folder = tempfile::tempdir().unwrap();
        let names = shard(folder.path());
        assert_eq!(position(&names, &(10..50)), 10);
        let mut part = Part::open(names.clone(), &(10..50)).unwrap();
        assert_eq!(part.position(), 10);
        part.add_scores(b"abc").unwrap();
        part.add_image(b"picture").unwrap();
        part.commit(20).unwrap();
        part.add_scores(&vec![b'x'; 2 * GATHERED]).unwrap();
        drop(part);
        assert_eq!(position(&names, &(10..50)), 20);
        let mut part = Part::open(names.clone(), &(10..50)).unwrap();
        assert_eq!(part.position(), 20);
        part.add_scores(b"def").unwrap();
        part.commit(50).unwrap();
        drop(part);
        assert_eq!(read(&names), (b"abcdef".to_vec(), b"picture".to_vec()));
        assert_eq!(position(&names, &(10..50)), 50);
    }

    #[test]
    fn torn_lines_and_lost_bytes_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let names = shard(folder.path());
        let mut part = Part::open(names.clone(), &(10..50)).unwrap();
        part.add_scores(b"abc").unwrap();
        part.commit(20).unwrap();
        drop(part);
        let mut text = fs::read(&names.saves).unwrap();
        text.extend(b"[30,3");
        fs::write(&names.saves, &text).unwrap();
        assert_eq!(Part::open(names.clone(), &(10..50)).unwrap().position(), 20);
        for damage in ["[19,3,0]\n", "[51,3,0]\n", "[30,2,0]\n", "x\n"] {
            fs::write(&names.saves, format!("[20,3,0]\n{damage}[40,3,0]\n")).unwrap();
            assert_eq!(Part::open(names.clone(), &(10..50)).unwrap().position(), 20);
        }
        fs::write(&names.scores, b"ab").unwrap();
        assert_eq!(position(&names, &(10..50)), 10);
        assert_eq!(Part::open(names.clone(), &(10..50)).unwrap().position(), 10);
    }
}
