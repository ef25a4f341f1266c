//! Names of layers, good and bad.

use sectile::api::layer::{Given, IonOf, Layer};
use sectile::ion::normalise::Normalise;
use sectile::ion::window::Tolerance;

fn parsed(name: &str) -> Layer {
    Layer::parse(name, &Given::default()).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

/// Names, the canonical one, and the charge that the ion has by its text alone.
const IONS: [(&str, &str, Option<i8>); 20] = [
    ("C6H12O6+H", "C6H12O6+H", None),
    ("C6H12O6+Na", "C6H12O6+Na", None),
    ("C6H12O6[M+Na]+", "C6H12O6+Na", None),
    ("C6H12O6-H", "C6H12O6-H", None),
    ("C6H12O6[M-H]-", "C6H12O6-H", None),
    ("C6H12O6[M]+", "C6H12O6[M]+", Some(1)),
    ("C6H12O6[M]-", "C6H12O6[M]-", Some(-1)),
    ("C6H12O6-H2O+H", "C6H12O6-H2O+H", None),
    ("C6H12O6-H2O[M]+", "C6H12O6[M-H2O]+", Some(1)),
    ("C6H12O6+K-H", "C6H12O6+K-H", None),
    ("C6H12O6[M+K-H]+", "C6H12O6[M+K-H]+", Some(1)),
    ("C6H12O6[M+K-H]-", "C6H12O6[M+K-H]-", Some(-1)),
    ("C6H12O6+2Na-H", "C6H12O6[M+Na2-H]+", Some(1)),
    ("C6H12O6+NH4", "C6H12O6+H4N", None),
    ("C6H12O6+CH3COO", "C6H12O6+C2H3O2", None),
    ("H12(CO)6+H", "C6H12O6+H", None),
    ("[13C]6H12O6+H", "[13C]6H12O6+H", None),
    ("(CH2)6(OH)0O6+H", "", None),
    ("C8H11NO2.HCl+H", "C8H12NO2Cl+H", None),
    ("CuSO4.5H2O+Na", "H10O9SCu+Na", None),
];

pub(crate) fn ions_have_one_name() {
    for (name, wanted, charge) in IONS {
        if wanted.is_empty() {
            assert!(Layer::parse(name, &Given::default()).is_err(), "{name}");
            continue;
        }
        let layer = parsed(name);
        assert_eq!(layer.to_string(), wanted, "{name}");
        assert_eq!(
            parsed(wanted),
            layer,
            "{name}: the canonical name means the same"
        );
        let Layer::Ion {
            what: IonOf::Formula { modifier, .. },
            ..
        } = layer
        else {
            panic!("{name} is an ion");
        };
        assert_eq!(modifier.charge(), charge, "{name}");
    }
}

pub(crate) fn numbers_are_rounded_once() {
    for (text, mz) in [
        ("mz-885.5498", 885.5498),
        ("mz-885.54975", 885.5498),
        ("mz-885.549749", 885.5497),
        ("mz-0.0001", 0.0001),
        ("mz-99999.9999", 99_999.999_9),
        ("mz-00001", 1.0),
    ] {
        let Layer::Ion {
            what: IonOf::Mz(found),
            tol,
            norm,
        } = parsed(text)
        else {
            panic!("{text} is an m/z");
        };
        assert_eq!(found.to_bits(), f64::to_bits(mz), "{text}");
        assert_eq!((tol, norm), (Tolerance::Ppm(3.0), Normalise::None));
    }
    for (tol, wanted) in [
        ("3ppm", None),
        ("3.0000ppm", None),
        ("0.0001ppm", Some("0.0001ppm")),
        ("1000ppm", Some("1000ppm")),
        ("2.50ppm", Some("2.5ppm")),
        ("0.01da", Some("0.01da")),
        ("10.000000da", Some("10da")),
        ("0.0000014da", Some("0.000001da")),
    ] {
        let given = Given {
            tol: Some(tol),
            ..Given::default()
        };
        let layer = Layer::parse("mz-100", &given).unwrap();
        let found = layer.parameters();
        let found = found.first().map(|(_, value)| value.as_str());
        assert_eq!(found, wanted, "{tol}");
    }
}

pub(crate) fn bad_layers_are_refused() {
    for (name, status) in [
        ("mean", 404),
        ("Median", 404),
        ("median ", 404),
        ("frame-0", 404),
        ("frame-", 400),
        ("frame-1x", 400),
        ("frame--1", 400),
        ("frame-99999999999", 404),
        ("frame", 404),
        ("mz-", 400),
        ("mz-abc", 400),
        ("mz-1e3", 400),
        ("mz--1", 400),
        ("mz-+1", 400),
        ("mz-1.", 400),
        ("mz-.5", 400),
        ("mz-nan", 400),
        ("mz-inf", 400),
        ("mz-0", 404),
        ("mz-0.00004", 404),
        ("mz-100000", 404),
        ("mz-1.00000000000000000000000000", 400),
        ("mz-\u{661}", 400),
        ("C6H12O6", 404),
        ("Xx+H", 404),
        ("C6H12O6+Xx", 404),
        ("C6H12O6+", 404),
        ("C6H12O6-H99", 404),
        ("C0+H", 404),
        ("+H", 404),
        ("[M+H]+", 404),
        ("C6H12O6[M+H]", 404),
        ("C6H12O6[M+H]2+", 404),
        ("c6h12o6+H", 404),
        ("((((((((((((((((((((((((((((((((((((((C)+H", 404),
        ("C999999999999+H", 404),
        ("\u{e9}+H", 404),
        ("", 404),
    ] {
        let problem = Layer::parse(name, &Given::default()).expect_err(name);
        assert_eq!(problem.status, status, "{name}: {problem}");
    }
    let given = |tol, norm, isotope| Given { tol, norm, isotope };
    for (name, given, status) in [
        ("median", given(Some("3ppm"), None, None), 404),
        ("rms", given(None, Some("rms"), None), 404),
        ("count", given(None, Some("tic"), None), 404),
        ("frame-1", given(None, None, Some("0")), 404),
        ("mz-100", given(None, None, Some("0")), 404),
        ("C6H12O6+H", given(None, None, Some("4")), 400),
        ("C6H12O6+H", given(None, None, Some("-1")), 400),
        ("mz-100", given(None, Some("TIC"), None), 400),
        ("mz-100", given(Some("3"), None, None), 400),
        ("mz-100", given(Some("ppm"), None, None), 400),
        ("mz-100", given(Some("3 ppm"), None, None), 400),
        ("mz-100", given(Some("3Da"), None, None), 400),
        ("mz-100", given(Some("-3ppm"), None, None), 400),
        ("mz-100", given(Some("1e1ppm"), None, None), 400),
        ("mz-100", given(Some("0ppm"), None, None), 404),
        ("mz-100", given(Some("1000.1ppm"), None, None), 404),
        ("mz-100", given(Some("10.1da"), None, None), 404),
        ("mz-100", given(Some(""), None, None), 400),
    ] {
        let problem = Layer::parse(name, &given).expect_err(name);
        assert_eq!(problem.status, status, "{name} {given:?}: {problem}");
    }
}
