//! The functions of `blosc.h` 1.21.6 over the crate `blosc1`, for programs that link C-Blosc.
//!
//! Return values, environment variables and messages are those of C-Blosc, with these differences: no call
//! takes a lock; what would crash (a null pointer, a typesize of 0) returns a negative number; and a chunk
//! that contradicts itself is always refused.
//!
//! The C interface gives the length of a chunk nowhere but in the chunk itself. As with C-Blosc, the caller
//! of `blosc_decompress`, `blosc_decompress_ctx` and `blosc_getitem` guarantees that as many bytes can be
//! read: `blosc_cbuffer_validate` compares that length with the caller's.
//!
//! A panic does not pass the border: it becomes the return value -1.

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
