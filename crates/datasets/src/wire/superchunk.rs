//! A superchunk of bcolz, BLZ or carray: a Bloscpack header of version 1, one chunk, and nothing else.
//!
//! ```text
//!      0 1 2 3   4   5 6 7    8 .. 16
//!    | b l p k | 1 | 0 0 0  | 1 (i64)          | one Blosc chunk of ctbytes bytes | end of file
//! ```

use super::error::wrong_value;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::{Code, Error, Result};
use std::fmt;

/// The first bytes of every superchunk. Its chunk follows.
pub const SINGLE_CHUNK_HEADER: [u8; 16] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";

/// Bytes that [`SingleChunk::check`] needs: the header of the file and that of the chunk.
pub const SINGLE_CHUNK_HEAD_LEN: usize = SINGLE_CHUNK_HEADER.len() + HEADER_LEN;

/// How strictly a superchunk is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SuperchunkCheck {
    /// Every byte outside of the chunk has to be as its writer wrote it.
    #[default]
    Strict,
    /// As bcolz reads it: the first 16 bytes and whatever follows the chunk are ignored, and reported as warnings.
    Lenient,
}

/// Something unusual about a superchunk that does not prevent reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SuperchunkWarning {
    /// Another header than [`SINGLE_CHUNK_HEADER`].
    Header {
        /// The first 16 bytes.
        found: [u8; 16],
    },
    /// Bytes after the chunk.
    Trailing {
        /// How many.
        len: u64,
    },
}

impl SuperchunkWarning {
    /// The error that it is in a strict check.
    fn into_error(self) -> Error {
        match self {
            Self::Header { found } => {
                let (found, expected) = (found.escape_ascii(), SINGLE_CHUNK_HEADER.escape_ascii());
                let (found, expected) = (format!("\"{found}\""), format!("\"{expected}\""));
                wrong_value(Code::Header, "the header of the file", found, expected)
            }
            Self::Trailing { len } => Error::new(
                Code::Trailing,
                format!("{len} unexpected bytes follow the chunk"),
            ),
        }
    }
}

impl fmt::Display for SuperchunkWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.into_error().fmt(f)
    }
}

/// A superchunk whose head has been checked.
///
/// ```
/// use bloscpack_datasets::{wire::SingleChunk, wire::SuperchunkCheck, wire::SuperchunkWarning};
/// // The file that bcolz 1.2.1 wrote for `[3.25]`.
/// let file = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\x01\x33\x08\x08\0\0\0\x08\0\0\0\x18\0\0\0\0\0\0\0\0\0\x0a\x40";
/// let chunk = SingleChunk::check(&file, 40, SuperchunkCheck::Strict)?;
/// assert_eq!((chunk.header.nbytes, chunk.range()), (8, 16..40));
///
/// assert!(SingleChunk::check(&file, 43, SuperchunkCheck::Strict).is_err());
/// let chunk = SingleChunk::check(&file, 43, SuperchunkCheck::Lenient)?;
/// assert_eq!(chunk.warnings, [SuperchunkWarning::Trailing { len: 3 }]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleChunk {
    /// The header of the chunk.
    pub header: ChunkHeader,
    /// Anything unusual about the file; empty after a strict check.
    pub warnings: Vec<SuperchunkWarning>,
}

impl SingleChunk {
    /// Checks a superchunk by its first [`SINGLE_CHUNK_HEAD_LEN`] bytes (further bytes of `head` are ignored) and the
    /// length of its file. The content of the chunk is checked when it is decoded.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`] if the file ends before its chunk does; [`Code::Header`] or [`Code::Trailing`] for anything
    /// unusual in a strict check; [`Code::Chunk`] for an impossible chunk header; [`Code::Unsupported`] for a chunk that is not
    /// of Blosc 1.
    pub fn check(head: &[u8], file_len: u64, how: SuperchunkCheck) -> Result<Self> {
        let (file_header, chunk_header) = split(head).ok_or_else(|| {
            Error::cut_short(
                "superchunk",
                head.len() as u64,
                SINGLE_CHUNK_HEAD_LEN as u64,
            )
        })?;
        let mut warnings = Vec::new();
        if file_header != SINGLE_CHUNK_HEADER {
            let found = file_header;
            warn(how, SuperchunkWarning::Header { found }, &mut warnings)?;
        }
        let header = ChunkHeader::parse(&chunk_header)
            .map_err(|error| Error::from(error).in_part("byte 16"))?;
        if header.is_end_mark() {
            let found = "the end mark of a stream";
            return Err(wrong_value(
                Code::Header,
                "byte 16",
                found,
                "a chunk of data",
            ));
        }
        let mut chunk = Self { header, warnings };
        let expected = chunk.range().end;
        match file_len.checked_sub(expected) {
            None => return Err(Error::cut_short("superchunk", file_len, expected)),
            Some(0) => {}
            Some(len) => warn(
                how,
                SuperchunkWarning::Trailing { len },
                &mut chunk.warnings,
            )?,
        }
        Ok(chunk)
    }

    /// The position of the chunk in the file, in bytes.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<u64> {
        let start = SINGLE_CHUNK_HEADER.len() as u64;
        start..start + u64::from(self.header.ctbytes)
    }
}

fn split(head: &[u8]) -> Option<([u8; 16], [u8; HEADER_LEN])> {
    let (file_header, rest) = head.split_first_chunk()?;
    Some((*file_header, *rest.first_chunk()?))
}

fn warn(
    how: SuperchunkCheck,
    warning: SuperchunkWarning,
    warnings: &mut Vec<SuperchunkWarning>,
) -> Result<()> {
    match how {
        SuperchunkCheck::Strict => Err(warning.into_error()),
        SuperchunkCheck::Lenient => {
            warnings.push(warning);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SINGLE_CHUNK_HEADER, SingleChunk, SuperchunkCheck, SuperchunkWarning};
    use bloscpack_error::Category;
    use bloscpack_wire::{FormatVersion, Header};

    /// Written by bcolz 1.2.1 for `np.array([3.25])`.
    const REAL: [u8; 40] = [
        0x62, 0x6c, 0x70, 0x6b, 0x01, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, 0, 0, //
        0x02, 0x01, 0x33, 0x08, 0x08, 0, 0, 0, 0x08, 0, 0, 0, 0x18, 0, 0, 0, //
        0, 0, 0, 0, 0, 0, 0x0a, 0x40,
    ];

    fn checked(file: &[u8], how: SuperchunkCheck) -> Result<SingleChunk, Category> {
        let len = u64::try_from(file.len()).unwrap();
        SingleChunk::check(file, len, how).map_err(|error| error.category())
    }

    fn changed(at: usize, byte: u8) -> [u8; 40] {
        let mut file = REAL;
        file[at] = byte;
        file
    }

    #[test]
    fn a_real_superchunk_has_nothing_odd() {
        for how in [SuperchunkCheck::Strict, SuperchunkCheck::Lenient] {
            let chunk = checked(&REAL, how).unwrap();
            assert_eq!((chunk.range(), chunk.warnings.len()), (16..40, 0));
            assert_eq!((chunk.header.typesize, chunk.header.nbytes), (8, 8));
        }
    }

    #[test]
    fn its_header_is_that_of_a_v1_file_with_one_chunk() {
        let header = Header {
            nchunks: Some(1),
            ..Header::new(FormatVersion::V1)
        };
        assert_eq!(header.encode().unwrap(), SINGLE_CHUNK_HEADER);
    }

    /// bcolz reads a superchunk whose first 16 bytes are all 0xFF.
    #[test]
    fn other_headers_are_refused_or_reported() {
        for at in 0..16 {
            let file = changed(at, 0xff);
            assert_eq!(
                checked(&file, SuperchunkCheck::Strict),
                Err(Category::Damaged),
                "byte {at}"
            );
            let chunk = checked(&file, SuperchunkCheck::Lenient).unwrap();
            let found = *file.first_chunk().unwrap();
            assert_eq!(chunk.warnings, [SuperchunkWarning::Header { found }]);
        }
    }

    #[test]
    fn trailing_bytes_are_refused_or_reported() {
        let file = [&REAL[..], b"stale"].concat();
        assert_eq!(
            checked(&file, SuperchunkCheck::Strict),
            Err(Category::Damaged)
        );
        let chunk = checked(&file, SuperchunkCheck::Lenient).unwrap();
        assert_eq!(
            (chunk.range(), chunk.warnings),
            (16..40, vec![SuperchunkWarning::Trailing { len: 5 }])
        );
    }

    #[test]
    fn even_a_lenient_check_requires_a_whole_chunk() {
        for how in [SuperchunkCheck::Strict, SuperchunkCheck::Lenient] {
            for len in 0..40 {
                assert_eq!(
                    checked(&REAL[..len], how),
                    Err(Category::CutShort),
                    "{len} bytes"
                );
            }
            assert_eq!(checked(&changed(28, 0x19), how), Err(Category::Damaged));
            assert_eq!(checked(&changed(16, 6), how), Err(Category::Unsupported));
            assert_eq!(checked(&changed(19, 0), how), Err(Category::Damaged));
            let mark = [&SINGLE_CHUNK_HEADER[..], &blosc1::ChunkHeader::END_MARK].concat();
            assert_eq!(checked(&mark, how), Err(Category::Damaged));
        }
    }
}
