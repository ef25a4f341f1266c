//! From the last spectrum to the first block, and from the last block to the head.

use super::job::{File, From, Lane0, Out, PackJob, Stage, index_bytes, length};
use super::measure::Measure;
use super::report::Report;
use super::spectrum;
use super::turn::Turn;
use crate::error::Result;
use crate::imzml::dataset::Grid;
use crate::store::head::{Contents, Layout, Meta};
use crate::store::write::{Peaks, Writer};
