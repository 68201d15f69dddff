//! The report of `info --json`.

use bloscpack::survey::{Member, Survey};
use serde_json::{Value, json};

use super::records;
use super::{codecs, filters, is_indexed, kind, state, sum, whole_state};
use crate::json_text::{plain, pretty};

/// A value that metadata is put in place of, so that its numbers keep all their digits.
pub const PLACEHOLDER: &str = "\u{1}";
/// How deep a report is nested, and the reports on its members.
pub const WHOLE: usize = 1;
pub const MEMBER: usize = 3;

/// One object: header fields are those of the first member, sums and sets those of all.
pub fn report(
    path: &str,
    file_bytes: Option<u64>,
    survey: &Survey,
    counts: &[Option<u64>],
) -> String {
    let mut object = json!({ "path": path });
    if let Some(first) = survey.members.first() {
        merge(&mut object, header(first, records::sum(counts)));
    }
    let members = survey.members.iter().zip(counts);
    let members = members.map(|(one, count)| member(one, *count));
    let whole = json!({
        "chunks": sum(survey, |member| member.chunks),
        "uncompressed_bytes": sum(survey, |member| member.uncompressed),
        "compressed_bytes": sum(survey, |member| member.compressed),
        "file_bytes": file_bytes,
        "codecs": codecs(&survey.members),
        "filters": filters(&survey.members),
        "state": whole_state(survey),
        "indexed": survey.members.iter().all(is_indexed),
        "members": members.collect::<Value>(),
        "warnings": survey.warnings.iter().map(ToString::to_string).collect::<Value>(),
    });
    merge(&mut object, whole);
    with_metadata(&plain(&format!("{object:#}\n")), survey)
}

/// Inserts the metadata: that of the first member, and then those of all.
fn with_metadata(report: &str, survey: &Survey) -> String {
    let texts = survey.members.iter().map(|member| member.metadata.as_ref());
    let first = texts.clone().next().into_iter();
    let levels = [WHOLE].into_iter().chain(std::iter::repeat(MEMBER));
    let texts = first
        .chain(texts)
        .zip(levels)
        .filter_map(|(text, level)| Some((text?.text(), level)));
    with_texts(report, "metadata", texts)
}

/// Inserts JSON texts, each with how deep it is nested, in place of the placeholders that are called `key`.
pub fn with_texts<'a>(
    report: &str,
    key: &str,
    mut texts: impl Iterator<Item = (&'a str, usize)>,
) -> String {
    let place = format!("\"{key}\": {}", json!(PLACEHOLDER));
    let mut out = String::new();
    let mut rest = report;
    while let Some((before, after)) = rest.split_once(&place)
        && let Some((text, level)) = texts.next()
    {
        out.push_str(before);
        out.push_str(&format!("\"{key}\": "));
        out.push_str(&pretty(text, level));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn member(member: &Member, records: Option<u64>) -> Value {
    let mut object = json!({ "at": member.at });
    merge(&mut object, header(member, records));
    let body = json!({
        "first_chunk_at": member.first_chunk_at,
        "chunks": member.chunks,
        "uncompressed_bytes": member.uncompressed,
        "compressed_bytes": member.compressed,
        "codecs": codecs([member]),
        "filters": filters([member]),
        "state": state(member),
        "indexed": is_indexed(member),
    });
    merge(&mut object, body);
    object
}

/// The content of header and metadata; null is unknown or absent.
fn header(member: &Member, count: Option<u64>) -> Value {
    let header = &member.header;
    let max_app_chunks = header.offsets.then_some(header.max_app_chunks);
    let mut object = json!({
        "kind": kind(member),
        "layout": header.layout.name(),
        "format_version": header.layout.version(),
        "checksum": header.checksum.name(),
        "typesize": header.typesize,
        "chunk_size": header.chunk_size,
        "last_chunk": header.last_chunk,
        "nchunks": header.nchunks,
        "max_app_chunks": max_app_chunks,
        "offsets": header.offsets,
        "sealed": header.seal.is_some(),
        "metadata": member.metadata.as_ref().map(|_| PLACEHOLDER),
    });
    if header.varlen {
        merge(&mut object, json!({ "records": count }));
        merge(&mut object, records::json(member));
    }
    object
}

pub fn merge(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}
