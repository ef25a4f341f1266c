//! Medians of astronomy stacks, and ion images of imaging mass-spectrometry datasets, straight from the
//! files on any web server, bucket or disk, by HTTP range requests, inside one memory budget; as a
//! library, on the command line, and as WebAssembly in a page.
//!
//! The core never reads. It *plans* which byte ranges it needs, is fed bytes in any order, and
//! *hands out* finished sections; so its peak of memory is a number it can prove, and its result
//! depends on nothing but the pixels. [`design`] says why.
//!
//! # Example
//!
//! A stack of three exposures in memory, as small as they come:
//!
//! ```
//! use sectile::fits::pixel::Bitpix;
//! use sectile::fits::walk::Walk;
//! use sectile::fits::{hdu::Selection, write};
//! use sectile::job::{Job, Machine, Step};
//! use sectile::stack::{exposure::{Rules, Stack}, job::{MedianJob, Values}, plan::{Plan, Wish}};
//!
//! // Files of 2×1 pixels: [1, 4], [2, 5] and [9, NaN].
//! let files = [[1.0, 4.0], [2.0, 5.0], [9.0, f32::NAN]].map(|pixels| {
//!     let mut file = write::ImageHeader::primary(Bitpix::F32, 2, 1).to_bytes().unwrap();
//!     write::put_f32(&pixels, &mut file);
//!     file.resize(file.len() + write::padding(8), 0);
//!     file
//! });
//!
//! // Headers: the walk says which bytes it needs next.
//! let mut images = Vec::new();
//! for file in &files {
//!     let total = file.len() as u64;
//!     let mut walk = Walk::new("memory", Selection::Default, 0);
//!     loop {
//!         match walk.step()? {
//!             Step::Need(range) => {
//!                 let end = range.end.min(total) as usize;
//!                 walk.feed(range.start, &file[range.start as usize..end], Some(total))?;
//!             }
//!             Step::Ready(_) => {}
//!             Step::Done => break,
//!         }
//!     }
//!     images.push(walk.into_image()?);
//! }
//!
//! // Pixels: the plan is all that will be read and held; the job asks, is fed, and hands out.
//! let stack = Stack::open(images, Rules::default())?;
//! let plan = Plan::new(&stack, &Wish { memory: 8 << 20, ..Wish::default() })?;
//! assert_eq!((plan.requests, plan.payload_bytes), (3, 3 * 8));
//! let mut job = MedianJob::new(&stack, plan)?;
//! while let Some(fetch) = job.next() {
//!     for (index, read) in fetch.reads.iter().enumerate() {
//!         let body = &files[fetch.source as usize][read.range.start as usize..read.range.end as usize];
//!         job.feed(fetch.slot, index, 0, body.len(), |place| place.copy_from_slice(body))?;
//!     }
//!     job.complete(fetch.slot)?;
//! }
//! let section = job.ready()?.unwrap();
//! assert_eq!(section.values, Values::F32(&[2.0, 4.5]));
//! assert_eq!(section.count, [3, 2]);
//! # Ok::<(), sectile::error::Error>(())
//! ```
//!
//! For arrays that are in memory already, [`stack::median::nanmedian`] and [`ion::image::image`] are all
//! there is to call.
//!
//! # The rooms
//!
//! | room | what it does | stands on |
//! |---|---|---|
//! | [`error`] | what can go wrong, by who is at fault | nothing |
//! | [`percent`] | percent-encoding undone | nothing |
//! | [`range`](mod@range), [`budget`] | merging ranges; one account of bytes | `error` |
//! | [`job`] | what a job asks of a driver | those |
//! | [`store`] | the segment store: peaks sorted by m/z, read by ranges | `job` |
//! | [`fits`], [`imzml`], [`manifest`] | formats: bytes to images, indexes and names | `job` |
//! | [`stack`] | exposures, plan, median | the formats |
//! | [`ion`] | images, spectra, packing | the formats |
//! | [`raster`], [`png`], [`npy`] | values to pictures and files | `stack` |
//! | [`results`] | annotations as tables and files | `ion`, `png` |
//! | [`api`] | requests over HTTP to answers, decided without I/O | all of those |
//! | [`drive`] | what an answer means; files and HTTP natively | `job` |
//! | `wasm`, `cli` | the bindings and the program | all |

pub mod api;
pub mod budget;
mod crc;
pub mod drive;
pub mod error;
pub mod fits;
pub mod imzml;
pub mod ion;
pub mod job;
mod little;
pub mod manifest;
pub mod npy;
pub mod percent;
pub mod png;
pub mod range;
pub mod raster;
pub mod results;
pub mod stack;
pub mod store;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

#[doc = include_str!("design.md")]
pub mod design {}
