//! Annotation: which molecules of a list are in a store, as far as scores tell.
//!
//! An *ion* is a formula with a modifier, a target or a decoy. [`Ions`] are all ions of a list in the order of a lower
//! bound of their first isotope peak's m/z; a *shard* is a range of that order, and [`AnnotateJob`] annotates one.
//! Inside a shard ions go in *batches* of [`BATCH`], whatever the budget: patterns of a batch are computed, its ions are
//! put in the order of their first isotope peak and cut into *groups* whose blocks fit into memory at one time, and
//! a group's ions are taken in the order of their formulas, one open at a time. A block is fetched when the first ion
//! needs it, and held until no later one can. While one group is worked on, the next ones' blocks are on their way.
//!
//! Nothing of a result depends on budget, groups, shards, or the order in which bytes arrive.
//!
//! # Source
//! METASPACE and Lithops-METASPACE: formulas by their first isotope peak in segments whose data fit into memory, in a
//! segment by formula, so that the images of one formula are open at a time.

mod batch;
pub mod buffer;
mod course;
mod held;
mod ions;
mod job;
mod output;
mod plan;
pub mod polarity;
mod record;
mod request;
mod shares;
mod sheet;
mod shelf;
mod wish;

pub use batch::BATCH;
pub use buffer::{ImageBuffer, Kept, KeptImage};
pub use ions::{Ion, Ions};
pub use job::AnnotateJob;
pub use output::{Output, Save};
pub use plan::plan;
pub use record::{Decoy, Scored};
pub use request::Request;
pub use wish::{Keep, Plan, Policy, Wish};
