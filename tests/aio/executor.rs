//! The executor's thread neither compresses nor decompresses, and other tasks keep running.

use super::run;
use bloscpack::aio::{AsyncDecoder, Tokio};
use bloscpack::records::RecordWriter;
use bloscpack::wire::{Checksum, Digest, Hasher, Hashers};
use bloscpack::{Decoder, Encoder};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use testkit::golden::sensor;
use testkit::stopwatch::Stopwatch;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);
static HERE: AtomicUsize = AtomicUsize::new(0);

/// Counts the threads on which chunks are hashed, which those that compress and decompress do.
struct Witness;

impl Hasher for Witness {
    fn update(&mut self, _: &[u8]) {
        let count = match thread::current().name() {
            Some("bloscpack-crew") => &ELSEWHERE,
            _ => &HERE,
        };
        count.fetch_add(1, SeqCst);
    }

    fn finish(&mut self) -> Digest {
        Digest::EMPTY
    }
}

#[test]
fn chunks_are_worked_on_by_the_crew() {
    let hashers = Hashers::default().with(Checksum::None, || Box::new(Witness));
    let data = sensor(70 << 20, 1);
    for chunk_size in [1000, 1 << 20, 70 << 20] {
        run(async {
            let builder = Encoder::builder()
                .chunk_size(chunk_size)
                .hashers(hashers.clone());
            let builder = builder.checksum(Checksum::None);
            let mut encoder = builder.write_async(Tokio(Vec::new())).unwrap();
            // The implementation was tried out.
            HERE.store(0, SeqCst);
            // Small chunks take long in a build for tests.
            let data = &data[..data.len().min(chunk_size as usize * 70)];
            encoder.write_all(data).await.unwrap();
            // The end mark, which is not a chunk of data, is not compressed and hashed here.
            encoder.flush().await.unwrap();
            assert_eq!(HERE.load(SeqCst), 0);
            encoder.shutdown().await.unwrap();
            HERE.store(0, SeqCst);
            let file = encoder.into_inner().0;
            let before = ELSEWHERE.load(SeqCst);
            let decoder = Decoder::builder().hashers(hashers.clone());
            let mut decoder = decoder.read_async(Tokio(file.as_slice()));
            while decoder.next_bytes().await.unwrap().is_some() {}
            assert!(ELSEWHERE.load(SeqCst) > before);
            // Only the end mark.
            assert!(HERE.swap(0, SeqCst) <= 1);
        });
    }
}

/// A member of 64 MiB, as often as the content is to be long.
struct Repeated<'a> {
    member: &'a [u8],
    left: &'a [u8],
    times: usize,
}

impl tokio::io::AsyncRead for Repeated<'_> {
    fn poll_read(
        self: std::pin::Pin<&mut Self>,
        task: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let this = self.get_mut();
        if this.left.is_empty() && this.times > 0 {
            (this.left, this.times) = (this.member, this.times - 1);
        }
        std::pin::Pin::new(&mut this.left).poll_read(task, buffer)
    }
}

/// A timer of 1 ms beside a gigabyte that is decoded from memory, so that the source is never pending.
#[test]
fn a_timer_keeps_its_beat() {
    let gaps = |data: &[u8], by_copies: bool| {
        let mut encoder = Encoder::builder().threads(2).write_to(Vec::new()).unwrap();
        encoder.write_all(data).unwrap();
        let member = encoder.finish().unwrap();
        let times = 16;
        run(async {
            let source = Repeated {
                member: &member,
                left: &[],
                times,
            };
            let builder = Decoder::builder().threads(2);
            let done = AtomicBool::new(false);
            let decoding = async {
                let mut decoder = builder.read_async(Tokio(source));
                let mut buffer = vec![0; 8192];
                if by_copies {
                    while decoder.read(&mut buffer).await.unwrap() > 0 {}
                } else {
                    while decoder.next_bytes().await.unwrap().is_some() {}
                }
                assert_eq!(decoder.total_out(), (data.len() * times) as u64);
                done.store(true, SeqCst);
            };
            let beating = async {
                let mut timer = tokio::time::interval(Duration::from_millis(1));
                timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                let (mut gaps, mut last) = (Vec::new(), Instant::now());
                let (mut work, mut since) = (Duration::ZERO, Stopwatch::start());
                while !done.load(SeqCst) {
                    timer.tick().await;
                    gaps.push(last.elapsed());
                    work = work.max(since.elapsed());
                    (last, since) = (Instant::now(), Stopwatch::start());
                }
                (gaps, work)
            };
            let begun = Instant::now();
            let ((), (mut gaps, work)) = tokio::join!(decoding, beating);
            let took = begun.elapsed();
            gaps.sort_unstable();
            let at = |share: usize| gaps[(gaps.len() - 1) * share / 100];
            println!(
                "{} MiB in {took:?}: {} beats, gaps {:?} (median), {:?} (99 %), {:?} (longest); \
                 at most {work:?} of work on this thread between two",
                (data.len() * times) >> 20,
                gaps.len(),
                at(50),
                at(99),
                at(100)
            );
            work
        })
    };
    // The work of other programs on this machine is not counted, and a beat takes several polls of the decoder.
    for by_copies in [false, true] {
        assert!(gaps(&sensor(64 << 20, 3), by_copies) < Duration::from_millis(10));
        assert!(gaps(&vec![0; 64 << 20], by_copies) < Duration::from_millis(10));
    }
}

/// Takes its time over each chunk.
struct Slow;

impl Hasher for Slow {
    fn update(&mut self, _: &[u8]) {
        thread::sleep(Duration::from_millis(500));
    }

    fn finish(&mut self) -> Digest {
        Digest::EMPTY
    }
}

#[test]
fn dropping_a_codec_waits_for_no_chunk() {
    let file = bloscpack::compress(&[7; 3_000_000]).unwrap();
    let hashers = Hashers::default().with(Checksum::Crc32, || Box::new(Slow));
    run(async {
        let mut decoder = Decoder::builder()
            .hashers(hashers)
            .read_async(Tokio(file.as_slice()));
        let patience = Duration::from_millis(50);
        let read = tokio::time::timeout(patience, decoder.next_bytes());
        assert!(read.await.is_err(), "the chunk takes longer");
        let begun = Instant::now();
        drop(decoder);
        assert!(
            begun.elapsed() < Duration::from_millis(200),
            "{:?}",
            begun.elapsed()
        );
    });
}

/// Codecs move between the threads of a runtime.
#[test]
fn codecs_are_sent_to_other_threads() {
    fn check<T: Send + Unpin + 'static>(_: &T) {}
    check(&AsyncDecoder::new(Tokio(&b""[..])));
    check(&Encoder::builder().write_async(Tokio(Vec::new())).unwrap());
    check(
        &RecordWriter::builder()
            .write_async(Tokio(Vec::new()))
            .unwrap(),
    );
    check(&bloscpack::aio::RecordStream::new(Tokio(&b""[..])));
}
