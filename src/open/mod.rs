//! One opener for every kind of input.

mod probe;

pub use probe::{Family, Probe, probe, probe_bytes, probe_source};
