//! `blosc_compress` and `blosc_compress_ctx`.
#![allow(
    unsafe_code,
    reason = "exported functions take pointers and names that are not mangled"
)]

use std::os::raw::{c_char, c_int, c_void};

use engine::{ChunkError, ChunkSettings, Compressor, Filter, SplitMode};

use crate::border::{bytes, bytes_mut, code, complain, guarded, string};
use crate::constants::{
    BLOSC_ALWAYS_SPLIT, BLOSC_AUTO_SPLIT, BLOSC_BITSHUFFLE, BLOSC_FORWARD_COMPAT_SPLIT,
    BLOSC_MAX_BLOCKSIZE, BLOSC_MAX_BUFFERSIZE, BLOSC_MAX_OVERHEAD, BLOSC_MAX_THREADS,
    BLOSC_NEVER_SPLIT, BLOSC_NOSHUFFLE, BLOSC_SHUFFLE,
};
use crate::{contexts, environment, global, names};

/// The arguments of a call, with pointers as slices.
pub(crate) struct Call<'a> {
    pub level: c_int,
    pub shuffle: c_int,
    pub typesize: usize,
    pub data: &'a [u8],
    pub dest: &'a mut [u8],
    /// The code of the compressor, -1 for an unknown name.
    pub compressor: c_int,
    /// The requested block size in bytes, 0 for the choice of the library.
    pub blocksize: c_int,
    pub threads: c_int,
}

/// Compresses `nbytes` bytes from `src` into a chunk of at most `destsize` bytes at `dest`, with
/// the compressor, block size and number of threads that were set. Environment variables take
/// precedence: BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE,
/// BLOSC_NTHREADS and BLOSC_SPLITMODE. A `destsize` of `nbytes` + BLOSC_MAX_OVERHEAD is always
/// enough. Returns the length of the chunk in bytes, 0 if it does not fit, or a negative number for
/// other errors.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    guarded(|| {
        global::blosc_init();
        // SAFETY: readable and writable for the lengths given, and apart from each other, as in `blosc.h`.
        let (data, dest) = unsafe { (bytes(src, nbytes), bytes_mut(dest, destsize)) };
        let (Some(data), Some(dest)) = (data, dest) else {
            return code::FAILED;
        };
        let mut call = Call {
            level: clevel,
            shuffle: doshuffle,
            typesize,
            data,
            dest,
            compressor: 0,
            blocksize: 0,
            threads: 1,
        };
        if let Err(number) = environment::apply(&mut call) {
            return number;
        }
        call.compressor = global::compressor();
        call.blocksize = global::blocksize();
        call.threads = global::threads();
        compress(call)
    })
}

/// Compresses like `blosc_compress`, but with the compressor, block size and number of threads of
/// the arguments, and without environment variables. A `blocksize` of 0 leaves the choice to the
/// library.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_compress_ctx(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    numinternalthreads: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: readable and writable for the lengths given, and apart from each other, as in `blosc.h`.
        let (data, dest) = unsafe { (bytes(src, nbytes), bytes_mut(dest, destsize)) };
        let (Some(data), Some(dest)) = (data, dest) else {
            return code::FAILED;
        };
        // SAFETY: null, or a string, as in `blosc.h`.
        let name = unsafe { string(compressor) };
        compress(Call {
            level: clevel,
            shuffle: doshuffle,
            typesize,
            data,
            dest,
            compressor: name.map_or(-1, names::code_of),
            blocksize: global::low_int(blocksize),
            threads: numinternalthreads,
        })
    })
}

/// Checks the arguments in the order of C-Blosc, and compresses.
fn compress(call: Call<'_>) -> c_int {
    let most = usize::try_from(BLOSC_MAX_BUFFERSIZE).unwrap_or(usize::MAX);
    if call.data.len() > most {
        warn(format_args!(
            "Input buffer size cannot exceed {BLOSC_MAX_BUFFERSIZE} bytes"
        ));
        return 0;
    }
    if call.dest.len() < engine::HEADER_LEN {
        warn(format_args!(
            "Output buffer size should be larger than {BLOSC_MAX_OVERHEAD} bytes"
        ));
        return 0;
    }
    let settings = match settings(&call) {
        Ok(settings) => settings,
        Err(number) => return number,
    };
    let threads = usize::try_from(call.threads).unwrap_or(1);
    let threads = if is_possible(call.threads) {
        threads
    } else {
        1
    };
    // C counts in `int`. Room beyond that is never needed.
    let room = call
        .dest
        .len()
        .min(engine::compress_bound(most).unwrap_or(most));
    let out = call.dest.get_mut(..room).unwrap_or_default();
    match contexts::encode(settings, threads, call.data, out) {
        Ok(header) => {
            // As in C-Blosc, a wrong number of threads is an error only if there are several
            // blocks.
            let several = header.blocksize > 0 && header.nbytes / header.blocksize > 1;
            if several && !is_possible(call.threads) {
                complain_about_threads(call.threads);
                return code::FAILED;
            }
            c_int::try_from(header.ctbytes).unwrap_or(code::FAILED)
        }
        Err(ChunkError::OutputTooShort { .. }) => 0,
        Err(_) => code::FAILED,
    }
}

/// The settings of a call, or the return value for a wrong argument.
fn settings(call: &Call<'_>) -> Result<ChunkSettings, c_int> {
    let level = u8::try_from(call.level).ok().filter(|&level| level <= 9);
    let Some(level) = level else {
        complain(format_args!("`clevel` parameter must be between 0 and 9!"));
        return Err(code::ARGUMENT);
    };
    let filter = match call.shuffle {
        BLOSC_NOSHUFFLE => Filter::None,
        BLOSC_SHUFFLE => Filter::Byte,
        BLOSC_BITSHUFFLE => Filter::Bit,
        _ => {
            complain(format_args!(
                "`shuffle` parameter must be either 0, 1 or 2!"
            ));
            return Err(code::ARGUMENT);
        }
    };
    // C-Blosc would divide by a typesize of 0.
    let typesize = match u8::try_from(call.typesize) {
        Ok(0) => return Err(code::ARGUMENT),
        Ok(typesize) => typesize,
        Err(_) => 1,
    };
    let Some(compressor) = names::compressor_of(call.compressor) else {
        complain(format_args!(
            "Blosc has not been compiled with '(null)' compression support.  Please use one having it."
        ));
        return Err(code::NO_COMPRESSOR);
    };
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(level)
        .filter(filter)
        .typesize(typesize)
        .split(split(global::split_mode()));
    Ok(settings.blocksize(forced_blocksize(&settings, call.blocksize)))
}

/// The requested block size as C-Blosc adjusts it: blocks that are split become larger. `None` for
/// 0.
fn forced_blocksize(settings: &ChunkSettings, forced: c_int) -> Option<u32> {
    if forced == 0 {
        return None;
    }
    let size = u32::try_from(forced.clamp(128, BLOSC_MAX_BLOCKSIZE)).ok()?;
    let typesize = u32::from(settings.typesize);
    let can_split = typesize <= 16 && size / typesize >= 128;
    let is_split = match settings.split {
        SplitMode::Always => true,
        SplitMode::Never => false,
        SplitMode::Auto => {
            let splits = [Compressor::Blosclz, Compressor::Snappy];
            can_split && splits.contains(&settings.compressor)
        }
        _ => can_split && settings.compressor != Compressor::Zstd,
    };
    if settings.level == 0 || !is_split {
        return Some(size);
    }
    let stream = size.min(256 << 10);
    Some((stream * typesize).clamp(64 << 10, 1 << 20))
}

/// The split mode with this code. For an unknown code, C-Blosc prints a message and splits.
fn split(mode: c_int) -> SplitMode {
    match mode {
        BLOSC_ALWAYS_SPLIT => SplitMode::Always,
        BLOSC_NEVER_SPLIT => SplitMode::Never,
        BLOSC_AUTO_SPLIT => SplitMode::Auto,
        BLOSC_FORWARD_COMPAT_SPLIT => SplitMode::ForwardCompat,
        _ => {
            complain(format_args!("Split mode {mode} not supported"));
            SplitMode::Always
        }
    }
}

/// Whether this number of threads is valid: 1 to 256.
pub(crate) fn is_possible(threads: c_int) -> bool {
    (1..=BLOSC_MAX_THREADS).contains(&threads)
}

/// Prints why a number of threads is not valid.
pub(crate) fn complain_about_threads(threads: c_int) {
    if threads > BLOSC_MAX_THREADS {
        complain(format_args!(
            "Error.  nthreads cannot be larger than BLOSC_MAX_THREADS ({BLOSC_MAX_THREADS})"
        ));
    } else {
        complain(format_args!("Error.  nthreads must be a positive integer"));
    }
}

/// Prints a warning if `BLOSC_WARN` is set to a number above 0.
fn warn(message: std::fmt::Arguments<'_>) {
    if environment::warnings() > 0 {
        complain(message);
    }
}
