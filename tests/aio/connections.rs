//! A thousand connections at once, in bounded memory and on a bounded number of threads.

use super::run;
use bloscpack::aio::AsyncDecoder;
use bloscpack::aio::{RecordStream, Tokio};
use bloscpack::records::RecordWriter;
use bloscpack::{Encoder, Options};
use std::process::Command;
use std::sync::Arc;
use testkit::golden::sensor;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::sync::Barrier;

const CONNECTIONS: usize = 1000;
const CHUNK_SIZE: u32 = 64 << 10;
const CHUNK: usize = CHUNK_SIZE as usize;

/// Runs the test of this name in a process of its own, and returns the peak of its memory for each connection, if the system
/// reports it.
fn alone(name: &str, test: impl FnOnce()) -> Option<usize> {
    const ALONE: &str = "BLOSCPACK_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", name, "--nocapture"])
            .env(ALONE, "1");
        let output = command.output().unwrap();
        print!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{output:?}");
        return None;
    }
    test();
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: usize = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((kib << 10) / CONNECTIONS)
}

/// Threads of the crew, if the system reports them.
fn threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return 0;
    };
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "bloscpack-crew").count()
}

#[test]
fn a_thousand_streams_at_once() {
    let data: Arc<[u8]> = sensor(5 * CHUNK + 100, 1).into();
    let each = alone("connections::a_thousand_streams_at_once", || {
        run(async {
            // No decoder goes on before all are in the middle of their streams; the encoders wait for them.
            let (met, mut tasks) = (Arc::new(Barrier::new(CONNECTIONS)), Vec::new());
            for _ in 0..CONNECTIONS {
                let (near, far) = duplex(4096);
                let sent = Arc::clone(&data);
                tasks.push(tokio::spawn(async move {
                    let builder = Encoder::builder().chunk_size(CHUNK_SIZE);
                    let mut encoder = builder.write_async(Tokio(near)).unwrap();
                    encoder.write_all(&sent).await.unwrap();
                    encoder.shutdown().await.unwrap();
                }));
                let (expected, here) = (Arc::clone(&data), Arc::clone(&met));
                tasks.push(tokio::spawn(async move {
                    let mut decoder = AsyncDecoder::with_options(Tokio(far), Options::new());
                    let mut buffer = vec![0; CHUNK];
                    let mut rest = &expected[..];
                    for chunk in 0.. {
                        if chunk == 2 {
                            here.wait().await;
                        }
                        let len = rest.len().min(CHUNK);
                        decoder.read_exact(&mut buffer[..len]).await.unwrap();
                        assert!(buffer[..len] == rest[..len]);
                        rest = &rest[len..];
                        if rest.is_empty() {
                            break;
                        }
                    }
                    assert_eq!(decoder.read(&mut buffer).await.unwrap(), 0);
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
    let Some(each) = each else { return };
    let crew = threads();
    println!("{CONNECTIONS} pairs of encoder and decoder: {each} bytes for each, {crew} threads");
    // Three batches of 128 KiB on their way at each end and one more, plain and compressed, and the buffers at both ends.
    assert!(each < 3 << 20, "{each} bytes");
    assert!(crew <= bloscpack::storage::parallel::processors());
}

#[test]
fn a_thousand_connections_with_small_records() {
    let each = alone(
        "connections::a_thousand_connections_with_small_records",
        || {
            run(async {
                let (met, mut tasks) = (Arc::new(Barrier::new(CONNECTIONS)), Vec::new());
                for number in 0..CONNECTIONS {
                    let (near, far) = duplex(4096);
                    let met = Arc::clone(&met);
                    tasks.push(tokio::spawn(async move {
                        let builder = RecordWriter::builder();
                        let mut sink = builder.write_async(Tokio(near)).unwrap();
                        let mut records = RecordStream::new(Tokio(far));
                        for round in 0..10 {
                            let record = format!("record {round} of connection {number}");
                            sink.push(&record).await.unwrap();
                            sink.flush().await.unwrap();
                            assert_eq!(records.next_record().await.unwrap().unwrap(), record);
                            if round == 5 {
                                met.wait().await;
                            }
                        }
                    }));
                }
                for task in tasks {
                    task.await.unwrap();
                }
            });
        },
    );
    let Some(each) = each else { return };
    println!("{CONNECTIONS} pairs of record sink and stream: {each} bytes for each");
    assert!(each < 256 << 10, "{each} bytes");
}
