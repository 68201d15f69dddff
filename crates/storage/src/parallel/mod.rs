//! Work on several threads.
//!
//! | to | use | threads |
//! |---|---|---|
//! | run jobs | [`for_each()`] | scoped: jobs may borrow; the caller works, too |
//! | pass results on in the order of the jobs | [`map_in_order`] | the same |
//! | submit jobs and take results over time | [`Pipeline`] | kept from job to job, or those of a [`Crew`] |
//! | keep expensive objects, such as decoders | [`Pool`] | |
//!
//! The first three turn the panic of a job into an error, and join their threads (those of a [`Crew`] end with
//! it). Where one thread is enough or the system cannot start more, the calling thread does the work.
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

/// The number of processors that this program may use, at least 1. The system is asked once, because it reads
/// several files to answer.
///
/// ```
/// assert!(bloscpack_storage::parallel::processors() > 0);
/// ```
pub fn processors() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// The crew of this process, with [`processors`] threads. Its threads run until the process ends.
pub fn crew() -> Arc<Crew> {
    static CREW: OnceLock<Arc<Crew>> = OnceLock::new();
    Arc::clone(CREW.get_or_init(|| Arc::new(Crew::new(processors()))))
}

#[cfg(test)]
mod tests;
