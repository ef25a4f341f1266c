//! imzML pairs with known peaks, and what a full scan of them says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha1::Digest;

/// One spectrum as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    pub at: [i32; 3],
    pub mz: Vec<f64>,
    pub intensity: Vec<f32>,
}

/// A dataset in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Spots(pub Vec<Spot>);

/// Numbers that look like chance and are the same everywhere.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// In 0..1.
    pub fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }
}

impl Spots {
    /// `peaks` peaks in each spectrum of a disc on a `side`×`side` grid that begins at x = 5, y = −2.
    ///
    /// Every fourth peak has an m/z that it shares with all spectra; some intensities are 0, some
    /// negative.
    pub fn disc(side: i32, peaks: usize) -> Self {
        let mut chance = Chance::new(7);
        let mut spots = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let [dx, dy] = [x, y].map(|v| f64::from(2 * v + 1 - side) / f64::from(side));
                if dx * dx + dy * dy > 1.1 {
                    continue;
                }
                let mut mz: Vec<f64> = (0..peaks)
                    .map(|n| match n % 4 {
                        0 => 100.0 + f64::from(u32::try_from(n).unwrap()) * 0.1,
                        _ => 100.0 + 900.0 * chance.share(),
                    })
                    .collect();
                mz.sort_by(f64::total_cmp);
                let intensity = (0..peaks)
                    .map(|n| match n % 97 {
                        5 => 0.0,
                        6 => -0.5,
                        _ => (chance.share() * 1000.0) as f32,
                    })
                    .collect();
                spots.push(Spot {
                    at: [x + 5, y - 2, 1],
                    mz,
                    intensity,
                });
            }
        }
        Self(spots)
    }

    /// Writes `stem.imzML` and `stem.ibd`.
    pub fn write(&self, folder: &Path, stem: &str) -> PathBuf {
        let uuid: [u8; 16] = *b"0123456789abcdef";
        let mut ibd = uuid.to_vec();
        let mut list = String::new();
        for (n, spot) in self.0.iter().enumerate() {
            let mz_at = ibd.len();
            ibd.extend(spot.mz.iter().flat_map(|v| v.to_le_bytes()));
            let intensity_at = ibd.len();
            ibd.extend(spot.intensity.iter().flat_map(|v| v.to_le_bytes()));
            let array = |group: &str, at: usize, len: usize, end: usize| {
                format!(
                    "<binaryDataArray encodedLength=\"0\"><referenceableParamGroupRef ref=\"{group}\"/>\
                     <cvParam accession=\"IMS:1000102\" value=\"{at}\"/>\
                     <cvParam accession=\"IMS:1000103\" value=\"{len}\"/>\
                     <cvParam accession=\"IMS:1000104\" value=\"{}\"/><binary/></binaryDataArray>\n",
                    end - at
                )
            };
            let [x, y, z] = spot.at;
            writeln!(
                list,
                "<spectrum id=\"s{n}\" index=\"{n}\" defaultArrayLength=\"0\"><scanList count=\"1\"><scan>\
                 <cvParam accession=\"IMS:1000050\" value=\"{x}\"/><cvParam accession=\"IMS:1000051\" value=\"{y}\"/>\
                 <cvParam accession=\"IMS:1000052\" value=\"{z}\"/></scan></scanList>\
                 <binaryDataArrayList count=\"2\">{}{}</binaryDataArrayList></spectrum>",
                array("mz", mz_at, spot.mz.len(), intensity_at),
                array("in", intensity_at, spot.intensity.len(), ibd.len()),
            )
            .unwrap();
        }
        let digits = hex(&uuid);
        let sha1 = hex(&sha1::Sha1::digest(&ibd));
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<mzML xmlns=\"http://psi.hupo.org/ms/mzml\">\
             <fileDescription><fileContent><cvParam accession=\"MS:1000127\" name=\"centroid spectrum\"/>\
             <cvParam accession=\"IMS:1000031\" name=\"processed\"/>\
             <cvParam accession=\"IMS:1000080\" value=\"{{{digits}}}\"/>\
             <cvParam accession=\"IMS:1000091\" value=\"{sha1}\"/></fileContent></fileDescription>\n\
             <referenceableParamGroupList count=\"2\"><referenceableParamGroup id=\"mz\">\
             <cvParam accession=\"MS:1000514\" name=\"m/z array\"/><cvParam accession=\"MS:1000523\" name=\"64-bit float\"/>\
             <cvParam accession=\"MS:1000576\" name=\"no compression\"/>\
             <cvParam accession=\"IMS:1000101\" value=\"true\"/></referenceableParamGroup>\
             <referenceableParamGroup id=\"in\"><cvParam accession=\"MS:1000515\" name=\"intensity array\"/>\
             <cvParam accession=\"MS:1000521\" name=\"32-bit float\"/><cvParam accession=\"MS:1000576\" name=\"no compression\"/>\
             <cvParam accession=\"IMS:1000101\" value=\"true\"/></referenceableParamGroup></referenceableParamGroupList>\n\
             <scanSettingsList count=\"1\"><scanSettings id=\"scan\">\
             <cvParam accession=\"IMS:1000046\" value=\"25\" unitAccession=\"UO:0000017\" unitName=\"micrometer\"/>\
             <cvParam accession=\"IMS:1000047\" value=\"50\" unitAccession=\"UO:0000017\" unitName=\"micrometer\"/>\
             </scanSettings></scanSettingsList>\n<run id=\"r\"><spectrumList count=\"{}\">\n{list}</spectrumList></run></mzML>\n",
            self.0.len()
        );
        let path = folder.join(format!("{stem}.imzML"));
        fs::write(&path, xml).unwrap();
        fs::write(folder.join(format!("{stem}.ibd")), ibd).unwrap();
        path
    }

    /// Sums of intensities in a closed window, by position; what was never acquired is not there.
    pub fn scan(&self, lo: f64, hi: f64, z: i32) -> BTreeMap<[i32; 2], f32> {
        let mut sums: BTreeMap<[i32; 2], f64> = BTreeMap::new();
        for spot in self.0.iter().filter(|spot| spot.at[2] == z) {
            let sum = sums.entry([spot.at[0], spot.at[1]]).or_default();
            let peaks = spot.mz.iter().zip(&spot.intensity);
            *sum += peaks
                .filter(|(mz, _)| lo <= **mz && **mz <= hi)
                .map(|(_, intensity)| f64::from(*intensity))
                .sum::<f64>();
        }
        sums.into_iter().map(|(at, sum)| (at, sum as f32)).collect()
    }

    /// The total of each position.
    pub fn totals(&self) -> BTreeMap<[i32; 2], f64> {
        let mut sums: BTreeMap<[i32; 2], f64> = BTreeMap::new();
        for spot in &self.0 {
            let total: f64 = spot.intensity.iter().map(|v| f64::from(*v)).sum();
            *sums.entry([spot.at[0], spot.at[1]]).or_default() += total;
        }
        sums
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// The rows of a table of numbers, and its heading.
pub fn table(path: &Path) -> (String, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let heading = lines.next().unwrap().to_owned();
    let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect());
    (heading, rows.collect())
}

/// The shape and the numbers of a `.npy` file of f32.
pub fn array(path: &Path) -> (Vec<usize>, Vec<f32>) {
    let bytes = fs::read(path).unwrap();
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let head = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(head.contains("'<f4'"), "{head}");
    let shape = head.split(['(', ')']).nth(1).unwrap();
    let shape = shape
        .split(", ")
        .map(|side| side.parse().unwrap())
        .collect();
    let numbers = bytes[10 + length..].as_chunks::<4>().0;
    (
        shape,
        numbers.iter().map(|b| f32::from_le_bytes(*b)).collect(),
    )
}
