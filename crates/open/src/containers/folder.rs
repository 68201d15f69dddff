//! Folders of datasets.

use crate::summary::{Line, Summary};
use crate::text::plain;
use crate::{Container, Kind, Options, Outline, Report, open};
use bloscpack::Watch;
use bloscpack_array::Array;
use bloscpack_datasets::walk;
use bloscpack_error::{Error, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A folder with datasets below it.
struct Folder {
    path: PathBuf,
    options: Options,
    members: Vec<String>,
}

/// Opens a folder as the tree of the datasets below it; `None` if there are none. It goes through all of the folder.
///
/// # Errors
/// Returns errors of the file system, and the first of a dataset that cannot be opened.
pub fn open_folder(path: &Path, options: &Options) -> Result<Option<Box<dyn Container>>> {
    let mut damaged = None;
    let found = walk(path, |_, error| {
        damaged.get_or_insert(error);
    })?;
    if let Some(error) = damaged {
        return Err(error);
    }
    let members = found.iter().filter_map(|entry| entry.path.to_str());
    let members: Vec<String> = members.map(|path| path.replace('\\', "/")).collect();
    Ok((!members.is_empty()).then(|| {
        let folder = Folder {
            path: path.to_owned(),
            options: options.clone(),
            members,
        };
        Box::new(folder) as Box<dyn Container>
    }))
}

impl Folder {
    fn open(&self, member: &str) -> Result<Box<dyn Container>> {
        open(&self.path.join(member), &self.options)
    }
}

impl Container for Folder {
    fn kind(&self) -> Kind {
        Kind::Store
    }

    fn outline(&self) -> Result<Outline> {
        let members = bloscpack_wire::internal::to_u64(self.members.len());
        Ok(Outline {
            layout: Some("folder"),
            shape: Some(vec![members]),
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
            take(path, self.open(path).and_then(|member| member.outline()))?;
        }
        Ok(true)
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        self.open(path).map(Some)
    }

    fn verify(&self) -> Result<Report> {
        let mut all = Report::default();
        for path in &self.members {
            all.add(self.open(path)?.verify()?);
        }
        Ok(all)
    }

    fn array(&self, _: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        let count = self.members.len();
        Err(Error::usage(format!(
            "a folder with {count} datasets: add the path of one to its name"
        )))
    }

    fn watch(&self) -> &Watch {
        &self.options.watch
    }
}
