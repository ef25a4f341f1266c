/** Writes small imzML pairs whose every value is known. */
import { writeFileSync } from 'node:fs';

const param = (name, accession, text = '', unit = '') => `<cvParam cvRef="${accession.split(':')[0]}" accession="${accession}" name="${name}" value="${text}"${unit}/>`;
const MICROMETRE = ' unitCvRef="UO" unitAccession="UO:0000017" unitName="micrometer"';

/**
 * @param {string} stem path without the ending
 * @param {{spectra: {x: number, y: number, z?: number, peaks: [number, number][]}[], pixel?: [number, number]}} data
 * @returns {[string, string]} the two paths
 */
export function writePair(stem, { spectra, pixel = [50, 50] }) {
  const parts = [Buffer.from('00112233445566778899aabbccddeeff', 'hex')];
  let at = 16;
  const array = (group, numbers, bytes) => {
    parts.push(bytes);
    const text = `<binaryDataArray encodedLength="0"><referenceableParamGroupRef ref="${group}"/>${param('external offset', 'IMS:1000102', at)}${param('external array length', 'IMS:1000103', numbers)}${param('external encoded length', 'IMS:1000104', bytes.length)}<binary/></binaryDataArray>`;
    at += bytes.length;
    return text;
  };
  const body = spectra.map(({ x, y, z, peaks }, index) => {
    const mz = Buffer.from(Float64Array.from(peaks, ([value]) => value).buffer);
    const intensity = Buffer.from(Float32Array.from(peaks, ([, value]) => value).buffer);
    const place = [['x', x, 'IMS:1000050'], ['y', y, 'IMS:1000051'], ...(z === undefined ? [] : [['z', z, 'IMS:1000052']])];
    return `<spectrum id="s=${index}" defaultArrayLength="${peaks.length}" index="${index}"><scanList count="1"><scan>${place.map(([name, value, accession]) => param(`position ${name}`, accession, value)).join('')}</scan></scanList><binaryDataArrayList count="2">${array('mz', peaks.length, mz)}${array('int', peaks.length, intensity)}</binaryDataArrayList></spectrum>`;
  });
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<mzML xmlns="http://psi.hupo.org/ms/mzml" version="1.1"><fileDescription><fileContent>
${param('centroid spectrum', 'MS:1000127')}${param('universally unique identifier', 'IMS:1000080', '{00112233-4455-6677-8899-AABBCCDDEEFF}')}${param('processed', 'IMS:1000031')}${param('negative scan', 'MS:1000129')}
</fileContent></fileDescription><referenceableParamGroupList count="2">
<referenceableParamGroup id="mz">${param('no compression', 'MS:1000576')}${param('m/z array', 'MS:1000514')}${param('64-bit float', 'MS:1000523')}${param('external data', 'IMS:1000101', 'true')}</referenceableParamGroup>
<referenceableParamGroup id="int">${param('no compression', 'MS:1000576')}${param('intensity array', 'MS:1000515')}${param('32-bit float', 'MS:1000521')}${param('external data', 'IMS:1000101', 'true')}</referenceableParamGroup>
</referenceableParamGroupList><scanSettingsList count="1"><scanSettings id="s">
${param('pixel size (x)', 'IMS:1000046', pixel[0], MICROMETRE)}${param('pixel size y', 'IMS:1000047', pixel[1], MICROMETRE)}
</scanSettings></scanSettingsList><run id="r"><spectrumList count="${spectra.length}">
${body.join('\n')}
</spectrumList></run></mzML>
`;
  const paths = [`${stem}.imzML`, `${stem}.ibd`];
  writeFileSync(paths[0], xml);
  writeFileSync(paths[1], Buffer.concat(parts));
  return paths;
}

/**
 * A dataset of 12 × 9 pixels of 40 × 80 µm, cut at one corner, with its positions counted from (5, 3). Ion 500 has
 * 10 x + y, ion 700.25 has 1000 in the middle; there is a peak of noise in every pixel.
 */
export function known() {
  const spectra = [];
  for (let y = 0; y < 9; y += 1) {
    for (let x = 0; x < 12; x += 1) {
      if (x + y < 3) continue;
      const peaks = [[300 + 0.013 * (x + 12 * y), 2], [500, 10 * x + y], [700.25, x > 3 && x < 8 && y > 2 && y < 6 ? 1000 : 0]];
      spectra.push({ x: x + 5, y: y + 3, peaks });
    }
  }
  return { spectra, pixel: [40, 80] };
}
