//! What is intact of a file that ends too early, or whose headers contradict each other.

use bloscpack::{Decoder, wire::Header};
use serde_json::{Value, json};

use super::line;
use crate::container::Opened;
use crate::session::Session;
use crate::size::pretty;

/// The header of such a file, and how much of the content is sound.
pub struct Intact {
    header: Header,
    bytes: u64,
}

impl Intact {
    /// Reads header and chunks. Nothing for anything but a Bloscpack file with a header.
    pub fn of(opened: &mut Opened, session: &Session) -> Option<Self> {
        let is_bloscpack = opened.is_bloscpack();
        let input = opened.input.as_ref().filter(|_| is_bloscpack)?;
        input.by_position()?;
        input.rewind().ok()?;
        let reader = input.reader(&opened.progress);
        let mut decoder = Decoder::builder().limits(session.limits).read_from(reader);
        let header = decoder.read_header().ok()?.clone();
        let report = opened.container.verify_with(&mut |_| Ok(())).ok()?;
        Some(Self {
            header,
            bytes: report.bytes,
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
