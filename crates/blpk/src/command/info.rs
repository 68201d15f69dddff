//! `blpk info`: what a file is, told without decompressing it.

mod array;
mod auto;
mod dataset;
mod frame;
mod json;
pub mod json_text;
mod people;
mod records;

use std::path::PathBuf;

use bloscpack::{Member, State, Survey, blosc::Aim};
use clap::Args;

use crate::args;
use crate::input::{Input, STANDARD};
use crate::message::{Failure, shown};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::what::What;

/// Tell what a file, a dataset or a Blosc2 frame is and holds
///
/// Reads the headers and compares no checksum: `verify` does. Nothing is decompressed but what --auto
/// looks at and, where only that tells how many packed records there are, the last chunk. Of arrays in directories and of
/// frames, the headers of the first 10000 chunks tell the codecs. The exit status is 4 if the file is
/// unterminated or unfinished, or superchunks are missing.
#[derive(Args, Debug)]
pub struct Info {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Tell which settings --auto of compress would choose for the content, and why: for speed, balance
    /// or size [default AIM: balance]; of any file
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::aim())]
    auto: Option<Aim>,

    /// File, dataset or frame to look at, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

/// A JSON text, laid out for people.
pub fn pretty(text: &str) -> String {
    json_text::pretty(text, 0)
}

impl Info {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match What::of(&self.path)? {
            What::Frame if self.auto.is_some() => Err(auto::refusal("frames")),
            What::Directory if self.auto.is_some() => Err(auto::refusal("directories")),
            What::Frame => frame::run(&self.path, self.json, session),
            What::Directory => dataset::run(&self.path, self.json, session),
            What::File => self.file(session),
        }
    }

    fn file(&self, session: &Session) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        if let Some(aim) = self.auto
            && auto::is_plain(&input)?
        {
            let tuned = auto::of_plain(aim, &input)?;
            output::print(&auto::plain(&self.path, &input, &tuned, self.json))?;
            return Ok(Status::Done);
        }
        let progress = Progress::new(session, input.length());
        let survey = input.survey(&progress, &session.limits);
        progress.finish();
        let survey = survey.map_err(|error| Failure::library(input.name(), &error))?;
        for warning in &survey.warnings {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        let records = records::count(&survey, &input, session);
        let tuned = match self.auto {
            Some(aim) => Some(auto::of_content(aim, &input, &survey, session)?),
            None => None,
        };
        let text = if self.json {
            json::describe(
                &self.path.to_string_lossy(),
                input.length(),
                &survey,
                &records,
            )
        } else {
            people::describe(&shown(&self.path), input.length(), &survey, &records)
        };
        output::print(&match (tuned, self.json) {
            (Some(tuned), true) => auto::added(&text, &tuned),
            (Some(tuned), false) => text + &auto::people(&tuned, Some(&survey)),
            (None, _) => text,
        })?;
        let whole = survey.members.iter().all(is_complete);
        Ok(if whole {
            Status::Done
        } else {
            Status::CutShort
        })
    }
}

fn is_complete(member: &Member) -> bool {
    matches!(member.state, State::Complete | State::Unindexed)
}

/// The state of a member, in the words of the contract.
fn state(member: &Member) -> &'static str {
    match member.state {
        // An offset table that was never filled takes nothing away from the data.
        State::Unindexed => State::Complete.name(),
        state => state.name(),
    }
}

/// The state of the whole file: that of the first member which is not complete.
fn whole_state(survey: &Survey) -> &'static str {
    let broken = survey.members.iter().find(|member| !is_complete(member));
    broken.map_or("complete", state)
}

fn kind(member: &Member) -> &'static str {
    if member.header.varlen {
        "records"
    } else {
        "bloscpack"
    }
}

/// Whether the offsets of a member are known.
fn is_indexed(member: &Member) -> bool {
    member.header.offsets && member.state == State::Complete
}

/// The names of the compressors of some members, each once.
fn codecs<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<&'static str> {
    let all = members.into_iter().flat_map(|member| &member.compressors);
    distinct(all.map(|compressor| compressor.name()))
}

/// The names of the filters of some members, each once.
fn filters<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<&'static str> {
    let all = members.into_iter().flat_map(|member| &member.filters);
    distinct(all.map(|filter| filter.name()))
}

fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A sum over all members.
fn sum(survey: &Survey, of: impl Fn(&Member) -> u64) -> u64 {
    survey.members.iter().map(of).sum()
}
