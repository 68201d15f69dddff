//! `blpk info`: what a file contains, without decompressing it.

mod array;
mod auto;
mod dataset;
mod frame;
mod json;
mod records;
mod text;

use std::path::PathBuf;

use bloscpack::{
    blosc::Aim,
    survey::{Member, State, Survey},
};
use clap::Args;

use crate::args;
use crate::failure::Failure;
use crate::input::{Input, InputKind, STANDARD};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::shown;

/// Show what a file, dataset or frame contains
///
/// Reads only headers and does not check digests; blpk verify does. Nothing is decompressed, except by --auto, and the last
/// chunk if only that shows the number of packed records. For arrays in directories and frames, the codecs are those of
/// the first 10000 chunks. The exit status is 4 if the file is unterminated or unfinished, or if superchunks are missing.
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

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

impl Info {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match InputKind::of(&self.path)? {
            InputKind::Frame if self.auto.is_some() => Err(auto::refusal("frames")),
            InputKind::Directory if self.auto.is_some() => Err(auto::refusal("directories")),
            InputKind::Frame => frame::run(&self.path, self.json, session),
            InputKind::Directory => dataset::run(&self.path, self.json, session),
            InputKind::File => self.file(session),
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
        session.warnings(&input.name(), &survey.warnings);
        let records = records::count(&survey, &input, session);
        let tuned = match self.auto {
            Some(aim) => Some(auto::of_content(aim, &input, &survey, session)?),
            None => None,
        };
        let length = input.length();
        output::print(&match self.json {
            true => {
                let path = self.path.to_string_lossy();
                let report = json::report(&path, length, &survey, &records);
                tuned.map_or(report.clone(), |tuned| auto::added(&report, &tuned))
            }
            false => {
                let mut report = text::report(&shown(&self.path), length, &survey, &records);
                if let Some(tuned) = tuned {
                    auto::lines(&mut report, &tuned, Some(&survey));
                }
                report.into_text()
            }
        })?;
        let is_complete = survey.members.iter().all(is_complete);
        Ok(match is_complete {
            true => Status::Done,
            false => Status::CutShort,
        })
    }
}

fn is_complete(member: &Member) -> bool {
    matches!(member.state, State::Complete | State::Unindexed)
}

/// The state of a member, in the words of the contract.
fn state(member: &Member) -> &'static str {
    match member.state {
        // The data is complete without its offsets.
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
    match member.header.varlen {
        true => "records",
        false => "bloscpack",
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
