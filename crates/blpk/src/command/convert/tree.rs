//! Stores, groups and folders of several arrays and tables into each other.

use std::collections::BTreeMap;
use std::fs;

use bloscpack::error::IoSide as _;
use bloscpack_open::{
    datasets::DatasetLayout,
    frames::ArrayKind,
    stores::{create_tree, seal_store},
    zarr::{ChunkCounts, create_group},
};

use super::Convert;
use super::zarr::Work;
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::layout::{ArrayLayout, StoreForm, ZarrVersion};
use crate::output::{FolderKind, Target};
use crate::session::Session;
use crate::store;

impl Convert {
    /// Makes a store, a group or a folder with everything that is in a tree, and returns its name.
    pub(super) fn tree(
        &self,
        opened: &Opened,
        layout: ArrayLayout,
        session: &Session,
    ) -> Result<String, Failure> {
        if !self.is_whole() {
            let title = "only all of a tree can be converted";
            return Err(Failure::usage(title).hint("add a path within it to its name"));
        }
        match layout {
            ArrayLayout::Store(form) => self.tree_into_store(opened, form, session),
            ArrayLayout::Zarr(version) => self.tree_into_zarr(opened, version, session),
            ArrayLayout::Dataset(layout) => self.tree_into_folder(opened, layout, session),
            ArrayLayout::Frame(_) => {
                let title = format!("{} has several arrays, and a frame one", opened.origin.name);
                Err(Failure::usage(title).hint("add a path within it to its name"))
            }
        }
    }

    fn tree_into_store(
        &self,
        opened: &Opened,
        form: StoreForm,
        session: &Session,
    ) -> Result<String, Failure> {
        let new = store::new_target(self.output(), self.path(), form, session)?;
        let fill = || -> Result<(), Failure> {
            create_tree(new.path())?;
            for member in members(opened)? {
                if member.is_table {
                    let title = format!(
                        "{}: a table within a tree has no place in a store",
                        member.path
                    );
                    return Err(Failure::usage(title)
                        .hint("convert it by itself: add its path to the name of PATH"));
                }
                let path = new.path().join(format!("{}.b2nd", member.path));
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).about(&new)?;
                }
                let opened = opened.member(&member.path)?;
                self.fill_frame((&new, &path), &opened, ArrayKind::B2nd, session)?;
            }
            Ok(seal_store(new.path())?)
        };
        fill().about(&new.made_from(&opened.origin))?;
        Ok(new.commit(session)?.name)
    }

    fn tree_into_zarr(
        &self,
        opened: &Opened,
        version: ZarrVersion,
        session: &Session,
    ) -> Result<String, Failure> {
        let new = Target::folder(self.output(), FolderKind::Zarr, self.path(), session)?;
        let fill = || -> Result<ChunkCounts, Failure> {
            let (mut files, mut groups) = (Vec::new(), BTreeMap::new());
            let mut counts = ChunkCounts::default();
            for member in members(opened)? {
                let opened = opened.member(&member.path)?;
                let work = Work::new(&new, &opened, version, session)?;
                if member.is_table {
                    let (columns, made) = self.zarr_table(&work, &member.path)?;
                    let attributes = self.attributes(&opened, session)?;
                    groups.insert(member.path, attributes.text().to_owned());
                    files.extend(columns);
                    counts += made;
                } else {
                    let (array, made) = self.zarr_array(&work, &member.path)?;
                    files.push(array);
                    counts += made;
                }
            }
            let work = Work::new(&new, opened, version, session)?;
            let attributes = opened
                .container
                .attributes(None)
                .unwrap_or_default()
                .attributes;
            work.warn_about_numbers(attributes.text());
            create_group(
                &*work.store,
                work.format,
                attributes.text(),
                &files,
                &groups,
            )?;
            Ok(counts)
        };
        let counts = fill().about(&new.made_from(&opened.origin))?;
        opened.progress.finish();
        let name = new.commit(session)?.name;
        self.report_chunks(&name, version, counts, session)?;
        Ok(name)
    }

    fn tree_into_folder(
        &self,
        opened: &Opened,
        layout: DatasetLayout,
        session: &Session,
    ) -> Result<String, Failure> {
        let new = Target::folder(self.output(), FolderKind::Tree, self.path(), session)?;
        let fill = || -> Result<(), Failure> {
            for member in members(opened)? {
                let path = new.path().join(&member.path);
                fs::create_dir_all(&path).writing()?;
                let opened = opened.member(&member.path)?;
                self.fill_dataset((&new, &path), &opened, layout, session)?;
            }
            Ok(())
        };
        fill().about(&new.made_from(&opened.origin))?;
        Ok(new.commit(session)?.name)
    }
}

/// An array or a table in a tree.
struct Member {
    path: String,
    is_table: bool,
}

/// All that is in a tree. What cannot be opened is an error.
fn members(opened: &Opened) -> Result<Vec<Member>, Failure> {
    let mut members = Vec::new();
    opened.container.members(&mut |path, outline| {
        let is_table = outline?.columns.is_some();
        members.push(Member {
            path: path.to_owned(),
            is_table,
        });
        Ok(())
    })?;
    Ok(members)
}
