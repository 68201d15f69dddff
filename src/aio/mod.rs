//! Streams and records for async programs: the codecs of this crate with the traits of tokio or `futures-io`.
//!
//! | sync | async | traits |
//! |---|---|---|
//! | [`Decoder`](crate::Decoder) | [`AsyncDecoder`] | `AsyncRead`, `AsyncBufRead`, `Stream` of `Bytes` |
//! | [`Encoder`](crate::Encoder) | [`AsyncEncoder`] | `AsyncWrite` |
//! | [`RecordReader`](crate::records::RecordReader) | [`RecordStream`] | `Stream` of `Bytes` |
//! | [`RecordWriter`](crate::records::RecordWriter) | [`RecordSink`] | `Sink` of items that are bytes |
//! | both | `RecordDecoder`, `RecordEncoder` | `Decoder`, `Encoder` of `tokio_util::codec` |
//!
//! ```text
//!   Tokio(reader), Futures(reader), any Source ─► task: parse ─► crew: check, decompress ─► AsyncDecoder, RecordStream
//!   AsyncEncoder, RecordSink ─► task: copy ─► crew: compress ─► task: write ─► Tokio(writer), Futures(writer), any Target
//! ```
//!
//! Wrap the reader or writer in `Tokio` if it has the traits of tokio (feature `tokio`), and in `Futures` if it has the traits
//! of the crate `futures-io` (feature `futures-io`), or implement [`Source`] or [`Target`] for it. The codecs implement the
//! traits of all enabled features.
//!
//! # Threads
//!
//! One *crew* of threads, as many as there are processors, compresses and decompresses for all codecs of the process. The
//! executor's threads only parse and copy, and let other tasks run after each MiB. The number of threads in a builder or in
//! [`Options`](crate::Options) limits the chunks of this codec on which the crew works at once, one by default; meanwhile,
//! other chunks are read or filled. The crew takes chunks from all codecs in the order in which they arrive. Dropping a codec
//! does not block.
//!
//! The codecs of `tokio_util` cannot wait for other threads, and work where they are polled.
//!
//! # Cancelling
//!
//! Every call, and every trait method, is cancel safe: if a future is dropped before it is ready, the codec keeps the bytes
//! that it has read or taken, and the next call continues.

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
