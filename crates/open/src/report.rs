//! [`Report`]: the result of verification.

use bloscpack::verify::{self, Damage};
use bloscpack_wire::internal::to_u64;

/// The result of [`Container::verify`](super::Container::verify), for every kind of input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The number of chunks; in Bloscpack files damaged ones included, elsewhere only sound ones.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// Records in the sound chunks; 0 if the chunks hold no records.
    pub records: u64,
    /// Number of damages; for datasets and frames at most some thousand.
    pub damage_count: u64,
    /// All damages, in the order of their positions; none after [`Container::verify`](super::Container::verify), which
    /// passes them on.
    pub damages: Vec<Damage>,
    /// Whether damages can say which bytes of the input, which content and which records they affect. Elsewhere the
    /// error names the file and the chunk.
    pub is_located: bool,
    /// Things that are unusual but not wrong.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }

    /// Adds what was found elsewhere.
    pub(crate) fn add(&mut self, other: impl Into<Self>) {
        let other = other.into();
        self.chunks += other.chunks;
        self.bytes = self.bytes.saturating_add(other.bytes); // only shown
        self.records += other.records;
        self.damage_count += other.damage_count;
        self.damages.extend(other.damages);
        self.warnings.extend(other.warnings);
    }
}

impl From<bloscpack_array::Report> for Report {
    fn from(report: bloscpack_array::Report) -> Self {
        Self {
            chunks: report.chunks,
            bytes: report.bytes,
            damage_count: to_u64(report.damages.len()),
            damages: report.damages.into_iter().map(Damage::from).collect(),
            warnings: report.warnings,
            ..Self::default()
        }
    }
}

impl From<verify::Report> for Report {
    fn from(report: verify::Report) -> Self {
        Self {
            chunks: report.chunks,
            bytes: report.bytes,
            records: report.records,
            damage_count: report.damage_count,
            damages: Vec::new(),
            is_located: true,
            warnings: report.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}
