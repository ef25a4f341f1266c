//! Numbers and texts as CSV and JSON have them, the same bytes everywhere.

use std::fmt::Write as _;

/// Appends the shortest decimal that gives back the same f64, with an exponent where it has many zeros.
///
/// Rust's own formatting is exact and without tables that differ between targets. What is not finite is left to the
/// caller; -0 is 0.
pub(super) fn decimal(value: f64, out: &mut String) {
    let plain = value == 0.0 || (1e-4..1e15).contains(&value.abs());
    // Writing to a string does not fail.
    let _written = if plain {
        write!(out, "{}", value + 0.0)
    } else {
        write!(out, "{value:e}")
    };
}

/// Appends a whole number.
pub(super) fn whole(value: u64, out: &mut String) {
    let _written = write!(out, "{value}");
}

/// Appends a CSV field: quoted where it has a comma, a quote or a line end, quotes doubled (RFC 4180).
pub(super) fn field(text: &str, out: &mut String) {
    if !text.contains([',', '"', '\n', '\r']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for letter in text.chars() {
        if letter == '"' {
            out.push('"');
        }
        out.push(letter);
    }
    out.push('"');
}

/// Appends a JSON text (RFC 8259 §7): quotes, backslashes and control characters escaped, all else as it is.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => {
                let _written = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// A JSON object or array that is being written: sees to commas.
pub(super) struct Json<'a> {
    out: &'a mut String,
    /// Whether nothing was written since the last bracket opened.
    first: bool,
}

impl<'a> Json<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        Self { out, first: true }
    }

    /// Begins a member or, without a name, an element.
    fn begin(&mut self, name: &str) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        if !name.is_empty() {
            quoted(name, self.out);
            self.out.push(':');
        }
    }

    /// Opens an object (`{`) or array (`[`).
    pub(super) fn open(&mut self, name: &str, bracket: char) {
        self.begin(name);
        self.out.push(bracket);
        self.first = true;
    }

    pub(super) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
        self.first = false;
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.begin(name);
        quoted(text, self.out);
    }

    /// `null` where there is no text.
    pub(super) fn maybe(&mut self, name: &str, text: Option<&str>) {
        self.begin(name);
        match text {
            Some(text) => quoted(text, self.out),
            None => self.out.push_str("null"),
        }
    }

    /// `null` where the number is not finite.
    pub(super) fn float(&mut self, name: &str, value: f64) {
        self.begin(name);
        if value.is_finite() {
            decimal(value, self.out);
        } else {
            self.out.push_str("null");
        }
    }

    pub(super) fn whole(&mut self, name: &str, value: impl Into<u64>) {
        self.begin(name);
        whole(value.into(), self.out);
    }

    pub(super) fn flag(&mut self, name: &str, value: bool) {
        self.begin(name);
        self.out.push_str(if value { "true" } else { "false" });
    }

    pub(super) fn texts(&mut self, name: &str, texts: &[String]) {
        self.open(name, '[');
        for text in texts {
            self.text("", text);
        }
        self.close(']');
    }

    /// Says that something was written before, so that a comma comes first.
    pub(super) fn after(mut self) -> Self {
        self.first = false;
        self
    }
}
