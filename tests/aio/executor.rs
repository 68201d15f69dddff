//! The executor's thread neither compresses nor decompresses, and other tasks keep running.

use super::run;
use bloscpack::aio::{AsyncDecoder, Tokio};
use bloscpack::records::RecordWriter;
use bloscpack::wire::{Checksum, Digest, Hasher, Hashers};
use bloscpack::{Encoder, Options};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;
use testkit::golden::sensor;
use testkit::stopwatch::HANG;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The most bytes that are decoded between two beats of a timer. A runtime whose tasks only wake themselves looks at its timers
/// after 61 of them, which is more.
const MOST: usize = 32 << 20;

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
            let decoder = Options::new().hashers(hashers.clone());
            let mut decoder = AsyncDecoder::with_options(Tokio(file.as_slice()), decoder);
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

/// A timer of 1 ms beside 256 MiB that are decoded from memory, so that the source is never pending. Bytes are counted between
/// its beats, and not time, of which a busy machine takes any part.
#[test]
fn a_timer_keeps_its_beat() {
    let longest = |data: &[u8], by_copies: bool| {
        let mut encoder = Encoder::builder().threads(2).write_to(Vec::new()).unwrap();
        encoder.write_all(data).unwrap();
        let member = encoder.finish().unwrap();
        let times = 4;
        run(async {
            let source = Repeated {
                member: &member,
                left: &[],
                times,
            };
            let builder = Options::new().threads(2);
            let (done, decoded) = (AtomicBool::new(false), AtomicUsize::new(0));
            let decoding = async {
                let mut decoder = AsyncDecoder::with_options(Tokio(source), builder);
                let mut buffer = vec![0; 8192];
                loop {
                    let count = if by_copies {
                        decoder.read(&mut buffer).await.unwrap()
                    } else {
                        let piece = decoder.next_bytes().await.unwrap();
                        piece.map_or(0, |piece| piece.len())
                    };
                    if count == 0 {
                        break;
                    }
                    decoded.fetch_add(count, SeqCst);
                }
                assert_eq!(decoder.total_out(), (data.len() * times) as u64);
                done.store(true, SeqCst);
            };
            let beating = async {
                let mut timer = tokio::time::interval(Duration::from_millis(1));
                timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                let (mut beats, mut longest, mut last) = (0, 0, 0);
                while !done.load(SeqCst) {
                    timer.tick().await;
                    let now = decoded.load(SeqCst);
                    (beats, longest, last) = (beats + 1, longest.max(now - last), now);
                }
                println!("{beats} beats, at most {longest} bytes between two");
                longest
            };
            let ((), longest) = tokio::join!(decoding, beating);
            longest
        })
    };
    for by_copies in [false, true] {
        assert!(longest(&sensor(64 << 20, 3), by_copies) <= MOST);
        assert!(longest(&vec![0; 64 << 20], by_copies) <= MOST);
    }
}

/// A hasher that is not done before its gate is opened.
struct Slow(Arc<Gate>);

#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    /// How many have passed it.
    passed: AtomicUsize,
}

impl Hasher for Slow {
    fn update(&mut self, _: &[u8]) {
        let Gate {
            is_open, opened, ..
        } = &*self.0;
        let closed = |is_open: &mut bool| !*is_open;
        drop(opened.wait_timeout_while(is_open.lock().unwrap(), HANG, closed));
        self.0.passed.fetch_add(1, SeqCst);
    }

    fn finish(&mut self) -> Digest {
        Digest::EMPTY
    }
}

#[test]
fn dropping_a_codec_waits_for_no_chunk() {
    let file = bloscpack::compress(&[7; 3_000_000]).unwrap();
    let gate = Arc::<Gate>::default();
    // The implementation is tried out first.
    *gate.is_open.lock().unwrap() = true;
    let slow = Arc::clone(&gate);
    let hashers =
        Hashers::default().with(Checksum::Crc32, move || Box::new(Slow(Arc::clone(&slow))));
    *gate.is_open.lock().unwrap() = false;
    run(async {
        let mut decoder =
            AsyncDecoder::with_options(Tokio(file.as_slice()), Options::new().hashers(hashers));
        gate.passed.store(0, SeqCst);
        let patience = Duration::from_millis(50);
        let read = tokio::time::timeout(patience, decoder.next_bytes());
        assert!(read.await.is_err(), "the chunk takes longer");
        drop(decoder);
        assert_eq!(gate.passed.load(SeqCst), 0, "it has waited");
    });
    *gate.is_open.lock().unwrap() = true;
    gate.opened.notify_all();
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
