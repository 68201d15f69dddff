//! Tests of interactive streams, whose flushes deliver everything, and of readers that stop after a member: with both ends
//! of a socket alive, and with something else that follows on it.

use bloscpack::blosc::Aim;
use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{RecordReader, RecordWriter};
use bloscpack::storage::Memory;
use bloscpack::survey::{State, Survey};
use bloscpack::verify::verify_at;
use bloscpack::{
    Category, Checksum, Decoder, Encoder, EncoderBuilder, FormatVersion, Metadata, Options,
};
use std::io::{self, Cursor, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use testkit::damages::recover;

/// Only bytes that do not arrive take so long.
const PATIENCE: Duration = testkit::stopwatch::HANG;

/// One end of a connection, once to read and once to write.
type End = (Box<dyn Read + Send>, Box<dyn Write + Send>);

fn tcp() -> (End, End) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    let end = |stream: TcpStream| -> End {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        (Box::new(stream.try_clone().unwrap()), Box::new(stream))
    };
    (end(near), end(far))
}

#[cfg(unix)]
fn unix() -> (End, End) {
    use std::os::unix::net::UnixStream;
    let (near, far) = UnixStream::pair().unwrap();
    let end = |stream: UnixStream| -> End {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        (Box::new(stream.try_clone().unwrap()), Box::new(stream))
    };
    (end(near), end(far))
}

#[cfg(not(unix))]
use tcp as unix;

/// Bytes that look random, the same each time.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let step = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(step).take(len).collect()
}

fn messages() -> Vec<Vec<u8>> {
    let lens = [10, 1, 33, 100, 1000, 4096, 10_000, 65_537, 100_000];
    let pair = |len| [noise(len), vec![7; len]];
    lens.into_iter().flat_map(pair).collect()
}

fn interactive() -> EncoderBuilder {
    Encoder::builder().interactive(true)
}

/// Each message is sent only after the other end has sent back the one before it, through a stream of its own: a byte that
/// stayed anywhere on the way would leave both waiting.
fn ping_pong((near, far): (End, End), builder: &EncoderBuilder, threads: usize) {
    let builder = builder.clone().threads(threads);
    let decoder = Options::new().threads(threads).members(1);
    let (answers, answering) = (builder.clone(), decoder.clone());
    let echo = thread::spawn(move || {
        let mut encoder = answers.write_to(far.1).unwrap();
        let mut decoder = Decoder::with_options(far.0, answering);
        for message in messages() {
            let mut received = vec![0; message.len()];
            decoder.read_exact(&mut received).unwrap();
            encoder.write_all(&received).unwrap();
            encoder.flush().unwrap();
        }
        encoder.finish().unwrap();
        // The other end has finished its stream as well, but keeps the connection.
        assert_eq!(decoder.read(&mut [0]).unwrap(), 0);
    });
    let mut encoder = builder.write_to(near.1).unwrap();
    let mut decoder = Decoder::with_options(near.0, decoder);
    for message in messages() {
        encoder.write_all(&message).unwrap();
        encoder.flush().unwrap();
        let mut received = vec![0; message.len()];
        decoder.read_exact(&mut received).unwrap();
        assert_eq!(received, message);
    }
    let kept = encoder.finish().unwrap();
    assert_eq!(decoder.read(&mut [0]).unwrap(), 0);
    echo.join().unwrap();
    drop(kept);
}

#[test]
fn each_flushed_message_arrives_before_the_next_is_written() {
    for threads in 1..=4 {
        ping_pong(tcp(), &interactive(), threads);
        ping_pong(unix(), &interactive().chunk_size(10_000), threads);
        ping_pong(unix(), &interactive().checksum(Checksum::None), threads);
        ping_pong(tcp(), &interactive().auto(Aim::Size), threads);
    }
}

/// Writes these pieces, each flushed.
fn stream(builder: EncoderBuilder, pieces: &[&[u8]]) -> Vec<u8> {
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    for piece in pieces {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn the_header_says_so_from_the_start_and_flushes_make_the_chunks() {
    let encoder = interactive().write_to(Vec::new()).unwrap();
    let header = encoder.get_ref().clone();
    assert_eq!(header[4..8], [3, 0, 2, 8]);
    assert_eq!(header[8..24], [0xff; 16], "sizes and number of chunks");

    let data = noise(2500);
    let pieces = [&data[..10], &[], &data[10..2010], &data[2010..]];
    for threads in [1, 3] {
        let builder = interactive().chunk_size(1000).threads(threads);
        let file = stream(builder, &pieces);
        let reader = IndexedReader::open(&file).unwrap();
        let ranges = (0..reader.chunks()).map(|n| reader.chunk_range(n).unwrap().unwrap());
        assert_eq!(
            ranges.collect::<Vec<_>>(),
            [0..10, 10..1010, 1010..2010, 2010..2500]
        );
        let mut middle = [0; 2000];
        assert_eq!(reader.read_at(5, &mut middle).unwrap(), 2000);
        assert_eq!(middle, data[5..2005]);
        assert_eq!(bloscpack::decompress(&file).unwrap(), data);
    }
}

#[test]
fn without_the_mode_a_flush_keeps_the_last_chunk_as_before() {
    let data = noise(2500);
    let builder = Encoder::builder().chunk_size(1000);
    let file = stream(
        builder.clone(),
        &[&data[..10], &data[10..2010], &data[2010..]],
    );
    let at_once = stream(builder, &[&data]);
    assert_eq!(file, at_once);
}

#[test]
fn a_stream_of_flushes_is_for_streams_of_v3_alone() {
    let refused = |result: bloscpack::Result<()>| {
        assert_eq!(result.unwrap_err().category(), Category::Usage);
    };
    for layout in [FormatVersion::V1, FormatVersion::V2] {
        refused(
            interactive()
                .version(layout)
                .write_to(Vec::new())
                .map(|_| ()),
        );
    }
    refused(interactive().size(5).write_to(Vec::new()).map(|_| ()));
    let target = || Cursor::new(Vec::new());
    refused(interactive().write_to_file(target()).map(|_| ()));
    refused(interactive().write_to_seek(target()).map(|_| ()));
}

#[test]
fn every_reader_and_editor_takes_a_stream_of_flushes() {
    let data = noise(250_000);
    let pieces: Vec<&[u8]> = data.chunks(70_001).collect();
    let metadata = Metadata::from_json(r#"{"a": 1}"#).unwrap();
    let file = stream(interactive().metadata(metadata), &pieces);

    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let member = &survey.members[0];
    assert_eq!((member.state, member.chunks), (State::Complete, 4));
    let report = verify_at(&file, &Options::new().threads(2), |_| Ok(())).unwrap();
    assert!(report.is_sound());
    assert_eq!((report.chunks, report.bytes), (4, 250_000));

    let mut damaged = file.clone();
    damaged[file.len() / 2] ^= 1;
    let report = verify_at(&damaged, &Options::new(), |_| Ok(())).unwrap();
    assert_eq!(report.damage_count, 1);
    let mut saved = Cursor::new(Vec::new());
    let recovery = recover(&damaged, &mut saved, &Default::default()).unwrap();
    assert_eq!(recovery.chunks, 3);
    let saved = bloscpack::decompress(saved.get_ref()).unwrap();
    assert_eq!(saved.len(), 250_000 - 70_001);

    let folder = Memory::from([("a", file)]);
    let mut editor = Editor::open_in(folder.clone(), "a".as_ref()).unwrap();
    editor.patch(70_000, &b"patched"[..]).unwrap();
    let mut appender = editor.append().unwrap();
    appender.write_all(&data).unwrap();
    appender.finish().unwrap();
    drop(editor);
    let mut expected = [&data[..], &data[..]].concat();
    expected[70_000..70_007].copy_from_slice(b"patched");
    let edited = folder.bytes("a").unwrap();
    assert_eq!(bloscpack::decompress(&edited).unwrap(), expected);
}

/// Gives some bytes, a few at a time, and must not be asked for more.
struct Silent<'a> {
    bytes: &'a [u8],
    step: usize,
}

impl Read for Silent<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        assert!(!self.bytes.is_empty(), "a read after the end of the member");
        let most = self.step.min(buf.len());
        self.bytes.read(&mut buf[..most])
    }
}

/// A member of each kind, with 5000 bytes of content or none.
fn members() -> Vec<(usize, Vec<u8>)> {
    let data = noise(5000);
    let mut all = Vec::new();
    for len in [0, 5000] {
        for checksum in [Checksum::Crc32, Checksum::None] {
            let options = Encoder::builder().chunk_size(1000).checksum(checksum);
            let known = options.clone().size(len as u64);
            let layouts = [FormatVersion::V2, FormatVersion::V3];
            let mut builders = vec![options.clone(), options.interactive(true)];
            builders.extend(layouts.map(|layout| known.clone().version(layout)));
            if checksum == Checksum::None {
                builders.push(known.version(FormatVersion::V1));
            }
            for builder in builders {
                all.push((len, stream(builder, &[&data[..len]])));
            }
        }
    }
    let mut file = Encoder::builder()
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    file.write_all(&data).unwrap();
    all.push((5000, file.finish().unwrap().into_inner()));
    all
}

#[test]
fn after_the_last_wanted_member_nothing_is_read_and_the_rest_is_given_back() {
    let data = noise(5000);
    for (number, (len, member)) in members().into_iter().enumerate() {
        for (threads, step) in [(1, 1), (1, 100), (3, 1), (2, usize::MAX)] {
            let builder = Options::new().threads(threads).members(1);
            let source = Silent {
                bytes: &member,
                step,
            };
            let mut decoder = Decoder::with_options(source, builder.clone());
            let mut content = Vec::new();
            decoder.read_to_end(&mut content).unwrap();
            assert_eq!(content, data[..len], "{number}");
            assert_eq!(decoder.read(&mut [0]).unwrap(), 0);
            assert!(decoder.into_parts().1.is_empty(), "{number}");

            // Anything may follow, also the beginning of a member.
            let follows = [b"foreign bytes".as_slice(), b"", b"blpk\x03", b"\0\0"];
            for rest in follows {
                let input = [&member, rest].concat();
                let mut decoder = Decoder::with_options(input.as_slice(), builder.clone());
                let read = decoder.copy_to(&mut io::sink()).unwrap();
                assert_eq!(read, len as u64, "{number}");
                let (source, read_ahead) = decoder.into_parts();
                assert_eq!([&read_ahead, source].concat(), rest, "{number}");
            }
        }
    }
}

#[test]
fn members_are_counted() {
    let one = bloscpack::compress(b"abc").unwrap();
    let three = one.repeat(3);
    for wanted in 0..5_u64 {
        let mut decoder = Decoder::with_options(&three[..], Options::new().members(wanted));
        let read = decoder.copy_to(&mut io::sink()).unwrap();
        assert_eq!(read, 3 * wanted.min(3));
        assert_eq!(decoder.members(), wanted.min(3));
        let (source, read_ahead) = decoder.into_parts();
        let left = read_ahead.len() + source.len();
        assert_eq!(
            left,
            one.len() * usize::try_from(3_u64.saturating_sub(wanted)).unwrap()
        );
    }
    // Damage in the member is still found, and what follows it is not looked at.
    let mut damaged = three;
    damaged[one.len() - 1] ^= 1;
    let read = |members| {
        let builder = Options::new().members(members);
        Decoder::with_options(&damaged[..], builder).copy_to(&mut io::sink())
    };
    assert_eq!(read(1).unwrap_err().category(), Category::Damaged);
}

/// A stream, an answer to it, and text, on one connection that stays open.
#[test]
fn a_protocol_goes_on_after_a_stream_on_the_same_socket() {
    for threads in 1..=4 {
        for pair in [tcp, unix] {
            for at_once in [true, false] {
                let ((_, mut near), (far, mut answer)) = pair();
                let receiver = thread::spawn(move || {
                    let builder = Options::new().threads(threads).members(1);
                    let mut decoder = Decoder::with_options(far, builder);
                    let mut content = Vec::new();
                    decoder.read_to_end(&mut content).unwrap();
                    answer.write_all(b"!").unwrap();
                    let (source, read_ahead) = decoder.into_parts();
                    let mut rest = read_ahead.as_slice().chain(source);
                    let mut line = [0; 5];
                    rest.read_exact(&mut line).unwrap();
                    (content, line)
                });
                let data = noise(300_000);
                let mut bytes = stream(interactive(), &[&data]);
                if at_once {
                    bytes.extend_from_slice(b"hello");
                }
                near.write_all(&bytes).unwrap();
                if !at_once {
                    thread::sleep(Duration::from_millis(20));
                    near.write_all(b"hello").unwrap();
                }
                let (content, line) = receiver.join().unwrap();
                assert_eq!((content, &line), (data, b"hello"));
            }
        }
    }
}

#[test]
fn records_stop_after_a_member_as_well() {
    let builders = [
        RecordWriter::builder(),
        RecordWriter::builder().small(),
        RecordWriter::builder().packed(64),
        RecordWriter::builder().count(3),
        RecordWriter::builder().version(FormatVersion::V3),
    ];
    for (number, builder) in builders.into_iter().enumerate() {
        let mut writer = builder.write_to(Vec::new()).unwrap();
        for record in ["one", "", "three"] {
            writer.push(record).unwrap();
        }
        let member = writer.finish().unwrap();
        for (threads, step) in [(1, 1), (3, 7), (2, usize::MAX)] {
            let builder = Options::new().threads(threads).members(1);
            let source = Silent {
                bytes: &member,
                step,
            };
            let mut reader = RecordReader::with_options(source, builder.clone());
            assert_eq!(reader.by_ref().map(Result::unwrap).count(), 3, "{number}");
            assert!(reader.next_record().unwrap().is_none());

            let input = [&member[..], b"then this"].concat();
            let mut reader = RecordReader::with_options(input.as_slice(), builder);
            assert_eq!(reader.by_ref().map(Result::unwrap).count(), 3, "{number}");
            let (source, read_ahead) = reader.into_parts();
            assert_eq!([&read_ahead, source].concat(), b"then this", "{number}");
        }
    }
}

#[test]
fn a_stream_of_records_ends_on_a_socket_that_stays_open() {
    for threads in 1..=4 {
        let ((near, mut near_out), (far, far_out)) = tcp();
        let receiver = thread::spawn(move || {
            let builder = Options::new().threads(threads).members(1);
            let mut reader = RecordReader::with_options(far, builder);
            let records: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
            // Both ends are alive until here.
            drop(far_out);
            records.len()
        });
        let mut writer = RecordWriter::new(&mut near_out).unwrap();
        for record in ["one", "two"] {
            writer.push(record).unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(receiver.join().unwrap(), 2);
        drop(near);
    }
}
