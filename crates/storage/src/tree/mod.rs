//! Files in folders below one root, and atomic changes of many of them.
//!
//! [`JournaledStore`] reads a [`Store`] at its last committed change, gathers changes, and commits them
//! atomically.
//!
//! ```text
//!  put, remove, make_folder ─► change.rs ─► staged files ─┐
//!  patch ────────────────────► patch.rs ──► Patch, spill ─┤
//!                                                         ▼
//!  read, list, kind ◄── journaled.rs ◄──────────── PendingChanges (pending.rs)
//!     ▲                                                   │ commit.rs: plan
//!     └─ following.rs: the content at opening             ▼
//!                                                   Journal of Steps ─► verify.rs, apply.rs ─► Store
//!
//!  open.rs: locks, completes an earlier commit        leave.rs: saves old content, closes the store
//! ```

mod apply;
mod below;
mod change;
mod commit;
mod disk;
pub(crate) mod errors;
mod following;
mod journal;
mod journaled;
mod keeper;
mod key;
mod leave;
mod open;
mod patch;
mod patched;
mod pending;
mod site;
mod staging;
mod step;
mod store;
mod verify;

pub use below::Below;
pub use disk::DiskStore;
pub use journaled::JournaledStore;
pub use key::Key;
pub use store::{Entry, EntryKind, Store, StoreHandle, StoreLock};

#[cfg(test)]
mod tests;
