//! The part of `info` about records.

use bloscpack::{
    records::IndexedRecordReader,
    survey::{Member, Survey},
    wire::{Form, Packing},
};
use serde_json::{Value, json};

use super::is_complete;
use crate::input::Input;
use crate::session::Session;
use crate::size::pretty;
use crate::text::or_unknown;

/// The number of records of each member, if it contains records and their number is known.
pub fn count(survey: &Survey, input: &Input, session: &Session) -> Vec<Option<u64>> {
    let is_alone = survey.members.len() == 1;
    let of = |member| match form(member) {
        Some(Form::Records { .. }) => Some(member.chunks),
        Some(Form::Packed { count, .. }) => count
            .filter(|_| is_complete(member))
            .or_else(|| by_last_chunk(input, session).filter(|_| is_alone)),
        Some(Form::Content) | None => None,
    };
    survey.members.iter().map(of).collect()
}

/// All records, if their number is known.
pub fn sum(counts: &[Option<u64>]) -> Option<u64> {
    counts.iter().copied().sum()
}

/// The number of records, by the last chunk.
fn by_last_chunk(input: &Input, session: &Session) -> Option<u64> {
    let builder = IndexedRecordReader::builder()
        .limits(session.limits)
        .allow_unterminated(true);
    Some(builder.open(input.by_position()?).ok()?.len())
}

/// The content of the chunks, if that is known.
fn form(member: &Member) -> Option<Form> {
    Form::of(&member.header, member.metadata.as_ref()).ok()
}

/// No dtype or name of a packing is longer.
const LONGEST: usize = 1 << 16;

/// The report for scripts; null is unknown or absent.
pub fn json(member: &Member) -> Value {
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

/// The report for people.
pub fn text(member: &Member, count: Option<u64>) -> String {
    let count = or_unknown(count);
    match form(member) {
        Some(Form::Packed { packing, .. }) => {
            let longest = pretty(packing.chunk_size().into());
            format!("{count}, packed into chunks of up to {longest}")
        }
        Some(_) => format!("{count}, one per chunk"),
        None => format!("{count}, unknown packing"),
    }
}
