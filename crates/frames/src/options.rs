//! [`FrameOptions`]: how a frame is opened.

use bloscpack_storage::{LockTimeout, parallel::processors};
use bloscpack_wire::Limits;
use std::time::Duration;

/// Bytes of changed chunks that stay in memory by default.
const DEFAULT_BUFFER: usize = 64 << 20;

/// How a frame, or the array in it, is opened.
///
/// [`open`](Self::open) and [`edit`](Self::edit) take a path; [`open_array`](Self::open_array) and
/// [`edit_array`](Self::edit_array) expect an array there. [`FrameBuilder::options`](crate::FrameBuilder::options) takes these
/// options for new frames.
///
/// ```
/// use bloscpack_frames::{Frame, FrameOptions};
/// let mut frame = Frame::builder(8, 80_000).in_memory()?;
/// frame.append(&[1; 80_000])?;
/// let frame = FrameOptions::new().threads(2).read(frame.to_bytes()?)?;
/// assert_eq!(frame.chunks(), 1);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrameOptions {
    threads: Option<usize>,
    pub(crate) buffer: usize,
    pub(crate) limits: Limits,
    pub(crate) lock_timeout: LockTimeout,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            threads: None,
            buffer: DEFAULT_BUFFER,
            limits: Limits::default(),
            lock_timeout: LockTimeout::default(),
        }
    }
}

impl FrameOptions {
    /// The default options: all processors, the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads that compress and decompress (default: the number of processors). 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// The number of threads that compress and decompress.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.threads.unwrap_or_else(processors)
    }

    /// Bytes of changed chunks that stay in memory before they are compressed (default 64 MiB); at least one chunk does. No
    /// more threads compress than there are chunks in it.
    #[must_use]
    pub fn buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// Limits on the memory and the content that a frame may require (default: [`Limits::default`]).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long opening waits for other writers, and [`flush`](crate::Frame::flush) for readers of earlier versions, which
    /// lock the frame; ten seconds by default.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout.set_limit(timeout);
        self
    }

    /// Calls this function while opening or a flush waits for others, with the time that it has waited. It gives up as soon as the
    /// function returns false.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.lock_timeout.keep_waiting_while(goes_on);
        self
    }
}
