//! Guesses the settings that a chunk was written with, to write more chunks like it.
//!
//! The header of a chunk contains all settings except for the level and, for LZ4, which of its two
//! compressors was used. Both affect the length of the streams. So the streams of one block are
//! compressed again at each level that would have chosen the same block size, and the lengths are
//! compared. The block with the most compressed bytes is used; for a block of noise or zeros, all
//! levels would give the same.

use super::compressor::{StreamDecoder, StreamEncoder};
use super::pipeline::Transpose;
use super::view::{ChunkView, Stream};
use super::{
    ChunkError, ChunkHeader, ChunkSettings, Compressor, CompressorFormat, Filter, blocksize,
};

/// Blocks longer than any C-Blosc chooses are not compressed again: at 256 MiB, the highest levels of
/// Zstd would take minutes.
const MAX_TRIAL: u32 = 4 << 20;

/// Guesses settings that make chunks like this one: with the same compressor, filter and typesize, at
/// the level that comes closest to the length of its streams.
///
/// If there are several such levels, the compressor's default is preferred, then the lowest. The block size is
/// left to the level, unless no level would choose the chunk's. A pure copy shows no more than its
/// header: the level is the default if that matches the block size, or else another level that does,
/// and 0 if only that does. `None` if the header does not name a known compressor: the end mark, or
/// pure copies with an unassigned number.
///
/// For a chunk of Blosc 2, only the header is considered. `None` for special values.
///
/// One block is held in memory, twice; `max_block` bounds its length in bytes.
///
/// # Errors
///
/// Returns the errors of decoding a block, and [`Unsupported`](super::Fault::Unsupported) if this
/// build lacks the compressor and could not write such a chunk.
pub fn guess_settings(chunk: &[u8], max_block: u32) -> Result<Option<ChunkSettings>, ChunkError> {
    let view = ChunkView::open(chunk)?;
    let header = &view.header;
    if header.is_blosc2() {
        return blosc2_settings(&view);
    }
    let has_streams = header.has_streams();
    if header.is_end_mark() || (!has_streams && header.compressor_format().is_none()) {
        return Ok(None);
    }
    let candidates = candidates(header, view.format()?);
    if !has_streams || header.blocksize > MAX_TRIAL {
        return Ok(candidates.first().copied());
    }
    let (found, limit) = (header.blocksize, max_block);
    if found > limit {
        return Err(ChunkError::BlockOverLimit { found, limit });
    }
    let sample = Sample::of(&view)?;
    nearest(&sample, candidates)
}

/// The settings in the header of a chunk of Blosc 2, at the compressor's default level. Chunks made
/// with them are of Blosc 1, which has other block sizes and levels.
fn blosc2_settings(view: &ChunkView<'_>) -> Result<Option<ChunkSettings>, ChunkError> {
    let number = view.extension.map(|extension| extension.compressor);
    let compressor = if view.has_streams() {
        let format = view.format()?;
        let all = Compressor::ALL.into_iter();
        let mut fitting = all.filter(|compressor| compressor.format() == format);
        let named = fitting.clone().find(|c| Some(c.blosc2_number()) == number);
        named.or_else(|| fitting.next())
    } else if view.header.is_pure_copy() {
        let all = Compressor::ALL.into_iter();
        all.filter(|compressor| compressor.is_available())
            .find(|compressor| Some(compressor.blosc2_number()) == number)
    } else {
        // Special values name no compressor.
        None
    };
    let filter = match view.filters.transposes().next() {
        Some(Transpose::Shuffle { .. }) => Filter::Byte,
        Some(Transpose::Bitshuffle | Transpose::BitshuffleEights) => Filter::Bit,
        None => Filter::None,
    };
    Ok(compressor.map(|compressor| ChunkSettings {
        compressor,
        level: compressor.default_level(),
        filter,
        typesize: view.header.typesize,
        ..ChunkSettings::default()
    }))
}

/// All settings that would cut the data into blocks of the same size, the likeliest first.
fn candidates(header: &ChunkHeader, format: CompressorFormat) -> Vec<ChunkSettings> {
    let compressors = Compressor::ALL.into_iter();
    let all = compressors
        .filter(|compressor| compressor.format() == format)
        .flat_map(|compressor| {
            let default = compressor.default_level();
            let others = (1..=9).filter(move |level| *level != default);
            let levels = std::iter::once(default).chain(others);
            levels.map(move |level| settings(header, compressor, level))
        });
    let fits = |settings: &ChunkSettings| {
        header.nbytes == 0
            || blocksize::choose(settings, header.nbytes).blocksize == header.blocksize
    };
    let mut fitting: Vec<_> = all.clone().filter(fits).collect();
    if fitting.is_empty() && header.is_pure_copy() {
        let stored = all.clone().map(|settings| ChunkSettings {
            level: 0,
            ..settings
        });
        fitting.extend(stored.filter(fits).take(1));
    }
    if fitting.is_empty() {
        fitting.extend(all.map(|settings| ChunkSettings {
            blocksize: Some(header.blocksize),
            ..settings
        }));
    }
    fitting
}

fn settings(header: &ChunkHeader, compressor: Compressor, level: u8) -> ChunkSettings {
    ChunkSettings {
        compressor,
        level,
        filter: header.filter(),
        typesize: header.typesize,
        ..ChunkSettings::default()
    }
}

/// The first candidate whose streams come closest to the sample's in length; identical streams are
/// closest.
fn nearest(
    sample: &Sample<'_>,
    candidates: Vec<ChunkSettings>,
) -> Result<Option<ChunkSettings>, ChunkError> {
    let (mut best, mut least) = (None, (usize::MAX, true));
    let mut scratch = vec![0; sample.stream_len];
    for settings in candidates {
        let mut encoder = StreamEncoder::new(settings.compressor, settings.level)?;
        let difference = sample.difference(&mut encoder, &mut scratch);
        if best.is_none() || difference < least {
            (best, least) = (Some(settings), difference);
        }
        if least == (0, false) {
            break;
        }
    }
    Ok(best)
}

/// The streams of a block, before and after compression.
struct Sample<'a> {
    data: Vec<u8>,
    stream_len: usize,
    stored: Vec<&'a [u8]>,
}

impl<'a> Sample<'a> {
    fn of(view: &ChunkView<'a>) -> Result<Self, ChunkError> {
        let block = telling_block(view)?;
        let mut data = vec![0; view.layout.block(block).len()];
        let stream_len = data.len() / view.layout.streams(data.len());
        let (mut streams, mut decoder) = (view.streams(block)?, StreamDecoder::default());
        let (format, mut stored) = (view.format()?, Vec::new());
        for part in data.chunks_exact_mut(stream_len) {
            let bytes = match streams.next(part.len())? {
                Stream::Raw(bytes) => {
                    part.copy_from_slice(bytes);
                    bytes
                }
                Stream::Compressed(bytes) if decoder.decompress(format, bytes, part)? => bytes,
                // Runs exist in Blosc 2 only, whose blocks are not sampled.
                Stream::Run(_) | Stream::Compressed(_) => {
                    return Err(ChunkError::Stream { block, format });
                }
            };
            stored.push(bytes);
        }
        Ok(Self {
            data,
            stream_len,
            stored,
        })
    }

    /// The difference between the stored streams and those that this encoder makes: in bytes of
    /// length, and whether they differ at all.
    fn difference(&self, encoder: &mut StreamEncoder, scratch: &mut [u8]) -> (usize, bool) {
        let (mut lengths, mut differ) = (0, false);
        for (data, stored) in self.data.chunks_exact(self.stream_len).zip(&self.stored) {
            let largest = data.len() - 1;
            let bytes = match encoder.compress(data, &mut scratch[..largest]) {
                Some(len) => &scratch[..len],
                None => data,
            };
            lengths += bytes.len().abs_diff(stored.len());
            differ |= bytes != *stored;
        }
        (lengths, differ)
    }
}

/// The first block with the most bytes in compressed streams.
fn telling_block(view: &ChunkView<'_>) -> Result<u32, ChunkError> {
    let (mut telling, mut most) = (0, 0);
    for block in 0..view.layout.nblocks() {
        let len = view.layout.block(block).len();
        let (count, mut streams) = (view.layout.streams(len), view.streams(block)?);
        let mut compressed = 0;
        for _ in 0..count {
            if let Stream::Compressed(bytes) = streams.next(len / count)? {
                compressed += bytes.len();
            }
        }
        if compressed > most {
            (telling, most) = (block, compressed);
        }
    }
    Ok(telling)
}

#[cfg(test)]
mod tests {
    use super::guess_settings;
    use crate::peer::{self, Kind};
    use crate::{ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings, Compressor, Fault, Filter};

    const MAX_BLOCK: u32 = 256 << 20;

    fn guess(chunk: &[u8]) -> ChunkSettings {
        guess_settings(chunk, MAX_BLOCK).unwrap().unwrap()
    }

    fn encode(settings: ChunkSettings, data: &[u8]) -> Vec<u8> {
        let mut chunk = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(data, &mut chunk).unwrap();
        chunk
    }

    /// Every compressor, level and filter.
    fn all() -> impl Iterator<Item = ChunkSettings> {
        let compressors = Compressor::ALL.into_iter().filter(|c| c.is_available());
        compressors.flat_map(|compressor| {
            Filter::ALL.into_iter().flat_map(move |filter| {
                (1..=9).map(move |level| ChunkSettings {
                    compressor,
                    level,
                    filter,
                    typesize: 4,
                    ..ChunkSettings::default()
                })
            })
        })
    }

    /// All of them, or in a normal run those of three levels.
    fn some() -> impl Iterator<Item = ChunkSettings> {
        all().filter(|settings| peer::is_whole() || settings.level % 4 == 1)
    }

    fn everything_is_built() -> bool {
        Compressor::ALL.into_iter().all(Compressor::is_available)
    }

    fn header(chunk: &[u8]) -> ChunkHeader {
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    }

    #[test]
    fn chunks_of_ours_are_made_again_to_the_byte() {
        let mut compared = 0;
        for (kind, len) in [
            (Kind::Numbers, 100_000),
            (Kind::Numbers, 400_000),
            (Kind::Text, 30_001),
        ] {
            let data = kind.data(len);
            for settings in some() {
                let chunk = encode(settings, &data);
                let guessed = guess(&chunk);
                let known = ChunkSettings {
                    compressor: guessed.compressor,
                    level: guessed.level,
                    ..settings
                };
                assert_eq!(guessed, known);
                if !header(&chunk).is_pure_copy() {
                    let same = encode(guessed, &data) == chunk;
                    assert!(same, "{settings:?} {kind:?}: {guessed:?}");
                    compared += 1;
                }
            }
        }
        let all = 3 * some().count();
        assert!(compared > all * 3 / 4, "{compared} of {all}");
    }

    /// LZ4 and Zstandard are the same libraries. For Snappy only the block size matters.
    #[test]
    fn chunks_of_c_blosc_are_made_again_in_the_same_length() {
        let mut compared = 0;
        for (kind, len) in [(Kind::Numbers, 400_000), (Kind::Text, 30_001)] {
            let data = kind.data(len);
            for settings in some() {
                let theirs = peer::compress(&settings, &data);
                let guessed = guess(&theirs);
                let again = match settings.compressor {
                    _ if header(&theirs).is_pure_copy() => continue,
                    Compressor::Snappy => peer::compress(&guessed, &data),
                    Compressor::Lz4 | Compressor::Lz4hc | Compressor::Zstd => {
                        encode(guessed, &data)
                    }
                    Compressor::Blosclz | Compressor::Zlib => continue,
                };
                let lens = (again.len(), theirs.len());
                assert_eq!(lens.0, lens.1, "{settings:?} {kind:?}: {guessed:?}");
                compared += 1;
            }
        }
        assert!(
            compared > some().count() * 2 * 150 / 324 || !everything_is_built(),
            "{compared}"
        );
    }

    /// Blosclz and zlib are not the libraries of C-Blosc, so that lengths may differ. Elements of 17
    /// bytes are not split: except for a few bytes, the chunk is a single stream.
    #[test]
    fn what_no_level_gives_is_the_nearest_level() {
        for kind in [Kind::Numbers, Kind::Text] {
            let data = kind.data(30_001);
            for settings in some() {
                let settings = ChunkSettings {
                    typesize: 17,
                    ..settings
                };
                let theirs = peer::compress(&settings, &data);
                if header(&theirs).is_pure_copy() {
                    continue;
                }
                let away = |level| {
                    let again = encode(ChunkSettings { level, ..settings }, &data);
                    again.len().abs_diff(theirs.len())
                };
                let guessed = guess(&theirs);
                if guessed.compressor == settings.compressor {
                    let nearest = (1..=9).map(away).min();
                    assert_eq!(
                        Some(away(guessed.level)),
                        nearest,
                        "{settings:?}: {guessed:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn of_levels_that_are_alike_it_is_the_default_one() {
        let mut alike = 0;
        for settings in all() {
            // Shorter than the block of any level; a single repeated byte.
            let chunk = encode(settings, &[7; 20_000]);
            let level = settings.compressor.default_level();
            if encode(ChunkSettings { level, ..settings }, &[7; 20_000]) == chunk {
                assert_eq!(
                    guess(&chunk).level,
                    guess(&chunk).compressor.default_level()
                );
                alike += 1;
            }
        }
        assert!(alike > 60 || !everything_is_built(), "{alike}");
    }

    /// Block sizes by `blosc_compress_ctx`, which keeps them in the header of a pure copy.
    #[test]
    fn a_pure_copy_shows_its_block_size_only() {
        let data = Kind::Noise.data(200_000);
        for settings in all() {
            let theirs = peer::compress(&settings, &data);
            assert!(header(&theirs).is_pure_copy());
            let guessed = guess(&theirs);
            assert_eq!((guessed.filter, guessed.typesize), (settings.filter, 4));
            let again = peer::compress(&guessed, &data);
            assert_eq!(header(&again).blocksize, header(&theirs).blocksize);
            let stored = ChunkSettings {
                level: 0,
                ..settings
            };
            let guessed = guess(&peer::compress(&stored, &data));
            assert_eq!(guessed.level, 0, "{settings:?}");
            assert_eq!(guessed.compressor.format(), settings.compressor.format());
            let short = guess(&encode(settings, b"short"));
            assert_eq!(short.level, short.compressor.default_level());
        }
    }

    #[test]
    fn a_block_size_that_no_level_gives_is_kept() {
        let data = Kind::Numbers.data(100_000);
        for settings in all() {
            let settings = ChunkSettings {
                blocksize: Some(5000),
                ..settings
            };
            let chunk = encode(settings, &data);
            let guessed = guess(&chunk);
            assert_eq!(guessed.blocksize, Some(5000));
            if !header(&chunk).is_pure_copy() {
                // One block in twenty was sampled.
                let (again, len) = (encode(guessed, &data).len(), chunk.len());
                assert!(
                    again.abs_diff(len) <= len / 100,
                    "{settings:?}: {guessed:?}"
                );
            }
        }
    }

    #[test]
    fn empty_chunks_have_a_compressor_but_the_end_mark_has_none() {
        for settings in all() {
            let guessed = guess(&encode(settings, &[]));
            assert_eq!(guessed.compressor.format(), settings.compressor.format());
            assert_eq!(guessed.level, guessed.compressor.default_level());
        }
        assert_eq!(guess_settings(&ChunkHeader::END_MARK, MAX_BLOCK), Ok(None));
        // A pure copy of one byte, compressor number 7.
        let unknown = [2, 1, 0xE2, 1, 1, 0, 0, 0, 1, 0, 0, 0, 17, 0, 0, 0, 5];
        assert_eq!(guess_settings(&unknown, MAX_BLOCK), Ok(None));
    }

    #[test]
    fn a_block_over_the_limit_is_refused() {
        let chunk = encode(ChunkSettings::default(), &[7; 20_000]);
        let (found, limit) = (20_000, 19_999);
        let error = ChunkError::BlockOverLimit { found, limit };
        assert_eq!(guess_settings(&chunk, limit), Err(error));
        assert!(guess_settings(&chunk, found).is_ok());
    }

    #[test]
    fn damage_is_an_error_or_settings_and_never_a_panic() {
        let data = Kind::Numbers.data(3000);
        let (mut errors, mut flips) = (0, 0);
        for settings in all().filter(|settings| settings.level == 3) {
            let chunk = encode(settings, &data);
            for bit in (0..chunk.len().min(400) * 8).step_by(3) {
                let mut damaged = chunk.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                flips += 1;
                match guess_settings(&damaged, MAX_BLOCK) {
                    Ok(guessed) => assert!(guessed.is_none_or(|found| found.level <= 9)),
                    Err(error) => {
                        assert_ne!(error.fault(), Fault::OverLimit, "{error}");
                        errors += 1;
                    }
                }
            }
            assert!(guess_settings(&chunk[..chunk.len() - 1], MAX_BLOCK).is_err());
        }
        assert!(errors > flips / 50, "{errors} of {flips}");
    }
}
