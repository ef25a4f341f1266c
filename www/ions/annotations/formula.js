/** Formulas and ions as chemists write them. */
import { make } from '../../app/dom.js';

/** A formula as nodes, counts as subscripts: C₁₆H₃₂O₂. @param {string} formula @returns {Node[]} */
export function formulaNodes(formula) {
  return formula.split(/(\d+)/).filter(Boolean).map((part, i, parts) => {
    // A number at the very start or after a bracket that opens is a mass number or a factor, not a count.
    const count = /^\d/.test(part) && i > 0 && !/[[(.]$/.test(parts[i - 1]);
    return count ? make('sub', '', part) : document.createTextNode(part);
  });
}

/** An ion in brackets with its charge: [C₁₆H₃₂O₂ + Na]⁺. @param {{formula: string, adduct: string}} row @param {number} charge */
export function ionNodes({ formula, adduct }, charge) {
  const bare = /^\[M\]/.test(adduct);
  const parts = bare ? [] : adduct.split(/(?=[+-])/);
  const nodes = ['[', ...formulaNodes(formula)];
  for (const part of parts) nodes.push(` ${signed(part.charAt(0))} `, ...formulaNodes(part.slice(1)));
  return [...nodes, ']', make('sup', '', charge < 0 ? '−' : '+')];
}

/** An adduct as it is shown: with a true minus. */
export function adductText(adduct) {
  return adduct.replaceAll('-', '−');
}

/** An ion in plain text, counts as small digits below: C₁₆H₃₂O₂ +Na. */
export function ionText({ formula, adduct }) {
  const text = formulaNodes(formula).map((node) => (node.nodeName === 'SUB' ? [...node.textContent].map((digit) => String.fromCharCode(0x2080 + Number(digit))).join('') : node.textContent)).join('');
  return `${text} ${adductText(adduct)}`;
}

/** The key of an ion in links and in file names: formula and adduct. */
export function ionKey({ formula, adduct }) {
  return `${formula}${adduct}`;
}

function signed(sign) {
  return sign === '-' ? '−' : '+';
}
