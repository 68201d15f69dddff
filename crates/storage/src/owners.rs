//! Owner, group and mode of a file that replaces another.

use std::fs::{File, Metadata};
use std::io;

/// Gives `file` the owner, group and mode of `like`, as far as the process may.
///
/// If the owner or group cannot be set, no user gains access: the set-user-ID and set-group-ID bits are
/// cleared, and a different group gets only the access that everyone has.
///
/// # Errors
/// Returns any error of the file system, except that of setting owner or group.
#[cfg(unix)]
pub fn copy_owners(file: &File, like: &Metadata) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if new.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err() {
        // The file must not run with the rights of its new owner.
        mode &= 0o1777;
    }
    if new.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err() {
        // The new group keeps only the rights that everyone has.
        mode &= 0o5707 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Gives `file` the permissions of `like`. This system has no owners and modes.
///
/// # Errors
/// Returns any error of the file system.
#[cfg(not(unix))]
pub fn copy_owners(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}
