//! Which kind of file an output is, by its suffix.

use std::path::Path;

use crate::cli::failure::{Failure, Result};

/// Kinds of files that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Median and count, as FITS.
    Fits,
    /// The median as one 16-bit picture.
    Png,
    /// The median as a numpy array.
    Npy,
}

impl Format {
    /// Reads the suffix.
    ///
    /// # Errors
    /// A usage failure that names the suffixes there are.
    pub fn of(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Err(Failure::usage(
                "-o -: standard output cannot be written at offsets nor gone on with; name a file",
            ));
        }
        let suffix = path
            .extension()
            .and_then(|suffix| suffix.to_str())
            .unwrap_or("");
        match suffix.to_ascii_lowercase().as_str() {
            "fits" | "fit" => Ok(Self::Fits),
            "png" => Ok(Self::Png),
            "npy" => Ok(Self::Npy),
            _ => Err(Failure::usage(format!(
                "{}: the suffix says what is written; use .fits, .fit, .png or .npy",
                path.display()
            ))),
        }
    }

    /// The word for it in journals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Png => "png",
            Self::Npy => "npy",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::failure::Exit;

    #[test]
    fn the_suffix_decides() {
        for (name, format) in [
            ("a.fits", Format::Fits),
            ("a.FIT", Format::Fits),
            ("b/c.d.png", Format::Png),
            ("x.npy", Format::Npy),
        ] {
            assert_eq!(Format::of(Path::new(name)).ok(), Some(format), "{name}");
        }
        for name in ["-", "a", "a.tif", ".fits", "a.fits.gz", ""] {
            let exit = Format::of(Path::new(name)).map_err(|failure| failure.exit);
            assert_eq!(exit, Err(Exit::Usage), "{name}");
        }
    }
}
