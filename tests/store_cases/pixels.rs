//! Total and root mean square of the intensities of each pixel, written for the tests anew.

/// The pixel table of peaks (pixel, intensity): the total of every pixel, then the root mean square over
/// its peaks of every pixel, as little-endian f32.
pub(crate) fn table(pixels: u32, peaks: impl Iterator<Item = (u32, f64)>) -> Vec<u8> {
    let mut sums = vec![(0.0_f64, 0.0_f64, 0_u32); pixels as usize];
    for (pixel, intensity) in peaks {
        let sum = &mut sums[pixel as usize];
        sum.0 += intensity;
        sum.1 += intensity * intensity;
        sum.2 += 1;
    }
    let mean =
        |(_, squares, peaks): &(f64, f64, u32)| (squares / f64::from((*peaks).max(1))).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
    let rounded = |value: f64| (value as f32).clamp(f32::MIN, f32::MAX).to_le_bytes();
    let totals = sums.iter().map(|sum| sum.0).map(rounded);
    let means = sums.iter().map(mean).map(rounded);
    totals.chain(means).flatten().collect()
}
