//! Tests of the C functions, beside those of C-Blosc and on damaged chunks.
#![allow(unsafe_code, reason = "calls C functions")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod beside;
mod environment;
mod generated;
mod hostile;
mod nulls;

use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};

use testkit::oracle::{Kind, Random};

type Compress = unsafe extern "C" fn(
    c_int,
    c_int,
    usize,
    usize,
    *const c_void,
    *mut c_void,
    usize,
    *const c_char,
    usize,
    c_int,
) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int) -> c_int;
type GetItem = unsafe extern "C" fn(*const c_void, c_int, c_int, *mut c_void) -> c_int;

/// The functions that both libraries have.
#[derive(Clone, Copy)]
struct Library {
    compress: Compress,
    decompress: Decompress,
    getitem: GetItem,
    /// Bytes that it may write past the end of a buffer that is too short.
    past: usize,
}

const OURS: Library = Library {
    compress: crate::compress::blosc_compress_ctx,
    decompress: crate::decompress::blosc_decompress_ctx,
    getitem: crate::decompress::blosc_getitem,
    past: 0,
};

const THEIRS: Library = Library {
    compress: blosc_src::blosc_compress_ctx,
    decompress: blosc_src::blosc_decompress_ctx,
    getitem: blosc_src::blosc_getitem,
    // Each of its threads writes the length of a stream before it checks the room.
    past: 4 << 10,
};

/// The arguments of `blosc_compress_ctx`, except for the buffers.
#[derive(Clone, Debug)]
struct Arguments {
    level: c_int,
    shuffle: c_int,
    typesize: usize,
    compressor: &'static str,
    blocksize: usize,
    threads: c_int,
}

impl Arguments {
    /// Arguments that are allowed.
    fn sound(random: &mut Random) -> Self {
        let compressors = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
        Self {
            level: random.below(8) as c_int,
            shuffle: random.below(3) as c_int,
            typesize: random.pick(&[1, 2, 3, 4, 8, 16, 17, 255]),
            compressor: random.pick(&compressors),
            blocksize: random.pick(&[0, 0, 0, 1, 130, 4096, 100_000]),
            threads: random.pick(&[1, 1, 2, 3]),
        }
    }

    /// Arguments of which one may be out of its range.
    fn any(random: &mut Random) -> Self {
        let mut arguments = Self::sound(random);
        match random.below(12) {
            0 => arguments.level = random.pick(&[-1, 10, c_int::MAX]),
            1 => arguments.shuffle = random.pick(&[-1, 3, c_int::MIN]),
            2 => arguments.typesize = random.pick(&[256, 1000, 1 << 20]),
            3 => arguments.compressor = random.pick(&["", "lz5", "LZ4", "blosclz "]),
            4 => arguments.blocksize = random.pick(&[1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40]),
            5 => arguments.threads = random.pick(&[0, -1, 257, c_int::MIN]),
            _ => {}
        }
        arguments
    }
}

impl Library {
    /// Compresses into `room` bytes, and returns what the function returns, with the bytes.
    fn compress(self, arguments: &Arguments, data: &[u8], room: usize) -> (c_int, Vec<u8>) {
        let name = CString::new(arguments.compressor).unwrap();
        let mut dest = vec![0xA5; room + self.past];
        // SAFETY: all pointers are valid for the lengths given with them, or `past` bytes more, and the name ends with a zero byte.
        let len = unsafe {
            (self.compress)(
                arguments.level,
                arguments.shuffle,
                arguments.typesize,
                data.len(),
                data.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                room,
                name.as_ptr(),
                arguments.blocksize,
                arguments.threads,
            )
        };
        dest.truncate(usize::try_from(len).unwrap_or(0));
        (len, dest)
    }

    /// Decompresses into `room` bytes. The chunk must have the length that its header says.
    fn decompress(self, chunk: &[u8], room: usize, threads: c_int) -> (c_int, Vec<u8>) {
        let mut dest = vec![0xA5; room];
        // SAFETY: the chunk is as long as its header says, and `dest` is valid for the length given.
        let len = unsafe {
            (self.decompress)(
                chunk.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                room,
                threads,
            )
        };
        dest.truncate(usize::try_from(len).unwrap_or(0));
        (len, dest)
    }

    /// Reads elements. The chunk must have the length that its header says.
    fn getitem(self, chunk: &[u8], start: c_int, count: c_int, room: usize) -> (c_int, Vec<u8>) {
        let mut dest = vec![0xA5; room];
        // SAFETY: the chunk is as long as its header says, and `dest` has room for the elements.
        let len = unsafe {
            (self.getitem)(
                chunk.as_ptr().cast(),
                start,
                count,
                dest.as_mut_ptr().cast(),
            )
        };
        dest.truncate(usize::try_from(len).unwrap_or(0));
        (len, dest)
    }
}

/// Data of a length that is short in most cases.
fn data(random: &mut Random) -> Vec<u8> {
    let len = match random.below(6) {
        0 => random.below(20),
        1 => 120 + random.below(20),
        2..5 => random.below(10_000),
        _ => random.below(500_000),
    };
    random.pick(&Kind::ALL).data(random, len)
}
