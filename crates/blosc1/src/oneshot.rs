//! Functions for a single chunk. Each makes an encoder or decoder for one call.

use std::ops::Range;

use super::view::parse_header;
use super::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings};

/// Compresses `data` into a Blosc 1 chunk of at most `data.len() + 16` bytes.
///
/// Every C-Blosc 1.x and 2.x that was built with the compressor reads the chunk. The default
/// [`ChunkSettings`] are LZ4 with shuffled elements of 8 bytes; set the
/// [`typesize`](ChunkSettings::typesize) to the size of your elements.
///
/// Data that compression does not shorten is stored as a pure copy. To compress many chunks, reuse
/// a [`ChunkEncoder`]; to make Blosc 2 chunks, use a [`Blosc2Encoder`](super::Blosc2Encoder).
///
/// # Errors
///
/// Returns [`Usage`](super::Fault::Usage) for more than [`MAX_NBYTES`](super::MAX_NBYTES) bytes or
/// invalid settings, [`Unsupported`](super::Fault::Unsupported) if this build cannot write the
/// compressor's format, and [`OverLimit`](super::Fault::OverLimit) if the compressor's state cannot
/// be allocated.
///
/// ```
/// use blosc1::{ChunkSettings, Compressor};
///
/// let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
/// let settings = ChunkSettings::default().compressor(Compressor::Zstd).level(4).typesize(4);
/// let chunk = blosc1::compress(&data, settings)?;
/// assert!(chunk.len() < data.len() / 10);
/// assert_eq!(blosc1::decompress(&chunk)?, data);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn compress(data: &[u8], settings: ChunkSettings) -> Result<Vec<u8>, ChunkError> {
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)?.encode(data, &mut chunk)?;
    Ok(chunk)
}

/// Compresses `data` into a Blosc 1 chunk at the beginning of `out`, and returns the chunk's length
/// in bytes.
///
/// [`compress_bound`](super::compress_bound) bytes are always enough. `out` may be shorter if the
/// data is expected to shrink. To compress many chunks without an allocation for each, use
/// [`ChunkEncoder::encode_into`].
///
/// # Errors
///
/// Returns the errors of [`compress`], and [`ChunkError::OutputTooShort`] if the chunk does not
/// fit. The content of `out` is then unspecified.
///
/// ```
/// let mut out = [0; 200];
/// let len = blosc1::compress_into(&[7; 10_000], Default::default(), &mut out)?;
/// assert_eq!(blosc1::decompress(&out[..len])?, [7; 10_000]);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn compress_into(
    data: &[u8],
    settings: ChunkSettings,
    out: &mut [u8],
) -> Result<usize, ChunkError> {
    let header = ChunkEncoder::new(settings)?.encode_into(data, out)?;
    Ok(header.ctbytes as usize)
}

/// Decompresses a whole Blosc 1 or Blosc 2 chunk.
///
/// `chunk` must be exactly one chunk; [`read_header`] returns its length as `ctbytes`. Bytes from
/// an untrusted source cause an error at worst. But 32 bytes can legitimately decode to 2 GiB of
/// zeros: if memory is limited, check `nbytes` in the header first, or set
/// [`ChunkDecoder::max_ratio`].
///
/// To decompress many chunks, reuse a [`ChunkDecoder`].
///
/// # Errors
///
/// - [`CutShort`](super::Fault::CutShort) if `chunk` is incomplete;
/// - [`Damaged`](super::Fault::Damaged) if it is longer than its header says, is not a chunk, or
///   does not decompress;
/// - [`Unsupported`](super::Fault::Unsupported) if it uses a compressor or another feature that
///   this crate or this build lacks;
/// - [`OverLimit`](super::Fault::OverLimit) if its blocks exceed 256 MiB, or memory is exhausted.
///
/// ```
/// use blosc1::Fault;
///
/// let chunk = blosc1::compress(b"some bytes", Default::default())?;
/// assert_eq!(blosc1::decompress(&chunk)?, b"some bytes");
///
/// let error = blosc1::decompress(b"not a chunk, but text").unwrap_err();
/// assert_eq!(error.fault(), Fault::Damaged);
/// assert_eq!(error.to_string(), "not a Blosc chunk: version byte is 110, expected 1 to 5");
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>, ChunkError> {
    ChunkDecoder::new().decode_to_vec(chunk)
}

/// Decompresses a whole Blosc 1 or Blosc 2 chunk into `out`, whose length must be the header's
/// `nbytes`. Returns the header.
///
/// To decompress many chunks without an allocation for each, use [`ChunkDecoder::decode`].
///
/// # Errors
///
/// Returns the errors of [`decompress`], and [`Usage`](super::Fault::Usage) for an `out` of another
/// length. The content of `out` is then unspecified.
///
/// ```
/// let chunk = blosc1::compress(b"some bytes", Default::default())?;
/// let mut out = vec![0; blosc1::validate(&chunk)?.nbytes as usize];
/// blosc1::decompress_into(&chunk, &mut out)?;
/// assert_eq!(out, b"some bytes");
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn decompress_into(chunk: &[u8], out: &mut [u8]) -> Result<ChunkHeader, ChunkError> {
    ChunkDecoder::new().decode(chunk, out)
}

/// Decompresses a range of elements, and decodes only the blocks that contain them.
///
/// The range counts elements of the header's `typesize` bytes, like `blosc_getitem` in C. Bytes
/// after the last whole element belong to no element; [`ChunkDecoder::decode_range`] counts bytes.
/// An empty range within the data gives no bytes.
///
/// # Errors
///
/// Returns the errors of [`decompress`], and [`ChunkError::ElementRange`] for a range that ends
/// after the last whole element, or before its start. Damage in other blocks goes undetected.
///
/// ```
/// use blosc1::{ChunkSettings, Fault};
///
/// let data: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
/// let chunk = blosc1::compress(&data, ChunkSettings::default().typesize(8))?;
///
/// let bytes = blosc1::decompress_range(&chunk, 70_000..70_002)?;
/// assert_eq!(bytes, [70_000_u64.to_le_bytes(), 70_001_u64.to_le_bytes()].concat());
///
/// let error = blosc1::decompress_range(&chunk, 99_999..100_001).unwrap_err();
/// assert_eq!(error.fault(), Fault::Usage);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn decompress_range(chunk: &[u8], elements: Range<u32>) -> Result<Vec<u8>, ChunkError> {
    let Range { start, end } = byte_range(&parse_header(chunk)?, elements)?;
    ChunkDecoder::new().range_to_vec(chunk, start, end - start)
}

/// Decompresses a range of elements into `out`, which must have the length of the range in bytes.
/// Returns the header.
///
/// The range counts elements, as in [`decompress_range`].
///
/// # Errors
///
/// Returns the errors of [`decompress_range`], and [`Usage`](super::Fault::Usage) for an `out` of
/// another length. The content of `out` is then unspecified.
///
/// ```
/// let data: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
/// let chunk = blosc1::compress(&data, Default::default())?;
/// let mut value = [0; 8];
/// blosc1::decompress_range_into(&chunk, 70_000..70_001, &mut value)?;
/// assert_eq!(u64::from_le_bytes(value), 70_000);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn decompress_range_into(
    chunk: &[u8],
    elements: Range<u32>,
    out: &mut [u8],
) -> Result<ChunkHeader, ChunkError> {
    let Range { start, end } = byte_range(&parse_header(chunk)?, elements)?;
    let (found, expected) = (out.len(), (end - start) as usize);
    if found != expected {
        return Err(ChunkError::OutputLength { found, expected });
    }
    ChunkDecoder::new().decode_range(chunk, start, out)
}

/// The bytes of a range of elements. Both ends are within the data.
fn byte_range(header: &ChunkHeader, elements: Range<u32>) -> Result<Range<u32>, ChunkError> {
    let Range { start, end } = elements;
    let typesize = u32::from(header.typesize);
    // Only the end mark of Bloscpack has a typesize of 0. It has no data.
    let count = header.nbytes.checked_div(typesize).unwrap_or(0);
    if start > end || end > count {
        return Err(ChunkError::ElementRange { start, end, count });
    }
    // No overflow: both products are within the data, which is shorter than 2 GiB.
    Ok(start * typesize..end * typesize)
}

/// Checks that `chunk` is exactly one Blosc 1 or Blosc 2 chunk that this build can decompress.
/// Returns the header.
///
/// The header, the block table, and the lengths of all streams are checked. Nothing is
/// decompressed: damage within a stream goes undetected until the stream is decompressed. For other
/// limits on memory, use [`ChunkDecoder::validate`].
///
/// # Errors
///
/// Returns the errors of [`decompress`], except for damage in compressed bytes.
///
/// ```
/// use blosc1::Fault;
///
/// let chunk = blosc1::compress(&[7; 100_000], Default::default())?;
/// assert_eq!(blosc1::validate(&chunk)?.nbytes, 100_000);
///
/// let cut = blosc1::validate(&chunk[..chunk.len() - 1]).unwrap_err();
/// assert_eq!(cut.fault(), Fault::CutShort);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn validate(chunk: &[u8]) -> Result<ChunkHeader, ChunkError> {
    ChunkDecoder::new().validate(chunk)
}

/// Reads the header of a Blosc 1 or Blosc 2 chunk from at least its first 16 bytes.
///
/// The rest of the chunk need not be present, and is not examined: the header is enough to learn
/// the length of the chunk and of its data. Most Blosc 2 chunks have a
/// [`ChunkExtension`](super::ChunkExtension) with the filters in the next 16 bytes. To check a
/// whole chunk, use [`validate`].
///
/// # Errors
///
/// Returns [`CutShort`](super::Fault::CutShort) for fewer than 16 bytes, and the errors of
/// [`ChunkHeader::parse`].
///
/// ```
/// use blosc1::{CompressorFormat, Filter};
///
/// let chunk = blosc1::compress(&[7; 100_000], Default::default())?;
/// let header = blosc1::read_header(&chunk[..16])?;
/// assert_eq!((header.nbytes, header.typesize), (100_000, 8));
/// assert_eq!(header.ctbytes as usize, chunk.len());
/// assert_eq!(header.compressor_format(), Some(CompressorFormat::Lz4));
/// assert_eq!(header.filter(), Filter::Byte);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
///
/// Chunks that follow each other are separated by their headers:
///
/// ```
/// let mut file = blosc1::compress(&[1; 5000], Default::default())?;
/// file.extend(blosc1::compress(&[2; 300], Default::default())?);
///
/// let (mut rest, mut lengths) = (file.as_slice(), Vec::new());
/// while !rest.is_empty() {
///     let len = blosc1::read_header(rest)?.ctbytes as usize;
///     let (chunk, later) = rest.split_at_checked(len).ok_or("the last chunk is cut short")?;
///     lengths.push(blosc1::decompress(chunk)?.len());
///     rest = later;
/// }
/// assert_eq!(lengths, [5000, 300]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_header(chunk: &[u8]) -> Result<ChunkHeader, ChunkError> {
    parse_header(chunk)
}

#[cfg(test)]
mod tests {
    use super::{compress, decompress, decompress_range, read_header};
    use crate::{ChunkError, ChunkHeader, ChunkSettings, Fault, SpecialValue, special_chunk};

    fn settings(typesize: u8) -> ChunkSettings {
        ChunkSettings {
            typesize,
            blocksize: Some(1024),
            ..ChunkSettings::default()
        }
    }

    fn numbers(count: u32) -> Vec<u8> {
        (0..count).flat_map(|n| (n * n).to_le_bytes()).collect()
    }

    #[test]
    fn every_range_of_elements_is_that_of_the_data() {
        // Three bytes after the last whole element.
        let mut data = numbers(1500);
        data.extend([1, 2, 3]);
        for typesize in [1_u8, 4, 7] {
            let chunk = compress(&data, settings(typesize)).unwrap();
            let size = usize::from(typesize);
            let count = u32::try_from(data.len() / size).unwrap();
            for start in (0..=count).step_by(97) {
                for end in [start, start + 1, start + 300, count] {
                    let found = decompress_range(&chunk, start..end);
                    if end > count {
                        let error = ChunkError::ElementRange { start, end, count };
                        assert_eq!(found, Err(error));
                        continue;
                    }
                    let bytes = start as usize * size..end as usize * size;
                    assert_eq!(found.as_deref(), Ok(&data[bytes]), "{start}..{end}");
                }
            }
        }
    }

    #[test]
    fn ranges_that_are_not_in_the_data_are_refused() {
        let chunk = compress(&numbers(10), settings(4)).unwrap();
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
        for range in [9..11, 11..11, 5..4, 0..u32::MAX, u32::MAX..0] {
            let error = decompress_range(&chunk, range).unwrap_err();
            assert_eq!(error.fault(), Fault::Usage, "{error}");
        }
        assert_eq!(decompress_range(&chunk, 10..10).as_deref(), Ok(&[][..]));
        assert_eq!(
            decompress_range(&ChunkHeader::END_MARK, 0..0).as_deref(),
            Ok(&[][..])
        );
        assert!(decompress_range(&ChunkHeader::END_MARK, 0..1).is_err());
    }

    /// Without decoding the rest, which would take 2 GiB.
    #[test]
    fn elements_of_huge_special_chunks_are_cheap() {
        let chunk = special_chunk(SpecialValue::Value(&[1, 2]), 2_000_000_000, 2, 4096).unwrap();
        let last = decompress_range(&chunk, 999_999_998..1_000_000_000);
        assert_eq!(last.as_deref(), Ok(&[1, 2, 1, 2][..]));
    }

    #[test]
    fn incomplete_chunks_are_cut_short_and_longer_ones_refused() {
        let chunk = compress(&numbers(1000), settings(4)).unwrap();
        for len in 0..chunk.len() {
            let cut = &chunk[..len];
            assert_eq!(decompress(cut).unwrap_err().fault(), Fault::CutShort);
            assert_eq!(
                decompress_range(cut, 0..1).unwrap_err().fault(),
                Fault::CutShort
            );
            assert_eq!(read_header(cut).is_ok(), len >= 16);
        }
        let longer = [&chunk[..], &[0]].concat();
        assert_eq!(decompress(&longer).unwrap_err().fault(), Fault::Damaged);
        assert!(read_header(&longer).is_ok());
    }

    #[test]
    fn settings_are_checked_and_empty_data_is_a_chunk() {
        let chunk = compress(&[], settings(8)).unwrap();
        assert_eq!((chunk.len(), decompress(&chunk)), (16, Ok(Vec::new())));
        assert_eq!(compress(&[], settings(0)), Err(ChunkError::Typesize));
    }
}
