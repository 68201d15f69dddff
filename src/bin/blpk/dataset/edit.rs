//! Datasets that are changed in their place.
