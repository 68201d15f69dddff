//! The container of folders that hold inputs, at any depth.

use crate::probe::{Family, probe_folder};
use crate::summary::{Line, Summary};
use crate::text::{count, plain};
use crate::{Container, Kind, Options, Outline, Report};
use bloscpack::Watch;
use bloscpack_array::Array;
use bloscpack_error::{Error, IoSide as _, Result, Side};
use bloscpack_storage::{Below, EntryKind, Key, Store};
use bloscpack_wire::internal::to_u64;
use serde_json::json;
use std::io;
use std::sync::Arc;

/// Opens the member at a path.
type OpenMember = dyn Fn(&str) -> Result<Box<dyn Container>> + Send + Sync;

/// A folder with members, which can be opened.
struct Folder {
    members: Vec<String>,
    /// The number of other files and links.
    others: u64,
    open: Box<OpenMember>,
    /// Compares all files with the digests that the store keeps, as a ZIP archive does.
    place: Box<dyn Fn() -> Vec<io::Error> + Send + Sync>,
    watch: Watch,
}

/// Searches a whole folder for inputs, which become its members; `None` if there are none. `place` compares all files with the
/// digests that the store keeps of them.
pub(crate) fn of_store(
    store: &Below,
    open: impl Fn(&str) -> Result<Box<dyn Container>> + Send + Sync + 'static,
    place: impl Fn() -> Vec<io::Error> + Send + Sync + 'static,
    options: &Options,
) -> Result<Option<Box<dyn Container>>> {
    let (members, others) = members_of(store)?;
    let folder = Folder {
        members,
        others,
        open: Box::new(open),
        place: Box::new(place),
        watch: options.watch.clone(),
    };
    Ok((!folder.members.is_empty()).then(|| Box::new(folder) as Box<dyn Container>))
}

/// The endings of files that become members.
const ENDINGS: [&str; 4] = [".blp", ".b2nd", ".b2frame", ".b2z"];
/// The maximum depth of the search.
const MAX_DEPTH: usize = 64;

/// The sorted paths of all inputs below a store, and the number of other files. A folder is an input by its marker files, a
/// file by the ending of its name.
fn members_of(all: &Below) -> Result<(Vec<String>, u64)> {
    let (mut members, mut others, mut open) = (Vec::new(), 0, vec![Key::root()]);
    while let Some(at) = open.pop() {
        if at != Key::root() {
            let below = Below::new(Arc::new(all.clone()), at.clone());
            if probe_folder(&below).reading()? != Family::Directory {
                members.push(at.to_string());
                continue;
            }
        }
        if at.names().count() >= MAX_DEPTH {
            continue;
        }
        for entry in all.list(&at).reading()? {
            // A name that is not a valid key cannot be opened.
            let Some(Ok(key)) = entry.name.to_str().map(|name| at.join(name)) else {
                others += 1;
                continue;
            };
            // macOS puts files named `._NAME` beside others.
            let is_ours = |name: &str| {
                !name.starts_with("._") && ENDINGS.iter().any(|ending| name.ends_with(ending))
            };
            match entry.kind {
                EntryKind::Folder => open.push(key),
                EntryKind::File if entry.name.to_str().is_some_and(is_ours) => {
                    members.push(key.to_string());
                }
                _ => others += 1,
            }
        }
    }
    members.sort_unstable();
    Ok((members, others))
}

impl Container for Folder {
    fn kind(&self) -> Kind {
        Kind::Store
    }

    fn outline(&self) -> Result<Outline> {
        let members = to_u64(self.members.len());
        Ok(Outline {
            layout: Some("folder"),
            shape: Some(vec![members]),
            others: self.others,
            ..Outline::new(Kind::Store)
        })
    }

    fn summary(&self) -> Result<Summary> {
        let mut summary = Summary::new(Kind::Store);
        let paths = &self.members;
        summary.add(json!({ "kind": Kind::Store.name(), "members": paths.len(), "paths": paths }));
        summary.line("kind", Kind::Store);
        summary.line("members", paths.len());
        let lines = paths.iter().map(|path| Line::More(plain(path)));
        summary.lines.extend(lines);
        Ok(summary)
    }

    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        for path in &self.members {
            take(path, (self.open)(path).and_then(|member| member.outline()))?;
        }
        Ok(true)
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        (self.open)(path).map(Some)
    }

    fn verify(&self) -> Result<Report> {
        let mut all = Report::default();
        let mut errors = Vec::new();
        for path in &self.members {
            match (self.open)(path).and_then(|member| member.verify()) {
                Ok(report) => all.add(report),
                Err(error) => errors.push(error),
            }
        }
        // Damage of files that no member reads, or that members read in part.
        errors.extend(
            (self.place)()
                .into_iter()
                .map(|error| Error::from(error).on(Side::Source)),
        );
        for error in errors {
            let text = error.to_string();
            if all
                .damages
                .iter()
                .all(|known| known.error.to_string() != text)
            {
                all.damage_count += 1;
                all.damages.push(error.into());
            }
        }
        Ok(all)
    }

    fn array(&self, _: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        let shown = self.members.iter().take(10).map(String::as_str);
        let more = if self.members.len() > 10 { ", ..." } else { "" };
        Err(Error::usage(format!(
            "a folder with {}: add the path of one to its name (there are {}{more})",
            count(to_u64(self.members.len()), "member"),
            shown.collect::<Vec<_>>().join(", "),
        )))
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }
}
