//! Drivers: the only part that performs I/O, and the rules they share.
