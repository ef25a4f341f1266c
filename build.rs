//! Writes the unrolled median networks of `stack::kernels::network` into `OUT_DIR`.
//!
//! A network is Batcher's merge exchange (Knuth, TAOCP vol. 3, §5.2.2, algorithm M), which exists
//! for every number of inputs, with everything dropped that the two middle ranks do not depend on.

use std::{
    env,
    error::Error,
    fmt::{self, Write as _},
    fs,
    path::Path,
};

/// Sizes that get a network of their own; a stack between two sizes is padded to the larger one.
///
/// Small sizes are exact, because there a padded row costs most. Above, steps of about an eighth
/// trade the bytes of the module against the comparisons that padding wastes.
const SIZES: &[usize] = &[
    2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 44, 50, 56, 64,
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    for &size in SIZES {
        let ranks = ((size - 1) / 2 - usize::from(size % 2 == 1), size / 2);
        emit_network(&mut code, &format!("middle_{size}"), size, ranks)?;
    }
    emit_network(&mut code, "quartiles_16", 16, (4, 11))?;
    emit_table(&mut code)?;
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; build with cargo")?;
    fs::write(Path::new(&folder).join("networks.rs"), code)?;
    Ok(())
}

/// Comparators of Batcher's merge exchange for `size` inputs, each a pair of wires, smaller first.
fn merge_exchange(size: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let top = size.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            pairs.extend((0..size - d).filter(|i| i & p == r).map(|i| (i, i + d)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    pairs
}

/// The comparators that two ranks depend on, each with whether its smaller and its larger output is
/// needed.
fn pruned(size: usize, ranks: (usize, usize)) -> Vec<(usize, usize, bool, bool)> {
    let mut needed = vec![false; size];
    needed[ranks.0] = true;
    needed[ranks.1] = true;
    let mut kept = Vec::new();
    for (i, j) in merge_exchange(size).into_iter().rev() {
        let (low, high) = (needed[i], needed[j]);
        if low || high {
            kept.push((i, j, low, high));
            (needed[i], needed[j]) = (true, true);
        }
    }
    kept.reverse();
    kept
}

/// One straight line of selections over the lanes: the shape that the compiler vectorises.
fn emit_network(
    code: &mut String,
    name_of: &str,
    size: usize,
    ranks: (usize, usize),
) -> fmt::Result {
    let mut name: Vec<String> = (0..size).map(|i| format!("x{i}")).collect();
    let mut body = String::new();
    for i in 0..size {
        writeln!(body, "        let x{i} = rows[{i}][i];")?;
    }
    for (step, (i, j, low, high)) in pruned(size, ranks).into_iter().enumerate() {
        let (a, b) = (name[i].clone(), name[j].clone());
        if low {
            writeln!(
                body,
                "        let l{step} = if {b} < {a} {{ {b} }} else {{ {a} }};"
            )?;
            name[i] = format!("l{step}");
        }
        if high {
            writeln!(
                body,
                "        let h{step} = if {b} < {a} {{ {a} }} else {{ {b} }};"
            )?;
            name[j] = format!("h{step}");
        }
    }
    let lower = &name[ranks.0];
    let upper = &name[ranks.1];
    write!(
        code,
        "#[inline(never)]\nfn {name_of}<T: Copy + PartialOrd, const L: usize>(rows: &[[T; L]; {size}], lower: &mut [T; L], upper: &mut [T; L]) {{\n    \
         for i in 0..L {{\n{body}        lower[i] = {lower};\n        upper[i] = {upper};\n    }}\n}}\n\n"
    )
}

/// The list of sizes, and the choice by size.
fn emit_table(code: &mut String) -> fmt::Result {
    let last = SIZES.len();
    write!(
        code,
        "const SIZES: [usize; {last}] = {SIZES:?};\n\n\
         fn run<const L: usize>(rows: &[[f32; L]], lower: &mut [f32; L], upper: &mut [f32; L]) -> bool {{\n    match rows.len() {{\n"
    )?;
    for size in SIZES {
        writeln!(
            code,
            "        {size} => rows.first_chunk().is_some_and(|rows| {{ middle_{size}(rows, lower, upper); true }}),"
        )?;
    }
    code.push_str("        _ => false,\n    }\n}\n");
    Ok(())
}
