//! [`Fetcher`]: single chunks, read, checked and decoded.

use super::index::{Extent, Spot};
use blosc1::{ChunkDecoder, ChunkHeader, HEADER_LEN};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Digest, FormatError, Hashers, Limits, ParseError};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A chunk longer than this is not read before its header has been.
const PEEK: usize = 1 << 20;

/// Reads and decodes chunks; several threads may do so at once.
pub(crate) struct Fetcher {
    hashers: Hashers,
    limits: Limits,
    check_digests: bool,
    /// Decoders that no thread is using.
    decoders: Mutex<Vec<ChunkDecoder>>,
}

impl Fetcher {
    pub(crate) fn new(hashers: Hashers, limits: Limits, check_digests: bool) -> Self {
        Self {
            hashers,
            limits,
            check_digests,
            decoders: Mutex::default(),
        }
    }

    /// The bytes of a chunk of the content, its neighbours and its digest checked.
    pub(crate) fn fetch<S: ReadAt>(&self, source: &S, spot: &Spot) -> Result<Vec<u8>> {
        let len = u32::try_from(len_of(&spot.content)).unwrap_or(u32::MAX);
        self.fetch_extent(source, &spot.extent, Some(len))
            .map(|(_, bytes)| bytes)
    }

    /// The header and the bytes of a chunk, of which it may be known how many uncompressed bytes it
    /// has.
    pub(crate) fn fetch_extent<S: ReadAt>(
        &self,
        source: &S,
        extent: &Extent,
        nbytes: Option<u32>,
    ) -> Result<(ChunkHeader, Vec<u8>)> {
        let (at, end) = (extent.position.byte, extent.end);
        let len = len_of(&(at..end));
        let mut bytes = vec![0; len.min(HEADER_LEN)];
        if len > PEEK {
            source.read_exact_at(at, &mut bytes)?;
            check_header(extent, &bytes, nbytes)?;
        }
        // Both ends lie in the file, so this is no more memory than that.
        bytes.resize(len, 0);
        source.read_exact_at(at, &mut bytes)?;
        let header = check_header(extent, &bytes, nbytes)?;
        let ctbytes = usize::try_from(header.ctbytes).unwrap_or(usize::MAX);
        if self.check_digests {
            let digest_end = ctbytes.saturating_add(extent.checksum.digest_len());
            let digest = bytes.get(ctbytes..digest_end).unwrap_or_default();
            let found = Digest::from_bytes(digest).unwrap_or(Digest::EMPTY);
            let chunk = bytes.get(..ctbytes).unwrap_or_default();
            let computed = self.hashers.digest(extent.checksum, chunk);
            FormatError::check_digest(extent.checksum, found, computed)
                .map_err(|error| wrong(extent, error))?;
        }
        bytes.truncate(ctbytes);
        Ok((header, bytes))
    }

    /// Decodes a part of a chunk of the content, `skip` bytes behind its beginning.
    pub(crate) fn decode(
        &self,
        spot: &Spot,
        bytes: &[u8],
        skip: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let whole = skip == 0 && part.len() == len_of(&spot.content);
        let skip = (!whole).then_some(skip);
        self.decode_part(&spot.extent, bytes, skip, part)
    }

    /// Decodes all of a chunk, or a part of it that begins `skip` bytes behind its beginning.
    pub(crate) fn decode_part(
        &self,
        extent: &Extent,
        bytes: &[u8],
        skip: Option<usize>,
        part: &mut [u8],
    ) -> Result<()> {
        let idle = self
            .decoders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut decoder = idle.unwrap_or_else(|| self.limits.decoder());
        let result = match skip {
            None => decoder.decode(bytes, part),
            Some(skip) => {
                decoder.decode_range(bytes, u32::try_from(skip).unwrap_or(u32::MAX), part)
            }
        };
        self.decoders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(decoder);
        result
            .map(|_| ())
            .map_err(|error| wrong(extent, error.into()))
    }
}

/// Whether a chunk, or something whose header says that it ends where the next one begins, lies at its place.
///
/// # Errors
/// Those of the source.
pub(crate) fn is_in_place<S: ReadAt>(source: &S, spot: &Spot) -> Result<bool> {
    let mut bytes = [0; HEADER_LEN];
    match source.read_exact_at(spot.extent.position.byte, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        result => result?,
    }
    let nbytes = u32::try_from(len_of(&spot.content)).ok();
    Ok(check_header(&spot.extent, &bytes, nbytes).is_ok())
}

/// Parses the header of a chunk, and compares it with what is known of it.
fn check_header(extent: &Extent, bytes: &[u8], nbytes: Option<u32>) -> Result<ChunkHeader> {
    let header = bytes.first_chunk().ok_or(FormatError::Cut {
        found: 0,
        expected: 16,
    });
    let header = header.map_err(|error| wrong(extent, error))?;
    let header = ChunkHeader::parse(header).map_err(|error| wrong(extent, error.into()))?;
    if header.is_end_mark() {
        let found = extent.position.chunk.unwrap_or(0);
        let expected = found.saturating_add(1);
        return Err(wrong(extent, FormatError::EarlyEndMark { found, expected }));
    }
    if let Some(expected) = nbytes.filter(|nbytes| *nbytes != header.nbytes) {
        let found = header.nbytes;
        return Err(wrong(extent, FormatError::ChunkSize { found, expected }));
    }
    let position = &extent.position;
    let end = position
        .byte
        .saturating_add(header.ctbytes.into())
        .saturating_add(extent.checksum.digest_len() as u64);
    let ends_here = end == extent.end || (extent.allows_spare && end < extent.end);
    if !ends_here {
        let expected = format!("{end}, where the chunk before it ends");
        let entry = position.chunk.unwrap_or(0).saturating_add(1);
        let found = i64::try_from(extent.end).unwrap_or(-1);
        return Err(wrong(
            extent,
            FormatError::Offset {
                entry,
                found: found.into(),
                expected,
            },
        ));
    }
    Ok(header)
}

fn wrong(extent: &Extent, error: FormatError) -> Error {
    let position = extent.position;
    ParseError { error, position }.into()
}

/// Length of a range, which is that of a chunk or less.
pub(super) fn len_of(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}
