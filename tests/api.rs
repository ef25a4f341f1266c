//! The interface over HTTP: what every request means, and what comes of it.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test says what failed by failing"
)]

mod api_vectors;

use api_vectors::paths::canonical_of;
use api_vectors::{catalogs, conditions, described, layers, paths, served};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use sectile::api::canonical::{canonical, etag};
use sectile::api::catalog::{Allow, Catalog, Origin};
use sectile::api::route::{Routed, route};
use sectile::api::{Limits, Request};

/// Runs each case as a test of its own.
macro_rules! cases {
    ($($room:ident: $($name:ident),+;)+) => {
        $($(#[test] fn $name() { $room::$name(); })+)+
    };
}

cases! {
    paths: good_targets_have_one_canonical_form, bad_targets_are_refused, long_targets_are_refused, methods_are_those_of_the_address;
    layers: ions_have_one_name, numbers_are_rounded_once, bad_layers_are_refused;
    conditions: lists_of_tags_are_read, ranges_are_read, results_are_sent_by_ranges;
    catalogs: good_catalogs_are_read, faulty_datasets_keep_the_others, bad_documents_are_refused, private_hosts_are_refused,
        hidden_addresses_are_refused_even_where_private_ones_are_allowed, declared_images_are_checked;
    described: every_reference_leads_somewhere, every_address_is_routed_with_its_methods_and_parameters, every_parameter_of_a_path_is_in_it,
        private_datasets_are_not_named, every_problem_has_its_status_and_title;
    served: documents_tell_what_is_served, refusals_are_problems, tokens_open_private_datasets, caching_depends_on_the_address,
        work_is_asked_for_by_its_canonical_form, what_takes_too_much_is_refused_or_becomes_a_job, jobs_are_named_by_what_they_are,
        datasets_are_opened_first_and_forgotten_when_they_change;
}

/// Pieces that targets are made of, so that most of them get far.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/",
        "v1",
        "m13",
        "@01234567",
        "median",
        "count",
        "frame-",
        "mz-",
        "885.5498",
        "C6H12O6",
        "[13C]2",
        "+Na",
        "-H2O",
        "[M+K-H]+",
        "+2Na-H",
        ".png",
        ".fits",
        "/point/",
        ",",
        "0",
        "7",
        "255",
        "?",
        "&",
        "tile=512",
        "tol=",
        "3ppm",
        "0.01da",
        "norm=tic",
        "isotope=1",
        "bbox=0,0,1,1",
        "alpha=1",
        "x=1&y=2",
        "jobs",
        "0123456789abcdef",
        "spectrum",
        "statistics",
        "tilejson.json",
        "info",
        "%2f",
        "%2e",
        "%41",
        "%",
        "\u{e9}",
        "\0",
        "..",
        "#",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// Addresses that mean something, spelled in some way.
fn addresses() -> impl Strategy<Value = String> {
    let layer = prop::sample::select(vec![
        "median",
        "count",
        "frame-003",
        "mz-885.54981",
        "mz-0100",
        "C6H12O6+Na",
        "O6C6H12[M+Na]+",
        "C6H12O6[M]-",
        "C6H12O6+2Na-H",
        "[13C]2C4H12O6-H2O+H",
        "C6H12O6-H2O[M]+",
        "(CH2O)6+NH4",
        "C6H12O6%2BNa",
    ]);
    let end = prop::sample::select(vec![
        ".png",
        ".fits",
        "/0/01/2.png",
        "/point/1,02",
        "/statistics",
        "/tilejson.json",
        ".fits?bbox=01,0,2,2",
        "/2/1/0.png?tile=512&alpha=1",
        "/2/1/0.png?alpha=0",
    ]);
    let more = prop::sample::select(vec![
        "",
        "tol=3ppm",
        "tol=2.50ppm&norm=rms",
        "norm=none&tol=0.010da",
        "isotope=2",
        "isotope=0&norm=tic",
    ]);
    (layer, end, more).prop_map(|(layer, end, more)| {
        let join = match (more, end.contains('?')) {
            ("", _) => "",
            (_, true) => "&",
            (_, false) => "?",
        };
        format!("/v1/m13/{layer}{end}{join}{more}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_canonical_form_is_its_own(target in addresses()) {
        if let Ok(found) = canonical_of(&target) {
            assert_eq!(canonical_of(&found), Ok(found.clone()), "{target}");
            let Ok(Routed::To(_, one)) = route(&Request::get(&target)) else { panic!("{target}") };
            let Ok(Routed::To(_, two)) = route(&Request::get(&found)) else { panic!("{found}") };
            assert_eq!(one, two, "{target} and {found} mean the same");
        }
    }

    #[test]
    fn no_target_panics(target in pieces(), method in prop::sample::select(vec!["GET", "HEAD", "POST", "DELETE", "OPTIONS", "\0"])) {
        let request = Request { method, ..Request::get(&target) };
        match route(&request) {
            Ok(Routed::To(dataset, route)) => {
                let id = dataset.map_or_else(String::new, |dataset| format!("{}@01234567", dataset.name));
                let found = canonical(&id, &route);
                assert_eq!(etag(&found).len(), 18);
                assert!(found.is_ascii() && !found.contains(['#', ' ', '[', '\\']), "{found}");
            }
            Ok(_) => {}
            Err(problem) => assert!((400..500).contains(&problem.status)),
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>(), more in any::<Vec<u8>>()) {
        let _ = route(&Request::get(&text));
        let _ = route(&Request::get(&format!("/v1/m13/{text}.png")));
        let _ = route(&Request::get(&format!("/v1/m13/median.png?{text}")));
        let _ = Origin::parse(&text, Allow::default());
        let _ = Origin::parse(&format!("https://{text}"), Allow { private_origins: true });
        let _ = Catalog::parse(&more, Allow::default());
        let _ = sectile::api::conditions::lists(&text, "\"a\"");
        let _ = sectile::api::conditions::wanted(Some(&text), Some(&text), "\"a\"", 10);
        let entry = serde_json::json!({"sectile": 1, "datasets": {"d": {"type": "stack", "exposures": [text]}}});
        let _ = Catalog::parse(entry.to_string().as_bytes(), Allow::default());
    }

    #[test]
    fn no_broken_catalog_panics(at in 0_usize..2000, byte in any::<u8>(), cut in 0_usize..2000) {
        let text = br#"{"sectile":1,"origins":["https://a.example"],"datasets":{"d":{"type":"stack","exposures":["a.fits",{"url":"https://a.example/b","size":9,"etag":"\"x\"","image":{"hdu":0,"bitpix":8,"width":1,"height":1,"data_at":2880}}],"mask":{"hdu":"DQ","bits":1},"token":"t"},"t":{"type":"ions","store":"t","molecules":{"l":"l.csv"}}}}"#;
        let mut bytes = text.to_vec();
        let len = bytes.len();
        bytes[at % len] = byte;
        bytes.truncate(len - cut % (len / 4));
        let _ = Catalog::parse(&bytes, Allow::default());
    }
}

#[test]
fn a_service_answers_any_piece_of_an_address() {
    let service = served::service(Limits::default());
    let seen = std::cell::Cell::new(0);
    proptest!(ProptestConfig::with_cases(500), |(target in pieces())| {
        let request = Request::get(&target);
        if let sectile::api::Ask::Reply(reply) = service.ask(&request) {
            let reply = service.finish(&request, reply);
            assert!(reply.headers.iter().all(|(_, value)| value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')), "{target}: {reply:?}");
            seen.set(seen.get() + 1);
        }
    });
    assert!(seen.get() > 100);
}
