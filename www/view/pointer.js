/**
 * Mouse, pen and fingers on the canvas, in one code path: drag pans, wheel zooms about the pointer, two fingers
 * pinch, a press without movement picks a pixel.
 * @param {HTMLCanvasElement} canvas
 * @param {{pan(dx: number, dy: number): void, zoom(factor: number, sx: number, sy: number): void,
 *   hover(sx: number, sy: number): void, pick(sx: number, sy: number): void, leave(): void}} on
 * @param {AbortSignal} signal ends it
 */
export function watchPointers(canvas, on, signal) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const listen = (name, handler, options = {}) => canvas.addEventListener(name, handler, { signal, ...options });

  listen('pointerdown', (event) => {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, place(event));
    canvas.classList.add('dragging');
  });
  listen('pointermove', (event) => {
    const now = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      on.hover(now.x, now.y);
      return;
    }
    down.set(event.pointerId, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (down.size === 1) {
      if (moved > 3) on.pan(now.x - before.x, now.y - before.y);
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)[1];
    const spread = (p) => Math.max(8, Math.hypot(p.x - other.x, p.y - other.y));
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    on.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    on.zoom(spread(now) / spread(before), middle.x, middle.y);
  });
  const up = (event) => {
    const at = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (down.size > 0) return;
    canvas.classList.remove('dragging');
    if (at && moved <= 3 && event.type === 'pointerup') on.pick(at.x, at.y);
  };
  listen('pointerup', up);
  listen('pointercancel', up);
  listen('pointerleave', () => on.leave());
  listen('dblclick', (event) => {
    const at = place(event);
    on.zoom(event.shiftKey ? 0.5 : 2, at.x, at.y);
  });
  listen(
    'wheel',
    (event) => {
      event.preventDefault();
      const at = place(event);
      const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      // A trackpad pinch arrives as a wheel with ctrl and small deltas.
      const step = event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0022);
      on.zoom(Math.exp(-Math.max(-0.7, Math.min(0.7, step))), at.x, at.y);
    },
    { passive: false },
  );
}
