//! The part of a member before its chunks: header, metadata, offsets.

use super::{Event, Member, Parser, State, Step};
use crate::checksum::Digest;
use crate::error::FormatError;
use crate::geometry::Geometry;
use crate::header::{Header, MAGIC, MetadataPlace};
use crate::limits::Limit;
use crate::metadata::{METADATA_HEADER_LEN, Metadata, MetadataHeader, inflate};
use crate::offsets::{ENTRY_LEN, Offsets};

const UNKNOWN_ENTRY: i64 = -1;

impl Parser {
    pub(super) fn start<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        // The magic first and whole, so that what is said of it does not depend on the pieces.
        if !self.gather(input, MAGIC.len()) {
            return Ok(Step::Hungry);
        }
        let needed = self.header_needed()?;
        if self.buf.len() < needed {
            return Ok(if self.gather(input, needed) {
                Step::Again
            } else {
                Step::Hungry
            });
        }
        let header = Header::decode(&self.buf)?;
        self.member = Member::new(header.clone(), self.part_at);
        self.members = self.members.saturating_add(1);
        let bytes = self.take(header.layout.header_len());
        if header.seal.is_some() {
            let mut seal = crc32fast::Hasher::new();
            seal.update(&Header::sealed_bytes(&bytes));
            self.member.seal = Some(seal);
        }
        match header.metadata {
            MetadataPlace::Absent => self.begin_table()?,
            MetadataPlace::Raw { len, zlib } => self.enter(State::RawMetadata { len, zlib }),
            MetadataPlace::Section => self.enter(State::SectionHeader),
        };
        Ok(Step::Event(Event::Header(header)))
    }

    fn header_needed(&self) -> Result<usize, FormatError> {
        Header::needed(&self.buf).map_err(|error| match (error, self.buf.first_chunk()) {
            (FormatError::Magic { .. }, Some(found)) if self.members > 0 => {
                FormatError::MemberMagic { found: *found }
            }
            (error, _) => error,
        })
    }

    pub(super) fn raw_metadata<'a>(
        &mut self,
        input: &mut &'a [u8],
        len: u32,
        zlib: bool,
    ) -> Result<Step<'a>, FormatError> {
        self.check_metadata_limit(len)?;
        let len_bytes = usize::try_from(len).unwrap_or(usize::MAX);
        if !self.gather(input, len_bytes) {
            return Ok(Step::Hungry);
        }
        let stored = self.take(len_bytes);
        if let Some(seal) = &mut self.member.seal {
            seal.update(&stored);
        }
        let text = if zlib {
            inflate(&stored, self.limits.metadata)?
        } else {
            stored
        };
        self.metadata_done(Metadata::from_json(text)?, None, len.into())
    }

    pub(super) fn section_header<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        if !self.gather(input, METADATA_HEADER_LEN) {
            return Ok(Step::Hungry);
        }
        let bytes = self.take(METADATA_HEADER_LEN);
        let header =
            MetadataHeader::decode(bytes.first_chunk().unwrap_or(&[0; METADATA_HEADER_LEN]))?;
        self.check_metadata_limit(header.stored_size.max(header.meta_size))?;
        self.state = State::SectionBody(header);
        Ok(Step::Again)
    }

    fn check_metadata_limit(&self, len: u32) -> Result<(), FormatError> {
        if len > self.limits.metadata {
            return Err(FormatError::Limit {
                limit: Limit::Metadata,
                found: len.into(),
                allowed: self.limits.metadata.into(),
            });
        }
        Ok(())
    }

    pub(super) fn section_body<'a>(
        &mut self,
        input: &mut &'a [u8],
        header: MetadataHeader,
    ) -> Result<Step<'a>, FormatError> {
        let len = usize::try_from(header.stored_size).unwrap_or(usize::MAX);
        if !self.gather(input, len) {
            return Ok(Step::Hungry);
        }
        let stored = self.take(len);
        let left = u64::from(header.max_meta_size.saturating_sub(header.stored_size));
        self.state = State::SectionRoom {
            header,
            stored,
            left,
        };
        Ok(Step::Again)
    }

    pub(super) fn section_room<'a>(&mut self, input: &mut &'a [u8]) -> Step<'a> {
        let State::SectionRoom {
            header,
            mut stored,
            left,
        } = std::mem::replace(&mut self.state, State::Start)
        else {
            return Step::Again;
        };
        let (_, passed) = self.pull_u64(input, left);
        let left = left.saturating_sub(passed);
        if left > 0 {
            self.state = State::SectionRoom {
                header,
                stored,
                left,
            };
            return Step::Hungry;
        }
        stored.shrink_to_fit();
        self.state = State::SectionDigest { header, stored };
        Step::Again
    }

    pub(super) fn section_digest<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        let State::SectionDigest { header, .. } = &self.state else {
            return Ok(Step::Again);
        };
        let (header, len) = (*header, header.checksum.digest_len());
        if !self.gather(input, len) {
            return Ok(Step::Hungry);
        }
        let digest = Digest::from_bytes(&self.take(len)).unwrap_or(Digest::EMPTY);
        let State::SectionDigest { stored, .. } = &self.state else {
            return Ok(Step::Again);
        };
        let metadata = header.unpack(stored, digest, &self.hashers)?;
        self.metadata_done(metadata, Some(header), header.section_len())
    }

    fn metadata_done<'a>(
        &mut self,
        metadata: Metadata,
        header: Option<MetadataHeader>,
        len: u64,
    ) -> Result<Step<'a>, FormatError> {
        self.member.metadata_len = len;
        self.begin_table()?;
        Ok(Step::Event(Event::Metadata(metadata, header)))
    }

    fn begin_table<'a>(&mut self) -> Result<Step<'a>, FormatError> {
        let header = &self.member.header;
        self.member.chunks_at = Geometry::of(header, self.member.metadata_len)?.chunks_at;
        let counted = header.nchunks.unwrap_or(0).saturating_mul(ENTRY_LEN);
        let limit = self.limits.offsets;
        let open = header.offsets && header.nchunks.is_none();
        if header.offsets && counted > limit {
            return Err(FormatError::Limit {
                limit: Limit::Offsets,
                found: counted,
                allowed: limit,
            });
        }
        Ok(self.enter(if open {
            State::OpenTable
        } else {
            State::Table { entry: 0 }
        }))
    }

    /// A table whose length is known, perhaps 0.
    pub(super) fn table<'a>(
        &mut self,
        input: &mut &'a [u8],
        from: u64,
    ) -> Result<Step<'a>, FormatError> {
        let counted = self.member.header.nchunks.unwrap_or(0);
        let entries = self.member.header.table_len().unwrap_or(0);
        for number in from..entries {
            let Some(entry) = self.entry(input) else {
                self.state = State::Table { entry: number };
                return Ok(Step::Hungry);
            };
            if number < counted {
                let first = self.member.chunks_at;
                self.member.offsets.push(entry, number, first)?;
            } else if entry != UNKNOWN_ENTRY {
                let expected = "-1, since it is spare".to_owned();
                return Err(FormatError::Offset {
                    entry: number,
                    found: entry,
                    expected,
                });
            }
        }
        self.begin_chunks()
    }

    /// A table left by a writer that knew neither the number of chunks nor finished: entries of
    /// -1 up to the first chunk, whose first byte cannot be 0xff.
    pub(super) fn open_table<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        self.member.offsets = Offsets::Unfilled;
        loop {
            if !self.gather(input, 1) {
                return Ok(Step::Hungry);
            }
            if self.buf.first() != Some(&0xff) {
                break;
            }
            match self.entry(input) {
                None => return Ok(Step::Hungry),
                Some(UNKNOWN_ENTRY) => {}
                Some(found) => {
                    let expected = "-1, since the number of chunks is unknown".to_owned();
                    return Err(FormatError::Offset {
                        entry: 0,
                        found,
                        expected,
                    });
                }
            }
        }
        self.member.chunks_at = self.here().saturating_sub(self.member.at);
        self.begin_chunks()
    }

    /// The next entry of the table, if all its bytes are there.
    fn entry(&mut self, input: &mut &[u8]) -> Option<i64> {
        let bytes = match input.first_chunk() {
            Some(bytes) if self.buf.is_empty() => {
                self.pull(input, bytes.len());
                *bytes
            }
            _ if self.gather(input, 8) => self.take(8).first_chunk().copied().unwrap_or_default(),
            _ => return None,
        };
        if let Some(seal) = &mut self.member.seal {
            seal.update(&bytes);
        }
        Some(i64::from_le_bytes(bytes))
    }

    fn begin_chunks<'a>(&mut self) -> Result<Step<'a>, FormatError> {
        if let (Some(found), Some(seal)) = (self.member.header.seal, self.member.seal.take()) {
            let expected = seal.finalize();
            if found != expected {
                return Err(FormatError::Seal { found, expected });
            }
        }
        self.enter(State::Boundary);
        Ok(Step::Event(Event::ChunksBegin))
    }
}
