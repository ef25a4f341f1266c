//! Requests and answers as JavaScript has them.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::api::{Reply, Request};
use crate::wasm::record::Record;

/// The line of a request and the headers that matter, in the order in which `www/edge/visit.js` lists them.
#[derive(Debug)]
pub(in crate::wasm) struct Asking([Option<String>; 8]);

impl Asking {
    pub(in crate::wasm) fn new(given: &Array) -> Self {
        Self([0, 1, 2, 3, 4, 5, 6, 7].map(|at| given.get(at).as_string()))
    }

    pub(in crate::wasm) fn request(&self) -> Request<'_> {
        let [
            method,
            target,
            authorization,
            content_type,
            if_none_match,
            if_range,
            origin,
            range,
        ] = &self.0;
        Request {
            method: method.as_deref().unwrap_or_default(),
            target: target.as_deref().unwrap_or_default(),
            authorization: authorization.as_deref(),
            content_type: content_type.as_deref(),
            if_none_match: if_none_match.as_deref(),
            if_range: if_range.as_deref(),
            origin: origin.as_deref(),
            range: range.as_deref(),
        }
    }
}

/// `{status, headers: [name, value, name, value, …], body}`; no body where there is none to send.
pub(in crate::wasm) fn plain(reply: &Reply) -> JsValue {
    let headers = Array::new();
    for (name, value) in &reply.headers {
        headers.push(&JsValue::from_str(name));
        headers.push(&JsValue::from_str(value));
    }
    let body = match reply.body.as_slice() {
        [] => JsValue::UNDEFINED,
        bytes => Uint8Array::from(bytes).into(),
    };
    Record::new()
        .number("status", reply.status)
        .with("headers", &headers)
        .with("body", &body)
        .into()
}
