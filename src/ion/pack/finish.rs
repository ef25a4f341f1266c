//! From the last spectrum to the first block, and from the last block to the head.

use super::job::{BATCH, File, From, Out, PackJob, Stage, index_bytes, length};
use super::measure::Measure;
use super::named::source_name;
use super::report::Report;
use super::spectrum;
use super::turn::Turn;
use crate::error::{Error, Result};
use crate::imzml::dataset::Grid;
use crate::imzml::extent::hyphenated;
use crate::store::head::{Contents, Layout, Meta};
use crate::store::write::Writer;

impl PackJob {
    /// Puts the table of pixels, a page after the other, from value `from` on; then begins the store.
    pub(super) fn pixels(&mut self, from: usize) -> Result<Turn> {
        let layout = match self.layout {
            Some(layout) => layout,
            None => *self.layout.insert(self.lay_out()?),
        };
        let pixels = layout.pixels as usize;
        // The lower half may hold rows.
        let page = self.arena.len() / 2;
        let (values, _) = self.arena[page..].as_chunks_mut::<4>();
        let count = values.len().min(2 * pixels - from);
        if count == 0 {
            self.begin(layout)?;
            self.stage = if self.loaded > 0 {
                Stage::Feed
            } else {
                Stage::Next
            };
            self.from = 0;
            return Ok(self.checkpoint());
        }
        for (n, value) in (from..).zip(&mut values[..count]) {
            let norm = self.tables.norm(n / pixels, n % pixels);
            *value = norm.to_le_bytes();
        }
        self.stage = Stage::Pixels(from + count);
        Ok(Turn::Put(Out {
            file: File::Store,
            at: layout.pixel_table_at + 4 * from as u64,
            from: From::Arena(page..page + 4 * count),
        }))
    }

    /// The layout of the store, when all spectra have been read.
    pub(super) fn lay_out(&self) -> Result<Layout> {
        if let (0, Some(first)) = (self.spectra, self.first_bad) {
            // Pixels without data only: nobody wants that for a store.
            return Err(Error::Format {
                file: self.names[0].clone(),
                at: 0,
                what: format!(
                    "none of the {} spectra can be read, the first bad one being spectrum {first}, so that \
                     nothing is left to pack: copy the ibd again, or name the right one",
                    self.counts.bad_spectra
                ),
            });
        }
        let Grid {
            width,
            height,
            slices,
            ..
        } = &self.dataset.grid;
        let (first, last) = match self.all.rows {
            0 => (0.0, 0.0),
            _ => (
                self.shape.mz.mz(self.all.min),
                self.shape.mz.mz(self.all.max),
            ),
        };
        let contents = Contents {
            mz: self.shape.mz,
            intensity: self.shape.intensity,
            width: *width,
            height: *height,
            slices: u32::try_from(slices.len()).unwrap_or(u32::MAX),
            peaks: self.all.rows,
            spectra: self.spectra,
            first_mz: first,
            last_mz: last,
            meta_bytes: self.meta().room(),
        };
        Layout::new(&self.dataset.file, contents)
    }

    /// Frees what was needed for reading only, and makes what is needed for writing.
    pub(super) fn begin(&mut self, layout: Layout) -> Result<()> {
        self.end_reading();
        self.writer = Some(Writer::new(layout, &mut self.budget)?);
        self.make_pages(&layout)
    }

    /// Frees what was needed for reading only.
    pub(super) fn end_reading(&mut self) {
        let Some(intake) = self.intake.take() else {
            return;
        };
        drop(intake);
        let measure = Measure::new(&self.dataset, self.plan.in_flight);
        let scratch = spectrum::longest(&self.dataset) * spectrum::scratch(self.shape);
        let norms = self.tables.forget();
        let index = index_bytes(&self.dataset);
        self.dataset.spectra = Vec::new();
        self.budget
            .release(measure.inflated() + scratch + norms + index);
        self.due = 0;
        if self.cut.sorting_bytes > self.cut.arena_bytes && self.loaded == 0 {
            // It has just the size of the index that was freed; where even so there is no room for
            // it, groups are smaller.
            let larger = self
                .budget
                .allocate(length(self.cut.sorting_bytes), "the rows");
            if let Ok(larger) = larger {
                self.budget.release(self.arena.len() as u64);
                self.arena = larger;
            }
        }
    }

    /// Buffers between the rows and the writer.
    pub(super) fn make_pages(&mut self, layout: &Layout) -> Result<()> {
        let budget = &mut self.budget;
        let what = "the block that is being written";
        self.page = budget.allocate(layout.most_bytes_of(0), what)?;
        self.columns.mz = budget.allocate(BATCH, what)?;
        self.columns.intensity = budget.allocate(BATCH, what)?;
        self.columns.pixel = budget.allocate(BATCH, what)?;
        Ok(())
    }

    /// Puts the table of bins; keeps the head for last.
    pub(super) fn bins(&mut self) -> Result<Turn> {
        // Nothing is sorted or read any more.
        let arena = std::mem::take(&mut self.arena).len() as u64;
        self.lane.clear();
        let slots = u64::from(self.plan.in_flight) * self.cut.slot_bytes;
        self.pile.clear();
        self.budget.release(arena + slots + self.cut.lists());
        let meta = self.meta();
        let Some(mut writer) = self.writer.take() else {
            self.stage = Stage::Done;
            return Ok(Turn::Wait);
        };
        let tables = writer.finish(&self.tables.mask, &meta, &mut self.budget)?;
        self.report = Some(Report {
            peaks: self.all.rows,
            spectra: self.spectra,
            counts: self.counts,
            warnings: meta.warnings,
            store_bytes: tables.file_bytes,
            spill_bytes: self.spilled_bytes,
        });
        self.page = tables.bins;
        self.head_bytes = tables.head;
        self.stage = Stage::Head;
        Ok(if self.page.is_empty() {
            Turn::On
        } else {
            Turn::Put(Out {
                file: File::Store,
                at: tables.bins_at,
                from: From::Page,
            })
        })
    }

    /// Puts the head: now it is a store.
    pub(super) fn head(&mut self) -> Turn {
        self.page = std::mem::take(&mut self.head_bytes);
        self.stage = Stage::Done;
        Turn::Put(Out {
            file: File::Store,
            at: 0,
            from: From::Page,
        })
    }

    /// What the store says about its source, and what was done to it.
    fn meta(&self) -> Meta {
        let dataset = &self.dataset;
        let mut warnings = dataset.warnings.clone();
        warnings.extend(self.repairs());
        Meta {
            source: source_name(&dataset.file),
            writer: concat!("sectile ", env!("CARGO_PKG_VERSION")).to_owned(),
            instrument: dataset.instrument.clone(),
            polarity: dataset.polarity.name().to_owned(),
            representation: dataset.representation.name().to_owned(),
            pixel_size: dataset.pixel_size,
            origin: [dataset.grid.x0, dataset.grid.y0],
            slices: dataset.grid.slices.clone(),
            // In hyphenated form it is 36 characters; the store wants the digits.
            uuid: dataset.uuid.map(|uuid| hyphenated(&uuid).replace('-', "")),
            counts: self.counts,
            warnings,
        }
    }

    /// A sentence for each kind of repair.
    fn repairs(&self) -> Vec<String> {
        let mut said = Vec::new();
        let counts = &self.counts;
        if let Some(first) = self.first_bad {
            said.push(format!(
                "{} of {} spectra could not be read and were left out; the first is spectrum {first}",
                counts.bad_spectra,
                counts.bad_spectra + self.spectra
            ));
        }
        if counts.unsorted_spectra > 0 {
            said.push(format!(
                "the m/z of {} spectra did not ascend and were sorted",
                counts.unsorted_spectra
            ));
        }
        if counts.negative_intensities > 0 {
            said.push(format!(
                "{} intensities are negative and were kept",
                counts.negative_intensities
            ));
        }
        said
    }
}
