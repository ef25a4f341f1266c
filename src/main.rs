//! The `sectile` program.
fn main() {}
