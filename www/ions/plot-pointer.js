/**
 * Mouse, pen and fingers on a spectrum: with a mouse a drag marks the part to zoom to, with a finger it moves the
 * axis; two fingers pinch, the wheel zooms about the pointer, a double click shows all, a press picks.
 * @param {any} plot a uPlot
 * @param {{zoomTo(lo: number, hi: number): void, zoomBy(factor: number, at: number): void, pan(part: number): void,
 *   all(): void, pick(mz: number): void}} on
 */
export function watchPlot(plot, on) {
  const { over } = plot;
  /** @type {Map<number, {x: number, from: number}>} */
  const down = new Map();
  let moved = 0;
  let marking = false;
  const place = (event) => {
    const box = over.getBoundingClientRect();
    return Math.min(box.width, Math.max(0, event.clientX - box.left));
  };
  const mzAt = (x) => plot.posToVal(x, 'x');
  const mark = (from, to) => {
    plot.setSelect({ left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: over.clientHeight }, false);
  };

  over.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    over.setPointerCapture(event.pointerId);
    const x = place(event);
    if (down.size === 0) [moved, marking] = [0, event.pointerType !== 'touch'];
    down.set(event.pointerId, { x, from: x });
  });
  over.addEventListener('pointermove', (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const x = place(event);
    down.set(event.pointerId, { x, from: before.from });
    moved += Math.abs(x - before.x);
    if (down.size === 2) {
      marking = false;
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const apart = (at) => Math.max(12, Math.abs(at - other.x));
      on.zoomBy(apart(x) / apart(before.x), mzAt((x + other.x) / 2));
    } else if (marking && moved > 3) mark(before.from, x);
    else if (!marking && moved > 3) on.pan((before.x - x) / over.clientWidth);
  });
  const up = (event) => {
    const at = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!at || down.size > 0) return;
    mark(0, 0);
    if (event.type !== 'pointerup') return;
    if (moved <= 3) on.pick(mzAt(at.x));
    else if (marking && Math.abs(at.x - at.from) > 3) on.zoomTo(mzAt(Math.min(at.x, at.from)), mzAt(Math.max(at.x, at.from)));
  };
  over.addEventListener('pointerup', up);
  over.addEventListener('pointercancel', up);
  over.addEventListener('dblclick', () => on.all());
  over.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      on.pan((event.deltaX * lines) / over.clientWidth);
      return;
    }
    const step = event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0025);
    on.zoomBy(Math.exp(-Math.max(-0.8, Math.min(0.8, step))), mzAt(place(event)));
  }, { passive: false });
}
