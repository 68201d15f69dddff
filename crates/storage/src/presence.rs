//! [`Presence`]: handles of a file see one another without excluding one another.

use std::io;
use std::ops::Range;

/// Handles of a file announce themselves in numbered slots, so that a writer knows whether there are readers,
/// and readers know whether there is a writer.
///
/// An announcement excludes nobody and ends when the handle is closed. On Linux it is a shared open file
/// description lock on one byte far after the end of the file.
///
/// ```
/// use bloscpack_storage::{Access, Folder, Memory, Presence};
///
/// let folder = Memory::from([("a", Vec::new())]);
/// let reader = folder.open("a".as_ref(), Access::Read)?;
/// let writer = folder.open("a".as_ref(), Access::Write)?;
/// assert!(reader.announce(7)?);
/// assert_eq!(writer.announced(0..10)?, Some(7));
/// // A handle does not see its own announcement.
/// assert_eq!(reader.announced(0..10)?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Presence {
    /// Announces this handle in a slot below 2^61, in addition to earlier ones. Returns false if other handles
    /// would not see it, for example on a network file system.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn announce(&self, slot: u64) -> io::Result<bool>;

    /// Ends this handle's announcement in a slot, if there is one.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn withdraw(&self, slot: u64) -> io::Result<()>;

    /// A slot in this range in which another handle is announced; `None` if there is none, or the range is
    /// empty.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn announced(&self, slots: Range<u64>) -> io::Result<Option<u64>>;

    /// The current state of the file.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn status(&self) -> io::Result<FileStatus>;
}

/// The state of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// Identifies the file among all files that exist while it is open: device and inode on a disk.
    pub identity: u128,
    /// Changes with every write, unless `is_recent`: the modification time on a disk.
    pub stamp: u128,
    /// Whether the last write is so recent that another one may leave `stamp` unchanged.
    pub is_recent: bool,
    /// The length in bytes.
    pub len: u64,
    /// Whether the file still has a name in some folder.
    pub has_name: bool,
    /// The user id of the owner; 0 where files have none.
    pub owner: u32,
}

/// Only for 64-bit targets: with 32-bit file offsets in the C library, no lock can lie after the end of every
/// file.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use super::{FileStatus, Presence};
    use crate::error::{bug, has_no_locks};
    use crate::write_at::retry;
    use nix::fcntl::{FcntlArg, fcntl};
    use rustix::time::{ClockId, clock_getres, clock_gettime};
    use std::fs::{File, Metadata};
    use std::io;
    use std::ops::Range;
    use std::os::unix::fs::MetadataExt;

    /// The byte of slot 0, after the end of any file.
    const FIRST_SLOT: i64 = 3 << 61;

    /// Local file systems, on which all processes see the same bytes at once. Network file systems may cache
    /// them.
    const LOCAL: [u32; 9] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // XFS
        0x9123_683e, // Btrfs
        0x0102_1994, // tmpfs
        0x794c_7630, // overlayfs
        0x2fc1_2fc1, // ZFS
        0xf2f5_2010, // F2FS
        0xca45_1a4e, // bcachefs
        0x8584_58f6, // ramfs
    ];

    /// Whether a later write may leave the modification time unchanged.
    ///
    /// The kernel stamps files with its coarse clock, which can lag behind the time of day on a busy virtual
    /// machine, so this compares the stamp with that clock. Once the clock has passed the stamp, the next write
    /// gets a new one. File systems with whole seconds need two seconds.
    fn is_recent(file: &Metadata) -> bool {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let now = clock_gettime(ClockId::RealtimeCoarse);
        let step = clock_getres(ClockId::RealtimeCoarse);
        let step = nanoseconds(step.tv_sec, step.tv_nsec) * 2;
        let age =
            nanoseconds(now.tv_sec, now.tv_nsec) - nanoseconds(file.mtime(), file.mtime_nsec());
        // A stamp in the future is ignored, unless it is so close that it comes from the fine clock.
        if file.mtime_nsec() == 0 {
            (0..2_000_000_000).contains(&age)
        } else {
            age <= 0 && age > -step
        }
    }

    /// A lock on a range of slots. Open file description locks belong to the handle and are independent of
    /// those of [`Lock`](crate::Lock).
    fn slots(kind: i32, slots: &Range<u64>) -> io::Result<libc::flock> {
        let too_far = || bug(format!("no slots {slots:?}"));
        let from = i64::try_from(slots.start).ok();
        let from = from.and_then(|from| FIRST_SLOT.checked_add(from));
        let len = slots.end.checked_sub(slots.start);
        let kind = i16::try_from(kind).map_err(|_| too_far())?;
        Ok(libc::flock {
            l_type: kind,
            // The value of `SEEK_SET`.
            l_whence: 0,
            l_start: from.ok_or_else(too_far)?,
            l_len: len
                .and_then(|len| i64::try_from(len).ok())
                .ok_or_else(too_far)?,
            l_pid: 0,
        })
    }

    fn set(file: &File, kind: i32, slot: u64) -> io::Result<()> {
        let lock = slots(kind, &(slot..slot + 1))?;
        retry(|| Ok(fcntl(file, FcntlArg::F_OFD_SETLK(&lock))?))?;
        Ok(())
    }

    fn is_local(file: &File) -> io::Result<bool> {
        let kind = rustix::fs::fstatfs(file)?.f_type;
        Ok(u32::try_from(kind).is_ok_and(|kind| LOCAL.contains(&kind)))
    }

    impl Presence for File {
        fn announce(&self, slot: u64) -> io::Result<bool> {
            if !is_local(self)? {
                return Ok(false);
            }
            // A shared lock, because readers may lack the right to write.
            match set(self, libc::F_RDLCK, slot) {
                Ok(()) => Ok(true),
                Err(error) if has_no_locks(&error) => Ok(false),
                Err(error) => Err(error),
            }
        }

        fn withdraw(&self, slot: u64) -> io::Result<()> {
            set(self, libc::F_UNLCK, slot)
        }

        fn announced(&self, range: Range<u64>) -> io::Result<Option<u64>> {
            // A lock of length 0 would cover everything after its start.
            if range.is_empty() {
                return Ok(None);
            }
            let mut lock = slots(libc::F_WRLCK, &range)?;
            retry(|| Ok(fcntl(self, FcntlArg::F_OFD_GETLK(&mut lock))?))?;
            if i32::from(lock.l_type) == libc::F_UNLCK {
                return Ok(None);
            }
            // The conflicting lock may begin before the range.
            let slot = lock.l_start.checked_sub(FIRST_SLOT);
            let slot = slot.and_then(|slot| u64::try_from(slot).ok());
            Ok(Some(slot.unwrap_or(0).max(range.start)))
        }

        fn status(&self) -> io::Result<FileStatus> {
            let found = self.metadata()?;
            let seconds = u128::from(found.mtime().cast_unsigned());
            Ok(FileStatus {
                identity: u128::from(found.dev()) << 64 | u128::from(found.ino()),
                stamp: seconds << 64 | u128::from(found.mtime_nsec().cast_unsigned()),
                is_recent: is_recent(&found),
                len: found.len(),
                has_name: found.nlink() > 0,
                owner: found.uid(),
            })
        }
    }
}
