//! Records by `tokio_util::codec`.

use super::ends::{Mood, Reader};
use super::run;
use bloscpack::aio::{Finish, RecordDecoder, RecordEncoder, Tokio};
use bloscpack::records::{RecordReader, RecordWriter};
use bloscpack::{Category, Error, Options};
use futures_util::{SinkExt, StreamExt};
use testkit::golden::sensor;
use tokio::io::duplex;
use tokio_util::codec::{Framed, FramedRead, FramedWrite};

fn records() -> Vec<Vec<u8>> {
    let lens = [0, 1, 5, 200, 0, 5000, 300_000, 3, 70_000];
    lens.map(|len| sensor(len, 1)).into()
}

#[test]
fn each_record_arrives_over_a_socket_that_stalls() {
    run(async {
        let (near, far) = duplex(64);
        let echo = tokio::spawn(async move {
            let mut input = FramedRead::new(far, RecordDecoder::new());
            let mut received = Vec::new();
            while let Some(record) = input.next().await {
                received.push(record.unwrap().to_vec());
            }
            received
        });
        let mut output = FramedWrite::new(near, RecordEncoder::new().unwrap());
        for record in records() {
            output.send(record).await.unwrap();
        }
        output.send(Finish).await.unwrap();
        assert!(SinkExt::<&str>::send(&mut output, "more").await.is_err());
        drop(output);
        assert!(echo.await.unwrap() == records());
    });
}

#[test]
fn both_directions_of_a_socket() {
    run(async {
        let (near, far) = duplex(1000);
        let pair = || (RecordDecoder::new(), RecordEncoder::new().unwrap());
        /// A codec for both directions.
        struct Both(RecordDecoder, RecordEncoder);
        impl tokio_util::codec::Decoder for Both {
            type Item = bytes::Bytes;
            type Error = Error;
            fn decode(&mut self, input: &mut bytes::BytesMut) -> Result<Option<Self::Item>, Error> {
                self.0.decode(input)
            }
        }
        impl tokio_util::codec::Encoder<&str> for Both {
            type Error = Error;
            fn encode(&mut self, record: &str, output: &mut bytes::BytesMut) -> Result<(), Error> {
                self.1.encode(record, output)
            }
        }
        let both = || {
            let (decoder, encoder) = pair();
            Both(decoder, encoder)
        };
        let (mut near, mut far) = (Framed::new(near, both()), Framed::new(far, both()));
        near.send("ping").await.unwrap();
        assert_eq!(far.next().await.unwrap().unwrap(), "ping");
        far.send("pong").await.unwrap();
        assert_eq!(near.next().await.unwrap().unwrap(), "pong");
    });
}

#[test]
fn what_a_writer_wrote_whole_torn_or_packed() {
    for builder in [
        RecordWriter::builder(),
        RecordWriter::builder().packed(2000),
    ] {
        let mut writer = builder.write_to(Vec::new()).unwrap();
        for record in records() {
            writer.push(record).unwrap();
        }
        let file = writer.finish().unwrap();
        for cut in [file.len(), file.len() - 1, file.len() / 2, 40] {
            let bytes = &file[..cut];
            let expected: Vec<_> = RecordReader::new(bytes).map(told).collect();
            run(async {
                let mood = Mood::new(9, 500);
                let mut input = FramedRead::new(Reader { bytes, mood }, RecordDecoder::new());
                let mut found = Vec::new();
                while let Some(record) = input.next().await {
                    found.push(told(record));
                }
                assert_eq!(found, expected);
            });
        }
    }
}

fn told(record: bloscpack::Result<bytes::Bytes>) -> Result<Vec<u8>, String> {
    match record {
        Ok(record) => Ok(record.to_vec()),
        Err(error) => Err(format!("{error} {:?}", error.position())),
    }
}

#[test]
fn long_chunks_are_refused_unless_they_are_allowed() {
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    writer.push(vec![7; (1 << 20) + 1]).unwrap();
    let file = writer.finish().unwrap();
    run(async {
        let mut input = FramedRead::new(file.as_slice(), RecordDecoder::new());
        let error = input.next().await.unwrap().unwrap_err();
        assert_eq!(error.category(), Category::OverLimit);
        let any = RecordDecoder::from(Options::new());
        let mut input = FramedRead::new(file.as_slice(), any);
        assert_eq!(input.next().await.unwrap().unwrap().len(), (1 << 20) + 1);
        assert!(input.next().await.is_none());
        let mut stream = bloscpack::aio::RecordStream::new(Tokio(file.as_slice()));
        assert!(stream.next_record().await.unwrap().is_some());
    });
}
