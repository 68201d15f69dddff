//! What `info --auto` says: which settings a sample of the content would be given, and why.

use std::fmt::Write as _;

use bloscpack::{
    IndexedReader, Member, Survey,
    blosc::{Aim, ChunkSettings, Trial, Tuned, Tuner},
};
use serde_json::{Value, json};

use super::people::{BOLD, line};
use super::{codecs, filters, json_text};
use crate::input::{Input, is_bloscpack};
use crate::message::{Failure, shown};
use crate::session::Session;

/// The trials that people are shown.
const SHOWN: usize = 12;

/// Why there is nothing to sample.
pub fn refusal(what: &str) -> Failure {
    Failure::usage(format!("--auto cannot look into {what}"))
        .hint("it looks at pieces of plain files and of Bloscpack files with content")
}

/// Whether the input is a file, but not one of Bloscpack's: then its bytes are what counts.
pub fn is_plain(input: &Input) -> Result<bool, Failure> {
    match input.at_positions() {
        Some(bytes) => is_bloscpack(bytes)
            .map(|is_bloscpack| !is_bloscpack)
            .map_err(|error| Failure::io(input.name(), &error)),
        None => Err(refusal("a pipe")),
    }
}

/// Chooses for the bytes of a plain file.
pub fn of_plain(aim: Aim, input: &Input) -> Result<Tuned, Failure> {
    let tuner = Tuner::new(aim);
    let pieces = input.sample(&tuner);
    let pieces = pieces.map_err(|error| Failure::io(input.name(), &error))?;
    tune(&tuner, &pieces.unwrap_or_default(), input)
}

/// Chooses for the content of a Bloscpack file.
pub fn of_content(
    aim: Aim,
    input: &Input,
    survey: &Survey,
    session: &Session,
) -> Result<Tuned, Failure> {
    if survey.members.iter().any(|member| member.header.varlen) {
        return Err(refusal("records"));
    }
    let Some(bytes) = input.at_positions() else {
        return Err(refusal("a pipe"));
    };
    let failure = |error: bloscpack::Error| Failure::library(input.name(), &error);
    let builder = IndexedReader::builder().limits(session.limits);
    let reader = builder.open(bytes).map_err(failure)?;
    let chunk_size = survey
        .members
        .first()
        .and_then(|first| first.header.chunk_size);
    let tuner = Tuner::new(aim);
    // A file of one chunk calls its length the chunk size.
    let tuner = match chunk_size.filter(|_| reader.chunks() > 1) {
        Some(bytes) => tuner.chunk_size(bytes),
        None => tuner,
    };
    let mut pieces = Vec::new();
    for place in tuner.places(reader.content_len()) {
        let mut piece = Vec::new();
        reader.copy_range(place, &mut piece).map_err(failure)?;
        pieces.push(piece);
    }
    tune(&tuner, &pieces, input)
}

fn tune(tuner: &Tuner, pieces: &[Vec<u8>], input: &Input) -> Result<Tuned, Failure> {
    let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
    tuner
        .tune_pieces(&pieces)
        .map_err(|error| Failure::library(input.name(), &error.into()))
}

/// The table for people, of a Bloscpack file below what it has itself.
pub fn people(tuned: &Tuned, survey: Option<&Survey>) -> String {
    let aim = tuned.aim();
    let mut text = String::new();
    line(&mut text, "auto", tuned);
    if let Some(survey) = survey {
        line(&mut text, "the file has", has(survey));
    }
    let score = match aim {
        Aim::Size => "part",
        Aim::Speed | Aim::Balance => "s/GB",
    };
    let _ = writeln!(
        text,
        "  {BOLD}{:8} {:>5}  {:6} {:>8} {:>9} {:>9} {:>11} {score:>7}{BOLD:#}",
        "codec", "level", "filter", "typesize", "ratio", "compress", "decompress"
    );
    for trial in tuned.trials().iter().take(SHOWN) {
        let ChunkSettings {
            compressor,
            level,
            filter,
            typesize,
            ..
        } = trial.settings();
        let _ = writeln!(
            text,
            "  {compressor:8} {level:>5}  {filter:6} {typesize:>8} {:>9.2} {:>9.0} {:>11.0} {:>7.3}",
            trial.ratio(),
            trial.encode_speed(),
            trial.decode_speed(),
            trial.score(aim),
        );
    }
    let left = tuned.trials().len().saturating_sub(SHOWN);
    if left > 0 {
        let _ = writeln!(text, "  and {left} more");
    }
    text
}

/// The settings of a file in words, as far as its headers tell.
fn has(survey: &Survey) -> String {
    let typesize = |member: &Member| member.header.typesize;
    let typesize = survey.members.iter().find_map(typesize);
    format!(
        "{}, filter {}, typesize {}",
        super::people::list(&codecs(&survey.members)),
        super::people::list(&filters(&survey.members)),
        typesize.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string()),
    )
}

/// The whole answer about a plain file.
pub fn plain(path: &std::path::Path, input: &Input, tuned: &Tuned, as_json: bool) -> String {
    if as_json {
        let object = json!({
            "path": path.to_string_lossy(),
            "kind": "plain",
            "file_bytes": input.length(),
            "auto": object(tuned),
        });
        return format!("{object:#}\n");
    }
    let mut text = format!("{BOLD}{}{BOLD:#}\n", shown(path));
    line(&mut text, "kind", "plain");
    text + &people(tuned, None)
}

/// A report in JSON with the object under `auto` as its last member.
pub fn added(report: &str, tuned: &Tuned) -> String {
    let report = report.trim_end();
    let Some(open) = report.strip_suffix('}') else {
        return report.to_owned();
    };
    let object = json_text::pretty(&object(tuned).to_string(), 1);
    format!("{},\n  \"auto\": {object}\n}}\n", open.trim_end())
}

fn object(tuned: &Tuned) -> Value {
    let aim = tuned.aim();
    let trials = tuned.trials().iter().map(|trial| described(trial, aim));
    json!({
        "aim": aim.name(),
        "chosen": described(tuned.best(), aim),
        "reason": tuned.to_string(),
        "trials": trials.collect::<Value>(),
    })
}

fn described(trial: &Trial, aim: Aim) -> Value {
    let settings = trial.settings();
    json!({
        "codec": settings.compressor.name(),
        "level": settings.level,
        "filter": settings.filter.name(),
        "typesize": settings.typesize,
        "ratio": trial.ratio(),
        "compress_mb_s": trial.encode_speed(),
        "decompress_mb_s": trial.decode_speed(),
        "score": trial.score(aim),
    })
}
