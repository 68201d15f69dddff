//! A strip: one line that shows how far each chunk shrank, and which chunks are damaged.
//!
//! Neighbouring chunks share a mark, so any number of chunks fits. The marks differ in shape, not only in colour.

use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use bloscpack::{
    blosc::ChunkHeader,
    storage::{SharedSource, SourceReader},
    survey::each_chunk,
    wire::internal::to_u64,
};

use crate::session::Session;
use crate::text::count;

const BAD: Style = AnsiColor::Red.on_default().bold();
const COPY: Style = AnsiColor::Blue.on_default();

/// The maximum number of bins, which is even. More chunks share the bins.
const BINS: usize = 1024;
/// Marks for chunks, from the smallest to those that did not shrink.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Some neighbouring chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    chunks: u64,
    plain: u64,
    packed: u64,
    /// Chunks that are stored without compression.
    copies: u64,
    is_damaged: bool,
}

impl Bin {
    fn add(&mut self, other: Self) {
        self.chunks += other.chunks;
        // Saturates: hostile headers may claim any number of bytes, and the sum is only drawn.
        self.plain = self.plain.saturating_add(other.plain);
        self.packed = self.packed.saturating_add(other.packed);
        self.copies += other.copies;
        self.is_damaged |= other.is_damaged;
    }

    fn mark(&self) -> String {
        if self.is_damaged {
            return format!("{BAD}X{BAD:#}");
        }
        if self.chunks == 0 {
            return "?".to_owned();
        }
        if self.copies == self.chunks {
            return format!("{COPY}={COPY:#}");
        }
        let eighths = u128::from(self.packed) * 8 / u128::from(self.plain.max(1));
        let level = usize::try_from(eighths.min(7)).ok();
        let level = level.and_then(|level| LEVELS.get(level));
        level.map_or('?', |level| *level).to_string()
    }
}

/// The chunks of a file that were added so far.
#[derive(Debug)]
pub struct Strip {
    bins: Vec<Bin>,
    /// Chunks per bin.
    per_bin: u64,
    chunks: u64,
}

impl Strip {
    pub fn new() -> Self {
        Self {
            bins: Vec::new(),
            per_bin: 1,
            chunks: 0,
        }
    }

    /// Adds the next chunk.
    pub fn add(&mut self, chunk: &ChunkHeader) {
        let bin = Bin {
            chunks: 1,
            plain: chunk.nbytes.into(),
            packed: chunk.ctbytes.into(),
            copies: u64::from(chunk.is_pure_copy()),
            is_damaged: false,
        };
        if let Some(place) = self.place(self.chunks) {
            place.add(bin);
        }
        self.chunks += 1;
    }

    /// Marks a chunk as damaged, whether it was added or not.
    pub fn damage(&mut self, chunk: u64) {
        if let Some(place) = self.place(chunk) {
            place.is_damaged = true;
        }
    }

    /// The chunks of a Bloscpack file, up to the first damage of its structure.
    pub fn of(source: &SharedSource, session: &Session) -> Self {
        let mut strip = Self::new();
        let options = session.options();
        let source = SourceReader::new(Arc::clone(source));
        // Commands that read the chunks report the damage; the rest is drawn as not reached.
        let _ = each_chunk(source, &options, |chunk| strip.add(chunk));
        strip
    }

    /// Whether there is at most one mark, which would show no more than the report.
    pub fn is_short(&self) -> bool {
        self.bins.len() < 2
    }

    /// The bin of a chunk, which is added if it is missing.
    fn place(&mut self, chunk: u64) -> Option<&mut Bin> {
        while chunk / self.per_bin >= to_u64(BINS) {
            self.fold();
        }
        let number = usize::try_from(chunk / self.per_bin).ok()?;
        if number >= self.bins.len() {
            self.bins.resize(number + 1, Bin::default());
        }
        self.bins.get_mut(number)
    }

    /// Halves the number of bins.
    fn fold(&mut self) {
        let pairs = self.bins.chunks(2).map(sum);
        self.bins = pairs.collect();
        self.per_bin = self.per_bin.saturating_mul(2);
    }

    /// At most `width` marks, and a line that explains them.
    pub fn drawn(&self, width: usize) -> (String, String) {
        let each = self.bins.len().div_ceil(width.max(1)).max(1);
        let marks: String = self
            .bins
            .chunks(each)
            .map(|bins| sum(bins).mark())
            .collect();
        let chunks = self.per_bin.saturating_mul(to_u64(each));
        let mut key = format!(
            "{} per mark, ▁ little to █ all data left",
            count(chunks, "chunk")
        );
        for (mark, meaning) in [
            ('=', ", = stored"),
            ('X', ", X damaged"),
            ('?', ", ? not reached"),
        ] {
            if marks.contains(mark) {
                key += meaning;
            }
        }
        (marks, key)
    }
}

fn sum(bins: &[Bin]) -> Bin {
    let mut sum = Bin::default();
    bins.iter().for_each(|bin| sum.add(*bin));
    sum
}

#[cfg(test)]
mod tests {
    use bloscpack::blosc::ChunkHeader;

    use super::Strip;

    fn chunk(nbytes: u32, ctbytes: u32) -> ChunkHeader {
        let mut header = [2, 1, 0x21, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        header[4..8].copy_from_slice(&nbytes.to_le_bytes());
        header[8..12].copy_from_slice(&nbytes.to_le_bytes());
        header[12..].copy_from_slice(&ctbytes.to_le_bytes());
        ChunkHeader::parse(&header).unwrap()
    }

    #[test]
    fn each_chunk_has_a_mark_as_high_as_what_is_left() {
        let mut strip = Strip::new();
        for packed in [100, 5000, 9000, 10_000] {
            strip.add(&chunk(10_000, packed));
        }
        strip.damage(1);
        strip.damage(6);
        let (marks, key) = strip.drawn(80);
        let marks = anstream::adapter::strip_str(&marks).to_string();
        assert_eq!(marks, "▁X██??X");
        assert!(key.starts_with("1 chunk per mark"), "{key}");
    }

    #[test]
    fn millions_of_chunks_share_marks() {
        let mut strip = Strip::new();
        (0..3_000_000).for_each(|_| strip.add(&chunk(1000, 500)));
        strip.damage(2_999_999);
        assert!(strip.bins.len() <= super::BINS);
        let (marks, key) = strip.drawn(60);
        let marks = anstream::adapter::strip_str(&marks).to_string();
        assert!(marks.chars().count() <= 60, "{marks}");
        assert!(marks.starts_with('▅') && marks.ends_with('X'), "{marks}");
        assert!(key.contains(" chunks per mark"), "{key}");
        // Damage as far away as a hostile file may claim.
        strip.damage(u64::MAX);
        assert!(strip.bins.len() <= super::BINS);
    }
}
