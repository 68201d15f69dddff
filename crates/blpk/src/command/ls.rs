//! `blpk ls`: lists the datasets below a directory.

use std::path::{Path, PathBuf};

use bloscpack_open::{Family, Outline, frames::Frame, internal::locate_store, probe};
use clap::Args;
use serde_json::{Value, json};

use crate::container::Opened;
use crate::dataset::walk::{self, Found};
use crate::failure::{About as _, Directory, Failure, Subject as _};
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, plain, shape, shown};
use bloscpack_open::internal::size::pretty;

/// List arrays, tables and files in a directory, archive, store or group
///
/// Prints one line for each array, table or file, sorted by path: its path, kind, layout, dtype or columns, shape, and the
/// size of its content. Columns are listed with their table.
///
/// Other commands accept these paths, also in a ZIP archive and at a URL. In a store (.b2z, .b2d, .b2e) or a Zarr group, the
/// paths are relative to it, such as a/x; a table that is the whole store is listed as `.`. A single file, array or table is
/// listed itself.
///
/// Files are recognized by their first bytes or by their ending; a note on standard error, or a field of the JSON object,
/// counts other files. Symbolic links are not followed, and names that begin with ._ are skipped. Errors of single files are
/// reported on standard error, and the exit status is the highest of all.
#[derive(Args, Debug)]
pub struct Ls {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Directory, archive, store or group to list
    #[arg(value_name = "DIR", default_value = ".")]
    path: PathBuf,
}

impl Ls {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let family = probe(&self.path).ok().and_then(|probed| probed.family);
        let is_folder = match family {
            Some(Family::Directory) => locate_store(&self.path).is_none(),
            // A file in an ordinary folder may have the same name as the metadata file of a sparse frame.
            Some(Family::Frame) => self.path.is_dir() && Frame::open(&self.path).is_err(),
            _ => false,
        };
        if is_folder {
            let below = walk::below(&self.path)?;
            let found = below.found.into_iter();
            let found = found.map(|one| (one.path().to_owned(), outline(one, session)));
            return self.print(found, below.others, session);
        }
        let opened = Opened::open(&self.path, session)?;
        let container = &opened.container;
        let all = container.outline().about(&opened.origin);
        let is_folder = all.as_ref().ok().and_then(|all| all.layout) == Some("folder");
        let others = all.as_ref().map_or(0, |all| all.others);
        let mut members = Vec::new();
        let listed = container.members(&mut |path, outline| {
            let path = if is_folder {
                walk::join(&self.path, Path::new(path))
            } else {
                PathBuf::from(path)
            };
            let outline = outline.about(&Directory(&path));
            members.push((path, outline));
            Ok(())
        });
        if !listed.about(&opened.origin)? {
            members.push((self.path.clone(), all));
        }
        self.print(members.into_iter(), others, session)
    }

    /// Prints the entries, and returns the highest status.
    fn print(
        &self,
        found: impl Iterator<Item = (PathBuf, Result<Outline, Failure>)>,
        others: u64,
        session: &Session,
    ) -> Result<Status, Failure> {
        if !self.json {
            walk::note_others(others, &self.path, session);
        }
        let (mut worst, mut entries) = (Status::Done, Vec::new());
        for (path, mut outline) in found {
            // If a column cannot be opened, the number of rows is unknown.
            let trouble = outline.as_mut().ok().and_then(|all| all.trouble.take());
            let trouble = trouble.map(|error| Directory(&path).explain(error.into()));
            for failure in outline.as_ref().err().into_iter().chain(&trouble) {
                worst = worst.max(failure.status());
            }
            match (self.json, outline) {
                (true, outline) => entries.push(entry(&path, &outline, trouble.as_ref())),
                (false, Ok(outline)) => {
                    output::print(&line(&path, &outline))?;
                    trouble.iter().for_each(Failure::report);
                }
                (false, Err(failure)) => failure.report(),
            }
        }
        if self.json {
            json_text::print(&json!({ "datasets": entries, "others": others }))?;
        }
        Ok(worst)
    }
}

/// The content of an input, from its headers.
fn outline(found: Found, session: &Session) -> Result<Outline, Failure> {
    match found {
        Found::Directory(path) => {
            let opened = Opened::directory(&path, session);
            let outline = opened.and_then(|opened| opened.container.outline());
            outline.about(&Directory(&path))
        }
        Found::File(path) => {
            let opened = Opened::open_with(&path, session, |options| options.cache(0))?;
            opened.container.outline().about(&opened.origin)
        }
        Found::Hidden(path, error) => Err(error).about(path.as_path()),
    }
}

fn line(path: &Path, outline: &Outline) -> String {
    let mut parts = vec![shown(path), outline.kind.to_string()];
    parts.extend(outline.layout.map(str::to_owned));
    match (&outline.columns, outline.shape.as_deref()) {
        (Some(columns), rows) => {
            parts.push(plain(&columns.join(",")));
            parts.push(match rows {
                Some([rows]) => count(*rows, "row"),
                _ => "unknown rows".to_owned(),
            });
        }
        (None, Some(found)) => {
            parts.push(plain(outline.dtype.as_deref().unwrap_or_default()));
            parts.push(shape(found));
        }
        (None, None) => {}
    }
    parts.extend(outline.bytes.map(pretty));
    parts.join("  ") + "\n"
}

fn entry(path: &Path, outline: &Result<Outline, Failure>, trouble: Option<&Failure>) -> Value {
    let path = path.to_string_lossy();
    match outline {
        Ok(outline) => json!({
            "path": path,
            "kind": outline.kind.name(),
            "layout": outline.layout,
            "dtype": outline.dtype,
            "shape": outline.shape,
            "columns": outline.columns,
            "uncompressed_bytes": outline.bytes,
            "status": trouble.map_or(0, |failure| failure.status().code()),
            "error": trouble.and_then(Failure::title),
            "code": trouble.and_then(Failure::code),
        }),
        Err(failure) => {
            let status = failure.status().code();
            json!({ "path": path, "status": status, "error": failure.title(), "code": failure.code() })
        }
    }
}
