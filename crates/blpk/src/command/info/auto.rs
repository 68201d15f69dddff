//! `info --auto`: which settings would be chosen for the content, and why.

use std::path::Path;
use std::sync::Arc;

use bloscpack::{
    Encoder, Options,
    blosc::{Aim, ChunkSettings, Trial, Tuned},
    indexed::IndexedReader,
    storage::ReadAt,
};
use bloscpack_open::{Inner, Kind, Summary, internal::list, probe_source};
use serde_json::{Value, json};

use super::{BOLD, line};
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::input::{Input, is_directory};
use crate::session::Session;

/// The trials that are listed.
const LISTED: usize = 12;

/// The failure to take a sample.
fn refusal(what: &str) -> Failure {
    Failure::usage(format!("--auto does not support {what}"))
        .hint("it takes samples of plain files and of Bloscpack files with content")
}

/// Chooses for the bytes of a file that is of no known kind, and returns the file's length, too. Nothing for all others.
pub fn of_plain(
    aim: Aim,
    path: &Path,
    session: &Session,
) -> Result<Option<(Tuned, Option<u64>)>, Failure> {
    if is_directory(path)? {
        return Err(refusal("directories"));
    }
    let input = Input::open_binary(path, session)?;
    let name = input.name();
    let bytes = input.by_position().ok_or_else(|| refusal("a pipe"))?;
    if probe_source(bytes).about(&name)?.family.is_some() {
        return Ok(None);
    }
    let builder = Encoder::builder().auto(aim);
    let tuned = builder.tune_at(&bytes, 0..input.length().unwrap_or(0));
    Ok(tuned.about(&name)?.map(|tuned| (tuned, input.length())))
}

/// A source that can be read at any position.
pub type Source = Arc<dyn ReadAt + Send + Sync>;

/// The source of a Bloscpack file with content.
pub fn source(opened: &Opened) -> Result<Source, Failure> {
    match (opened.container.kind(), opened.container.inner()) {
        (Kind::Bloscpack, Inner::Bloscpack(Some(source))) => Ok(source.clone()),
        (Kind::Records, _) => Err(refusal("records")),
        (Kind::Frame, _) => Err(refusal("frames")),
        (kind, _) => Err(refusal(&format!("inputs of the kind {kind}"))),
    }
}

/// Chooses for the content of a Bloscpack file.
pub fn of_content(
    aim: Aim,
    source: Source,
    summary: &Summary,
    session: &Session,
) -> bloscpack::Result<Option<Tuned>> {
    let reader = IndexedReader::with_options(source, Options::new().limits(session.limits))?;
    let chunk_size = summary.get("chunk_size").and_then(Value::as_u64);
    let chunk_size = chunk_size.and_then(|bytes| u32::try_from(bytes).ok());
    let builder = Encoder::builder().auto(aim);
    // The chunk size of a file with one chunk is only its length.
    let builder = match chunk_size.filter(|_| reader.chunks() > 1) {
        Some(bytes) => builder.chunk_size(bytes),
        None => builder,
    };
    builder.tune_at(&reader, 0..reader.content_len())
}

/// The choice and the trials, for people.
pub fn text(tuned: &Tuned, summary: Option<&Summary>) -> String {
    let aim = tuned.aim();
    let mut text = line("auto", tuned);
    if let Some(summary) = summary {
        text += &line("the file has", settings(summary));
    }
    let score = match aim {
        Aim::Size => "part",
        Aim::Speed | Aim::Balance => "s/GB",
    };
    text += &format!(
        "  {BOLD}{:8} {:>5}  {:6} {:>8} {:>9} {:>9} {:>11} {score:>7}{BOLD:#}\n",
        "codec", "level", "filter", "typesize", "ratio", "compress", "decompress"
    );
    for trial in tuned.trials().iter().take(LISTED) {
        let ChunkSettings {
            compressor,
            level,
            filter,
            typesize,
            ..
        } = trial.settings();
        text += &format!(
            "  {compressor:8} {level:>5}  {filter:6} {typesize:>8} {:>9.2} {:>9.0} {:>11.0} {:>7.3}\n",
            trial.ratio(),
            trial.encode_speed(),
            trial.decode_speed(),
            trial.score(aim),
        );
    }
    if let Some(more) = tuned.trials().get(LISTED..).filter(|more| !more.is_empty()) {
        text += &format!("  and {} more\n", more.len());
    }
    text
}

/// The settings of a file, as far as its headers state them.
fn settings(summary: &Summary) -> String {
    let names = |key| {
        let names = summary.get(key).and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        list(&names.collect::<Vec<_>>())
    };
    let typesize = summary.get("typesize").and_then(Value::as_u64);
    let typesize = typesize.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
    let (codecs, filters) = (names("codecs"), names("filters"));
    format!("{codecs}, filter {filters}, typesize {typesize}")
}

/// The choice and the trials, for scripts.
pub fn json(tuned: &Tuned) -> Value {
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
