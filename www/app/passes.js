/**
 * In which order the pixels of a stack are fetched: a coarse preview, what is on screen, the rest.
 * Pure rules; the session carries them out.
 * @typedef {import('./plane.js').Rect} Rect
 */

/** Below these a preview would only be in the way. */
const SMALL = { bytes: 48 * 2 ** 20, seconds: 4 };

/** What a preview may cost: requests, and its part of the whole job's estimated time. */
const PREVIEW = { requests: 400, part: 0.25, rows: 16 };

/** Whether the whole is so quick that it is fetched in one pass. */
export function isSmall(plan) {
  return plan.sections <= 1 || (plan.payload_bytes <= SMALL.bytes && !(plan.seconds > SMALL.seconds));
}

/**
 * The finest preview that is cheap.
 * @param {number} height rows
 * @param {(step: number) => Promise<{requests: number, seconds: number, payload_bytes: number}>} planOf
 * @param {{seconds: number, payload_bytes: number}} whole the plan of the whole job
 * @returns {Promise<number>} the step; 0 when none is cheap enough to be worth it
 */
export async function previewStep(height, planOf, whole) {
  for (let step = 8; height / step >= PREVIEW.rows; step *= 2) {
    const plan = await planOf(step);
    const cheap = whole.seconds > 0 ? plan.seconds <= PREVIEW.part * whole.seconds : plan.payload_bytes <= PREVIEW.part * whole.payload_bytes;
    if (cheap && plan.requests <= PREVIEW.requests) return step;
  }
  return 0;
}

/**
 * Disjoint rectangles that cover the image, the wanted one first. Whole rows unless the wanted part is narrow, because
 * whole rows come in fewer and longer reads.
 * @param {Rect | null} wanted @param {number} width @param {number} height
 * @returns {Rect[]}
 */
export function around(wanted, width, height) {
  const whole = { x0: 0, y0: 0, x1: width, y1: height };
  if (!wanted) return [whole];
  const narrow = wanted.x1 - wanted.x0 < width / 3;
  const { x0, x1 } = narrow ? wanted : whole;
  const { y0, y1 } = wanted;
  return [
    { x0, y0, x1, y1 },
    { x0: 0, y0, x1: x0, y1 },
    { x0: x1, y0, x1: width, y1 },
    { x0: 0, y0: y1, x1: width, y1: height },
    { x0: 0, y0: 0, x1: width, y1: y0 },
  ].filter((r) => r.x1 > r.x0 && r.y1 > r.y0);
}
