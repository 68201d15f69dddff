//! An async encoder writes the bytes of an encoder, whatever pieces it gets and wherever a future is dropped.

use super::ends::{Mood, Writer};
use super::run;
use bloscpack::aio::{AsyncEncoder, Futures, RecordSink, Tokio};
use bloscpack::blosc::Aim;
use bloscpack::records::{RecordWriter, RecordWriterBuilder};
use bloscpack::{Category, Checksum, Code, Compressor, Decoder, Encoder, EncoderBuilder};
use futures_util::SinkExt;
use std::future::poll_fn;
use std::io::Write;
use std::pin::pin;
use testkit::effort::models;
use testkit::golden::{Random, sensor};
use tokio::io::AsyncWriteExt;

/// A step of work with an encoder.
enum Step {
    Write(Vec<u8>),
    Flush,
}

fn steps(random: &mut Random, total: usize) -> Vec<Step> {
    let (mut steps, data) = (Vec::new(), sensor(total, random.next()));
    let mut rest = data.as_slice();
    while !rest.is_empty() {
        let longest = [10, 5000, 200_000][random.below(3)];
        let (piece, tail) = rest.split_at((random.below(longest) + 1).min(rest.len()));
        steps.push(Step::Write(piece.to_vec()));
        rest = tail;
        if random.below(5) == 0 {
            steps.push(Step::Flush);
        }
    }
    steps
}

fn options(random: &mut Random, total: usize) -> EncoderBuilder {
    let chunk_size = [7, 1000, 65_536, 200_000][random.below(4)];
    let compressor = [Compressor::Lz4, Compressor::Zstd, Compressor::Blosclz][random.below(3)];
    let checksum = [Checksum::None, Checksum::Crc32, Checksum::Sha256][random.below(3)];
    let builder = Encoder::builder().chunk_size(chunk_size).checksum(checksum);
    let builder = match random.below(4) {
        0 => builder.auto(Aim::Speed),
        _ => builder.compressor(compressor).level(1),
    };
    match random.below(3) {
        0 => builder.size(total as u64),
        1 => builder.interactive(true),
        _ => builder,
    }
}

fn blocking(builder: EncoderBuilder, steps: &[Step]) -> Vec<u8> {
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    for step in steps {
        match step {
            Step::Write(data) => encoder.write_all(data).unwrap(),
            Step::Flush => encoder.flush().unwrap(),
        }
    }
    encoder.finish().unwrap()
}

/// Each future is dropped as soon as it is pending, and asked for again after an error.
async fn by_tokio(builder: EncoderBuilder, steps: &[Step], mood: Mood) -> Vec<u8> {
    let mut encoder = builder.write_async(Tokio(Writer::new(mood))).unwrap();
    for step in steps {
        match step {
            Step::Write(data) => {
                let mut rest = data.as_slice();
                while !rest.is_empty() {
                    let write = poll_fn(|task| pin!(encoder.write(rest)).poll(task));
                    if let Ok(len) = write.await {
                        rest = &rest[len..];
                    }
                }
            }
            Step::Flush => {
                while poll_fn(|task| pin!(encoder.flush()).poll(task))
                    .await
                    .is_err()
                {}
            }
        }
    }
    while poll_fn(|task| pin!(encoder.shutdown()).poll(task))
        .await
        .is_err()
    {}
    let writer = encoder.into_inner().0;
    assert!(writer.is_closed);
    writer.bytes
}

async fn by_futures(builder: EncoderBuilder, steps: &[Step], mood: Mood) -> Vec<u8> {
    use futures_util::AsyncWriteExt;
    let mut encoder = builder.write_async(Futures(Writer::new(mood))).unwrap();
    for step in steps {
        match step {
            Step::Write(data) => AsyncWriteExt::write_all(&mut encoder, data).await.unwrap(),
            Step::Flush => AsyncWriteExt::flush(&mut encoder).await.unwrap(),
        }
    }
    encoder.close().await.unwrap();
    encoder.into_inner().0.bytes
}

#[test]
fn the_same_bytes_for_all_options_and_pieces() {
    let mut random = Random::new(51);
    run(async {
        for _ in 0..models(400) {
            let total = random.below(500_000);
            let (steps, builder) = (steps(&mut random, total), options(&mut random, total));
            let threads = random.below(3) + 1;
            let expected = blocking(builder.clone(), &steps);
            let builder = builder.threads(threads);
            let mut mood = Mood::new(random.next(), 100_000);
            mood.fails = 10;
            let found = by_tokio(builder.clone(), &steps, mood).await;
            assert!(found == expected, "{builder:?}");
            let mood = Mood::new(random.next(), 100_000);
            let found = by_futures(builder.clone(), &steps, mood).await;
            assert!(found == expected, "{builder:?}");
        }
    });
}

#[test]
fn a_dropped_encoder_leaves_a_torn_stream() {
    run(async {
        for flush in [false, true] {
            for size in [None, Some(300_000)] {
                let builder = Encoder::builder().chunk_size(100_000);
                let builder = match size {
                    Some(size) => builder.size(size),
                    None => builder,
                };
                let mut encoder = builder.write_async(Tokio(Vec::new())).unwrap();
                encoder.write_all(&[7; 300_000]).await.unwrap();
                if flush {
                    encoder.flush().await.unwrap();
                }
                let file = encoder.into_inner().0;
                let error = bloscpack::decompress(&file).unwrap_err();
                assert_eq!(error.category(), Category::CutShort);
            }
        }
    });
}

#[test]
fn finish_leaves_the_target_open_and_shutdown_does_not() {
    run(async {
        let mut encoder = AsyncEncoder::new(Tokio(Writer::new(Mood::new(1, 10)))).unwrap();
        encoder.write_all(b"content").await.unwrap();
        encoder.finish().await.unwrap();
        encoder.finish().await.unwrap();
        assert!(!encoder.get_ref().0.is_closed);
        assert_eq!(
            bloscpack::decompress(&encoder.get_ref().0.bytes).unwrap(),
            b"content"
        );
        assert!(encoder.write_all(b"more").await.is_err());
        encoder.shutdown().await.unwrap();
        assert!(encoder.get_ref().0.is_closed);
    });
}

#[test]
fn fewer_or_more_bytes_than_announced_are_errors() {
    run(async {
        let builder = Encoder::builder().size(10);
        let mut encoder = builder.clone().write_async(Tokio(Vec::new())).unwrap();
        encoder.write_all(b"short").await.unwrap();
        for _ in 0..2 {
            let error = encoder.finish().await.unwrap_err();
            assert_eq!(error.code(), Code::WrongSize);
            assert_eq!(error.to_string(), "expected 10 bytes, got only 5");
        }
        let mut encoder = builder.write_async(Tokio(Vec::new())).unwrap();
        assert!(encoder.write_all(&[7; 11]).await.is_err());
        assert!(encoder.finish().await.is_err());
    });
}

fn record_options(random: &mut Random, count: u64) -> RecordWriterBuilder {
    let builder = RecordWriter::builder();
    let builder = match random.below(3) {
        0 => builder.packed(1000),
        1 => builder.packed(100_000),
        _ => builder,
    };
    match random.below(2) {
        0 => builder.count(count),
        _ => builder,
    }
}

#[test]
fn the_same_records_by_push_and_as_a_sink() {
    let mut random = Random::new(52);
    run(async {
        for _ in 0..models(200) {
            let count = random.below(300);
            let record = |_| sensor(random.below(4000), 3);
            let records: Vec<_> = (0..count).map(record).collect();
            let flush_every = random.below(100) + 1;
            let builder = record_options(&mut random, count as u64);
            let mut writer = builder.clone().write_to(Vec::new()).unwrap();
            let target = || Tokio(Writer::new(Mood::new(3, 3000)));
            let mut pushed = builder.clone().write_async(target()).unwrap();
            let mut sent = builder.write_async(target()).unwrap();
            for (number, record) in records.iter().enumerate() {
                writer.push(record).unwrap();
                let push = poll_fn(|task| pin!(pushed.push(record)).poll(task));
                push.await.unwrap();
                sent.feed(record).await.unwrap();
                if number % flush_every == 0 {
                    writer.flush().unwrap();
                    poll_fn(|task| pin!(pushed.flush()).poll(task))
                        .await
                        .unwrap();
                    SinkExt::<&[u8]>::flush(&mut sent).await.unwrap();
                }
            }
            let expected = writer.finish().unwrap();
            poll_fn(|task| pin!(pushed.finish()).poll(task))
                .await
                .unwrap();
            SinkExt::<&[u8]>::close(&mut sent).await.unwrap();
            assert!(pushed.into_inner().0.bytes == expected);
            let sent = sent.into_inner().0;
            assert!(sent.is_closed && sent.bytes == expected);
        }
    });
}

#[test]
fn a_dropped_sink_leaves_a_torn_stream() {
    run(async {
        let mut sink = RecordSink::new(Tokio(Vec::new())).unwrap();
        sink.push("a record").await.unwrap();
        sink.flush().await.unwrap();
        let file = sink.into_inner().0;
        let mut reader = bloscpack::records::RecordReader::new(file.as_slice());
        assert_eq!(reader.next_record().unwrap(), Some(&b"a record"[..]));
        let error = reader.next_record().unwrap_err();
        assert_eq!(error.category(), Category::CutShort);
    });
}

#[test]
fn settings_are_chosen_as_by_an_encoder_that_blocks() {
    let data = sensor(3_000_000, 9);
    let builder = Encoder::builder().auto(Aim::Balance);
    let mut blocking = builder.clone().write_to(Vec::new()).unwrap();
    blocking.write_all(&data).unwrap();
    run(async {
        let mut encoder = builder.write_async(Tokio(Vec::new())).unwrap();
        encoder.write_all(&data).await.unwrap();
        let chosen = encoder.tuned().map(|tuned| *tuned.settings());
        assert_eq!(chosen, blocking.tuned().map(|tuned| *tuned.settings()));
        assert!(chosen.is_some());
        encoder.shutdown().await.unwrap();
        let file = encoder.into_inner().0;
        let mut content = Vec::new();
        Decoder::new(file.as_slice()).copy_to(&mut content).unwrap();
        assert!(content == data);
    });
}
