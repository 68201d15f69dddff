//! [`RecordDecoder`] and [`RecordEncoder`]: records for `tokio_util::codec`.

use super::output::Outlet;
use crate::Options;
use crate::engine::{Engine, Settings, Turn, Wanted};
use crate::records::{RecordReader, RecordWriter, RecordWriterBuilder};
use bloscpack_error::{Error, Result};
use bloscpack_wire::Limits;
use bytes::{Bytes, BytesMut};
use std::fmt;
use tokio_util::codec::{Decoder, Encoder};

/// The default limit on the uncompressed bytes of a chunk, since chunks are decompressed where the codec is polled.
const LONGEST: u32 = 1 << 20;

/// Decodes records from the bytes of a socket: a [`Decoder`] for `FramedRead` and `Framed` of `tokio_util`.
///
/// The items are [`Bytes`], which keep the memory of their whole chunk. A codec cannot wait for other threads, so it
/// decompresses on the executor's thread. It therefore refuses chunks of more than 1 MiB by default; smaller ones take at most
/// a millisecond or two. A [`RecordStream`](super::RecordStream) accepts larger ones. `RecordDecoder::from(options)` sets
/// other limits.
///
/// Errors are the ones of [`RecordReader::next_record`], and [`OverLimit`](bloscpack_error::Category::OverLimit) for a larger
/// chunk.
///
/// ```
/// use bloscpack::aio::{Finish, RecordDecoder, RecordEncoder};
/// use bytes::{Bytes, BytesMut};
/// use tokio_util::codec::{Decoder, Encoder};
/// # use bloscpack::bytes;
///
/// let (mut encoder, mut socket) = (RecordEncoder::new()?, BytesMut::new());
/// encoder.encode("a record", &mut socket)?;
/// let mut decoder = RecordDecoder::new();
/// assert_eq!(decoder.decode(&mut socket)?, Some(Bytes::from_static(b"a record")));
/// assert_eq!(decoder.decode(&mut socket)?, None);
///
/// encoder.encode(Finish, &mut socket)?;
/// assert_eq!(decoder.decode_eof(&mut socket)?, None);
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct RecordDecoder {
    reader: RecordReader<()>,
}

impl RecordDecoder {
    /// Creates a decoder for chunks of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        let limits = Limits::new().chunk(LONGEST);
        Options::new().limits(limits).into()
    }

    /// The next record; `None` if more input is needed, and at the end.
    fn next(&mut self, input: &mut BytesMut, is_end: bool) -> Result<Option<Bytes>> {
        loop {
            if let Some(record) = self.reader.ready()? {
                return Ok(Some(record));
            }
            let engine = &mut self.reader.engine;
            match engine.turn(input.is_empty())? {
                Turn::Piece(piece) => {
                    self.reader.put(Some(piece))?;
                }
                Turn::Busy => engine.wait(),
                Turn::Hungry if !input.is_empty() => engine.feed(input),
                Turn::Hungry if is_end => engine.end_of_input(),
                Turn::Hungry => return Ok(None),
                Turn::End => {
                    self.reader.put(None)?;
                    return Ok(None);
                }
            }
        }
    }
}

impl Default for RecordDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Options> for RecordDecoder {
    /// A decoder with these options, whose default limits allow chunks of up to 2 GiB.
    fn from(options: Options) -> Self {
        let settings = Settings::new(Wanted::Records, options);
        Self {
            reader: RecordReader::with_engine(Engine::new((), settings)),
        }
    }
}

impl Decoder for RecordDecoder {
    type Item = Bytes;
    type Error = Error;

    fn decode(&mut self, input: &mut BytesMut) -> Result<Option<Bytes>> {
        self.next(input, false)
    }

    fn decode_eof(&mut self, input: &mut BytesMut) -> Result<Option<Bytes>> {
        self.next(input, true)
    }
}

impl fmt::Debug for RecordDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordDecoder").field(&self.reader).finish()
    }
}

/// The item that ends a stream of records, for a [`RecordEncoder`]: without it, the reader sees a stream that was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish;

/// Encodes records into bytes for a socket: an [`Encoder`] for `FramedWrite` and `Framed` of `tokio_util`.
///
/// Each record becomes a chunk at once, also if records are packed, so a reader gets it as soon as the socket is flushed. It is
/// compressed on the executor's thread. The item [`Finish`] ends the stream; a further item is a
/// [`Usage`](bloscpack_error::Category::Usage) error. `RecordEncoder::try_from(builder)` sets options.
///
/// ```
/// use bloscpack::aio::{Finish, RecordEncoder};
/// use bloscpack::records::{RecordReader, RecordWriter};
/// use bytes::BytesMut;
/// use tokio_util::codec::Encoder;
/// # use bloscpack::bytes;
///
/// let options = RecordWriter::builder().dtype("varchar");
/// let (mut encoder, mut socket) = (RecordEncoder::try_from(options)?, BytesMut::new());
/// encoder.encode("one", &mut socket)?;
/// encoder.encode("two", &mut socket)?;
/// encoder.encode(Finish, &mut socket)?;
/// assert_eq!(RecordReader::new(&socket[..]).count(), 2);
/// assert!(encoder.encode("three", &mut socket).is_err());
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct RecordEncoder {
    writer: RecordWriter<Outlet>,
    is_finished: bool,
}

impl RecordEncoder {
    /// Creates an encoder with all defaults: one record per chunk, LZ4, crc32.
    ///
    /// # Errors
    /// Returns [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) in a build without LZ4.
    pub fn new() -> Result<Self> {
        RecordWriterBuilder::default().try_into()
    }

    /// Moves the encoded bytes to the buffer of the socket.
    fn hand_on(&mut self, output: &mut BytesMut) -> Result<()> {
        let outlet = &mut self.writer.sink.writer;
        let left = outlet.left()?;
        output.extend_from_slice(left);
        let len = left.len();
        outlet.take(len);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.is_finished {
            Err(Error::usage("nothing can be written after the end"))
        } else {
            Ok(())
        }
    }
}

impl TryFrom<RecordWriterBuilder> for RecordEncoder {
    type Error = Error;

    /// An encoder with these options.
    fn try_from(options: RecordWriterBuilder) -> Result<Self> {
        Ok(Self {
            writer: options.write_to(Outlet::default())?,
            is_finished: false,
        })
    }
}

impl<B: AsRef<[u8]>> Encoder<B> for RecordEncoder {
    type Error = Error;

    fn encode(&mut self, record: B, output: &mut BytesMut) -> Result<()> {
        self.check()?;
        self.writer.push(record)?;
        self.writer.flush()?;
        self.hand_on(output)
    }
}

impl Encoder<Finish> for RecordEncoder {
    type Error = Error;

    fn encode(&mut self, _: Finish, output: &mut BytesMut) -> Result<()> {
        self.check()?;
        self.is_finished = true;
        self.writer.chunker.finish(&mut self.writer.sink)?;
        self.writer.sink.finish(&self.writer.plan)?;
        self.hand_on(output)
    }
}

impl fmt::Debug for RecordEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordEncoder").field(&self.writer).finish()
    }
}
