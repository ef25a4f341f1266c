mod decisions;
mod interleavings;
mod results;
mod texts;
mod world;
