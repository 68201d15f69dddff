//! Chunks decoded and encoded by C-Blosc2.
//!
//! Decoding goes by the crate `blosc2`. Encoding does not: its `compress_into_ctx` reads `typesize`
//! times the bytes of a slice of bytes, beyond the slice's end, and its parameters have neither a
//! block size nor more than one filter.
#![allow(unsafe_code, reason = "calls into the C library")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Once;

use blosc2::{Context, DParams, Error};
use blosc2_sys as ffi;

use super::extension::EXTENDED_LEN_U32;
use super::source::Source;
use super::{Blosc2Settings, ChunkError, ChunkHeader, CompressorFormat, Special};

/// C-Blosc2 before its first use: `blosc2::init` does not keep track, and the C function has no lock.
fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(blosc2::init);
}

/// Decodes a whole chunk, which is that of `source`, into `out`, which is of its length.
pub(super) fn decode(source: &Source<'_>, chunk: &[u8], out: &mut [u8]) -> Result<(), ChunkError> {
    let special = source.extension.and_then(|extension| extension.special());
    if out.is_empty() || special == Some(Special::Uninit) {
        out.fill(0);
        return Ok(());
    }
    if source.has_streams() {
        check(source)?;
    }
    init();
    // A panic of the crate is its word for a number of an error that it does not know.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut context = Context::from(DParams::default());
        // The one call that looks whether there is a context.
        if context.get_dparams().is_err() {
            return Err(ChunkError::Memory);
        }
        blosc2::decompress_into_ctx(chunk, out, &mut context).map_err(|error| {
            let code = match error {
                Error::Blosc2(error) => error as i32,
                Error::Other(_) => UNKNOWN,
            };
            ChunkError::EngineRefused { code }
        })
    }));
    let code = UNKNOWN;
    let len = done.unwrap_or(Err(ChunkError::EngineRefused { code }))?;
    match len == source.header.nbytes as usize {
        true => Ok(()),
        false => Err(ChunkError::EngineRefused { code }),
    }
}

/// C-Blosc2's number for a failure of no particular kind.
const UNKNOWN: i32 = -1;

/// Refuses what C-Blosc2 would read otherwise, and blocks and streams that are not in the chunk.
fn check(source: &Source<'_>) -> Result<(), ChunkError> {
    let not_read = |what| Err(ChunkError::NotInEngine { what });
    if source.format()? == CompressorFormat::Snappy {
        return not_read("streams of snappy");
    }
    if !source.dictionary.is_empty() {
        return not_read("dictionaries");
    }
    if source.undo.shuffle_meta != 0 {
        return not_read("the second byte of a shuffle");
    }
    for block in 0..source.layout.nblocks() {
        source.stored(block)?;
    }
    Ok(())
}

/// Appends `data`, of at most as many bytes as fit a chunk, to `out` as one chunk; `None`, and nothing
/// is appended, for data of which C-Blosc2 would make what it refuses to read.
pub(super) fn encode(
    settings: &Blosc2Settings,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<ChunkHeader>, ChunkError> {
    // The third filter would be given `data` to write to.
    if settings.filters.ids().iter().filter(|id| **id != 0).count() > 2 {
        let what = "more than two filters to encode with";
        return Err(ChunkError::NotInEngine { what });
    }
    let start = out.len();
    let result = append(settings, data, out);
    if !matches!(result, Ok(Some(_))) {
        out.truncate(start);
    }
    result
}

/// As [`encode`], but leaves anything behind `out` where there is no chunk.
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
    let place = &mut out[start..];
    let context = Encoding::new(settings)?;
    // SAFETY: `context` is one for encoding and not null; `data` is valid for `len` bytes and `place`
    // for `room`, both of which were made of their lengths; they do not overlap, as one is borrowed
    // mutably; with at most two filters nothing is written to `data`.
    let code = unsafe {
        ffi::blosc2_compress_ctx(
            context.0.as_ptr(),
            data.as_ptr().cast(),
            len,
            place.as_mut_ptr().cast(),
            room,
        )
    };
    let failed = ChunkError::EngineFailed { code };
    let ctbytes = usize::try_from(code).ok().filter(|&len| len > 0);
    out.truncate(start + ctbytes.ok_or(failed.clone())?);
    let source = Source::open(&out[start..])?;
    let header = source.header;
    if header.nbytes as usize != found {
        return Err(failed);
    }
    let is_special = source.extension.and_then(|e| e.special()).is_some();
    let typesize = u32::from(header.typesize);
    let is_whole = header.nbytes.is_multiple_of(typesize);
    // Special values that are no whole elements are not read; of delta, the bytes of a block beyond
    // its last whole element are lost.
    let is_sound = match source.undo.delta && source.has_streams() {
        true => is_whole && source.layout.blocksize.is_multiple_of(typesize),
        false => is_whole || !is_special,
    };
    Ok(is_sound.then_some(header))
}

/// What C-Blosc2 encodes with.
struct Encoding(NonNull<ffi::blosc2_context>);

impl Encoding {
    fn new(settings: &Blosc2Settings) -> Result<Self, ChunkError> {
        init();
        // SAFETY: the function gives a value and has no conditions.
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

impl Drop for Encoding {
    fn drop(&mut self) {
        // SAFETY: the context came from `blosc2_create_cctx` and is nobody else's.
        unsafe { ffi::blosc2_free_ctx(self.0.as_ptr()) };
    }
}
