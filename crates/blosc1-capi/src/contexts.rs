//! The encoder and the decoder of each thread, kept for its next call.

use std::cell::RefCell;

use engine::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings};

use crate::constants::BLOSC_MAX_BLOCKSIZE;

thread_local! {
    static ENCODER: RefCell<Option<ChunkEncoder>> = const { RefCell::new(None) };
    static DECODER: RefCell<Option<ChunkDecoder>> = const { RefCell::new(None) };
}

/// Encodes with the encoder of this thread.
pub(crate) fn encode(
    settings: ChunkSettings,
    threads: usize,
    data: &[u8],
    out: &mut [u8],
) -> Result<ChunkHeader, ChunkError> {
    // A thread that is exiting has no encoder left, and a signal handler may interrupt its use:
    // both get a new one for the call.
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

/// Calls `work` with the decoder of this thread, which accepts every block that C-Blosc reads, or
/// with a new one as in [`encode`].
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

/// Frees the encoder and the decoder of this thread.
pub(crate) fn free() {
    let _ = ENCODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.take()));
    let _ = DECODER.try_with(|slot| slot.try_borrow_mut().map(|mut slot| slot.take()));
}
