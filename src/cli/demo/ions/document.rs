//! The XML half of an imzML pair: processed, uncompressed, f32 intensities, one scan a pixel.
//!
//! imzML 1.1 is mzML 1.1.0 with the vocabulary `IMS` for what mzML lacks (Schramm et al. 2012,
//! doi:10.1016/j.jprot.2012.07.026). Arrays lie in the other file; here stand their places.

use std::io::{Result, Write};

/// What is said once.
#[derive(Debug)]
pub struct Document<'a> {
    /// What wrote it.
    pub writer: &'a str,
    /// The instrument's name.
    pub instrument: &'a str,
    /// Of the grid, in pixels.
    pub size: [u32; 2],
    /// Of a pixel, in µm, along both axes.
    pub pixel: u32,
    /// How many spectra follow.
    pub spectra: usize,
    /// Bytes of an m/z value: 4 or 8.
    pub mz_bytes: u64,
    /// The first 16 bytes of the other file.
    pub uuid: [u8; 16],
    /// SHA-1 of the other file.
    pub sha1: [u8; 20],
}

/// What is said of each spectrum.
#[derive(Debug)]
pub struct Spectrum {
    /// Counted from 0.
    pub index: usize,
    /// Column and row, counted from 1 at the top left.
    pub place: [u32; 2],
    /// Where its m/z values begin in the other file; its intensities follow them.
    pub at: u64,
    /// How many peaks it has.
    pub peaks: u64,
    /// Smallest and largest m/z.
    pub range: [f64; 2],
    /// Sum of the intensities.
    pub total: f64,
}

/// What comes after the last spectrum.
const TAIL: &str = "    </spectrumList>\n  </run>\n</mzML>\n";

impl Document<'_> {
    /// Writes everything.
    pub fn write(
        &self,
        out: &mut impl Write,
        spectra: impl Iterator<Item = Spectrum>,
    ) -> Result<()> {
        self.head(out)?;
        self.settings(out)?;
        for spectrum in spectra {
            self.spectrum(out, &spectrum)?;
        }
        out.write_all(TAIL.as_bytes())
    }

    fn head(&self, out: &mut impl Write) -> Result<()> {
        let (uuid, sha1) = (hex(&self.uuid), hex(&self.sha1));
        let float = if self.mz_bytes == 4 {
            r#"accession="MS:1000521" name="32-bit float""#
        } else {
            r#"accession="MS:1000523" name="64-bit float""#
        };
        write!(
            out,
            r#"<?xml version="1.0" encoding="UTF-8"?>
<mzML xmlns="http://psi.hupo.org/ms/mzml" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://psi.hupo.org/ms/mzml http://psidev.info/files/ms/mzML/xsd/mzML1.1.0.xsd" version="1.1.0">
  <cvList count="3">
    <cv id="MS" fullName="Proteomics Standards Initiative Mass Spectrometry Ontology" version="4.1.0" URI="http://purl.obolibrary.org/obo/ms.obo"/>
    <cv id="UO" fullName="Unit Ontology" version="2020-03-10" URI="http://purl.obolibrary.org/obo/uo.obo"/>
    <cv id="IMS" fullName="Imaging MS Ontology" version="1.1.0" URI="https://raw.githubusercontent.com/imzML/imzML/master/imagingMS.obo"/>
  </cvList>
  <fileDescription>
    <fileContent>
      <cvParam cvRef="MS" accession="MS:1000579" name="MS1 spectrum"/>
      <cvParam cvRef="MS" accession="MS:1000127" name="centroid spectrum"/>
      <cvParam cvRef="IMS" accession="IMS:1000031" name="processed"/>
      <cvParam cvRef="IMS" accession="IMS:1000080" name="universally unique identifier" value="{uuid}"/>
      <cvParam cvRef="IMS" accession="IMS:1000091" name="ibd SHA-1" value="{sha1}"/>
    </fileContent>
  </fileDescription>
  <referenceableParamGroupList count="4">
    <referenceableParamGroup id="mzArray">
      <cvParam cvRef="MS" accession="MS:1000514" name="m/z array" unitCvRef="MS" unitAccession="MS:1000040" unitName="m/z"/>
      <cvParam cvRef="MS" {float}/>
      <cvParam cvRef="MS" accession="MS:1000576" name="no compression"/>
      <cvParam cvRef="IMS" accession="IMS:1000101" name="external data" value="true"/>
    </referenceableParamGroup>
    <referenceableParamGroup id="intensityArray">
      <cvParam cvRef="MS" accession="MS:1000515" name="intensity array" unitCvRef="MS" unitAccession="MS:1000131" unitName="number of detector counts"/>
      <cvParam cvRef="MS" accession="MS:1000521" name="32-bit float"/>
      <cvParam cvRef="MS" accession="MS:1000576" name="no compression"/>
      <cvParam cvRef="IMS" accession="IMS:1000101" name="external data" value="true"/>
    </referenceableParamGroup>
    <referenceableParamGroup id="spectrum">
      <cvParam cvRef="MS" accession="MS:1000579" name="MS1 spectrum"/>
      <cvParam cvRef="MS" accession="MS:1000511" name="ms level" value="1"/>
      <cvParam cvRef="MS" accession="MS:1000127" name="centroid spectrum"/>
      <cvParam cvRef="MS" accession="MS:1000130" name="positive scan"/>
    </referenceableParamGroup>
    <referenceableParamGroup id="scan">
      <cvParam cvRef="MS" accession="MS:1000093" name="increasing m/z scan"/>
    </referenceableParamGroup>
  </referenceableParamGroupList>
"#
        )
    }

    fn settings(&self, out: &mut impl Write) -> Result<()> {
        let Self {
            writer,
            instrument,
            pixel,
            spectra,
            ..
        } = self;
        let [width, height] = self.size;
        let micrometre = r#"unitCvRef="UO" unitAccession="UO:0000017" unitName="micrometer""#;
        write!(
            out,
            r#"  <softwareList count="1">
    <software id="sectile" version="1">
      <cvParam cvRef="MS" accession="MS:1000799" name="custom unreleased software tool" value="{writer}"/>
    </software>
  </softwareList>
  <scanSettingsList count="1">
    <scanSettings id="settings">
      <cvParam cvRef="IMS" accession="IMS:1000401" name="top down"/>
      <cvParam cvRef="IMS" accession="IMS:1000413" name="flyback"/>
      <cvParam cvRef="IMS" accession="IMS:1000480" name="horizontal line scan"/>
      <cvParam cvRef="IMS" accession="IMS:1000491" name="linescan left right"/>
      <cvParam cvRef="IMS" accession="IMS:1000042" name="max count of pixels x" value="{width}"/>
      <cvParam cvRef="IMS" accession="IMS:1000043" name="max count of pixels y" value="{height}"/>
      <cvParam cvRef="IMS" accession="IMS:1000044" name="max dimension x" value="{across}" {micrometre}/>
      <cvParam cvRef="IMS" accession="IMS:1000045" name="max dimension y" value="{down}" {micrometre}/>
      <cvParam cvRef="IMS" accession="IMS:1000046" name="pixel size (x)" value="{pixel}" {micrometre}/>
      <cvParam cvRef="IMS" accession="IMS:1000047" name="pixel size y" value="{pixel}" {micrometre}/>
    </scanSettings>
  </scanSettingsList>
  <instrumentConfigurationList count="1">
    <instrumentConfiguration id="instrument">
      <cvParam cvRef="MS" accession="MS:1000031" name="instrument model" value="{instrument}"/>
      <componentList count="3">
        <source order="1">
          <cvParam cvRef="MS" accession="MS:1000075" name="matrix-assisted laser desorption ionization"/>
        </source>
        <analyzer order="2">
          <cvParam cvRef="MS" accession="MS:1000484" name="orbitrap"/>
        </analyzer>
        <detector order="3">
          <cvParam cvRef="MS" accession="MS:1000624" name="inductive detector"/>
        </detector>
      </componentList>
    </instrumentConfiguration>
  </instrumentConfigurationList>
  <dataProcessingList count="1">
    <dataProcessing id="processing">
      <processingMethod order="1" softwareRef="sectile">
        <cvParam cvRef="MS" accession="MS:1000035" name="peak picking"/>
      </processingMethod>
    </dataProcessing>
  </dataProcessingList>
  <run id="run" defaultInstrumentConfigurationRef="instrument">
    <spectrumList count="{spectra}" defaultDataProcessingRef="processing">
"#,
            across = width * pixel,
            down = height * pixel,
        )
    }

    fn spectrum(&self, out: &mut impl Write, spectrum: &Spectrum) -> Result<()> {
        let Spectrum {
            index, at, peaks, ..
        } = spectrum;
        let [x, y] = spectrum.place;
        let [low, high] = spectrum.range;
        let mz_unit = r#"unitCvRef="MS" unitAccession="MS:1000040" unitName="m/z""#;
        write!(
            out,
            r#"      <spectrum id="spectrum={number}" index="{index}" defaultArrayLength="{peaks}">
        <referenceableParamGroupRef ref="spectrum"/>
        <cvParam cvRef="MS" accession="MS:1000528" name="lowest observed m/z" value="{low}" {mz_unit}/>
        <cvParam cvRef="MS" accession="MS:1000527" name="highest observed m/z" value="{high}" {mz_unit}/>
        <cvParam cvRef="MS" accession="MS:1000285" name="total ion current" value="{total}"/>
        <scanList count="1">
          <cvParam cvRef="MS" accession="MS:1000795" name="no combination"/>
          <scan instrumentConfigurationRef="instrument">
            <referenceableParamGroupRef ref="scan"/>
            <cvParam cvRef="IMS" accession="IMS:1000050" name="position x" value="{x}"/>
            <cvParam cvRef="IMS" accession="IMS:1000051" name="position y" value="{y}"/>
          </scan>
        </scanList>
        <binaryDataArrayList count="2">
"#,
            number = index + 1,
            total = spectrum.total,
        )?;
        let mz_length = peaks * self.mz_bytes;
        array(out, "mzArray", *at, *peaks, mz_length)?;
        array(out, "intensityArray", at + mz_length, *peaks, peaks * 4)?;
        out.write_all(b"        </binaryDataArrayList>\n      </spectrum>\n")
    }
}

fn array(out: &mut impl Write, group: &str, at: u64, values: u64, bytes: u64) -> Result<()> {
    write!(
        out,
        r#"          <binaryDataArray encodedLength="0">
            <referenceableParamGroupRef ref="{group}"/>
            <cvParam cvRef="IMS" accession="IMS:1000102" name="external offset" value="{at}"/>
            <cvParam cvRef="IMS" accession="IMS:1000103" name="external array length" value="{values}"/>
            <cvParam cvRef="IMS" accession="IMS:1000104" name="external encoded length" value="{bytes}"/>
            <binary/>
          </binaryDataArray>
"#
    )
}

fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or('0');
    let both = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    both.map(digit).collect()
}
