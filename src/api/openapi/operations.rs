//! Addresses and what may come back from each.

use serde_json::{Map, Value, json};

/// Statuses of every address.
const ALWAYS: [u16; 3] = [400, 405, 414];

/// Statuses of every address of a dataset.
const OF_DATASET: [u16; 6] = [401, 404, 413, 500, 502, 503];

/// Statuses where the catalog itself cannot be had.
const OF_CATALOG: [u16; 3] = [500, 502, 503];

/// What a layer is told by.
const OF_LAYER: [&str; 3] = ["isotope", "norm", "tol"];

/// An operation in the making.
struct Operation {
    name: &'static str,
    tag: &'static str,
    summary: &'static str,
    parameters: Vec<&'static str>,
    answers: Map<String, Value>,
}

impl Operation {
    fn new(name: &'static str, tag: &'static str, summary: &'static str) -> Self {
        let mut new = Self {
            name,
            tag,
            summary,
            parameters: Vec::new(),
            answers: Map::new(),
        };
        new.problems(&ALWAYS);
        new
    }

    /// An operation on a dataset, with the parameters of its path.
    fn of(
        name: &'static str,
        tag: &'static str,
        summary: &'static str,
        path: &[&'static str],
    ) -> Self {
        let mut new = Self::new(name, tag, summary);
        new.parameters.push("dataset");
        new.parameters.extend(path);
        new.problems(&OF_DATASET);
        new
    }

    fn problems(&mut self, statuses: &[u16]) {
        for status in statuses {
            let reference = format!("#/components/responses/{status}");
            self.answers
                .insert(status.to_string(), json!({"$ref": reference}));
        }
    }

    fn with(mut self, statuses: &[u16]) -> Self {
        self.problems(statuses);
        self
    }

    fn takes(mut self, parameters: &[&'static str]) -> Self {
        self.parameters.extend(parameters);
        self
    }

    fn answer(mut self, status: u16, what: &str, content: &Value, headers: &[&str]) -> Self {
        let mut answer = json!({"description": what, "content": content});
        if !headers.is_empty() {
            answer["headers"] = headers
                .iter()
                .map(|name| {
                    let reference = format!("#/components/headers/{name}");
                    ((*name).to_owned(), json!({"$ref": reference}))
                })
                .collect::<Map<_, _>>()
                .into();
        }
        self.answers.insert(status.to_string(), answer);
        self
    }

    /// A document of this schema, with an entity tag.
    fn document(self, schema: &str) -> Self {
        self.answer(200, "It.", &of_schema(schema), &["ETag"])
            .with(&[304])
    }

    fn done(self) -> Value {
        let parameters: Vec<Value> = self
            .parameters
            .iter()
            .map(|name| json!({"$ref": format!("#/components/parameters/{name}")}))
            .collect();
        json!({
            "operationId": self.name,
            "tags": [self.tag],
            "summary": self.summary,
            "parameters": parameters,
            "responses": self.answers,
        })
    }
}

fn of_schema(name: &str) -> Value {
    json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}})
}

fn of_media(media: &[&str]) -> Value {
    let members = media.iter().map(|media| ((*media).to_owned(), json!({})));
    Value::Object(members.collect())
}

/// All addresses.
pub(super) fn paths() -> Value {
    let mut all = Map::new();
    let mut get = |path: &str, operation: Operation| {
        all.insert(path.to_owned(), json!({"get": operation.done()}));
    };
    let service = Operation::new(
        "service",
        "service",
        "What is served: datasets, limits, links.",
    );
    get("/v1", service.with(&OF_CATALOG).document("Service"));
    let openapi = Operation::new("openapi", "service", "This document.");
    get(
        "/openapi.json",
        openapi.with(&OF_CATALOG).document("OpenApi"),
    );
    let info = |name| Operation::of(name, "service", "What a dataset is.", &[]).document("Info");
    get("/v1/{dataset}", info("dataset"));
    get("/v1/{dataset}/info", info("info"));
    get("/v1/{dataset}/{layer}/{z}/{x}/{y}.png", tile());
    get(
        "/v1/{dataset}/{layer}.png",
        cutout(
            "cutoutPng",
            "A part of a layer as a 16-bit PNG.",
            "image/png",
            &["ETag", "X-BZERO", "X-BSCALE", "X-BLANK"],
        ),
    );
    get(
        "/v1/{dataset}/{layer}.fits",
        cutout(
            "cutoutFits",
            "A part of a layer as FITS.",
            "image/fits",
            &["ETag"],
        ),
    );
    let point = Operation::of(
        "point",
        "pictures",
        "One value of a layer.",
        &["layer", "x", "y"],
    );
    get(
        "/v1/{dataset}/{layer}/point/{x},{y}",
        point.takes(&OF_LAYER).document("Point"),
    );
    let spectrum = Operation::of(
        "spectrum",
        "pictures",
        "The values of a pixel, or the mean spectrum.",
        &[],
    );
    get(
        "/v1/{dataset}/spectrum",
        spectrum.takes(&["column", "row"]).document("Spectrum"),
    );
    let statistics = Operation::of(
        "statistics",
        "pictures",
        "Numbers about a layer.",
        &["layer"],
    );
    let statistics = statistics.takes(&["bbox"]).takes(&OF_LAYER);
    get(
        "/v1/{dataset}/{layer}/statistics",
        statistics.document("Statistics"),
    );
    let tilejson = Operation::of(
        "tilejson",
        "pictures",
        "A layer as map libraries read it: TileJSON 3.0.0.",
        &["layer"],
    );
    get(
        "/v1/{dataset}/{layer}/tilejson.json",
        tilejson.takes(&OF_LAYER).document("TileJson"),
    );
    get("/v1/{dataset}/jobs/{job}/{file}", job_file());
    all.insert("/v1/{dataset}/jobs".to_owned(), json!({"post": job_new()}));
    all.insert("/v1/{dataset}/jobs/{job}".to_owned(), job());
    Value::Object(all)
}

fn tile() -> Operation {
    Operation::of(
        "tile",
        "pictures",
        "A 16-bit grey tile; y counts down.",
        &["layer", "z", "x", "y"],
    )
    .takes(&["alpha", "tile"])
    .takes(&OF_LAYER)
    .answer(
        200,
        "The tile.",
        &of_media(&["image/png"]),
        &["ETag", "X-BZERO", "X-BSCALE", "X-BLANK"],
    )
    .answer(
        202,
        "It takes too much; this job makes it possible.",
        &of_schema("Job"),
        &["Location"],
    )
    .with(&[204, 304])
}

fn cutout(name: &'static str, summary: &'static str, media: &str, headers: &[&str]) -> Operation {
    Operation::of(name, "pictures", summary, &["layer"])
        .takes(&["bbox"])
        .takes(&OF_LAYER)
        .answer(200, "The picture.", &of_media(&[media]), headers)
        .with(&[304])
}

fn job_new() -> Value {
    let operation = Operation::of("begin", "jobs", "Begins a job, unless it is there.", &[])
        .answer(200, "It is there.", &of_schema("Job"), &["Location"])
        .answer(202, "It has begun.", &of_schema("Job"), &["Location"])
        .with(&[415]);
    let mut operation = operation.done();
    for status in ["200", "202"] {
        operation["responses"][status]["links"] = links();
    }
    operation["requestBody"] = json!({"required": true, "content": of_schema("JobRequest")});
    operation
}

/// Where a job that has begun is to be found.
fn links() -> Value {
    let parameters = json!({"dataset": "$request.path.dataset", "job": "$response.body#/id"});
    let link = |operation: &str| json!({"operationId": operation, "parameters": parameters});
    json!({"progress": link("progress"), "cancel": link("cancel")})
}

fn job() -> Value {
    let path = ["job"];
    let progress = Operation::of("progress", "jobs", "How far a job is.", &path);
    let progress = progress.answer(200, "The progress.", &of_schema("Job"), &[]);
    let mut cancel = Operation::of(
        "cancel",
        "jobs",
        "Cancels a job and removes all that it left.",
        &path,
    );
    let gone = json!({"description": "It is gone."});
    cancel.answers.insert("204".to_owned(), gone);
    json!({"get": progress.done(), "delete": cancel.done()})
}

fn job_file() -> Operation {
    let media = [
        "application/fits",
        "text/csv",
        "application/json",
        "application/octet-stream",
    ];
    Operation::of(
        "result",
        "jobs",
        "A result of a job, or a range of it.",
        &["job", "file"],
    )
    .answer(200, "The file.", &of_media(&media), &["ETag"])
    .answer(206, "The range.", &of_media(&media), &["ETag"])
    .with(&[304, 409, 416])
}
