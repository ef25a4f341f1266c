/** The closed window of an ion, as the core computes it in doubles. @param {'ppm' | 'da'} unit */
export function windowOf(mz, tol, unit) {
  const half = unit === 'ppm' ? mz * tol * 1e-6 : tol;
  return { lo: mz - half, hi: mz + half };
}
