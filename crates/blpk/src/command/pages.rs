//! `blpk man` and `blpk completions`, generated from the same definitions as `--help`.

use std::fmt::Write as _;
use std::io;

use clap::{Args, Command};
use clap_complete::Shell;

use super::EXAMPLES;
use crate::failure::{About as _, Failure};
use crate::output;
use crate::status::{HELP, Status};

/// Print the manual page of blpk or of a command
///
/// For example: blpk man > ~/.local/share/man/man1/blpk.1, blpk man records pack > blpk-records-pack.1
#[derive(Args, Debug)]
pub struct Man {
    /// Command, such as compress or records pack
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl Man {
    pub fn run(&self, definition: Command) -> Result<Status, Failure> {
        let page = if self.command.is_empty() {
            page(definition)
        } else {
            self.page_of_subcommand(definition)?
        };
        output::print(&page.about("manual page")?)?;
        Ok(Status::Done)
    }
}

impl Man {
    /// The page of a subcommand, with the global options and the exit statuses.
    fn page_of_subcommand(&self, mut definition: Command) -> Result<io::Result<String>, Failure> {
        definition.build();
        let mut command = &definition;
        for name in &self.command {
            let found = command.find_subcommand(name);
            command = found.ok_or_else(|| {
                Failure::usage(format!(
                    "there is no subcommand '{}'",
                    self.command.join(" ")
                ))
                .hint("blpk help lists them")
            })?;
        }
        let name = format!("blpk-{}", self.command.join("-"));
        let page = clap_mangen::Man::new(command.clone().display_name(name));
        let mut text = String::new();
        let done = append(&mut text, |to| page.render(to));
        Ok(done.map(|()| text + &exit_status()))
    }
}

/// The whole page: the global options, then each subcommand with its own options.
fn page(definition: Command) -> io::Result<String> {
    // Examples and exit statuses get their own sections.
    let command = definition.after_help("").after_long_help("");
    let mut page = String::new();
    let main = clap_mangen::Man::new(command.clone());
    append(&mut page, |to| {
        main.render_title(to)?;
        main.render_name_section(to)?;
        main.render_synopsis_section(to)?;
        main.render_description_section(to)?;
        main.render_options_section(to)
    })?;
    page.push_str(".SH SUBCOMMANDS\n");
    for subcommand in command.get_subcommands() {
        describe(&mut page, "blpk", subcommand)?;
    }
    page.push_str(&examples());
    page.push_str(&exit_status());
    Ok(page)
}

/// Adds a section for a subcommand, and one for each of its own subcommands.
fn describe(page: &mut String, parent: &str, subcommand: &Command) -> io::Result<()> {
    let aliases: Vec<&str> = subcommand.get_visible_aliases().collect();
    let name = subcommand.get_name();
    let heading = [&[name], aliases.as_slice()].concat().join(", ");
    let heading = format!("{parent} {heading}").to_uppercase();
    let _ = writeln!(page, ".SH \"{heading}\"");
    let full_name = format!("{parent} {name}");
    let rendered = subcommand
        .clone()
        .bin_name(&full_name)
        .disable_help_flag(true);
    let part = clap_mangen::Man::new(rendered);
    let mut text = String::new();
    append(&mut text, |to| {
        part.render_synopsis_section(to)?;
        part.render_description_section(to)?;
        part.render_options_section(to)
    })?;
    // Turn the sections into subsections.
    page.push_str(&text.replace(".SH ", ".SS "));
    for inner in subcommand.get_subcommands() {
        describe(page, &full_name, inner)?;
    }
    Ok(())
}

fn append(
    page: &mut String,
    render: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    render(&mut bytes)?;
    page.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn examples() -> String {
    let mut section = ".SH EXAMPLES\n".to_owned();
    for line in EXAMPLES.lines().skip(1) {
        if let Some((example, meaning)) = line.trim().split_once("  ") {
            let example = example.replace('-', "\\-");
            let _ = writeln!(section, ".TP\n\\fB{example}\\fR\n{}", meaning.trim());
        }
    }
    section
}

fn exit_status() -> String {
    let mut section = ".SH \"EXIT STATUS\"\n".to_owned();
    for line in HELP.lines().skip(1) {
        if let Some((number, meaning)) = line.trim().split_once("  ") {
            let _ = writeln!(section, ".TP\n\\fB{number}\\fR\n{meaning}");
        }
    }
    section
}

/// Print the completion script of a shell
///
/// For example: blpk completions bash > ~/.local/share/bash-completion/completions/blpk
#[derive(Args, Debug)]
pub struct Completions {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, mut definition: Command) -> Result<Status, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut definition, "blpk", &mut script);
        output::print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
