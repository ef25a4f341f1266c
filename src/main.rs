//! The `sectile` program: the library, a terminal and a file system.

#![allow(
    unreachable_pub,
    reason = "`pub(crate)` everywhere would only say again that a program exports nothing"
)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
