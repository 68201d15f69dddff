//! Whether there is a sound chunk at a position.

use super::block_layout::{Shape, shape};
use super::budget::Work;
use super::window::{Window, len_of};
use blosc1::{ChunkDecoder, ChunkError, ChunkHeader, HEADER_LEN, internal::has_blocks};
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::Limit;
use bloscpack_wire::{
    Checksum, Digest, FormatError, Hashers, Limits, checksum::MAX_DIGEST_LEN, header::MAGIC,
};
use std::ops::Range;

/// Blocks looked at from both ends before a chunk is hashed that nothing but its header speaks for.
const QUICK_BLOCKS: u32 = 8;
/// Blocks looked at to find out how long a damaged chunk is.
const MOST_BLOCKS: u32 = 1 << 16;

/// A chunk whose digest holds, or that decodes where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub at: u64,
    pub ctbytes: u32,
    pub nbytes: u32,
}

impl Found {
    fn new(at: u64, header: &ChunkHeader) -> Self {
        Self {
            at,
            ctbytes: header.ctbytes,
            nbytes: header.nbytes,
        }
    }

    /// Its bytes and those of its digest.
    pub(super) fn bytes(&self, checksum: Checksum) -> Range<u64> {
        self.at..end_of(self.at, self.ctbytes, checksum)
    }
}

/// Where what follows a chunk and its digest begins.
pub(super) fn end_of(at: u64, ctbytes: u32, checksum: Checksum) -> u64 {
    at.saturating_add(ctbytes.into())
        .saturating_add(checksum.digest_len() as u64)
}

/// Whether there is a sound chunk at a position, by this checksum or any.
type Question = (u64, Option<Checksum>);
/// The chunk, and the checksum by which it is sound.
type Answer = Option<(Found, Checksum)>;

/// Looks for chunks in a source, with bounded work.
pub(super) struct Probe<'a, S> {
    pub window: Window<'a, S>,
    pub limits: Limits,
    pub hashers: Hashers,
    work: Work,
    decoder: ChunkDecoder,
    block: Vec<u8>,
    /// The last question and its answer, which is often asked for again.
    last: Option<(Question, Answer)>,
}

impl<'a, S: ReadAt> Probe<'a, S> {
    pub(super) fn new(source: &'a S, limits: Limits, hashers: Hashers) -> Result<Self> {
        Ok(Self {
            window: Window::new(source)?,
            limits,
            hashers,
            work: Work::default(),
            decoder: limits.decoder(),
            block: Vec::new(),
            last: None,
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.window.size()
    }

    /// The header at this position, or what is wrong with it.
    pub(super) fn header(
        &mut self,
        at: u64,
    ) -> Result<std::result::Result<ChunkHeader, FormatError>> {
        let bytes = self.window.look(at, HEADER_LEN)?;
        let Some(bytes) = bytes.first_chunk() else {
            let found = u64::try_from(bytes.len()).unwrap_or(0);
            let expected = HEADER_LEN as u64;
            return Ok(Err(FormatError::Cut { found, expected }));
        };
        Ok(ChunkHeader::parse(bytes).map_err(FormatError::from))
    }

    /// The sound chunk at this position, by this checksum or, where none is known, by any, and the
    /// checksum by which it is.
    pub(super) fn sound(
        &mut self,
        at: u64,
        checksum: Option<Checksum>,
    ) -> Result<Option<(Found, Checksum)>> {
        if let Some((question, answer)) = self.last
            && question == (at, checksum)
        {
            return Ok(answer);
        }
        let answer = match self.header(at)? {
            Ok(header) if !header.is_end_mark() && self.work.allows(at) => {
                let by = self.holds(at, &header, checksum)?;
                by.map(|by| (Found::new(at, &header), by))
            }
            _ => None,
        };
        self.last = Some(((at, checksum), answer));
        Ok(answer)
    }

    /// As [`sound`](Self::sound), for a place to which nothing leads: there, all that can be told
    /// before hashing has to be right. `chunk_size` is the most that it may hold, `claimed` what chunks
    /// hold by a header that may be damaged.
    pub(super) fn sound_by_chance(
        &mut self,
        at: u64,
        checksum: Option<Checksum>,
        chunk_size: Option<u32>,
        claimed: Option<u32>,
    ) -> Result<Option<(Found, Checksum)>> {
        let Ok(header) = self.header(at)? else {
            return Ok(None);
        };
        let most = chunk_size
            .unwrap_or(self.limits.chunk)
            .min(self.limits.chunk);
        // No Blosc lets a chunk grow by more than its header, and all write the same stream version.
        let is_likely = !header.is_end_mark()
            && header.nbytes <= most
            && header.ctbytes <= header.nbytes.saturating_add(header.len_u32())
            && (header.versionlz == 1 || header.is_pure_copy())
            && at.saturating_add(header.ctbytes.into()) <= self.size();
        if !is_likely || !self.work.allows(at) {
            return Ok(None);
        }
        let blocks = header.nblocks();
        let ends = (0..blocks.min(QUICK_BLOCKS))
            .chain(blocks.saturating_sub(QUICK_BLOCKS).max(QUICK_BLOCKS)..blocks);
        let shape = self.shape(at, &header, ends)?;
        if shape.broken || shape.cut {
            return Ok(None);
        }
        let found = self.sound(at, checksum)?;
        // Without a digest, anything that decodes is a chunk: what follows has to be one as well,
        // or its length the one that all chunks have.
        let Some((found, Checksum::None)) = found else {
            return Ok(found);
        };
        let is_usual = [chunk_size, claimed].contains(&Some(found.nbytes));
        // That compressed streams of the right lengths come about by chance is as good as impossible.
        // Special values have none, in 32 bytes and some.
        let is_compressed = header.may_have_streams();
        let is_known = checksum == Some(Checksum::None);
        let stands = is_usual
            || (is_known && is_compressed)
            || self.is_landing(found.bytes(Checksum::None).end)?;
        if !stands {
            self.reject(found, Checksum::None);
        }
        Ok(stands.then_some((found, Checksum::None)))
    }

    /// Counts what a chunk has cost that is sound, but was not what was looked for.
    pub(super) fn reject(&mut self, found: Found, by: Checksum) {
        let decoded = if by == Checksum::None {
            found.nbytes
        } else {
            0
        };
        self.work.spend(found.ctbytes.max(decoded).into());
    }

    /// The first `len` uncompressed bytes of a sound chunk or all that it has, if they decode.
    pub(super) fn beginning(&mut self, found: Found, len: usize) -> Result<Option<Vec<u8>>> {
        if found.nbytes > self.limits.chunk {
            return Ok(None);
        }
        let end = found.at.saturating_add(found.ctbytes.into());
        let chunk = self.window.whole(found.at..end)?;
        let most = usize::try_from(found.nbytes).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len.min(most)];
        let decoded = self.decoder.decode_range(&chunk, 0, &mut bytes);
        Ok(decoded.is_ok().then_some(bytes))
    }

    /// Whether the end, a member, an end mark or something like a chunk is here.
    pub(super) fn is_landing(&mut self, at: u64) -> Result<bool> {
        let bytes = self.window.look(at, HEADER_LEN)?;
        let is_cut = bytes.len() < HEADER_LEN && matches!(bytes, [] | [2] | [2, 1, ..]);
        Ok(is_cut || self.is_magic(at)? || self.header(at)?.is_ok())
    }

    /// Whether anything more may be read for a head at this position, which is not where the scan
    /// has come to by sound chunks alone.
    pub(super) fn allows(&self, at: u64) -> bool {
        self.work.allows(at)
    }

    /// Counts bytes that were read for a head.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.work.spend(bytes);
    }

    pub(super) fn is_magic(&mut self, at: u64) -> Result<bool> {
        Ok(self.window.look(at, MAGIC.len())? == MAGIC)
    }

    /// Where an end mark at this position ends, if there is a sound one.
    pub(super) fn end_mark(&mut self, at: u64, checksum: Option<Checksum>) -> Result<Option<u64>> {
        let digest_at = at.saturating_add(HEADER_LEN as u64);
        if !self.header(at)?.is_ok_and(|header| header.is_end_mark()) {
            return Ok(None);
        }
        let digest = self.window.look(digest_at, MAX_DIGEST_LEN)?.to_vec();
        let holds = |kind: &Checksum| {
            let computed = self.hashers.digest(*kind, &ChunkHeader::END_MARK);
            digest.starts_with(computed.as_bytes())
        };
        let kind = match checksum {
            Some(kind) => Some(kind).filter(holds),
            // The longest first: none at all fits everywhere.
            None => Checksum::ALL.into_iter().rev().find(holds),
        };
        Ok(kind.map(|kind| digest_at.saturating_add(kind.digest_len() as u64)))
    }

    /// By which checksum the chunk holds.
    fn holds(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        checksum: Option<Checksum>,
    ) -> Result<Option<Checksum>> {
        if at.saturating_add(header.ctbytes.into()) > self.size() {
            return Ok(None);
        }
        let by = match checksum {
            Some(Checksum::None) => None,
            Some(kind) => self.hash(at, header, &[kind])?,
            None => {
                let [_, kinds @ ..] = Checksum::ALL;
                self.hash(at, header, &kinds)?
            }
        };
        if by.is_none() && checksum.unwrap_or(Checksum::None) == Checksum::None {
            return Ok(self.decodes(at, header)?.then_some(Checksum::None));
        }
        Ok(by)
    }

    /// Which of these kinds of digest stands behind the chunk; the longest, if several.
    fn hash(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        kinds: &[Checksum],
    ) -> Result<Option<Checksum>> {
        let end = at.saturating_add(header.ctbytes.into());
        let room = len_of(&(end..self.size()));
        let possible = kinds.iter().filter(|kind| kind.digest_len() <= room);
        let mut states: Vec<_> = possible
            .map(|kind| (*kind, self.hashers.hasher(*kind)))
            .collect();
        if states.is_empty() {
            return Ok(None);
        }
        self.window.each(at..end, |piece| {
            states.iter_mut().for_each(|(_, state)| state.update(piece));
        })?;
        let behind = self.window.look(end, MAX_DIGEST_LEN)?;
        let mut right = states.iter_mut().rev().filter_map(|(kind, state)| {
            behind
                .starts_with(state.finish().as_bytes())
                .then_some(*kind)
        });
        let by = right.next();
        if by.is_none() {
            let each = u64::from(header.ctbytes);
            self.work.spend(each.saturating_mul(states.len() as u64));
        }
        Ok(by)
    }

    /// Whether all of a chunk without a digest decodes, and it is as long as its blocks say.
    fn decodes(&mut self, at: u64, header: &ChunkHeader) -> Result<bool> {
        if header.nbytes > self.limits.chunk {
            return Ok(false);
        }
        if header.nbytes == 0 || header.is_pure_copy() {
            return Ok(true);
        }
        let end = at.saturating_add(header.ctbytes.into());
        let chunk = self.window.whole(at..end)?;
        let word = |at: u64| {
            let rest = usize::try_from(at).ok().and_then(|at| chunk.get(at..));
            let bytes = rest.and_then(<[u8]>::first_chunk);
            Ok::<_, std::convert::Infallible>(bytes.map(|bytes| u32::from_le_bytes(*bytes)))
        };
        let Ok(shape) = shape(header, 0..header.nblocks(), header.ctbytes.into(), word);
        let holds = shape.tight && !shape.broken && self.decode_blocks(header, &chunk).is_ok();
        if !holds {
            self.work
                .spend(u64::from(header.nbytes.max(header.ctbytes)));
        }
        Ok(holds)
    }

    /// Decodes block by block, in the memory of one.
    fn decode_blocks(
        &mut self,
        header: &ChunkHeader,
        chunk: &[u8],
    ) -> std::result::Result<(), FormatError> {
        let (found, limit) = (header.blocksize.min(header.nbytes), self.limits.block);
        if !has_blocks(chunk) {
            self.decoder.decode_range(chunk, 0, &mut [])?;
            return Ok(());
        }
        if found > limit {
            return Err(ChunkError::BlockOverLimit { found, limit }.into());
        }
        let size = usize::try_from(found).unwrap_or(usize::MAX);
        if self.block.len() < size {
            self.block = vec![0; size];
        }
        for index in 0..header.nblocks() {
            let start = index.saturating_mul(header.blocksize);
            let len = header.nbytes.saturating_sub(start).min(header.blocksize);
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let room = self.block.get_mut(..len).unwrap_or_default();
            self.decoder.decode_block(chunk, index, room)?;
        }
        Ok(())
    }

    /// Whether a damaged chunk is for certain as long as its header says: its sizes are there twice
    /// and agree.
    pub(super) fn is_certain(&mut self, at: u64, header: &ChunkHeader) -> Result<bool> {
        if header.is_pure_copy() {
            return Ok(true);
        }
        let is_possible = header.nbytes > 0
            && header.ctbytes <= header.nbytes.saturating_add(header.len_u32())
            && header.nblocks() <= MOST_BLOCKS;
        if !is_possible || !self.work.allows(at) {
            return Ok(false);
        }
        let is_whole = at.saturating_add(header.ctbytes.into()) <= self.size();
        let shape = self.shape(at, header, 0..header.nblocks())?;
        Ok(shape.tight || (shape.cut && !is_whole))
    }

    fn shape(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        blocks: impl Iterator<Item = u32>,
    ) -> Result<Shape> {
        if header.is_pure_copy() || header.nbytes == 0 {
            return Ok(Shape::default());
        }
        let before = self.window.looked();
        let window = &mut self.window;
        let available = window.size().saturating_sub(at);
        let found = shape(header, blocks, available, |from| {
            let bytes = window.look(at.saturating_add(from), 4)?;
            Ok::<_, bloscpack_error::Error>(
                bytes.first_chunk().map(|word| u32::from_le_bytes(*word)),
            )
        })?;
        self.work.spend(self.window.looked().saturating_sub(before));
        Ok(found)
    }

    /// What is wrong with the chunk at this position, by this checksum.
    pub(super) fn fault(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        checksum: Checksum,
    ) -> Result<FormatError> {
        let end = at.saturating_add(header.ctbytes.into());
        let len = checksum.digest_len();
        let expected = u64::from(header.ctbytes).saturating_add(len as u64);
        let found = self.size().saturating_sub(at);
        if found < expected {
            return Ok(FormatError::Cut { found, expected });
        }
        if !self.work.allows(at) {
            return Ok(FormatError::Trailing);
        }
        self.work.spend(header.ctbytes.into());
        let digest = self.window.look(end, len)?.to_vec();
        let mut hasher = self.hashers.hasher(checksum);
        self.window.each(at..end, |piece| hasher.update(piece))?;
        let digest = Digest::from_bytes(&digest).unwrap_or(Digest::EMPTY);
        match FormatError::check_digest(checksum, digest, hasher.finish()) {
            Err(error) => Ok(error),
            Ok(()) => self.why_not(at..end, header),
        }
    }

    /// Why a chunk without a digest does not decode.
    fn why_not(&mut self, bytes: Range<u64>, header: &ChunkHeader) -> Result<FormatError> {
        let (found, limit) = (header.nbytes, self.limits.chunk);
        if found > limit {
            return Ok(FormatError::Limit {
                limit: Limit::Chunk,
                found: found.into(),
                allowed: limit.into(),
            });
        }
        let chunk = self.window.whole(bytes)?;
        let length = FormatError::Chunk(ChunkError::Header {
            field: "ctbytes",
            found: header.ctbytes,
            expected: "where its last block ends",
        });
        Ok(self.decode_blocks(header, &chunk).err().unwrap_or(length))
    }
}
