//! A superchunk of bcolz, BLZ or carray: a header of V1, one chunk, and nothing else.
//!
//! ```text
//!      0 1 2 3   4   5 6 7    8 .. 16
//!    | b l p k | 1 | 0 0 0  | 1 (i64)          | one Blosc chunk of ctbytes bytes | end of file
//! ```

use super::error::MetaError;
use blosc1::{ChunkHeader, HEADER_LEN};
use std::fmt;

/// What a superchunk begins with, each the same. The chunk follows.
pub const SINGLE_CHUNK_HEADER: [u8; 16] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";

/// Bytes that [`SingleChunk::check`] has to see: the file's header and the chunk's.
pub const SINGLE_CHUNK_HEAD_LEN: usize = SINGLE_CHUNK_HEADER.len() + HEADER_LEN;

/// How a superchunk is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SuperchunkCheck {
    /// All that its writer put there has to be there, and nothing else.
    #[default]
    Strict,
    /// As bcolz reads: the first 16 bytes are skipped, and so is what follows the chunk. What is odd is
    /// reported.
    Lenient,
}

/// What is wrong with a superchunk that can be read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SuperchunkOddity {
    /// Another header than [`SINGLE_CHUNK_HEADER`].
    Header {
        /// The first 16 bytes.
        found: [u8; 16],
    },
    /// Bytes behind the chunk.
    Trailing {
        /// How many.
        len: u64,
    },
}

impl fmt::Display for SuperchunkOddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { found } => {
                let (found, expected) = (found.escape_ascii(), SINGLE_CHUNK_HEADER.escape_ascii());
                write!(f, "it begins with \"{found}\", should be \"{expected}\"")
            }
            Self::Trailing { len } => {
                write!(f, "{len} bytes follow its chunk, should be none")
            }
        }
    }
}

/// A superchunk whose head has been checked.
///
/// ```
/// use bloscpack_datasets::{wire::SingleChunk, wire::SuperchunkCheck, wire::SuperchunkOddity};
/// // What bcolz 1.2.1 wrote for `[3.25]`.
/// let file = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\x01\x33\x08\x08\0\0\0\x08\0\0\0\x18\0\0\0\0\0\0\0\0\0\x0a\x40";
/// let chunk = SingleChunk::check(&file, 40, SuperchunkCheck::Strict)?;
/// assert_eq!((chunk.header.nbytes, chunk.range()), (8, 16..40));
///
/// assert!(SingleChunk::check(&file, 43, SuperchunkCheck::Strict).is_err());
/// let chunk = SingleChunk::check(&file, 43, SuperchunkCheck::Lenient)?;
/// assert_eq!(chunk.oddities, [SuperchunkOddity::Trailing { len: 3 }]);
/// # Ok::<(), bloscpack_datasets::wire::MetaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleChunk {
    /// The header of the chunk.
    pub header: ChunkHeader,
    /// What is odd about it; nothing where it was checked strictly.
    pub oddities: Vec<SuperchunkOddity>,
}

impl SingleChunk {
    /// Checks a superchunk by its first [`SINGLE_CHUNK_HEAD_LEN`] bytes (more are not looked at) and its
    /// length. What the chunk holds is checked when it is decoded.
    ///
    /// # Errors
    /// [`Fault::CutShort`](blosc1::Fault::CutShort) if the file ends before its chunk does;
    /// [`Fault::Damaged`](blosc1::Fault::Damaged) for an oddity where the check is strict, and for a chunk's header
    /// that cannot be; [`Fault::Unsupported`](blosc1::Fault::Unsupported) for what is not of Blosc 1.
    pub fn check(head: &[u8], file_len: u64, how: SuperchunkCheck) -> Result<Self, MetaError> {
        let (file_header, chunk_header) = split(head).ok_or_else(|| {
            let found = head.len();
            MetaError::cut_short(format!(
                "cut short: {found} of the {SINGLE_CHUNK_HEAD_LEN} bytes that a superchunk has at least"
            ))
        })?;
        let mut oddities = Vec::new();
        if file_header != SINGLE_CHUNK_HEADER {
            oddities.push(SuperchunkOddity::Header { found: file_header });
            refuse(how, &oddities)?;
        }
        let header = ChunkHeader::parse(&chunk_header).map_err(|error| {
            MetaError::new(
                error.fault(),
                format!("byte {}: {error}", SINGLE_CHUNK_HEADER.len()),
            )
        })?;
        if header.is_end_mark() {
            return Err(MetaError::damaged(
                "byte 16: the end mark of a stream, should be a chunk of data",
            ));
        }
        let mut chunk = Self { header, oddities };
        let end = chunk.range().end;
        match file_len.checked_sub(end) {
            None => {
                return Err(MetaError::cut_short(format!(
                    "cut short: {file_len} of {end} bytes are there"
                )));
            }
            Some(0) => {}
            Some(len) => {
                chunk.oddities.push(SuperchunkOddity::Trailing { len });
                refuse(how, &chunk.oddities)?;
            }
        }
        Ok(chunk)
    }

    /// Where in the file the chunk lies.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<u64> {
        let start = SINGLE_CHUNK_HEADER.len() as u64;
        start..start.saturating_add(self.header.ctbytes.into())
    }
}

fn split(head: &[u8]) -> Option<([u8; 16], [u8; HEADER_LEN])> {
    let (file_header, rest) = head.split_first_chunk()?;
    Some((*file_header, *rest.first_chunk()?))
}

fn refuse(how: SuperchunkCheck, oddities: &[SuperchunkOddity]) -> Result<(), MetaError> {
    match oddities.last() {
        Some(oddity) if how == SuperchunkCheck::Strict => {
            Err(MetaError::damaged(oddity.to_string()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SINGLE_CHUNK_HEADER, SingleChunk, SuperchunkCheck, SuperchunkOddity};
    use blosc1::Fault;
    use bloscpack_wire::{FormatVersion, Header};

    /// What bcolz 1.2.1 wrote for `np.array([3.25])`.
    const REAL: [u8; 40] = [
        0x62, 0x6c, 0x70, 0x6b, 0x01, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, 0, 0, //
        0x02, 0x01, 0x33, 0x08, 0x08, 0, 0, 0, 0x08, 0, 0, 0, 0x18, 0, 0, 0, //
        0, 0, 0, 0, 0, 0, 0x0a, 0x40,
    ];

    fn checked(file: &[u8], how: SuperchunkCheck) -> Result<SingleChunk, Fault> {
        let len = u64::try_from(file.len()).unwrap();
        SingleChunk::check(file, len, how).map_err(|error| error.fault())
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
            assert_eq!((chunk.range(), chunk.oddities.len()), (16..40, 0));
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
                Err(Fault::Damaged),
                "byte {at}"
            );
            let chunk = checked(&file, SuperchunkCheck::Lenient).unwrap();
            let found = *file.first_chunk().unwrap();
            assert_eq!(chunk.oddities, [SuperchunkOddity::Header { found }]);
        }
    }

    #[test]
    fn what_follows_the_chunk_is_refused_or_reported() {
        let file = [&REAL[..], b"stale"].concat();
        assert_eq!(checked(&file, SuperchunkCheck::Strict), Err(Fault::Damaged));
        let chunk = checked(&file, SuperchunkCheck::Lenient).unwrap();
        assert_eq!(
            (chunk.range(), chunk.oddities),
            (16..40, vec![SuperchunkOddity::Trailing { len: 5 }])
        );
    }

    #[test]
    fn however_lenient_a_chunk_has_to_be_whole() {
        for how in [SuperchunkCheck::Strict, SuperchunkCheck::Lenient] {
            for len in 0..40 {
                assert_eq!(
                    checked(&REAL[..len], how),
                    Err(Fault::CutShort),
                    "{len} bytes"
                );
            }
            assert_eq!(checked(&changed(28, 0x19), how), Err(Fault::Damaged));
            assert_eq!(checked(&changed(16, 6), how), Err(Fault::Unsupported));
            assert_eq!(checked(&changed(19, 0), how), Err(Fault::Damaged));
            let mark = [&SINGLE_CHUNK_HEADER[..], &blosc1::ChunkHeader::END_MARK].concat();
            assert_eq!(checked(&mark, how), Err(Fault::Damaged));
        }
    }
}
