//! Lists of exposures as their users keep them.
