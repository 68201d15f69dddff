//! Converts trees into trees: stores, Zarr groups, and folders of arrays and tables.

use std::fs;
use std::path::Path;

use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_open::datasets::DatasetLayout;
use bloscpack_open::exchange::UserAttributes;
use bloscpack_open::stores::set_attributes;

use crate::store::NO_LAYER;
use crate::{Tree, Work, warn_about_lost};

/// The hint for a target that cannot store a tree.
pub(crate) const WITHIN: &str = "add a path within it to its name";

impl Work<'_> {
    /// Makes a store of all arrays in a tree, in an empty folder.
    pub(crate) fn tree_of_frames(&self, path: &Path) -> Result<()> {
        let mut tree = Tree::create(path)?;
        self.each_member(&mut |work, member| {
            if member.is_table {
                let message = "a table within a tree has no place in a store";
                let hint = "convert it by itself: add its path to the name of the tree";
                return Err(Error::usage(message).with_hint(hint));
            }
            tree.add(&member.path, work.settings, work.source, work.warn)
        })?;
        let attributes = self.source.attributes(None)?.attributes;
        let (attributes, lost) = UserAttributes::values(&attributes);
        warn_about_lost(&lost, NO_LAYER, self.warn);
        set_attributes(path, &attributes)?;
        tree.finish()
    }

    /// Makes a folder of datasets of all arrays and tables in a tree, in an empty folder.
    pub(crate) fn tree_of_datasets(&self, layout: DatasetLayout, path: &Path) -> Result<()> {
        if !self.source.attributes(None)?.attributes.is_empty() {
            (self.warn)("the attributes of the tree are dropped: a folder of datasets has none");
        }
        self.each_member(&mut |work, member| {
            let path = path.join(&member.path);
            fs::create_dir_all(&path).writing()?;
            work.dataset(layout, &path)
        })
    }

    /// Calls `with` for each array and table in a tree. A member that cannot be opened is an error.
    pub(crate) fn each_member(
        &self,
        with: &mut dyn FnMut(Work<'_>, &Member) -> Result<()>,
    ) -> Result<()> {
        let mut members = Vec::new();
        self.source.members(&mut |path, outline| {
            let is_table = outline?.columns.is_some();
            members.push(Member {
                path: path.to_owned(),
                is_table,
            });
            Ok(())
        })?;
        for member in members {
            let path = &member.path;
            let mut done = || -> Result<()> {
                let source = self.source.member(path)?;
                let source = source.ok_or_else(|| Error::bug("a member that is none any more"))?;
                let work = Work {
                    settings: self.settings,
                    source: &*source,
                    warn: &|text| (self.warn)(&format!("{path}: {text}")),
                };
                with(work, &member)
            };
            done().map_err(|error| match error.part() {
                Some(_) => error,
                None => error.in_part(path),
            })?;
        }
        Ok(())
    }
}

/// An array or a table in a tree.
pub(crate) struct Member {
    pub path: String,
    pub is_table: bool,
}
