//! One call for one chunk.

use std::ops::Range;

use super::view::parse_header;
use super::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings};

/// Compresses `data` into a chunk of Blosc 1, at most `data.len() + 16` bytes long.
///
/// Every C-Blosc 1.x and 2.x reads the chunk, if it was built with the compressor. The default
/// [`ChunkSettings`] are LZ4 with shuffled elements of 8 bytes; set the
/// [`typesize`](ChunkSettings::typesize) to that of the data.
///
/// To compress many chunks, reuse a [`ChunkEncoder`]; to make chunks of Blosc 2, use a
/// [`Blosc2Encoder`](super::Blosc2Encoder).
///
/// # Errors
///
/// Returns [`Usage`](super::Fault::Usage) for more than [`MAX_NBYTES`](super::MAX_NBYTES) bytes or
/// invalid settings, and [`Unsupported`](super::Fault::Unsupported) if this build lacks the
/// compressor.
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

/// Decompresses a whole chunk of Blosc 1 or 2.
///
/// `chunk` must be exactly one chunk; [`read_header`] returns its length as `ctbytes`. Bytes from an
/// untrusted source cause an error at worst. Note, however, that 32 bytes can legitimately stand for
/// 2 GiB of zeros: check `nbytes` in the header first if memory is limited, or set
/// [`ChunkDecoder::max_ratio`].
///
/// To decompress many chunks, or into an existing buffer, reuse a [`ChunkDecoder`].
///
/// # Errors
///
/// Returns
///
/// - [`CutShort`](super::Fault::CutShort) if `chunk` is incomplete, and
///   [`Usage`](super::Fault::Usage) if it is too long;
/// - [`Damaged`](super::Fault::Damaged) if it is not a chunk, or does not decompress;
/// - [`Unsupported`](super::Fault::Unsupported) if this build lacks the compressor, or the chunk uses
///   a feature that this crate does not have;
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

/// Decompresses a range of elements, and of the chunk only the blocks that contain them.
///
/// The range counts elements of the header's `typesize` bytes, like `blosc_getitem` in C. Bytes after
/// the last whole element are not part of any element; [`ChunkDecoder::decode_range`] counts bytes,
/// and reads into an existing buffer.
///
/// # Errors
///
/// Returns the errors of [`decompress`], and [`Usage`](super::Fault::Usage) for a range that ends
/// after the last whole element, or before its start. Damage in other blocks is not noticed.
///
/// ```
/// use blosc1::{ChunkSettings, Fault};
///
/// let data: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
/// let chunk = blosc1::compress(&data, ChunkSettings::default().typesize(8))?;
///
/// let bytes = blosc1::getitem(&chunk, 70_000..70_002)?;
/// assert_eq!(bytes, [70_000_u64.to_le_bytes(), 70_001_u64.to_le_bytes()].concat());
///
/// let error = blosc1::getitem(&chunk, 99_999..100_001).unwrap_err();
/// assert_eq!(error.fault(), Fault::Usage);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn getitem(chunk: &[u8], elements: Range<u32>) -> Result<Vec<u8>, ChunkError> {
    let header = parse_header(chunk)?;
    let Range { start, end } = elements;
    // Only the end mark of Bloscpack, which has no data, has a typesize of 0.
    let count = header
        .nbytes
        .checked_div(header.typesize.into())
        .unwrap_or(0);
    if start > end || end > count {
        return Err(ChunkError::ElementRange { start, end, count });
    }
    // Both are within the data, which has fewer than 2 GiB.
    let typesize = u32::from(header.typesize);
    let mut decoder = ChunkDecoder::new();
    decoder.range_to_vec(chunk, start * typesize, (end - start) * typesize)
}

/// Reads the header of a chunk of Blosc 1 or 2, from at least its first 16 bytes.
///
/// The rest of the chunk need not be present: the header is enough to learn the length of the chunk
/// and of its data. For most chunks of Blosc 2, a [`ChunkExtension`](super::ChunkExtension) in the
/// next 16 bytes contains the filters.
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
pub fn read_header(chunk: &[u8]) -> Result<ChunkHeader, ChunkError> {
    parse_header(chunk)
}

#[cfg(test)]
mod tests {
    use super::{compress, decompress, getitem, read_header};
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
                    let found = getitem(&chunk, start..end);
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
            let error = getitem(&chunk, range).unwrap_err();
            assert_eq!(error.fault(), Fault::Usage, "{error}");
        }
        assert_eq!(getitem(&chunk, 10..10).as_deref(), Ok(&[][..]));
        assert_eq!(
            getitem(&ChunkHeader::END_MARK, 0..0).as_deref(),
            Ok(&[][..])
        );
        assert!(getitem(&ChunkHeader::END_MARK, 0..1).is_err());
    }

    /// Without decoding the rest, which would take 2 GiB.
    #[test]
    fn elements_of_huge_special_chunks_are_cheap() {
        let chunk = special_chunk(SpecialValue::Value(&[1, 2]), 2_000_000_000, 2, 4096).unwrap();
        let last = getitem(&chunk, 999_999_998..1_000_000_000);
        assert_eq!(last.as_deref(), Ok(&[1, 2, 1, 2][..]));
    }

    #[test]
    fn incomplete_chunks_are_cut_short_and_longer_ones_refused() {
        let chunk = compress(&numbers(1000), settings(4)).unwrap();
        for len in 0..chunk.len() {
            let cut = &chunk[..len];
            assert_eq!(decompress(cut).unwrap_err().fault(), Fault::CutShort);
            assert_eq!(getitem(cut, 0..1).unwrap_err().fault(), Fault::CutShort);
            assert_eq!(read_header(cut).is_ok(), len >= 16);
        }
        let longer = [&chunk[..], &[0]].concat();
        assert_eq!(decompress(&longer).unwrap_err().fault(), Fault::Usage);
        assert!(read_header(&longer).is_ok());
    }

    #[test]
    fn settings_are_checked_and_empty_data_is_a_chunk() {
        let chunk = compress(&[], settings(8)).unwrap();
        assert_eq!((chunk.len(), decompress(&chunk)), (16, Ok(Vec::new())));
        assert_eq!(compress(&[], settings(0)), Err(ChunkError::Typesize));
    }
}
