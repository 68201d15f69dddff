//! The command line: all subcommands and the global options.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use anstream::ColorChoice;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::args::{CODECS, Global};
use crate::command::{Command, EXAMPLES};
use crate::status;

/// Compress, decompress and inspect files of the Bloscpack family
#[derive(Debug, Parser)]
#[command(
    name = "blpk",
    version,
    long_version = LONG_VERSION.as_str(),
    after_help = status::HELP,
    after_long_help = format!("{EXAMPLES}\n\n{}", status::HELP),
    subcommand_required = true,
    arg_required_else_help = true,
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

/// Adds the right subcommand to the error for `blpk FILE` and `blpk -d FILE`, as gzip has it.
pub fn advise(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && Path::new(word).is_file()
    {
        let command = match word.ends_with(".blp") {
            true => "decompress",
            false => "compress",
        };
        let tip = format!("'{word}' is a file; use 'blpk {command}' for it").into();
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Looks for `--color` before the arguments are parsed. A wrong value is reported later, by the parser.
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

/// The output of `--version`.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = CODECS.iter().map(|codec| codec.name()).collect();
    format!(
        "{}\ncompressors: {}",
        env!("CARGO_PKG_VERSION"),
        names.join(" ")
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
