//! [`Probe`]: checks whether a sound chunk begins at a position.

use super::Checked;
use super::window::Window;
use crate::indexed::digest_of;
use blosc1::{ChunkDecoder, ChunkError, ChunkHeader, HEADER_LEN, internal::has_blocks};
use bloscpack_error::Result;
use bloscpack_error::checked::{len_of, to_u64, to_usize};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    Checksum, FormatError, Hashers, Limit, Limits,
    internal::{MAGIC, MAX_DIGEST_LEN},
};
use std::ops::Range;

/// The least length of the pieces in which a chunk is decoded, except for the last.
const PIECE: u32 = 1 << 20;
/// Bytes of work that may be spent without result at any position in the source.
const BASE: u64 = 64 << 20;
/// Additional bytes of work for each byte of the source before that position.
const FACTOR: u64 = 8;

/// A chunk whose digest is right or, without a digest, that decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SoundChunk {
    pub at: u64,
    pub ctbytes: u32,
    pub nbytes: u32,
    /// The checksum by which it is sound.
    pub by: Checksum,
}

impl SoundChunk {
    /// Where it ends, including its digest.
    pub(super) fn end(&self) -> u64 {
        end_of(self.at, self.ctbytes, self.by)
    }
}

/// Where a chunk and its digest end.
pub(super) fn end_of(at: u64, ctbytes: u32, checksum: Checksum) -> u64 {
    after(after(at, ctbytes.into()), to_u64(checksum.digest_len()))
}

/// The position `len` bytes after another one. It saturates: a damaged entry may lead to any position, and the last 64-bit
/// position is past the end of every source.
pub(super) fn after(at: u64, len: u64) -> u64 {
    at.saturating_add(len)
}

/// A position, and the checksum by which a chunk there must be sound, or any.
type Question = (u64, Option<Checksum>);

/// Looks for chunks in a source, with bounded work.
pub(super) struct Probe<'a, S> {
    pub window: Window<'a, S>,
    pub limits: Limits,
    pub hashers: Hashers,
    work: WorkBudget,
    decoder: ChunkDecoder,
    piece: Vec<u8>,
    /// The last question, which is often repeated, and its answer.
    last: Option<(Question, Option<SoundChunk>)>,
}

impl<'a, S: ReadAt> Probe<'a, S> {
    pub(super) fn new(source: &'a S, limits: Limits, hashers: Hashers) -> Result<Self> {
        Ok(Self {
            window: Window::new(source)?,
            limits,
            hashers,
            work: WorkBudget::default(),
            decoder: limits.decoder(),
            piece: Vec::new(),
            last: None,
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.window.size()
    }

    /// The chunk header at this position, or the error in it.
    pub(super) fn header(&mut self, at: u64) -> Result<Checked<ChunkHeader>> {
        let bytes = self.window.look(at, HEADER_LEN)?;
        let Some(bytes) = bytes.first_chunk() else {
            let (found, expected) = (to_u64(bytes.len()), to_u64(HEADER_LEN));
            return Ok(Err(FormatError::Cut { found, expected }));
        };
        Ok(ChunkHeader::parse(bytes).map_err(FormatError::from))
    }

    /// The sound chunk at this position, by this checksum or, with `None`, by any.
    pub(super) fn sound(
        &mut self,
        at: u64,
        checksum: Option<Checksum>,
    ) -> Result<Option<SoundChunk>> {
        if let Some((question, answer)) = self.last
            && question == (at, checksum)
        {
            return Ok(answer);
        }
        let answer = match self.header(at)? {
            Ok(header) if !header.is_end_mark() && self.work.allows(at) => {
                let by = self.holds(at, &header, checksum)?;
                by.map(|by| SoundChunk {
                    at,
                    ctbytes: header.ctbytes,
                    nbytes: header.nbytes,
                    by,
                })
            }
            _ => None,
        };
        self.last = Some(((at, checksum), answer));
        Ok(answer)
    }

    /// As [`sound`](Self::sound), for a position that was found by searching: all checks that need no hashing must pass first.
    /// `chunk_size` is the most uncompressed bytes of the chunk; `claimed` is the chunk size in a header that may be damaged.
    pub(super) fn sound_by_chance(
        &mut self,
        at: u64,
        checksum: Option<Checksum>,
        chunk_size: Option<u32>,
        claimed: Option<u32>,
    ) -> Result<Option<SoundChunk>> {
        let Ok(header) = self.header(at)? else {
            return Ok(None);
        };
        let most = chunk_size
            .unwrap_or(self.limits.chunk)
            .min(self.limits.chunk);
        // In every version of Blosc, a chunk exceeds its content at most by its header, and the stream version is 1.
        let is_likely = !header.is_end_mark()
            && header.nbytes <= most
            && u64::from(header.ctbytes) <= u64::from(header.nbytes) + to_u64(header.len())
            && (header.versionlz == 1 || header.is_pure_copy())
            && u64::from(header.ctbytes) <= len_of(&(at..self.size()));
        if !is_likely || !self.work.allows(at) {
            return Ok(None);
        }
        let found = self.sound(at, checksum)?;
        // Without a digest, bytes may decode by accident: require another chunk after this one, or the length of all chunks.
        let Some(found) = found.filter(|found| found.by == Checksum::None) else {
            return Ok(found);
        };
        let is_usual = [chunk_size, claimed].contains(&Some(found.nbytes));
        // Compressed streams of the right lengths practically never occur by chance. Chunks of special values have no streams;
        // they are little longer than 32 bytes.
        let is_compressed = header.may_have_streams();
        let is_known = checksum == Some(Checksum::None);
        let is_chunk = is_usual || (is_known && is_compressed) || self.is_landing(found.end())?;
        if !is_chunk {
            self.reject(found);
        }
        Ok(is_chunk.then_some(found))
    }

    /// Counts the work for a sound chunk that is not the right one.
    pub(super) fn reject(&mut self, found: SoundChunk) {
        let decoded = match found.by {
            Checksum::None => found.nbytes,
            _ => 0,
        };
        self.work.spend(found.ctbytes.max(decoded).into());
    }

    /// The first `len` uncompressed bytes of a sound chunk, or all bytes of a shorter one; `None` if they do not decode.
    pub(super) fn beginning(&mut self, found: SoundChunk, len: usize) -> Result<Option<Vec<u8>>> {
        if found.nbytes > self.limits.chunk {
            return Ok(None);
        }
        let end = found.at + u64::from(found.ctbytes);
        let chunk = self.window.whole(found.at..end)?;
        let mut bytes = vec![0; len.min(to_usize(found.nbytes))];
        let decoded = self.decoder.decode_range(&chunk, 0, &mut bytes);
        Ok(decoded.is_ok().then_some(bytes))
    }

    /// Whether this position is the end of the source, or the beginning of a member, an end mark or a possible chunk.
    pub(super) fn is_landing(&mut self, at: u64) -> Result<bool> {
        let bytes = self.window.look(at, HEADER_LEN)?;
        let is_cut = bytes.len() < HEADER_LEN && matches!(bytes, [] | [2] | [2, 1, ..]);
        Ok(is_cut || self.is_magic(at)? || self.header(at)?.is_ok())
    }

    /// Whether the work budget allows reading a head at this position.
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

    /// Where a sound end mark at this position ends, including its digest.
    pub(super) fn end_mark(&mut self, at: u64, checksum: Option<Checksum>) -> Result<Option<u64>> {
        let digest_at = after(at, HEADER_LEN as u64);
        if !self.header(at)?.is_ok_and(|header| header.is_end_mark()) {
            return Ok(None);
        }
        let digest = self.window.look(digest_at, MAX_DIGEST_LEN)?.to_vec();
        let holds = |kind: &Checksum| {
            let computed = self.hashers.digest(*kind, &ChunkHeader::END_MARK);
            digest.get(..kind.digest_len()) == Some(computed.as_bytes())
        };
        let kind = match checksum {
            Some(kind) => Some(kind).filter(holds),
            // Try the longest digest first: the empty one matches everywhere.
            None => Checksum::ALL.into_iter().rev().find(holds),
        };
        Ok(kind.map(|kind| digest_at + to_u64(kind.digest_len())))
    }

    /// The checksum by which the chunk is sound; the one with the longest digest if several match.
    fn holds(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        checksum: Option<Checksum>,
    ) -> Result<Option<Checksum>> {
        let end = after(at, header.ctbytes.into());
        if end > self.size() {
            return Ok(None);
        }
        let room = len_of(&(end..self.size()));
        let is_possible = |kind: &Checksum| {
            let len = to_u64(kind.digest_len());
            len > 0 && len <= room && checksum.is_none_or(|checksum| checksum == *kind)
        };
        let kinds = Checksum::ALL.into_iter().filter(is_possible);
        let mut states: Vec<_> = kinds
            .map(|kind| (kind, self.hashers.hasher(kind)))
            .collect();
        if !states.is_empty() {
            self.window.each(at..end, |piece| {
                states.iter_mut().for_each(|(_, state)| state.update(piece));
            })?;
        }
        let digest = self.window.look(end, MAX_DIGEST_LEN)?;
        let mut latest = states.iter_mut().rev();
        let right = latest.find_map(|(kind, state)| {
            let is_right = digest.get(..kind.digest_len()) == Some(state.finish().as_bytes());
            is_right.then_some(*kind)
        });
        if right.is_some() {
            return Ok(right);
        }
        self.work
            .spend(u64::from(header.ctbytes) * to_u64(states.len()));
        let may_be_bare = checksum.is_none_or(|checksum| checksum == Checksum::None);
        Ok((may_be_bare && self.decodes(at, header)?).then_some(Checksum::None))
    }

    /// Whether all of a chunk without a digest decodes.
    fn decodes(&mut self, at: u64, header: &ChunkHeader) -> Result<bool> {
        if header.nbytes > self.limits.chunk {
            return Ok(false);
        }
        if header.nbytes == 0 || header.is_pure_copy() {
            return Ok(true);
        }
        let end = after(at, header.ctbytes.into());
        let chunk = self.window.whole(at..end)?;
        let holds = self.decode_all(header, &chunk).is_ok();
        if !holds {
            self.work
                .spend(u64::from(header.nbytes.max(header.ctbytes)));
        }
        Ok(holds)
    }

    /// Decodes a chunk in pieces.
    fn decode_all(&mut self, header: &ChunkHeader, chunk: &[u8]) -> Checked<()> {
        if !has_blocks(chunk) {
            self.decoder.decode_range(chunk, 0, &mut [])?;
            return Ok(());
        }
        for (from, len) in pieces(header, chunk) {
            self.piece.resize(len, 0);
            self.decoder.decode_range(chunk, from, &mut self.piece)?;
        }
        Ok(())
    }

    /// The error of the chunk at this position, by this checksum.
    pub(super) fn fault(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        checksum: Checksum,
    ) -> Result<FormatError> {
        let end = after(at, header.ctbytes.into());
        let len = checksum.digest_len();
        let expected = u64::from(header.ctbytes) + to_u64(len);
        let found = len_of(&(at..self.size()));
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
        match FormatError::check_digest(checksum, digest_of(&digest)?, hasher.finish()) {
            Err(error) => Ok(error),
            Ok(()) => self.decode_error(at..end, header),
        }
    }

    /// Why a chunk without a digest does not decode.
    fn decode_error(&mut self, bytes: Range<u64>, header: &ChunkHeader) -> Result<FormatError> {
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
        Ok(self.decode_all(header, &chunk).err().unwrap_or(length))
    }
}

/// The beginning and the length of each piece of a chunk. Pieces are whole blocks, so that no block is decoded twice.
pub(super) fn pieces(
    header: &ChunkHeader,
    chunk: &[u8],
) -> impl Iterator<Item = (u32, usize)> + use<> {
    let (nbytes, blocksize) = (header.nbytes, header.blocksize);
    let step = match blocksize {
        0 => PIECE,
        _ if !has_blocks(chunk) => PIECE,
        block => block * PIECE.div_ceil(block),
    };
    let froms = (0..nbytes).step_by(to_usize(step));
    froms.map(move |from| (from, to_usize(step.min(nbytes - from))))
}

/// Counts bytes that were hashed, decoded or searched without finding a sound chunk.
///
/// Without this bound, a hostile file that consists of plausible chunk headers, each with a length up to the end, would be
/// hashed once for each of its bytes. A damaged chunk costs its own length once, so accidental damage stays far below the
/// bound.
#[derive(Default)]
struct WorkBudget {
    wasted: u64,
}

impl WorkBudget {
    /// Whether work may be spent on a chunk that may begin at `at`.
    fn allows(&self, at: u64) -> bool {
        // The bound may saturate: no amount exceeds `u64::MAX`.
        self.wasted <= BASE.saturating_add(at.saturating_mul(FACTOR))
    }

    fn spend(&mut self, bytes: u64) {
        // Saturates: past the bound, the amount no longer matters.
        self.wasted = self.wasted.saturating_add(bytes);
    }
}
