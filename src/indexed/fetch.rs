//! [`Fetcher`]: reads, checks and decodes single chunks.

use super::index::{ChunkExtent, ChunkSpan};
use blosc1::{ChunkDecoder, ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, len_of, slice, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Digest, FormatError, Hashers, Limits, ParseError};
use bytes::Bytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// For a chunk longer than this, the header is read and checked first.
const PEEK: usize = 1 << 20;

/// Reads, checks and decodes chunks. Several threads may use it at once.
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

    /// Reads a chunk of the content, and checks its header, its length and its digest.
    pub(crate) fn fetch<S: ReadAt>(&self, source: &S, span: &ChunkSpan) -> Result<Bytes> {
        let nbytes = Some(nbytes_of(span)?);
        let (_, bytes) = self.fetch_extent(source, &span.extent, nbytes)?;
        Ok(bytes)
    }

    /// Reads the header of a chunk, and checks it against its place.
    pub(crate) fn header<S: ReadAt>(&self, source: &S, span: &ChunkSpan) -> Result<ChunkHeader> {
        let mut header = [0; HEADER_LEN];
        source.read_exact_at(span.extent.position.byte, &mut header)?;
        check_header(&span.extent, &header, Some(nbytes_of(span)?))
    }

    /// Reads a chunk, and returns its header and its bytes. `nbytes` is the number of its uncompressed bytes, if known.
    pub(crate) fn fetch_extent<S: ReadAt>(
        &self,
        source: &S,
        extent: &ChunkExtent,
        nbytes: Option<u32>,
    ) -> Result<(ChunkHeader, Bytes)> {
        let (at, end) = (extent.position.byte, extent.end);
        let len = in_memory(len_of(&(at..end)))?;
        if len > PEEK {
            let mut header = [0; HEADER_LEN];
            source.read_exact_at(at, &mut header)?;
            check_header(extent, &header, nbytes)?;
        }
        // Both ends are in the file, so this allocates no more than the length of the file.
        let mut bytes = source.read_bytes(at, len)?;
        let header = check_header(extent, &bytes, nbytes)?;
        let ctbytes = to_usize(header.ctbytes);
        if self.check_digests {
            let chunk = slice(&bytes, 0..ctbytes)?;
            let digest = slice(&bytes, ctbytes..ctbytes + extent.checksum.digest_len())?;
            let found = digest_of(digest)?;
            let computed = self.hashers.digest(extent.checksum, chunk);
            FormatError::check_digest(extent.checksum, found, computed)
                .map_err(|error| wrong(extent, error))?;
        }
        bytes.truncate(ctbytes);
        Ok((header, bytes))
    }

    /// Decodes a part of a chunk. The part begins `skip` bytes after the beginning of the chunk's content.
    pub(crate) fn decode(
        &self,
        span: &ChunkSpan,
        bytes: &[u8],
        skip: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let is_whole = skip == 0 && to_u64(part.len()) == len_of(&span.content);
        let skip = (!is_whole).then_some(skip);
        self.decode_part(&span.extent, bytes, skip, part)
    }

    /// Decodes all of a chunk, or with `skip` a part that begins this many bytes after the beginning of its content.
    pub(crate) fn decode_part(
        &self,
        extent: &ChunkExtent,
        bytes: &[u8],
        skip: Option<usize>,
        part: &mut [u8],
    ) -> Result<()> {
        let skip = skip.map(u32::try_from).transpose();
        let skip = skip.map_err(|_| Error::bug("a part of a chunk that begins past 4 GiB"))?;
        let idle = self.decoders().pop();
        let mut decoder = idle.unwrap_or_else(|| self.limits.decoder());
        let result = match skip {
            None => decoder.decode(bytes, part),
            Some(skip) => decoder.decode_range(bytes, skip, part),
        };
        self.decoders().push(decoder);
        result
            .map(|_| ())
            .map_err(|error| wrong(extent, error.into()))
    }

    fn decoders(&self) -> MutexGuard<'_, Vec<ChunkDecoder>> {
        self.decoders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the header at the place of a chunk fits the chunk: its length, and its end where the next chunk begins.
///
/// # Errors
/// Returns any error of the source.
pub(crate) fn is_in_place<S: ReadAt>(source: &S, span: &ChunkSpan) -> Result<bool> {
    let mut bytes = [0; HEADER_LEN];
    match source.read_exact_at(span.extent.position.byte, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        result => result?,
    }
    let nbytes = nbytes_of(span)?;
    Ok(check_header(&span.extent, &bytes, Some(nbytes)).is_ok())
}

/// Parses the header of a chunk, and compares it with the expected lengths.
fn check_header(extent: &ChunkExtent, bytes: &[u8], nbytes: Option<u32>) -> Result<ChunkHeader> {
    let header = bytes.first_chunk().ok_or(FormatError::Cut {
        found: 0,
        expected: 16,
    });
    let header = header.map_err(|error| wrong(extent, error))?;
    let header = ChunkHeader::parse(header).map_err(|error| wrong(extent, error.into()))?;
    let position = &extent.position;
    // The position of a chunk always has a number.
    let number = position.chunk.unwrap_or(0);
    if header.is_end_mark() {
        let (found, expected) = (number, number + 1);
        return Err(wrong(extent, FormatError::EarlyEndMark { found, expected }));
    }
    if let Some(expected) = nbytes.filter(|nbytes| *nbytes != header.nbytes) {
        let found = header.nbytes;
        return Err(wrong(extent, FormatError::ChunkSize { found, expected }));
    }
    let end = position.byte + u64::from(header.ctbytes) + to_u64(extent.checksum.digest_len());
    let ends_here = end == extent.end || (extent.allows_spare && end < extent.end);
    if !ends_here {
        let error = FormatError::Offset {
            entry: number + 1,
            found: extent.end.into(),
            expected: format!("{end}, where the chunk before it ends"),
        };
        return Err(wrong(extent, error));
    }
    Ok(header)
}

fn wrong(extent: &ChunkExtent, error: FormatError) -> Error {
    let position = extent.position;
    ParseError { error, position }.into()
}

/// Uncompressed bytes of a chunk.
fn nbytes_of(span: &ChunkSpan) -> Result<u32> {
    let content = &span.content;
    u32::try_from(len_of(content)).map_err(|_| {
        let why = format!("a chunk with the bytes {content:?} of the content");
        Error::bug(why)
    })
}

/// A digest that was stored as these bytes.
pub(crate) fn digest_of(bytes: &[u8]) -> Result<Digest> {
    Digest::from_bytes(bytes)
        .ok_or_else(|| Error::bug(format!("a digest of {} bytes", bytes.len())))
}
