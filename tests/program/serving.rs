//! `sectile serve` as a process of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use super::{Answer, ask, sectile};

/// A running server; ended when dropped.
pub struct Server {
    pub child: Child,
    pub port: u16,
}

impl Server {
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = sectile();
        command
            .current_dir(folder)
            .args(["serve", "--port", "0"])
            .args(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let port = line
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .and_then(|rest| rest.strip_suffix('/'));
        let port = port
            .unwrap_or_else(|| panic!("an address: {line:?}"))
            .parse()
            .unwrap();
        Self { child, port }
    }

    /// Sends a GET exactly as written.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(self.port, "GET", path, headers)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
