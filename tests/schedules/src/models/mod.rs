//! What is tried out: small pieces of work, and what must come of them in any order.

#[cfg(feature = "shuttle")]
pub mod crew;
#[cfg(feature = "shuttle")]
pub mod error;
pub mod pipeline;
