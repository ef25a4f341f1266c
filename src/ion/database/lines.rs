//! Which line of a text is read.

/// Counts lines, ended by `\n`, `\r` or both together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// The line that the next byte is on, from 1.
    pub(super) number: u64,
    /// Whether the last byte was `\r`.
    returned: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            number: 1,
            returned: false,
        }
    }

    pub(super) fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' if self.returned => {}
                b'\n' | b'\r' => self.number += 1,
                _ => {}
            }
            self.returned = *byte == b'\r';
        }
    }
}
