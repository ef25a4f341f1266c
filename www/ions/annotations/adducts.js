/** Adducts and neutral losses as they are written: what is wrong with them is said while they are typed. */

/** Offered by polarity; the first of each are chosen where nobody has said otherwise. */
export const OFFERED = Object.freeze({
  positive: Object.freeze(['+H', '+Na', '+K', '+NH4']),
  negative: Object.freeze(['-H', '+Cl']),
});
export const USUAL = Object.freeze({
  positive: Object.freeze(['+H', '+Na', '+K']),
  negative: Object.freeze(['-H', '+Cl']),
});

const ELEMENTS = new Set((
  'H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Ru Rh Pd Ag Cd In Sn ' +
  'Sb Te I Xe Cs Ba La Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Th U'
).split(' '));

/** Adducts that are charged one way only. */
const CHARGES = { '+H': 1, '+Na': 1, '+K': 1, '+NH4': 1, '+Li': 1, '-H': -1, '+Cl': -1, '+Br': -1 };

/**
 * @typedef {object} Adduct
 * @property {string} text in one spelling: “+Na”, “-H2O+H”, “[M]+”
 * @property {1 | -1 | 0} charge as written or as usual for it; 0: it does not say
 */

/**
 * One adduct. A bracket around M with a charge is taken too: “[M+Na]+” is “+Na”.
 * @param {string} written
 * @returns {Adduct}
 * @throws {RangeError} that says what is wrong
 */
export function parseAdduct(written) {
  const text = written.replace(/\s+/g, '').replace(/[−–]/g, '-');
  const bracket = /^\[M(.*)\](.*)$/.exec(text);
  if (bracket) return bracketed(text, bracket[1], bracket[2]);
  if (/^M(?=[+-])/.test(text)) return parseAdduct(text.slice(1));
  if (text === '') throw new RangeError('An adduct is empty: write it like +H, or [M]+ for none.');
  if (!/^[+-]/.test(text)) throw new RangeError(`“${text}” needs a sign: +${text} is added, -${text} is taken away.`);
  const parts = text.split(/(?=[+-])/);
  for (const part of parts) check(part, text);
  return { text, charge: parts.length > 1 && parts.at(-1) === '-H' ? 0 : (CHARGES[parts.at(-1)] ?? 0) };
}

function bracketed(text, inside, after) {
  if (!/^1?[+-]$/.test(after)) throw new RangeError(`“${text}” needs a charge of one after the bracket: [M${inside}]+ or [M${inside}]-.`);
  const charge = after.endsWith('+') ? 1 : -1;
  if (inside === '') return { text: `[M]${charge > 0 ? '+' : '-'}`, charge };
  const { text: plain } = parseAdduct(inside);
  return { text: plain, charge };
}

function check(part, whole) {
  const formula = part.slice(1);
  const where = part === whole ? `“${whole}”` : `“${part}” in “${whole}”`;
  if (formula === '') throw new RangeError(`${where}: an element has to follow the sign, like +H.`);
  const rest = formula.replace(/([A-Z][a-z]?)(\d*)/g, (_, element, count) => {
    if (!ELEMENTS.has(element)) throw new RangeError(`${where}: there is no element “${element}”.`);
    if (count !== '' && Number(count) === 0) throw new RangeError(`${where}: a count of 0 of ${element} makes no sense.`);
    return '';
  });
  if (rest !== '') throw new RangeError(`${where}: “${rest.charAt(0)}” does not belong into an adduct; write elements with their counts, like +NH4.`);
}

/**
 * Several adducts apart by commas, semicolons or spaces; a double one counts once.
 * @param {string} text
 * @returns {Adduct[]}
 */
export function parseAdducts(text) {
  const found = new Map();
  const parts = text.replace(/\[[^\]]*\]/g, (bracket) => bracket.replace(/\s+/g, '')).split(/[,;\s]+/).filter(Boolean);
  for (const part of parts) {
    const adduct = parseAdduct(part);
    found.set(adduct.text, adduct);
  }
  return [...found.values()];
}

/** Adducts that are charged the other way. @param {Adduct[]} adducts @param {'positive' | 'negative'} polarity */
export function contrary(adducts, polarity) {
  const wanted = polarity === 'positive' ? 1 : -1;
  return adducts.filter(({ charge }) => charge === -wanted);
}
