//! The spectrum that is being read, and those that were.

use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Compression, Number, Spectrum};
use crate::imzml::described::{ArrayTerms, Kind, SpectrumTerms};
use crate::imzml::draft::{self, Refusal, Repairs, Wrap};
use crate::imzml::index::Index;

/// The array of a spectrum without peaks.
const EMPTY: Array = Array {
    at: 0,
    bytes: 0,
    len: 0,
    number: Number::F32,
    compression: Compression::None,
};

/// What is said about the spectrum at hand.
#[derive(Debug, Default)]
struct Draft {
    at: u64,
    default_len: Option<u64>,
    mz: Option<Array>,
    intensity: Option<Array>,
}

/// Makes spectra of what is said about them and their arrays.
#[derive(Debug)]
pub(super) struct Spectra {
    file: String,
    pub(super) index: Index,
    draft: Draft,
    /// What is said of the spectrum at hand, inline and by groups.
    pub(super) inline: SpectrumTerms,
    pub(super) grouped: SpectrumTerms,
    /// What is said of the array at hand, inline and by groups.
    pub(super) array_inline: ArrayTerms,
    pub(super) array_grouped: ArrayTerms,
    mz_wrap: Wrap,
    intensity_wrap: Wrap,
    pub(super) repairs: Repairs,
    /// Arrays of m/z or intensity beyond the first of a spectrum.
    pub(super) surplus: u64,
}

impl Spectra {
    pub(super) fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            index: Index::new(memory),
            draft: Draft::default(),
            inline: SpectrumTerms::default(),
            grouped: SpectrumTerms::default(),
            array_inline: ArrayTerms::default(),
            array_grouped: ArrayTerms::default(),
            mz_wrap: Wrap::default(),
            intensity_wrap: Wrap::default(),
            repairs: Repairs::default(),
            surplus: 0,
        }
    }

    fn format(&self, at: u64, what: &str) -> Error {
        Error::Format {
            file: self.file.clone(),
            at,
            what: format!("{}{what}", self.here()),
        }
    }

    /// The spectrum at hand, for messages.
    pub(super) fn here(&self) -> String {
        format!("spectrum {}: ", self.index.spectra.len())
    }

    /// Begins the spectrum whose tag is at byte `at`.
    pub(super) fn begin(&mut self, at: u64, default_len: Option<u64>) {
        self.draft = Draft {
            at,
            default_len,
            ..Draft::default()
        };
        self.inline = SpectrumTerms::default();
        self.grouped = SpectrumTerms::default();
    }

    /// Begins an array of the spectrum.
    pub(super) fn begin_array(&mut self) {
        self.array_inline = ArrayTerms::default();
        self.array_grouped = ArrayTerms::default();
    }

    /// Ends the array whose closing tag is at byte `at`. One that holds neither m/z nor intensity is
    /// passed over.
    pub(super) fn end_array(&mut self, at: u64) -> Result<()> {
        let terms = self.array_inline.or(&self.array_grouped);
        let Some(kind) = terms.kind else {
            return Ok(());
        };
        let draft = &mut self.draft;
        let (place, wrap, name) = match kind {
            Kind::Mz => (&mut draft.mz, &mut self.mz_wrap, "m/z"),
            Kind::Intensity => (&mut draft.intensity, &mut self.intensity_wrap, "intensity"),
        };
        if place.is_some() {
            self.surplus += 1;
            return Ok(());
        }
        match draft::settle(&terms, draft.default_len, wrap, &mut self.repairs) {
            Ok(array) => {
                *place = Some(array);
                Ok(())
            }
            Err(Refusal::Format(what)) => Err(self.format(at, &format!("its {name} array {what}"))),
            Err(Refusal::Unsupported(what)) => Err(Error::Unsupported {
                file: self.file.clone(),
                what: format!("{}its {name} array {what}", self.here()),
            }),
        }
    }

    /// Ends the spectrum.
    pub(super) fn end(&mut self) -> Result<()> {
        let draft = std::mem::take(&mut self.draft);
        let wrong = |what: &str| Err(self.format(draft.at, what));
        let terms = self.inline.or(&self.grouped);
        let [Some(x), Some(y), z] = terms.position else {
            return wrong(
                "it has no position (IMS:1000050 and IMS:1000051); if the file is plain mzML, it is \
                 no image",
            );
        };
        let (mz, intensity) = match (draft.mz, draft.intensity) {
            (Some(mz), Some(intensity)) => (mz, intensity),
            (None, None) if draft.default_len == Some(0) => (EMPTY, EMPTY),
            (None, _) => return wrong("it has no m/z array (MS:1000514)"),
            (_, None) => return wrong("it has no intensity array (MS:1000515)"),
        };
        let position = [x, y, z.unwrap_or(1)];
        let polarity = terms.polarity.unwrap_or_default();
        let representation = terms.representation.unwrap_or_default();
        let spectrum = Spectrum::new(mz, intensity, position, polarity, representation);
        if let Some(what) = self.index.absurd(&spectrum) {
            return wrong(&what);
        }
        self.index.push(spectrum)
    }
}
