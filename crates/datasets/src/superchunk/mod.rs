//! Superchunks, the files in `data/`: one or several chunks each, in one of three containers.
//!
//! ```text
//!    layout        module       before the chunks                                                   each chunk
//!    bcolz, blz    single       Bloscpack header, version 1 (16)                                    chunk
//!    blz-doc       bloscpack    Bloscpack header, version 2 (32) | [metadata] | [offset table]      chunk | [digest] | [spare]
//!    carray-doc    proposal     header of the carray proposal (32) | [index]                        chunk | [digest] | [spare]
//! ```

#[cfg(feature = "documents")]
mod bloscpack;
#[cfg(feature = "documents")]
mod offsets;
#[cfg(feature = "documents")]
mod proposal;
mod single;

use crate::error::{trailing, wrong_count, wrong_length};
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, Digest, FormatError, Hashers, Position, Section};
use bytes::Bytes;

pub(crate) use single::SINGLE_HEAD_LEN;

/// The minimum number of bytes of a chunk: its header.
const LEAST_CHUNK: u64 = HEADER_LEN as u64;

/// Bytes of a chunk that are read before its header is known.
pub(crate) const FIRST_READ: u64 = 1 << 20;

/// The container of the chunks in a superchunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// 16 bytes and one chunk, as bcolz, BLZ and carray write them.
    Single {
        /// Whether the 16 bytes are ignored, as by bcolz.
        lenient: bool,
    },
    /// A Bloscpack header of 32 bytes, as in the BLZ document.
    #[cfg(feature = "documents")]
    Bloscpack(Framing),
    /// The carray proposal's header of 32 bytes.
    #[cfg(feature = "documents")]
    Proposal(Framing),
}

/// The options of superchunks with several chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SuperchunkOptions {
    pub checksum: Checksum,
    /// Whether there is an offset table.
    pub offsets: bool,
    /// Bytes left free after each chunk, so that a longer one can replace it in place. Requires the offset table.
    pub spare: u32,
}

impl Default for SuperchunkOptions {
    fn default() -> Self {
        Self {
            checksum: Checksum::default(),
            offsets: true,
            spare: 0,
        }
    }
}

/// The options of superchunks, and the numbers that their headers contain.
#[cfg(feature = "documents")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    pub options: SuperchunkOptions,
    /// Bytes of a full chunk.
    pub chunk_bytes: u32,
    /// Bytes of an element.
    pub typesize: u8,
}

/// The space of a chunk in its superchunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The position of the chunk in the file.
    pub at: u64,
    /// Bytes until the next chunk, or the end.
    pub len: u64,
}

impl Slot {
    /// Reads the header of the chunk.
    pub(crate) fn header(&self, file: &dyn ReadAt) -> Result<ChunkHeader> {
        let mut head = [0; HEADER_LEN];
        file.read_exact_at(self.at, &mut head)?;
        Ok(ChunkHeader::parse(&head)?)
    }
}

/// The positions of the chunks in a superchunk, and other facts of its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SuperchunkIndex {
    pub checksum: Checksum,
    pub slots: Vec<Slot>,
    /// Whether spare bytes may follow a chunk and its digest.
    pub spare: bool,
    /// Bytes after the only chunk of a [`Container::Single`]; 0 in the others.
    pub trailing: u64,
    /// The metadata section of a [`Container::Bloscpack`]; empty in the others.
    pub metadata: Vec<u8>,
    /// Uncompressed bytes of each chunk except the last, if the header contains them.
    pub chunk_size: Option<u32>,
    /// Uncompressed bytes of the last chunk, if the header contains them.
    pub last_chunk: Option<u32>,
}

/// A compressed chunk whose digest, if any, matches.
#[derive(Debug)]
pub(crate) struct StoredChunk {
    pub bytes: Bytes,
    pub header: ChunkHeader,
    /// Bytes between the end of the chunk or its digest and the next chunk.
    pub unused: u64,
}

/// The error for a superchunk that is shorter than it should be.
fn cut_short(found: u64, expected: u64) -> Error {
    Error::cut_short("superchunk", found, expected)
}

/// An error at a byte of a superchunk.
fn at(byte: u64, chunk: Option<u64>, error: impl Into<FormatError>) -> Error {
    let position = Position {
        byte,
        member: 0,
        chunk,
        section: Section::Chunk,
    };
    Error::from(error.into()).at(position)
}

impl Container {
    /// The options; `None` for [`Container::Single`], which has none.
    pub(crate) fn options(&self) -> Option<&SuperchunkOptions> {
        match self {
            Self::Single { .. } => None,
            #[cfg(feature = "documents")]
            Self::Bloscpack(framing) | Self::Proposal(framing) => Some(&framing.options),
        }
    }

    /// Whether a superchunk contains exactly one chunk, without a digest.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Self::Single { .. })
    }

    /// Whether the last chunk is padded to the length of the others. It then has no room for uncounted rows.
    pub(crate) fn pads_last_chunk(&self) -> bool {
        match self {
            Self::Single { .. } => false,
            #[cfg(feature = "documents")]
            Self::Bloscpack(_) => false,
            #[cfg(feature = "documents")]
            Self::Proposal(_) => true,
        }
    }

    /// Reads and checks the header and the positions of the chunks.
    pub(crate) fn read(&self, file: &dyn ReadAt) -> Result<SuperchunkIndex> {
        match self {
            Self::Single { lenient } => single::read(file, *lenient),
            #[cfg(feature = "documents")]
            Self::Bloscpack(_) => bloscpack::read(file),
            #[cfg(feature = "documents")]
            Self::Proposal(_) => proposal::read(file),
        }
    }

    /// The bytes before the chunk of a [`Container::Single`]; `None` for the others.
    pub(crate) fn single_header(&self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Single { .. } => single::header().map(Some),
            #[cfg(feature = "documents")]
            Self::Bloscpack(_) | Self::Proposal(_) => Ok(None),
        }
    }

    /// The bytes of a file with these chunks. Containers without a metadata section ignore `metadata`.
    #[cfg_attr(
        not(feature = "documents"),
        allow(
            unused_variables,
            reason = "only superchunks of the two documents have metadata"
        )
    )]
    pub(crate) fn write(&self, metadata: &[u8], chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
        match self {
            Self::Single { .. } => single::write(chunks),
            #[cfg(feature = "documents")]
            Self::Bloscpack(framing) => bloscpack::write(framing, metadata, chunks),
            #[cfg(feature = "documents")]
            Self::Proposal(framing) => proposal::write(framing, chunks),
        }
    }
}

/// Bytes of a digest of this kind.
fn digest_len(checksum: Checksum) -> u64 {
    to_u64(checksum.digest_len())
}

impl SuperchunkIndex {
    /// The spare bytes that the writer leaves after each chunk, inferred as the minimum after the first four chunks.
    #[cfg(feature = "documents")]
    pub(crate) fn usual_spare(&self, file: &dyn ReadAt) -> u32 {
        if !self.spare {
            return 0;
        }
        let unused = self.slots.iter().take(4).filter_map(|slot| {
            let head = read_up_to(file, slot.at, LEAST_CHUNK).ok()?;
            let header = ChunkHeader::parse(head.first_chunk()?).ok()?;
            let used = u64::from(header.ctbytes) + digest_len(self.checksum);
            slot.len.checked_sub(used)
        });
        let spare = unused.min().and_then(|unused| u32::try_from(unused).ok());
        // Only a default for new superchunks, so 0 is always safe.
        spare.unwrap_or(0)
    }

    /// Refuses a chunk whose uncompressed length contradicts the header of the superchunk.
    fn check_chunk_size(&self, index: usize, chunk: u64, found: u32) -> Result<()> {
        let is_last = index + 1 == self.slots.len();
        let expected = if is_last {
            self.last_chunk
        } else {
            self.chunk_size
        };
        match expected.filter(|expected| *expected != found) {
            None => Ok(()),
            Some(expected) => {
                let expected = expected.into();
                Err(wrong_length(chunk, found.into(), expected..=expected))
            }
        }
    }

    /// Reads the chunk at `index` of the superchunk, and compares its digest. It may have at most `most` uncompressed bytes.
    /// `chunk` is its number in the array, for errors.
    pub(crate) fn chunk(
        &self,
        file: &dyn ReadAt,
        index: usize,
        chunk: u64,
        most: u64,
    ) -> Result<StoredChunk> {
        let slot = self
            .slots
            .get(index)
            .ok_or_else(|| wrong_count(to_u64(self.slots.len()), to_u64(index) + 1))?;
        let fail = |error: FormatError| at(slot.at, Some(chunk), error);
        let cut_short =
            |expected| Error::cut_short(format_args!("chunk {chunk}"), slot.len, expected);
        let mut bytes = read_up_to(file, slot.at, slot.len.min(FIRST_READ))?;
        let head = bytes.first_chunk::<HEADER_LEN>();
        let head = head.ok_or_else(|| cut_short(LEAST_CHUNK))?;
        let header = ChunkHeader::parse(head).map_err(|error| fail(error.into()))?;
        self.check_chunk_size(index, chunk, header.nbytes)?;
        // Refuse an impossible length before memory is allocated for it.
        if u64::from(header.nbytes) > most {
            return Err(wrong_length(chunk, header.nbytes.into(), 0..=most));
        }
        let len = u64::from(header.ctbytes);
        let used = len + digest_len(self.checksum);
        let Some(unused) = slot.len.checked_sub(used) else {
            return Err(cut_short(used));
        };
        if unused > 0 && !self.spare {
            return Err(trailing(unused, format_args!("chunk {chunk}")));
        }
        if let Some(rest) = used.checked_sub(FIRST_READ) {
            let rest = read_up_to(file, slot.at + FIRST_READ, rest)?;
            bytes = [bytes, rest].concat().into();
        }
        self.compare(&bytes, to_usize(header.ctbytes))
            .ok_or_else(|| cut_short(used))?
            .map_err(fail)?;
        bytes.truncate(to_usize(header.ctbytes));
        Ok(StoredChunk {
            bytes,
            header,
            unused: unused + self.trailing,
        })
    }

    /// Compares the digest after a chunk; `None` if the file has become shorter meanwhile.
    fn compare(&self, bytes: &[u8], len: usize) -> Option<std::result::Result<(), FormatError>> {
        let (chunk, found) = bytes.split_at_checked(len)?;
        let found = Digest::from_bytes(found.get(..self.checksum.digest_len())?)?;
        let computed = Hashers::default().digest(self.checksum, chunk);
        Some(FormatError::check_digest(self.checksum, found, computed))
    }
}

/// A chunk and its digest, padded with zeros to the length of the slot; `None` if they do not fit.
pub(crate) fn fitted(chunk: &[u8], checksum: Checksum, slot: &Slot) -> Result<Option<Vec<u8>>> {
    let mut bytes = with_digest(chunk, checksum);
    if to_u64(bytes.len()) > slot.len {
        return Ok(None);
    }
    bytes.resize(in_memory(slot.len)?, 0);
    Ok(Some(bytes))
}

/// A chunk followed by its digest.
fn with_digest(chunk: &[u8], checksum: Checksum) -> Vec<u8> {
    let mut bytes = chunk.to_vec();
    bytes.extend_from_slice(Hashers::default().digest(checksum, chunk).as_bytes());
    bytes
}

/// Reads up to `len` bytes of a file at position `at`; fewer at its end, none after it.
fn read_up_to(file: &dyn ReadAt, at: u64, len: u64) -> Result<Bytes> {
    let rest = file.size()?.saturating_sub(at);
    Ok(file.read_bytes(at, in_memory(len.min(rest))?)?)
}
