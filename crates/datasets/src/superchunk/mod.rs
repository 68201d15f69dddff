//! The files of a dataset's `data/`: one or several chunks each, in one of three containers.

mod bloscpack;
mod proposal;
mod single;

use blosc1::{ChunkHeader, Fault, HEADER_LEN};
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::Object;
use bloscpack_wire::{Checksum, Digest, FormatError, Hashers, Position, Section};

/// How the chunks of a superchunk are put into its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// 16 bytes and one chunk: what bcolz, BLZ and carray really write.
    Single {
        /// Whether the 16 bytes may be anything, as they may for bcolz.
        lenient: bool,
    },
    /// A Bloscpack header of 32 bytes, as the BLZ document has it.
    Bloscpack(Framing),
    /// The header of 32 bytes of the carray proposal.
    Proposal(Framing),
}

/// What a writer of superchunks with several chunks may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    pub checksum: Checksum,
    /// Whether a table tells where the chunks begin.
    pub offsets: bool,
    /// Bytes left free behind each chunk, for longer ones in its place. Needs the table.
    pub spare: u32,
    /// Bytes of a full chunk, for the header.
    pub chunk_bytes: u32,
    /// Bytes of an element, for the header.
    pub typesize: u8,
}

/// Where a chunk lies in its superchunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub at: u64,
    /// Bytes until the next chunk, or the end.
    pub room: u64,
}

/// What a superchunk says of its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    pub checksum: Checksum,
    pub places: Vec<Place>,
    /// Whether more may lie behind a chunk than its digest.
    pub spare: bool,
    /// Bytes behind the last chunk, where its container has no place for any.
    pub trailing: u64,
    /// What else the file says, where its container has a place for that.
    pub metadata: Vec<u8>,
    /// Bytes of data of each chunk but the last, and of the last, where the file says so.
    pub stated: (Option<u32>, Option<u32>),
}

/// A chunk as it is stored, its digest compared.
#[derive(Debug)]
pub(crate) struct Stored {
    pub bytes: Vec<u8>,
    pub header: ChunkHeader,
    /// Bytes between it with its digest and the next.
    pub behind: u64,
}

/// An error at a byte of a superchunk.
fn at(byte: u64, section: Section, chunk: Option<u64>, error: impl Into<FormatError>) -> Error {
    let position = Position {
        byte,
        member: 0,
        chunk,
        section,
    };
    Error::new(ErrorKind::Format(error.into()), Some(position))
}

fn damaged(what: String) -> Error {
    crate::error::dataset(Fault::Damaged, what)
}

impl Container {
    /// What its writer chose, where there is a choice.
    pub(crate) fn framing(&self) -> Option<&Framing> {
        match self {
            Self::Single { .. } => None,
            Self::Bloscpack(framing) | Self::Proposal(framing) => Some(framing),
        }
    }

    /// What a file says of its chunks.
    pub(crate) fn read(&self, file: &dyn Object) -> Result<Contents> {
        match self {
            Self::Single { lenient } => single::read(file, *lenient),
            Self::Bloscpack(_) => bloscpack::read(file),
            Self::Proposal(_) => proposal::read(file),
        }
    }

    /// What stands before the only chunk, where there is nothing else but that.
    pub(crate) fn front(&self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Single { .. } => single::front().map(Some),
            Self::Bloscpack(_) | Self::Proposal(_) => Ok(None),
        }
    }

    /// The bytes of a file that holds these chunks.
    pub(crate) fn write(&self, metadata: &[u8], chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
        match self {
            Self::Single { .. } => single::write(chunks),
            Self::Bloscpack(framing) => bloscpack::write(framing, metadata, chunks),
            Self::Proposal(framing) => proposal::write(framing, chunks),
        }
    }
}

/// The bytes of a digest of this kind.
pub(crate) fn digest_len(checksum: Checksum) -> u64 {
    u64::try_from(checksum.digest_len()).unwrap_or(0)
}

impl Contents {
    /// The least room that any of the first chunks has behind it: what its writer left free, but for chunks that grew.
    pub(crate) fn usual_spare(&self, file: &dyn Object) -> u32 {
        if !self.spare {
            return 0;
        }
        let first = self.places.iter().take(4).enumerate();
        let spare = first
            .filter_map(|(index, _)| self.chunk(file, index, 0, u64::MAX).ok())
            .map(|stored| stored.behind)
            .min();
        spare
            .and_then(|spare| u32::try_from(spare).ok())
            .unwrap_or(0)
    }

    /// A chunk has as much data as the file's own header says.
    fn check_stated(&self, index: usize, number: u64, found: u32) -> Result<()> {
        let is_last = index.saturating_add(1) == self.places.len();
        let stated = if is_last {
            self.stated.1
        } else {
            self.stated.0
        };
        match stated.filter(|stated| *stated != found) {
            None => Ok(()),
            Some(stated) => Err(damaged(format!(
                "chunk {number} has {found} bytes of data, where the header of its file says {stated}"
            ))),
        }
    }

    /// Reads a chunk of at most so many bytes of data, and compares its digest. `number` is what errors call it.
    pub(crate) fn chunk(
        &self,
        file: &dyn Object,
        index: usize,
        number: u64,
        most: u64,
    ) -> Result<Stored> {
        let place = self.places.get(index).ok_or_else(|| {
            let count = self.places.len();
            damaged(format!(
                "chunk {number} should be number {index} of this superchunk, which has {count}"
            ))
        })?;
        let fail = |error: FormatError| at(place.at, Section::Chunk, Some(number), error);
        let head = read_all(file, place.at, place.room.min(16))?;
        let head = head.first_chunk::<HEADER_LEN>();
        let head =
            head.ok_or_else(|| damaged(format!("cut short within the header of chunk {number}")))?;
        let header = ChunkHeader::parse(head).map_err(|error| fail(error.into()))?;
        self.check_stated(index, number, header.nbytes)?;
        // Memory is taken for what is there and can be, not for what a header says.
        if u64::from(header.nbytes) > most {
            let found = header.nbytes;
            return Err(damaged(format!(
                "chunk {number} has {found} bytes of data, where {most} at most can be"
            )));
        }
        let len = u64::from(header.ctbytes);
        let used = len.saturating_add(digest_len(self.checksum));
        let Some(behind) = place.room.checked_sub(used) else {
            let what = format!(
                "chunk {number} says that it has {len} bytes, where {} are",
                place.room
            );
            return Err(crate::error::dataset(Fault::CutShort, what));
        };
        if behind > 0 && !self.spare {
            return Err(damaged(format!(
                "{behind} bytes lie behind chunk {number}, where nothing should"
            )));
        }
        let mut bytes = read_all(file, place.at, used)?;
        self.compare(&bytes, to_usize(len)).map_err(fail)?;
        bytes.truncate(to_usize(len));
        Ok(Stored {
            bytes,
            header,
            behind: behind.saturating_add(self.trailing),
        })
    }

    /// Compares the digest behind a chunk.
    fn compare(&self, bytes: &[u8], len: usize) -> std::result::Result<(), FormatError> {
        let (chunk, behind) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        let found = behind
            .get(..self.checksum.digest_len())
            .and_then(Digest::from_bytes);
        let computed = Hashers::default().digest(self.checksum, chunk);
        FormatError::check_digest(self.checksum, found.unwrap_or(Digest::EMPTY), computed)
    }
}

/// A chunk with its digest, as it is put into a place that has this room; nothing if it does not fit.
pub(crate) fn fitted(chunk: &[u8], checksum: Checksum, room: u64) -> Option<Vec<u8>> {
    let mut bytes = with_digest(chunk, checksum);
    if u64::try_from(bytes.len()).ok()? > room {
        return None;
    }
    bytes.resize(to_usize(room), 0);
    Some(bytes)
}

/// A chunk with its digest behind it.
fn with_digest(chunk: &[u8], checksum: Checksum) -> Vec<u8> {
    let mut bytes = chunk.to_vec();
    bytes.extend_from_slice(Hashers::default().digest(checksum, chunk).as_bytes());
    bytes
}

/// A stretch of a file, no longer than the file.
fn read_all(file: &dyn Object, at: u64, len: u64) -> Result<Vec<u8>> {
    let there = file.size()?.saturating_sub(at);
    let mut bytes = vec![0; to_usize(len.min(there))];
    file.read_exact_at(at, &mut bytes)?;
    Ok(bytes)
}

/// Where the chunks of a table begin, checked against the file.
fn places(offsets: &[u64], first: u64, end: u64) -> Result<Vec<Place>> {
    let mut places = Vec::with_capacity(offsets.len());
    let mut least = first;
    for (number, offset) in offsets.iter().enumerate() {
        // Overlapping or descending chunks would let one damage stand for many.
        if *offset < least || offset.saturating_add(16) > end {
            let what = format!(
                "entry {number} of the table of offsets is {offset}, where {least} to {end} can be"
            );
            return Err(damaged(what));
        }
        least = offset.saturating_add(16);
        let next = offsets
            .get(number.saturating_add(1))
            .copied()
            .unwrap_or(end);
        places.push(Place {
            at: *offset,
            room: next.saturating_sub(*offset),
        });
    }
    Ok(places)
}

/// Where the chunks begin that lie one behind the other, by their own lengths.
fn walk(file: &dyn Object, first: u64, count: u64, checksum: Checksum) -> Result<Vec<Place>> {
    let (mut places, mut position, end) = (Vec::new(), first, file.size()?);
    for number in 0..count {
        let mut head = [0; HEADER_LEN];
        if position.saturating_add(16) > end {
            let what = format!(
                "the file ends before chunk {number} of the {count} that its header counts"
            );
            return Err(crate::error::dataset(Fault::CutShort, what));
        }
        file.read_exact_at(position, &mut head)?;
        let header = ChunkHeader::parse(&head)
            .map_err(|error| at(position, Section::Chunk, Some(number), error))?;
        let room = u64::from(header.ctbytes).saturating_add(digest_len(checksum));
        places.push(Place { at: position, room });
        position = position.saturating_add(room);
    }
    if position != end {
        let what = format!("the chunks end at byte {position}, the file at {end}");
        return Err(match position > end {
            true => crate::error::dataset(Fault::CutShort, what),
            false => damaged(what),
        });
    }
    Ok(places)
}
