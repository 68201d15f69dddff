//! Trees of frames, and the tables in them, as python-blosc2 writes them: `.b2z`, `.b2d` and `.b2e`.
//!
//! [`FrameStore`] opens what is in a [`Store`], such as a directory or a ZIP archive, or in one frame.
//! [The format](https://github.com/bloscpack/bloscpack/blob/main/docs/format-stores.md) is on a page of its own.
//! Indexes are ignored, and nothing in a store is ever executed.
//!
//! [`TableWriter`] makes the directory of a table, or adds rows to one; [`create_tree`] begins a tree of arrays. Both are for a
//! directory that nobody else knows yet: whoever calls them gives it its name when it is complete.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod embed;
mod error;
mod table;
mod write;

pub use bloscpack_array::msgpack::Value;
pub use table::{
    ColumnData, ColumnKind, ComputedColumn, ItemKind, StoreColumn, StoreTable, TableReader,
};
pub use write::{TableWriter, create_tree, seal_store, unpack_store};

use bloscpack::Options;
use bloscpack_array::Report;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_frames::{Frame, VaryingFrame};
use bloscpack_storage::{EntryKind, Key, Store, StoreFile};
use embed::{Place, Section};
use error::{at, damaged, not_found, over_limit, unsupported};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The file that every store has at its root.
pub const EMBED_FILE: &str = "embed.b2e";
/// Metalayers of a frame that contains others.
const KINDS: [&str; 3] = ["b2embed", "b2tree", "b2dict"];
/// The endings of frames in a tree.
const ENDINGS: [&str; 3] = ["b2nd", "b2f", "b2b"];
/// Folders within each other, and files, that are looked at.
const MAX_DEPTH: usize = 64;
const MAX_FILES: usize = 1 << 20;
/// The frame that a table has at its root, and that only a table has.
const META: &str = "_meta";
/// The folder of a table's indexes.
const INDEXES: &str = "_indexes";
/// User attributes of a folder.
const ATTRIBUTES: &str = "__vlmeta__";

/// A tree of frames.
///
/// Paths are names joined by `/`, without the ending of a file.
pub struct FrameStore {
    store: Option<Arc<dyn Store>>,
    embedded: Arc<Frame>,
    members: BTreeMap<String, Member>,
    options: Options,
}

/// Where a frame is.
enum Member {
    File(Key),
    Embedded(Place),
}

/// The kind of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemberKind {
    /// A frame: an array, or chunks.
    Frame,
    /// A table.
    Table,
}

impl std::fmt::Debug for FrameStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<_> = self.members.keys().collect();
        f.debug_struct("FrameStore")
            .field("paths", &paths)
            .finish_non_exhaustive()
    }
}

impl FrameStore {
    /// Whether a store of files is a tree of frames.
    ///
    /// # Errors
    /// Returns any error of the store.
    pub fn is_in(store: &dyn Store) -> Result<bool> {
        let key = Key::root().join(EMBED_FILE)?;
        Ok(store.kind(&key).reading()?.is_some())
    }

    /// Whether a frame contains others.
    #[must_use]
    pub fn is_frame(frame: &Frame) -> bool {
        let layers = frame.metalayers();
        KINDS.iter().any(|kind| layers.get(kind).is_some())
    }

    /// Opens the tree at the root of a store.
    ///
    /// # Errors
    /// Returns any error of the store; the errors of [`Frame::read_with`] for the frame of embedded values; and
    /// [`Code::Damaged`](bloscpack_error::Code::Damaged) for a path that occurs twice.
    pub fn open(store: Arc<dyn Store>, options: Options) -> Result<Self> {
        let key = Key::root().join(EMBED_FILE)?;
        let object = store.open(&key).reading()?;
        let frame = Frame::read_with(object, &options).map_err(at(EMBED_FILE))?;
        let mut tree = Self::of_frame(frame, options)?;
        let mut files = BTreeMap::new();
        walk(&*store, &Key::root(), 0, &mut files)?;
        for (path, key) in files {
            let before = tree.members.insert(path.clone(), Member::File(key));
            if before.is_some() {
                let what = "both a file and an embedded value";
                return Err(damaged(path, what));
            }
        }
        tree.store = Some(store);
        for (path, place) in embed::remote_places(&tree.embedded, EMBED_FILE)? {
            let member = tree.members.entry(path);
            member.or_insert(Member::Embedded(place));
        }
        Ok(tree)
    }

    /// The tree in a frame.
    ///
    /// # Errors
    /// Returns [`Code::Damaged`](bloscpack_error::Code::Damaged) for a description that is not one.
    pub fn of_frame(frame: Frame, options: Options) -> Result<Self> {
        let members = embed::places(&frame, EMBED_FILE)?;
        let members = members
            .into_iter()
            .map(|(path, place)| (path, Member::Embedded(place)));
        Ok(Self {
            store: None,
            members: members.collect(),
            embedded: Arc::new(frame),
            options,
        })
    }

    /// The arrays, other frames and tables, by path. What a table consists of is not among them, nor are user attributes.
    pub fn members(&self) -> impl Iterator<Item = (&str, MemberKind)> {
        self.members.keys().filter_map(|path| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if name == META && self.is_table(folder) {
                return Some((folder, MemberKind::Table));
            }
            let is_part = name == ATTRIBUTES || self.table_of(path).is_some();
            (!is_part).then_some((path.as_str(), MemberKind::Frame))
        })
    }

    /// The kind of thing at a path, if there is any.
    #[must_use]
    pub fn kind(&self, path: &str) -> Option<MemberKind> {
        if self.is_table(path) {
            return Some(MemberKind::Table);
        }
        let is_there = self.members.contains_key(path);
        is_there.then_some(MemberKind::Frame)
    }

    /// Whether anything is below a path.
    #[must_use]
    pub fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.members.keys().any(|name| is_below(name, path))
    }

    fn is_table(&self, folder: &str) -> bool {
        let child = |name| self.members.contains_key(&join(folder, name));
        child(META) && child(table::VALID_ROWS)
    }

    /// The folder above a path that is a table.
    fn table_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let slashes = path.rmatch_indices('/').map(|(at, _)| at);
        let above = slashes.filter_map(|at| path.get(..at));
        above.chain([""]).find(|folder| self.is_table(folder))
    }

    /// The bytes of the frame at a path.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound), [`Code::Unsupported`](bloscpack_error::Code::Unsupported)
    /// for a remote array, and any error of the store.
    pub fn source(&self, path: &str) -> Result<Box<dyn StoreFile>> {
        let member = self.members.get(path).ok_or_else(|| not_found(path))?;
        Ok(match (member, &self.store) {
            (Member::File(key), Some(store)) => store.open(key).reading().map_err(at(path))?,
            (Member::Embedded(Place::Here(range)), _) => Box::new(Section {
                frame: Arc::clone(&self.embedded),
                range: range.clone(),
            }),
            (Member::Embedded(Place::Remote(url)), _) => {
                let what = format!("nothing of it was fetched from {url:?}");
                return Err(unsupported(path, what));
            }
            (Member::File(_), None) => {
                return Err(Error::bug(format!("{path} is a file of no store")));
            }
        })
    }

    /// The frame at a path.
    ///
    /// # Errors
    /// Returns the errors of [`source`](Self::source) and of [`Frame::read_with`].
    pub fn frame(&self, path: &str) -> Result<Frame> {
        let source = self.source(path)?;
        Frame::read_with(source, &self.options).map_err(at(path))
    }

    /// The table at a path; that at the root has the empty path.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) if there is none,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a version or a kind of column that is not read, and
    /// [`Code::Damaged`](bloscpack_error::Code::Damaged).
    pub fn table(self: &Arc<Self>, path: &str) -> Result<StoreTable> {
        if self.is_table(path) {
            StoreTable::open(Arc::clone(self), path)
        } else {
            Err(not_found(path))
        }
    }

    /// Reads and decompresses every frame at or below a path, with the parts of tables. In frames that have a fingerprint, every
    /// byte is compared with it; in an archive, the files with their checksums.
    pub fn verify(&self, below: &str) -> Report {
        let mut all = Report::default();
        if below.is_empty()
            && let Err(error) = self.embedded.check_fingerprint()
        {
            all.damages.push(error.in_file(EMBED_FILE));
        }
        all.damages.extend(self.verify_files(below));
        for path in self.members.keys() {
            if !below.is_empty() && path != below && !is_below(path, below) {
                continue;
            }
            match self.verify_frame(path) {
                Ok(mut report) => {
                    let damages = report.damages.into_iter().map(at(path));
                    report.damages = damages.collect();
                    let named = |warning| format!("{path}: {warning}");
                    report.warnings = report.warnings.into_iter().map(named).collect();
                    all.add(report);
                }
                Err(error) => all.damages.push(error.in_file(path)),
            }
        }
        all
    }

    /// Compares the files at or below a path with digests that the store has of them, as an archive has.
    #[must_use]
    pub fn verify_files(&self, below: &str) -> Vec<Error> {
        let Some(store) = &self.store else {
            return Vec::new();
        };
        let mut keys = BTreeSet::new();
        for (path, member) in &self.members {
            if !below.is_empty() && path != below && !is_below(path, below) {
                continue;
            }
            keys.extend(match member {
                Member::File(key) => Some(key.clone()),
                Member::Embedded(_) => Key::root().join(EMBED_FILE).ok(),
            });
        }
        if below.is_empty() {
            keys = BTreeSet::from([Key::root()]);
        }
        let found = keys.iter().flat_map(|key| store.verify(key));
        found.map(Error::from).collect()
    }

    fn verify_frame(&self, path: &str) -> Result<Report> {
        if let Some(Member::Embedded(Place::Remote(url))) = self.members.get(path) {
            let mut report = Report::default();
            report.warnings.push(format!(
                "nothing of it was fetched from {url:?}, and nothing was checked"
            ));
            return Ok(report);
        }
        let frame = self.varying(path)?;
        if !frame.varies() {
            let frame = self.frame(path)?;
            return Ok(frame.verify_allowing(|_| (), || self.may_be_trimmed(path, &frame)));
        }
        let mut report = Report::default();
        report
            .damages
            .extend(frame.frame().check_fingerprint().err());
        let blocks = |number| {
            let blocks = frame.blocks(to_u64(number))?;
            let bytes = blocks.iter().map(|block| to_u64(block.len())).sum();
            Ok(Some((bytes, ())))
        };
        let numbers = 0..in_memory(frame.frame().chunks())?;
        report.check(1, numbers, blocks, |_, ()| ());
        Ok(report)
    }

    /// Whether a column may have another shape than it was written with: python-blosc2 trims all of them when rows were deleted
    /// at the end of the table. It then has changed which positions are rows, and they have as many.
    fn may_be_trimmed(&self, path: &str, frame: &Frame) -> bool {
        let positions = |frame: &Frame| {
            let meta = frame.array_meta().ok().flatten();
            meta.and_then(|meta| meta.shape.first().copied())
        };
        let Some(folder) = self.table_of(path) else {
            return false;
        };
        let valid_path = join(folder, table::VALID_ROWS);
        let valid = self.frame(&valid_path);
        path != valid_path
            && valid.is_ok_and(|valid| {
                !valid.has_fingerprint() && positions(&valid) == positions(frame)
            })
    }

    /// Whether the chunks of the frame at a path, or their blocks, vary in length.
    ///
    /// # Errors
    /// Returns the errors of [`frame`](Self::frame).
    pub fn is_varying(&self, path: &str) -> Result<bool> {
        self.varying(path).map(|frame| frame.varies())
    }

    fn varying(&self, path: &str) -> Result<VaryingFrame> {
        VaryingFrame::open(self.source(path)?, &self.options).map_err(at(path))
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Finds the frames in a folder. Links are never followed, and names that no key can have are not part of a tree.
fn walk(
    store: &dyn Store,
    folder: &Key,
    depth: usize,
    files: &mut BTreeMap<String, Key>,
) -> Result<()> {
    if depth > MAX_DEPTH {
        let what = format!("more than {MAX_DEPTH} folders within each other");
        return Err(over_limit(folder.as_str(), what));
    }
    for entry in store.list(folder).reading()? {
        let Some(key) = entry.name.to_str().and_then(|name| folder.join(name).ok()) else {
            continue;
        };
        match entry.kind {
            EntryKind::Folder => walk(store, &key, depth + 1, files)?,
            EntryKind::File => {
                let Some((path, _)) = split_ending(key.as_str()) else {
                    continue;
                };
                let path = path.to_owned();
                if files.len() >= MAX_FILES {
                    let what = format!("more than {MAX_FILES} files");
                    return Err(over_limit("the store", what));
                }
                if files.insert(path.clone(), key).is_some() {
                    let what = "several files that differ by their ending only";
                    return Err(damaged(path, what));
                }
            }
            EntryKind::Other => {}
        }
    }
    Ok(())
}

/// The path of a file that is part of a tree, and its ending.
fn split_ending(name: &str) -> Option<(&str, &str)> {
    let (path, ending) = name.rsplit_once('.')?;
    let is_known = ENDINGS.contains(&ending) && !path.is_empty() && !path.ends_with('/');
    is_known.then_some((path, ending))
}

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
