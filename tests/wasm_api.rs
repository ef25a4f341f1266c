//! The interface over HTTP in a browser's dedicated worker: requests mean what they mean natively.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    missing_docs,
    reason = "a test says what failed by failing"
)]

mod api_vectors;

use api_vectors::{catalogs, conditions, described, layers, paths, served};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Runs each case as a test of its own.
macro_rules! cases {
    ($($room:ident: $($name:ident),+;)+) => {
        $($(#[wasm_bindgen_test] fn $name() { $room::$name(); })+)+
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
