//! What a wasm module imports, and that the core imports nothing of its own.
//!
//! The core never does I/O. If a dependency brought a clock, a random source or an environment call,
//! it would show here as an import: so the raw module may import its memory and the functions that the
//! binding declares, and nothing else.

use crate::{Outcome, place};
use std::path::Path;

/// What the binding names its own imports by, before it rewrites them.
const BINDING: [&str; 2] = ["__wbindgen_placeholder__", "__wbindgen_externref_xform__"];

/// Fails, naming the culprits, if the module at `path` imports anything else.
pub(crate) fn check(path: &Path) -> Outcome {
    let module = place::read(path)?;
    let imports = imports(&module).map_err(|what| format!("{}: {what}", path.display()))?;
    let strange: Vec<String> = imports
        .iter()
        .filter(|import| !allowed(import))
        .map(|import| format!("{}.{}", import.module, import.name))
        .collect();
    if strange.is_empty() {
        let functions = imports
            .iter()
            .filter(|import| import.kind == Kind::Function)
            .count();
        eprintln!(
            "the core imports {functions} functions of the binding and nothing but its memory besides"
        );
        return Ok(());
    }
    Err(format!(
        "{} imports what a core without I/O must not: {}",
        path.display(),
        strange.join(", ")
    ))
}

fn allowed(import: &Import) -> bool {
    match import.kind {
        Kind::Memory => import.module == "env" && import.name == "memory",
        Kind::Function => BINDING.contains(&import.module.as_str()),
        Kind::Other => false,
    }
}

#[derive(Debug, PartialEq)]
enum Kind {
    Function,
    Memory,
    /// A table, a global or a tag.
    Other,
}

#[derive(Debug)]
struct Import {
    module: String,
    name: String,
    kind: Kind,
}

/// Reads the import section (WebAssembly core specification, "Binary Format": modules).
fn imports(module: &[u8]) -> Outcome<Vec<Import>> {
    let body = module
        .strip_prefix(b"\0asm\x01\0\0\0")
        .ok_or("not a WebAssembly module")?;
    let mut bytes = Bytes(body);
    while !bytes.0.is_empty() {
        let section = bytes.byte()?;
        let length = bytes.number()?;
        let content = bytes.take(length)?;
        if section == 2 {
            return entries(Bytes(content));
        }
    }
    Ok(Vec::new())
}

fn entries(mut bytes: Bytes<'_>) -> Outcome<Vec<Import>> {
    let mut found = Vec::new();
    for _ in 0..bytes.number()? {
        let (module, name) = (bytes.name()?, bytes.name()?);
        let kind = match bytes.byte()? {
            0 => {
                bytes.number()?;
                Kind::Function
            }
            1 => {
                bytes.byte()?;
                bytes.limits()?;
                Kind::Other
            }
            2 => {
                bytes.limits()?;
                Kind::Memory
            }
            // A global: type and mutability; a tag: attribute and type. Two numbers each.
            3 | 4 => {
                bytes.number()?;
                bytes.number()?;
                Kind::Other
            }
            other => return Err(format!("an import of unknown kind {other}")),
        };
        found.push(Import { module, name, kind });
    }
    Ok(found)
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Outcome<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn take(&mut self, length: usize) -> Outcome<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or("the module is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    /// An unsigned LEB128 number.
    fn number(&mut self) -> Outcome<usize> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number longer than 32 bits".into())
    }

    fn name(&mut self) -> Outcome<String> {
        let length = self.number()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn limits(&mut self) -> Outcome {
        let bounded = self.byte()? & 1 == 1;
        self.number()?;
        if bounded {
            self.number()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]
    use super::{Kind, allowed, imports};

    fn module(section: &[u8]) -> Vec<u8> {
        let length = u8::try_from(section.len()).unwrap();
        [b"\0asm\x01\0\0\0\x01\x01\0", &[2, length][..], section].concat()
    }

    #[test]
    fn tells_the_bindings_imports_from_others() {
        let mut section = vec![3];
        section.extend(b"\x18__wbindgen_placeholder__\x01f\x00\x00");
        section.extend(b"\x03env\x06memory\x02\x01\x11\x80\x80\x01");
        section.extend(b"\x16wasi_snapshot_preview1\x0arandom_get\x00\x05");
        let found = imports(&module(&section)).unwrap();
        let admitted: Vec<bool> = found.iter().map(allowed).collect();
        assert_eq!(admitted, [true, true, false]);
        assert_eq!(found[1].kind, Kind::Memory);
        assert_eq!(found[2].name, "random_get");
    }

    #[test]
    fn refuses_what_is_no_module_or_cut_short() {
        assert!(imports(b"<html>").is_err());
        let whole = module(b"\x01\x03env\x01f\x00\x00");
        assert_eq!(imports(&whole).unwrap().len(), 1);
        assert!(imports(&whole[..whole.len() - 2]).is_err());
    }
}
