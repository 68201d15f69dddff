//! A regular file that several threads read at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bloscpack::storage::ReadAt;

use super::Bytes;
use crate::progress::Progress;

/// The bytes of a regular file by their positions, counted and shown as progress.
#[derive(Debug)]
pub struct Places {
    bytes: Arc<Bytes>,
    progress: Progress,
    failed: AtomicBool,
    read: AtomicU64,
    ended: AtomicBool,
}

impl Places {
    /// Takes over the bytes.
    pub fn new(bytes: Arc<Bytes>, progress: Progress) -> Self {
        Self {
            bytes,
            progress,
            failed: AtomicBool::new(false),
            read: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        }
    }

    /// Whether an error came from reading. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// How much was read, if somebody has asked for bytes and there were none.
    pub fn ended_early(&self) -> Option<u64> {
        let ended = self.ended.load(Ordering::Relaxed);
        ended.then(|| self.read.load(Ordering::Relaxed))
    }
}

impl ReadAt for Places {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let done = self.bytes.read_at(at, buf);
        match &done {
            Ok(0) if !buf.is_empty() => self.ended.store(true, Ordering::Relaxed),
            Ok(count) => {
                let count = u64::try_from(*count).unwrap_or(0);
                self.read.fetch_add(count, Ordering::Relaxed);
                self.progress.advance(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.failed.store(true, Ordering::Relaxed),
        }
        done
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}
