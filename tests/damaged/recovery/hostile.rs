//! Tests of files made to keep a recovery busy.

use crate::recovery::golden::{Random, chunk};
use bloscpack::storage::ReadAt;
use bloscpack::{
    Checksum, Options,
    wire::{Digest, Hasher, Hashers},
};
use std::io::{self, Cursor};
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::damages::recover;

const SIZE: usize = 16 << 20;

/// All that any test here has hashed; each only looks at its own growth, and they hold a lock.
static HASHED: AtomicU64 = AtomicU64::new(0);
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Counts, and never fits.
struct Counting;

impl Hasher for Counting {
    fn update(&mut self, bytes: &[u8]) {
        HASHED.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    fn finish(&mut self) -> Digest {
        Digest::from_bytes(&[0x5a; 64]).unwrap()
    }
}

/// Counts the bytes read.
struct Counted<'a>(&'a [u8], AtomicU64);

impl ReadAt for Counted<'_> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.0.read_at(at, buf)?;
        self.1.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

fn hashers() -> Hashers {
    Checksum::ALL
        .into_iter()
        .filter(|kind| *kind != Checksum::None)
        .fold(Hashers::default(), |hashers, kind| {
            hashers.with(kind, || Box::new(Counting))
        })
}

/// Bytes hashed and bytes read by a recovery that finds nothing, or with any result.
fn work(file: &[u8]) -> (u64, u64) {
    let _lock = ONE_AT_A_TIME.lock();
    let before = HASHED.load(Ordering::Relaxed);
    let source = Counted(file, AtomicU64::new(0));
    let options = Options::new().hashers(hashers());
    let _ = recover(&source, Cursor::new(Vec::new()), &options);
    (
        HASHED.load(Ordering::Relaxed) - before,
        source.1.into_inner(),
    )
}

/// Sixteen bytes that may begin a chunk of this many bytes, stored as they are.
fn stored(nbytes: u32) -> [u8; 16] {
    let mut header = [2, 1, 0x13, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    header[4..8].copy_from_slice(&nbytes.to_le_bytes());
    header[12..].copy_from_slice(&(nbytes + 16).to_le_bytes());
    header
}

#[track_caller]
fn bounded(file: &[u8]) {
    let (hashed, read) = work(file);
    let len = file.len() as u64;
    assert!(hashed < 40 * len, "{hashed} bytes hashed of {len}");
    assert!(read < 100 * len, "{read} bytes read of {len}");
}

#[test]
fn headers_everywhere_with_lengths_up_to_the_end() {
    for head in [
        &b""[..],
        &crate::recovery::cases::data(0)[..0],
        b"blpk\x03\0\x02\x08",
    ] {
        let mut file = head.to_vec();
        file.resize(32, 0);
        while file.len() < SIZE {
            let left = u32::try_from(SIZE - file.len()).unwrap();
            file.extend(stored(left.saturating_sub(100).max(256)));
        }
        bounded(&file);
    }
}

#[test]
fn members_everywhere() {
    let mut header = b"blpk\x03\x01\x02\x08".to_vec();
    header.extend(1000u32.to_le_bytes());
    header.extend(1000u32.to_le_bytes());
    header.extend(100_000u64.to_le_bytes());
    header.extend(0u64.to_le_bytes());
    let file = header.repeat((4 << 20) / header.len());
    bounded(&file);
}

#[test]
fn tables_that_lead_everywhere() {
    let entries = 200_000u64;
    let mut file = b"blpk\x03\x01\x02\x08".to_vec();
    file.extend(1_000_000u32.to_le_bytes());
    file.extend(1_000_000u32.to_le_bytes());
    file.extend(entries.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    let chunks_at = 32 + 8 * entries;
    for number in 0..entries {
        file.extend((chunks_at + 16 * number).to_le_bytes());
    }
    for _ in 0..entries {
        file.extend(stored(1_000_000));
    }
    bounded(&file);
}

#[test]
fn chunks_that_decode_to_much_without_a_digest() {
    // A megabyte from a few kilobytes, again and again, each time damaged at its end.
    let bomb = chunk(&vec![0; 1 << 20]);
    let mut file = b"blpk\x01\0\0\0".to_vec();
    file.extend(u64::MAX.to_le_bytes());
    let mut random = Random::new(1);
    while file.len() < 4 << 20 {
        let mut bomb = bomb.clone();
        let last = bomb.len() - 1;
        bomb[last] ^= 1 + (random.next() as u8 & 0x7f);
        file.extend(bomb);
    }
    bounded(&file);
}

/// Chunks in one another, all with a right digest, and shorter than a chunk of the member is: each is hashed, and is none.
#[test]
fn sound_chunks_in_one_another() {
    let (size, nested) = (20u32 << 20, 300u32);
    // The digest that [`Counting`] returns for any data.
    let digest = [0x5a; 64];
    let mut file = b"blpk\x03\0\x02\x01".to_vec();
    file.extend(size.to_le_bytes());
    file.extend(size.to_le_bytes());
    file.extend(3u64.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.extend(chunk(&vec![0; size as usize]));
    file.extend(digest);
    for number in 0..nested {
        let len = SIZE as u32 - 16 * (number + 1);
        file.extend(stored(len));
    }
    file.resize(file.len() + SIZE - 16 * nested as usize, 0xee);
    file.extend(digest);
    file.extend([0xee; 4000]);
    bounded(&file);
}
