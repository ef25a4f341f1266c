//! Packing: an imaging dataset, whose spectra lie one after the other, becomes a segment store, whose
//! peaks are sorted by m/z.
//!
//! It is an external sort within one memory budget. [`plan`] says what it will read and hold, [`job`]
//! asks for bytes and hands out what is to be written, [`report`] says what came of it.

mod errand;
mod finish;
pub mod job;
mod lane;
mod measure;
mod pile;
pub mod plan;
pub mod report;
mod row;
mod save;
mod sort;
mod spectrum;
mod spread;
mod state;
mod tables;
mod turn;
