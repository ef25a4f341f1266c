//! What the program says: results on standard output, progress and warnings on standard error.
//!
//! With `--json` everything is one object a line on standard output:
//! `{"event":…,"schema":1,…}`; the last one is `done` or `error`.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sectile::job::Tally;
use serde_json::{Map, Value, json};

use crate::cli::arguments::{Arguments, Color};
use crate::cli::failure::{Exit, Failure};

/// The version of the events' fields.
const SCHEMA: u32 = 1;

/// Shortest time between two `progress` events.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// What the progress of a step is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Peaks,
    Ions,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Peaks => "peaks",
            Self::Ions => "ions",
        }
    }
}

/// How far one of several steps is.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// What is done, in one word.
    pub phase: &'static str,
    pub unit: Unit,
    pub done: u64,
    pub total: u64,
}

/// Where everything that is said goes through.
#[derive(Debug)]
pub struct Report {
    json: bool,
    quiet: bool,
    verbose: u8,
    colored: bool,
    bar: Option<ProgressBar>,
    told: Option<Instant>,
    /// The step under way, and when it began.
    phase: Option<(&'static str, Instant)>,
    started: Instant,
}

impl Report {
    /// A report as the global options want it.
    pub fn new(arguments: &Arguments) -> Self {
        let terminal = io::stderr().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let shows_bar = terminal && !arguments.json && !arguments.quiet;
        Self {
            json: arguments.json,
            quiet: arguments.quiet,
            verbose: arguments.verbose,
            colored: match arguments.color {
                Color::Auto => terminal && !no_color,
                Color::Always => true,
                Color::Never => false,
            },
            bar: shows_bar.then(|| {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                bar.set_style(style(Unit::Bytes));
                bar
            }),
            told: None,
            phase: None,
            started: Instant::now(),
        }
    }

    /// Wall time since the program began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A line of a result, for people; nothing with `--json`.
    pub fn line(&self, text: &str) {
        if !self.json {
            self.around_bar(|| print_line(&visible(text)));
        }
    }

    /// A result for programs; nothing without `--json`. `fields` must be an object.
    pub fn event(&self, name: &str, fields: Value) {
        if !self.json {
            return;
        }
        let mut object = Map::new();
        object.insert("event".into(), name.into());
        object.insert("schema".into(), SCHEMA.into());
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        print_line(&Value::Object(object).to_string());
    }

    /// Something the user should know, although the work goes on.
    pub fn warn(&self, message: &str) {
        self.event("warning", json!({ "message": message }));
        if !self.json && !self.quiet {
            self.tell("warning", "33", message);
        }
    }

    /// Something that only `-v` (1) or `-vv` (2) wants to know.
    pub fn detail(&self, level: u8, message: &str) {
        if self.verbose >= level {
            self.around_bar(|| complain(&visible(message)));
        }
    }

    /// How far the work is: bytes of payload done so far and in all.
    pub fn progress(&mut self, tally: &Tally, planned_bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(planned_bytes);
            bar.set_position(tally.bytes_payload);
            bar.set_message(format!("{} requests", tally.requests));
        }
        self.tell_progress(|| {
            json!({
                "requests": tally.requests,
                "bytes_fetched": tally.bytes_fetched,
                "bytes_payload": tally.bytes_payload,
                "planned_bytes": planned_bytes,
                "peak_bytes": tally.peak_bytes,
            })
        });
    }

    /// How far work in several steps is.
    pub fn step(&mut self, step: &Step, tally: &Tally) {
        let Step {
            phase,
            unit,
            done,
            total,
        } = *step;
        let begun = match self.phase {
            Some((before, begun)) if before == phase => begun,
            _ => {
                self.told = None;
                if let Some(bar) = &self.bar {
                    bar.reset();
                    bar.set_style(style(unit));
                }
                Instant::now()
            }
        };
        self.phase = Some((phase, begun));
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(phase);
        }
        self.tell_progress(|| {
            json!({
                "phase": phase,
                "unit": unit.name(),
                "done": done,
                "total": total,
                "seconds_left": seconds_left(begun.elapsed(), done, total),
                "requests": tally.requests,
                "bytes_fetched": tally.bytes_fetched,
                "bytes_payload": tally.bytes_payload,
                "peak_bytes": tally.peak_bytes,
            })
        });
    }

    /// An event of progress, unless there was one a moment ago.
    fn tell_progress(&mut self, fields: impl FnOnce() -> Value) {
        let is_recent = self
            .told
            .is_some_and(|told| told.elapsed() < PROGRESS_EVERY);
        if !self.json || is_recent {
            return;
        }
        self.told = Some(Instant::now());
        let mut fields = fields();
        fields["seconds"] = json!(self.elapsed().as_secs_f64());
        self.event("progress", fields);
    }

    /// The last word of work that succeeded.
    pub fn done(&self, tally: &Tally) {
        self.done_with(tally, Value::Null);
    }

    /// The same with more to say; `more` is an object or null.
    pub fn done_with(&self, tally: &Tally, more: Value) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let tally = Tally {
            seconds: self.elapsed().as_secs_f64(),
            ..*tally
        };
        let mut fields = serde_json::to_value(tally).unwrap_or_default();
        if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
            fields.extend(more);
        }
        self.event("done", fields);
        self.detail(1, &summary(&tally));
    }

    /// The last word of work that did not succeed.
    pub fn failed(&self, failure: &Failure) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.event("error", error_fields(failure));
        if failure.exit == Exit::Stopped {
            // The user wanted it so.
            self.tell("stopped", "33", &failure.message);
        } else {
            self.tell("error", "31", &failure.message);
        }
    }

    fn tell(&self, kind: &str, color: &str, message: &str) {
        let message = visible(message);
        let line = if self.colored {
            format!("\u{1b}[1;{color}m{kind}:\u{1b}[0m {message}")
        } else {
            format!("{kind}: {message}")
        };
        self.around_bar(|| complain(&line));
    }

    fn around_bar(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }
}

/// A command line that the grammar refused, for those who asked for JSON.
pub fn refused_json(failure: &Failure) {
    let mut object = Map::new();
    object.insert("event".into(), "error".into());
    object.insert("schema".into(), SCHEMA.into());
    if let Value::Object(fields) = error_fields(failure) {
        object.extend(fields);
    }
    print_line(&Value::Object(object).to_string());
}

fn error_fields(failure: &Failure) -> Value {
    json!({
        "code": failure.code,
        "message": failure.message,
        "at": failure.at,
        "exit": failure.exit as i32,
    })
}

fn style(unit: Unit) -> ProgressStyle {
    let template = match unit {
        Unit::Bytes => {
            "{bar:30} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {msg}, {eta} left"
        }
        Unit::Peaks => "{bar:30} {human_pos}/{human_len} peaks {per_sec} {msg}, {eta} left",
        Unit::Ions => "{bar:30} {human_pos}/{human_len} ions {per_sec} {msg}, {eta} left",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Seconds that the rest will take at the pace so far; null until that can be told.
fn seconds_left(since: Duration, done: u64, total: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate is made of it")]
    let (done, left) = (done as f64, total.saturating_sub(done) as f64);
    (done > 0.0).then(|| since.as_secs_f64() / done * left)
}

fn summary(tally: &Tally) -> String {
    format!(
        "{} requests, {} fetched, {} of them payload, peak {}, {} sections, {:.2} s",
        tally.requests,
        size(tally.bytes_fetched),
        size(tally.bytes_payload),
        size(tally.peak_bytes),
        tally.sections,
        tally.seconds
    )
}

/// Bytes as people read them, in powers of 1024.
pub fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// Text with its control characters spelled out: what a file's header says must not steer the
/// terminal. Line ends stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let bidi = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (c.is_control() && c != '\n') || bidi {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A reader that went away (`| head`) is no reason to fail, nor to go on talking.
fn print_line(line: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

fn complain(line: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headers_escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(visible("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\nc");
        assert_eq!(visible("MJy/sr µ"), "MJy/sr µ");
        assert_eq!(visible("\u{202e}gpj"), "\\u{202e}gpj");
    }
}
