//! How far each chunk shrank, to draw.

use bloscpack::blosc::ChunkHeader;
use bloscpack::frame::Frame;
use bloscpack::open::{Container, Inner};
use bloscpack::storage::Cursor;
use bloscpack::survey::each_chunk;
use bloscpack::{ReadOptions, Result};
use serde_json::{Value, json};
use std::sync::Arc;

/// Chunks that are drawn at most.
const MOST: usize = 16_384;

/// For each chunk its bytes, its bytes in the file, and whether it is a copy or special values.
pub fn map(container: &dyn Container) -> Result<Value> {
    let (mut chunks, mut count) = (Vec::new(), 0_u64);
    let mut trouble = None;
    match container.inner() {
        Inner::Bloscpack(Some(source)) => {
            let source = Cursor::new(Arc::clone(source));
            let walked = each_chunk(source, &ReadOptions::new(), |header| {
                count += 1;
                if chunks.len() < MOST {
                    chunks.push(of_header(header));
                }
            });
            trouble = walked.err().map(|error| error.to_string());
        }
        Inner::Frame(frame) => (chunks, count) = (of_frame(frame), frame.chunks()),
        Inner::NdArray(array) => {
            (chunks, count) = (of_frame(array.frame()), array.frame().chunks())
        }
        _ => {}
    }
    Ok(json!({"chunks": chunks, "count": count, "trouble": trouble}))
}

fn of_frame(frame: &Frame) -> Vec<Value> {
    let shown = (0..frame.chunks()).take(MOST);
    shown
        .map(|number| match frame.chunk_header(number) {
            Ok(Some(header)) => of_header(&header),
            // Special values take no bytes.
            Ok(None) => json!([frame.chunk_size(), 0, "special"]),
            Err(_) => json!([frame.chunk_size(), 0, "damaged"]),
        })
        .collect()
}

fn of_header(header: &ChunkHeader) -> Value {
    let kind = match header.is_pure_copy() {
        true => "copy",
        false => "",
    };
    json!([header.nbytes, header.ctbytes, kind])
}
