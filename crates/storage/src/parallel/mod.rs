//! Work shared by several threads.
//!
//! [`for_each()`] runs jobs in no particular order, [`map_in_order`] passes their results on in the
//! order of the jobs. Both start scoped threads, so that jobs may borrow; both work on the calling
//! thread, too, and on it alone where one thread is enough or the system starts no more. Jobs get
//! what is expensive to make, such as a decoder, from a [`Pool`].
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

mod for_each;
mod ordered;
mod panicked;
mod pool;
pub mod sync;

pub use for_each::for_each;
pub use ordered::map_in_order;
pub use panicked::Panicked;
pub use pool::Pool;

#[cfg(test)]
mod tests;
