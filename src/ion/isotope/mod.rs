//! Isotope patterns: where an ion's peaks are and how high, as an instrument sees them.
//!
//! A composition has many isotopologues, molecules that differ in the isotopes of their atoms. Those whose probability
//! is at least 1e-4 of the most probable one's are listed, drawn as Gaussians as wide as the [`Instrument`]'s peaks, and
//! the maxima of their sum are the pattern's peaks.
//!
//! The rules, and so the numbers, are those of METASPACE's `cpyMSpec` (0.4.2, and 0.3.5 where [`Generation::Older`]):
//! the same grid is walked, so m/z agree within 1e-8, though the centroid of a finite window on that grid is up to
//! 0.2 ppm beside the true one.

mod instrument;

pub use instrument::{Analyzer, BASE_MZ, FWHM_IN_SIGMA, Instrument};

/// Most peaks of a pattern.
pub const PEAKS: usize = 4;

/// How patterns are computed: the two generations of METASPACE's library that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Generation {
    /// `cpyMSpec` 0.4.2 (METASPACE's analysis versions 2 and 3): all isotopologues from 1e-4 of the most probable one on.
    #[default]
    Current,
    /// `cpyMSpec` 0.3.5 (version 1 and Lithops-METASPACE): convolutions that drop what is small on the way, and peaks of
    /// a constant ratio of width to mass whatever the analyzer.
    Older,
}

/// The peaks of one ion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// m/z, ascending; 0 beyond the last peak.
    pub mz: [f64; PEAKS],
    /// Heights, 100 for the highest; 0 beyond the last peak.
    pub intensity: [f64; PEAKS],
    /// How many peaks there are, 1 to 4.
    pub peaks: u8,
}
