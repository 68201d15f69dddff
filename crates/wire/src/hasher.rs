//! Hashers: the state that turns bytes into a digest, and the table by which they are chosen.

use super::checksum::{Checksum, Digest};
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest as _;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::sync::LazyLock;

/// The state of one checksum.
///
/// Implement it to plug an implementation of your own (a hardware engine, a counting double)
/// into an encoder or decoder by [`Hashers::with`]; it must compute the digest that the format
/// defines for its kind.
pub trait Hasher: Send {
    /// Takes in more bytes. The digest does not depend on how they are cut.
    fn update(&mut self, bytes: &[u8]);

    /// The digest of all bytes taken in since the last call, and a fresh start.
    fn finish(&mut self) -> Digest;
}

/// Makes a hasher in its initial state.
pub type MakeHasher = fn() -> Box<dyn Hasher>;

/// The implementation of each checksum.
///
/// ```
/// use bloscpack_wire::{Checksum, Hashers};
/// let hashers = Hashers::default();
/// assert_eq!(hashers.digest(Checksum::Crc32, b"123456789").to_string(), "cbf43926");
/// assert_eq!(hashers.digest(Checksum::Adler32, b"").to_string(), "00000001");
/// assert_eq!(hashers.digest(Checksum::None, b"123456789").as_bytes(), b"");
/// ```
#[derive(Clone, Copy)]
pub struct Hashers {
    make: [MakeHasher; Checksum::ALL.len()],
}

impl Hashers {
    /// The same table with another implementation for one kind.
    #[must_use]
    pub fn with(mut self, kind: Checksum, make: MakeHasher) -> Self {
        if let Some(slot) = self.make.get_mut(usize::from(kind.id())) {
            *slot = make;
        }
        self
    }

    /// A hasher for this kind.
    #[must_use]
    pub fn hasher(&self, kind: Checksum) -> Box<dyn Hasher> {
        self.make
            .get(usize::from(kind.id()))
            .map_or_else(nothing, |make| make())
    }

    /// The digest of one piece of bytes.
    #[must_use]
    pub fn digest(&self, kind: Checksum, bytes: &[u8]) -> Digest {
        let mut hasher = self.hasher(kind);
        hasher.update(bytes);
        hasher.finish()
    }
}

impl Default for Hashers {
    fn default() -> Self {
        Self {
            make: [
                nothing,
                || Box::new(simd_adler32::Adler32::new()),
                || Box::new(CRC32.clone()),
                || Box::new(Md5::new()),
                || Box::new(Sha1::new()),
                || Box::new(Sha224::new()),
                || Box::new(Sha256::new()),
                || Box::new(Sha384::new()),
                || Box::new(Sha512::new()),
            ],
        }
    }
}

impl std::fmt::Debug for Hashers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hashers")
    }
}

/// A new hasher: making one looks up what the processor can do, which takes longer than a short chunk.
static CRC32: LazyLock<crc32fast::Hasher> = LazyLock::new(crc32fast::Hasher::new);

/// The hasher of [`Checksum::None`].
struct Nothing;

fn nothing() -> Box<dyn Hasher> {
    Box::new(Nothing)
}

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
