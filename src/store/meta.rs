//! The head's text: where a store comes from, and what was repaired on the way.

use std::fmt::Write as _;

use super::format::META_LIMIT;

/// What a store says about its source.
///
/// In the file it is UTF-8 text, one `name = value` a line. Unknown names are ignored when it is
/// read, and a value that cannot be read is taken for absent: none of it decides about a peak.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meta {
    /// Name of the file that was packed.
    pub source: String,
    /// Program and version that wrote the store.
    pub writer: String,
    /// The instrument, if the source names it.
    pub instrument: Option<String>,
    /// `positive`, `negative`, `mixed` or `unknown`.
    pub polarity: String,
    /// `centroid`, `profile` or `unknown`.
    pub representation: String,
    /// Width and height of a pixel in µm, where the source states them.
    pub pixel_size: [Option<f64>; 2],
    /// The source's x and y of the pixel in column 0, row 0.
    pub origin: [i32; 2],
    /// The source's z of each slice.
    pub slices: Vec<i32>,
    /// UUID of the source, as 32 hexadecimal digits.
    pub uuid: Option<String>,
    /// What was dropped or repaired while packing.
    pub counts: Counts,
    /// What a user should know, a sentence each.
    pub warnings: Vec<String>,
}

/// What was found, dropped or repaired while packing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Peaks read from the source.
    pub peaks_read: u64,
    /// Peaks of intensity 0, which are not stored.
    pub zeros_dropped: u64,
    /// Peaks of negative intensity, which are stored.
    pub negative_intensities: u64,
    /// Spectra whose m/z were not ascending and were sorted.
    pub unsorted_spectra: u64,
    /// Spectra left out because they could not be read.
    pub bad_spectra: u64,
    /// Spectra without a peak.
    pub empty_spectra: u64,
    /// Pixels with more than one spectrum, whose intensities add up.
    pub duplicate_pixels: u64,
}

impl Counts {
    /// Names and values, in the order in which they are written.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("peaks_read", self.peaks_read),
            ("zeros_dropped", self.zeros_dropped),
            ("negative_intensities", self.negative_intensities),
            ("unsorted_spectra", self.unsorted_spectra),
            ("bad_spectra", self.bad_spectra),
            ("empty_spectra", self.empty_spectra),
            ("duplicate_pixels", self.duplicate_pixels),
        ]
    }

    fn set(&mut self, name: &str, value: u64) {
        let field = match name {
            "peaks_read" => &mut self.peaks_read,
            "zeros_dropped" => &mut self.zeros_dropped,
            "negative_intensities" => &mut self.negative_intensities,
            "unsorted_spectra" => &mut self.unsorted_spectra,
            "bad_spectra" => &mut self.bad_spectra,
            "empty_spectra" => &mut self.empty_spectra,
            "duplicate_pixels" => &mut self.duplicate_pixels,
            _ => return,
        };
        *field = value;
    }
}

/// Bytes kept for warnings and for counts that grow while packing.
const SPARE: usize = 2048;

impl Meta {
    /// Bytes to keep for this text in a [`Layout`](super::layout::Layout), with some for warnings
    /// that packing adds.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "at most META_LIMIT")]
    pub fn room(&self) -> u32 {
        let bytes = (self.to_text().len() + SPARE).next_multiple_of(8);
        bytes.min(META_LIMIT) as u32
    }

    /// The text, filled to `room` bytes with line ends.
    ///
    /// Where the text is longer, the last warnings are left out and counted in one line, and if even
    /// that is too long, the text is cut behind its last whole line.
    pub(super) fn fill(&self, room: usize) -> Vec<u8> {
        let mut meta = self.clone();
        let mut text = meta.to_text();
        let mut left_out = 0;
        while text.len() > room && meta.warnings.pop().is_some() {
            left_out += 1;
            text = meta.to_text();
            let _ = writeln!(text, "warning = {left_out} more warnings were left out");
        }
        let mut bytes = text.into_bytes();
        if bytes.len() > room {
            bytes.truncate(room);
            let line = bytes.iter().rposition(|byte| *byte == b'\n');
            bytes.truncate(line.map_or(0, |end| end + 1));
        }
        bytes.resize(room, b'\n');
        bytes
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let value: String = value
                .chars()
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect();
            let _ = writeln!(text, "{name} = {}", value.trim());
        };
        line("source", &self.source);
        line("writer", &self.writer);
        if let Some(instrument) = &self.instrument {
            line("instrument", instrument);
        }
        line("polarity", &self.polarity);
        line("representation", &self.representation);
        for (name, size) in ["pixel_width", "pixel_height"].iter().zip(self.pixel_size) {
            if let Some(size) = size {
                line(name, &size.to_string());
            }
        }
        line("origin", &format!("{} {}", self.origin[0], self.origin[1]));
        let slices: Vec<String> = self.slices.iter().map(i32::to_string).collect();
        line("slices", &slices.join(" "));
        if let Some(uuid) = &self.uuid {
            line("uuid", uuid);
        }
        for (name, value) in self.counts.named() {
            line(name, &value.to_string());
        }
        for warning in &self.warnings {
            line("warning", warning);
        }
        text
    }

    pub(super) fn parse(text: &str) -> Self {
        let mut meta = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            meta.take(name.trim(), value.trim());
        }
        meta
    }

    fn take(&mut self, name: &str, value: &str) {
        let positive = || {
            value
                .parse()
                .ok()
                .filter(|size: &f64| *size > 0.0 && size.is_finite())
        };
        let mut integers = value.split(' ').map(|word| word.parse().ok());
        match name {
            "source" => value.clone_into(&mut self.source),
            "writer" => value.clone_into(&mut self.writer),
            "instrument" => self.instrument = Some(value.to_owned()),
            "polarity" => value.clone_into(&mut self.polarity),
            "representation" => value.clone_into(&mut self.representation),
            "pixel_width" => self.pixel_size[0] = positive(),
            "pixel_height" => self.pixel_size[1] = positive(),
            "origin" => {
                if let (Some(Some(x)), Some(Some(y))) = (integers.next(), integers.next()) {
                    self.origin = [x, y];
                }
            }
            "slices" => self.slices = integers.flatten().collect(),
            "uuid" => self.uuid = Some(value.to_owned()),
            "warning" => self.warnings.push(value.to_owned()),
            _ => {
                if let Ok(value) = value.parse() {
                    self.counts.set(name, value);
                }
            }
        }
    }
}
