/**
 * Six perceptually uniform colormaps as tables of 256 RGB entries.
 *
 * The tables of viridis, inferno, magma, plasma (Nathaniel Smith and Stéfan van der Walt, CC0) and cividis
 * (Nuñez, Anderton, Renslow, 2018) were sampled from d3-scale-chromatic 3.1.0, which carries this notice:
 *
 *   Copyright 2010-2024 Mike Bostock
 *   Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is
 *   hereby granted, provided that the above copyright notice and this permission notice appear in all copies.
 *   THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE
 *   INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE
 *   FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS
 *   OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING
 *   OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */

/** Names in the order in which the page offers them. */
export const COLORMAPS = Object.freeze(['grey', 'viridis', 'inferno', 'magma', 'plasma', 'cividis']);

const TABLES = {
  viridis:
    'RAFURAJWRQRXRQVZRgdaRghcRgpdRgteRw1gRw5hRxBjRxFkRxNlSBRnSBZoSBdpSBhqSBpsSBttSBxuSB1vSB9wSCBxSCFzSCN0SCR1SCV2SC' +
    'Z3SCh4SCl5Ryp6Ryx6Ry17Ry58Ry99RjB+RjJ+RjN/RjSARTWBRTeBRTiCRDmDRDqDRDuEQz2EQz6FQj+FQkCGQkGGQUKHQUSHQEWIQEaIP0eI' +
    'P0iJPkmJPkqJPkyKPU2KPU6KPE+KPFCLO1GLO1KLOlOLOlSMOVWMOVaMOFiMOFmMN1qMN1uNNlyNNl2NNV6NNV+NNGCNNGGNM2KNM2ONMmSOMm' +
    'WOMWaOMWeOMWiOMGmOMGqOL2uOL2yOLm2OLm6OLm+OLXCOLXGOLHGOLHKOLHOOK3SOK3WOKnaOKneOKniOKXmOKXqOKXuOKHyOKH2OJ36OJ3+O' +
    'J4COJoGOJoKOJoKOJYOOJYSOJYWOJIaOJIeOI4iOI4mOI4qNIouNIoyNIo2NIY6NIY+NIZCNIZGMIJKMIJKMIJOMH5SMH5WLH5aLH5eLH5iLH5' +
    'mKH5qKHpuKHpyJHp2JH56JH5+IH6CIH6GIH6GHH6KHIKOGIKSGIaWFIaaFIqeFIqiEI6mDJKqDJauCJayCJq2BJ62BKK6AKa9/KrB/LLF+LbJ9' +
    'LrN8L7R8MbV7MrZ6NLZ5Nbd5N7h4OLl3Orp2O7t1Pbx0P7xzQL1yQr5xRL9wRsBvSMFuSsFtTMJsTsNrUMRqUsVpVMVoVsZnWMdlWshkXMhjXs' +
    'liYMpgY8tfZcteZ8xcac1bbM1abs5YcM9Xc9BWddBUd9FTetFRfNJQf9NOgdNNhNRLhtVJidVIi9ZGjtZFkNdDk9dBldhAmNg+m9k8ndk7oNo5' +
    'oto3pds2qNs0qtwyrdwwsN0vst0ttd4ruN4put4ovd8mwN8lwt8jxeAhyOAgyuEfzeEd0OEc0uIb1eIa2OIZ2uMZ3eMY3+MY4uQY5eQZ5+QZ6u' +
    'Ua7OUb7+Uc8eUd9OYe9uYg+OYh++cj/ecl',
  inferno:
    'AAAEAQAFAQEGAQEIAgEKAgIMAgIOAwIQBAMSBAMUBQQXBgQZBwUbCAUdCQYfCgciCwckDAgmDQgpDgkrEAktEQowEgoyFAs0FQs3Fgs5GAw8GQ' +
    'w+GwxBHAxDHgxFHwxIIQxKIwxMJAxPJgxRKAtTKQtVKwtXLQtZLwpbMQpcMgpeNApfNglhOAliOQljOwlkPQllPglmQApnQgpoRApoRQppRwtq' +
    'SQtqSgxrTAxrTQ1sTw1sUQ5sUg5tVA9tVQ9tVxBuWRBuWhFuXBJuXRJuXxNuYRNuYhRuZBVuZRVuZxZuaRZuahdubBhubRhubxlucRluchpudB' +
    'pudRtudxxteBxteh1tfB1tfR5tfx5sgB9sgiBshCBrhSFrhyFriCJqiiJqjCNpjSNpjyRpkCVokiVokyZnlSZnlydmmCdmmihlmylknSlknypj' +
    'oCpjoitioyxhpSxgpi1gqC5fqS5eqy9erTBdrjBcsDFbsTJaszJatDNZtjRYtzVXuTVWujZVvDdUvThTvzlSwDpRwTpQwztPxDxOxj1Nxz5MyD' +
    '9LykBKy0FJzEJIzkNHz0RG0EVF0kZE00dD1EhC1UpB10s/2Ew+2U092k4821A73VE63lI431M34FU24VY14lc041kz5Fox5Vww5l0v514u6GAt' +
    '6WEr6mMq62Qp62Yo7Gcm7Wkl7mok72wj724h8G8g8XEf8XMd8nQc83Yb83gZ9HkY9XsX9X0V9n4U9oAT94IS94QQ+IUP+IcO+IkM+YsL+YwK+Y' +
    '4J+pAI+pIH+pQH+5YG+5cG+5kG+5sG+50H/J8H/KEI/KMJ/KUK/KYM/KgN/KoP/KwR/K4S/LAU/LIW/LQY+7Ya+7gd+7of+7wh+74j+sAm+sIo' +
    '+sQq+sYt+ccv+cky+cs1+M03+M8699E999NA9tVD9tdG9dlJ9dtM9N1P9N9T9OFW8+Na8+Vd8uZh8uhl8upp8ext8e1x8e918fF58vJ98vSC8/' +
    'WG8/aK9PiO9fmS9vqW+Pua+fyd+v2h/P+k',
  magma:
    'AAAEAQAFAQEGAQEIAgEJAgILAgINAwMPAwMSBAQUBQQWBgUYBgUaBwYcCAceCQcgCggiCwkkDAkmDQopDgsrEAstEQwvEg0xEw00FA42FQ44Fg' +
    '87GA89GRA/GhBCHBBEHRFHHhFJIBFLIRFOIhFQJBJTJRJVJxJYKRFaKhFcLBFfLRFhLxFjMRFlMxBnNBBpNhBrOBBsOQ9uOw9wPQ9xPw9yQA90' +
    'Qg91RA92RRB3RxB4SRB4ShB5TBF6ThF7TxJ7URJ8UhN8VBN9VhR9VxV+WRV+WhZ+XBZ/XRd/Xxh/YBiAYhmAZBqAZRqAZxuAaByBahyBax2BbR' +
    '2Bbh6BcB+Bch+BcyCBdSGBdiGBeCKBeSKCeyOCfCOCfiSCgCWCgSWBgyaBhCaBhieBiCeBiSiBiymBjCmBjiqBkCqBkSuBkyuAlCyAliyAmC2A' +
    'mS2Amy5/nC5/ni9/oC9/oTB+ozB+pTF+pjF9qDJ9qjN9qzN8rTR8rjR7sDV7sjV7szZ6tTZ6tzd5uDd5ujh4vDl4vTl3vzp3wDp2wjt1xDx1xT' +
    'x0xz1zyD5zyj5yzD9xzUBxz0Bw0EFv0kJv00Nu1URt1kVs2EVs2UZr20dq3Ehp3klo30po4Exn4k1m405l5E9k5VBk51Jj6FNi6VRi6lZh61dg' +
    '7Fhg7Vpf7lte711e8F9e8WBd8mJd8mRc82Vc9Gdc9Glc9Wtc9mxc9m5c93Bc93Jc+HRc+HZc+Xhd+Xld+Xtd+n1e+n9e+oFf+4Nf+4Vg+4dh/I' +
    'lh/Ipi/Ixj/I5k/JBl/ZJm/ZRn/ZZo/Zhp/Zpq/Ztr/p1s/p9t/qFu/qNv/qVx/qdy/qlz/qp0/qx2/q53/rB4/rJ6/rR7/rZ8/rd+/rl//ruB' +
    '/r2C/r+E/sGF/sKH/sSI/saK/siM/sqN/syP/s2Q/s+S/tGU/tOV/tWX/teZ/tia/dqc/dye/d6g/eCh/eKj/eOl/eWn/eep/emq/eus/Oyu/O' +
    '6w/PCy/PK0/PS2/Pa4/Pe5/Pm7/Pu9/P2/',
  plasma:
    'DQiHEAeIEweJFgeKGQaMGwaNHQaOIAaPIgaQJAaRJgWRKAWSKgWTLAWULgWVLwWWMQWXMwWXNQSYNwSZOASaOgSaPASbPgScPwScQQSdQwOeRA' +
    'OeRgOfSAOfSQOgSwOhTAKhTgKiUAKiUQKjUwKjVQKkVgGkWAGkWQGlWwGlXAGmXgGmYAGmYQCnYwCnZACnZgCnZwCoaQCoagCobACobgCobwCo' +
    'cQCocgGodAGodQGodwGoeAGoegKoewKofQOofgOogASogQSngwWnhAWnhgamhwemiAimigmliwqljQuljgykjw2kkQ6jkg+jlBCilRGhlhOhmB' +
    'SgmRWfmhafnBeenRidnhmdoBqcoRuboh2aox6apR+ZpiCYpyGXqCKWqiOVqySUrCaUrSeTriiSsCmRsSqQsiuPsyyOtC6NtS+MtjCLtzGKuDKJ' +
    'ujOIuzSIvDWHvTeGvjiFvzmEwDqDwTuCwjyBwz2AxD5/xUB+xkF9x0J8yEN7yUR6ykV6y0Z5zEd4zEl3zUp2zkt1z0x00E1z0U5y0k9x01Fx1F' +
    'Jw1VNv1VRu1lVt11Zs2Fdr2Vhq2lpq2ltp21xo3F1n3V5m3l9l3mFk32Jj4GNj4WRi4mVh4mZg42hf5Gle5Wpd5Wtd5mxc525b529a6HBZ6XFY' +
    '6XJX6nRX63VW63ZV7HdU7XlT7XpS7ntR73xR735Q8H9P8IBO8YFN8YNM8oRL84VL84dK9IhJ9IlI9YtH9YxG9o1F9o9E95BE95FD95NC+JRB+J' +
    'VA+Zc/+Zg++Zo++ps9+pw8+p47+586+6E5+6I4/KM4/KU3/KY2/Kg1/Kk0/asz/awz/a4y/a8x/bEw/bIv/bQv/bUu/rct/rgs/ros/rsr/r0q' +
    '/r4q/sAp/cIp/cMo/cUn/cYn/cgn/com/csm/M0l/M4l/NAl/NIl+9Mk+9Uk+9ck+tgk+tok+dwk+d0l+N8l+OEl9+Il9+Ql9uYm9ugm9ekm9e' +
    'sn9O0n8+4n8/An8vIn8fQm8fUl8Pck8Pkh',
  cividis:
    'ACBRACFTACJVACNWACNYACRZACVaACVcACZdACdeACdfAChgAClhACliACpjACtkAStlAixlAy1mBC1nBS5nBS9oBjBpBzBpCDFqCTJqCzJqDD' +
    'NrDTRrDjRrDzVsEDZsEjdsEzdtFDhtFTltFzltGDptGTttGjttHDxuHT1uHj5uID5uIT9uI0BuJEBuJUFuJ0JuKENuKUNuK0RuLEVuLkVuL0Zu' +
    'MEduMkhuM0huNEluNkpuN0puOUtuOkxuO01uPU1uPk5uP09uQU9uQlBuQ1FtRFJtRlJtR1NtSFRtSlRtS1VtTFZtTVdtTlduUFhuUVluUlluU1' +
    'puVFtuVlxuV1xuWF1uWV5uWl5uW19uXGBuXWFuXmFuYGJuYWNvYmRvY2RvZGVvZWZvZmZvZ2dvaGhwaWlwamlwa2pwbGtwbWxwbWxxbm1xb25x' +
    'cG9xcW9xcnBxc3FydHFydXJydnNydnRyd3RzeHVzeXZzendze3d0e3h0fHl0fXp0fnp0f3t1gHx1gH11gX11gn51g392hIB2hYB2hYF2hoJ2h4' +
    'N2iIR3iYR3iYV3ioZ3i4d3jId3jYh3jol4jop4j4p4kIt4kYx4ko14k454k454lI94lZB4lpF4l5J4mJJ4mZN4mpR4m5V4m5Z4nJZ4nZd4nph4' +
    'n5l4oJp4oZp4opt4o5x4pJ14pZ53pp53p593qKB3qaF3qqJ2q6N2rKN2raR2rqV1r6Z1sKd1sqh0s6h0tKl0tapztqtzt6xyuK1yuq5yu65xvK' +
    '9xvbBwvrFwv7JvwbNvwrRuw7VtxLVtxbZsx7dsyLhryblqyrpqzLtpzbxozrxoz71n0b5m0r9m08Bl1MFk1sJj18Nj2MRi2cVh28Zg3MZg3cdf' +
    '3she4Mld4cpc4stc48xb5M1a5s5Z589Y6NBY6dFX6tJW69NV7NRU7dRT7tVT8NZS8ddR8dhQ8tlQ89pP9NtO9dxN9t1N995M+N9L+OBL+eFK+u' +
    'JJ+uNJ++RI++VI/OZH/OdG/ehG/elG/epF',
};

/**
 * The table of a colormap: 256 entries of R, G, B, darkest first.
 * @param {string} name one of {@link COLORMAPS}; anything else gives grey
 * @param {boolean} [invert] brightest first
 * @returns {Uint8Array} 768 bytes, a fresh copy
 */
export function colormap(name, invert = false) {
  const table = new Uint8Array(768);
  if (Object.hasOwn(TABLES, name)) {
    const text = atob(TABLES[name]);
    for (let i = 0; i < 768; i += 1) table[i] = text.charCodeAt(i);
  } else {
    for (let i = 0; i < 768; i += 1) table[i] = Math.floor(i / 3);
  }
  if (!invert) return table;
  const turned = new Uint8Array(768);
  for (let i = 0; i < 256; i += 1) turned.set(table.subarray(3 * (255 - i), 3 * (255 - i) + 3), 3 * i);
  return turned;
}
