//! A store that images are taken of, and what is asked of it.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::image::Canvas;
use super::images::ImagesJob;
use super::window::Window;
use crate::budget::{self, Budget};
use crate::error::Result;
use crate::store::cache::Blocks;
use crate::store::head::Head;

/// What a program needs before it holds a single peak: code, stack, tables, allocator.
pub const BASE: u64 = 768 << 10;

/// Book-keeping a window: its borders, its blocks, its share of the schedule.
pub const WINDOW: u64 = 256;

/// What is asked of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// Index of the slice, from 0: the place of its z in [`Meta::slices`](crate::store::head::Meta::slices).
    pub slice: u32,
    /// The memory budget in bytes, of which the reader's cache is a part.
    pub memory: u64,
    /// Requests in flight at one time.
    pub in_flight: u32,
    /// Bytes of unwanted blocks that are read rather than asked around, where they lie between wanted ones.
    ///
    /// 0 by default, so that no more than the windows' blocks is read; more saves requests where there are many
    /// windows.
    pub gap: u64,
    /// For spectra from a pair: leave out those that cannot be read, and count them, instead of failing.
    pub skip_bad: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            slice: 0,
            memory: budget::DEFAULT,
            in_flight: 6,
            gap: 0,
            skip_bad: false,
        }
    }
}

/// What some images will read, and how much memory that takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Images.
    pub images: u64,
    /// Blocks that the windows touch, each counted once.
    pub blocks: u64,
    /// Those of them that are in the cache and are not fetched.
    pub cached: u64,
    /// Requests.
    pub requests: u64,
    /// Bytes that are asked for.
    pub bytes: u64,
    /// Windows whose blocks do not fit into memory at one time, and which go through them piece by piece.
    pub streamed: u64,
    /// Most bytes held at one time.
    pub peak_bytes: u64,
    /// The smallest budget that works.
    pub minimum_bytes: u64,
    /// The budget given.
    pub memory: u64,
}

/// An open store, of which images are taken; blocks that were fetched stay in its cache.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(super) head: Rc<Head>,
    pub(super) cache: Rc<RefCell<Blocks>>,
    /// The canvas of the last job, for the next.
    pub(super) canvas: Rc<RefCell<Option<Canvas>>>,
}

impl Reader {
    /// A reader whose cache holds at most `cache` bytes of blocks. They count as part of every budget that a job
    /// is given, whether they are in use or not.
    #[must_use]
    pub fn new(head: Rc<Head>, cache: u64) -> Self {
        Self {
            head,
            cache: Rc::new(RefCell::new(Blocks::new(cache))),
            canvas: Rc::default(),
        }
    }

    /// The store's head.
    #[must_use]
    pub fn head(&self) -> &Rc<Head> {
        &self.head
    }

    /// Plans the images of `windows`.
    ///
    /// # Cost
    /// Two binary searches a window, and a look at each of their blocks.
    ///
    /// # Errors
    /// As [`Reader::images`].
    pub fn plan(&self, windows: &[Window], wish: &Wish) -> Result<Plan> {
        Ok(Draft::new(self, windows, wish)?.plan)
    }

    /// Takes the images of `windows`, one of the slice each.
    ///
    /// Blocks that several windows touch are read once, as long as they fit into memory between the first of
    /// the windows and the last. One image is one request at most if its blocks fit into memory, and none if all
    /// are in the cache. (Where more than 256 KiB in the middle of a window are in the cache, and what is left and
    /// right of them is not, it is two.)
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::error::Error::Parameter) for a window that is none, a slice that does not
    /// exist, or no request in flight;
    /// [`Error::Budget`](crate::error::Error::Budget) naming the smallest budget that works.
    pub fn images(&self, windows: &[Window], wish: &Wish) -> Result<ImagesJob> {
        let draft = Draft::new(self, windows, wish)?;
        ImagesJob::new(self, windows, wish, draft)
    }

    /// Bytes that the cache may hold.
    #[must_use]
    pub fn cache_bytes(&self) -> u64 {
        self.cache.borrow().limit()
    }

    /// A blank canvas of a slice, if possible the one that is there already.
    pub(super) fn canvas(&self, pixels: usize, first: u32, budget: &mut Budget) -> Result<Canvas> {
        let mut canvas = if let Some(canvas) = self.canvas.take() {
            budget.reserve(Canvas::bytes(pixels as u64), "an image")?;
            if canvas.first() == first {
                return Ok(canvas);
            }
            canvas
        } else {
            Canvas::new(pixels, budget)?
        };
        canvas.lay(first, |pixel| self.head.mask.acquired(first + pixel));
        Ok(canvas)
    }

    pub(super) fn held(&self, n: u32) -> Option<Rc<Vec<u8>>> {
        self.cache.borrow_mut().bytes(n as usize)
    }
}
