//! False discovery rates by decoy adducts, as METASPACE estimates them.
//!
//! A *decoy* is a formula with an adduct that cannot be there, such as `+Au`. Whatever scores as well as a decoy does
//! may be wrong, so the decoys above a score say what share of the targets above it is (Palmer et al. 2017,
//! Nature Methods 14, 57).
//!
//! [`decoys`] chooses them with numpy's random numbers ([`mersenne`]), so that they are METASPACE's own;
//! [`mod@estimate`] turns scores into rates; [`level`] rounds those to 5, 10, 20 and 50 %.

pub mod decoys;
pub mod estimate;
pub mod level;
pub mod mersenne;

pub use decoys::{DECOY_ADDUCTS, Decoys};
pub use estimate::{Decoy, Rule, estimate};
pub use mersenne::Twister;
