mod decisions;
mod interleavings;
mod texts;
mod world;
