//! The command line: all subcommands and the global options.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process;
use std::sync::LazyLock;

use anstream::ColorChoice;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::args::{CODECS, Global};
use crate::command::{Command, EXAMPLES};
use crate::status::{self, Status};
use crate::{help, input, message, output};

/// Compress, convert, read and check files of the Bloscpack family
#[derive(Debug, Parser)]
#[command(
    name = "blpk",
    version,
    long_version = LONG_VERSION.as_str(),
    after_help = status::HELP,
    after_long_help = format!("{EXAMPLES}\n\n{}", status::HELP),
    subcommand_required = true,
    arg_required_else_help = true,
    infer_long_args = true,
    max_term_width = 100
)]
pub struct Cli {
    /// The options of every subcommand.
    #[command(flatten)]
    pub global: Global,

    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Parses arguments. The first one is the name of the program.
pub fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&help::arranged(Cli::command()).try_get_matches_from(args)?)
}

/// Subcommands that change files. They are never suggested for a mistyped word.
const CHANGING: [&str; 10] = [
    "a",
    "append",
    "patch",
    "reindex",
    "dataset",
    "trim",
    "resize",
    "set",
    "delete-column",
    "repair",
];

/// Names of other programs for these subcommands.
const OTHER_NAMES: [(&str, &str); 13] = [
    ("check", "verify"),
    ("extract", "decompress"),
    ("list", "ls"),
    ("pack", "compress"),
    ("print", "cat"),
    ("show", "info"),
    ("stat", "info"),
    ("test", "verify"),
    ("uncompress", "decompress"),
    ("unpack", "decompress"),
    ("unzip", "decompress"),
    ("view", "info"),
    ("zip", "compress"),
];

/// Long options of gzip, zstd and tar that are subcommands here.
const OTHER_OPTIONS: [(&str, &str); 8] = [
    ("--list", "info"),
    ("--test", "verify"),
    ("--extract", "decompress"),
    ("--decompress", "decompress"),
    ("--uncompress", "decompress"),
    ("--compress", "compress"),
    ("--keep", "compress"),
    ("--stdout", "compress FILE -"),
];

/// Prints an error of the parser in the format of all other errors, or the requested help, and exits.
pub fn exit(error: clap::Error) -> ! {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let status = output::print(&error.render().ansi().to_string()).map_or_else(
                |failure| {
                    failure.report();
                    failure.status()
                },
                |()| Status::Done,
            );
            process::exit(status.code().into())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => {}
    }
    let error = advise_output(advise_option(advise(error)));
    message::print(&format!("blpk: {}", error.render().ansi()));
    process::exit(Status::Usage.code().into())
}

/// Adds the right subcommand to the error for `blpk FILE`, and for the names that other programs use. Suggests at most one
/// subcommand, and never one that changes files.
fn advise(mut error: clap::Error) -> clap::Error {
    let found = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::String(one)) => vec![one],
        Some(ContextValue::Strings(several)) => several,
        _ => Vec::new(),
    };
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if Path::new(word).is_file() {
        let command = if word.ends_with(".blp") {
            "decompress"
        } else {
            "compress"
        };
        let tip = format!("'{word}' is a file; use 'blpk {command}' for it").into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        return error;
    }
    let known = OTHER_NAMES.iter().find(|(other, _)| other == word);
    let similar = || {
        found
            .into_iter()
            .rfind(|one| one.len() > 1 && !CHANGING.contains(&one.as_str()))
    };
    let suggested = known.map(|(_, name)| (*name).to_owned()).or_else(similar);
    if let Some(name) = suggested {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(name));
    }
    error
}

/// Names the subcommand that replaces leading options of other programs, as in `gzip -dc FILE`.
fn advise_option(mut error: clap::Error) -> clap::Error {
    if error.get(ContextKind::InvalidArg).is_none() {
        return error;
    }
    let first = env::args().nth(1).unwrap_or_default();
    let known = OTHER_OPTIONS.iter().find(|(other, _)| *other == first);
    let known = known.map(|(_, use_)| (*use_).to_owned());
    if let Some(instead) = known.or_else(|| instead_of(&first)) {
        let tip = format!("use 'blpk {instead}' for it").into();
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Explains OUT if it is missing.
fn advise_output(mut error: clap::Error) -> clap::Error {
    let is_output = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|argument| argument == "<OUT>"),
        _ => false,
    };
    if error.kind() == ErrorKind::MissingRequiredArgument && is_output {
        let tip = "OUT is the file to write, such as a.csv, or - for standard output";
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// The arguments that correspond to these short options of gzip, zstd and tar.
fn instead_of(options: &str) -> Option<String> {
    let letters = options.strip_prefix('-')?;
    if letters.is_empty()
        || !letters
            .chars()
            .all(|char| "cdkfvqltxz123456789".contains(char))
    {
        return None;
    }
    let has = |wanted: &str| letters.chars().rfind(|char| wanted.contains(*char));
    let command = match has("dxlt") {
        Some('d' | 'x') => "decompress",
        Some('l') => "info",
        Some(_) => "verify",
        None => "compress",
    };
    let level = has("123456789").filter(|_| command == "compress");
    let level = level.map_or_else(String::new, |level| format!(" -l {level}"));
    let to = match has("c") {
        Some(_) if command.ends_with("compress") => " FILE -",
        _ => "",
    };
    Some(format!("{command}{level}{to}"))
}

/// The subcommand for a bare `blpk` or `blpk -d` inside a pipe that has data: `tar -I blpk` calls it so.
pub fn implied(args: &[OsString]) -> Option<&'static str> {
    let command = match args {
        [_] => "compress",
        [_, only] if only == "-d" => "decompress",
        _ => return None,
    };
    let is_piped = !io::stdin().is_terminal() && !io::stdout().is_terminal();
    (is_piped && input::has_data()).then_some(command)
}

/// Looks for `--color` before the arguments are parsed. The parser reports a wrong value later.
pub fn color_choice(args: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut args = args.skip(1).take_while(|arg| arg != "--");
    while let Some(arg) = args.next() {
        let arg = arg.to_string_lossy();
        let value = match arg.split_once('=') {
            Some(("--color", value)) => value.to_owned(),
            None if arg == "--color" => args
                .next()
                .map(|value| value.to_string_lossy().into_owned())
                .unwrap_or_default(),
            _ => continue,
        };
        choice = match value.as_str() {
            "always" => ColorChoice::Always,
            "never" => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
    }
    choice
}

/// The features of this build besides compressors.
const FEATURES: [(&str, bool); 2] = [
    ("arrow", cfg!(feature = "arrow")),
    ("remote", cfg!(feature = "remote")),
];

/// The output of `--version`.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = CODECS.iter().map(|codec| codec.name()).collect();
    format!(
        "{}\ncompressors: {}\nfeatures: {}",
        env!("CARGO_PKG_VERSION"),
        names.join(" "),
        FEATURES
            .map(|(name, is_there)| {
                if is_there {
                    name.to_owned()
                } else {
                    format!("(no {name})")
                }
            })
            .join(" "),
    )
});

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use anstream::ColorChoice;
    use clap::CommandFactory;

    use super::{Cli, color_choice};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn color_is_found_wherever_it_is() {
        let choice = |args: &[&str]| color_choice(args.iter().map(OsString::from));
        assert_eq!(
            choice(&["blpk", "c", "--color", "never", "x"]),
            ColorChoice::Never
        );
        assert_eq!(
            choice(&["blpk", "--color=always", "c"]),
            ColorChoice::Always
        );
        assert_eq!(
            choice(&["blpk", "c", "--", "--color=always"]),
            ColorChoice::Auto
        );
        assert_eq!(choice(&["blpk", "c", "--color"]), ColorChoice::Auto);
    }
}
