//! Compresses and decompresses with the codecs of bytes other than Blosc.
//!
//! | codec | one stored byte unpacks to at most |
//! |---|--:|
//! | gzip, zlib | 1032 bytes |
//! | zstd | 32 KiB |
//! | lz4 | 255 bytes |
//!
//! If the length of the result is known, it is first compared with this maximum: a few bytes cannot claim a large buffer. If it
//! is not known, the buffer is doubled until the data fits, up to the limit of a chunk.

#![cfg_attr(
    not(all(feature = "lz4", feature = "zlib", feature = "zstd")),
    allow(dead_code, reason = "codecs that are off need less")
)]

use bloscpack_error::checked::{to_u64, zeros};
use bloscpack_error::{Code, Error, Result};

/// The length of the result, if it is known, and its maximum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub expected: Option<usize>,
    pub most: usize,
}

/// The first buffer for a result of unknown length.
const FIRST_GUESS: usize = 1 << 16;

/// Why a buffer could not be filled.
enum Failed {
    TooShort,
    Damaged(String),
}

impl Room {
    /// Calls `fill` with a buffer, and again with a larger one if it is too short. Returns the bytes that it filled. A stored
    /// byte unpacks to at most `ratio` bytes.
    fn fill(
        self,
        what: &'static str,
        stored: usize,
        ratio: usize,
        mut fill: impl FnMut(&mut [u8]) -> std::result::Result<usize, Failed>,
    ) -> Result<Vec<u8>> {
        let possible = stored.saturating_mul(ratio).saturating_add(ratio);
        if let Some(expected) = self.expected.filter(|expected| *expected > possible) {
            return Err(Error::cut_short(what, to_u64(possible), to_u64(expected)));
        }
        let mut len = self.expected.unwrap_or(FIRST_GUESS.min(self.most));
        loop {
            let mut out = zeros(to_u64(len))?;
            match fill(&mut out) {
                Ok(filled) => {
                    out.truncate(filled);
                    return Ok(out);
                }
                Err(Failed::TooShort) if self.expected.is_none() && len < self.most => {
                    len = len.saturating_mul(2).min(self.most);
                }
                Err(Failed::TooShort) => {
                    return Err(Error::unexpected(Code::Chunk, what, "more bytes", len));
                }
                Err(Failed::Damaged(found)) => {
                    return Err(Error::unexpected(Code::Chunk, what, found, "sound data"));
                }
            }
        }
    }
}

/// The error for a codec that this build lacks.
#[cfg(not(all(feature = "lz4", feature = "zlib", feature = "zstd")))]
fn not_built(codec: &str) -> Result<Vec<u8>> {
    Err(Error::new(
        Code::NotBuilt,
        format!("in this build, the codec {codec} is not supported"),
    ))
}

/// The maximum number of bytes that a byte of deflate unpacks to.
#[cfg(feature = "zlib")]
const DEFLATE_RATIO: usize = 1032;

/// Distinguishes a short buffer from damage.
#[cfg(feature = "zlib")]
fn failed(error: libdeflater::DecompressionError) -> Failed {
    match error {
        libdeflater::DecompressionError::InsufficientSpace => Failed::TooShort,
        other => Failed::Damaged(other.to_string()),
    }
}

/// Bytes of the shortest gzip member without its trailer: a header and an empty block.
#[cfg(feature = "zlib")]
const GZIP_HEAD: usize = 12;

/// Unpacks all members of a gzip file (RFC 1952). Zeros may follow the last one.
///
/// The decompressor does not report where a member ends. The end is found by searching for the trailer: the checksum and length
/// of the unpacked data.
#[cfg(feature = "zlib")]
pub(super) fn gzip(mut stored: &[u8], room: Room) -> Result<Vec<u8>> {
    const WHAT: &str = "gzip data";
    let mut data = Vec::new();
    loop {
        let left = Room {
            expected: room.expected.map(|all| all.saturating_sub(data.len())),
            most: room.most.saturating_sub(data.len()),
        };
        let member = left.fill(WHAT, stored.len(), DEFLATE_RATIO, |out| {
            let mut decompressor = libdeflater::Decompressor::new();
            decompressor.gzip_decompress(stored, out).map_err(failed)
        })?;
        // The trailer marks the end of the member.
        let [a, b, c, d, ..] = to_u64(member.len()).to_le_bytes();
        let trailer = [libdeflater::crc32(&member).to_le_bytes(), [a, b, c, d]].concat();
        let found = stored.get(GZIP_HEAD - 2..).and_then(|rest| {
            let mut places = rest.windows(trailer.len()).enumerate();
            places.find_map(|(at, bytes)| {
                let rest = rest
                    .get(at + trailer.len()..)
                    .filter(|_| bytes == trailer)?;
                let is_end = rest.starts_with(b"\x1f\x8b") || rest.iter().all(|byte| *byte == 0);
                is_end.then_some(rest)
            })
        });
        if data.is_empty() {
            data = member;
        } else {
            data.extend(member);
        }
        match found {
            Some(rest) if rest.starts_with(b"\x1f\x8b") => stored = rest,
            Some(_) => return Ok(data),
            None => {
                let found = "other bytes after its end";
                return Err(Error::unexpected(
                    Code::Chunk,
                    WHAT,
                    found,
                    "members of gzip",
                ));
            }
        }
    }
}

/// Unpacks a zlib stream (RFC 1950).
#[cfg(feature = "zlib")]
pub(super) fn zlib(stored: &[u8], room: Room) -> Result<Vec<u8>> {
    room.fill("zlib data", stored.len(), DEFLATE_RATIO, |out| {
        let mut decompressor = libdeflater::Decompressor::new();
        decompressor.zlib_decompress(stored, out).map_err(failed)
    })
}

#[cfg(not(feature = "zlib"))]
pub(super) fn gzip(_: &[u8], _: Room) -> Result<Vec<u8>> {
    not_built("gzip")
}

#[cfg(not(feature = "zlib"))]
pub(super) fn zlib(_: &[u8], _: Room) -> Result<Vec<u8>> {
    not_built("zlib")
}

/// Unpacks Zstandard frames.
#[cfg(feature = "zstd")]
pub(super) fn zstd(stored: &[u8], room: Room) -> Result<Vec<u8>> {
    // The shortest block takes 4 bytes and unpacks to at most 128 KiB.
    const RATIO: usize = 32 << 10;
    /// `ZSTD_error_dstSize_tooSmall`.
    const TOO_SHORT: usize = 70;
    room.fill("zstd data", stored.len(), RATIO, |out| {
        zstd_safe::decompress(out, stored).map_err(|code| match code.wrapping_neg() {
            TOO_SHORT => Failed::TooShort,
            _ => Failed::Damaged(zstd_safe::get_error_name(code).to_owned()),
        })
    })
}

#[cfg(not(feature = "zstd"))]
pub(super) fn zstd(_: &[u8], _: Room) -> Result<Vec<u8>> {
    not_built("zstd")
}

/// Unpacks the LZ4 of numcodecs: the length in four bytes, little-endian, and a block.
#[cfg(feature = "lz4")]
pub(super) fn lz4(stored: &[u8], room: Room) -> Result<Vec<u8>> {
    const WHAT: &str = "lz4 data";
    let Some((head, block)) = stored.split_first_chunk::<4>() else {
        let (found, expected) = (to_u64(stored.len()), 4);
        return Err(Error::cut_short(WHAT, found, expected));
    };
    let len = bloscpack_error::checked::to_usize(u32::from_le_bytes(*head));
    if len > room.most || room.expected.is_some_and(|expected| expected != len) {
        let expected = room.expected.unwrap_or(room.most);
        return Err(Error::unexpected(
            Code::Chunk,
            "bytes in the header of lz4 data",
            len,
            expected,
        ));
    }
    let exact = Room {
        expected: Some(len),
        ..room
    };
    let data = exact.fill(WHAT, block.len(), 255, |out| {
        let done = lz4_flex::block::decompress_into(block, out);
        done.map_err(|error| Failed::Damaged(error.to_string()))
    })?;
    if data.len() == len {
        Ok(data)
    } else {
        Err(Error::unexpected(Code::Chunk, WHAT, data.len(), len))
    }
}

#[cfg(not(feature = "lz4"))]
pub(super) fn lz4(_: &[u8], _: Room) -> Result<Vec<u8>> {
    not_built("lz4")
}

/// Calls `compress` with a buffer of `bound` bytes. Returns the bytes that it filled.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn compressed<E: ToString>(
    bound: usize,
    compress: impl FnOnce(&mut [u8]) -> std::result::Result<usize, E>,
) -> Result<Vec<u8>> {
    let mut out = zeros(to_u64(bound))?;
    let len = compress(&mut out).map_err(|error| Error::bug(error.to_string()))?;
    out.truncate(len);
    Ok(out)
}

/// A deflate compressor. Levels above 12 count as 12; negative levels count as 6, the default.
#[cfg(feature = "zlib")]
fn deflater(level: i32) -> libdeflater::Compressor {
    let level = if level < 0 { 6 } else { level.min(12) };
    libdeflater::Compressor::new(libdeflater::CompressionLvl::new(level).unwrap_or_default())
}

/// Packs bytes into a gzip member.
#[cfg(feature = "zlib")]
pub(super) fn to_gzip(data: &[u8], level: i32) -> Result<Vec<u8>> {
    let mut deflater = deflater(level);
    let bound = deflater.gzip_compress_bound(data.len());
    compressed(bound, |out| deflater.gzip_compress(data, out))
}

/// Packs bytes into a zlib stream.
#[cfg(feature = "zlib")]
pub(super) fn to_zlib(data: &[u8], level: i32) -> Result<Vec<u8>> {
    let mut deflater = deflater(level);
    let bound = deflater.zlib_compress_bound(data.len());
    compressed(bound, |out| deflater.zlib_compress(data, out))
}

#[cfg(not(feature = "zlib"))]
pub(super) fn to_gzip(_: &[u8], _: i32) -> Result<Vec<u8>> {
    not_built("gzip")
}

#[cfg(not(feature = "zlib"))]
pub(super) fn to_zlib(_: &[u8], _: i32) -> Result<Vec<u8>> {
    not_built("zlib")
}

/// Packs bytes into a Zstandard frame, with a checksum if that is set.
#[cfg(feature = "zstd")]
pub(super) fn to_zstd(data: &[u8], level: i32, has_checksum: bool) -> Result<Vec<u8>> {
    use zstd_safe::CParameter;
    let named = |code| zstd_safe::get_error_name(code);
    compressed(zstd_safe::compress_bound(data.len()), |out| {
        let mut context = zstd_safe::CCtx::create();
        let settings = [
            CParameter::CompressionLevel(level),
            CParameter::ChecksumFlag(has_checksum),
        ];
        for setting in settings {
            context.set_parameter(setting).map_err(named)?;
        }
        context.compress2(out, data).map_err(named)
    })
}

#[cfg(not(feature = "zstd"))]
pub(super) fn to_zstd(_: &[u8], _: i32, _: bool) -> Result<Vec<u8>> {
    not_built("zstd")
}

/// Packs bytes like numcodecs: their number in four bytes, and an LZ4 block.
#[cfg(feature = "lz4")]
pub(super) fn to_lz4(data: &[u8]) -> Result<Vec<u8>> {
    let len = u32::try_from(data.len()).map_err(|_| Error::no_memory(to_u64(data.len())))?;
    let block = lz4_flex::block::compress(data);
    Ok([&len.to_le_bytes(), block.as_slice()].concat())
}

#[cfg(not(feature = "lz4"))]
pub(super) fn to_lz4(_: &[u8]) -> Result<Vec<u8>> {
    not_built("lz4")
}

/// Removes the checksum at the end of the bytes, after comparing it with them.
pub(super) fn crc32c(mut stored: Vec<u8>) -> Result<Vec<u8>> {
    let (found, expected) = (to_u64(stored.len()), 4);
    let Some((data, digest)) = stored.split_last_chunk::<4>() else {
        let what = "a checksum (crc32c)";
        return Err(Error::cut_short(what, found, expected));
    };
    check_crc32c("crc32c of a chunk", data, u32::from_le_bytes(*digest))?;
    stored.truncate(data.len());
    Ok(stored)
}

/// Compares a checksum with the bytes. `what` names it in the error, [`Code::Digest`].
pub(crate) fn check_crc32c(what: &'static str, data: &[u8], found: u32) -> Result<()> {
    let expected = crc32c::crc32c(data);
    if found == expected {
        Ok(())
    } else {
        Err(Error::unexpected(
            Code::Digest,
            what,
            format!("{found:08x}"),
            format!("{expected:08x} by the data"),
        ))
    }
}
