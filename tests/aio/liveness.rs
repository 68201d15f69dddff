//! Flushed content arrives while both ends wait, also over streams that stall, and half-closed sockets.

use super::run;
use bloscpack::aio::{AsyncDecoder, AsyncEncoder, RecordSink, RecordStream, Tokio};
use bloscpack::records::RecordWriter;
use bloscpack::{Category, Decoder, Encoder, Error, Options};
use std::io::Write;
use testkit::golden::sensor;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::net::{TcpListener, TcpStream};

async fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = tokio::join!(near, listener.accept());
    (near.unwrap(), far.unwrap().0)
}

fn messages() -> Vec<Vec<u8>> {
    let lens = [10, 1, 33, 1000, 10_000, 65_537, 300_000];
    lens.map(|len| sensor(len, 5)).into()
}

/// Each message is sent only after the other end has sent back the one before it, over a pipe of 64 bytes.
#[test]
fn each_flush_of_an_encoder_arrives() {
    for threads in [1, 3] {
        run(async {
            let builder = Encoder::builder().interactive(true).threads(threads);
            let reading = Options::new().threads(threads);
            let (near, far) = duplex(64);
            let (input, output) = split(far);
            let (writing, receiving) = (builder.clone(), reading.clone());
            let echo = tokio::spawn(async move {
                let mut encoder = writing.write_async(Tokio(output)).unwrap();
                let mut decoder = AsyncDecoder::with_options(Tokio(input), receiving);
                for message in messages() {
                    let mut received = vec![0; message.len()];
                    decoder.read_exact(&mut received).await.unwrap();
                    encoder.write_all(&received).await.unwrap();
                    encoder.flush().await.unwrap();
                }
                encoder.shutdown().await.unwrap();
                assert_eq!(decoder.read(&mut [0]).await.unwrap(), 0);
            });
            let (input, output) = split(near);
            let mut encoder = builder.write_async(Tokio(output)).unwrap();
            let mut decoder = AsyncDecoder::with_options(Tokio(input), reading);
            for message in messages() {
                encoder.write_all(&message).await.unwrap();
                encoder.flush().await.unwrap();
                let mut back = vec![0; message.len()];
                decoder.read_exact(&mut back).await.unwrap();
                assert!(back == message);
            }
            encoder.shutdown().await.unwrap();
            assert_eq!(decoder.read(&mut [0]).await.unwrap(), 0);
            echo.await.unwrap();
        });
    }
}

#[test]
fn each_flush_of_a_sink_arrives() {
    for builder in [RecordWriter::builder(), RecordWriter::builder().small()] {
        run(async {
            let (near, far) = duplex(64);
            let (input, output) = split(far);
            let answers = builder.clone();
            let echo = tokio::spawn(async move {
                let mut sink = answers.write_async(Tokio(output)).unwrap();
                let mut records = RecordStream::new(Tokio(input));
                while let Some(record) = records.next_record().await.unwrap() {
                    sink.push(record).await.unwrap();
                    sink.flush().await.unwrap();
                }
                sink.finish().await.unwrap();
            });
            let (input, mut output) = split(near);
            let mut sink = builder.write_async(Tokio(&mut output)).unwrap();
            let mut records = RecordStream::new(Tokio(input));
            for message in messages() {
                sink.push(&message).await.unwrap();
                sink.flush().await.unwrap();
                let back = records.next_record().await.unwrap().unwrap();
                assert!(back == message);
            }
            sink.finish().await.unwrap();
            drop(sink);
            output.shutdown().await.unwrap();
            assert_eq!(records.next_record().await.unwrap(), None);
            echo.await.unwrap();
        });
    }
}

/// Whole chunks are delivered while the next one is cut in the middle, however many may be under way.
#[test]
fn what_is_complete_is_delivered_while_the_rest_is_on_its_way() {
    let data = sensor(1 << 20, 6);
    for (chunk_size, threads) in [(1000, 1), (100_000, 1), (200_000, 4), (300_000, 2)] {
        let builder = Encoder::builder().chunk_size(chunk_size);
        let mut encoder = builder.write_to(Vec::new()).unwrap();
        encoder.write_all(&data).unwrap();
        let file = encoder.finish().unwrap();
        for cut in [file.len() / 3, file.len() / 2, file.len() - 30] {
            let mut whole = Vec::new();
            let _ = Decoder::new(&file[..cut]).copy_to(&mut whole);
            assert!(!whole.is_empty());
            run(async {
                let (mut near, far) = duplex(file.len());
                let mut decoder =
                    AsyncDecoder::with_options(Tokio(far), Options::new().threads(threads));
                near.write_all(&file[..cut]).await.unwrap();
                let mut received = vec![0; whole.len()];
                decoder.read_exact(&mut received).await.unwrap();
                assert!(received == whole);
                near.write_all(&file[cut..]).await.unwrap();
                drop(near);
                decoder.read_to_end(&mut received).await.unwrap();
                assert!(received == data);
            });
        }
    }
}

/// A writer that stalls takes data up to a bound, and no more.
#[test]
fn a_target_that_takes_nothing_stops_the_encoder() {
    run(async {
        let (near, far) = duplex(1000);
        let builder = Encoder::builder().level(0).chunk_size(100_000);
        let mut encoder = builder.write_async(Tokio(near)).unwrap();
        let data = sensor(100_000, 1);
        let mut taken = 0;
        let patience = std::time::Duration::from_millis(300);
        while let Ok(write) = tokio::time::timeout(patience, encoder.write(&data)).await {
            taken += write.unwrap();
            assert!(taken < 1_000_000);
        }
        let reading = tokio::spawn(async move {
            let mut content = Vec::new();
            let mut decoder = AsyncDecoder::new(Tokio(far));
            decoder.read_to_end(&mut content).await.unwrap();
            content.len()
        });
        encoder.write_all(&data).await.unwrap();
        encoder.shutdown().await.unwrap();
        assert_eq!(reading.await.unwrap(), taken + data.len());
    });
}

#[test]
fn the_answer_comes_after_the_question_has_ended() {
    run(async {
        let (near, far) = tcp().await;
        let question = sensor(700_000, 7);
        let expected = question.clone();
        let server = tokio::spawn(async move {
            let (input, output) = far.into_split();
            let mut content = Vec::new();
            let mut decoder = AsyncDecoder::new(Tokio(input));
            decoder.read_to_end(&mut content).await.unwrap();
            content.reverse();
            let mut encoder = AsyncEncoder::new(Tokio(output)).unwrap();
            encoder.write_all(&content).await.unwrap();
            encoder.shutdown().await.unwrap();
        });
        let (input, output) = near.into_split();
        let mut encoder = AsyncEncoder::new(Tokio(output)).unwrap();
        encoder.write_all(&question).await.unwrap();
        encoder.shutdown().await.unwrap();
        let mut answer = Vec::new();
        AsyncDecoder::new(Tokio(input))
            .read_to_end(&mut answer)
            .await
            .unwrap();
        assert!(answer.iter().rev().eq(&expected));
        server.await.unwrap();
    });
}

/// Something else follows a stream on the same socket.
#[test]
fn a_socket_is_used_again_after_one_member() {
    run(async {
        let (mut near, far) = tcp().await;
        let mut encoder = AsyncEncoder::new(Tokio(&mut near)).unwrap();
        encoder.write_all(b"a stream").await.unwrap();
        encoder.finish().await.unwrap();
        near.write_all(b", and text").await.unwrap();
        drop(near);
        let mut decoder = AsyncDecoder::with_options(Tokio(far), Options::new().members(1));
        let mut content = String::new();
        decoder.read_to_string(&mut content).await.unwrap();
        let (Tokio(mut socket), ahead) = decoder.into_parts();
        content.push_str(std::str::from_utf8(&ahead).unwrap());
        socket.read_to_string(&mut content).await.unwrap();
        assert_eq!(content, "a stream, and text");
    });
}

#[test]
fn a_socket_that_is_dropped_is_a_cut() {
    run(async {
        let (near, far) = tcp().await;
        let builder = Encoder::builder().interactive(true);
        let mut encoder = builder.write_async(Tokio(near)).unwrap();
        encoder.write_all(b"all that comes").await.unwrap();
        encoder.flush().await.unwrap();
        drop(encoder);
        let mut content = Vec::new();
        let mut decoder = AsyncDecoder::new(Tokio(far));
        let error = decoder.read_to_end(&mut content).await.unwrap_err();
        assert_eq!(Error::from(error).category(), Category::CutShort);
        assert_eq!(content, b"all that comes");

        let (near, far) = tcp().await;
        let mut sink = RecordSink::new(Tokio(near)).unwrap();
        sink.push("first").await.unwrap();
        sink.flush().await.unwrap();
        drop(sink);
        let mut records = RecordStream::new(Tokio(far));
        assert_eq!(records.next_record().await.unwrap().unwrap(), "first");
        let error = records.next_record().await.unwrap_err();
        assert_eq!(error.category(), Category::CutShort);
    });
}
