//! Reads statements from a terminal.

use crate::args::Args;
use crate::failure::Failure;
use crate::query;
use datafusion::prelude::SessionContext;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};
use std::path::PathBuf;
use std::sync::Arc;

/// Words for completion, besides the names of tables and columns.
const WORDS: [&str; 28] = [
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "count(*)",
    "create external table",
    "desc",
    "distinct",
    "explain analyze",
    "from",
    "group by",
    "having",
    "in",
    "is null",
    "join",
    "like",
    "limit",
    "location",
    "not",
    "on",
    "or",
    "order by",
    "select",
    "show tables",
    "stored as bcolz",
    "where",
];

/// Reads statements, each of which ends with a semicolon, until the end of input.
pub async fn run(context: &SessionContext, args: &Arc<Args>) -> Result<(), Failure> {
    let failed = |error: ReadlineError| Failure::failed(error.to_string());
    let mut editor: Editor<Words, FileHistory> = Editor::new().map_err(failed)?;
    let history = history_file();
    if let Some(path) = &history {
        // The first session has no history yet.
        let _ = editor.load_history(path);
    }
    println!("Statements end with ; and Ctrl-D ends. SHOW TABLES lists the tables.");
    let mut text = String::new();
    loop {
        editor.set_helper(Some(Words(words(context).await)));
        let line = match editor.readline(if text.is_empty() { "sql> " } else { "...> " }) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                text.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error)),
        };
        text.push_str(&line);
        text.push('\n');
        if matches!(text.trim(), "" | "quit" | "exit" | "\\q") {
            if text.trim().is_empty() {
                text.clear();
                continue;
            }
            break;
        }
        if line.trim_end().ends_with(';') {
            let statement = std::mem::take(&mut text);
            let _ = editor.add_history_entry(statement.trim());
            if let Err(failure) = query::run(context, &statement, args).await {
                failure.print();
            }
        }
    }
    if let Some(path) = &history {
        // The prompt works without a history as well.
        let _ = editor.save_history(path);
    }
    Ok(())
}

fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let folder = state.or_else(home)?.join("blpk");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("sql_history"))
}

/// All words that can be completed.
async fn words(context: &SessionContext) -> Vec<String> {
    let mut words: Vec<String> = WORDS.iter().map(ToString::to_string).collect();
    for name in table_names(context) {
        if let Ok(table) = context.table_provider(name.as_str()).await {
            let schema = table.schema();
            words.extend(schema.fields().iter().map(|field| field.name().clone()));
        }
        words.push(name);
    }
    words.sort();
    words.dedup();
    words
}

/// Completes words.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Words(Vec<String>);

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let is_between =
            |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '=' | '<' | '>');
        let start = before.rfind(is_between).map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or_default().to_lowercase();
        let fitting = self
            .0
            .iter()
            .filter(|known| known.to_lowercase().starts_with(&word));
        let pairs = fitting.map(|known| Pair {
            display: known.clone(),
            replacement: known.clone(),
        });
        Ok((start, pairs.collect()))
    }
}

/// The names of the tables that were given a name.
fn table_names(context: &SessionContext) -> Vec<String> {
    let catalog = context.catalog("datafusion");
    let schema = catalog.and_then(|catalog| catalog.schema("public"));
    schema
        .map(|schema| schema.table_names())
        .unwrap_or_default()
}
