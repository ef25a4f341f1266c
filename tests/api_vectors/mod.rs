//! Requests and catalogs with what has to come of them: the same natively and in WebAssembly.

pub(crate) mod catalogs;
pub(crate) mod conditions;
pub(crate) mod described;
pub(crate) mod layers;
pub(crate) mod paths;
pub(crate) mod served;
