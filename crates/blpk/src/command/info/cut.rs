//! The intact parts of a file that ends too early, or whose headers contradict each other.

use std::io::Read;

use bloscpack::wire::Header;
use serde_json::{Value, json};

use super::line;
use crate::container::Opened;
use bloscpack_open::internal::size::pretty;

/// Bytes by which every header is known.
const MOST: u64 = 40;

/// The header of such a file, and how much of the content is sound.
pub struct Intact {
    header: Header,
    /// Nothing if the chunks are not reached.
    bytes: u64,
}

impl Intact {
    /// Reads header and chunks. Nothing for anything but a Bloscpack file with a header.
    pub fn of(opened: &mut Opened) -> Option<Self> {
        let is_bloscpack = opened.is_bloscpack();
        let input = opened.input.as_ref().filter(|_| is_bloscpack)?;
        input.by_position()?;
        input.rewind().ok()?;
        let header = header(input.reader(&opened.progress))?;
        let report = opened.container.verify_with(&mut |_| Ok(())).ok();
        Some(Self {
            header,
            bytes: report.map_or(0, |report| report.bytes),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let header = &self.header;
        let unknown = || "unknown".to_owned();
        let size = |bytes: Option<u32>| bytes.map_or_else(unknown, |bytes| pretty(bytes.into()));
        let chunks = header
            .nchunks
            .map_or_else(unknown, |chunks| chunks.to_string());
        [
            line("layout", header.layout),
            line("format_version", header.layout.version()),
            line("checksum", header.checksum),
            line("chunk_size", size(header.chunk_size)),
            line("nchunks", chunks),
            line("intact", pretty(self.bytes)),
        ]
        .concat()
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        let header = &self.header;
        json!({
            "layout": header.layout.name(),
            "format_version": header.layout.version(),
            "checksum": header.checksum.name(),
            "typesize": header.typesize,
            "chunk_size": header.chunk_size,
            "nchunks": header.nchunks,
            "intact_bytes": self.bytes,
        })
    }
}

/// The header of a Bloscpack file, which may end right after it.
fn header(reader: impl Read) -> Option<Header> {
    let mut start = Vec::new();
    reader.take(MOST).read_to_end(&mut start).ok()?;
    let needed = Header::needed(&start).ok()?;
    Header::decode(start.get(..needed)?).ok()
}
