//! `sectile serve`: the pages at `/`, a folder of data by ranges at `/data/`, its datasets at `/v1`.
//!
//! A static server of our own, since the usual ones lack what range readers need: strong `ETag`s with
//! `If-Range`, and CORS that exposes `Content-Range`.

mod api;
mod conditions;
mod path;
mod policy;
mod respond;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::cli::arguments::Serve;
use crate::cli::failure::{Failure, Result};
use crate::cli::report::Report;
use api::Api;

/// How long running transfers may go on after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Debug)]
struct Site {
    /// The real path of the folder of data.
    data: PathBuf,
    /// The real path of the folder of pages, if there are any.
    pages: Option<PathBuf>,
    /// Whether its files are shown as they are.
    shows_data: bool,
    /// The datasets of the folder of data.
    api: Arc<Api>,
}

/// Runs `sectile serve` until Ctrl-C.
pub fn run(arguments: &Serve, report: &mut Report) -> Result<()> {
    let data = folder(&arguments.folder)?;
    let (warn, warnings) = unbounded_channel();
    let site = Site {
        shows_data: !arguments.no_data,
        api: Api::new(arguments, &data, warn)?,
        pages: pages(arguments.pages.as_deref())?,
        data,
    };
    if site.pages.is_none() {
        report.warn("there are no pages here, so only data is served; --pages names their folder");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the server: {error}")))?;
    let address = SocketAddr::new(arguments.host, arguments.port);
    let served = runtime.block_on(serve(site, address, warnings, report));
    // A file that is being read must not keep the program.
    runtime.shutdown_timeout(GRACE);
    served
}

async fn serve(
    site: Site,
    address: SocketAddr,
    warnings: UnboundedReceiver<String>,
    report: &Report,
) -> Result<()> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| refused(address, &error))?;
    let bound = listener
        .local_addr()
        .map_err(|error| refused(address, &error))?;
    // Before the address is told: whoever reads it may stop the server at once.
    let end = interrupted()?;
    let url = format!("http://{bound}/");
    report.line(&url);
    report.event(
        "listening",
        json!({
            "url": url,
            "data": site.data.to_string_lossy(),
            "pages": site.pages.as_ref().map(|pages| pages.to_string_lossy()),
        }),
    );
    if site.shows_data {
        report.detail(1, &format!("{} is at {url}data/", site.data.display()));
    }
    report.detail(1, &format!("its datasets are at {url}v1"));
    let router = Router::new()
        .fallback(respond::respond)
        .with_state(Arc::new(site));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = axum::serve(listener, router).with_graceful_shutdown(async {
        // A sender that is gone means the same.
        let _ = stopped.await;
    });
    let server = tokio::spawn(server.into_future());
    warned_until(end, warnings, report).await;
    let _ = stop.send(());
    // Transfers that take longer than that are cut: the user asked for the end.
    let _ = tokio::time::timeout(GRACE, server).await;
    report.done(&sectile::job::Tally::default());
    Ok(())
}

/// Says what the catalog's reader warns of, until the end.
async fn warned_until(
    end: impl Future<Output = ()>,
    mut warnings: UnboundedReceiver<String>,
    report: &Report,
) {
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return,
            Some(warning) = warnings.recv() => report.warn(&warning),
        }
    }
}

/// Listens from the call on; the future ends with the first signal.
#[cfg(unix)]
fn interrupted() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| {
        signal(kind).map_err(|error| Failure::failed(format!("cannot listen for Ctrl-C: {error}")))
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(std::future::poll_fn(move |context| {
        if interrupt.poll_recv(context).is_ready() || terminate.poll_recv(context).is_ready() {
            return std::task::Poll::Ready(());
        }
        std::task::Poll::Pending
    }))
}

/// Listens from the call on; the future ends with Ctrl-C.
#[cfg(windows)]
fn interrupted() -> Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()
        .map_err(|error| Failure::failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(async move {
        interrupt.recv().await;
    })
}

fn refused(address: SocketAddr, error: &io::Error) -> Failure {
    let port = address.port();
    Failure::failed(match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} is in use; choose another with --port, or --port 0 for any free one"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("port {port} is not allowed for you; choose one above 1023 with --port")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}

/// The real path of a folder.
fn folder(path: &Path) -> Result<PathBuf> {
    let real = path
        .canonicalize()
        .map_err(|error| Failure::file(path, "cannot serve it", &error))?;
    if !real.is_dir() {
        return Err(Failure::input(
            "file",
            format!("{}: not a folder", path.display()),
        ));
    }
    Ok(real)
}

/// The folder of pages: the one named, else `www` beside the program, else a built site here.
fn pages(named: Option<&Path>) -> Result<Option<PathBuf>> {
    if let Some(named) = named {
        return folder(named).map(Some);
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("www")));
    let built = PathBuf::from("target/dist/site");
    let found = beside
        .into_iter()
        .chain([built])
        .find(|pages| pages.join("index.html").is_file());
    found.as_deref().map(folder).transpose()
}
