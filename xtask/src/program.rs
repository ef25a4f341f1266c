//! Other programs: finding them, running them, and saying what is run.

use crate::Outcome;
use crate::place;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The first program of that name on PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// A command that starts in the clone's root and never waits for a person's input.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place::root()).stdin(Stdio::null());
    command
}

/// The cargo that runs us.
pub(crate) fn cargo<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(cargo);
    command.args(words);
    command
}

/// Runs to the end, everything it says to stderr: stdout is for results. An error if it does not succeed.
pub(crate) fn run(command: &mut Command) -> Outcome {
    eprintln!("$ {}", shown(command));
    let status = command
        .stdout(std::io::stderr())
        .status()
        .map_err(|error| not_started(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", shown(command)))
    }
}

/// Runs to the end and hands back what it wrote to stdout.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output = command
        .output()
        .map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "`{}` failed ({}): {}",
            shown(command),
            output.status,
            said.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs to the end and hands over every line of its stdout as it comes.
pub(crate) fn lines(command: &mut Command, mut each: impl FnMut(&str)) -> Outcome {
    eprintln!("$ {}", shown(command));
    let started = command.stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| not_started(command, &error))?;
    if let Some(said) = child.stdout.take() {
        // Not `lines`: a test may print what is not UTF-8.
        for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
            each(&String::from_utf8_lossy(&line));
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", shown(command)))
    }
}

/// A program in the background that is ended when this goes out of scope.
pub(crate) struct Background(Child);

impl Background {
    pub(crate) fn start(command: &mut Command) -> Outcome<Self> {
        eprintln!("$ {} &", shown(command));
        // Not even its address: stdout is for results.
        command
            .stdout(std::io::stderr())
            .spawn()
            .map(Self)
            .map_err(|error| not_started(command, &error))
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(&mut self) -> Outcome {
        let status = self.0.wait().map_err(|error| error.to_string())?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended ({status})"))
        }
    }

    /// What it ended with, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<String> {
        self.0
            .try_wait()
            .ok()
            .flatten()
            .map(|status| status.to_string())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Ended already is just as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether this runs unattended.
pub(crate) fn unattended() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The command as a person would type it, programs and paths shortened.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program
        .file_stem()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    let root = format!("{}{}", place::root().display(), std::path::MAIN_SEPARATOR);
    command.get_args().fold(name, |line, word| {
        let word = word.to_string_lossy().replace(&root, "");
        if word.contains('\'') {
            format!("{line} \"{word}\"")
        } else if word.contains([' ', '"', '*', '&', '#', '[']) {
            format!("{line} '{word}'")
        } else {
            format!("{line} {word}")
        }
    })
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", shown(command))
}
