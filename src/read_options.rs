//! [`ReadOptions`]: how an input is read by functions that have no builder of their own.

use bloscpack_wire::{Hashers, Limits};

/// How [`verify_with`](crate::verify::verify_with) and [`Survey::with`](crate::survey::Survey::with) read an input.
///
/// ```
/// use bloscpack::{Checksum, Encoder, ReadOptions, survey::Survey, verify::verify_with};
/// use bloscpack::wire::{Digest, Hasher, Hashers, Metadata};
///
/// /// A digest with a key, in the place of that of crc32.
/// struct Keyed(u32, u32);
///
/// impl Hasher for Keyed {
///     fn update(&mut self, bytes: &[u8]) {
///         self.1 = bytes.iter().fold(self.1, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
///     }
///
///     fn finish(&mut self) -> Digest {
///         Digest::from_u32(std::mem::replace(&mut self.1, self.0))
///     }
/// }
///
/// let hashers = Hashers::default().with(Checksum::Crc32, || Box::new(Keyed(99, 99)));
/// let metadata = Metadata::from_json("{}")?;
/// let builder = Encoder::builder().metadata(metadata).hashers(hashers.clone());
/// let stream = builder.write_to(Vec::new())?.finish()?;
///
/// let options = ReadOptions::new().hashers(hashers);
/// assert!(verify_with(stream.as_slice(), &options, |_| Ok(()))?.is_sound());
/// assert!(Survey::with(stream.as_slice(), &options).is_ok());
/// assert!(!verify_with(stream.as_slice(), &ReadOptions::new(), |_| Ok(()))?.is_sound());
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ReadOptions {
    pub(crate) limits: Limits,
    pub(crate) hashers: Hashers,
    pub(crate) threads: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            hashers: Hashers::default(),
            threads: 1,
        }
    }
}

impl ReadOptions {
    /// The default limits and hashers, and the caller's thread alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much memory and work the input may demand.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute digests.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// Threads that check and decompress chunks, where that is done.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}
