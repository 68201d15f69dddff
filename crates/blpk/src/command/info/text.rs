//! The report of `info` for people.

use std::fmt::{Display, Write as _};

use anstyle::Style;
use bloscpack::{
    FormatVersion,
    survey::{Member, State, Survey},
};

use super::records;
use super::{codecs, filters, kind, state, sum};
use crate::json_text;
use crate::size::pretty;
use crate::text::or_unknown;

pub const BOLD: Style = Style::new().bold();
/// Width of the longest label.
const LABEL: usize = 15;

/// Lines of labels and values.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    /// Lines below the name of a file.
    pub fn below(path: &str) -> Self {
        let mut lines = Self::default();
        lines.heading(path, "");
        lines
    }

    /// Adds the name of a file.
    fn heading(&mut self, path: &str, note: &str) {
        self.raw(format_args!("{BOLD}{path}{BOLD:#}{note}"));
    }

    /// Adds a label with its value.
    pub fn line(&mut self, label: &str, value: impl Display) {
        self.raw(format_args!("  {label:LABEL$}  {value}"));
    }

    /// Adds a line without a label.
    pub fn raw(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "{line}");
    }

    /// Adds JSON, indented below its first line.
    pub fn json(&mut self, label: &str, text: &str) {
        let json = json_text::pretty(text, 0);
        self.line(label, json.replace('\n', &format!("\n  {:LABEL$}  ", "")));
    }

    /// Adds names.
    pub fn names(&mut self, label: &str, names: &[&str]) {
        self.line(label, list(names));
    }

    /// Adds both sizes of the content, and their ratio.
    pub fn sizes(&mut self, uncompressed: u64, compressed: u64) {
        self.line("uncompressed", pretty(uncompressed));
        self.line("compressed", pretty(compressed));
        if let Some(hundredths) = (u128::from(uncompressed) * 100).checked_div(compressed.into()) {
            let (whole, rest) = (hundredths / 100, hundredths % 100);
            self.line("ratio", format_args!("{whole}.{rest:02}"));
        }
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

/// `lz4, zstd`, or `none`.
pub fn list(names: &[&str]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// One block of lines for each member, and one for the whole if there are several.
pub fn report(
    path: &str,
    file_bytes: Option<u64>,
    survey: &Survey,
    counts: &[Option<u64>],
) -> Lines {
    let mut lines = Lines::default();
    let several = survey.members.len() > 1;
    for (number, (member, count)) in survey.members.iter().zip(counts).enumerate() {
        let note = match several {
            true => format!(", member {number} at byte {}", member.at),
            false => String::new(),
        };
        lines.heading(path, &note);
        add_member(&mut lines, member, *count);
    }
    if several {
        lines.heading(path, ", all members");
        if let Some(records) = records::sum(counts) {
            lines.line("records", records);
        }
        lines.line("chunks", sum(survey, |member| member.chunks));
        lines.sizes(
            sum(survey, |member| member.uncompressed),
            sum(survey, |member| member.compressed),
        );
    }
    if let Some(bytes) = file_bytes {
        lines.line("file size", pretty(bytes));
    }
    lines
}

fn add_member(lines: &mut Lines, member: &Member, records: Option<u64>) {
    let (header, version) = (&member.header, member.header.layout.version());
    lines.line("kind", kind(member));
    lines.line(
        "layout",
        format_args!("{} (version {version})", header.layout),
    );
    lines.line(
        "state",
        match member.state {
            State::Unindexed => "complete, but the offsets were never filled in",
            _ => state(member),
        },
    );
    lines.line("checksum", header.checksum);
    lines.line("typesize", or_unknown(header.typesize));
    if header.varlen {
        lines.line("records", records::text(member, records));
    } else {
        let size = |bytes: Option<u32>| or_unknown(bytes.map(|bytes| pretty(bytes.into())));
        lines.line("chunk size", size(header.chunk_size));
        lines.line("last chunk", size(header.last_chunk));
    }
    let expected = match header.nchunks {
        Some(expected) if expected == member.chunks => String::new(),
        Some(expected) => format!(" of {expected}"),
        None => ", not stated in the header".to_owned(),
    };
    lines.line("chunks", format_args!("{}{expected}", member.chunks));
    lines.line("offsets", if header.offsets { "yes" } else { "no" });
    if header.offsets && header.layout == FormatVersion::V3 {
        lines.line("max app chunks", header.max_app_chunks);
    }
    lines.names("codecs", &codecs([member]));
    lines.names("filters", &filters([member]));
    lines.sizes(member.uncompressed, member.compressed);
    if let Some(section) = &member.metadata_header {
        lines.line(
            "metadata room",
            format_args!(
                "{} of {} bytes, codec {}, checksum {}",
                section.stored_size,
                section.max_meta_size,
                section.codec.name(),
                section.checksum,
            ),
        );
    }
    if let Some(metadata) = &member.metadata {
        lines.json("metadata", metadata.text());
    }
}
