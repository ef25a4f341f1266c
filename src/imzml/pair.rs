//! Which `.ibd` belongs to an `.imzML`: the one of the same stem, in any case.

/// Whether a path or URL ends in `.imzML`, in any case.
#[must_use]
pub fn is_imzml(name: &str) -> bool {
    stem(name, ".imzml").is_some()
}

/// Whether a path or URL ends in `.ibd`, in any case.
#[must_use]
pub fn is_ibd(name: &str) -> bool {
    stem(name, ".ibd").is_some()
}

/// The names under which the partner of an `.imzML` is looked for, the likeliest first; none if it is
/// not called that.
///
/// The stem is left as it is, blanks, letters and percent signs and all; so is a URL's query, which
/// may hold the right to read.
///
/// ```
/// use sectile::imzml::pair::candidates;
/// assert_eq!(candidates("a b.imzML"), ["a b.ibd", "a b.IBD", "a b.Ibd"]);
/// let url = "https://example.org/a%20b.IMZML?key=1";
/// assert_eq!(candidates(url)[0], "https://example.org/a%20b.IBD?key=1");
/// ```
#[must_use]
pub fn candidates(imzml: &str) -> Vec<String> {
    let Some((stem, after)) = stem(imzml, ".imzml") else {
        return Vec::new();
    };
    let suffix = &imzml[stem.len()..imzml.len() - after.len()];
    let order = if suffix.bytes().any(|b| b.is_ascii_lowercase()) {
        [".ibd", ".IBD", ".Ibd"]
    } else {
        [".IBD", ".ibd", ".Ibd"]
    };
    order.map(|suffix| format!("{stem}{suffix}{after}")).into()
}

/// Whether two names, of files side by side, make a pair.
#[must_use]
pub fn belong(imzml: &str, ibd: &str) -> bool {
    match (stem(imzml, ".imzml"), stem(ibd, ".ibd")) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => false,
    }
}

/// What stands before a suffix, and a URL's query and fragment after it.
fn stem<'a>(name: &'a str, suffix: &str) -> Option<(&'a str, &'a str)> {
    let end = if name.contains("://") {
        name.find(['?', '#']).unwrap_or(name.len())
    } else {
        name.len()
    };
    let (path, after) = name.split_at(end);
    let at = path.len().checked_sub(suffix.len())?;
    let (stem, found) = path.split_at_checked(at)?;
    let named = !stem.is_empty() && !stem.ends_with(['/', '\\']);
    (named && found.eq_ignore_ascii_case(suffix)).then_some((stem, after))
}
