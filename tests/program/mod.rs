//! Running the program, and a server that is as slow as a test wants it.

pub mod serving;

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program, ready for arguments, deaf to the terminal and the environment's colours.
pub fn sectile() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sectile"));
    command.stdin(Stdio::null()).env("NO_COLOR", "1");
    command
}

/// What a run printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The objects that `--json` printed.
    pub fn events(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).expect("every line is one JSON object");
        self.stdout.lines().map(parse).collect()
    }

    /// The one event of that name.
    pub fn event(&self, name: &str) -> Value {
        let mut found: Vec<Value> = self
            .events()
            .into_iter()
            .filter(|event| event["event"] == name)
            .collect();
        assert_eq!(found.len(), 1, "one {name} in {self:?}");
        found.remove(0)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Ran {
    sectile()
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
        .into()
}

/// Runs the program, which must succeed.
pub fn run_well(folder: &Path, arguments: &[&str]) -> Ran {
    let ran = run(folder, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    ran
}

/// A folder with a small demo stack.
pub fn stack(exposures: u32, size: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (exposures, size) = (exposures.to_string(), size.to_string());
    run_well(
        folder.path(),
        &["demo-data", ".", "--exposures", &exposures, "--size", &size],
    );
    folder
}

/// The pixels of an image in a file, as bytes, found the way a user would: with `info`.
pub fn pixels(file: &Path, hdu: usize) -> Vec<u8> {
    let folder = file.parent().unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let source = run_well(folder, &["info", "--json", name]).event("source");
    let hdu = &source["hdus"][hdu];
    let number = |name: &str| usize::try_from(hdu[name].as_u64().unwrap()).unwrap();
    let start = number("data_at");
    fs::read(file).unwrap()[start..start + number("data_bytes")].to_vec()
}

/// Big-endian f32 values.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| f32::from_be_bytes(*b))
        .collect()
}

/// Waits until something holds, for 20 seconds at most.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "waited in vain until {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal by name.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("sh")
        .args(["-c", &format!("kill -{name} {}", child.id())])
        .status()
        .unwrap();
    assert!(status.success());
}

/// A server with ranges, whose every answer takes its time.
pub struct SlowServer {
    port: u16,
    requests: Arc<AtomicU64>,
    delay: Arc<Mutex<Duration>>,
}

impl SlowServer {
    /// Serves the files of a folder. `/403/…` is forbidden, what is not there is 404.
    pub fn start(folder: &Path, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, delay) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(delay)));
        let (counted, slow, folder) = (requests.clone(), delay.clone(), folder.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counted, slow, folder) = (counted.clone(), slow.clone(), folder.clone());
                std::thread::spawn(move || {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let delay = *slow.lock().unwrap();
                    // A client that went away is what some tests are about.
                    let _ = answer(stream, &folder, delay);
                });
            }
        });
        Self {
            port,
            requests,
            delay,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub fn set_delay(&self, delay: Duration) {
        *self.delay.lock().unwrap() = delay;
    }
}

fn answer(mut stream: TcpStream, folder: &Path, delay: Duration) -> std::io::Result<()> {
    let head = read_head(&mut stream)?;
    let path = head
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .trim_start_matches('/')
        .to_owned();
    let range = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = name.eq_ignore_ascii_case("range").then_some(value)?;
        let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    });
    std::thread::sleep(delay);
    let status = |status: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    };
    if path.starts_with("403/") {
        return stream.write_all(status("403 Forbidden").as_bytes());
    }
    let Ok(bytes) = fs::read(folder.join(&path)) else {
        return stream.write_all(status("404 Not Found").as_bytes());
    };
    let (first, last) = range.unwrap_or((0, bytes.len() - 1));
    let last = last.min(bytes.len() - 1);
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {first}-{last}/{}\r\n\
         ETag: \"{path}\"\r\nConnection: close\r\n\r\n",
        last + 1 - first,
        bytes.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&bytes[first..=last])
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// An answer of `sectile serve`, byte by byte.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Sends a request exactly as written, without a client that would tidy up its path.
pub fn ask(port: u16, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.extend([*name, ": ", *value, "\r\n"]);
    }
    stream
        .write_all(format!("{request}\r\n").as_bytes())
        .unwrap();
    let head = read_head(&mut stream).unwrap();
    let mut body = Vec::new();
    stream.read_to_end(&mut body).unwrap();
    let headers = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        headers: headers
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect(),
        body,
    }
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
