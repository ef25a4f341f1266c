//! Hotspots.
