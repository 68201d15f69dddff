//! How `verify` and `recover` report damage.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use bloscpack::{Category, Error, verify::Damage};
use serde_json::{Value, json};

use crate::status::Status;

const BAD: Style = AnsiColor::Red.on_default().bold();

/// A damage as text.
pub fn line(damage: &Damage) -> String {
    let mut text = labelled(&damage.error);
    if let Some(records) = &damage.records {
        let _ = write!(text, "; {}", numbers(records));
    } else if let Some(content) = &damage.content {
        let _ = write!(text, "; content {}..{}", content.start, content.end);
    }
    text
}

/// The error, after a word that scripts can search for.
pub fn labelled(error: &Error) -> String {
    let label = match error.category() {
        Category::Failed => "failed",
        Category::Damaged => "damaged",
        Category::CutShort => "incomplete",
        _ => "refused",
    };
    format!("{BAD}{label}{BAD:#}: {error}")
}

/// A range of records as text: `record 7`, `records 7..12`.
pub fn numbers(records: &Range<u64>) -> String {
    let Range { start, end } = records;
    match end.checked_sub(*start) {
        Some(1) => format!("record {start}"),
        _ => format!("records {start}..{end}"),
    }
}

/// A damage as JSON.
pub fn json(damage: &Damage) -> Value {
    let mut object = error_json(&damage.error);
    object["bytes"] = json!(damage.bytes.as_ref().map(range_json));
    object["content"] = json!(damage.content.as_ref().map(range_json));
    object["records"] = json!(damage.records.as_ref().map(range_json));
    object
}

/// An error as JSON.
pub fn error_json(error: &Error) -> Value {
    let position = error.position();
    json!({
        "code": error.code().as_str(),
        "message": error.to_string(),
        "status": Status::from(error.category()).code(),
        "file": error.path(),
        "chunk": position.and_then(|position| position.chunk),
        "byte": position.map(|position| position.byte),
        "member": position.map(|position| position.member),
    })
}

/// A range as JSON.
pub fn range_json(range: &Range<u64>) -> Value {
    json!({ "start": range.start, "end": range.end })
}
