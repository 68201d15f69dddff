//! The encoder and decoder of each thread, kept for its next call.

use std::cell::RefCell;

use engine::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings};

use crate::constants::BLOSC_MAX_BLOCKSIZE;

thread_local! {
    static ENCODER: RefCell<Option<ChunkEncoder>> = const { RefCell::new(None) };
    static DECODER: RefCell<Option<ChunkDecoder>> = const { RefCell::new(None) };
}

/// Encodes with this thread's encoder.
pub(crate) fn encode(
    settings: ChunkSettings,
    threads: usize,
    data: &[u8],
    out: &mut [u8],
) -> Result<ChunkHeader, ChunkError> {
    // A thread that is exiting, or a signal handler, has none: it makes one for the call.
    let kept = ENCODER.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    let mut encoder = match kept.ok().flatten() {
        Some(mut kept) => {
            kept.set_settings(settings)?;
            kept
        }
        None => ChunkEncoder::new(settings)?,
    };
    encoder.set_threads(threads);
    let header = encoder.encode_into(data, out);
    let _ = ENCODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.replace(encoder)));
    header
}

/// Lends this thread's decoder.
pub(crate) fn with_decoder<T>(work: impl FnOnce(&mut ChunkDecoder) -> T) -> T {
    let kept = DECODER.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    let mut decoder = kept
        .ok()
        .flatten()
        .unwrap_or_else(|| ChunkDecoder::with_max_block(BLOSC_MAX_BLOCKSIZE.cast_unsigned()));
    let result = work(&mut decoder);
    let _ = DECODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.replace(decoder)));
    result
}

/// Frees what this thread keeps.
pub(crate) fn free() {
    let _ = ENCODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.take()));
    let _ = DECODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.take()));
}
