//! Rows as differences from their neighbours (PNG §9): what makes them compress.

/// Filters rows one after the other.
pub(super) struct Filter {
    /// Bytes between a byte and the one it is compared with on its left.
    pixel: usize,
    /// Whether the best filter is sought for each row; else it is the left neighbour.
    seek: bool,
    above: Vec<u8>,
    /// The filter's number, then the differences.
    best: Vec<u8>,
    tried: Vec<u8>,
}

impl Filter {
    pub(super) fn new(row: usize, pixel: usize, seek: bool) -> Self {
        Self {
            pixel,
            seek,
            above: vec![0; row],
            best: vec![0; row + 1],
            tried: vec![0; row + 1],
        }
    }

    /// The next row, filtered, its filter's number in front.
    pub(super) fn row(&mut self, line: &[u8]) -> &[u8] {
        if self.seek {
            let mut least = u64::MAX;
            // Without filter 0: on sparse images its sums are the least and its streams are not.
            for kind in 1..5 {
                differences(kind, self.pixel, &self.above, line, &mut self.tried);
                // The sum of absolute differences is how libpng and the PNG standard choose.
                let sizes = self.tried[1..].chunks(1 << 16).map(sum);
                let total = sizes.sum();
                if total < least {
                    least = total;
                    std::mem::swap(&mut self.best, &mut self.tried);
                }
            }
        } else {
            differences(1, self.pixel, &self.above, line, &mut self.best);
        }
        self.above.copy_from_slice(line);
        &self.best
    }
}

/// In u32, which is wide enough for 2¹⁶ bytes and vectorises better than u64.
fn sum(bytes: &[u8]) -> u64 {
    let sizes = bytes
        .iter()
        .map(|b| u32::from(b.cast_signed().unsigned_abs()));
    u64::from(sizes.sum::<u32>())
}

/// Filters 1 to 4; 0 is never tried.
fn differences(kind: u8, pixel: usize, above: &[u8], line: &[u8], out: &mut [u8]) {
    out[0] = kind;
    let out = &mut out[1..];
    // The first pixel has nothing on its left.
    for i in 0..pixel.min(line.len()) {
        out[i] = line[i].wrapping_sub(predict(kind, 0, above[i], 0));
    }
    let len = line.len() - pixel.min(line.len());
    let (left, up, corner) = (&line[..len], &above[pixel..], &above[..len]);
    let (line, out) = (&line[pixel..], &mut out[pixel..]);
    // One loop a filter, so that each is vectorised by itself.
    match kind {
        1 => {
            for ((out, byte), left) in out.iter_mut().zip(line).zip(left) {
                *out = byte.wrapping_sub(*left);
            }
        }
        2 => {
            for ((out, byte), up) in out.iter_mut().zip(line).zip(up) {
                *out = byte.wrapping_sub(*up);
            }
        }
        3 => {
            for (((out, byte), left), up) in out.iter_mut().zip(line).zip(left).zip(up) {
                *out = byte.wrapping_sub(average(*left, *up));
            }
        }
        _ => {
            let neighbours = left.iter().zip(up).zip(corner);
            for ((out, byte), ((left, up), corner)) in out.iter_mut().zip(line).zip(neighbours) {
                *out = byte.wrapping_sub(paeth(*left, *up, *corner));
            }
        }
    }
}

/// Undoes a filter, in place; `false` for a filter that there is not.
pub(super) fn undo(kind: u8, pixel: usize, above: &[u8], line: &mut [u8]) -> bool {
    if kind > 4 {
        return false;
    }
    for i in 0..line.len() {
        let (left, corner) = match i.checked_sub(pixel) {
            Some(before) => (line[before], above[before]),
            None => (0, 0),
        };
        line[i] = line[i].wrapping_add(predict(kind, left, above[i], corner));
    }
    true
}

#[inline]
fn predict(kind: u8, left: u8, up: u8, corner: u8) -> u8 {
    match kind {
        0 => 0,
        1 => left,
        2 => up,
        3 => average(left, up),
        _ => paeth(left, up, corner),
    }
}

#[inline]
fn average(left: u8, up: u8) -> u8 {
    (left & up) + ((left ^ up) >> 1)
}

/// Whichever neighbour is nearest to left + up − corner; at a tie left, then up (§9.4).
#[inline]
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let (from_left, from_up) = ((b - c).abs(), (a - c).abs());
    let from_corner = (a + b - c - c).abs();
    let rest = if from_up <= from_corner { up } else { corner };
    if from_left <= from_up && from_left <= from_corner {
        left
    } else {
        rest
    }
}
