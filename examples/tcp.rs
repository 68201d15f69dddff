//! Sends compressed data over a TCP socket, and takes it from there.
//!
//! One thread makes float64 samples and writes them into an [`Encoder`] over the socket; the other
//! reads the socket through a [`Decoder`]. Neither knows the length, and neither holds more than a
//! few chunks: the memory is the same for a megabyte and for a terabyte.
//!
//! ```sh
//! cargo run --release --example tcp            # 64 MiB
//! cargo run --release --example tcp -- 8192    # 8 GiB
//! ```

use bloscpack::{Decoder, Encoder, Options};
use std::error::Error;
use std::io::{BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const MIB: usize = 1 << 20;
const THREADS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mib = std::env::args().nth(1).map_or(Ok(64), |arg| arg.parse())?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;

    let sender = thread::spawn(move || {
        send(TcpStream::connect(address)?, mib).map_err(std::io::Error::from)
    });
    let (socket, _) = listener.accept()?;
    let received = receive(socket)?;
    let sent = sender.join().map_err(|_| "the sender panicked")??;

    assert_eq!(sent, received, "what arrives is what was sent");
    println!(
        "{} bytes over {} bytes of socket, crc32 {:08x}",
        received.bytes, received.compressed, received.crc
    );
    if let Some(peak) = peak_memory() {
        println!("peak memory of sender and receiver together: {peak}");
    }
    Ok(())
}

/// The data that one side received.
#[derive(Debug, PartialEq)]
struct Seen {
    bytes: u64,
    compressed: u64,
    crc: u32,
}

fn send(socket: TcpStream, mib: usize) -> bloscpack::Result<Seen> {
    let mut encoder = Encoder::builder()
        .typesize(8)
        .threads(THREADS)
        .write_to(socket)?;
    let mut crc = crc32fast::Hasher::new();
    let mut walk = Walk {
        seed: 7,
        level: 0.0,
    };
    for _ in 0..mib {
        let samples: Vec<u8> = walk
            .by_ref()
            .take(MIB / 8)
            .flat_map(f64::to_le_bytes)
            .collect();
        crc.update(&samples);
        encoder.write_all(&samples)?;
    }
    let bytes = encoder.total_in();
    encoder.flush()?;
    let before_end = encoder.total_out();
    let socket = encoder.finish()?;
    socket.shutdown(std::net::Shutdown::Write)?;
    // The end mark is a chunk of 16 bytes with its crc32.
    Ok(Seen {
        bytes,
        compressed: before_end + 20,
        crc: crc.finalize(),
    })
}

fn receive(socket: TcpStream) -> bloscpack::Result<Seen> {
    let mut decoder = Decoder::with_options(socket, Options::new().threads(THREADS));
    let mut crc = crc32fast::Hasher::new();
    loop {
        let piece = decoder.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        crc.update(piece);
        let len = piece.len();
        decoder.consume(len);
    }
    Ok(Seen {
        bytes: decoder.total_out(),
        compressed: decoder.total_in(),
        crc: crc.finalize(),
    })
}

/// A random walk in steps of 1/8, such as a sensor might give.
struct Walk {
    seed: u64,
    level: f64,
}

impl Iterator for Walk {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let step = i8::try_from(self.seed >> 60).unwrap_or(0) - 7;
        self.level += f64::from(step) / 8.0;
        Some(self.level)
    }
}

/// The peak memory of this process, if the system reports it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
