//! [`settings_of`]: the settings that a chunk was made with, as far as it records them.

use super::pipeline::BlockFilter;
use super::view::ChunkView;
use super::{ChunkError, ChunkSettings, Compressor, Filter, blocksize};

/// The settings that the header of a chunk records, for making another chunk like it.
///
/// The header does not record the level, which is set to the compressor's default, nor which of the
/// two compressors of LZ4 made the chunk, for which the fast one is returned. The block size is
/// `None` if the default level chooses the chunk's own.
///
/// Returns `None` if the header names no compressor (the end mark, special values, a pure copy with
/// an unassigned number), or one that this build cannot write.
///
/// # Errors
///
/// Returns the errors of parsing the header, and [`Unsupported`](super::Fault::Unsupported) for
/// streams of an unknown compressor.
pub fn settings_of(chunk: &[u8]) -> Result<Option<ChunkSettings>, ChunkError> {
    let view = ChunkView::open(chunk)?;
    let header = &view.header;
    if header.is_blosc2() {
        return blosc2_settings(&view);
    }
    let has_streams = header.has_streams();
    if header.is_end_mark() || (!has_streams && header.compressor_format().is_none()) {
        return Ok(None);
    }
    let format = view.format()?;
    let mut built = Compressor::ALL
        .into_iter()
        .filter(|compressor| compressor.is_available());
    let compressor = built.find(|compressor| compressor.format() == format);
    Ok(compressor.map(|compressor| {
        let settings = ChunkSettings {
            compressor,
            level: compressor.default_level(),
            filter: header.filter(),
            typesize: header.typesize,
            ..ChunkSettings::default()
        };
        let chosen = blocksize::choose(&settings, header.nbytes).blocksize;
        let is_other = has_streams && chosen != header.blocksize;
        settings.blocksize(is_other.then_some(header.blocksize))
    }))
}

/// [`settings_of`] for a Blosc 2 chunk. The settings make Blosc 1 chunks, whose block sizes differ,
/// so the block size is left to the level.
fn blosc2_settings(view: &ChunkView<'_>) -> Result<Option<ChunkSettings>, ChunkError> {
    let number = view.compressor.map(|(number, _)| number);
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
    let filter = view
        .filters
        .block_filters()
        .find_map(|filter| match filter {
            BlockFilter::Shuffle { .. } => Some(Filter::Byte),
            BlockFilter::Bitshuffle | BlockFilter::BitshuffleEights => Some(Filter::Bit),
            _ => None,
        });
    let filter = filter.unwrap_or(Filter::None);
    Ok(compressor.map(|compressor| ChunkSettings {
        compressor,
        level: compressor.default_level(),
        filter,
        typesize: view.header.typesize,
        ..ChunkSettings::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::settings_of;
    use crate::peer::{Kind, encode};
    use crate::{ChunkEncoder, ChunkHeader, ChunkSettings, Compressor, CompressorFormat, Filter};

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

    #[test]
    fn what_the_header_states_is_kept_and_the_level_is_the_default() {
        let data = Kind::Numbers.data(400_000);
        let mut compared = 0;
        for settings in all() {
            let chunk = encode(settings, &data);
            let found = settings_of(&chunk).unwrap().unwrap();
            let is_lz4 = settings.compressor.format() == CompressorFormat::Lz4;
            let compressor = if is_lz4 {
                Compressor::Lz4
            } else {
                settings.compressor
            };
            assert_eq!(found.compressor, compressor);
            assert_eq!(found.level, compressor.default_level());
            assert_eq!((found.filter, found.typesize), (settings.filter, 4));
            if settings.compressor == compressor && settings.level == found.level {
                assert_eq!(found, settings);
            }
            let (old, new) = (header(&chunk), header(&encode(found, &data)));
            // A pure copy has no blocks.
            if !old.is_pure_copy() && !new.is_pure_copy() {
                assert_eq!(new.blocksize, old.blocksize);
                compared += 1;
            }
        }
        assert!(compared > all().count() / 2, "{compared}");
    }

    fn header(chunk: &[u8]) -> ChunkHeader {
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    }

    #[test]
    fn a_block_size_that_no_level_gives_is_kept() {
        let data = Kind::Numbers.data(100_000);
        for settings in all() {
            let chunk = encode(settings.blocksize(Some(5000)), &data);
            let found = settings_of(&chunk).unwrap().unwrap();
            let is_copy = header(&chunk).is_pure_copy();
            assert_eq!(found.blocksize, Some(5000).filter(|_| !is_copy));
            let short = settings_of(&encode(settings, b"short")).unwrap().unwrap();
            assert_eq!(short.blocksize, None);
        }
    }

    #[test]
    fn empty_chunks_have_a_compressor_but_the_end_mark_has_none() {
        for settings in all() {
            let found = settings_of(&encode(settings, &[])).unwrap().unwrap();
            assert_eq!(found.compressor.format(), settings.compressor.format());
        }
        assert_eq!(settings_of(&ChunkHeader::END_MARK), Ok(None));
        // A pure copy of one byte, compressor number 7.
        let unknown = [2, 1, 0xE2, 1, 1, 0, 0, 0, 1, 0, 0, 0, 17, 0, 0, 0, 5];
        assert_eq!(settings_of(&unknown), Ok(None));
    }

    #[test]
    fn damage_is_an_error_or_settings_and_never_a_panic() {
        let data = Kind::Numbers.data(3000);
        for settings in all().filter(|settings| settings.level == 3) {
            let chunk = encode(settings, &data);
            for bit in 0..chunk.len().min(40) * 8 {
                let mut damaged = chunk.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                if let Ok(Some(found)) = settings_of(&damaged) {
                    assert!(ChunkEncoder::new(found).is_ok() || found.typesize == 0);
                }
            }
            assert!(settings_of(&chunk[..chunk.len() - 1]).is_err());
        }
    }
}
