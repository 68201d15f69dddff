//! Tests of past and suspected bugs, each named after its correct behaviour.

mod faults;
mod hostile;
mod model;
