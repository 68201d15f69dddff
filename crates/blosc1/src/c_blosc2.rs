//! Decodes and encodes chunks with C-Blosc2.
//!
//! Decoding uses the crate `blosc2-rs`. Encoding calls the C functions directly:
//! `compress_into_ctx` of that crate reads `typesize` times the length of a slice of bytes, past
//! the end of the slice, and its parameters include neither a block size nor more than one filter.
#![allow(unsafe_code, reason = "calls into the C library")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Once;

use blosc2::{Context, DParams, Error};
use blosc2_sys as ffi;

use super::extension::EXTENDED_LEN_U32;
use super::extension::SpecialKind;
use super::pipeline::FIRST_PLUG_IN;
use super::view::ChunkView;
use super::{Blosc2Settings, ChunkError, ChunkHeader, CompressorFormat};

/// Initializes C-Blosc2 once: `blosc2::init` does not track calls, and the C function has no lock.
fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(blosc2::init);
}

/// Decodes a whole chunk into `out`, which has the length of the data.
pub(super) fn decode(view: &ChunkView<'_>, out: &mut [u8]) -> Result<(), ChunkError> {
    let special = view.special;
    if out.is_empty() || special == Some(SpecialKind::Uninit) {
        out.fill(0);
        return Ok(());
    }
    if view.has_streams() {
        check(view)?;
    }
    init();
    // The crate panics for an unknown error number.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut context = Context::from(DParams::default());
        // The only call that checks whether the context was created.
        if context.get_dparams().is_err() {
            return Err(ChunkError::Memory);
        }
        blosc2::decompress_into_ctx(view.chunk, out, &mut context).map_err(|error| {
            let code = match error {
                Error::Blosc2(error) => error as i32,
                Error::Other(_) => UNKNOWN,
            };
            ChunkError::EngineRefused { code }
        })
    }));
    let code = UNKNOWN;
    let len = done.unwrap_or(Err(ChunkError::EngineRefused { code }))?;
    if len == view.header.nbytes as usize {
        Ok(())
    } else {
        Err(ChunkError::EngineRefused { code })
    }
}

/// C-Blosc2's number for an unspecified failure.
const UNKNOWN: i32 = -1;

/// Refuses features that C-Blosc2 reads differently, and blocks or streams outside the chunk.
fn check(view: &ChunkView<'_>) -> Result<(), ChunkError> {
    let not_read = |what| Err(ChunkError::NotInEngine { what });
    let format = view.format()?;
    if format == CompressorFormat::Snappy {
        return not_read("Snappy");
    }
    if matches!(format, CompressorFormat::Ndlz | CompressorFormat::Zfp)
        || view.filters.has_plug_in()
    {
        return not_read("plug-ins");
    }
    if view.dictionary.is_some() {
        return not_read("dictionaries");
    }
    if view.filters.shuffle_meta != 0 {
        return not_read("the meta byte of a shuffle");
    }
    for block in 0..view.layout.nblocks() {
        view.stored(block)?;
    }
    Ok(())
}

/// Appends `data`, which fits in a chunk, to `out` as one chunk.
///
/// Returns `None`, and appends nothing, for data that C-Blosc2 would encode as a chunk that it
/// cannot read itself.
pub(super) fn encode(
    settings: &Blosc2Settings,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<ChunkHeader>, ChunkError> {
    // C-Blosc2 would write the output of a third filter to `data`.
    if settings.filters.ids().iter().filter(|id| **id != 0).count() > 2 {
        let what = "more than two filters";
        return Err(ChunkError::NotInEngine { what });
    }
    if settings.filters.ids().iter().any(|id| *id >= FIRST_PLUG_IN) {
        let what = "plug-ins";
        return Err(ChunkError::NotInEngine { what });
    }
    let start = out.len();
    let result = append(settings, data, out);
    if !matches!(result, Ok(Some(_))) {
        out.truncate(start);
    }
    result
}

/// [`encode`], but leaves unspecified bytes in `out` if there is no chunk.
fn append(
    settings: &Blosc2Settings,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<ChunkHeader>, ChunkError> {
    let start = out.len();
    let found = data.len();
    let len = i32::try_from(found).ok();
    let room = len.and_then(|len| len.checked_add_unsigned(EXTENDED_LEN_U32));
    let (Some(len), Some(room)) = (len, room) else {
        return Err(ChunkError::TooMuchData { found });
    };
    out.resize(start + found + EXTENDED_LEN_U32 as usize, 0);
    let room_for_chunk = &mut out[start..];
    let context = EncodingContext::new(settings)?;
    // SAFETY: `context` is one for encoding and not null; `data` is valid for `len` bytes and
    // `room_for_chunk` for `room`, which are their lengths; they do not overlap, as one is borrowed
    // mutably; with at most two filters nothing is written to `data`.
    let code = unsafe {
        ffi::blosc2_compress_ctx(
            context.0.as_ptr(),
            data.as_ptr().cast(),
            len,
            room_for_chunk.as_mut_ptr().cast(),
            room,
        )
    };
    let failed = ChunkError::EngineFailed { code };
    let ctbytes = usize::try_from(code).ok().filter(|&len| len > 0);
    out.truncate(start + ctbytes.ok_or(failed.clone())?);
    let view = ChunkView::open(&out[start..])?;
    let header = view.header;
    if header.nbytes as usize != found {
        return Err(failed);
    }
    let is_special = view.special.is_some();
    let typesize = u32::from(header.typesize);
    let is_whole = header.nbytes.is_multiple_of(typesize);
    // C-Blosc2 does not read special values that are not whole elements, and with delta it loses
    // the bytes of a block after its last whole element.
    let is_sound = if view.filters.delta && view.has_streams() {
        is_whole && view.layout.blocksize.is_multiple_of(typesize)
    } else {
        is_whole || !is_special
    };
    Ok(is_sound.then_some(header))
}

/// A C-Blosc2 context for encoding, freed when it is dropped.
struct EncodingContext(NonNull<ffi::blosc2_context>);

impl EncodingContext {
    /// A context with these settings. One is made for each chunk.
    fn new(settings: &Blosc2Settings) -> Result<Self, ChunkError> {
        init();
        // SAFETY: the function returns a value and has no preconditions.
        let mut params = unsafe { ffi::blosc2_get_blosc2_cparams_defaults() };
        params.compcode = settings.compressor.blosc2_number();
        params.clevel = settings.level;
        params.typesize = settings.typesize.into();
        params.filters = settings.filters.ids();
        params.filters_meta = settings.filters.metas();
        if let Some(found) = settings.blocksize {
            params.blocksize = i32::try_from(found).map_err(|_| ChunkError::Blocksize { found })?;
        }
        // SAFETY: every field has the value of C-Blosc2's own defaults or a checked one, and its
        // pointers are null; the context copies what it needs.
        let context = unsafe { ffi::blosc2_create_cctx(params) };
        NonNull::new(context).map(Self).ok_or(ChunkError::Memory)
    }
}

impl Drop for EncodingContext {
    fn drop(&mut self) {
        // SAFETY: the context came from `blosc2_create_cctx` and has no other owner.
        unsafe { ffi::blosc2_free_ctx(self.0.as_ptr()) };
    }
}
