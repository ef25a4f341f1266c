/** Rules of the page's annotations that need no browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contrary, parseAdduct, parseAdducts } from '../../www/ions/annotations/adducts.js';
import { csvOf, linesOf } from '../../www/ions/annotations/csv.js';
import { analyzerOf, halfWidth, polarityOf, powerOf } from '../../www/ions/annotations/instrument.js';
import { resultsOf } from '../../www/ions/annotations/results-file.js';
import { adductsOf, filtered, levelOf, nameOf, sorted } from '../../www/ions/annotations/rows.js';
import { formatFragment, initialState, parseFragment } from '../../www/ions/state.js';

const row = (formula, adduct, fdr, more = {}) => ({
  formula, adduct, fdr, ion: '', mz: 100, msm: 0.5, chaos: 0.9, spatial: 0.8, spectral: 0.7, mzErrAbs: null, mzErrRel: null, overlap: false,
  peaks: [{ mz: 100, theory: 100, total: 5, min: 1, max: 2 }], molecules: [{ id: 'X1', name: `name of ${formula}` }], ...more,
});

describe('rules of annotations', () => {
  test('adducts: one spelling, several signed parts, brackets, and what is wrong with others', () => {
    const texts = (written) => parseAdducts(written).map(({ text }) => text);
    assert.deepEqual(texts('+H, +Na;+K\n-H2O+H'), ['+H', '+Na', '+K', '-H2O+H']);
    assert.deepEqual(texts('[M+Na]+ [M - H]- [M]+ M+K −H +H +H'), ['+Na', '-H', '[M]+', '+K', '+H']);
    assert.deepEqual(texts(''), []);
    const cases = { H: /needs a sign: \+H/, '+': /an element has to follow/, '+h': /“h” does not belong/, '+Qq': /no element “Qq”/, '+H0': /count of 0/, '[M+H]': /needs a charge/, '[M+H]2+': /needs a charge/, '+H--': /an element has to follow/, '-H2O+': /“\+” in “-H2O\+”/, '+H*': /“\*” does not belong/ };
    for (const [written, message] of Object.entries(cases)) assert.throws(() => parseAdduct(written), message, written);
  });

  test('adducts of the other polarity are named, those that could be either are not', () => {
    const adducts = parseAdducts('+H -H +Cl +K-H [M]- -H2O+H');
    assert.deepEqual(contrary(adducts, 'positive').map(({ text }) => text), ['-H', '+Cl', '[M]-']);
    assert.deepEqual(contrary(adducts, 'negative').map(({ text }) => text), ['+H', '-H2O+H']);
  });

  test('the analyzer and the polarity by what files say', () => {
    const said = {
      'Orbitrap Exploris 240': 'orbitrap', 'Q Exactive HF': 'orbitrap', 'LTQ Orbitrap Velos': 'orbitrap', 'Thermo Scientific Q-Exactive Plus': 'orbitrap', 'Bruker solariX XR 7T': 'fticr', 'LTQ FT Ultra': 'fticr',
      '15T FT-ICR': 'fticr', 'timsTOF fleX': 'tof', 'rapifleX': 'tof', 'SYNAPT G2-Si': 'tof', 'Bruker Autoflex Speed MALDI-TOF': 'tof', 'MALDI TOF/TOF': 'tof', 'time-of-flight': 'tof', '': null, 'triple quadrupole': null, software: null,
    };
    for (const [text, analyzer] of Object.entries(said)) assert.equal(analyzerOf(text), analyzer, text);
    assert.equal(analyzerOf(undefined), null);
    const powers = { 'simulated Orbitrap, resolving power 140,000 at m/z 200': 140000, 'Resolving power: 120000': 120000, 'resolving power 120000 at m/z 400': null, 'resolving power 120000 at m/z 2000': null, 'resolving power high': null, 'resolving power 7': null, Orbitrap: null };
    for (const [text, power] of Object.entries(powers)) assert.equal(powerOf(text), power, text);
    assert.deepEqual(['Positive scan', 'negative', 'unknown', '', undefined].map(polarityOf), ['positive', 'negative', null, null, null]);
  });

  test('windows: a part of m/z, and what version 2 makes of it', () => {
    assert.equal(halfWidth(800, 3, 'metaspace-v3', 'orbitrap'), 800 * 3 * 1e-6);
    assert.equal(halfWidth(200, 3, 'metaspace-v2', 'orbitrap').toPrecision(12), (200 * 3e-6).toPrecision(12));
    assert.equal(halfWidth(800, 3, 'metaspace-v2', 'fticr').toPrecision(12), (800 * 4 * 3e-6).toPrecision(12));
    assert.equal(halfWidth(800, 3, 'metaspace-v2', 'tof'), 800 * 3 * 1e-6);
  });

  test('rows: filtered by level, adduct and words; sorted without losing order; levels', () => {
    const rows = [row('C6H12O6', '+H', 0.05), row('C10H20', '+Na', 0.1 + 1e-12), row('C2H6O', '+H', 0.2), row('H2O', '+K', 1, { msm: NaN, molecules: [] })];
    const formulas = (list) => list.map(({ formula }) => formula);
    assert.deepEqual(formulas(filtered(rows, { fdr: 0.1, adduct: '', text: '' })), ['C6H12O6', 'C10H20'], 'a level holds its own value in spite of rounding');
    assert.deepEqual(formulas(filtered(rows, { fdr: 1, adduct: '+H', text: '' })), ['C6H12O6', 'C2H6O']);
    assert.deepEqual(formulas(filtered(rows, { fdr: 1, adduct: '', text: '  NAME c2h6 ' })), ['C2H6O']);
    assert.deepEqual(formulas(filtered(rows, { fdr: 1, adduct: '', text: 'x1' })).length, 3, 'ids count too');
    assert.deepEqual(formulas(sorted(rows, 'formula', false)), ['C2H6O', 'C6H12O6', 'C10H20', 'H2O'], 'counts by value');
    assert.deepEqual(formulas(sorted(rows, 'msm', true)).at(-1), 'H2O', 'what has no value comes last');
    assert.deepEqual(formulas(sorted(rows, 'msm', false)).at(-1), 'H2O');
    assert.equal(sorted(rows, '', false), rows);
    assert.deepEqual(adductsOf(rows), ['+H', '+Na', '+K']);
    assert.deepEqual([0, 0.05, 0.0501, 0.1, 0.2, 0.3, 0.5, 0.7, 1].map(levelOf), [5, 5, 10, 10, 20, 50, 50, 100, 100]);
  });

  test('a row is called by the first molecule that has a name', () => {
    const called = (...molecules) => nameOf({ molecules });
    assert.equal(called(), '');
    assert.equal(called({ id: null, name: null }, { id: '', name: '' }), '');
    assert.equal(called({ id: '', name: '' }, { id: 'X1', name: '' }, { id: 'X2', name: 'two' }), 'X1');
  });

  test('the table as text: columns, quotes, numbers that are none', async () => {
    const text = await csvOf([row('C2H6O', '-H2O+H', 0.05, { ion: 'C2H5O', spatial: NaN, molecules: [{ id: 'A', name: 'a "b", c' }, { id: '', name: 'd' }] })]).text();
    const [head, line] = text.split('\n');
    assert.equal(head, 'formula,adduct,mz,chaos,spatial,spectral,msm,fdr,neutral_loss,ion_formula,mz_err_abs,mz_err_rel,overlap,iso_mz,iso_theory,total_iso_ints,min_iso_ints,max_iso_ints,molecule_names,molecule_ids');
    assert.equal(line, 'C2H6O,+H,100,0.9,,0.7,0.5,0.05,-H2O,C2H5O,,,false,"[100,0,0,0]","[100,0,0,0]","[5,0,0,0]","[1,0,0,0]","[2,0,0,0]","a ""b"", c; d",A');
    const table = new Blob(['h\n', 'a,"1\n2"\n', 'b,"""\n"\n', 'c'], { type: 'text/csv' });
    assert.equal(await (await linesOf(table, [2, 0, 1])).text(), 'h\nc\na,"1\n2"\nb,"""\n"\n');
  });

  test('numbers of the table are those of the core, also where two shortest decimals are equally near', async () => {
    const numbers = { '864.2857055664063': 864.28570556640625, '144910.21020507813': 144910.210205078125, '1.5e-5': 1.5e-5, '-7.154684301215e-5': -7.154684301215e-5, '734.5696401385791': 734.5696401385791, '0.5': 0.5, '100': 100, '143823844.9613037': 143823844.9613037, '1e15': 1e15, '0': 0, '10.05': 10.05 };
    for (const [written, value] of Object.entries(numbers)) {
      const [, line] = (await csvOf([row('C', '+H', 0.05, { mz: value })]).text()).split('\n');
      assert.equal(line.split(',')[2], written);
    }
  });

  test('results of a file: read, or refused with the reason', () => {
    const json = (...of) => {
      const { adduct, mzErrAbs, mzErrRel, ...rest } = row(...of);
      return { ...rest, modifier: adduct, mz_err_abs: 0.001, mz_err_rel: mzErrRel };
    };
    const good = { version: 1, store: { source: 'a.imzML', width: 3, height: 2 }, list: { file: 'l.csv' }, options: { ppm: 5, charge: -1, analyzer: 'tof' }, warnings: ['few decoys'], rows: [json('C2H6O', '-H', 0.05)] };
    const found = resultsOf(good, 'a.json');
    assert.deepEqual([found.charge, found.settings.ppm, found.settings.analyzer, found.warnings, found.of, found.list], [-1, 5, 'tof', ['few decoys'], { source: 'a.imzML', width: 3, height: 2 }, 'l.csv']);
    assert.deepEqual(found.rows[0], { ...row('C2H6O', '-H', 0.05), mzErrAbs: 0.001 });
    assert.throws(() => resultsOf({ ...good, version: 2 }, 'a.json'), /version 2.*Use a newer Sectile/);
    assert.throws(() => resultsOf({}, 'a.json'), /a\.json holds no annotations/);
    assert.throws(() => resultsOf(null, 'a.json'), /holds no annotations/);
    assert.throws(() => resultsOf({ rows: [null] }, 'a.json'), /annotation 1: it has no formula/);
    assert.throws(() => resultsOf({ rows: [json('C', '+H', 0.1), json('C2', '+H', 7)] }, 'a.json'), /annotation 2 \(C2\+H\): its FDR/);
    assert.throws(() => resultsOf({ rows: [{ ...json('C', '+H', 0.1), peaks: [] }] }, 'a.json'), /its peaks have no m\/z/);
    const peak = { mz: 100, theory: 100, total: 5, min: 1, max: 2 };
    for (const wrong of [{ mz: 1e999 }, { mz: '100' }, { theory: null }, { theory: 101 }]) assert.throws(() => resultsOf({ rows: [{ ...json('C', '+H', 0.1), peaks: [{ ...peak, ...wrong }] }] }, 'a.json'), /no m\/z or no height/);
    assert.throws(() => resultsOf({ rows: [{ ...json('C', '+H', 0.1), peaks: Array(1000).fill(peak) }] }, 'a.json'), /1000 peaks; there are 4 at most/);
  });

  test('a link holds settings, filter and ion; nonsense keeps the defaults', () => {
    const state = { ...initialState(), src: 'https://example.org/a.sectile', side: 'annotations', pol: 'positive', ad: ['+H', '-H2O+H', '[M]+'], ana: 'tof', rp: 35000, appm: 8, sco: 'metaspace-v1', dec: 10, ahot: true, lvl: 50, ann: 'C16H32O2+Na' };
    const link = formatFragment(state);
    assert.deepEqual(parseFragment(link), state);
    assert.match(link, /ann=C16H32O2%2BNa/);
    assert.deepEqual(parseFragment('#side=x&pol=both&ad=H,+K&ana=quad&rp=3&appm=0&sco=v9&dec=0.5&lvl=7'), initialState());
  });
});
