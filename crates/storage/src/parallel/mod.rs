//! Work shared by several threads.
//!
//! [`for_each()`] runs jobs, and [`map_in_order`] passes their results on in the order of the jobs.
//! Both start scoped threads, so that jobs may borrow, and the calling thread works, too. A
//! [`Pipeline`] keeps its threads from one call to the next, or shares those of a [`Crew`] with
//! others, and its jobs own what they need. All three use one queue of jobs and results, bound what is under way, turn a panic of a job into an
//! error, and join their threads. They work on the calling thread alone where one thread is enough
//! or the system starts no more. Jobs get what is expensive to make, such as a decoder, from a
//! [`Pool`].
//!
//! ```
//! use bloscpack_storage::parallel::{Panicked, map_in_order};
//!
//! let mut squares = Vec::new();
//! map_in_order(
//!     4,
//!     0..10u32,
//!     |number| Ok::<_, Panicked>(number * number),
//!     |square| {
//!         squares.push(square);
//!         Ok(())
//!     },
//! )?;
//! assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
//! # Ok::<(), Panicked>(())
//! ```

mod crew;
mod panicked;
mod pipeline;
mod pool;
mod queue;
mod scoped;
pub mod sync;

pub use crew::Crew;
pub use panicked::Panicked;
pub use pipeline::{BATCH, Pipeline};
pub use pool::Pool;
pub use scoped::{for_each, map_in_order};

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

/// The number of processors that this program may use, at least 1. The system is asked once, since the answer takes several
/// files.
///
/// ```
/// assert!(bloscpack_storage::parallel::processors() > 0);
/// ```
pub fn processors() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// The crew of this process, with as many threads as there are [`processors`]. Its threads live as long as the process.
pub fn crew() -> Arc<Crew> {
    static CREW: OnceLock<Arc<Crew>> = OnceLock::new();
    Arc::clone(CREW.get_or_init(|| Arc::new(Crew::new(processors()))))
}

#[cfg(test)]
mod tests;
