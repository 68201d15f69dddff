//! [`OpenOptions`]: how an array or a group is opened.

use bloscpack_storage::parallel::processors;
use bloscpack_wire::Limits;

/// How an array or a group is opened.
///
/// ```
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::{OpenOptions, ZarrNode};
/// let store = Memory::from([("a/.zgroup", b"{\"zarr_format\": 2}".to_vec())]);
/// let node = OpenOptions::new().threads(2).open(store, &Key::parse("a")?)?;
/// assert!(matches!(node, ZarrNode::Group(_)));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    threads: Option<usize>,
    pub(crate) limits: Limits,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// The default options: all processors, the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self {
            threads: None,
            limits: Limits::default(),
        }
    }

    /// Threads that decompress (default: the number of processors). 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Limits on the memory and the content that an array may require (default: [`Limits::default`]).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn workers(&self) -> usize {
        self.threads.unwrap_or_else(processors)
    }
}
