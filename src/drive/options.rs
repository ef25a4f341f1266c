//! How to talk to servers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, header};

use super::error::Error;
use super::http::CHUNK;
use super::policy::Patience;

/// Most hops from one URL to another, unless none is allowed.
const REDIRECTS: usize = 10;

/// Headers, patience and timeouts of a client. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Options {
    headers: Vec<(HeaderName, HeaderValue)>,
    patience: Patience,
    connect: Duration,
    silence: Duration,
    redirects: usize,
    agent: Arc<OnceLock<Agent>>,
}

impl Default for Options {
    /// No own headers, six tries, 10 s to connect, 30 s of silence, ten redirects.
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            patience: Patience::default(),
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            redirects: REDIRECTS,
            agent: Arc::default(),
        }
    }
}

impl Options {
    /// Adds a header to all requests, for instance `Authorization`.
    ///
    /// It goes to the origin of the URL that was opened and, after a redirect, to no other. It is
    /// never shown in a message.
    ///
    /// # Errors
    /// [`Parameter`](crate::error::Error::Parameter) if the name or the value is not allowed in
    /// HTTP, or if the header is one that ranges depend on.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let wrong = |what: &str| crate::error::Error::Parameter {
            name: "--header",
            what: format!("{name:?} {what}"),
        };
        let field: HeaderName = name
            .trim()
            .parse()
            .map_err(|_| wrong("is not a header name; write for instance Authorization"))?;
        let mut value: HeaderValue = value
            .trim()
            .parse()
            .map_err(|_| wrong("has a value with bytes that HTTP does not allow"))?;
        if [
            header::RANGE,
            header::ACCEPT_ENCODING,
            header::IF_RANGE,
            header::IF_MATCH,
        ]
        .contains(&field)
        {
            return Err(wrong("is set by the program itself").into());
        }
        value.set_sensitive(true);
        self.headers.push((field, value));
        Ok(self)
    }

    /// How long to put up with a server's faults.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Most time to connect, and most time without a byte.
    #[must_use]
    pub fn with_timeouts(mut self, connect: Duration, silence: Duration) -> Self {
        (self.connect, self.silence) = (connect, silence);
        self.agent = Arc::default();
        self
    }

    /// Takes a redirect for an answer that cannot be used, wherever it leads.
    #[must_use]
    pub fn without_redirects(mut self) -> Self {
        self.redirects = 0;
        self
    }

    /// Most hops from one URL to another before an answer counts.
    pub(super) fn redirects(&self) -> usize {
        self.redirects
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(super) fn patience(&self) -> Patience {
        self.patience
    }

    /// The connections that walks share.
    pub(super) fn shared_agent(&self) -> Agent {
        self.agent.get_or_init(|| self.own_agent(6)).clone()
    }

    /// Fresh connections, so that stopping them stops nothing else.
    pub(super) fn own_agent(&self, in_flight: usize) -> Agent {
        Agent::config_builder()
            .http_status_as_error(false)
            // Followed here: the client would send our headers along, and forget the range.
            .max_redirects(0)
            .user_agent(concat!("sectile/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(self.connect))
            .timeout_connect(Some(self.connect))
            .timeout_recv_response(Some(self.silence))
            .timeout_per_read(Some(self.silence))
            .timeout_per_write(Some(self.silence))
            .input_buffer_size(CHUNK)
            .output_buffer_size(8 << 10)
            .max_idle_connections(in_flight)
            .max_idle_connections_per_host(in_flight)
            .build()
            .into()
    }
}
