//! The demo tissue as a store, lists of molecules, and results as they are read back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sectile::ion::formula::Composition;
use sectile::ion::formula::modifier::Modifier;
use sectile::ion::isotope::{Analyzer, Generation, Instrument, Patterns};
use tempfile::TempDir;

use crate::program::{run_well, stack};

/// The demo tissue, packed.
pub struct Scene {
    pub folder: TempDir,
    pub store: PathBuf,
}

/// What was planted.
#[derive(Debug, Clone)]
pub struct Planted {
    pub formula: String,
    pub adduct: String,
    pub mz: f64,
}

/// One row of `results.csv`.
#[derive(Debug, Clone)]
pub struct Row {
    pub formula: String,
    pub adduct: String,
    pub mz: f64,
    pub msm: f64,
    pub fdr: f64,
}

/// The tissue, made once for all tests of a file.
pub fn scene() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = stack(1, 64);
        run_well(
            folder.path(),
            &["pack", "tissue.imzML", "-o", "tissue.sectile"],
        );
        Scene {
            store: folder.path().join("tissue.sectile"),
            folder,
        }
    })
}

impl Scene {
    /// Writes a list of formulas under a name.
    pub fn list<'f>(&self, name: &str, formulas: impl Iterator<Item = &'f String>) -> PathBuf {
        let mut text = "id,name,formula\n".to_owned();
        for (n, formula) in formulas.enumerate() {
            writeln!(text, "M{n},molecule {n},{formula}").unwrap();
        }
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A list that is done in a moment: what was planted, and as many that are absent.
    pub fn small_list(&self) -> PathBuf {
        static LIST: OnceLock<PathBuf> = OnceLock::new();
        LIST.get_or_init(|| {
            let mut formulas: Vec<String> =
                planted(self).into_iter().map(|ion| ion.formula).collect();
            formulas.dedup();
            formulas.extend(absent(self, 40));
            self.list("small.csv", formulas.iter())
        })
        .clone()
    }
}

/// The ions of the truth.
pub fn planted(scene: &Scene) -> Vec<Planted> {
    let text = fs::read_to_string(scene.folder.path().join("tissue_truth.csv")).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("formula,adduct,mz,"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Planted {
            formula: cells[0].to_owned(),
            adduct: cells[1].to_owned(),
            mz: cells[2].parse().unwrap(),
        }
    };
    lines.map(row).collect()
}

/// Formulas that are not in the tissue, and no ion of which lies within 10 ppm of an isotope peak of one that is.
pub fn absent(scene: &Scene, count: usize) -> Vec<String> {
    let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
    let mut patterns = Patterns::new(instrument, Generation::Current, 1).unwrap();
    let mut pattern = |formula: &str, adduct: &str| {
        let formula = Composition::parse(formula).unwrap();
        let ion = Modifier::parse(adduct).unwrap().apply(&formula).unwrap();
        patterns.pattern(&ion).unwrap()
    };
    let taken: Vec<f64> = planted(scene)
        .iter()
        .flat_map(|ion| {
            let pattern = pattern(&ion.formula, &ion.adduct);
            // Beside what the demo's own table of isotopes says.
            let mut mz = pattern.mz[..usize::from(pattern.peaks)].to_vec();
            mz.push(ion.mz);
            mz
        })
        .collect();
    let mut is_free = |formula: &str| {
        ["+H", "+Na", "+K"].iter().all(|adduct| {
            let first = pattern(formula, adduct).mz[0];
            taken.iter().all(|mz| (first / mz - 1.0).abs() > 10e-6)
        })
    };
    let mut found = Vec::new();
    // Plain organic compositions over the range of m/z of what was planted.
    for carbon in 4..50 {
        for (nitrogen, oxygen) in [(0, 2), (1, 3), (2, 5), (3, 4), (0, 7), (1, 8)] {
            if oxygen > carbon + 2 {
                continue;
            }
            let hydrogen = 2 * carbon - 2 * ((carbon + oxygen) % 4) + nitrogen;
            let count = |symbol: &str, n: i32| match n {
                0 => String::new(),
                1 => symbol.to_owned(),
                n => format!("{symbol}{n}"),
            };
            let formula = format!("C{carbon}H{hydrogen}{}O{oxygen}", count("N", nitrogen));
            if is_free(&formula) {
                found.push(formula);
            }
        }
    }
    // Every so many, so that they are spread over the range.
    let step = found.len() / count;
    assert!(step >= 1, "{} formulas for {count}", found.len());
    found.into_iter().step_by(step).take(count).collect()
}

/// The rows of a table of results.
pub fn results(path: &Path) -> Vec<Row> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(cells);
    let heading = lines.next().unwrap();
    let place = |name: &str| {
        let place = heading.iter().position(|found| found == name);
        place.unwrap_or_else(|| panic!("no column {name} in {heading:?}"))
    };
    let columns = [
        "formula", "adduct", "mz", "msm", "fdr", "chaos", "spatial", "spectral",
    ]
    .map(place);
    lines
        .map(|row| {
            let number = |at: usize| row[columns[at]].parse::<f64>().unwrap();
            Row {
                formula: row[columns[0]].clone(),
                adduct: row[columns[1]].clone(),
                mz: number(2),
                msm: number(3),
                fdr: number(4),
            }
        })
        .collect()
}

/// The cells of a line of CSV, with quotes as RFC 4180 has them.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

/// The names and bytes of all files in a folder.
pub fn finished(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names: BTreeMap<String, Vec<u8>> = fs::read_dir(folder)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    names.into_iter().collect()
}
