//! Ion images out of blocks in memory.

use std::rc::Rc;

use sectile::budget::Budget;
use sectile::ion::image::Canvas;
use sectile::ion::images::{Reader, Wish};
use sectile::ion::window::Window;
use sectile::job::Job;
use sectile::store::block::Block;
use sectile::store::head::{Head, Real};
use wasm_bindgen::prelude::*;

use crate::lines::{Dice, Lines};

/// A store in memory, and windows on its lines.
#[wasm_bindgen]
pub struct TimedIons {
    file: Vec<u8>,
    head: Rc<Head>,
    windows: Vec<Window>,
    canvas: Canvas,
    reader: Reader,
    hits: u64,
}

#[wasm_bindgen]
impl TimedIons {
    /// About `peaks` synthetic peaks on 100×100 pixels, and `images` windows of 3 ppm on random lines.
    #[wasm_bindgen(constructor)]
    pub fn new(peaks: f64, images: usize, wide: bool) -> Result<TimedIons, JsError> {
        let mz = if wide { Real::F64 } else { Real::F32 };
        let sample = Lines::new(peaks as u64, 100, [mz, Real::F32])?;
        let head = Rc::new(Head::parse("lines", &sample.file)?);
        let mut dice = Dice(7);
        let windows: Result<_, _> = (0..images)
            .map(|_| (dice.next() % u64::from(sample.lines)) as u32)
            .map(|line| Window::ppm(Lines::mz(line), 3.0))
            .collect();
        let mut canvas = Canvas::new(10_000, &mut Budget::new(1 << 20))?;
        canvas.lay(0, |_| true);
        Ok(TimedIons {
            file: sample.file,
            reader: Reader::new(head.clone(), 256 << 20),
            head,
            windows: windows?,
            canvas,
            hits: 0,
        })
    }

    /// Draws every window's image from blocks that are taken for checked.
    pub fn draw(&mut self) -> Result<(), JsError> {
        for window in &self.windows {
            self.canvas.clear();
            for n in self.head.blocks_of(window.lo, window.hi) {
                let range = self.head.block_range(n);
                let bytes = &self.file[range.start as usize..range.end as usize];
                let block = Block::again(&self.head, n, bytes)?;
                let peaks = block.find(window.lo, window.hi)?;
                let canvas = &mut self.canvas;
                block.visit_groups(peaks, |pixels, values| canvas.add_group(pixels, values))?;
            }
            self.hits += self.canvas.finish()?.hits;
        }
        Ok(())
    }

    /// Takes every window's image by a job of its own.
    pub fn jobs(&mut self) -> Result<(), JsError> {
        let wish = Wish { memory: 512 << 20, ..Wish::default() };
        for window in &self.windows {
            let mut job = self.reader.images(&[*window], &wish)?;
            while let Some(fetch) = job.next() {
                let range = fetch.reads[0].range.clone();
                let body = &self.file[range.start as usize..range.end as usize];
                job.feed(fetch.slot, 0, 0, body.len(), |place| place.copy_from_slice(body))?;
                job.complete(fetch.slot)?;
            }
            self.hits += job.ready()?.map_or(0, |image| image.hits);
        }
        Ok(())
    }

    /// Peaks that were drawn so far.
    pub fn hits(&self) -> f64 {
        self.hits as f64
    }
}
