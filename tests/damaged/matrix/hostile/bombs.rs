//! Tests of decompression bombs.

use super::{CUT, Input, MIB, OVER, READ, Row, file, row};
use crate::matrix::by_fields::{Fields, PLAIN, zstd};
use crate::matrix::frame_parts::Parts;
use crate::matrix::records_by_hand::Hostile;
use bloscpack::Limits;
use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, SpecialValue, special_chunk};
use bloscpack_open::frames::wire::ChunkPlace;

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for compressor in Compressor::ALL {
        let settings = ChunkSettings::default().compressor(compressor);
        let mut zeros = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(&vec![0; 32 * MIB], &mut zeros).unwrap();
        let bomb = Fields {
            chunk_size: 32 << 20,
            last_chunk: 32 << 20,
            nchunks: 4,
            ..PLAIN
        };
        let bytes = bomb.with(&zeros.repeat(4));
        let name = format!(
            "bomb: 128 MiB of zeros, {compressor}, {} bytes",
            bytes.len()
        );
        rows.push(file(&name, bytes, READ));
    }
    let tib = Fields {
        chunk_size: 1 << 20,
        last_chunk: 1 << 20,
        nchunks: 1 << 20,
        ..PLAIN
    };
    let zeros = zstd(&vec![0; MIB]);
    rows.push(file(
        "bomb: 1 TiB declared by 1 KiB",
        tib.with(&zeros.repeat(1000 / zeros.len())),
        CUT,
    ));
    let limits = Limits::new().chunk(16 << 20);
    let large = zstd(&vec![0; 512 * MIB]);
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    rows.push(row(
        "bomb: a chunk of 512 MiB, 16 MiB allowed",
        Input::Strict(any.with(&large), limits),
        OVER,
    ));
    rows.push(file("bomb: a chunk of 512 MiB", any.with(&large), READ));
    let one = Hostile::new("{}", vec![large]).file();
    rows.push(row(
        "bomb: a record of 512 MiB, 16 MiB allowed",
        Input::StrictRecords(one, limits),
        OVER,
    ));
    let mut parts = Parts::sound();
    parts.header.metalayers = bloscpack_open::frames::Metalayers::new();
    parts.header.chunk_size = Some(16 << 20);
    parts.header.content_len = 1 << 40;
    let zeros = ChunkPlace::Zeros.encode().unwrap().to_le_bytes();
    parts.index = special_chunk(SpecialValue::Value(&zeros), 8 << 16, 8, 1 << 16).unwrap();
    rows.push(row(
        "bomb: 1 TiB of zeros in 300 bytes",
        Input::Frame(parts.bytes()),
        READ,
    ));
    rows
}
