//! The compression of each chunk, for drawing.

use crate::request::with;
use bloscpack::blosc::ChunkHeader;
use bloscpack::storage::{SharedSource, SourceReader};
use bloscpack::survey::each_chunk;
use bloscpack::{Options, Result};
use bloscpack_open::datasets::CArray;
use bloscpack_open::frames::Frame;
use bloscpack_open::{Container, Inner};
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of chunks to draw.
const MOST: usize = 16_384;
/// The maximum number of columns whose chunks are drawn.
const MOST_COLUMNS: usize = 64;

/// Strips of chunks: one strip, or one for each column. A chunk consists of its uncompressed bytes, its bytes in the file,
/// and whether it is a copy, consists of special values, or is damaged according to its header.
pub fn map(container: &dyn Container) -> Value {
    if let Some(source) = container.source() {
        return json!({"strips": [of_file(source)]});
    }
    let strips = match container.inner() {
        Inner::Frame(frame) => vec![of_frame(frame)],
        Inner::NdArray(array) => vec![of_frame(array.frame())],
        Inner::Array(array) => vec![of_array(array, MOST)],
        Inner::Table(table) => {
            let names = table.names().iter().take(MOST_COLUMNS);
            let most = MOST / names.len().max(1);
            let strips = names.map(|name| {
                let column = table.column(name).map(|column| of_array(column, most));
                let strip = column.unwrap_or_else(
                    |error| json!({"chunks": [], "count": 0, "trouble": error.to_string()}),
                );
                with(strip, "name", name.as_str())
            });
            strips.collect()
        }
        _ => Vec::new(),
    };
    json!({"strips": strips})
}

fn of_file(source: &SharedSource) -> Value {
    let (mut chunks, mut count) = (Vec::new(), 0_u64);
    let source = SourceReader::new(Arc::clone(source));
    let walked = each_chunk(source, &Options::new(), |header| {
        count += 1;
        if chunks.len() < MOST {
            chunks.push(of_header(header));
        }
    });
    let trouble = walked.err().map(|error| error.to_string());
    json!({"chunks": chunks, "count": count, "trouble": trouble})
}

fn of_frame(frame: &Frame) -> Value {
    let of_chunk = |number| match frame.chunk_header(number)? {
        Some(header) => Ok(of_header(&header)),
        // Special values take no bytes.
        None => Ok(json!([frame.chunk_size(), 0, "special"])),
    };
    strip(frame.chunks(), MOST, of_chunk)
}

fn of_array(array: &CArray, most: usize) -> Value {
    let of_chunk = |number| Ok(of_header(&array.chunk_header(number)?));
    strip(array.chunks(), most, of_chunk)
}

fn strip(count: u64, most: usize, of_chunk: impl Fn(u64) -> Result<Value>) -> Value {
    let shown = (0..count).take(most);
    let chunks = shown.map(|number| of_chunk(number).unwrap_or_else(|_| json!([0, 0, "damaged"])));
    json!({"chunks": Vec::from_iter(chunks), "count": count})
}

fn of_header(header: &ChunkHeader) -> Value {
    let kind = if header.is_pure_copy() { "copy" } else { "" };
    json!([header.nbytes, header.ctbytes, kind])
}
