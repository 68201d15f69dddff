//! Wrongs that a review found or looked for: each test is named after what must not happen.

mod faults;
mod hostile;
mod model;
