//! For the other crates of this workspace; not covered by semantic versioning.

pub use crate::file::{Draft, GAP, MARK};
pub use crate::owners::copy_owners;
pub use crate::process::Process;
pub use crate::read_at::for_each_step;
pub use crate::source_reader::seek_target;
pub use crate::windows_name::check as check_windows_name;
pub use crate::write_at::sync_file;
