//! What is finished of one shard, as files that grow, so that a killed run can be gone on with.
//!
//! Images are appended first, then, once they are on the disk, a block of scores that says how far both
//! files are good. What lies behind the last whole block and its images is cut off when the shard is gone
//! on with.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sectile::ion::annotate::Save;
use sectile::results::images::Picture;
use sectile::results::part::scores::{Block, Reached};
use sectile::results::part::{Identity, images, scores};

use super::names::Shard;
use crate::cli::failure::{Failure, Result};

/// Bytes that are gathered before they are written, and read at once.
const PIECE: usize = 64 << 10;

/// Most bytes that a block of scores may take while it is read: far more than any has.
const BLOCK: u64 = 16 << 20;

/// Bytes that one open part holds.
pub const HELD: u64 = 2 * PIECE as u64;

/// A shard's files, open for more.
#[derive(Debug)]
pub struct Part {
    scores: Growing,
    /// Where images are kept.
    images: Option<Growing>,
    position: u32,
    scratch: Vec<u8>,
}

impl Part {
    /// Opens what an earlier run has finished of a shard, or begins it; `keeps` if images are kept.
    pub fn open(names: &Shard, identity: &Identity, keeps: bool) -> Result<Self> {
        let reached = reached(names, identity)?;
        let mut scores = Growing::open(&names.scores)?;
        let mut images = if keeps {
            Some(Growing::open(&names.images)?)
        } else {
            None
        };
        let kept = images.as_ref().map_or(0, |images| images.size);
        let good = reached.filter(|reached| reached.images <= kept);
        // Scores first: they must not outlive the images they speak of.
        scores.cut(good.map_or(0, |reached| reached.sound))?;
        if good.is_none() {
            scores.add(&scores::begin(identity))?;
            scores.sync()?;
        }
        if let Some(images) = &mut images {
            images.cut(good.map_or(0, |reached| reached.images))?;
            if images.size == 0 {
                images.add(&images::begin(identity))?;
            }
        }
        Ok(Self {
            scores,
            images,
            position: good.map_or(identity.shard.start, |reached| reached.position),
            scratch: Vec::new(),
        })
    }

    /// The first ion that is not finished.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Adds an image; it counts once it is [committed](Self::commit).
    pub fn add_image(&mut self, ion: u32, peak: usize, picture: &Picture) -> Result<()> {
        if let Some(images) = &mut self.images {
            self.scratch.clear();
            images::put(ion, peak, picture, &mut self.scratch)?;
            images.add(&self.scratch)?;
        }
        Ok(())
    }

    /// Adds scores, once the images that belong to them are on the disk, and waits until they are too.
    pub fn commit(&mut self, save: &Save<'_>) -> Result<()> {
        let mut kept = 0;
        if let Some(images) = &mut self.images {
            images.sync()?;
            kept = images.size;
        }
        self.scratch.clear();
        scores::put(
            save.targets,
            save.decoys,
            save.position,
            kept,
            &mut self.scratch,
        )?;
        self.scores.add(&self.scratch)?;
        self.scores.sync()?;
        self.position = save.position;
        Ok(())
    }
}

/// The first ion of a shard that is not finished, by its files that grow.
pub fn position(names: &Shard, identity: &Identity) -> Result<u32> {
    let reached = reached(names, identity)?;
    let kept = names.images.metadata().map_or(0, |metadata| metadata.len());
    let good = reached.filter(|reached| reached.images <= kept);
    Ok(good.map_or(identity.shard.start, |reached| reached.position))
}

/// How far a shard's scores go; `None` if there are none that can be gone on with.
fn reached(names: &Shard, identity: &Identity) -> Result<Option<Reached>> {
    let file = match File::open(&names.scores) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file(&names.scores, "cannot read", &error)),
    };
    let mut scan = scores::Scan::new(&names.scores.to_string_lossy(), identity, BLOCK);
    let read = pieces(&names.scores, file, |piece| scan.push(piece, |_| Ok(())));
    match read {
        Ok(()) => {}
        // Damaged, or of another run: the shard is done again.
        Err(failure) if ["format", "mismatch"].contains(&failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    }
    let reached = scan.finish();
    Ok((reached.sound > 0).then_some(reached))
}

/// Reads the scores of a finished shard; the answer is how far its images are good.
pub fn read_scores(
    names: &Shard,
    identity: &Identity,
    mut take: impl FnMut(&Block) -> sectile::error::Result<()>,
) -> Result<Reached> {
    let file = open_again(&names.scores)?;
    let mut scan = scores::Scan::new(&names.scores.to_string_lossy(), identity, BLOCK);
    pieces(&names.scores, file, |piece| scan.push(piece, &mut take))?;
    Ok(scan.finish_all()?)
}

/// Reads which images a finished shard has; `memory` limits the list.
pub fn read_images(
    names: &Shard,
    identity: &Identity,
    reached: &Reached,
    memory: u64,
) -> Result<images::Pictures> {
    let file = open_again(&names.images)?.take(reached.images);
    let mut scan = images::Scan::new(&names.images.to_string_lossy(), identity, memory);
    pieces(&names.images, file, |piece| scan.push(piece))?;
    Ok(scan.finish(reached.images)?)
}

/// Opens a file of a finished shard.
pub fn open_again(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Failure::file(path, "cannot read back", &error))
}

fn pieces(
    path: &Path,
    mut from: impl Read,
    mut take: impl FnMut(&[u8]) -> sectile::error::Result<()>,
) -> Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(got) => take(&piece[..got])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::file(path, "cannot read back", &error)),
        }
    }
}

/// A file that is appended to.
#[derive(Debug)]
struct Growing {
    path: std::path::PathBuf,
    file: File,
    gathered: Vec<u8>,
    /// Bytes written and gathered.
    size: u64,
}

impl Growing {
    fn open(path: &Path) -> Result<Self> {
        let refused = |error: io::Error| Failure::file(path, "cannot write", &error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(refused)?;
        let size = file.metadata().map_err(refused)?.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            gathered: Vec::with_capacity(PIECE),
            size,
        })
    }

    /// Lets go of all behind the first `size` bytes, and goes on there.
    fn cut(&mut self, size: u64) -> Result<()> {
        self.size = size;
        self.file
            .set_len(size)
            .and_then(|()| self.file.seek(SeekFrom::Start(size)))
            .map_err(|error| self.refused(&error))?;
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gathered.len() + bytes.len() > PIECE {
            self.flush()?;
        }
        self.size += bytes.len() as u64;
        if bytes.len() >= PIECE {
            return self
                .file
                .write_all(bytes)
                .map_err(|error| self.refused(&error));
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.file
            .write_all(&self.gathered)
            .map_err(|error| self.refused(&error))?;
        self.gathered.clear();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync_data().map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &io::Error) -> Failure {
        Failure::file(&self.path, "cannot write", error)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use crate::cli::ions::annotate::names::Names;
    use sectile::ion::annotate::Decoy;
    use std::fs;

    fn identity() -> Identity {
        Identity {
            width: 3,
            height: 2,
            shard: 10..50,
            ions: [1; 32],
            store: [2; 32],
        }
    }

    fn shard(folder: &Path) -> Shard {
        let names = Names::new(folder);
        fs::create_dir_all(&names.shards).unwrap();
        names.shard(3)
    }

    fn save(decoys: &[Decoy], position: u32) -> Save<'_> {
        Save {
            targets: &[],
            decoys,
            images: &[],
            position,
            image_bytes: 0,
            last: position == 50,
        }
    }

    fn decoy(ion: u32) -> Decoy {
        Decoy { ion, msm: 0.5 }
    }

    fn picture() -> Picture {
        Picture {
            png: vec![7; 100],
            min: 0.0,
            max: 2.0,
        }
    }

    fn kept(names: &Shard) -> (Vec<u32>, Vec<u32>) {
        let mut ions = Vec::new();
        let reached = read_scores(names, &identity(), |block| {
            ions.extend(block.decoys.iter().map(|decoy| decoy.ion));
            Ok(())
        });
        let pictures = read_images(names, &identity(), &reached.unwrap(), 1 << 20).unwrap();
        (
            ions,
            pictures.records.iter().map(|record| record.ion).collect(),
        )
    }

    #[test]
    fn what_is_committed_stays_and_what_is_not_goes() {
        let folder = tempfile::tempdir().unwrap();
        let names = shard(folder.path());
        assert_eq!(position(&names, &identity()).unwrap(), 10);
        let mut part = Part::open(&names, &identity(), true).unwrap();
        assert_eq!(part.position(), 10);
        part.add_image(12, 0, &picture()).unwrap();
        part.commit(&save(&[decoy(11)], 20)).unwrap();
        part.add_image(21, 0, &picture()).unwrap();
        part.images.as_mut().unwrap().sync().unwrap();
        drop(part);
        assert_eq!(position(&names, &identity()).unwrap(), 20);
        let mut part = Part::open(&names, &identity(), true).unwrap();
        assert_eq!(part.position(), 20);
        part.add_image(30, 1, &picture()).unwrap();
        part.commit(&save(&[decoy(40)], 50)).unwrap();
        drop(part);
        assert_eq!(kept(&names), (vec![11, 40], vec![12, 30]));
    }

    #[test]
    fn torn_blocks_and_lost_bytes_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let names = shard(folder.path());
        let mut part = Part::open(&names, &identity(), true).unwrap();
        part.add_image(12, 0, &picture()).unwrap();
        part.commit(&save(&[decoy(11)], 20)).unwrap();
        let whole = part.scores.size;
        part.commit(&save(&[decoy(25)], 30)).unwrap();
        drop(part);
        let bytes = fs::read(&names.scores).unwrap();
        for length in whole..bytes.len() as u64 {
            let file = OpenOptions::new().write(true).open(&names.scores).unwrap();
            file.set_len(length).unwrap();
            let part = Part::open(&names, &identity(), true).unwrap();
            assert_eq!((part.position(), part.scores.size), (20, whole), "{length}");
            fs::write(&names.scores, &bytes).unwrap();
        }
        // Images that were saved and are gone: all of the shard is done again.
        fs::write(&names.images, b"").unwrap();
        assert_eq!(position(&names, &identity()).unwrap(), 10);
        assert_eq!(
            Part::open(&names, &identity(), true).unwrap().position(),
            10
        );
    }

    #[test]
    fn parts_of_another_run_are_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let names = shard(folder.path());
        let mut part = Part::open(&names, &identity(), false).unwrap();
        part.commit(&save(&[decoy(11)], 20)).unwrap();
        drop(part);
        let other = Identity {
            ions: [3; 32],
            ..identity()
        };
        assert_eq!(position(&names, &other).unwrap(), 10);
        assert_eq!(position(&names, &identity()).unwrap(), 20);
        assert_eq!(Part::open(&names, &other, false).unwrap().position(), 10);
    }
}
