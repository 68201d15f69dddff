//! The transmitted data: content or records, written and read as a user of the library does.

use bloscpack::records::RecordWriterBuilder;
use bloscpack::{
    Category, Decoder, Encoder, EncoderBuilder, Error, Options,
    records::{RecordReader, RecordWriter},
};
use std::io::{self, ErrorKind as Io, Read, Write};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Content,
    Records,
    Packed,
}

/// How it ended.
#[derive(Debug, PartialEq)]
pub enum End {
    Whole,
    /// By an error of the format.
    Told(Category),
    /// By one of the socket.
    Failed(Io),
}

/// The result of a reading.
#[derive(Debug)]
pub struct Found {
    pub content: Vec<u8>,
    pub end: End,
    /// How often we ran out of patience, and read again.
    pub timeouts: usize,
}

/// The length of records, and of the pieces in which content is written.
const PIECE: usize = 1_700;

impl Form {
    pub const ALL: [Self; 3] = [Self::Content, Self::Records, Self::Packed];

    /// That many bytes that do not become much shorter.
    pub fn content(self, len: usize) -> Vec<u8> {
        let mut state = 99_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    /// The same, as the bytes of a stream.
    pub fn file(self, len: usize) -> Vec<u8> {
        let content = self.content(len);
        match self {
            Self::Content => {
                let mut encoder = content_options(1).write_to(Vec::new()).unwrap();
                encoder.write_all(&content).unwrap();
                encoder.finish().unwrap()
            }
            Self::Records | Self::Packed => {
                let mut writer = record_options(self, 1).write_to(Vec::new()).unwrap();
                for record in content.chunks(PIECE) {
                    writer.push(record).unwrap();
                }
                writer.finish().unwrap()
            }
        }
    }
}

fn content_options(threads: usize) -> EncoderBuilder {
    Encoder::builder().chunk_size(4096).threads(threads)
}

fn record_options(form: Form, threads: usize) -> RecordWriterBuilder {
    let options = RecordWriter::builder().threads(threads);
    match form {
        Form::Packed => options.packed(4096),
        _ => options,
    }
}

/// Reads all that there is. Once there was an error, there is nothing more.
pub fn received(form: Form, threads: usize, source: impl Read) -> Found {
    let mut content = Vec::new();
    let (end, timeouts) = match form {
        Form::Content => {
            let mut decoder = Decoder::with_options(source, Options::new().threads(threads));
            let mut piece = vec![0; 1_000];
            to_the_end(|| {
                let count = decoder.read(&mut piece).map_err(end_of_io)?;
                content.extend_from_slice(&piece[..count]);
                Ok(count > 0)
            })
        }
        Form::Records | Form::Packed => {
            let mut reader = RecordReader::with_options(source, Options::new().threads(threads));
            to_the_end(|| {
                let record = reader.next_record().map_err(|error| end_of(&error))?;
                content.extend_from_slice(record.unwrap_or_default());
                Ok(record.is_some())
            })
        }
    };
    Found {
        content,
        end,
        timeouts,
    }
}

/// Reads piece by piece, again where it took too long.
fn to_the_end(mut piece: impl FnMut() -> Result<bool, End>) -> (End, usize) {
    let mut timeouts = 0;
    loop {
        match piece() {
            Ok(true) => {}
            Ok(false) => return (End::Whole, timeouts),
            Err(End::Failed(Io::WouldBlock | Io::TimedOut)) => timeouts += 1,
            Err(end) => {
                for _ in 0..3 {
                    assert!(piece().is_err(), "something behind {end:?}");
                }
                return (end, timeouts);
            }
        }
    }
}

fn end_of_io(error: io::Error) -> End {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>());
    inner.map_or(End::Failed(error.kind()), end_of)
}

fn end_of(error: &Error) -> End {
    match error.io_error() {
        Some(error) => End::Failed(error.kind()),
        None => End::Told(error.category()),
    }
}

/// Sends that many bytes; gives the error of the socket. Once there was one, nothing more goes, and it cannot be finished.
pub fn sent(form: Form, threads: usize, len: usize, target: impl Write) -> Result<(), Io> {
    let content = form.content(len);
    match form {
        Form::Content => {
            let mut encoder = content_options(threads).write_to(target).map_err(kind_of)?;
            for piece in content.chunks(PIECE) {
                if let Err(error) = encoder.write_all(piece) {
                    assert!(
                        encoder.write_all(&[7; 100_000]).is_err(),
                        "written behind an error"
                    );
                    assert!(encoder.finish().is_err(), "finished behind an error");
                    return Err(error.kind());
                }
            }
            encoder.finish().map(drop).map_err(kind_of)
        }
        Form::Records | Form::Packed => {
            let mut writer = record_options(form, threads)
                .write_to(target)
                .map_err(kind_of)?;
            for record in content.chunks(PIECE) {
                if let Err(error) = writer.push(record) {
                    assert!(writer.push([7; 100_000]).is_err(), "pushed behind an error");
                    assert!(writer.flush().is_err(), "flushed behind an error");
                    assert!(writer.finish().is_err(), "finished behind an error");
                    return Err(kind_of(error));
                }
            }
            writer.finish().map(drop).map_err(kind_of)
        }
    }
}

fn kind_of(error: Error) -> Io {
    io::Error::from(error).kind()
}
