/** The four stretches, as in the shader: they map 0…1 to 0…1 and are used here for colorbars and ticks. */
export const STRETCHES = Object.freeze(['linear', 'sqrt', 'log', 'asinh']);

/** Where on the colormap (0…1) a position between the limits (0…1) falls. */
export function bend(name, t) {
  const x = Math.min(1, Math.max(0, t));
  if (name === 'sqrt') return Math.sqrt(x);
  if (name === 'log') return Math.log(1000 * x + 1) / Math.log(1001);
  if (name === 'asinh') return Math.asinh(10 * x) / Math.asinh(10);
  return x;
}

/** The inverse of {@link bend}. */
export function unbend(name, u) {
  const x = Math.min(1, Math.max(0, u));
  if (name === 'sqrt') return x * x;
  if (name === 'log') return (1001 ** x - 1) / 1000;
  if (name === 'asinh') return Math.sinh(x * Math.asinh(10)) / 10;
  return x;
}
