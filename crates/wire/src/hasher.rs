//! Hashers, which turn bytes into a digest, and the table of their implementations.

use super::checksum::{Checksum, Digest};
use super::error::FormatError;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest as _;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::sync::{Arc, LazyLock};

/// The state of one checksum.
///
/// Implement it to plug in an implementation of your own (a hardware engine, a digest with a key)
/// with [`Hashers::with`]. Readers and writers use it for each chunk, from any thread.
pub trait Hasher: Send {
    /// Adds bytes. The digest must not depend on how they are cut into calls.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of all bytes since the last call, and starts again.
    fn finish(&mut self) -> Digest;
}

/// A function that makes a hasher in its initial state.
type MakeHasher = dyn Fn() -> Box<dyn Hasher> + Send + Sync;

/// The implementation of each checksum. By default, all are this crate's own.
///
/// The format has numbers for the nine kinds of [`Checksum`] only, and a file cannot declare a
/// private kind. If a hasher computes another digest than its kind does, for example with a key,
/// only readers with the same hasher accept the file. All others report every digest as a mismatch,
/// like damage. The digest must be as long as its kind requires, or writing fails before the first
/// byte.
///
/// ```
/// use bloscpack_wire::{Checksum, Hashers};
///
/// let hashers = Hashers::default();
/// assert_eq!(hashers.digest(Checksum::Crc32, b"123456789").to_string(), "cbf43926");
/// assert_eq!(hashers.digest(Checksum::Adler32, b"").to_string(), "00000001");
/// assert_eq!(hashers.digest(Checksum::None, b"123456789").as_bytes(), b"");
/// ```
#[derive(Clone, Default)]
pub struct Hashers {
    /// The implementations that replace this crate's own.
    plugged: Vec<(Checksum, Arc<MakeHasher>)>,
}

impl Hashers {
    /// Replaces the implementation of one kind. `make` is called for each new hasher.
    ///
    /// ```
    /// use bloscpack_wire::{Checksum, Digest, Hasher, Hashers};
    ///
    /// /// A toy: the sum of a key and all bytes.
    /// struct Keyed(u32, u32);
    ///
    /// impl Hasher for Keyed {
    ///     fn update(&mut self, bytes: &[u8]) {
    ///         self.1 = bytes.iter().fold(self.1, |sum, byte| sum.wrapping_add((*byte).into()));
    ///     }
    ///
    ///     fn finish(&mut self) -> Digest {
    ///         Digest::from_u32(std::mem::replace(&mut self.1, self.0))
    ///     }
    /// }
    ///
    /// let key = 1000;
    /// let hashers = Hashers::default().with(Checksum::Crc32, move || Box::new(Keyed(key, key)));
    /// assert_eq!(hashers.digest(Checksum::Crc32, &[1, 2]), Digest::from_u32(1003));
    /// assert!(hashers.check().is_ok());
    /// ```
    #[must_use]
    pub fn with(
        mut self,
        kind: Checksum,
        make: impl Fn() -> Box<dyn Hasher> + Send + Sync + 'static,
    ) -> Self {
        self.plugged.retain(|(other, _)| *other != kind);
        self.plugged.push((kind, Arc::new(make)));
        self
    }

    /// A new hasher for this kind, on the heap.
    #[must_use]
    pub fn hasher(&self, kind: Checksum) -> Box<dyn Hasher> {
        let plugged = self.plugged.iter().find(|(other, _)| *other == kind);
        plugged.map_or_else(|| own(kind), |(_, make)| make())
    }

    /// Checks that the digest of each plugged hasher is as long as its kind requires.
    ///
    /// # Errors
    /// Returns [`FormatError::Hasher`] for the first one with another length.
    pub fn check(&self) -> Result<(), FormatError> {
        let mut kinds = self.plugged.iter().map(|(kind, _)| *kind);
        kinds.try_for_each(|kind| self.stored_digest(kind, &[]).map(|_| ()))
    }

    /// [`digest`](Self::digest) for a writer: a digest of the wrong length is an error.
    ///
    /// # Errors
    /// Returns [`FormatError::Hasher`] if the length is not the one of its kind.
    pub fn stored_digest(&self, kind: Checksum, bytes: &[u8]) -> Result<Digest, FormatError> {
        let digest = self.digest(kind, bytes);
        FormatError::check_hasher(kind, digest)?;
        Ok(digest)
    }

    /// The digest of `bytes`. For crc32 without plugged hashers, nothing is allocated.
    #[must_use]
    pub fn digest(&self, kind: Checksum, bytes: &[u8]) -> Digest {
        if kind == Checksum::Crc32 && self.plugged.is_empty() {
            // For a short chunk, a hasher on the heap would take longer than the digest.
            let mut hasher = CRC32.clone();
            hasher.update(bytes);
            return Digest::from_u32(hasher.finalize());
        }
        let mut hasher = self.hasher(kind);
        hasher.update(bytes);
        hasher.finish()
    }
}

/// The implementation of this crate.
fn own(kind: Checksum) -> Box<dyn Hasher> {
    match kind {
        Checksum::None => Box::new(Nothing),
        Checksum::Adler32 => Box::new(simd_adler32::Adler32::new()),
        Checksum::Crc32 => Box::new(CRC32.clone()),
        Checksum::Md5 => Box::new(Md5::new()),
        Checksum::Sha1 => Box::new(Sha1::new()),
        Checksum::Sha224 => Box::new(Sha224::new()),
        Checksum::Sha256 => Box::new(Sha256::new()),
        Checksum::Sha384 => Box::new(Sha384::new()),
        Checksum::Sha512 => Box::new(Sha512::new()),
    }
}

impl std::fmt::Debug for Hashers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds = self.plugged.iter().map(|(kind, _)| kind);
        f.debug_list().entries(kinds).finish()
    }
}

/// A hasher to clone. Making one detects the features of the processor, which takes longer than a
/// short chunk.
static CRC32: LazyLock<crc32fast::Hasher> = LazyLock::new(crc32fast::Hasher::new);

/// The hasher of [`Checksum::None`].
struct Nothing;

impl Hasher for Nothing {
    fn update(&mut self, _: &[u8]) {}

    fn finish(&mut self) -> Digest {
        Digest::EMPTY
    }
}

impl Hasher for simd_adler32::Adler32 {
    fn update(&mut self, bytes: &[u8]) {
        self.write(bytes);
    }

    fn finish(&mut self) -> Digest {
        let digest = simd_adler32::Adler32::finish(self);
        self.reset();
        Digest::from_u32(digest)
    }
}

impl Hasher for crc32fast::Hasher {
    fn update(&mut self, bytes: &[u8]) {
        crc32fast::Hasher::update(self, bytes);
    }

    fn finish(&mut self) -> Digest {
        let digest = self.clone().finalize();
        self.reset();
        Digest::from_u32(digest)
    }
}

macro_rules! rust_crypto {
    ($($state:ty),*) => {$(
        impl Hasher for $state {
            fn update(&mut self, bytes: &[u8]) {
                sha2::digest::Digest::update(self, bytes);
            }

            fn finish(&mut self) -> Digest {
                Digest::from_bytes(&self.finalize_reset()).unwrap_or(Digest::EMPTY)
            }
        }
    )*};
}
rust_crypto!(Md5, Sha1, Sha224, Sha256, Sha384, Sha512);

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of "abc" from the standards (RFC 1321, FIPS 180-4) and zlib's documentation.
    const ABC: [(Checksum, &str); 8] = [
        (Checksum::Adler32, "024d0127"),
        (Checksum::Crc32, "352441c2"),
        (Checksum::Md5, "900150983cd24fb0d6963f7d28e17f72"),
        (Checksum::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            Checksum::Sha224,
            "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
        ),
        (
            Checksum::Sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            Checksum::Sha384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            Checksum::Sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ];

    #[test]
    fn digests_are_those_of_the_standards_however_the_bytes_are_cut() {
        let hashers = Hashers::default();
        for (kind, expected) in ABC {
            let mut hasher = hashers.hasher(kind);
            for round in 0..2 {
                b"abc"
                    .chunks(1 + round)
                    .for_each(|piece| hasher.update(piece));
                let digest = hasher.finish();
                assert_eq!(digest.to_string(), expected, "{kind}, round {round}");
                assert_eq!(digest.as_bytes().len(), kind.digest_len());
            }
        }
    }

    #[test]
    fn numbers_are_stored_little_endian() {
        let digest = Hashers::default().digest(Checksum::Crc32, b"123456789");
        assert_eq!(digest.as_bytes(), [0x26, 0x39, 0xf4, 0xcb]);
    }

    #[test]
    fn a_plugged_hasher_is_the_one_that_runs() {
        struct Loud;
        impl Hasher for Loud {
            fn update(&mut self, _: &[u8]) {}
            fn finish(&mut self) -> Digest {
                Digest::from_u32(7)
            }
        }
        let hashers = Hashers::default().with(Checksum::Crc32, || Box::new(Loud));
        assert_eq!(hashers.digest(Checksum::Crc32, b"abc"), Digest::from_u32(7));
        assert_ne!(
            hashers.digest(Checksum::Adler32, b"abc"),
            Digest::from_u32(7)
        );
    }
}
