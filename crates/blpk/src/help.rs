//! The help pages: commands in groups, and global options on one page only.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The groups of the first page, by task. Each command is in one group.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Convert and query",
        &["convert", "import", "export", "refs", "sql"],
    ),
    ("Look", &["info", "ls", "cat"]),
    ("Compress", &["compress", "decompress"]),
    ("Store records", &["records"]),
    ("Change", &["append", "patch", "reindex", "dataset"]),
    ("Check and save", &["verify", "recover"]),
    ("This program", &["completions", "man", "help"]),
];
/// The options that `-h` shows for commands with more than five options. `--help` shows all.
const USUAL: [(&str, [&str; 5]); 10] = [
    ("blpk", ["force", "nthreads", "verbose", "quiet", "limit"]),
    ("convert", ["to", "rows", "slice", "columns", "codec"]),
    ("import", ["types", "layout", "codec", "from", "table"]),
    ("export", ["to", "rows", "slice", "columns", "nan-as-null"]),
    (
        "compress",
        ["typesize", "codec", "level", "auto", "metadata"],
    ),
    (
        "decompress",
        [
            "output",
            "stdout",
            "multiple",
            "metadata-out",
            "allow-unterminated",
        ],
    ),
    ("cat", ["range", "rows", "slice", "column", "follow"]),
    ("append", ["axis", "from", "metadata", "codec", "level"]),
    ("add-column", ["from", "types", "at", "codec", "level"]),
    ("pack", ["small", "quick", "null", "lengths", "metadata"]),
];
/// The end of the pages of the commands.
const GLOBAL: &str = "Options of every command (-f, -n, -v, -q, ...): blpk --help";

/// The definition of the command line, with its help pages arranged.
pub fn arranged(command: Command) -> Command {
    let global: Vec<Arg> = command
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(true))
        .collect();
    let (groups, header) = (groups(&command), *command.get_styles().get_header());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    shortened(command)
        .mut_subcommands(|page| with_notes(page, "blpk").args(&global))
        .before_help(groups)
        .help_template(template)
}

/// Hides all but the usual options from the short page of a command.
fn shortened(command: Command) -> Command {
    let usual = USUAL.iter().find(|(name, _)| *name == command.get_name());
    match usual {
        Some((_, usual)) => command.mut_args(|arg| {
            let is_usual = arg.get_long().is_none_or(|long| usual.contains(&long));
            arg.hide_short_help(!is_usual)
        }),
        None => command,
    }
}

/// Adds the notes on further options to the pages of a command of this parent, and of its subcommands.
fn with_notes(command: Command, parent: &str) -> Command {
    let name = format!("{parent} {}", command.get_name());
    let is_short = USUAL.iter().any(|(name, _)| *name == command.get_name());
    let more = is_short.then(|| format!("More options: {name} --help\n"));
    let after = |help: Option<&StyledStr>, more: &str| match help {
        Some(help) => format!("{}\n\n{more}{GLOBAL}", help.ansi()),
        None => format!("{more}{GLOBAL}"),
    };
    let (short, long) = (command.get_after_help(), command.get_after_long_help());
    let (short, long) = (
        after(short, &more.unwrap_or_default()),
        after(long.or(short), ""),
    );
    shortened(command)
        .mut_subcommands(|below| with_notes(below, &name))
        .after_help(short)
        .after_long_help(long)
}

/// The commands in their groups, each with its short description.
fn groups(command: &Command) -> String {
    let style = command.get_styles();
    let (header, literal) = (style.get_header(), style.get_literal());
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let page = command.find_subcommand(name);
            let about = page.and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| "Print the help of a command".to_owned());
            let alias = page.and_then(|page| page.get_visible_aliases().next());
            let alias = alias.map_or(String::new(), |alias| format!(" [{alias}]"));
            let _ = writeln!(text, "  {literal}{name:11}{literal:#}  {about}{alias}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{GROUPS, arranged};
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let definition = Cli::command();
        let mut commands: Vec<&str> = definition
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        commands.push("help");
        grouped.sort_unstable();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn short_pages_show_five_options() {
        let mut pages = vec![arranged(Cli::command())];
        while let Some(page) = pages.pop() {
            let shown = page.get_arguments().filter(|arg| {
                let is_own =
                    arg.get_long().is_some() && arg.get_id() != "help" && !arg.is_hide_set();
                is_own && !arg.is_hide_short_help_set() && arg.get_id() != "version"
            });
            let names: Vec<_> = shown.filter_map(clap::Arg::get_long).collect();
            assert!(names.len() <= 5, "{}: {names:?}", page.get_name());
            pages.extend(page.get_subcommands().cloned());
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        arranged(Cli::command()).debug_assert();
    }
}
