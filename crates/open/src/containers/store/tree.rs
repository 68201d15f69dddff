//! The container of python-blosc2's stores, and of folders in them.

use super::container;
use crate::exchange::UserAttributes;
use crate::summary::{Line, Summary};
use crate::text::{count, plain, pretty, shape};
use crate::{Container, Kind, Options, Outline, Report};
use bloscpack::Watch;
use bloscpack_array::Array;
use bloscpack_error::{Error, Result};
use bloscpack_stores::FrameStore;
use serde_json::json;
use std::sync::Arc;

/// A tree of frames, or a folder in it.
pub(crate) struct Tree {
    pub(crate) tree: Arc<FrameStore>,
    /// The path of the folder; empty for the whole tree.
    pub(crate) below: String,
    pub(crate) options: Options,
}

impl Tree {
    /// The paths of all members in the folder, at any depth.
    fn paths(&self) -> Vec<String> {
        let folder = match self.below.as_str() {
            "" => String::new(),
            below => format!("{below}/"),
        };
        let paths = self.tree.members().map(|(path, _)| path);
        paths
            .filter(|path| path.starts_with(&folder))
            .map(str::to_owned)
            .collect()
    }

    fn outline_of(&self, path: &str) -> Result<Outline> {
        container(Arc::clone(&self.tree), path, &self.options)?.outline()
    }

    /// The error for an operation that needs a single member.
    fn choose(&self) -> Error {
        let paths = self.paths();
        let shown = paths
            .iter()
            .take(10)
            .map(String::as_str)
            .collect::<Vec<_>>();
        let more = if paths.len() > shown.len() {
            ", ..."
        } else {
            ""
        };
        Error::usage(format!(
            "a store with {}: add a path within it to its name (there are {}{more})",
            count(bloscpack_wire::internal::to_u64(paths.len()), "path"),
            shown.join(", "),
        ))
    }
}

impl Container for Tree {
    fn kind(&self) -> Kind {
        Kind::Store
    }

    fn outline(&self) -> Result<Outline> {
        let members = bloscpack_wire::internal::to_u64(self.paths().len());
        Ok(Outline {
            shape: Some(vec![members]),
            ..Outline::new(Kind::Store)
        })
    }

    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        for path in self.paths() {
            take(&path, self.outline_of(&path))?;
        }
        Ok(true)
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        container(Arc::clone(&self.tree), path, &self.options).map(Some)
    }

    fn summary(&self) -> Result<Summary> {
        let mut summary = Summary::new(Kind::Store);
        let paths = self.paths();
        summary.add(json!({ "kind": Kind::Store.name(), "members": paths.len(), "paths": paths }));
        let attributes = self.attributes(None)?.attributes;
        summary.add_json("attributes", attributes.text());
        summary.line("kind", Kind::Store);
        summary.attributes(attributes.text());
        summary.line("members", paths.len());
        for path in &paths {
            let text = match self.outline_of(path) {
                Ok(outline) => described(&outline),
                Err(error) => error.to_string(),
            };
            summary
                .lines
                .push(Line::More(format!("{}  {text}", plain(path))));
        }
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        Ok(super::report(&self.tree, &self.below, None))
    }

    fn array(&self, _: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        Err(self.choose())
    }

    fn attributes(&self, _: Option<&str>) -> Result<UserAttributes> {
        UserAttributes::of_values(self.tree.attributes(&self.below)?)
    }

    fn watch(&self) -> &Watch {
        &self.options.watch
    }
}

/// One line about a member.
fn described(outline: &Outline) -> String {
    let mut parts = vec![outline.kind.to_string()];
    parts.extend(outline.layout.map(str::to_owned));
    parts.extend(outline.dtype.clone());
    parts.extend(outline.shape.as_deref().map(shape));
    parts.extend(outline.bytes.map(pretty));
    parts.join("  ")
}
