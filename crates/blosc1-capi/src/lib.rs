//! The functions of `blosc.h` 1.21.6 over the crate `blosc1`, for programs that link C-Blosc.
//!
//! ```text
//! C code ─► blosc_compress, blosc_decompress, blosc_getitem, blosc_cbuffer_*, settings, names
//!              │  border.rs        pointers become slices, errors and panics become numbers
//!              │  environment.rs   variables BLOSC_*, read at each call
//!              │  global.rs        settings of the process
//!              └► contexts.rs      encoder and decoder of the calling thread ─► crate blosc1
//! ```
//!
//! Return values, environment variables and messages are those of C-Blosc, with these differences:
//!
//! - No call takes a lock.
//! - Arguments that crash C-Blosc (a null pointer, a typesize of 0) return a negative number.
//! - A chunk that contradicts itself is always refused.
//!
//! In the C interface, only the chunk itself contains its length. As with C-Blosc, the caller of
//! `blosc_decompress`, `blosc_decompress_ctx` and `blosc_getitem` guarantees that as many bytes can
//! be read. `blosc_cbuffer_validate` compares the length in the chunk with the caller's.
//!
//! A panic does not reach C: it becomes the return value -1.

mod border;
mod compress;
mod constants;
mod contexts;
mod decompress;
mod environment;
mod global;
mod header;
mod names;
#[cfg(test)]
mod tests;
