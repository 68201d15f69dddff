//! What `info` says of records.

use bloscpack::{
    IndexedRecordReader, Member, Survey,
    wire::{Form, Packing},
};
use serde_json::{Value, json};

use super::is_complete;
use crate::input::Input;
use crate::session::Session;
use crate::size::pretty;

/// The number of records of each member; nothing where there are none, or nobody knows.
pub fn count(survey: &Survey, input: &Input, session: &Session) -> Vec<Option<u64>> {
    let is_alone = survey.members.len() == 1;
    let of = |member| match form(member) {
        Some(Form::Records { .. }) => Some(member.chunks),
        Some(Form::Packed { count, .. }) => count
            .filter(|_| is_complete(member))
            .or_else(|| last(input, session).filter(|_| is_alone)),
        Some(Form::Content) | None => None,
    };
    survey.members.iter().map(of).collect()
}

/// All of them, if all are known.
pub fn sum(counts: &[Option<u64>]) -> Option<u64> {
    counts.iter().copied().sum()
}

/// The number behind that of the last record, by its chunk.
fn last(input: &Input, session: &Session) -> Option<u64> {
    let builder = IndexedRecordReader::builder()
        .limits(session.limits)
        .allow_unterminated(true);
    Some(builder.open(input.at_positions()?).ok()?.len())
}

/// What the chunks hold, if that is known.
fn form(member: &Member) -> Option<Form> {
    Form::of(&member.header, member.metadata.as_ref()).ok()
}

/// More than a dtype or the name of a packing takes.
const LONGEST: usize = 1 << 16;

/// The answer for programs; null is unknown or absent.
pub fn describe(member: &Member) -> Value {
    let text = |key: &str| {
        member
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.get_text(key))
    };
    let said = |key: &str| {
        let text = text(key).filter(|text| text.len() <= LONGEST)?;
        serde_json::from_str::<Value>(text).ok()
    };
    let packing = match form(member) {
        Some(Form::Packed { packing, .. }) => json!({
            "name": Packing::NAME,
            "version": Packing::VERSION,
            "chunk_size": packing.chunk_size(),
        }),
        Some(_) => Value::Null,
        None => said("packing").unwrap_or_default(),
    };
    json!({ "packing": packing, "dtype": said("dtype") })
}

/// The answer for people.
pub fn tell(member: &Member, count: Option<u64>) -> String {
    let count = count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    match form(member) {
        Some(Form::Packed { packing, .. }) => {
            let most = pretty(packing.chunk_size().into());
            format!("{count}, packed into chunks of up to {most}")
        }
        Some(_) => format!("{count}, one a chunk"),
        None => format!("{count}, packed in a way that is not known here"),
    }
}
