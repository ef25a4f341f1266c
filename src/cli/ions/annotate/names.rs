//! What lies in the folder of results, finished and not.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use sectile::results::assembly::{self, File};

use crate::cli::failure::{Failure, Result};
use crate::cli::output::place::{JOB, JOURNAL, LIST, SHARDS, beside};

/// The table of what was found.
pub const TABLE: &str = File::Table.name();
/// The same for programs, with where it comes from.
pub const SUMMARY: &str = File::Summary.name();
/// The images of what was found.
pub const IMAGES: &str = File::Images.name();
/// What is being made; the names of what lies beside begin with it.
const WORK: &str = "annotations";
/// What names of finished parts end with.
const PART: &str = "part";

/// The files of one folder of results.
#[derive(Debug, Clone)]
pub struct Names {
    pub folder: PathBuf,
    pub table: PathBuf,
    pub summary: PathBuf,
    pub images: PathBuf,
    /// Who annotates what: its lock guards the shards.
    pub journal: PathBuf,
    /// The folder of what is finished of each shard.
    pub shards: PathBuf,
}

/// The files of one shard.
#[derive(Debug, Clone)]
pub struct Shard {
    /// Scores, save after save, each with how far the images are good.
    pub scores: PathBuf,
    /// Images, one after another.
    pub images: PathBuf,
    /// What both come to.
    pub part: PathBuf,
}

impl Names {
    /// The names in a folder.
    pub fn new(folder: &Path) -> Self {
        let work = folder.join(WORK);
        Self {
            folder: folder.to_owned(),
            table: folder.join(TABLE),
            summary: folder.join(SUMMARY),
            images: folder.join(IMAGES),
            journal: beside(&work, JOURNAL),
            shards: beside(&work, SHARDS),
        }
    }

    /// The names of a shard's files; numbers are from 1.
    pub fn shard(&self, number: u32) -> Shard {
        let name = |kind: &str| self.shards.join(format!("{number:05}.{kind}"));
        Shard {
            scores: name("scores"),
            images: name("images"),
            part: name(PART),
        }
    }

    /// Whose lock tells that a process is about this shard.
    pub fn lock(&self, number: u32) -> PathBuf {
        self.shards.join(format!("{number:05}.lock"))
    }

    /// What parts are called, for an assembly.
    pub fn parts(&self) -> assembly::Names {
        assembly::Names {
            before: format!("{}{}", self.shards.display(), MAIN_SEPARATOR),
            behind: format!(".{PART}"),
        }
    }

    /// What all shards are about.
    pub fn job(&self) -> PathBuf {
        self.shards.join(JOB)
    }

    /// The list of molecules as the job was begun with it.
    pub fn list(&self) -> PathBuf {
        self.shards.join(LIST)
    }

    /// The name of a file of results.
    pub fn result(&self, file: File) -> &Path {
        match file {
            File::Images => &self.images,
            File::Table => &self.table,
            File::Summary => &self.summary,
        }
    }

    /// Makes the folder, if there is none.
    pub fn make_folder(&self) -> Result<()> {
        let folder = &self.folder;
        if folder.exists() && !folder.is_dir() {
            return Err(Failure::input(
                "file",
                format!(
                    "{}: is no folder; results are files in a folder, name another one",
                    folder.display()
                ),
            ));
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::file(folder, "cannot make the folder", &error))
    }
}
