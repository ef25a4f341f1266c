//! One dataset of the catalog, with what its files' headers say.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use md5::{Digest as _, Md5};
use sectile::api::catalog::image_to_json;
use sectile::budget;
use sectile::drive::native::{Options, Run, Source, walk};
use sectile::fits::Image;
use sectile::job::Tally;
use sectile::stack::exposure::{Rules, Stack};
use sectile::store::read::Open;
use serde_json::{Map, Value, json};

use super::pattern;
use crate::cli::arguments::{Catalog, Etags};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::report::Report;
use crate::cli::stack::{Wanted, walked};

/// Requests in flight while headers are read.
const IN_FLIGHT: usize = 6;

/// The longest line that a token file may have.
const TOKEN: u64 = 4096;

/// The entry of the dataset `name`, as the arguments declare it.
pub fn of(
    arguments: &Catalog,
    name: &str,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &Report,
) -> Result<Value> {
    let stacks = arguments.stacks.iter();
    let given: Vec<&str> = stacks
        .filter(|stack| stack.name == name)
        .map(|stack| stack.value.as_str())
        .collect();
    let mut entry = if given.is_empty() {
        ions(arguments, name, tally)?
    } else {
        stack(arguments, &given, cancel, tally, report)?
    };
    let mut pyramids = arguments.pyramids.iter();
    if let Some(pyramid) = pyramids.find(|pyramid| pyramid.name == name) {
        if given.is_empty() {
            return Err(Failure::usage(format!(
                "--pyramid {name}: only stacks have one"
            )));
        }
        entry.insert("pyramid".into(), beside(arguments, &pyramid.value)?);
    }
    let mut titles = arguments.titles.iter();
    if let Some(title) = titles.find(|title| title.name == name) {
        entry.insert("title".into(), json!(title.value));
    }
    if arguments.jobs {
        entry.insert("jobs".into(), json!(true));
    }
    if let Some(file) = &arguments.token_file {
        entry.insert("token".into(), json!(token(file)?));
    }
    Ok(Value::Object(entry))
}

/// A stack: its headers are read, and held together as they will be when it is opened.
fn stack(
    arguments: &Catalog,
    given: &[&str],
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &Report,
) -> Result<Map<String, Value>> {
    let urls = urls(&arguments.folder, given)?;
    let sources = urls
        .iter()
        .map(|url| open(&arguments.folder, url))
        .collect::<Result<Vec<_>>>()?;
    let images = images(arguments, &sources, cancel, tally)?;
    let mut exposures = Vec::new();
    for ((url, source), image) in urls.iter().zip(&sources).zip(&images) {
        interrupt::check()?;
        let mut exposure = described(arguments, url, source)?;
        if exposure.contains_key("size") {
            exposure.insert("image".into(), image_to_json(image));
        }
        exposures.push(Value::Object(exposure));
    }
    let rules = Rules {
        ignore_wcs: arguments.ignore_wcs,
        ignore_units: arguments.ignore_units,
        ..Rules::default()
    };
    for warning in &Stack::open(images, rules)?.warnings {
        report.warn(warning);
    }
    let mut entry = Map::new();
    entry.insert("type".into(), json!("stack"));
    entry.insert("exposures".into(), json!(exposures));
    if let Some(hdu) = &arguments.hdu {
        entry.insert("hdu".into(), json!(hdu.to_string()));
    }
    if arguments.plane != 0 {
        entry.insert("plane".into(), json!(arguments.plane));
    }
    if arguments.ignore_wcs {
        entry.insert("ignore_wcs".into(), json!(true));
    }
    if arguments.ignore_units {
        entry.insert("ignore_units".into(), json!(true));
    }
    if let Some(hdu) = &arguments.mask {
        let mask = json!({ "hdu": hdu.to_string(), "bits": arguments.mask_bits });
        entry.insert("mask".into(), mask);
    }
    Ok(entry)
}

fn images(
    arguments: &Catalog,
    sources: &[Source],
    cancel: &AtomicBool,
    tally: &mut Tally,
) -> Result<Vec<Image>> {
    let wanted = Wanted {
        hdu: arguments.hdu.as_ref(),
        plane: arguments.plane,
        mask: arguments.mask.as_ref(),
    };
    let run = Run {
        in_flight: IN_FLIGHT,
        cancel,
    };
    let images = walked(sources, &wanted, &run, tally)?;
    Ok(images.into_iter().collect::<Result<_, _>>()?)
}

/// A store of ions: its head is read, so that a faulty one is not declared.
fn ions(arguments: &Catalog, name: &str, tally: &mut Tally) -> Result<Map<String, Value>> {
    let mut stores = arguments.ions.iter();
    let store = stores
        .find(|store| store.name == name)
        .ok_or_else(|| Failure::usage(format!("{name}: no --ions names its store")))?;
    let source = open(&arguments.folder, &store.value)?;
    let mut head = Open::new(source.name(), budget::DEFAULT);
    walk(&source, &mut head, tally)?;
    let mut entry = Map::new();
    entry.insert("type".into(), json!("ions"));
    let store = described(arguments, &store.value, &source)?;
    entry.insert("store".into(), Value::Object(store));
    if let Some(analyzer) = &arguments.analyzer {
        entry.insert("analyzer".into(), json!(analyzer));
    }
    if let Some(power) = arguments.resolving_power {
        entry.insert("resolving_power".into(), json!(power));
    }
    let mut lists = Map::new();
    for list in &arguments.molecules {
        if let Some((dataset, title)) = list.name.split_once(':')
            && dataset == name
        {
            lists.insert(title.to_owned(), beside(arguments, &list.value)?);
        }
    }
    if !lists.is_empty() {
        entry.insert("molecules".into(), Value::Object(lists));
    }
    Ok(entry)
}

/// A file that is described without being read.
fn beside(arguments: &Catalog, url: &str) -> Result<Value> {
    let source = open(&arguments.folder, url)?;
    described(arguments, url, &source).map(Value::Object)
}

/// All that is given, patterns replaced by the files that they name, in the order given.
fn urls(folder: &Path, given: &[&str]) -> Result<Vec<String>> {
    let mut urls = Vec::new();
    for given in given {
        if is_address(given) || !pattern::is_pattern(given) {
            urls.push((*given).to_owned());
            continue;
        }
        let found = pattern::expand(folder, given)
            .map_err(|error| Failure::file(folder, "cannot look into it", &error))?;
        if found.is_empty() {
            let folder = folder.display();
            let what = format!("{given}: no file below {folder} is called so");
            return Err(Failure::input("missing", what));
        }
        if found.len() > pattern::MOST {
            let what = format!("{given}: more than {} files are called so", pattern::MOST);
            return Err(Failure::input("parameter", what));
        }
        urls.extend(found);
    }
    Ok(urls)
}

fn is_address(text: &str) -> bool {
    text.contains("://")
}

fn open(folder: &Path, url: &str) -> Result<Source> {
    // A catalog's addresses are read without following redirects; so they must work without now.
    let options = Options::default().without_redirects();
    Ok(if is_address(url) {
        Source::open(url, &options)?
    } else {
        Source::file(&folder.join(url), url, &options)?
    })
}

/// Address, size and entity tag of a source that was read.
fn described(arguments: &Catalog, url: &str, source: &Source) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    fields.insert("url".into(), json!(url));
    let known = source.identity();
    if let Some(size) = known.total {
        fields.insert("size".into(), json!(size));
    }
    let etag = match (arguments.etags, is_address(url)) {
        (Etags::None, _) | (Etags::Served, false) => None,
        (Etags::Served | Etags::Md5, true) => known.etag,
        (Etags::Md5, false) => Some(md5_of(&arguments.folder.join(url))?),
    };
    if let Some(etag) = etag {
        fields.insert("etag".into(), json!(etag));
    }
    Ok(fields)
}

/// The entity tag that an object of these bytes has in a bucket, if it is uploaded in one part.
fn md5_of(path: &Path) -> Result<String> {
    let unread = |error: &std::io::Error| Failure::file(path, "cannot read it", error);
    let mut file = File::open(path).map_err(|error| unread(&error))?;
    let mut sum = Md5::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        interrupt::check()?;
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => sum.update(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(&error)),
        }
    }
    let mut digits = String::new();
    for byte in sum.finalize() {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(format!("\"{digits}\""))
}

/// The first line of a file, without blanks around it.
fn token(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(TOKEN).read_to_string(&mut text))
        .map_err(|error| Failure::file(path, "cannot read the token", &error))?;
    let token = text.lines().next().unwrap_or_default().trim();
    if token.is_empty() {
        let what = format!("{}: its first line holds no token", path.display());
        return Err(Failure::input("parameter", what));
    }
    Ok(token.to_owned())
}
