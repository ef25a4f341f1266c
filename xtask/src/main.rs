//! What a newcomer and CI run.
fn main() {}
