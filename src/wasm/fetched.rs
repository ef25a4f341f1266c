//! The calls by which JavaScript brings any job its bytes: the same for all, bound for each.

/// Takes pieces, and tells when nothing is left to hand out.
macro_rules! fed {
    ($bound:ident) => {
        #[wasm_bindgen]
        impl $bound {
            /// Takes a piece of a read: byte `at` of the read with this index of the slot's fetch.
            ///
            /// # Errors
            /// Bytes that were not asked for.
            pub fn feed(
                &mut self,
                slot: u32,
                read: usize,
                at: f64,
                piece: &js_sys::Uint8Array,
            ) -> Result<(), $crate::wasm::Thrown> {
                let at = $crate::wasm::offset("at", at)?;
                self.job
                    .feed(slot, read, at, piece.length() as usize, |place| {
                        piece.copy_to(place);
                    })
                    .map_err($crate::wasm::thrown)
            }

            /// Whether all has been handed out.
            #[must_use]
            pub fn done(&self) -> bool {
                self.job.is_done()
            }
        }
    };
}

/// [`fed`] for a job whose slots are filled by pieces alone.
macro_rules! fetched {
    ($bound:ident) => {
        fed!($bound);

        #[wasm_bindgen]
        impl $bound {
            /// The next slot to fill: `[slot, source, start, end, start, end, …]`.
            #[wasm_bindgen(js_name = next)]
            pub fn next_fetch(&mut self) -> Option<Vec<f64>> {
                self.job.next().map(|fetch| $crate::wasm::flat(&fetch))
            }

            /// Says that a slot's reads have all been fed.
            ///
            /// # Errors
            /// If bytes are missing.
            pub fn complete(&mut self, slot: u32) -> Result<(), $crate::wasm::Thrown> {
                self.job.complete(slot).map_err($crate::wasm::thrown)
            }
        }
    };
}
