//! The npm package: the modules that are a library, the built core, and types.

use crate::setup::node;
use crate::{Outcome, addresses, place, program};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What a user of the package can import, and the file behind it.
const DOORS: [(&str, &str); 13] = [
    (".", "core/index.js"),
    ("./ions", "core/ions.js"),
    ("./ions/client", "ions/client.js"),
    ("./ions/worker", "ions/compute.js"),
    ("./ions.wasm", "pkg/ions/ions_bg.wasm"),
    ("./annotations", "core/annotations.js"),
    ("./annotations/client", "ions/annotator.js"),
    ("./annotations/worker", "ions/annotate.js"),
    ("./annotations.wasm", "pkg/annotate/annotate_bg.wasm"),
    ("./view", "view/view.js"),
    ("./client", "app/client.js"),
    ("./worker", "app/compute.js"),
    ("./core.wasm", "pkg/sectile_bg.wasm"),
];

/// Types that no module imports by name but the binding's own types do.
const BINDING_TYPES: [&str; 6] = [
    "pkg/sectile.d.ts",
    "pkg/sectile_bg.wasm.d.ts",
    "pkg/ions/ions.d.ts",
    "pkg/ions/ions_bg.wasm.d.ts",
    "pkg/annotate/annotate.d.ts",
    "pkg/annotate/annotate_bg.wasm.d.ts",
];

/// Builds target/dist/npm from the built site.
///
/// # Errors
/// If a door's file, or one that it imports, is missing; if a rooted path or a host is named.
pub(crate) fn build() -> Outcome {
    let (site, package) = (place::site(), place::npm());
    let dist = package.join("dist");
    place::empty(&package)?;
    let mut wanted = reached(&site)?;
    wanted.extend(BINDING_TYPES.iter().map(PathBuf::from));
    for file in &wanted {
        place::write(&dist.join(file), &place::read(&site.join(file))?)?;
    }
    types(&dist)?;
    place::write(&package.join("package.json"), manifest(&dist)?.as_bytes())?;
    addresses::check(&package)?;
    try_it(&package)?;
    // What people read may link to wherever it likes.
    for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        place::write(
            &package.join(name),
            &place::read(&place::root().join(name))?,
        )?;
    }
    eprintln!("npm: {} files in {}", wanted.len(), place::shown(&package));
    Ok(())
}

/// The doors' files and everything they import, relative to `site`.
fn reached(site: &Path) -> Outcome<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = DOORS.iter().map(|(_, file)| PathBuf::from(file)).collect();
    while let Some(file) = open.pop() {
        if !site.join(&file).is_file() {
            return Err(format!(
                "the npm package needs www/{}, which is not there",
                file.display()
            ));
        }
        if place::extension(&file) == "js" {
            let folder = file.parent().unwrap_or(Path::new(""));
            let text = place::read_text(&site.join(&file))?;
            let named = references(&text)
                .into_iter()
                .map(|name| joined(folder, name));
            open.extend(named.filter(|path| !found.contains(path)));
        }
        found.insert(file);
    }
    Ok(found)
}

/// The relative files that a module names: imports, re-exports, workers and assets.
fn references(module: &str) -> Vec<&str> {
    let starts = [
        "from '",
        "from \"",
        "import '",
        "import \"",
        "import('",
        "import(\"",
        "new URL('",
        "new URL(\"",
    ];
    let mut found = Vec::new();
    // Examples in comments name packages and files that are not ours.
    let code = module
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']));
    for line in code {
        for start in starts {
            for (at, _) in line.match_indices(start) {
                let rest = &line[at + start.len()..];
                let name = rest.split(['\'', '"']).next().unwrap_or("");
                if name.starts_with("./") || name.starts_with("../") {
                    found.push(name);
                }
            }
        }
    }
    found
}

fn joined(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.to_path_buf();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path
}

/// Writes a `.d.ts` beside every module, from the types in its comments.
fn types(dist: &Path) -> Outcome {
    node::packages()?;
    // Not the binding's own modules, which come with types.
    let modules = place::files(dist)?
        .into_iter()
        .filter(|file| place::extension(file) == "js" && !file.with_extension("d.ts").is_file());
    let modules: Vec<String> = modules.map(|file| json(&file)).collect();
    let folder = json(dist);
    let settings = place::root().join("target/dist/types.json");
    let text = format!(
        r#"{{
  "compilerOptions": {{
    "allowJs": true, "declaration": true, "emitDeclarationOnly": true, "skipLibCheck": true,
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "types": [],
    "lib": ["es2022", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
    "rootDir": {folder}, "outDir": {folder}
  }},
  "files": [{}]
}}"#,
        modules.join(", ")
    );
    place::write(&settings, text.as_bytes())?;
    let mut compile = program::command("node");
    program::run(
        compile
            .args(["node_modules/typescript/bin/tsc", "-p"])
            .arg(settings),
    )
}

/// A path as a string of JSON.
fn json(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "/"))
}

/// Imports the package by its name, as a user would, and asks for what its example uses.
fn try_it(package: &Path) -> Outcome {
    let script = "const { init, Stack } = await import('sectile'); \
                  if (typeof init !== 'function' || typeof Stack?.open !== 'function') \
                  throw new Error('the package exports no init and Stack.open'); \
                  const ions = await import('sectile/ions'); \
                  for (const call of [ions.init, ions.pack, ions.planPack, ions.IonStore?.open]) \
                  if (typeof call !== 'function') \
                  throw new Error('sectile/ions lacks init, pack, planPack or IonStore.open'); \
                  const annotations = await import('sectile/annotations'); \
                  for (const call of [annotations.init, annotations.readMolecules, annotations.Annotation?.open]) \
                  if (typeof call !== 'function') \
                  throw new Error('sectile/annotations lacks init, readMolecules or Annotation.open')";
    let mut node = program::command("node");
    node.args(["--input-type=module", "--eval", script])
        .current_dir(package);
    program::run(&mut node)
}

fn manifest(dist: &Path) -> Outcome<String> {
    let ours = place::read_text(&place::root().join("Cargo.toml"))?;
    let (version, about) = (field(&ours, "version")?, field(&ours, "description")?);
    let mut doors = Vec::new();
    for (door, file) in DOORS {
        let types = Path::new(file).with_extension("d.ts");
        let line = if dist.join(&types).is_file() {
            let types = types.to_string_lossy().replace('\\', "/");
            format!(r#"    "{door}": {{ "types": "./dist/{types}", "default": "./dist/{file}" }}"#)
        } else {
            format!(r#"    "{door}": "./dist/{file}""#)
        };
        doors.push(line);
    }
    doors.push(r#"    "./package.json": "./package.json""#.into());
    let doors = doors.join(",\n");
    Ok(format!(
        r#"{{
  "name": "sectile",
  "version": "{version}",
  "description": "{about}",
  "license": "MIT OR Apache-2.0",
  "type": "module",
  "sideEffects": ["./dist/app/compute.js", "./dist/ions/compute.js", "./dist/ions/annotate.js"],
  "files": ["dist"],
  "engines": {{ "node": ">=20" }},
  "exports": {{
{doors}
  }}
}}
"#
    ))
}

/// A string of the `[package]` section.
fn field(manifest: &str, name: &str) -> Outcome<String> {
    let package = manifest.split("\n[package]\n").nth(1).unwrap_or("");
    let start = format!("{name} = \"");
    package
        .lines()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or_else(|| format!("Cargo.toml states no {name} for the package"))
}

#[cfg(test)]
mod tests {
    use super::{field, joined, references};
    use std::path::Path;

    #[test]
    fn follows_imports_workers_and_assets_but_not_examples() {
        let module = "import { a } from './a.js';\nexport * from \"../b.js\";\n * import x from './example.js'\n\
                      new Worker(new URL('./w.js', import.meta.url));\nimport 'sectile';";
        assert_eq!(references(module), ["./a.js", "../b.js", "./w.js"]);
        assert_eq!(
            joined(Path::new("app"), "../core/x.js"),
            Path::new("core/x.js")
        );
        assert_eq!(joined(Path::new(""), "./x.js"), Path::new("x.js"));
    }

    #[test]
    fn reads_the_packages_own_fields() {
        let text = "[workspace]\n[workspace.package]\nversion = \"9\"\n\n[package]\nname = \"x\"\nversion = \"1.2.3\"\n[lib]\n";
        assert_eq!(field(text, "version").as_deref(), Ok("1.2.3"));
        assert!(field(text, "description").is_err());
    }
}
