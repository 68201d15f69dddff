//! `blpk info`: describes a file from its headers, without decompressing it.

use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};

use anstyle::Style;
use bloscpack::{
    Encoder,
    blosc::{Aim, ChunkSettings, Trial, Tuned},
    indexed::IndexedReader,
    storage::SharedSource,
    wire::Header,
};
use bloscpack_open::{
    Kind, Line, Summary,
    internal::{list, size::pretty},
    probe_source,
};
use clap::Args;
use serde_json::{Value, json};

use crate::args;
use crate::container::Opened;
use crate::failure::{About as _, Failure, Subject as _};
use crate::input::{Input, STANDARD, is_directory};
use crate::json_text;
use crate::message;
use crate::output::{self, Printer};
use crate::session::Session;
use crate::spool::Spool;
use crate::status::Status;
use crate::strip::Strip;
use crate::text::{exact, or_unknown, plain, shown};

/// Show the kind, size and settings of a file, dataset or frame
///
/// info reads only headers, and does not check the data; blpk verify does. Without --auto it decompresses at most the last
/// chunk, if only that shows the number of records. For datasets and frames, it lists the codecs of the first 10000 chunks.
///
/// If a file is cut or damaged, info reads all of it, and shows the header and the number of intact bytes of content. The
/// exit status is 4 if the file is unterminated or unfinished, or if superchunks (files in the data folder of a dataset)
/// are missing.
#[derive(Args, Debug)]
pub struct Info {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Show the settings that compress --auto would choose for the content of any file, and why: for speed, balance or size
    /// [default AIM: balance]
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::aim())]
    auto: Option<Aim>,

    /// Draw how far each chunk of a Bloscpack file shrank
    #[arg(long, conflicts_with = "json")]
    plot: bool,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

impl Info {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if let Some(aim) = self.auto
            && let Some((tuned, len)) = chosen_for_plain(aim, &self.path, session)?
        {
            return self.plain(&tuned, len);
        }
        let mut opened = Opened::open(&self.path, session)?;
        let content = match self.auto {
            Some(aim) => Some((aim, content_of(&opened)?)),
            None => None,
        };
        let strip = if self.plot {
            Some(Strip::of(&chunks_of(&opened)?, session))
        } else {
            None
        };
        let mut members = Members::new(&self.path, self.json);
        let summary = opened
            .container
            .summary_with(&mut |member| members.add(&member));
        opened.finish(session);
        let mut summary = match summary {
            Ok(summary) => summary,
            Err(error) => {
                let failure = opened.origin.explain(error.into());
                self.print_intact(&mut opened, &failure)?;
                return Err(failure);
            }
        };
        let tuned = match content {
            Some((aim, source)) => {
                chosen_for_content(aim, source, &summary, session).about(&opened.origin)?
            }
            None => None,
        };
        let status = if summary.is_complete() {
            Status::Done
        } else {
            Status::CutShort
        };
        if self.json {
            summary.prepend("path", exact(&self.path));
            if let Some(tuned) = &tuned {
                summary.append("auto", choice_json(tuned));
            }
            json_text::print(&summary.with_members(&members.spool))?;
        } else {
            self.print(&summary, &members, tuned.as_ref(), strip.as_ref())?;
        }
        Ok(status)
    }

    /// Prints the header and the number of intact bytes of a cut or damaged file.
    fn print_intact(&self, opened: &mut Opened, failure: &Failure) -> Result<(), Failure> {
        let Some(intact) = Intact::of(opened) else {
            return Ok(());
        };
        if !self.json {
            let heading = format!("{BOLD}{}{BOLD:#}\n", shown(&self.path));
            return output::print(&(heading + &intact.text()));
        }
        let mut object = intact.json();
        object["path"] = json!(exact(&self.path));
        object["error"] = json!(failure.title());
        object["code"] = json!(failure.code());
        json_text::print(&object)
    }

    /// Prints the report as text. If there are several members, a block of lines for each precedes the block for the whole.
    fn print(
        &self,
        all: &Summary,
        members: &Members,
        tuned: Option<&Tuned>,
        strip: Option<&Strip>,
    ) -> Result<(), Failure> {
        let mut printer = Printer::new();
        let mut note = "";
        if members.count > 1 {
            members.spool.print(&mut printer)?;
            note = ", all members";
        }
        printer.text(lines(&members.path, note, all))?;
        if let Some(tuned) = tuned {
            printer.text(choice_text(tuned, Some(all)))?;
        }
        if let Some(strip) = strip {
            let (marks, key) = strip.drawn(message::width().saturating_sub(LABEL + 4));
            printer.text(line("plot", marks))?;
            printer.text(format_args!("  {:LABEL$}  {key}\n", ""))?;
        }
        printer.finish()
    }

    /// Prints the chosen settings for a file that is not a Bloscpack file.
    fn plain(&self, tuned: &Tuned, len: Option<u64>) -> Result<Status, Failure> {
        if self.json {
            json_text::print(&json!({
                "path": exact(&self.path),
                "kind": "plain",
                "file_bytes": len,
                "auto": choice_json(tuned),
            }))?;
        } else {
            let heading = format!("{BOLD}{}{BOLD:#}\n", shown(&self.path));
            let kind = line("kind", "plain");
            output::print(&format!("{heading}{kind}{}", choice_text(tuned, None)))?;
        }
        Ok(Status::Done)
    }
}

/// The bytes of a Bloscpack file whose chunks can be drawn.
fn chunks_of(opened: &Opened) -> Result<SharedSource, Failure> {
    match opened.container.source().filter(|_| opened.is_bloscpack()) {
        Some(source) => Ok(source.clone()),
        None => Err(
            Failure::usage("--plot only draws the chunks of Bloscpack files")
                .hint("save a pipe to a file first"),
        ),
    }
}

pub const BOLD: Style = Style::new().bold();
/// Width of the longest label.
const LABEL: usize = 19;

/// A label with its value.
fn line(label: &str, value: impl Display) -> String {
    // Python's Bloscpack also prints a colon.
    format!("  {:LABEL$}  {value}\n", format!("{label}:"))
}

/// The reports on members.
struct Members {
    path: String,
    is_json: bool,
    count: u64,
    spool: Spool,
}

impl Members {
    fn new(path: &Path, is_json: bool) -> Self {
        Self {
            path: shown(path),
            is_json,
            count: 0,
            spool: Spool::new(),
        }
    }

    fn add(&mut self, member: &Summary) -> bloscpack::Result<()> {
        let number = self.count;
        self.count += 1;
        if self.is_json {
            return self.spool.json(member);
        }
        let at = or_unknown(member.get("at"));
        let note = format!(", member {number} at byte {at}");
        self.spool.text(lines(&self.path, &note, member))
    }
}

/// The lines of a summary.
fn lines(path: &str, note: &str, summary: &Summary) -> String {
    let mut text = format!("{BOLD}{path}{BOLD:#}{note}\n");
    for one in summary.lines() {
        text += &match one {
            Line::Fact(label, value) => line(label, plain(value)),
            // The other lines of JSON are indented below the first.
            Line::Json(label, text) => {
                let json = json_text::pretty(text, 0);
                line(label, json.replace('\n', &format!("\n  {:LABEL$}  ", "")))
            }
            Line::More(text) => format!("    {}\n", plain(text)),
            _ => String::new(),
        };
    }
    text
}

/// The number of trials listed.
const LISTED: usize = 12;

/// The failure to take a sample.
fn refusal(what: &str) -> Failure {
    Failure::usage(format!("--auto does not support {what}"))
        .hint("it takes samples of plain files and of Bloscpack files with content")
}

/// Chooses settings for the bytes of a file of no known kind. Returns them with the length of the file; `None` for files of a
/// known kind.
fn chosen_for_plain(
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

/// The source of a Bloscpack file with content.
fn content_of(opened: &Opened) -> Result<SharedSource, Failure> {
    match (opened.container.kind(), opened.container.source()) {
        (Kind::Bloscpack, Some(source)) => Ok(source.clone()),
        (Kind::Records, _) => Err(refusal("records")),
        (Kind::Frame, _) => Err(refusal("frames")),
        (kind, _) => Err(refusal(&format!("inputs of the kind {kind}"))),
    }
}

/// Chooses settings for the content of a Bloscpack file.
fn chosen_for_content(
    aim: Aim,
    source: SharedSource,
    summary: &Summary,
    session: &Session,
) -> bloscpack::Result<Option<Tuned>> {
    let reader = IndexedReader::with_options(source, session.options())?;
    let chunk_size = summary.get("chunk_size").and_then(Value::as_u64);
    let chunk_size = chunk_size.and_then(|bytes| u32::try_from(bytes).ok());
    let builder = Encoder::builder().auto(aim);
    // The chunk size of a file with one chunk is just the length of the content.
    let builder = match chunk_size.filter(|_| reader.chunks() > 1) {
        Some(bytes) => builder.chunk_size(bytes),
        None => builder,
    };
    builder.tune_at(&reader, 0..reader.content_len())
}

/// The choice and the trials as text.
fn choice_text(tuned: &Tuned, summary: Option<&Summary>) -> String {
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

/// The settings of a file that its headers state.
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

/// The choice and the trials as JSON.
fn choice_json(tuned: &Tuned) -> Value {
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

/// Enough bytes for every kind of header.
const MOST: u64 = 40;

/// The header of a cut or damaged file, and the number of sound bytes of its content.
struct Intact {
    header: Header,
    /// 0 if the chunks are not reached.
    bytes: u64,
}

impl Intact {
    /// Reads the header and the chunks. `None` unless the input is a Bloscpack file with a readable header.
    fn of(opened: &mut Opened) -> Option<Self> {
        let is_bloscpack = opened.is_bloscpack();
        let input = opened.input.as_ref().filter(|_| is_bloscpack)?;
        input.by_position()?;
        input.rewind().ok()?;
        // The file may end right after the header.
        let mut start = Vec::new();
        let mut reader = input.reader(&opened.progress).take(MOST);
        reader.read_to_end(&mut start).ok()?;
        let needed = Header::needed(&start).ok()?;
        let header = Header::decode(start.get(..needed)?).ok()?;
        let report = opened.container.verify_with(&mut |_| Ok(())).ok();
        Some(Self {
            header,
            bytes: report.map_or(0, |report| report.bytes),
        })
    }

    fn text(&self) -> String {
        let header = &self.header;
        let unknown = || "unknown".to_owned();
        let size = |bytes: Option<u32>| bytes.map_or_else(unknown, |bytes| pretty(bytes.into()));
        let chunks = header
            .nchunks
            .map_or_else(unknown, |chunks| chunks.to_string());
        [
            line("layout", header.version),
            line("format_version", header.version.number()),
            line("checksum", header.checksum),
            line("chunk_size", size(header.chunk_size)),
            line("nchunks", chunks),
            line("intact", pretty(self.bytes)),
        ]
        .concat()
    }

    fn json(&self) -> Value {
        let header = &self.header;
        json!({
            "layout": header.version.name(),
            "format_version": header.version.number(),
            "checksum": header.checksum.name(),
            "typesize": header.typesize,
            "chunk_size": header.chunk_size,
            "nchunks": header.nchunks,
            "intact_bytes": self.bytes,
        })
    }
}
