//! Pixel to sky: the linear part of a celestial WCS, and the gnomonic projection.
//!
//! FITS 4.0 §8; Greisen & Calabretta 2002 (linear part); Calabretta & Greisen 2002 (TAN, rotation
//! of the sphere, CROTA2).

use super::angle::sin_cos;
use crate::fits::header::Header;

/// A celestial WCS of the first two axes.
///
/// Either axis may be the longitude. Units deg, arcmin, arcsec, mas and rad are understood; angles
/// given out are degrees. Pixel coordinates are zero-based, the centre of a pixel being whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Wcs {
    /// Degrees a pixel, row by row: from pixel offsets to native x (longitude), y (latitude).
    matrix: [[f64; 2]; 2],
    inverse: [[f64; 2]; 2],
    /// CRPIX − 1.
    origin: [f64; 2],
    /// Longitude and latitude of the reference point, in degrees.
    reference: [f64; 2],
    /// LONPOLE in degrees.
    pole: f64,
    /// Coordinate system, such as `RA` or `GLON`, and projection, such as `TAN` or `TAN-SIP`.
    system: String,
    projection: String,
    /// Whether there is more than the linear part and the projection.
    distorted: bool,
}

/// How the grid of one image lies in that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offset {
    /// Largest distance in pixels, over the centre and the four corner pixels, between where a
    /// pixel is in the one image and where the same pixel of the other falls in it. Infinite if
    /// that cannot be said: another coordinate system, or the other side of the sky.
    pub pixels: f64,
    /// Size of the other's pixels in this one's, along a side of equal area.
    pub scale: f64,
    /// Turn of the other's grid against this one's in degrees, from −180 to 180,
    /// counter-clockwise in this image's pixels.
    pub rotation: f64,
}

impl Wcs {
    /// Reads the WCS; `None` if there is none for two celestial axes, or if it cannot be inverted.
    ///
    /// The linear part is the CD matrix if one of its cards is there; else PC times CDELT; else
    /// CDELT turned by CROTA of the latitude axis. What is absent has the standard's default.
    #[must_use]
    pub fn from_header(header: &Header) -> Option<Self> {
        let types = [axis_type(header, 1)?, axis_type(header, 2)?];
        let longitude = types.iter().position(|(name, _)| is_longitude(name))?;
        let latitude = 1 - longitude;
        if !is_latitude(&types[latitude].0) || types[0].1 != types[1].1 {
            return None;
        }
        let units = [unit(header, 1)?, unit(header, 2)?];
        let linear = linear(header, latitude);
        let row = |axis: usize| linear[axis].map(|term| term * units[axis]);
        let matrix = [row(longitude), row(latitude)];
        let value = |axis: usize| number(header, &format!("CRVAL{}", axis + 1), 0.0) * units[axis];
        let wcs = Self {
            inverse: invert(matrix)?,
            matrix,
            origin: [1, 2].map(|axis| number(header, &format!("CRPIX{axis}"), 0.0) - 1.0),
            reference: [value(longitude), value(latitude)],
            pole: pole(header, value(latitude)),
            system: types[longitude].0.clone(),
            projection: types[0].1.clone(),
            distorted: distorted(header),
        };
        let terms = wcs.matrix.iter().flatten();
        let finite = terms.chain(&wcs.reference).all(|term| term.is_finite());
        (finite && wcs.reference[1].abs() <= 90.0).then_some(wcs)
    }

    /// Whether it is a gnomonic projection of right ascension and declination and nothing more.
    ///
    /// False for SIP, TPV, TNX, PV parameters, distortion tables, other projections and other
    /// coordinate systems.
    #[must_use]
    pub fn is_plain_tan(&self) -> bool {
        self.system == "RA" && self.is_tan()
    }

    fn is_tan(&self) -> bool {
        self.projection == "TAN" && !self.distorted
    }

    /// Longitude (right ascension, 0 to 360) and latitude in degrees of a zero-based pixel.
    ///
    /// `None` unless the projection is TAN without distortion, or for a position that is no number.
    #[must_use]
    pub fn pixel_to_sky(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        if !self.is_tan() {
            return None;
        }
        let [x, y] = times(self.matrix, [x - self.origin[0], y - self.origin[1]]);
        let theta = (1_f64.to_degrees()).atan2(x.hypot(y));
        // At the reference point itself the native longitude is free.
        let phi = x.atan2(-y);
        let [longitude, latitude] = rotate(
            [phi, theta],
            [self.pole.to_radians(), self.reference[0].to_radians()],
            self.reference[1].to_radians(),
        );
        let sky = [
            longitude.to_degrees().rem_euclid(360.0),
            latitude.to_degrees(),
        ];
        sky.iter().all(|angle| angle.is_finite()).then_some(sky)
    }

    /// Zero-based pixel of a longitude and latitude in degrees.
    ///
    /// `None` unless the projection is TAN without distortion, or for a point of the sky that is
    /// 90° or more away from the reference point.
    #[must_use]
    pub fn sky_to_pixel(&self, longitude: f64, latitude: f64) -> Option<[f64; 2]> {
        if !self.is_tan() {
            return None;
        }
        let [phi, theta] = rotate(
            [longitude.to_radians(), latitude.to_radians()],
            [self.reference[0].to_radians(), self.pole.to_radians()],
            self.reference[1].to_radians(),
        );
        if theta.is_nan() || theta <= 1e-9 {
            return None;
        }
        let (sin_theta, cos_theta) = sin_cos(theta);
        let (sin_phi, cos_phi) = sin_cos(phi);
        let radius = (cos_theta / sin_theta).to_degrees();
        let [x, y] = times(self.inverse, [radius * sin_phi, -radius * cos_phi]);
        Some([x + self.origin[0], y + self.origin[1]])
    }

    /// How the grid of `other` lies in this one's, for images of `width` by `height` pixels.
    ///
    /// Exact for TAN without distortion. Otherwise the linear parts are compared: zero for equal
    /// headers, first order in the shift for others; distortions are not applied.
    #[must_use]
    pub fn offset(&self, other: &Self, width: u32, height: u32) -> Offset {
        let (right, top) = (f64::from(width) - 1.0, f64::from(height) - 1.0);
        let points = [
            [right / 2.0, top / 2.0],
            [0.0, 0.0],
            [right, 0.0],
            [0.0, top],
            [right, top],
        ];
        let pixels = points.iter().map(|point| {
            let distance = self.falls(other, *point);
            let distance = distance.map(|[x, y]| (x - point[0]).hypot(y - point[1]));
            distance.filter(|d| !d.is_nan()).unwrap_or(f64::INFINITY)
        });
        let turn = product(self.inverse, other.matrix);
        Offset {
            pixels: pixels.fold(0.0, f64::max),
            scale: (determinant(other.matrix) / determinant(self.matrix))
                .abs()
                .sqrt(),
            rotation: (turn[1][0] - turn[0][1])
                .atan2(turn[0][0] + turn[1][1])
                .to_degrees(),
        }
    }

    /// Where a pixel of `other` is in this image.
    fn falls(&self, other: &Self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        if self == other {
            return Some([x, y]);
        }
        if self.system != other.system {
            return None;
        }
        if self.is_tan() && other.is_tan() {
            let [longitude, latitude] = other.pixel_to_sky(x, y)?;
            return self.sky_to_pixel(longitude, latitude);
        }
        let [x, y] = times(other.matrix, [x - other.origin[0], y - other.origin[1]]);
        let around = (other.reference[0] - self.reference[0] + 180.0).rem_euclid(360.0) - 180.0;
        let east = around * sin_cos(self.reference[1].to_radians()).1;
        let north = other.reference[1] - self.reference[1];
        let [x, y] = times(self.inverse, [x + east, y + north]);
        Some([x + self.origin[0], y + self.origin[1]])
    }
}

/// Name and projection of a CTYPE: `RA---TAN-SIP` is `RA` and `TAN-SIP`.
fn axis_type(header: &Header, axis: u32) -> Option<(String, String)> {
    let text = header
        .text(&format!("CTYPE{axis}"))?
        .trim()
        .to_ascii_uppercase();
    let (name, projection) = text.split_once('-')?;
    Some((
        name.to_owned(),
        projection.trim_start_matches('-').to_owned(),
    ))
}

fn is_longitude(name: &str) -> bool {
    name == "RA" || name.ends_with("LON") || (name.len() == 4 && name.ends_with("LN"))
}

fn is_latitude(name: &str) -> bool {
    name == "DEC" || name.ends_with("LAT") || (name.len() == 4 && name.ends_with("LT"))
}

/// Degrees in the unit of an axis; `None` for one that is no angle.
fn unit(header: &Header, axis: u32) -> Option<f64> {
    let unit = header.text(&format!("CUNIT{axis}")).unwrap_or("deg");
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "" | "deg" | "degree" | "degrees" => 1.0,
        "arcmin" => 1.0 / 60.0,
        "arcsec" => 1.0 / 3600.0,
        "mas" => 1.0 / 3_600_000.0,
        "rad" => 1_f64.to_degrees(),
        _ => return None,
    })
}

fn number(header: &Header, key: &str, default: f64) -> f64 {
    header.float(key).unwrap_or(default)
}

/// The matrix from pixel offsets to the axes' units, in the order of the axes.
fn linear(header: &Header, latitude: usize) -> [[f64; 2]; 2] {
    let term = |stem: &str, i: usize, j: usize| header.float(&format!("{stem}{}_{}", i + 1, j + 1));
    let has = |stem: &str| (0..4).any(|ij| term(stem, ij / 2, ij % 2).is_some());
    let each = |value: &dyn Fn(usize, usize) -> f64| {
        [[value(0, 0), value(0, 1)], [value(1, 0), value(1, 1)]]
    };
    if has("CD") {
        return each(&|i, j| term("CD", i, j).unwrap_or(0.0));
    }
    let delta = [1, 2].map(|axis| number(header, &format!("CDELT{axis}"), 1.0));
    if has("PC") {
        let unit = |i, j| if i == j { 1.0 } else { 0.0 };
        return each(&|i, j| delta[i] * term("PC", i, j).unwrap_or(unit(i, j)));
    }
    let turn = number(header, &format!("CROTA{}", latitude + 1), 0.0);
    let (sin, cos) = sin_cos(turn.to_radians());
    // The turn is from the longitude axis to the latitude axis, wherever those stand.
    let sin = if latitude == 1 { sin } else { -sin };
    [
        [delta[0] * cos, -delta[1] * sin],
        [delta[0] * sin, delta[1] * cos],
    ]
}

/// LONPOLE, or the default of zenithal projections: 180° unless the reference point is the pole.
fn pole(header: &Header, latitude: f64) -> f64 {
    number(
        header,
        "LONPOLE",
        if latitude >= 90.0 { 0.0 } else { 180.0 },
    )
}

/// Whether cards ask for more than a linear part and a projection: SIP polynomials, parameters of
/// the projection, distortion tables, IRAF's WAT strings.
fn distorted(header: &Header) -> bool {
    const STEMS: [&str; 10] = [
        "A_", "B_", "AP_", "BP_", "PV1_", "PV2_", "WAT1_", "CPDIS", "CQDIS", "D2IMDIS",
    ];
    let counted = |rest: &str| rest == "ORDER" || rest.starts_with(|c: char| c.is_ascii_digit());
    header.cards().any(|card| {
        let asks = |stem: &str| card.key.strip_prefix(stem).is_some_and(counted);
        card.value.is_some() && STEMS.iter().any(|stem| asks(stem))
    })
}

/// Turns spherical coordinates about a pole: native to celestial, or back with the two longitudes
/// swapped (Calabretta & Greisen 2002, eqs. 2 and 5, which are one and the same rotation).
///
/// `poles` are the pole's longitude in the system of `point` and in that of the answer; `tilt` is
/// the latitude of the one system's pole in the other. All in radians.
fn rotate(point: [f64; 2], poles: [f64; 2], tilt: f64) -> [f64; 2] {
    let (sin_theta, cos_theta) = sin_cos(point[1]);
    let (sin_phi, cos_phi) = sin_cos(point[0] - poles[0]);
    let (sin_tilt, cos_tilt) = sin_cos(tilt);
    let x = sin_theta * cos_tilt - cos_theta * sin_tilt * cos_phi;
    let y = -cos_theta * sin_phi;
    let z = sin_theta * sin_tilt + cos_theta * cos_tilt * cos_phi;
    // atan2 instead of asin keeps its digits near the poles.
    [poles[1] + y.atan2(x), z.atan2(x.hypot(y))]
}

fn times(m: [[f64; 2]; 2], [x, y]: [f64; 2]) -> [f64; 2] {
    [m[0][0] * x + m[0][1] * y, m[1][0] * x + m[1][1] * y]
}

fn product(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let column = |j: usize| times(a, [b[0][j], b[1][j]]);
    let (left, right) = (column(0), column(1));
    [[left[0], right[0]], [left[1], right[1]]]
}

fn determinant(m: [[f64; 2]; 2]) -> f64 {
    m[0][0] * m[1][1] - m[0][1] * m[1][0]
}

fn invert(m: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let d = determinant(m);
    let inverse = [[m[1][1] / d, -m[0][1] / d], [-m[1][0] / d, m[0][0] / d]];
    let finite = inverse.iter().flatten().all(|term| term.is_finite());
    (d != 0.0 && finite).then_some(inverse)
}
