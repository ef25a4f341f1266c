//! Annotation: lists read, ions counted, scored, and rated.
