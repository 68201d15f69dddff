//! [`Report`]: the result of verification.

use bloscpack::verify::{self, Damage};
use bloscpack_wire::internal::to_u64;

/// The result of [`Container::verify`](super::Container::verify), for all kinds of input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The number of chunks: in Bloscpack files all, elsewhere only the sound ones.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// The number of records in the sound chunks; 0 if the chunks hold no records.
    pub records: u64,
    /// The number of damages; a check of a dataset or frame stops after about a thousand per array.
    pub damage_count: u64,
    /// All damages in the order of their positions; empty after [`Container::verify_with`](super::Container::verify_with),
    /// which passes them on.
    pub damages: Vec<Damage>,
    /// Whether damages carry the affected bytes of the input, content and records, as in Bloscpack files. In other inputs the
    /// error names the file and the chunk.
    pub is_located: bool,
    /// What is unusual but not wrong.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether no damage was found. Warnings do not count.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }

    /// Adds the result for another input.
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
