/** Values of parsed JSON as what they should be; what they are not is empty. */

/** @returns {any[]} */
export function list(value) {
  return Array.isArray(value) ? value : [];
}

export function number(value) {
  return typeof value === 'number' ? value : NaN;
}

export function text(value) {
  return typeof value === 'string' ? value : '';
}
