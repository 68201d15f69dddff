//! The time of async codecs beside that of the codecs that block, in turn.
//!
//!     cargo bench --bench aio --features tokio [-- WORD..]
//!
//! prints a line of JSON for each run of the cases whose names contain all words. Both read from memory and write to memory,
//! so that nothing but the codecs takes time. The runtime has one thread. `MIB=n` changes the length of the data from 256.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use bloscpack::aio::AsyncDecoder;
use bloscpack::aio::Tokio;
use bloscpack::{Compressor, Decoder, Encoder, EncoderBuilder, Options};
use std::io::{Read, Write};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

mod clock;

/// A random walk of float64.
fn walk(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut at = 100.0;
    let step = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        at += ((state >> 40) as f64 / (1 << 24) as f64) - 0.5;
        f64::to_le_bytes((at * 1000.0).round() / 1000.0)
    };
    std::iter::repeat_with(step)
        .take(len / 8)
        .flatten()
        .collect()
}

/// The cases that are measured: content by copies, by whole chunks, and the other direction.
const WORK: [&str; 3] = ["read", "next_bytes", "write"];

fn blocking(work: &str, builder: EncoderBuilder, threads: usize, data: &[u8], file: &[u8]) {
    let mut decoder = Decoder::with_options(file, Options::new().threads(threads));
    let mut buffer = vec![0; 64 << 10];
    match work {
        "read" => while decoder.read(&mut buffer).unwrap() > 0 {},
        "next_bytes" => while decoder.next_bytes().unwrap().is_some() {},
        _ => {
            let mut encoder = builder.write_to(Vec::with_capacity(data.len())).unwrap();
            data.chunks(64 << 10)
                .for_each(|piece| encoder.write_all(piece).unwrap());
            encoder.finish().unwrap();
        }
    }
}

async fn polled(work: &str, builder: EncoderBuilder, threads: usize, data: &[u8], file: &[u8]) {
    let mut decoder = AsyncDecoder::with_options(Tokio(file), Options::new().threads(threads));
    let mut buffer = vec![0; 64 << 10];
    match work {
        "read" => while decoder.read(&mut buffer).await.unwrap() > 0 {},
        "next_bytes" => while decoder.next_bytes().await.unwrap().is_some() {},
        _ => {
            let target = Vec::with_capacity(data.len());
            let mut encoder = builder.write_async(Tokio(target)).unwrap();
            for piece in data.chunks(64 << 10) {
                encoder.write_all(piece).await.unwrap();
            }
            encoder.shutdown().await.unwrap();
        }
    }
}

fn main() {
    let mib = std::env::var("MIB").map_or(256, |mib| mib.parse().unwrap());
    let data = walk(mib << 20);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    for compressor in [Compressor::Lz4, Compressor::Zstd] {
        for chunk_size in [64 << 10, 1 << 20, 16 << 20] {
            let options = Encoder::builder()
                .compressor(compressor)
                .chunk_size(chunk_size);
            let mut encoder = options.clone().threads(2).write_to(Vec::new()).unwrap();
            encoder.write_all(&data).unwrap();
            let file = encoder.finish().unwrap();
            for (threads, work) in [1, 2].into_iter().flat_map(|n| WORK.map(|work| (n, work))) {
                let options = options.clone().threads(threads);
                let kib = chunk_size >> 10;
                let task = format!("{work}, {compressor}, {kib} KiB, {threads} threads");
                clock::in_turn(&task, &["async", "blocking"], "", &mut |at| {
                    if at == 0 {
                        runtime.block_on(polled(work, options.clone(), threads, &data, &file));
                    } else {
                        blocking(work, options.clone(), threads, &data, &file);
                    }
                });
            }
        }
    }
}
