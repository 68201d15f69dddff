//! Streams and records for async programs.
//!
//! | sync | async | traits |
//! |---|---|---|
//! | [`Decoder`](crate::Decoder) | [`AsyncDecoder`] | `AsyncRead`, `AsyncBufRead`, `Stream` of `Bytes` |
//! | [`Encoder`](crate::Encoder) | [`AsyncEncoder`] | `AsyncWrite` |
//! | [`RecordReader`](crate::records::RecordReader) | [`RecordStream`] | `Stream` of `Bytes` |
//! | [`RecordWriter`](crate::records::RecordWriter) | [`RecordSink`] | `Sink` of anything that is bytes |
//! | both | `RecordDecoder`, `RecordEncoder` | those of `tokio_util::codec` |
//!
//! The reader or writer underneath has the traits of tokio (`Tokio(socket)`, feature `tokio`) or those of the crate
//! `futures-io` (`Futures(socket)`, feature `futures-io`), or is any other [`Source`] or [`Target`]. The codecs on top have
//! those of all features that are on.
//!
//! # Threads
//!
//! One crew of threads, as many as there are processors, compresses and decompresses for all codecs of the process; an
//! executor's thread only parses and copies, and lets other tasks run after each MiB. The number of threads in a builder is
//! that of the chunks of its codec that may be worked on at once, one by default; others are read or filled meanwhile. The
//! crew takes chunks in the order in which they come, from whichever codec. Dropping a codec waits for nothing.
//!
//! Only the codecs of `tokio_util`, which cannot wait, work where they are polled.
//!
//! # Cancelling
//!
//! A future that is dropped before it was ready has lost nothing: the codec keeps what it has read and what it was given, and
//! the next call continues. That holds for every call here, and for every trait that the types implement.

#[cfg(feature = "tokio")]
mod codec;
mod decoder;
mod encoder;
mod ends;
#[cfg(feature = "futures-io")]
mod futures;
mod output;
mod pace;
mod records;
mod sink;
#[cfg(feature = "tokio")]
mod tokio;

#[cfg(feature = "tokio")]
pub use codec::{Finish, RecordDecoder, RecordEncoder};
pub use decoder::AsyncDecoder;
pub use encoder::AsyncEncoder;
pub use ends::{Source, Target};
#[cfg(feature = "futures-io")]
pub use futures::Futures;
pub(crate) use pace::Pace;
pub use pace::Yield;
pub use records::RecordStream;
pub use sink::RecordSink;
#[cfg(feature = "tokio")]
pub use tokio::Tokio;
