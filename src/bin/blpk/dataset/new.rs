//! New datasets.
