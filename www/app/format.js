/** Numbers, times and sky positions as text. */

/** A value with about six figures, as a scientist would write it down. */
export function formatValue(value) {
  if (value !== value) return 'no data';
  if (value === Infinity) return '+∞';
  if (value === -Infinity) return '−∞';
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return minus(String(value));
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) {
    const [mantissa, power] = value.toExponential(5).split('e');
    return `${minus(mantissa)}e${minus(power.replace('+', ''))}`;
  }
  return minus(value.toPrecision(6));
}

/** A shorter form for ticks: no trailing zeros. */
export function formatTick(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return minus(Number(value.toPrecision(4)).toExponential().replace('e+', 'e'));
  return minus(String(Number(value.toPrecision(5))));
}

function minus(text) {
  return text.replaceAll('-', '−');
}

/** Thousands apart: 12,345. */
export function formatCount(count) {
  return Math.round(count).toLocaleString('en-GB');
}

/** A duration to one unit below the largest: 3 min 20 s. */
export function formatSeconds(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Right ascension in degrees as hours: 16h 41m 41.633s. */
export function formatRa(degrees) {
  const wrapped = ((degrees % 360) + 360) % 360;
  const [h, m, s] = sixtieths(wrapped / 15, 3);
  return `${pad(h % 24)}h ${pad(m)}m ${s}s`;
}

/** Declination in degrees: +36° 27′ 40.68″. */
export function formatDec(degrees) {
  const [d, m, s] = sixtieths(Math.abs(degrees), 2);
  return `${degrees < 0 ? '−' : '+'}${pad(d)}° ${pad(m)}′ ${s}″`;
}

function sixtieths(value, digits) {
  const unit = 10 ** digits;
  const total = Math.round(value * 3600 * unit);
  const seconds = (total % (60 * unit)) / unit;
  const minutes = Math.floor(total / (60 * unit));
  return [Math.floor(minutes / 60), minutes % 60, seconds.toFixed(digits).padStart(digits + 3, '0')];
}

function pad(number) {
  return String(number).padStart(2, '0');
}
