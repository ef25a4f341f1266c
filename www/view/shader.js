/**
 * The two shaders of the view. A tile is one quad; the fragment shader turns codes into colours: those of one plane
 * through the colour table, those of up to three planes by adding up their own colours.
 */

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
uniform usampler2D codes0;
uniform usampler2D codes1;
uniform usampler2D codes2;
uniform sampler2D lut;
// Planes that are added up; 0: the first one, through the colour table.
uniform int added;
// Image position of the canvas' lower left corner, in pixels of this tile.
uniform vec2 origin;
// Image pixels per device pixel, to the right and upwards; negative upwards where row 0 lies at the top.
uniform vec2 pitch;
uniform ivec2 size;
// For each plane: the codes that become the ends of its scale, its stretch and its colour.
uniform vec2 limits[3];
uniform int stretch[3];
uniform vec3 tint[3];
uniform vec3 quiet;
out vec4 colour;

float bend(float t, int kind) {
  if (kind == 1) return sqrt(t);
  if (kind == 2) return log(1000.0 * t + 1.0) / log(1001.0);
  if (kind == 3) return asinh(t * 10.0) / asinh(10.0);
  return t;
}

// Where between the limits the codes under this screen pixel lie, 0 to 1, bent; below 0: no data.
float level(usampler2D codes, vec2 at, vec2 ends, int kind) {
  // Zoomed out, a screen pixel covers many codes: a few of them are averaged, so that noise looks like noise and
  // not like moiré. At 1:1 and above each screen pixel is exactly one code.
  ivec2 n = ivec2(clamp(ceil(abs(pitch) - 0.001), 1.0, 4.0));
  float sum = 0.0;
  float seen = 0.0;
  for (int j = 0; j < 4; j += 1) {
    if (j >= n.y) break;
    for (int i = 0; i < 4; i += 1) {
      if (i >= n.x) break;
      vec2 part = (vec2(i, j) + 0.5) / vec2(n) - 0.5;
      vec2 offset = vec2(n.x == 1 ? 0.0 : part.x, n.y == 1 ? 0.0 : part.y) * pitch;
      ivec2 p = clamp(ivec2(floor(at + offset)), ivec2(0), size - 1);
      uint code = texelFetch(codes, p, 0).r;
      if (code != 0u) { sum += float(code); seen += 1.0; }
    }
  }
  if (seen == 0.0) return -1.0;
  return bend(clamp((sum / seen - ends.x) / (ends.y - ends.x), 0.0, 1.0), kind);
}

void main() {
  vec2 at = origin + gl_FragCoord.xy * pitch;
  float first = level(codes0, at, limits[0], stretch[0]);
  float most = first;
  vec3 sum = max(first, 0.0) * tint[0];
  if (added > 1) {
    float second = level(codes1, at, limits[1], stretch[1]);
    most = max(most, second);
    sum += max(second, 0.0) * tint[1];
  }
  if (added > 2) {
    float third = level(codes2, at, limits[2], stretch[2]);
    most = max(most, third);
    sum += max(third, 0.0) * tint[2];
  }
  if (most < 0.0) {
    // No data is neither dark nor bright: a quiet checker that no colormap holds.
    ivec2 cell = ivec2(gl_FragCoord.xy) >> 3;
    float tone = ((cell.x + cell.y) & 1) == 0 ? 1.0 : 0.72;
    colour = vec4(quiet * tone, 1.0);
    return;
  }
  int entry = int(clamp(floor(first * 256.0), 0.0, 255.0));
  colour = vec4(added > 0 ? min(sum, 1.0) : texelFetch(lut, ivec2(entry, 0), 0).rgb, 1.0);
}`;
