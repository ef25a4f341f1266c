//! Packages of the operating system.

use crate::{Outcome, program};
use std::process::{Command, Stdio};

/// Installs Debian packages, with sudo unless we are root.
///
/// # Errors
/// Where there is no `apt-get`, or it fails; the message then is `otherwise`, what to do by hand.
pub(crate) fn install(names: &[&str], otherwise: &str) -> Outcome {
    if program::find("apt-get").is_none() {
        return Err(otherwise.into());
    }
    eprintln!("setup: installing {} with apt-get", names.join(", "));
    let wait = ["-o", "DPkg::Lock::Timeout=300"];
    program::run(apt().arg("update").args(wait))
        .and_then(|()| {
            let mut call = apt();
            call.args(["install", "-y", "--no-install-recommends"])
                .args(wait)
                .args(names);
            program::run(&mut call)
        })
        .map_err(|reason| format!("{reason}. {otherwise}"))
}

fn apt() -> Command {
    let root = program::output(program::command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = if root {
        program::command("apt-get")
    } else {
        let mut sudo = program::command("sudo");
        sudo.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        if !program::unattended() {
            // It may ask for the password.
            sudo.stdin(Stdio::inherit());
        }
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
