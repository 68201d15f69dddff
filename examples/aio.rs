//! Streams and records between the tasks of an async program, over TCP sockets.
//!
//! A client sends numbers, compressed, and ends its half of the connection; the server answers with one record for each
//! thousand of them. All of it runs on one thread of tokio; the crew of `bloscpack` compresses and decompresses.
//!
//! ```sh
//! cargo run --release --features tokio --example aio
//! ```

use bloscpack::Encoder;
use bloscpack::aio::{AsyncDecoder, RecordSink, RecordStream, Tokio};
use std::error::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let socket = TcpStream::connect(listener.local_addr()?).await?;
    let (answered, sums) = tokio::try_join!(serve(listener), ask(socket))?;
    println!("{answered} answers; the last sum is {:?}", sums.last());
    assert_eq!(sums.len(), answered);
    assert_eq!(sums.last().map(String::as_str), Some("499999500000"));
    Ok(())
}

/// Sends numbers up to a million, and collects the answers.
async fn ask(socket: TcpStream) -> Result<Vec<String>, Box<dyn Error>> {
    let (input, output) = socket.into_split();
    let sending = async {
        let mut encoder = Encoder::builder().write_async(Tokio(output))?;
        for number in 0..1_000_000_u64 {
            encoder.write_all(&number.to_le_bytes()).await?;
        }
        // Finishes the stream and this half of the connection.
        encoder.shutdown().await?;
        Ok::<_, Box<dyn Error>>(())
    };
    let receiving = async {
        let (mut records, mut sums) = (RecordStream::new(Tokio(input)), Vec::new());
        while let Some(record) = records.next_record().await? {
            sums.push(String::from_utf8(record.to_vec())?);
        }
        Ok(sums)
    };
    let ((), sums) = tokio::try_join!(sending, receiving)?;
    Ok(sums)
}

/// Answers one client, and returns the number of answers.
async fn serve(listener: TcpListener) -> Result<usize, Box<dyn Error>> {
    let (socket, _) = listener.accept().await?;
    let (input, output) = socket.into_split();
    let mut decoder = AsyncDecoder::new(Tokio(input));
    let mut sink = RecordSink::new(Tokio(output))?;
    let (mut sum, mut count, mut number) = (0, 0, [0; 8]);
    while decoder.read(&mut number[..1]).await? > 0 {
        decoder.read_exact(&mut number[1..]).await?;
        sum += u64::from_le_bytes(number);
        count += 1;
        if count % 1000 == 0 {
            sink.push(sum.to_string()).await?;
            sink.flush().await?;
        }
    }
    sink.finish().await?;
    Ok(count / 1000)
}
