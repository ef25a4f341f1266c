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
/// Small sizes are exact, because there a padded row costs most. Above, steps of about a quarter
/// trade the bytes of the module against the comparisons that padding wastes.
const SIZES: &[usize] = &[2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32, 40, 50, 64];

/// Sizes up to this one get two networks: one for stacks that miss nothing, which needs one rank only
/// where the size is odd and no choice between the mean and one rank; and one that fills what is missing
/// as it reads it.
const WHOLE: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    for &size in SIZES {
        emit_patched(&mut code, size)?;
        if size <= WHOLE {
            emit_whole(&mut code, size)?;
        }
    }
    emit_quartiles(&mut code)?;
    emit_tables(&mut code)?;
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

/// The middle ranks of a stack of which nothing or an even number of values is missing; and, first
/// if the size is odd, what is the median otherwise (see `kernels::fill`).
fn middle(size: usize) -> (usize, usize) {
    ((size - 1) / 2 - usize::from(size % 2 == 1), size / 2)
}

/// A network as a straight line of selections, and the names of the two ranks.
fn lines(
    code: &mut String,
    size: usize,
    ranks: (usize, usize),
) -> Result<(String, String), fmt::Error> {
    let mut name: Vec<String> = (0..size).map(|i| format!("x{i}")).collect();
    for (step, (i, j, low, high)) in pruned(size, ranks).into_iter().enumerate() {
        let (a, b) = (name[i].clone(), name[j].clone());
        if low {
            writeln!(
                code,
                "        let l{step} = if {b} < {a} {{ {b} }} else {{ {a} }};"
            )?;
            name[i] = format!("l{step}");
        }
        if high {
            writeln!(
                code,
                "        let h{step} = if {b} < {a} {{ {a} }} else {{ {b} }};"
            )?;
            name[j] = format!("h{step}");
        }
    }
    Ok((name[ranks.0].clone(), name[ranks.1].clone()))
}

/// The beginning of a network over rows that lie anywhere: the values and their sum.
fn emit_loads(code: &mut String, size: usize) -> fmt::Result {
    let rows: Vec<String> = (0..size).map(|i| format!("r{i}")).collect();
    write!(
        code,
        "    let [{}] = *rows;\n    let mut suspect = false;\n    for i in 0..PIXELS {{\n",
        rows.join(", ")
    )?;
    for i in 0..size {
        writeln!(code, "        let x{i} = r{i}[i];")?;
    }
    // Two chains of additions, so that one need not wait for the other.
    let chain = |start: usize| -> String {
        let terms: Vec<String> = (start..size).step_by(2).map(|i| format!("x{i}")).collect();
        format!("({})", terms.join(" + "))
    };
    writeln!(code, "        let sum = {} + {};", chain(0), chain(1))?;
    writeln!(code, "        suspect |= sum.is_nan();")
}

/// A network that also serves stacks with missing values.
///
/// Up to `WHOLE`, it fills them itself and counts them in `missing`; above, they were filled before.
fn emit_patched(code: &mut String, size: usize) -> fmt::Result {
    let fills = size <= WHOLE;
    let mutable = if fills { "mut " } else { "" };
    write!(
        code,
        "#[inline(never)]\nfn patched_{size}(rows: &[&Row; {size}], missing: &{mutable}[u32; PIXELS], out: &mut Row) -> bool {{\n"
    )?;
    if fills {
        emit_fills(code, size)?;
    } else {
        emit_loads(code, size)?;
    }
    let (lower, upper) = lines(code, size, middle(size))?;
    let parity = size % 2;
    let one = if parity == 1 { &upper } else { &lower };
    write!(
        code,
        "        let mean = ({lower} + {upper}) * 0.5;\n        \
         let median = if missing[i] & 1 == {parity} {{ mean }} else {{ {one} }};\n        \
         out[i] = median + 0.0;\n    }}\n    suspect\n}}\n\n"
    )
}

/// The beginning of a network that fills the missing values and says whether there are any.
fn emit_fills(code: &mut String, size: usize) -> fmt::Result {
    let rows: Vec<String> = (0..size).map(|i| format!("r{i}")).collect();
    write!(
        code,
        "    let [{}] = *rows;\n    let mut suspect = false;\n    for i in 0..PIXELS {{\n        let m0 = missing[i];\n",
        rows.join(", ")
    )?;
    for i in 0..size {
        writeln!(
            code,
            "        let (x{i}, m{}) = (filler_or(r{i}[i], m{i}), m{i} + u32::from(r{i}[i].is_nan()));",
            i + 1
        )?;
    }
    write!(
        code,
        "        suspect |= m{size} != m0;\n        missing[i] = m{size};\n"
    )
}

/// A network for stacks that miss nothing.
fn emit_whole(code: &mut String, size: usize) -> fmt::Result {
    write!(
        code,
        "#[inline(never)]\nfn whole_{size}(rows: &[&Row; {size}], out: &mut Row) -> bool {{\n"
    )?;
    emit_loads(code, size)?;
    let (lower, upper) = lines(code, size, ((size - 1) / 2, size / 2))?;
    let median = if size % 2 == 1 {
        upper
    } else {
        format!("({lower} + {upper}) * 0.5")
    };
    write!(
        code,
        "        out[i] = {median} + 0.0;\n    }}\n    suspect\n}}\n\n"
    )
}

/// The ranks 4 and 11 of a block of 16 rows.
fn emit_quartiles(code: &mut String) -> fmt::Result {
    code.push_str(
        "#[inline(never)]\nfn quartiles_16<T: Copy + PartialOrd, const L: usize>(rows: &[[T; L]; 16], lower: &mut [T; L], upper: &mut [T; L]) {\n    for i in 0..L {\n",
    );
    for i in 0..16 {
        writeln!(code, "        let x{i} = rows[{i}][i];")?;
    }
    let (lower, upper) = lines(code, 16, (4, 11))?;
    write!(
        code,
        "        lower[i] = {lower};\n        upper[i] = {upper};\n    }}\n}}\n\n"
    )
}

/// Whether there is a network of a size.
type Has = fn(&usize) -> bool;

/// The list of sizes, and the choices by size.
fn emit_tables(code: &mut String) -> fmt::Result {
    let (count, last) = (SIZES.len(), SIZES[SIZES.len() - 1]);
    write!(
        code,
        "const SIZES: [usize; {count}] = {SIZES:?};\n\n/// Rows of the largest network.\npub(in super::super) const MOST: usize = {last};\n\n\
         /// The most rows that there are two networks for: one without fillers, one that fills.\n\
         pub(in super::super) const WHOLE: usize = {WHOLE};\n\n"
    )?;
    let tables: [(_, _, Has); 3] = [
        ("whole", "out: &mut Row", |&size| size <= WHOLE),
        (
            "filling",
            "missing: &mut [u32; PIXELS], out: &mut Row",
            |&size| size <= WHOLE,
        ),
        (
            "patched",
            "missing: &[u32; PIXELS], out: &mut Row",
            |&size| size > WHOLE,
        ),
    ];
    for (name, parameters, has) in tables {
        let (network, arguments) = match name {
            "whole" => ("whole", "rows, out"),
            _ => ("patched", "rows, missing, out"),
        };
        write!(
            code,
            "fn choose_{name}(rows: &[&Row], {parameters}) -> bool {{\n    match rows.len() {{\n"
        )?;
        for size in SIZES.iter().copied().filter(has) {
            writeln!(
                code,
                "        {size} => rows.first_chunk().is_none_or(|rows| {network}_{size}({arguments})),"
            )?;
        }
        code.push_str("        _ => true,\n    }\n}\n\n");
    }
    Ok(())
}
