//! Trees of frames, and the tables in them.

#[cfg(feature = "exchange")]
use super::Part;
use super::error::SelectionError;
use super::report::Report;
use super::summary::{Line, Summary};
use super::text::{count, plain, pretty};
#[cfg(feature = "exchange")]
use super::watch::Watch;
use super::{Container, Family, Inner, Kind, OpenOptions, Outline, Selection};
use crate::shared_source::SharedSource;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_frames::FrameOptions;
use bloscpack_frames::store::{
    ColumnKind, EMBED_FILE, FrameStore, MemberKind, StoreColumn, StoreTable,
};
use bloscpack_storage::{DiskStore, Store};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that a deflated file unpacks to. No program that makes such archives deflates: this is for what others have packed anew.
#[cfg(all(feature = "datasets", feature = "zip"))]
const MAX_UNPACKED: u64 = 64 << 20;
/// Folders above a path in which a store is looked for.
const MAX_ABOVE: usize = 64;

/// The store that a path leads to, and the path in it.
pub(super) fn locate(path: &Path) -> Option<(PathBuf, String)> {
    for root in path.ancestors().take(MAX_ABOVE) {
        let is_root = match root.symlink_metadata() {
            Ok(_) if root.is_dir() => root.join(EMBED_FILE).is_file(),
            Ok(_) => root.is_file() && is_store(root).unwrap_or(false),
            Err(_) => continue,
        };
        let inside = path.strip_prefix(root).ok()?.to_str()?;
        if is_root {
            return Some((root.to_owned(), inside.replace('\\', "/")));
        }
        // A file is not part of anything else that is opened; a folder may be.
        if !root.is_dir() {
            return None;
        }
    }
    None
}

/// Whether a file is an archive or a frame with a tree.
fn is_store(path: &Path) -> Result<bool> {
    let file = File::open(path)?;
    match super::probe_source(&file)?.family {
        #[cfg(all(feature = "datasets", feature = "zip"))]
        Some(Family::Archive) => FrameStore::is_in(&bloscpack_storage::ZipStore::open(file)?),
        Some(Family::Frame) => Ok(FrameStore::is_frame(&FrameOptions::new().read(file)?)),
        _ => Ok(false),
    }
}

/// The tree in an archive; `None` if there is none.
#[cfg(all(feature = "datasets", feature = "zip"))]
pub(super) fn in_archive(
    source: SharedSource,
    options: &OpenOptions,
) -> Result<Option<FrameStore>> {
    let store = bloscpack_storage::ZipStore::open(source).reading()?;
    let store = store.max_file_len(MAX_UNPACKED);
    in_store(Arc::new(store), options)
}

/// The tree in a file.
fn in_file(path: &Path, options: &OpenOptions) -> Result<Option<FrameStore>> {
    let source: SharedSource = Arc::new(File::open(path).reading()?);
    match super::probe_source(&source).reading()?.family {
        #[cfg(all(feature = "datasets", feature = "zip"))]
        Some(Family::Archive) => in_archive(source, options),
        _ => {
            let opener = frame_options(options);
            FrameStore::of_frame(opener.read(source)?, opener).map(Some)
        }
    }
}

/// The tree in a frame that contains others.
pub(super) fn open_frame(
    source: SharedSource,
    options: &OpenOptions,
) -> Result<Box<dyn Container>> {
    let opener = frame_options(options);
    let tree = FrameStore::of_frame(opener.read(source)?, opener)?;
    container(Arc::new(tree), "", options)
}

/// The tree at the root of a store of files; `None` if there is none.
pub(super) fn in_store(store: Arc<dyn Store>, options: &OpenOptions) -> Result<Option<FrameStore>> {
    match FrameStore::is_in(&*store)? {
        true => FrameStore::open(store, frame_options(options)).map(Some),
        false => Ok(None),
    }
}

fn frame_options(options: &OpenOptions) -> FrameOptions {
    FrameOptions::new()
        .threads(options.workers())
        .limits(options.limits)
}

/// Opens what a path leads to, if that is a store or within one.
pub(super) fn open_path(path: &Path, options: &OpenOptions) -> Result<Option<Box<dyn Container>>> {
    let Some((root, inside)) = locate(path) else {
        return Ok(None);
    };
    let failed = |error: Error| error.in_file(&root);
    let tree = match root.is_dir() {
        true => {
            let store = DiskStore::open(&root).reading().map_err(failed)?;
            in_store(Arc::new(store), options).map_err(failed)?
        }
        false => in_file(&root, options).map_err(failed)?,
    };
    let Some(tree) = tree.map(Arc::new) else {
        return Ok(None);
    };
    let inside = inside_of(&tree, &inside);
    // A path that the tree does not know may be anything else.
    if tree.kind(&inside).is_none() && !tree.is_folder(&inside) && path.exists() {
        return Ok(None);
    }
    container(tree, &inside, options).map(Some)
}

/// A path in a tree, without the ending of a file.
fn inside_of(tree: &FrameStore, path: &str) -> String {
    let without = [".b2nd", ".b2f", ".b2b"];
    let without = without.iter().find_map(|ending| path.strip_suffix(ending));
    match (tree.kind(path), without) {
        (None, Some(without)) => without.to_owned(),
        _ => path.to_owned(),
    }
}

/// The container at a path of a tree: a frame, a table, or all that is below.
pub(super) fn container(
    tree: Arc<FrameStore>,
    path: &str,
    options: &OpenOptions,
) -> Result<Box<dyn Container>> {
    Ok(match tree.kind(path) {
        Some(MemberKind::Frame) => {
            if tree.is_varying(path)? {
                return Ok(Box::new(Objects(path.to_owned())));
            }
            let source: SharedSource = Arc::new(tree.source(path)?);
            let opened = super::frame::open_source(source, options, Vec::new());
            opened.map_err(|error| error.in_file(path))?
        }
        Some(MemberKind::Table) => Box::new(Table {
            table: tree.table(path)?,
            path: path.to_owned(),
            tree,
            #[cfg(feature = "exchange")]
            watch: options.watch.clone(),
        }),
        _ if tree.is_folder(path) => Box::new(Tree {
            tree,
            below: path.to_owned(),
            options: options.clone(),
        }),
        _ => {
            let path = path.to_owned();
            return Err(bloscpack_frames::StoreError::NotFound { path }.into());
        }
    })
}

/// Objects or batches of them, which are only read as columns of a table.
struct Objects(String);

impl Objects {
    fn unsupported(&self) -> Error {
        bloscpack_frames::StoreError::Unsupported {
            path: self.0.clone(),
            what: "objects of python-blosc2, which are only read as columns of a table".to_owned(),
        }
        .into()
    }
}

impl Container for Objects {
    fn kind(&self) -> Kind {
        Kind::Frame
    }

    fn outline(&mut self) -> Result<Outline> {
        Ok(Outline {
            layout: Some("objects"),
            ..Outline::new(Kind::Frame)
        })
    }

    fn summary(&mut self) -> Result<Summary> {
        Err(self.unsupported())
    }

    fn verify(&mut self) -> Result<Report> {
        Err(self.unsupported())
    }

    fn copy(&mut self, _: &Selection, _: &mut dyn Write) -> Result<u64> {
        Err(self.unsupported())
    }

    #[cfg(feature = "exchange")]
    fn columns(&mut self, _: &Selection) -> Result<crate::exchange::BoxedSource<'_>> {
        Err(self.unsupported())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A tree, or a folder in it.
struct Tree {
    tree: Arc<FrameStore>,
    below: String,
    options: OpenOptions,
}

impl Tree {
    /// The paths at and below the folder.
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

    /// The error of what only one member can do.
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
            count(crate::checked::to_u64(paths.len()), "path"),
            shown.join(", "),
        ))
    }
}

impl Container for Tree {
    fn kind(&self) -> Kind {
        Kind::Store
    }

    fn outline(&mut self) -> Result<Outline> {
        let members = crate::checked::to_u64(self.paths().len());
        Ok(Outline {
            shape: Some(vec![members]),
            ..Outline::new(Kind::Store)
        })
    }

    fn members(
        &mut self,
        take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>,
    ) -> Result<bool> {
        for path in self.paths() {
            take(&path, self.outline_of(&path))?;
        }
        Ok(true)
    }

    fn summary(&mut self) -> Result<Summary> {
        let mut summary = Summary::new(Kind::Store);
        let paths = self.paths();
        summary.add(json!({ "kind": Kind::Store.name(), "members": paths.len(), "paths": paths }));
        summary.line("kind", Kind::Store);
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

    fn verify(&mut self) -> Result<Report> {
        Ok(report(&self.tree, &self.below, None))
    }

    fn copy(&mut self, _: &Selection, _: &mut dyn Write) -> Result<u64> {
        Err(self.choose())
    }

    #[cfg(feature = "exchange")]
    fn columns(&mut self, _: &Selection) -> Result<crate::exchange::BoxedSource<'_>> {
        Err(self.choose())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A member in a few words.
fn described(outline: &Outline) -> String {
    let mut parts = vec![outline.kind.to_string()];
    parts.extend(outline.layout.map(str::to_owned));
    parts.extend(outline.dtype.clone());
    parts.extend(
        outline
            .shape
            .as_ref()
            .map(|shape| super::text::shape(shape)),
    );
    parts.extend(outline.bytes.map(pretty));
    parts.join("  ")
}

fn report(tree: &FrameStore, below: &str, table: Option<&StoreTable>) -> Report {
    let report = tree.verify(below);
    let mut damages = report.damages;
    if let Some(table) = table {
        damages.extend(table.verify());
    }
    let mut all = Report::of(report.chunks, report.bytes, damages);
    all.warnings = report.warnings;
    all
}

/// A table in a tree.
struct Table {
    tree: Arc<FrameStore>,
    table: StoreTable,
    path: String,
    #[cfg(feature = "exchange")]
    watch: Watch,
}

impl Table {
    fn names(&self) -> Vec<String> {
        let columns = self.table.columns().iter();
        columns.map(|column| column.name.clone()).collect()
    }

    fn add_columns(&self, summary: &mut Summary) {
        let columns = self.table.columns();
        let lens = columns
            .iter()
            .map(|column| plain(&column.name).chars().count());
        let width = lens.max().unwrap_or(0);
        for column in columns {
            let name = plain(&column.name);
            let text = format!("{name:width$}  {}", kind_of(column));
            summary.lines.push(Line::More(text));
        }
    }
}

/// The kind of a column in a few words.
fn kind_of(column: &StoreColumn) -> String {
    let nulls = if column.nullable { ", may be null" } else { "" };
    let kind = &column.stored_kind;
    match &column.kind {
        ColumnKind::Fixed { dtype, row_shape } if row_shape.is_empty() => {
            format!("{kind}  {dtype}{nulls}")
        }
        ColumnKind::Fixed { dtype, row_shape } => format!("{kind}  {dtype} {row_shape:?}{nulls}"),
        ColumnKind::Unsupported(what) => format!("{kind}  not read: {what}"),
        _ => format!("{kind}{nulls}"),
    }
}

impl Container for Table {
    fn kind(&self) -> Kind {
        Kind::Table
    }

    fn outline(&mut self) -> Result<Outline> {
        Ok(Outline {
            layout: Some("blosc2"),
            shape: Some(vec![self.table.rows()]),
            columns: Some(self.names()),
            ..Outline::new(Kind::Table)
        })
    }

    fn members(
        &mut self,
        take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>,
    ) -> Result<bool> {
        let path = match self.path.as_str() {
            "" => ".",
            path => path,
        }
        .to_owned();
        let outline = self.outline();
        take(&path, outline)?;
        Ok(true)
    }

    fn summary(&mut self) -> Result<Summary> {
        let mut summary = Summary::new(Kind::Table);
        let (rows, positions) = (self.table.rows(), self.table.positions());
        let columns = self.table.columns().iter().map(|column| {
            json!({ "name": column.name, "kind": column.stored_kind, "nullable": column.nullable })
        });
        summary.add(json!({
            "kind": Kind::Table.name(),
            "layout": "blosc2",
            "rows": rows,
            "positions": positions,
            "columns": columns.collect::<Vec<_>>(),
        }));
        let attributes = self.table.attributes()?;
        summary.line("kind", Kind::Table);
        summary.line("layout", "blosc2");
        summary.line("rows", rows);
        summary.line(
            "deleted",
            format!("{} of {positions} positions are not rows", positions - rows),
        );
        for (name, value) in attributes {
            let value = value.as_text().map_or_else(|| format!("{value:?}"), plain);
            summary.lines.push(Line::Fact(
                "attribute",
                format!("{} = {value}", plain(&name)),
            ));
        }
        summary.line("columns", self.table.columns().len());
        self.add_columns(&mut summary);
        Ok(summary)
    }

    fn verify(&mut self) -> Result<Report> {
        Ok(report(&self.tree, &self.path, Some(&self.table)))
    }

    /// The bytes of a column of fixed length.
    #[cfg(feature = "exchange")]
    fn copy(&mut self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        let names = self.names();
        if selection.columns.len() != 1 {
            return Err(SelectionError::NeedsColumn { columns: names }.into());
        }
        let mut counted = Counted { to, bytes: 0 };
        let mut source = self.columns(selection)?;
        crate::exchange::write_bytes(&mut *source, &mut counted, &mut |_| ())?;
        Ok(counted.bytes)
    }

    #[cfg(not(feature = "exchange"))]
    fn copy(&mut self, _: &Selection, _: &mut dyn Write) -> Result<u64> {
        Err(SelectionError::NeedsColumn {
            columns: self.names(),
        }
        .into())
    }

    #[cfg(feature = "exchange")]
    fn columns(&mut self, selection: &Selection) -> Result<crate::exchange::BoxedSource<'_>> {
        use crate::exchange::{Source as _, StoreSource};
        if let Part::Slice(_) | Part::Chunk(_) | Part::Bytes(_) = selection.part {
            return Err(SelectionError::NeedsColumn {
                columns: self.names(),
            }
            .into());
        }
        let mut source = StoreSource::new(&self.table, &selection.columns)?;
        let region = selection.part.region(&[source.rows()])?;
        if let [rows] = region.ranges.as_slice() {
            source = source.range(rows.clone())?;
        }
        Ok(self.watch.rows(Box::new(source)))
    }

    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn inner(&self) -> Inner<'_> {
        Inner::StoreTable(&self.table)
    }
}

/// Counts what is written.
#[cfg(feature = "exchange")]
struct Counted<'a> {
    to: &'a mut dyn Write,
    bytes: u64,
}

#[cfg(feature = "exchange")]
impl Write for Counted<'_> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(buf)?;
        self.bytes += crate::checked::to_u64(written);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}
