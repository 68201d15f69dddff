//! The help pages: commands in groups, and global options on one page only.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The groups of the first page, with every command.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Files and pipes",
        &[
            "compress",
            "decompress",
            "cat",
            "append",
            "patch",
            "reindex",
        ],
    ),
    ("Look and check", &["info", "ls", "verify", "recover"]),
    ("Objects of any length", &["records"]),
    (
        "Arrays and tables",
        &["import", "export", "convert", "dataset", "sql"],
    ),
    ("This program", &["completions", "man", "help"]),
];
/// The end of the pages of the commands.
const GLOBAL: &str = "Options of every command (-f, -n, -v, -q, ...): blpk --help";

/// The definition of the command line with its help pages as they are shown.
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
    command
        .mut_subcommands(|page| with_note(page).args(&global))
        .before_help(groups)
        .help_template(template)
}

/// Adds the note on global options to the pages of a command and of those below it.
fn with_note(command: Command) -> Command {
    let after = |help: Option<&StyledStr>| match help {
        Some(help) => format!("{}\n\n{GLOBAL}", help.ansi()),
        None => GLOBAL.to_owned(),
    };
    let (short, long) = (command.get_after_help(), command.get_after_long_help());
    let (short, long) = (after(short), long.is_some().then(|| after(long)));
    let command = command.mut_subcommands(with_note).after_help(short);
    match long {
        Some(long) => command.after_long_help(long),
        None => command,
    }
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
    fn the_definition_is_consistent() {
        arranged(Cli::command()).debug_assert();
    }
}
