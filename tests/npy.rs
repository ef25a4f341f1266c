//! `.npy` files we make are read by numpy, and by the format's own description.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use std::process::Command;

use sectile::npy::{self, Number};

#[test]
fn headers_follow_the_format() {
    for (number, descr) in [
        (Number::F32, "<f4"),
        (Number::F64, "<f8"),
        (Number::U16, "<u2"),
    ] {
        for (width, height) in [(1, 1), (2048, 4096), (u32::MAX, u32::MAX)] {
            let header = npy::header(number, width, height).unwrap();
            assert!(header.starts_with(b"\x93NUMPY\x01\x00"));
            let length = usize::from(u16::from_le_bytes([header[8], header[9]]));
            assert_eq!(header.len(), 10 + length);
            assert_eq!(header.len() % 64, 0, "numbers start aligned");
            let text = std::str::from_utf8(&header[10..]).unwrap();
            assert!(text.ends_with('\n'));
            let want = format!(
                "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({height}, {width}), }}"
            );
            assert_eq!(text.trim_end(), want);
        }
    }
    let planes = npy::header_of_planes(Number::F32, 4, 3, 2).unwrap();
    assert!(String::from_utf8_lossy(&planes).contains("'shape': (4, 2, 3)"));
    assert_eq!(planes.len() % 64, 0);
    assert!(npy::header_of_planes(Number::F32, 0, 3, 2).is_err());
    assert_eq!(
        npy::header(Number::F32, 0, 3).unwrap_err().code(),
        "parameter"
    );
    assert_eq!(
        npy::header(Number::F32, 3, 0).unwrap_err().code(),
        "parameter"
    );
}

#[test]
fn numpy_reads_what_was_written() {
    let python = std::env::var("SECTILE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|answer| answer.status.success()) {
        println!("skipped: {python} has no numpy (SECTILE_PYTHON names another Python)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut f4 = npy::header(Number::F32, 3, 2).unwrap();
    npy::put_f32(&[0.5, -1.0, f32::NAN, f32::INFINITY, 3e38, 1e-45], &mut f4);
    let mut f8 = npy::header(Number::F64, 2, 1).unwrap();
    npy::put_f64(&[0.1, -1e308], &mut f8);
    let mut u2 = npy::header(Number::U16, 1, 2).unwrap();
    npy::put_u16(&[1, 4096], &mut u2);
    let mut planes = npy::header_of_planes(Number::F32, 2, 3, 1).unwrap();
    npy::put_f32(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut planes);
    for (name, bytes) in [("f4", f4), ("f8", f8), ("u2", u2), ("planes", planes)] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let answer = Command::new(&python)
        .args(["-W", "error", "-c", NUMPY])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{said}");
}

const NUMPY: &str = "
import numpy as np
want = {
    'f4': np.array([[0.5, -1, np.nan], [np.inf, 3e38, 1e-45]], '<f4'),
    'f8': np.array([[0.1, -1e308]]),
    'u2': np.array([[1], [4096]], '<u2'),
    'planes': np.array([[[1, 2, 3]], [[4, 5, 6]]], '<f4'),
}
for name, array in want.items():
    got = np.load(name)
    assert got.dtype == array.dtype and got.shape == array.shape, (got.dtype, got.shape)
    np.testing.assert_array_equal(got, array)
";
