//! [`FrameOptions`]: how a frame is opened.

use bloscpack_storage::LockTimeout;
use bloscpack_wire::Limits;
use std::thread;
use std::time::Duration;

/// How long a change waits for readers, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// Decompressed chunks that are kept until they are written, in bytes.
const DEFAULT_BUFFER: usize = 64 << 20;

/// How a frame, or the array in it, is opened.
///
/// ```
/// use bloscpack_frames::FrameOptions;
/// let frame = FrameOptions::new().threads(2).open("testdata/frames/caterva/x_vlmeta_c.cat")?;
/// assert!(frame.chunks() > 0);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrameOptions {
    pub(crate) threads: usize,
    pub(crate) buffer: usize,
    pub(crate) limits: Limits,
    pub(crate) patience: LockTimeout,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            threads: thread::available_parallelism().map_or(1, std::num::NonZero::get),
            buffer: DEFAULT_BUFFER,
            limits: Limits::default(),
            patience: LockTimeout::of(PATIENCE),
        }
    }
}

impl FrameOptions {
    /// All processors, the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads that compress and decompress; as many as there are processors by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Keeps up to so many bytes of changed chunks in memory before they are compressed, one chunk at least; 64 MiB by default.
    /// No more threads compress than there are chunks in it.
    #[must_use]
    pub fn buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// Bounds what the frame may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long [`flush`](crate::Frame::flush) waits for those who are reading; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience.set(patience);
        self
    }

    /// Asks while it waits for readers, with the time that it has waited; it waits on as long as the answer is true.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.patience.ask(goes_on);
        self
    }
}
