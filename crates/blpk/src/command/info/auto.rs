//! `info --auto`: which settings would be chosen for the content, and why.

use std::path::Path;

use bloscpack::{
    blosc::{Aim, ChunkSettings, Trial, Tuned, Tuner},
    indexed::IndexedReader,
    open::{Family, probe_source},
    survey::{Member, Survey},
};
use serde_json::{Value, json};

use super::text::{BOLD, Lines, list};
use super::{codecs, filters};
use crate::failure::Failure;
use crate::input::Input;
use crate::json_text;
use crate::session::Session;
use crate::text::{or_unknown, shown};

/// The trials that are listed.
const LISTED: usize = 12;

/// The failure to take a sample.
pub fn refusal(what: &str) -> Failure {
    Failure::usage(format!("--auto does not support {what}"))
        .hint("it takes samples of plain files and of Bloscpack files with content")
}

/// Whether the input is a file, but not a Bloscpack file. Then the samples are taken of its bytes.
pub fn is_plain(input: &Input) -> Result<bool, Failure> {
    match input.by_position() {
        Some(bytes) => match probe_source(bytes) {
            Ok(probe) => Ok(probe.family != Some(Family::Bloscpack)),
            Err(error) => Err(Failure::io(input.name(), &error)),
        },
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
    let Some(bytes) = input.by_position() else {
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
    // The chunk size of a file with one chunk is only its length.
    let tuner = match chunk_size.filter(|_| reader.chunks() > 1) {
        Some(bytes) => tuner.chunk_size(bytes),
        None => tuner,
    };
    let mut pieces = Vec::new();
    for range in tuner.places(reader.content_len()) {
        let mut piece = Vec::new();
        reader.copy_range(range, &mut piece).map_err(failure)?;
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

/// Adds the choice and the trials to a report for people.
pub fn lines(lines: &mut Lines, tuned: &Tuned, survey: Option<&Survey>) {
    let aim = tuned.aim();
    lines.line("auto", tuned);
    if let Some(survey) = survey {
        lines.line("the file has", settings(survey));
    }
    let score = match aim {
        Aim::Size => "part",
        Aim::Speed | Aim::Balance => "s/GB",
    };
    lines.raw(format_args!(
        "  {BOLD}{:8} {:>5}  {:6} {:>8} {:>9} {:>9} {:>11} {score:>7}{BOLD:#}",
        "codec", "level", "filter", "typesize", "ratio", "compress", "decompress"
    ));
    for trial in tuned.trials().iter().take(LISTED) {
        let ChunkSettings {
            compressor,
            level,
            filter,
            typesize,
            ..
        } = trial.settings();
        lines.raw(format_args!(
            "  {compressor:8} {level:>5}  {filter:6} {typesize:>8} {:>9.2} {:>9.0} {:>11.0} {:>7.3}",
            trial.ratio(),
            trial.encode_speed(),
            trial.decode_speed(),
            trial.score(aim),
        ));
    }
    if let Some(more) = tuned.trials().get(LISTED..).filter(|more| !more.is_empty()) {
        lines.raw(format_args!("  and {} more", more.len()));
    }
}

/// The settings of a file, as far as its headers state them.
fn settings(survey: &Survey) -> String {
    let typesize = |member: &Member| member.header.typesize;
    let typesize = survey.members.iter().find_map(typesize);
    format!(
        "{}, filter {}, typesize {}",
        list(&codecs(&survey.members)),
        list(&filters(&survey.members)),
        or_unknown(typesize),
    )
}

/// The whole report on a plain file.
pub fn plain(path: &Path, input: &Input, tuned: &Tuned, as_json: bool) -> String {
    if as_json {
        let object = json!({
            "path": path.to_string_lossy(),
            "kind": "plain",
            "file_bytes": input.length(),
            "auto": object(tuned),
        });
        return format!("{object:#}\n");
    }
    let mut report = Lines::below(&shown(path));
    report.line("kind", "plain");
    lines(&mut report, tuned, None);
    report.into_text()
}

/// A JSON report with the choice as its last member, `auto`.
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
