//! The Worker's: the interface over HTTP, opening, and answers that are computed.

mod answer;
mod asking;
mod jobs;
mod opening;
mod refusal;
mod service;
