//! Jobs of the queue: decisions at a desk, shards that are computed, parts that are put together.

mod assembly;
mod desk;
mod list;
mod shard;
