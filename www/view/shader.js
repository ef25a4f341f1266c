/** The two shaders of the view. A tile is one quad; the fragment shader turns codes into colours. */

export const VERTEX = `#version 300 es
// Corners of the tile in clip space: x0, y0, x1, y1.
uniform vec4 corners;
void main() {
  vec2 t = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(corners.xy, corners.zw, t), 0.0, 1.0);
}`;

export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D codes;
uniform sampler2D lut;
// Image position of the canvas' lower left corner, in pixels of this tile.
uniform vec2 origin;
// Image pixels per device pixel.
uniform float pitch;
uniform ivec2 size;
// Codes that become the ends of the colormap.
uniform vec2 limits;
uniform int stretch;
uniform vec3 quiet;
out vec4 colour;

float bend(float t) {
  if (stretch == 1) return sqrt(t);
  if (stretch == 2) return log(1000.0 * t + 1.0) / log(1001.0);
  if (stretch == 3) return asinh(t * 10.0) / asinh(10.0);
  return t;
}

void main() {
  vec2 at = origin + gl_FragCoord.xy * pitch;
  // Zoomed out, a screen pixel covers many codes: a few of them are averaged, so that noise looks like noise and
  // not like moiré. At 1:1 and above each screen pixel is exactly one code.
  int n = int(clamp(ceil(pitch - 0.001), 1.0, 4.0));
  float sum = 0.0;
  float seen = 0.0;
  for (int j = 0; j < 4; j += 1) {
    if (j >= n) break;
    for (int i = 0; i < 4; i += 1) {
      if (i >= n) break;
      vec2 offset = n == 1 ? vec2(0.0) : ((vec2(i, j) + 0.5) / float(n) - 0.5) * pitch;
      ivec2 p = clamp(ivec2(floor(at + offset)), ivec2(0), size - 1);
      uint code = texelFetch(codes, p, 0).r;
      if (code != 0u) { sum += float(code); seen += 1.0; }
    }
  }
  if (seen == 0.0) {
    // No data is neither dark nor bright: a quiet checker that no colormap holds.
    ivec2 cell = ivec2(gl_FragCoord.xy) >> 3;
    float tone = ((cell.x + cell.y) & 1) == 0 ? 1.0 : 0.72;
    colour = vec4(quiet * tone, 1.0);
    return;
  }
  float t = clamp((sum / seen - limits.x) / (limits.y - limits.x), 0.0, 1.0);
  int entry = int(clamp(floor(bend(t) * 256.0), 0.0, 255.0));
  colour = vec4(texelFetch(lut, ivec2(entry, 0), 0).rgb, 1.0);
}`;
