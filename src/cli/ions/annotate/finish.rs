//! From the parts of all shards to the results.
