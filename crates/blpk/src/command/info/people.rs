//! The answer of `info` for people.

use std::fmt::{Display, Write as _};

use anstyle::Style;
use bloscpack::{FormatVersion, Member, State, Survey};

use super::json_text;
use super::records;
use super::{codecs, filters, kind, state, sum};
use crate::size::pretty;

pub const BOLD: Style = Style::new().bold();
/// Width of the longest label.
pub const LABEL: usize = 15;

/// One block of lines for each member, and one for the whole if there are several.
pub fn describe(
    path: &str,
    file_bytes: Option<u64>,
    survey: &Survey,
    counts: &[Option<u64>],
) -> String {
    let mut text = String::new();
    let several = survey.members.len() > 1;
    for (number, (member, count)) in survey.members.iter().zip(counts).enumerate() {
        let place = if several {
            format!(", member {number} at byte {}", member.at)
        } else {
            String::new()
        };
        let _ = writeln!(text, "{BOLD}{path}{BOLD:#}{place}");
        describe_member(&mut text, member, *count);
    }
    if several {
        let _ = writeln!(text, "{BOLD}{path}{BOLD:#}, all members");
        if let Some(records) = records::sum(counts) {
            line(&mut text, "records", records);
        }
        line(&mut text, "chunks", sum(survey, |member| member.chunks));
        sizes(
            &mut text,
            sum(survey, |member| member.uncompressed),
            sum(survey, |member| member.compressed),
        );
    }
    if let Some(bytes) = file_bytes {
        line(&mut text, "file size", pretty(bytes));
    }
    text
}

fn describe_member(text: &mut String, member: &Member, records: Option<u64>) {
    let header = &member.header;
    let layout = format!("{} (version {})", header.layout, header.layout.version());
    line(text, "kind", kind(member));
    line(text, "layout", layout);
    line(text, "state", state_in_full(member));
    line(text, "checksum", header.checksum);
    line(text, "typesize", or_unknown(header.typesize));
    if header.varlen {
        line(text, "records", records::tell(member, records));
    } else {
        line(
            text,
            "chunk size",
            or_unknown(header.chunk_size.map(|n| pretty(n.into()))),
        );
        line(
            text,
            "last chunk",
            or_unknown(header.last_chunk.map(|n| pretty(n.into()))),
        );
    }
    let said = match header.nchunks {
        Some(said) if said == member.chunks => String::new(),
        Some(said) => format!(" of {said}"),
        None => ", the header does not say".to_owned(),
    };
    line(text, "chunks", format!("{}{said}", member.chunks));
    line(text, "offsets", if header.offsets { "yes" } else { "no" });
    if header.offsets && header.layout == FormatVersion::V3 {
        line(text, "max app chunks", header.max_app_chunks);
    }
    line(text, "codecs", list(&codecs([member])));
    line(text, "filters", list(&filters([member])));
    sizes(text, member.uncompressed, member.compressed);
    if let Some(section) = &member.metadata_header {
        let stored = format!(
            "{} of {} bytes, codec {}, checksum {}",
            section.stored_size,
            section.max_meta_size,
            section.codec.name(),
            section.checksum,
        );
        line(text, "metadata room", stored);
    }
    if let Some(metadata) = &member.metadata {
        let json = json_text::pretty(metadata.text(), 0);
        // The lines after the first stand below it.
        line(
            text,
            "metadata",
            json.replace('\n', &format!("\n  {:LABEL$}  ", "")),
        );
    }
}

pub fn sizes(text: &mut String, uncompressed: u64, compressed: u64) {
    line(text, "uncompressed", pretty(uncompressed));
    line(text, "compressed", pretty(compressed));
    if let Some(hundredths) = (u128::from(uncompressed) * 100).checked_div(compressed.into()) {
        line(
            text,
            "ratio",
            format!("{}.{:02}", hundredths / 100, hundredths % 100),
        );
    }
}

fn state_in_full(member: &Member) -> &'static str {
    match member.state {
        State::Unindexed => "complete, but the offsets were never filled in",
        _ => state(member),
    }
}

pub fn line(text: &mut String, label: &str, value: impl Display) {
    let _ = writeln!(text, "  {label:LABEL$}  {value}");
}

fn or_unknown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

pub fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
