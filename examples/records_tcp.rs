//! Sends records over a TCP socket, each as soon as there is one.
//!
//! The sender makes an event now and then, and flushes it; the receiver has it at once, checked, and
//! answers before the next one is made. Then the connection breaks: the receiver has all that was
//! sent and knows that this was not the end.
//!
//! ```sh
//! cargo run --release --example records_tcp            # 10,000 records
//! cargo run --release --example records_tcp -- 100000
//! ```

use bloscpack::{
    Category,
    records::{RecordReader, RecordWriter},
};
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing takes longer here, unless a record does not arrive.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args()
        .nth(1)
        .map_or(Ok(10_000), |arg| arg.parse())?;
    for is_cut in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let receiver = thread::spawn(move || {
            let (socket, _) = listener.accept()?;
            receive(socket)
        });
        let slowest = send(TcpStream::connect(address)?, count, is_cut)?;
        let (received, end) = receiver.join().map_err(|_| "the receiver panicked")??;
        assert_eq!(received, count, "every record that was flushed has arrived");
        match end {
            None => println!("{received} records, one by one, and the end (slowest {slowest:?})"),
            Some(error) => println!("{received} records, one by one, and then: {error}"),
        }
    }
    Ok(())
}

/// Sends records one by one, each when the one before it has been answered; gives the longest time
/// that it took.
fn send(socket: TcpStream, count: u64, is_cut: bool) -> bloscpack::Result<Duration> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut answers = socket.try_clone()?;
    let mut writer = RecordWriter::builder().dtype("varchar").write_to(socket)?;
    let mut slowest = Duration::ZERO;
    for number in 0..count {
        let begin = Instant::now();
        writer.push(format!("event {number}: all is well"))?;
        writer.flush()?;
        let mut answer = [0; 8];
        answers.read_exact(&mut answer)?;
        assert_eq!(u64::from_le_bytes(answer), number);
        slowest = slowest.max(begin.elapsed());
    }
    if !is_cut {
        writer.finish()?;
    }
    Ok(slowest)
}

/// Receives records and answers each with its number; gives how many there were, and how it ended
/// where that was not the end.
fn receive(socket: TcpStream) -> bloscpack::Result<(u64, Option<bloscpack::Error>)> {
    let mut answers = socket.try_clone()?;
    answers.set_nodelay(true)?;
    let mut reader = RecordReader::new(socket);
    loop {
        let number = reader.records();
        match reader.next_record() {
            Ok(Some(record)) => {
                assert_eq!(record, format!("event {number}: all is well").as_bytes());
                answers.write_all(&number.to_le_bytes())?;
            }
            Ok(None) => return Ok((number, None)),
            Err(error) if error.category() == Category::CutShort => {
                return Ok((number, Some(error)));
            }
            Err(error) => return Err(error),
        }
    }
}
