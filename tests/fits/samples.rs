//! Real files, where they are at hand: HDU tables against a list made by another reader.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sectile::fits::walk::Walk;

use crate::source::File;

/// Header and data offsets of each HDU of a file, as the list has them.
type Table = BTreeMap<String, Vec<(u64, u64)>>;

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let folder = shared.join("data/fits");
    folder.is_dir().then_some(folder)
}

fn offset(line: &str, name: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!("{name}="))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn table(text: &str) -> Table {
    let mut table = Table::new();
    let mut file = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            name.trim().clone_into(&mut file);
        } else if let Some(header) = offset(line, "hdrLoc") {
            let data = offset(line, "datLoc").unwrap();
            table.entry(file.clone()).or_default().push((header, data));
        }
    }
    table
}

#[test]
fn real_files_have_the_hdus_of_the_list() {
    let Some(folder) = folder() else {
        println!("skipped: no folder of real files (SECTILE_SHARED)");
        return;
    };
    let table = table(&std::fs::read_to_string(folder.join("MANIFEST.md")).unwrap());
    let mut outcomes = [0, 0];
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|ending| ending != "fits") {
            continue;
        }
        let file = File::new(std::fs::read(&path).unwrap());
        let outcome = file.walk(Walk::all(&name));
        let found: Vec<_> = outcome
            .hdus
            .iter()
            .map(|hdu| (hdu.header_at, hdu.data_at))
            .collect();
        if let Some(listed) = table.get(&name) {
            assert_eq!(&found, listed, "{name}: {:?}", outcome.image);
        }
        let code = outcome
            .image
            .as_ref()
            .map_or_else(sectile::error::Error::code, |_| "image");
        println!(
            "{name}: {} HDUs, {} reads, {code}",
            found.len(),
            outcome.reads.len()
        );
        match outcome.image {
            Ok(image) => {
                outcomes[0] += 1;
                let end = image.data_at + image.data_len();
                assert!(end <= file.total, "{name}");
                let plain = file.image().unwrap();
                assert_eq!(
                    (plain.hdu, plain.data_at),
                    (image.hdu, image.data_at),
                    "{name}"
                );
            }
            Err(error) => {
                outcomes[1] += 1;
                println!("    {error}");
                let known = [
                    "compressed by tiles",
                    "no HDU holds an image",
                    "random groups",
                ];
                let message = error.to_string();
                assert!(
                    known.iter().any(|known| message.contains(known)),
                    "{message}"
                );
            }
        }
    }
    println!("{} images, {} refused", outcomes[0], outcomes[1]);
    assert!(outcomes[0] > 20);
}
