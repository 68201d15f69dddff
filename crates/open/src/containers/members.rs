//! The summaries of the members of a Bloscpack file. A member is one of several concatenated files, or the only one.

use crate::Kind;
use crate::summary::{Line, Summary, distinct};
use crate::text::{or_unknown, pretty};
use bloscpack::survey::{Member, State};
use bloscpack_wire::{Form, FormatVersion, Packing};
use serde_json::{Value, json};

/// The number of records of a member; `None` if it holds content, or if the number is unknown.
pub(crate) fn records(member: &Member) -> Option<u64> {
    match form(member) {
        Some(Form::Records { .. }) => Some(member.chunks),
        Some(Form::Packed { count, .. }) => count.filter(|_| is_complete(member)),
        Some(Form::Content) | None => None,
    }
}

pub(crate) fn is_complete(member: &Member) -> bool {
    matches!(member.state, State::Complete | State::Unindexed)
}

/// The state of a member in reports.
pub(crate) fn state(member: &Member) -> &'static str {
    match member.state {
        // The data is complete without its offset table.
        State::Unindexed => State::Complete.name(),
        state => state.name(),
    }
}

/// Whether the offset table of a member is complete.
pub(crate) fn is_indexed(member: &Member) -> bool {
    member.header.offsets && member.state == State::Complete
}

pub(crate) fn codecs(member: &Member) -> impl Iterator<Item = &'static str> {
    member.compressors.iter().map(|codec| codec.name())
}

pub(crate) fn filters(member: &Member) -> impl Iterator<Item = &'static str> {
    member.filters.iter().map(|filter| filter.name())
}

/// Whether chunks hold content, records or packed records; `None` if the metadata does not say.
pub(crate) fn form(member: &Member) -> Option<Form> {
    Form::of(&member.header, member.metadata.as_ref()).ok()
}

fn kind(member: &Member) -> Kind {
    if member.header.varlen {
        Kind::Records
    } else {
        Kind::Bloscpack
    }
}

/// The summary of one member.
pub(crate) fn summary(member: &Member, records: Option<u64>) -> Summary {
    let mut summary = Summary::new(kind(member));
    summary.is_complete = is_complete(member);
    summary.add(json!({ "at": member.at }));
    summary.extend(header(member, records));
    summary.add(json!({
        "first_chunk_at": member.first_chunk_at,
        "chunks": member.chunks,
        "uncompressed_bytes": member.uncompressed,
        "compressed_bytes": member.compressed,
        "codecs": distinct(codecs(member)),
        "filters": distinct(filters(member)),
        "state": state(member),
        "indexed": is_indexed(member),
    }));
    summary.lines = lines(member, records);
    summary
}

/// The fields of header and metadata; null is unknown or absent.
pub(crate) fn header(member: &Member, records: Option<u64>) -> Summary {
    let header = &member.header;
    let mut summary = Summary::new(kind(member));
    summary.add(json!({
        "kind": kind(member).name(),
        "layout": header.version.name(),
        "format_version": header.version.number(),
        "checksum": header.checksum.name(),
        "typesize": header.typesize,
        "chunk_size": header.chunk_size,
        "last_chunk": header.last_chunk,
        "nchunks": header.nchunks,
        "max_app_chunks": header.offsets.then_some(header.max_app_chunks),
        "offsets": header.offsets,
        "sealed": header.seal.is_some(),
    }));
    match &member.metadata {
        Some(metadata) => summary.add_json("metadata", metadata.text()),
        None => summary.add(json!({ "metadata": null })),
    }
    if header.varlen {
        summary.add(json!({ "records": records }));
        summary.add(declared(member));
    }
    summary
}

/// The longest dtype or packing, in bytes of JSON, that is parsed.
const LONGEST: usize = 1 << 16;

/// The packing and the dtype of records that the metadata states; null is unknown or absent.
fn declared(member: &Member) -> Value {
    let stated = |key: &str| {
        let text = member.metadata.as_ref()?.get_text(key)?;
        let text = (text.len() <= LONGEST).then_some(text)?;
        serde_json::from_str::<Value>(text).ok()
    };
    let packing = match form(member) {
        Some(Form::Packed { packing, .. }) => json!({
            "name": Packing::NAME,
            "version": Packing::VERSION,
            "chunk_size": packing.chunk_size(),
        }),
        Some(_) => Value::Null,
        None => stated("packing").unwrap_or_default(),
    };
    json!({ "packing": packing, "dtype": stated("dtype") })
}

/// The number of records and their packing, as text.
fn packed(member: &Member, records: Option<u64>) -> String {
    let count = or_unknown(records);
    match form(member) {
        Some(Form::Packed { packing, .. }) => {
            let longest = pretty(packing.chunk_size().into());
            format!("{count}, packed into chunks of up to {longest}")
        }
        Some(_) => format!("{count}, one per chunk"),
        None => format!("{count}, unknown packing"),
    }
}

/// The text lines of a member.
pub(crate) fn lines(member: &Member, records: Option<u64>) -> Vec<Line> {
    let (header, version) = (&member.header, member.header.version.number());
    let mut lines = Summary::new(kind(member));
    lines.line("kind", kind(member));
    lines.line("layout", header.version);
    lines.line("format_version", version);
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
        lines.line("records", packed(member, records));
    } else {
        let size = |bytes: Option<u32>| or_unknown(bytes.map(|bytes| pretty(bytes.into())));
        lines.line("chunk_size", size(header.chunk_size));
        lines.line("last_chunk", size(header.last_chunk));
    }
    let expected = match header.nchunks {
        Some(expected) if expected == member.chunks => String::new(),
        Some(expected) => format!(" of {expected}"),
        None => ", not stated in the header".to_owned(),
    };
    lines.line("nchunks", format_args!("{}{expected}", member.chunks));
    lines.line("offsets", if header.offsets { "yes" } else { "no" });
    if header.offsets && header.version == FormatVersion::V3 {
        lines.line("max_app_chunks", header.max_app_chunks);
    }
    lines.names("codecs", &distinct(codecs(member)));
    lines.names("filters", &distinct(filters(member)));
    lines.sizes(member.uncompressed, Some(member.compressed));
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
        let text = metadata.text().to_owned();
        lines.lines.push(Line::Json("metadata", text));
    }
    lines.lines
}
