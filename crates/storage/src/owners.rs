//! Owner, group and mode of a file that takes the place of another.

use std::fs::{File, Metadata};
use std::io;

/// Gives `file` the owner, the group and the mode of the file `like`, as far as the process may.
///
/// If it may not give the file away, the mode loses the set-user-ID and set-group-ID bits, and a new group gets no
/// more access than all other users have: no user gains access.
///
/// # Errors
/// Returns any error of the file system, except that owner or group cannot be set.
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
        // The new group keeps only the rights that everybody has.
        mode &= 0o5707 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Gives `file` the permissions of the file `like`: this system has no owners and modes.
///
/// # Errors
/// Returns any error of the file system.
#[cfg(not(unix))]
pub fn copy_owners(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}
