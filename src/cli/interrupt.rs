//! Ctrl-C and its kin: the first asks to stop, the second stops.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::failure::{Failure, Result};

/// Set by the first signal; long work looks at it.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to listen for SIGINT, SIGTERM and SIGHUP (Ctrl-C and closing the window elsewhere).
pub fn listen() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(&ASKED)
}

/// Whether someone asked to stop.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// An early end, if someone asked for it.
pub fn check() -> Result<()> {
    if is_asked() {
        return Err(Failure::interrupted("interrupted"));
    }
    Ok(())
}
