//! C-Blosc2 3 in a shared library that is loaded at run time: the functions that the bench calls.
#![allow(unsafe_code, reason = "calls into the C library")]

use bloscpack::blosc::Blosc2Settings;
use std::ffi::{OsStr, c_int, c_void};

/// `blosc2_cparams` of `blosc2.h`.
#[repr(C)]
struct CompressionParameters {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *mut c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams` of `blosc2.h`.
#[repr(C)]
struct DecompressionParameters {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *mut c_void,
    postparams: *mut c_void,
    typesize: i32,
}

type Compress = unsafe extern "C" fn(*mut c_void, *const c_void, i32, *mut c_void, i32) -> c_int;

/// The library.
pub struct Library(libloading::Library);

impl Library {
    /// Loads the library in a file, and initializes it.
    pub fn open(path: &OsStr) -> Self {
        // SAFETY: the caller names a library of C-Blosc2, whose initializers have no preconditions.
        let library = unsafe { libloading::Library::new(path) };
        let library = Self(library.expect("the library"));
        let init: unsafe extern "C" fn() = library.function(b"blosc2_init\0");
        // SAFETY: called once, before any other function of the library.
        unsafe { init() };
        library
    }

    fn function<F: Copy>(&self, name: &[u8]) -> F {
        // SAFETY: each caller gives the type that `blosc2.h` declares, and the library outlives the contexts.
        *unsafe { self.0.get::<F>(name) }.expect("a function of C-Blosc2")
    }

    /// A context that compresses on one thread, with the compressor of this number.
    pub fn compressing(&self, settings: &Blosc2Settings, compressor: u8) -> Context<'_> {
        let defaults: unsafe extern "C" fn() -> CompressionParameters =
            self.function(b"blosc2_get_blosc2_cparams_defaults\0");
        let create: unsafe extern "C" fn(CompressionParameters) -> *mut c_void =
            self.function(b"blosc2_create_cctx\0");
        // SAFETY: the function returns a value, and has no preconditions.
        let defaults = unsafe { defaults() };
        assert_eq!(
            (defaults.nthreads, defaults.typesize),
            (1, 8),
            "another layout of blosc2_cparams"
        );
        let parameters = CompressionParameters {
            compcode: compressor,
            clevel: settings.level,
            typesize: settings.typesize.into(),
            filters: settings.filters.ids(),
            ..defaults
        };
        // SAFETY: every field has the value of the library's own defaults or one that it knows, and its pointers are null.
        self.context(unsafe { create(parameters) })
    }

    /// A context that decompresses on one thread.
    pub fn decompressing(&self) -> Context<'_> {
        let defaults: unsafe extern "C" fn() -> DecompressionParameters =
            self.function(b"blosc2_get_blosc2_dparams_defaults\0");
        let create: unsafe extern "C" fn(DecompressionParameters) -> *mut c_void =
            self.function(b"blosc2_create_dctx\0");
        // SAFETY: the first function returns a value; the second gets its own defaults.
        self.context(unsafe { create(defaults()) })
    }

    fn context(&self, made: *mut c_void) -> Context<'_> {
        assert!(!made.is_null());
        Context {
            made,
            compress: self.function(b"blosc2_compress_ctx\0"),
            decompress: self.function(b"blosc2_decompress_ctx\0"),
            free: self.function(b"blosc2_free_ctx\0"),
            library: std::marker::PhantomData,
        }
    }
}

/// A context of the library.
pub struct Context<'a> {
    made: *mut c_void,
    compress: Compress,
    decompress: Compress,
    free: unsafe extern "C" fn(*mut c_void),
    library: std::marker::PhantomData<&'a Library>,
}

impl Context<'_> {
    /// The length of the chunk.
    pub fn compress(&mut self, data: &[u8], room: &mut [u8]) -> usize {
        self.call(self.compress, data, room)
    }

    pub fn decompress(&mut self, chunk: &[u8], data: &mut [u8]) {
        assert_eq!(self.call(self.decompress, chunk, data), data.len());
    }

    fn call(&mut self, function: Compress, from: &[u8], to: &mut [u8]) -> usize {
        let len = |slice: &[u8]| i32::try_from(slice.len()).expect("a short slice");
        // SAFETY: the context is one for the function; both pointers are valid for the lengths given with them, and do not
        // overlap, as one is borrowed mutably; with one filter at most, nothing is written to `from`; chunks are the library's own.
        let done = unsafe {
            function(
                self.made,
                from.as_ptr().cast(),
                len(from),
                to.as_mut_ptr().cast(),
                len(to),
            )
        };
        usize::try_from(done)
            .ok()
            .filter(|len| *len > 0)
            .expect("C-Blosc2 failed")
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the library and not shared.
        unsafe { (self.free)(self.made) };
    }
}
