import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch } from './chromium.mjs';
import { servePages } from './serve.mjs';
import { Camera } from '../../www/view/camera.js';
import { COLORMAPS, colormap } from '../../www/view/colormaps.js';
import { apart, central, histogram, percentile, sample, ticks } from '../../www/view/limits.js';
import { codeOf, emptyRange, fit, fitForDisplay, grow, quantise } from '../../www/view/scale.js';
import { bend, STRETCHES, unbend } from '../../www/view/stretch.js';

describe('scale', () => {
  const rangeOf = (...values) => {
    const range = emptyRange();
    grow(range, values);
    return range;
  };

  test('whole and half numbers get exact steps', () => {
    assert.deepEqual(fit(rangeOf(-5, 100)), { bzero: -6, bscale: 1 });
    assert.deepEqual(fit(rangeOf(-5, 100.5)), { bzero: -5.5, bscale: 0.5 });
    assert.deepEqual(fit(rangeOf(0, 65534)), { bzero: -1, bscale: 1 });
    assert.ok(fit(rangeOf(0, 65535)).bscale > 1);
    assert.ok(fit(rangeOf(0, 40000.5)).bscale > 0.5);
  });

  test('a range spans codes 1 to 65535', () => {
    for (const [min, max] of [[0.1, 0.9], [-3.3e38, 3.3e38], [1e-30, 2e-30], [-7.25, 1e9]]) {
      const scale = fit(rangeOf(min, max));
      assert.equal(codeOf(scale, min), 1, `${min}`);
      assert.equal(codeOf(scale, max), 65535, `${max}`);
    }
  });

  test('no data, infinities and values beyond', () => {
    const scale = fit(rangeOf(0.5, 1.25));
    assert.equal(codeOf(scale, NaN), 0);
    assert.equal(codeOf(scale, -Infinity), 1);
    assert.equal(codeOf(scale, Infinity), 65535);
    assert.equal(codeOf(scale, -9), 1);
    assert.equal(codeOf(scale, 1e9), 65535);
    const out = new Uint16Array(4);
    quantise(scale, [7, NaN, 0.5, Infinity], 1, 3, out, 1);
    assert.deepEqual([...out], [0, 0, codeOf(scale, 0.5), 65535]);
  });

  test('a constant, an empty and an integer range with room', () => {
    assert.equal(codeOf(fit(rangeOf(3)), 3), 1);
    assert.equal(codeOf(fit(rangeOf(0.3)), 0.3), 1);
    assert.deepEqual(fit(emptyRange()), { bzero: 0, bscale: 1 });
    const roomy = fit(rangeOf(0, 100), 0.25);
    assert.equal(roomy.bscale, 1);
    assert.ok(codeOf(roomy, -30000) > 1 && codeOf(roomy, 30000) < 65535);
  });

  test('hot pixels do not coarsen what is between the limits', () => {
    const range = rangeOf(0.1, 1e6 + 0.3);
    const limits = { lo: 0.2, hi: 0.9 };
    const scale = fitForDisplay(range, limits);
    assert.ok((limits.hi - limits.lo) / scale.bscale > 4096);
    assert.ok(fitForDisplay(range, { lo: 0, hi: 9e5 }).bscale > 1);
  });
});

describe('limits', () => {
  test('percentiles and the central part', () => {
    const sorted = Float32Array.from({ length: 101 }, (_, i) => i);
    assert.equal(percentile(sorted, 50), 50);
    assert.equal(percentile(sorted, 0.5), 0.5);
    assert.deepEqual(central(sorted, 90), { lo: 5, hi: 95 });
    assert.ok(Number.isNaN(percentile([], 50)));
  });

  test('a sample skips no data and does not follow columns', () => {
    const width = 1000;
    const values = Float32Array.from({ length: width * 1000 }, (_, i) => (i % 7 === 0 ? NaN : i % width));
    const taken = sample(values, 100_000);
    assert.ok(taken.length > 80_000 && taken.length < 90_000);
    assert.ok(taken.every((v) => v === v));
    assert.ok(new Set(taken).size > 900, 'nearly every column is met');
    assert.deepEqual([...sample(Float32Array.of(1, NaN, 2, Infinity), 10)], [1, 2]);
  });

  test('limits that cannot be drawn are put apart', () => {
    assert.deepEqual(apart({ lo: 2, hi: 1 }), { lo: 1, hi: 2 });
    assert.deepEqual(apart({ lo: NaN, hi: 1 }), { lo: 0, hi: 1 });
    const constant = apart({ lo: 5, hi: 5 });
    assert.ok(constant.lo < 5 && constant.hi > 5);
  });

  test('histogram and ticks', () => {
    assert.deepEqual([...histogram([0, 0.5, 1, 1.5, 2, 3, -1], 0, 2, 2)], [2, 3]);
    assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(ticks(3, 3, 5), []);
  });
});

test('stretches keep the ends and can be undone', () => {
  for (const name of STRETCHES) {
    assert.equal(bend(name, 0), 0);
    assert.ok(Math.abs(bend(name, 1) - 1) < 1e-12);
    for (const t of [0.01, 0.3, 0.77]) assert.ok(Math.abs(unbend(name, bend(name, t)) - t) < 1e-9, name);
  }
});

test('six colormaps, as published, and turned round', () => {
  assert.equal(COLORMAPS.length, 6);
  const hex = (name, entry) => [...colormap(name).subarray(3 * entry, 3 * entry + 3)].map((v) => v.toString(16).padStart(2, '0')).join('');
  assert.equal(hex('viridis', 0), '440154');
  assert.equal(hex('viridis', 255), 'fde725');
  assert.equal(hex('inferno', 0), '000004');
  assert.equal(hex('magma', 255), 'fcfdbf');
  assert.equal(hex('plasma', 0), '0d0887');
  assert.equal(hex('grey', 128), '808080');
  for (const name of COLORMAPS) {
    assert.deepEqual([...colormap(name, true).subarray(0, 3)], [...colormap(name).subarray(765)]);
    let last = -1;
    for (let i = 0; i < 256; i += 16) {
      const [r, g, b] = colormap(name).subarray(3 * i, 3 * i + 3);
      const light = 0.299 * r + 0.587 * g + 0.114 * b;
      assert.ok(light > last - 1, `${name} grows lighter`);
      last = light;
    }
  }
});

describe('camera', () => {
  const camera = () => {
    const made = new Camera();
    made.resize(800, 600);
    made.load(1000, 500);
    return made;
  };

  test('what lies under the pointer stays there when zooming', () => {
    const made = camera();
    for (const [factor, sx, sy] of [[3, 100, 250], [1.7, 700, 340], [0.4, 320, 300], [9, 411, 299]]) {
      const before = made.toImage(sx, sy);
      made.zoomBy(factor, sx, sy);
      const now = made.toImage(sx, sy);
      assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) < 1e-9);
    }
  });

  test('screen and image are inverse, y up', () => {
    const made = camera();
    made.zoomTo(7.3, 10, 20);
    const [sx, sy] = made.toScreen(...made.toImage(123, 456));
    assert.ok(Math.hypot(sx - 123, sy - 456) < 1e-9);
    assert.ok(made.toImage(0, 0)[1] > made.toImage(0, 100)[1]);
  });

  test('fits, follows a new size until moved, and stays on the image', () => {
    const made = camera();
    assert.deepEqual(made.visible(), { x0: 0, y0: 0, x1: 1000, y1: 500 });
    made.resize(400, 300);
    assert.deepEqual(made.visible(), { x0: 0, y0: 0, x1: 1000, y1: 500 });
    made.pan(1e6, -1e6);
    assert.equal(made.x, 0);
    assert.equal(made.y, 0);
    made.zoomBy(1e9);
    assert.equal(made.zoom, 64);
  });

  test('pixels that are not square are fitted and zoomed in true proportion', () => {
    for (const aspect of [17, 2, 0.5, 1 / 17]) {
      const made = camera();
      made.load(100, 100, { aspect });
      assert.ok(Math.abs(made.zoom / made.zoomY - aspect) < 1e-12);
      const [left, top] = made.toScreen(0, 100);
      const [right, bottom] = made.toScreen(100, 0);
      assert.ok(Math.abs((right - left) / (bottom - top) - aspect) < 1e-9, `${aspect}`);
      assert.ok(left >= 0 && top >= 0 && right <= 800 && bottom <= 600, 'all of it is seen');
      const before = [10.3, 60.7];
      const [px, py] = made.toScreen(...before);
      made.zoomBy(2.5, px, py);
      const now = made.toImage(px, py);
      assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) < 1e-9);
      made.pan(3, -2);
      const [sx, sy] = made.toScreen(...before);
      assert.ok(Math.hypot(sx - px - 3, sy - py + 2) < 1e-9, 'a drag takes along what lies under it');
      made.zoomBy(1e9);
      assert.ok(Math.abs(Math.min(made.zoom, made.zoomY) - 64) < 1e-9);
    }
  });

  test('with row 0 at the top, y grows downwards', () => {
    const made = camera();
    made.load(1000, 500, { down: true });
    assert.ok(made.toImage(0, 0)[1] < made.toImage(0, 100)[1]);
    made.zoomTo(7.3, 10, 20);
    const [sx, sy] = made.toScreen(...made.toImage(123, 456));
    assert.ok(Math.hypot(sx - 123, sy - 456) < 1e-9);
    const before = made.toImage(200, 100);
    made.pan(13, -40);
    const [px, py] = made.toScreen(...before);
    assert.ok(Math.hypot(px - 213, py - 60) < 1e-9);
    made.fit();
    assert.deepEqual(made.visible(), { x0: 0, y0: 0, x1: 1000, y1: 500 });
    made.zoomTo(10, 0, 0);
    const seen = made.visible();
    assert.ok(seen.y1 > seen.y0 && seen.y1 - seen.y0 < 65);
  });
});

describe('view in Chromium', { timeout: 120_000 }, () => {
  let browser;
  let server;
  let page;

  before(async () => {
    [browser, server] = [await launch(), await servePages()];
    page = await browser.newPage({ viewport: { width: 900, height: 700 } });
    await page.goto(server.base);
    await page.evaluate(async () => {
      const { View } = await import(new URL('view/view.js', document.baseURI).href);
      const { colormap } = await import(new URL('view/colormaps.js', document.baseURI).href);
      const canvas = document.createElement('canvas');
      canvas.style.cssText = 'position:fixed;left:0;top:0;width:500px;height:400px;z-index:99;touch-action:none';
      document.body.append(canvas);
      const width = 1500;
      const height = 1300;
      const codes = new Uint16Array(width * height);
      for (let i = 0; i < codes.length; i += 1) codes[i] = Math.imul(i + 1, 2654435761) >>> 16;
      const source = {
        width,
        height,
        read(x0, y0, w, h, out) {
          for (let row = 0; row < h; row += 1) out.set(codes.subarray((y0 + row) * width + x0, (y0 + row) * width + x0 + w), row * w);
        },
      };
      const view = new View(canvas);
      view.colours(colormap('grey'));
      view.show(source);
      const wrong = () => {
        let found = 0;
        for (let k = 0; k < 1500; k += 1) {
          const x = k < 4 ? [0, width - 1, 1023, 1024][k] : (k * 7919) % width;
          const y = k < 4 ? [0, height - 1, 1024, 1023][k] : (k * 104729) % height;
          if (view.codeAt(x, y) !== codes[y * width + x]) found += 1;
        }
        return found;
      };
      Object.assign(globalThis, { view, codes, width, height, wrong });
    });
  });

  after(async () => {
    await browser?.close();
    await server?.close();
  });

  test('every code is held exactly, across tile borders', async () => {
    assert.equal(await page.evaluate(() => wrong()), 0);
    assert.equal(await page.evaluate(() => view.codeAt(-1, 0) ?? view.codeAt(0, height)), null);
  });

  test('a changed rectangle is taken over, the rest stays', async () => {
    const got = await page.evaluate(() => {
      for (let y = 1000; y < 1050; y += 1) codes.fill(4242, y * width + 1000, y * width + 1100);
      const stale = view.codeAt(1050, 1010);
      view.invalidate({ x0: 1000, y0: 1000, x1: 1100, y1: 1050 });
      return [stale !== 4242, view.codeAt(1050, 1010), view.codeAt(1000, 1000), view.codeAt(1099, 1049), wrong()];
    });
    assert.deepEqual(got, [true, 4242, 4242, 4242, 0]);
  });

  test('colours follow the code, row 0 at the bottom, no data apart', async () => {
    const got = await page.evaluate(() => {
      codes.set([1, 0, 65535, 32768, 16384, 300], 0);
      codes.set([65535, 0, 1], width);
      view.invalidate();
      view.transfer(1, 65535, 'linear');
      view.move((camera) => {
        camera.zoomTo(20);
        camera.centre(5, 5);
      });
      return [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [0, 1], [1, 1], [2, 1]].map(([x, y]) => {
        const [sx, sy] = view.camera.toScreen(x + 0.5, y + 0.5);
        return [view.pixelAt(sx, sy), view.colourAt(sx, sy)];
      });
    });
    const grey = (code) => Math.min(255, Math.floor(((code - 1) / 65534) * 256));
    const want = [1, null, 65535, 32768, 16384, 300, 65535, null, 1];
    for (const [i, code] of want.entries()) {
      const [pixel, [r, g, b, a]] = got[i];
      assert.deepEqual(pixel, { x: i % 6, y: i < 6 ? 0 : 1 });
      assert.equal(a, 255);
      if (code === null) assert.ok(b > r && r > 10 && r < 40, `no data is a quiet blue grey, not ${[r, g, b]}`);
      else assert.deepEqual([r, g, b], [grey(code), grey(code), grey(code)]);
    }
    assert.deepEqual(got[6][1].slice(0, 3), [255, 255, 255], 'row 1 lies above row 0');
  });

  test('each stretch draws what its formula says', async () => {
    const got = await page.evaluate((names) => names.map((name) => {
      view.transfer(1, 65535, name);
      const [sx, sy] = view.camera.toScreen(4.5, 0.5);
      return view.colourAt(sx, sy)[0];
    }), STRETCHES);
    for (const [i, name] of STRETCHES.entries()) {
      const exact = bend(name, 16383 / 65534) * 256;
      assert.ok(Math.abs(got[i] - Math.floor(exact)) <= 1, `${name}: ${got[i]} for ${exact}`);
    }
  });

  /** Shows small planes of codes and reads back colours in the middle of pixels. */
  const drawn = (planes, shape, channels, pixels) => page.evaluate(([planes, shape, channels, pixels]) => {
    const { width, height } = shape;
    const source = {
      ...shape,
      planes: planes.length,
      read(x0, y0, w, h, out, plane) {
        for (let row = 0; row < h; row += 1) {
          for (let column = 0; column < w; column += 1) out[row * w + column] = planes[plane][(y0 + row) * width + x0 + column];
        }
      },
    };
    view.show(source);
    if (channels) view.compose(channels);
    else view.transfer(1, 65535, 'linear');
    view.fit();
    const found = pixels.map(([x, y]) => {
      const [sx, sy] = view.camera.toScreen(x + 0.5, y + 0.5);
      return { at: [sx, sy], pixel: view.pixelAt(sx, sy), colour: view.colourAt(sx, sy), codes: planes.map((_, plane) => view.codeAt(x, y, plane)) };
    });
    const beyond = view.codeAt(0, 0, planes.length);
    view.transfer(1, 65535, 'linear');
    view.show(null);
    return { found, beyond, size: [width, height] };
  }, [planes, shape, channels, pixels]);

  test('three planes add up as red, green and blue, each by its own limits and stretch', async () => {
    const red = [1, 65535, 33000, 0, 0, 65535];
    const green = [1, 1, 1001, 0, 2001, 65535];
    const blue = [1, 1, 17000, 0, 0, 65535];
    const channels = [
      { lo: 1, hi: 65535, stretch: 'linear', tint: [1, 0, 0] },
      { lo: 1, hi: 2001, stretch: 'linear', tint: [0, 1, 0] },
      { lo: 1, hi: 65535, stretch: 'sqrt', tint: [0, 0, 1] },
    ];
    const pixels = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]];
    const { found, beyond } = await drawn([red, green, blue], { width: 3, height: 2 }, channels, pixels);
    assert.equal(beyond, null);
    for (const [i, { codes }] of found.entries()) assert.deepEqual(codes, [red[i], green[i], blue[i]]);
    const near = (got, want) => assert.ok(got.slice(0, 3).every((v, i) => Math.abs(v - want[i]) <= 1) && got[3] === 255, `${got} for ${want}`);
    near(found[0].colour, [0, 0, 0]);
    near(found[1].colour, [255, 0, 0]);
    near(found[2].colour, [255 * (32999 / 65534), 255 * 0.5, 255 * Math.sqrt(16999 / 65534)]);
    const [r, g, b] = found[3].colour;
    assert.ok(b > r && r > 10 && r < 40 && g > 10, `no data in all three is the checker, not ${[r, g, b]}`);
    near(found[4].colour, [0, 255, 0]);
    near(found[5].colour, [255, 255, 255]);
  });

  test('two planes in other colours: what adds up beyond white is white', async () => {
    const channels = [
      { lo: 1, hi: 65535, stretch: 'linear', tint: [1, 0.5, 0] },
      { lo: 1, hi: 65535, stretch: 'linear', tint: [0.25, 1, 1] },
    ];
    const { found } = await drawn([[65535, 65535, 1, 0], [1, 65535, 65535, 65535]], { width: 4, height: 1 }, channels, [[0, 0], [1, 0], [2, 0], [3, 0]]);
    assert.deepEqual(found.map(({ colour }) => colour.map((v) => Math.round((v / 255) * 4) / 4)), [[1, 0.5, 0, 1], [1, 1, 1, 1], [0.25, 1, 1, 1], [0.25, 1, 1, 1]]);
  });

  test('row 0 at the top, when the source says so', async () => {
    const codes = [65535, 32768, 1, 16384, 300, 0];
    for (const down of [true, false]) {
      const { found } = await drawn([codes], { width: 2, height: 3, down }, null, [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]]);
      for (const [i, { pixel, colour }] of found.entries()) {
        assert.deepEqual(pixel, { x: i % 2, y: Math.floor(i / 2) });
        const grey = Math.min(255, Math.floor(((codes[i] - 1) / 65534) * 256));
        assert.deepEqual(colour.slice(0, 3), [grey, grey, grey], `${down} ${i}`);
      }
      assert.equal(found[0].at[1] < found[4].at[1], down);
    }
  });

  test('pixels are drawn in true proportion', async () => {
    const codes = [65535, 1, 1, 65535];
    for (const aspect of [3, 0.25]) {
      const { found } = await drawn([codes], { width: 2, height: 2, aspect, down: true }, null, [[0, 0], [1, 0], [0, 1], [1, 1]]);
      const across = found[1].at[0] - found[0].at[0];
      const downwards = found[2].at[1] - found[0].at[1];
      assert.ok(Math.abs(across / downwards - aspect) < 1e-6, `${across} × ${downwards}`);
      assert.deepEqual(found.map(({ colour }) => colour[0]), [255, 0, 0, 255]);
    }
  });

  test('a code may stand for a square of pixels, counted from the top left corner', async () => {
    // 5 x 7 pixels in cells of 4: 2 x 2 cells, those of the lower row and the right column cut off.
    const found = await page.evaluate(() => [false, true].map((down) => {
      const rows = [[65535, 32768], [16384, 1]];
      const source = { width: 5, height: 7, down, cell: 4, read(x0, y0, w, h, out) {
        for (let k = 0; k < w * h; k += 1) {
          const row = y0 + Math.floor(k / w);
          out[k] = rows[down ? row : 1 - row][x0 + (k % w)];
        }
      } };
      view.show(source);
      view.transfer(1, 65535, 'linear');
      view.move((camera) => {
        camera.zoomTo(20);
        camera.centre(2.5, 3.5);
      });
      const at = (x, top) => {
        const y = down ? top : 6 - top;
        const [sx, sy] = view.camera.toScreen(x + 0.5, y + 0.5);
        return [view.colourAt(sx, sy)[0], view.codeAt(x, y)];
      };
      const corner = view.camera.toScreen(5.5, 0.5);
      const below = view.camera.toScreen(0.5, down ? 7.5 : -0.5);
      const seen = [at(0, 0), at(3, 3), at(4, 0), at(4, 3), at(0, 4), at(3, 6), at(4, 6), [view.colourAt(...corner)[3], view.colourAt(...below)[3]]];
      source.cell = 1;
      source.read = (x0, y0, w, h, out) => out.fill(65535);
      view.invalidate();
      seen.push([view.colourAt(...view.camera.toScreen(4.5, 6.5))[0], view.codeAt(4, 6)]);
      return seen;
    }));
    const [a, b, c, d] = [[255, 65535], [128, 32768], [63, 16384], [0, 1]];
    for (const seen of found) assert.deepEqual(seen, [a, a, b, b, c, c, d, [0, 0], [255, 65535]]);
  });

  test('after small planes the large image is whole again', async () => {
    const wrongNow = await page.evaluate(() => {
      view.show({
        width,
        height,
        read(x0, y0, w, h, out) {
          for (let row = 0; row < h; row += 1) out.set(codes.subarray((y0 + row) * width + x0, (y0 + row) * width + x0 + w), row * w);
        },
      });
      return wrong();
    });
    assert.equal(wrongNow, 0);
  });

  test('the wheel zooms about the pointer, a drag moves with it', async () => {
    await page.evaluate(() => view.fit());
    await page.mouse.move(130, 90);
    const before = await page.evaluate(() => view.camera.toImage(130, 90));
    for (let i = 0; i < 6; i += 1) await page.mouse.wheel(0, -240);
    await page.waitForFunction(() => view.camera.zoom > 2);
    const now = await page.evaluate(() => view.camera.toImage(130, 90));
    assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) < 1e-6);
    await page.mouse.down();
    await page.mouse.move(180, 140, { steps: 5 });
    await page.mouse.up();
    const dragged = await page.evaluate(() => view.camera.toImage(180, 140));
    const slack = 4 / (await page.evaluate(() => view.camera.zoom));
    assert.ok(Math.hypot(dragged[0] - before[0], dragged[1] - before[1]) < slack);
  });

  test('a lost graphics context is rebuilt', async () => {
    const lost = await page.evaluate(async () => {
      const extension = view.gl.getExtension('WEBGL_lose_context');
      const event = (name) => new Promise((done) => view.addEventListener(name, done, { once: true }));
      const gone = event('lost');
      extension.loseContext();
      await gone;
      // The browser takes a restore only once the event has been dealt with.
      await new Promise((done) => setTimeout(done, 50));
      const during = view.codeAt(3, 3);
      const back = event('restored');
      extension.restoreContext();
      await back;
      return [during, wrong()];
    });
    assert.deepEqual(lost, [null, 0]);
  });

  test('two fingers pinch about their middle', async () => {
    const got = await page.evaluate(() => {
      view.fit();
      const before = view.camera.toImage(250, 200);
      const zoom = view.camera.zoom;
      const send = (type, id, x, y) => view.canvas.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch', clientX: x, clientY: y, bubbles: true, button: 0 }));
      view.canvas.setPointerCapture = () => {};
      send('pointerdown', 11, 200, 200);
      send('pointerdown', 12, 300, 200);
      for (let i = 1; i <= 10; i += 1) {
        send('pointermove', 11, 200 - 5 * i, 200);
        send('pointermove', 12, 300 + 5 * i, 200);
      }
      send('pointerup', 11, 150, 200);
      send('pointerup', 12, 350, 200);
      const now = view.camera.toImage(250, 200);
      return [view.camera.zoom / zoom, Math.hypot(now[0] - before[0], now[1] - before[1]) * view.camera.zoom];
    });
    assert.ok(Math.abs(got[0] - 2) < 0.01, `zoomed by ${got[0]}`);
    assert.ok(got[1] < 12, `middle moved by ${got[1]} pixels`);
  });
});
