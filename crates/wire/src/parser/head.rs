//! The part of a member before its chunks: header, metadata, offset table.

use super::{Event, Member, Parser, State, Step};
use crate::error::FormatError;
use crate::geometry::Geometry;
use crate::header::{Header, MAGIC, MetadataPlace};
use crate::int::to_usize;
use crate::limits::Limit;
use crate::metadata::{METADATA_HEADER_LEN, Metadata, MetadataHeader, inflate};
use crate::offsets::{ENTRY_LEN, Offsets};
use crate::seal::Seal;

/// An entry of the offset table that is not filled in, or is spare.
const UNKNOWN_ENTRY: i64 = -1;

impl Parser {
    /// State `Start`: the magic, then as many bytes as the layout needs. Ends with
    /// [`Event::Header`], and continues with the metadata or the offset table.
    pub(super) fn start<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        // Gathers the whole magic first, so that errors do not depend on how the input is cut.
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
        self.members += 1;
        let bytes = self.take(header.version.header_len())?;
        if header.seal.is_some() {
            self.member.seal = Some(Seal::of_header(&bytes));
        }
        match header.metadata {
            MetadataPlace::Absent => self.begin_table(0)?,
            MetadataPlace::Raw { len, zlib } => self.enter(State::RawMetadata { len, zlib }),
            MetadataPlace::Section => self.enter(State::SectionHeader),
        };
        Ok(Step::Event(Event::Header(header)))
    }

    /// [`Header::needed`] for the gathered bytes. After another member, a wrong magic is a damaged
    /// member: `after` has let it pass because only one bit differs.
    fn header_needed(&self) -> Result<usize, FormatError> {
        Header::needed(&self.buf).map_err(|error| match (error, self.buf.first_chunk()) {
            (FormatError::Magic { .. }, Some(found)) if self.members > 0 => {
                FormatError::MemberMagic { found: *found }
            }
            (error, _) => error,
        })
    }

    /// State `RawMetadata`: `len` bytes, which the seal covers. Ends with [`Event::Metadata`].
    pub(super) fn raw_metadata<'a>(
        &mut self,
        input: &mut &'a [u8],
        len: u32,
        zlib: bool,
    ) -> Result<Step<'a>, FormatError> {
        self.check_metadata_limit(len)?;
        if !self.gather(input, to_usize(len)) {
            return Ok(Step::Hungry);
        }
        let stored = self.take(to_usize(len))?;
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

    /// State `SectionHeader`: 32 bytes. Both lengths must be within the limit.
    pub(super) fn section_header<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        if !self.gather(input, METADATA_HEADER_LEN) {
            return Ok(Step::Hungry);
        }
        let header = MetadataHeader::decode(&self.peek()?)?;
        self.take(METADATA_HEADER_LEN)?;
        self.check_metadata_limit(header.stored_size.max(header.meta_size))?;
        self.state = State::SectionBody(header);
        Ok(Step::Again)
    }

    /// Refuses metadata of more bytes than the limit, before any is gathered.
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

    /// State `SectionBody`: the stored form.
    pub(super) fn section_body<'a>(
        &mut self,
        input: &mut &'a [u8],
        header: MetadataHeader,
    ) -> Result<Step<'a>, FormatError> {
        let len = to_usize(header.stored_size);
        if !self.gather(input, len) {
            return Ok(Step::Hungry);
        }
        let stored = self.take(len)?;
        let left = u64::from(header.max_meta_size - header.stored_size);
        self.state = State::SectionRoom {
            header,
            stored,
            left,
        };
        Ok(Step::Again)
    }

    /// State `SectionRoom`: skips the rest of the room. Its bytes are not checked.
    pub(super) fn section_room<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        let State::SectionRoom {
            header,
            mut stored,
            left,
        } = std::mem::replace(&mut self.state, State::Start)
        else {
            return Err(self.wrong_state());
        };
        let (_, passed) = self.pull_u64(input, left);
        let left = left - passed;
        if left > 0 {
            self.state = State::SectionRoom {
                header,
                stored,
                left,
            };
            return Ok(Step::Hungry);
        }
        stored.shrink_to_fit();
        self.state = State::SectionDigest { header, stored };
        Ok(Step::Again)
    }

    /// State `SectionDigest`: the digest; then checks and unpacks the stored form. Ends with
    /// [`Event::Metadata`].
    pub(super) fn section_digest<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        let State::SectionDigest { header, .. } = &self.state else {
            return Err(self.wrong_state());
        };
        let header = *header;
        if !self.gather(input, header.checksum.digest_len()) {
            return Ok(Step::Hungry);
        }
        let digest = self.take_digest(header.checksum)?;
        let State::SectionDigest { stored, .. } = &self.state else {
            return Err(self.wrong_state());
        };
        let metadata = header.unpack(stored, digest, &self.hashers)?;
        self.metadata_done(metadata, Some(header), header.section_len())
    }

    /// Continues with the offset table after metadata of `len` bytes, including header, room and
    /// digest.
    fn metadata_done<'a>(
        &mut self,
        metadata: Metadata,
        header: Option<MetadataHeader>,
        len: u64,
    ) -> Result<Step<'a>, FormatError> {
        self.begin_table(len)?;
        Ok(Step::Event(Event::Metadata(metadata, header)))
    }

    /// Computes the positions of the parts, and enters the offset table if it is within the limit.
    fn begin_table<'a>(&mut self, metadata_len: u64) -> Result<Step<'a>, FormatError> {
        let header = &self.member.header;
        self.member.geometry = Geometry::of(header, metadata_len)?;
        let allowed = self.limits.offsets;
        let state = match header.nchunks {
            None if header.offsets => State::OpenTable,
            Some(counted) if header.offsets && counted > allowed / ENTRY_LEN => {
                return Err(FormatError::Limit {
                    limit: Limit::Offsets,
                    // The geometry has this product.
                    found: counted * ENTRY_LEN,
                    allowed,
                });
            }
            _ => State::Table { entry: 0 },
        };
        Ok(self.enter(state))
    }

    /// State `Table`: entries from number `from`, until the table is complete. Its length is known,
    /// and may be 0.
    ///
    /// Entries of counted chunks must ascend from the end of the table or all be -1; spare ones
    /// must be -1.
    pub(super) fn table<'a>(
        &mut self,
        input: &mut &'a [u8],
        from: u64,
    ) -> Result<Step<'a>, FormatError> {
        let header = &self.member.header;
        let (Some(counted), Some(entries)) = (header.nchunks, header.table_len()) else {
            return self.begin_chunks();
        };
        for number in from..entries {
            let Some(entry) = self.entry(input)? else {
                self.state = State::Table { entry: number };
                return Ok(Step::Hungry);
            };
            if number < counted {
                let first = self.member.geometry.chunks_at;
                self.member.offsets.push(entry, number, first)?;
            } else if entry != UNKNOWN_ENTRY {
                let expected = "-1, since it is spare".to_owned();
                return Err(FormatError::Offset {
                    entry: number,
                    found: entry.into(),
                    expected,
                });
            }
        }
        self.begin_chunks()
    }

    /// State `OpenTable`: the table of a writer that neither knew the number of chunks nor
    /// finished.
    ///
    /// It consists of entries of -1 up to the first chunk, whose first byte is never 0xff.
    pub(super) fn open_table<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        self.member.offsets = Offsets::Unfilled;
        loop {
            if !self.gather(input, 1) {
                return Ok(Step::Hungry);
            }
            if self.buf.first() != Some(&0xff) {
                break;
            }
            match self.entry(input)? {
                None => return Ok(Step::Hungry),
                Some(UNKNOWN_ENTRY) => {}
                Some(found) => {
                    let expected = "-1, since the number of chunks is unknown".to_owned();
                    return Err(FormatError::Offset {
                        entry: 0,
                        found: found.into(),
                        expected,
                    });
                }
            }
        }
        self.member.geometry.chunks_at = self.here() - self.member.at;
        self.begin_chunks()
    }

    /// The next entry of the table; `None` if it is incomplete. The seal covers it.
    fn entry(&mut self, input: &mut &[u8]) -> Result<Option<i64>, FormatError> {
        let bytes = match input.first_chunk() {
            Some(bytes) if self.buf.is_empty() => {
                self.pull(input, bytes.len());
                *bytes
            }
            _ if self.gather(input, 8) => {
                let bytes = self.peek()?;
                self.take(bytes.len())?;
                bytes
            }
            _ => return Ok(None),
        };
        if let Some(seal) = &mut self.member.seal {
            seal.update(&bytes);
        }
        Ok(Some(i64::from_le_bytes(bytes)))
    }

    /// Checks the seal. Ends with [`Event::ChunksBegin`].
    fn begin_chunks<'a>(&mut self) -> Result<Step<'a>, FormatError> {
        if let (Some(found), Some(seal)) = (self.member.header.seal, self.member.seal.take()) {
            seal.check(found)?;
        }
        self.enter(State::Boundary);
        Ok(Step::Event(Event::ChunksBegin))
    }
}
