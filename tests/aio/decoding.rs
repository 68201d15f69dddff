//! An async decoder delivers what a decoder does, and ends with the same error at the same position.

use super::ends::{Mood, Reader};
use super::run;
use bloscpack::aio::{AsyncDecoder, Futures, RecordStream, Tokio};
use bloscpack::records::{RecordReader, RecordWriter};
use bloscpack::{Code, Decoder, Encoder, Error, Limits, Options};
use futures_util::StreamExt;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::pin::pin;
use testkit::effort::sample;
use testkit::golden::{Random, goldens, sensor};
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

/// The content up to the end or an error, and the error's text, position and warnings.
#[derive(Debug, PartialEq)]
struct Outcome {
    content: Vec<u8>,
    error: Option<String>,
    warnings: String,
}

impl Outcome {
    fn new(content: Vec<u8>, error: Option<Error>, warnings: &[bloscpack::Warning]) -> Self {
        Self {
            content,
            error: error
                .map(|error| format!("{error} {:?} {:?}", error.position(), error.category())),
            warnings: format!("{warnings:?}"),
        }
    }
}

fn options(threads: usize) -> Options {
    let limits = Limits::new().chunk(1 << 20).metadata(1 << 16);
    Options::new().limits(limits).threads(threads)
}

fn blocking(file: &[u8]) -> Outcome {
    let mut decoder = Decoder::with_options(file, options(1));
    let mut content = Vec::new();
    let error = decoder.read_to_end(&mut content).err().map(Error::from);
    Outcome::new(content, error, decoder.warnings())
}

fn reader(file: &[u8], longest: usize) -> Reader<'_> {
    let mood = Mood::new(7, longest);
    Reader { bytes: file, mood }
}

/// Each future is dropped as soon as it is pending.
async fn by_reads(file: &[u8], longest: usize, room: usize) -> Outcome {
    let mut decoder = AsyncDecoder::with_options(Tokio(reader(file, longest)), options(1));
    let (mut content, mut buffer) = (Vec::new(), vec![0; room]);
    let error = loop {
        match poll_fn(|task| pin!(decoder.read(&mut buffer)).poll(task)).await {
            Ok(0) => break None,
            Ok(len) => content.extend_from_slice(&buffer[..len]),
            Err(error) => break Some(Error::from(error)),
        }
    };
    Outcome::new(content, error, decoder.warnings())
}

async fn by_buffers(file: &[u8], longest: usize) -> Outcome {
    let mut decoder = AsyncDecoder::with_options(Tokio(reader(file, longest)), options(2));
    let mut content = Vec::new();
    let error = loop {
        match decoder.fill_buf().await {
            Ok([]) => break None,
            Ok(bytes) => {
                let len = bytes.len().div_ceil(2);
                content.extend_from_slice(&bytes[..len]);
                AsyncBufReadExt::consume(&mut decoder, len);
            }
            Err(error) => break Some(Error::from(error)),
        }
    };
    Outcome::new(content, error, decoder.warnings())
}

/// The traits of futures.
async fn by_stream(file: &[u8], longest: usize) -> Outcome {
    let mut decoder = AsyncDecoder::with_options(Futures(reader(file, longest)), options(3));
    let (mut content, mut error) = (Vec::new(), None);
    while let Some(next) = decoder.next().await {
        match next {
            Ok(bytes) => content.extend_from_slice(&bytes),
            Err(found) => error = Some(found),
        }
    }
    Outcome::new(content, error, decoder.warnings())
}

async fn compare(name: &str, file: &[u8]) {
    let expected = blocking(file);
    for longest in [1, 40, 5000] {
        assert_eq!(
            by_reads(file, longest, 3000).await,
            expected,
            "{name} {longest}"
        );
        assert_eq!(
            by_buffers(file, longest).await,
            expected,
            "{name} {longest}"
        );
        assert_eq!(by_stream(file, longest).await, expected, "{name} {longest}");
    }
    assert_eq!(
        by_reads(file, 40, 1).await,
        expected,
        "{name}, byte by byte"
    );
}

#[test]
fn our_own_files_torn_and_damaged() {
    let mut random = Random::new(41);
    run(async {
        for golden in sample(goldens(), 3) {
            compare(&golden.name, &golden.file).await;
            for _ in 0..4 {
                let mut file = golden.file.clone();
                let at = random.below(file.len());
                match random.below(2) {
                    0 => file.truncate(at),
                    _ => file[at] ^= 1 << random.below(8),
                }
                compare(&golden.name, &file).await;
            }
        }
    });
}

#[test]
fn files_of_real_tools() {
    let folder = testkit::testdata("bloscpack");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files: Vec<_> = files
        .filter(|file| file.metadata().unwrap().len() < 20_000)
        .collect();
    files.sort_by_key(|file| file.file_name());
    assert!(files.len() > 100);
    run(async {
        for file in sample(&files, 5) {
            let bytes = std::fs::read(file.path()).unwrap();
            compare(&file.file_name().to_string_lossy(), &bytes).await;
        }
    });
}

#[test]
fn header_and_metadata_come_before_content() {
    let golden = goldens().into_iter().find(|golden| {
        let mut decoder = Decoder::new(golden.file.as_slice());
        matches!(decoder.read_metadata(), Ok(Some(_)))
    });
    let file = golden.unwrap().file;
    let mut blocking = Decoder::new(file.as_slice());
    run(async {
        let mut decoder = AsyncDecoder::new(Tokio(reader(&file, 3)));
        let header = poll_fn(|task| pin!(decoder.read_header()).poll(task).map_ok(Clone::clone));
        assert_eq!(&header.await.unwrap(), blocking.read_header().unwrap());
        let metadata = decoder.read_metadata().await.unwrap();
        assert_eq!(metadata, blocking.read_metadata().unwrap());
    });
}

#[test]
fn a_source_that_fails_is_tried_again_after_all_that_came_before() {
    let data = sensor(300_000, 1);
    let mut encoder = Encoder::builder()
        .chunk_size(10_000)
        .write_to(Vec::new())
        .unwrap();
    encoder.write_all(&data).unwrap();
    let file = encoder.finish().unwrap();
    let mut source = reader(&file, 900);
    source.mood.fails = 20;
    run(async {
        let mut decoder = AsyncDecoder::with_options(Tokio(source), Options::new().threads(2));
        let (mut content, mut failures) = (Vec::new(), 0);
        loop {
            match decoder.next_bytes().await {
                Ok(Some(bytes)) => content.extend_from_slice(&bytes),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error.side(), Some(bloscpack::error::Side::Source));
                    // Everything whole that was read has been delivered.
                    let read = usize::try_from(decoder.total_in()).unwrap();
                    let mut before = Decoder::new(&file[..read]);
                    let mut expected = Vec::new();
                    let _ = before.read_to_end(&mut expected);
                    assert_eq!(content.len(), expected.len());
                    failures += 1;
                }
            }
        }
        assert!(failures > 3);
        assert_eq!(content, data);
    });
}

/// Chunks of more than 64 MiB come in pieces, which workers decode.
#[test]
fn a_large_chunk_comes_in_pieces() {
    let data = sensor(1 << 20, 2).repeat(70);
    let builder = Encoder::builder().chunk_size(70 << 20).threads(2);
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    encoder.write_all(&data).unwrap();
    let mut file = encoder.finish().unwrap();
    run(async {
        let mut decoder = AsyncDecoder::new(Tokio(file.as_slice()));
        let (mut content, mut pieces) = (Vec::new(), 0);
        while let Some(bytes) = decoder.next_bytes().await.unwrap() {
            content.extend_from_slice(&bytes);
            pieces += 1;
        }
        assert!(content == data && pieces > 10, "{pieces}");
    });
    let last = file.len() - 60;
    file[last] ^= 1;
    let expected = Decoder::new(file.as_slice()).next_bytes().unwrap_err();
    run(async {
        let mut decoder = AsyncDecoder::new(Tokio(file.as_slice()));
        for _ in 0..2 {
            let error = decoder.next_bytes().await.unwrap_err();
            assert_eq!(error.to_string(), expected.to_string());
        }
    });
}

fn records(random: &mut Random) -> Vec<Vec<u8>> {
    let record = |_| sensor(random.below(3000), 1);
    (0..200).map(record).collect()
}

#[test]
fn records_torn_and_damaged() {
    let mut random = Random::new(43);
    run(async {
        for round in 0..testkit::effort::cases(200, 4) {
            let builder = RecordWriter::builder();
            let builder = if round % 2 == 0 {
                builder
            } else {
                builder.packed(5000)
            };
            let mut writer = builder.write_to(Vec::new()).unwrap();
            for record in records(&mut random) {
                writer.push(record).unwrap();
            }
            let mut file = writer.finish().unwrap();
            let at = random.below(file.len());
            match round % 3 {
                0 => {}
                1 => file.truncate(at),
                _ => file[at] ^= 1 << random.below(8),
            }
            let expected: Vec<_> = RecordReader::new(file.as_slice()).map(told).collect();
            let mut stream = RecordStream::new(Tokio(reader(&file, 500)));
            let mut found = Vec::new();
            // Dropped and asked for again at each await.
            while let Some(next) = poll_fn(|task| pin!(stream.next()).poll(task)).await {
                found.push(told(next));
            }
            assert_eq!(found, expected);
        }
    });
}

fn told(record: bloscpack::Result<bytes::Bytes>) -> Result<Vec<u8>, String> {
    match record {
        Ok(record) => Ok(record.to_vec()),
        Err(error) => Err(format!("{error} {:?}", error.position())),
    }
}

#[test]
fn a_worker_that_panics_is_an_error() {
    use bloscpack::wire::{Checksum, Digest, Hasher, Hashers};
    struct Panicking;
    impl Hasher for Panicking {
        fn update(&mut self, bytes: &[u8]) {
            assert_ne!(bytes.len(), 16 + 7, "planted");
        }
        fn finish(&mut self) -> Digest {
            Digest::EMPTY
        }
    }
    let builder = Encoder::builder().level(0).chunk_size(100).size(207);
    let mut encoder = builder
        .checksum(Checksum::None)
        .write_to(Vec::new())
        .unwrap();
    encoder.write_all(&[1; 207]).unwrap();
    let file = encoder.finish().unwrap();
    let hashers = Hashers::default().with(Checksum::None, || Box::new(Panicking));
    run(async {
        let builder = Options::new().hashers(hashers);
        let mut decoder = AsyncDecoder::with_options(Tokio(file.as_slice()), builder);
        assert_eq!(decoder.next_bytes().await.unwrap().unwrap().len(), 100);
        assert_eq!(decoder.next_bytes().await.unwrap().unwrap().len(), 100);
        for _ in 0..2 {
            let error = decoder.next_bytes().await.unwrap_err();
            assert_eq!(error.code(), Code::Panicked, "{error}");
        }
    });
}
