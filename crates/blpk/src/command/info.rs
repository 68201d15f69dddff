//! `blpk info`: what a file contains, without decompressing it.

mod auto;
mod cut;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anstyle::Style;
use bloscpack::blosc::{Aim, Tuned};
use bloscpack_open::{Inner, Line, Summary};
use clap::Args;
use serde_json::json;

use cut::Intact;

use crate::args;
use crate::container::Opened;
use crate::failure::{About as _, Failure, Subject as _};
use crate::input::STANDARD;
use crate::json_text;
use crate::output::{self, Printer};
use crate::session::Session;
use crate::spool::Spool;
use crate::status::Status;
use crate::strip::Strip;
use crate::terminal;
use crate::text::{exact, or_unknown, plain, shown};
use auto::Source;

/// Show what is in a file, dataset or frame
///
/// Reads only headers and does not check digests; blpk verify does. Nothing is decompressed, except by --auto, and the last
/// chunk if only that shows the number of packed records. For arrays in directories and frames, the codecs are those of
/// the first 10000 chunks. Of a file that is cut or damaged, the header is shown, and how many bytes of the content are
/// intact, which takes reading all of it. The exit status is 4 if the file is unterminated or unfinished, or if superchunks are missing.
#[derive(Args, Debug)]
pub struct Info {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Show which settings compress --auto would choose for the content of any file, and why: for speed, balance or size
    /// [default AIM: balance]
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::aim())]
    auto: Option<Aim>,

    /// Draw the chunks of a Bloscpack file: how far each shrank
    #[arg(long, conflicts_with = "json")]
    plot: bool,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

impl Info {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if let Some(aim) = self.auto
            && let Some((tuned, len)) = auto::of_plain(aim, &self.path, session)?
        {
            return self.plain(&tuned, len);
        }
        let mut opened = Opened::open(&self.path, session)?;
        let content = match self.auto {
            Some(aim) => Some((aim, auto::source(&opened)?)),
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
                auto::of_content(aim, source, &summary, session).about(&opened.origin)?
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
                summary.append("auto", auto::json(tuned));
            }
            json_text::print(&summary.with_members(&members.spool))?;
        } else {
            self.print(&summary, &members, tuned.as_ref(), strip.as_ref())?;
        }
        Ok(status)
    }

    /// Prints what is intact of a file that is cut or damaged.
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

    /// Prints the report for people: one block of lines for each member, and one for the whole if there are several.
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
            printer.text(auto::text(tuned, Some(all)))?;
        }
        if let Some(strip) = strip {
            let (marks, key) = strip.drawn(terminal::width().saturating_sub(LABEL + 4));
            printer.text(line("plot", marks))?;
            printer.text(format_args!("  {:LABEL$}  {key}\n", ""))?;
        }
        printer.finish()
    }

    /// Prints the choice for a file that is not a Bloscpack file.
    fn plain(&self, tuned: &Tuned, len: Option<u64>) -> Result<Status, Failure> {
        if self.json {
            json_text::print(&json!({
                "path": exact(&self.path),
                "kind": "plain",
                "file_bytes": len,
                "auto": auto::json(tuned),
            }))?;
        } else {
            let heading = format!("{BOLD}{}{BOLD:#}\n", shown(&self.path));
            let kind = line("kind", "plain");
            output::print(&format!("{heading}{kind}{}", auto::text(tuned, None)))?;
        }
        Ok(Status::Done)
    }
}

/// The bytes of a Bloscpack file whose chunks can be drawn.
fn chunks_of(opened: &Opened) -> Result<Source, Failure> {
    match opened.container.inner() {
        Inner::Bloscpack(Some(source)) => Ok(source.clone()),
        _ => Err(
            Failure::usage("--plot only draws the chunks of Bloscpack files")
                .hint("pipes have to be saved to a file first"),
        ),
    }
}

pub const BOLD: Style = Style::new().bold();
/// Width of the longest label.
const LABEL: usize = 19;

/// A label with its value.
pub fn line(label: &str, value: impl Display) -> String {
    // With a colon, as Bloscpack for Python prints it.
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
            // Indented below its first line.
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
