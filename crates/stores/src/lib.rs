//! Reads and writes the stores of python-blosc2: trees of Blosc2 frames, and the tables (`CTable`) in them.
//!
//! A *store* is a `.b2d` directory, a `.b2z` archive, or a `.b2e` file. All arrays and values in it are *frames*, Blosc2's
//! container for one array or byte string, which [`bloscpack_frames`] reads. *vlmetalayers* are named metadata of any length in
//! a frame. Nothing in a store is ever executed, and nothing is fetched.
//!
//! # The format
//!
//! ```text
//!  NAME.b2d  a directory       NAME.b2z  a ZIP archive; its files are stored, never deflated
//!
//!    dir/x.b2nd                    an array; its path in the tree is dir/x
//!    dir/y.b2f, dir/z.b2b          a frame without a shape; objects, or batches of them
//!    dir/__vlmeta__.b2f            the user's attributes of the folder, as vlmetalayers
//!    tab/_meta.b2f                 makes tab a table; vlmetalayers kind, version,
//!                                  schema (JSON), value_epoch, ..
//!    tab/_valid_rows.b2nd          bool for each position: true for a row, false for a
//!                                  deleted or unused one
//!    tab/_vlmeta.b2f               the user's attributes of the table, as vlmetalayers
//!    tab/_cols/..                  the columns, see below
//!    tab/_indexes/..               indexes, which are ignored
//!    embed.b2e                     at the root of every store: a frame that holds other frames
//!
//!  embed.b2e, or NAME.b2e          elements of 1 byte, in chunks of 8192 bytes
//!    metalayer b2tree, b2dict or b2embed          {version: 1}
//!    vlmetalayer estore_metadata                  {embed_map: {"/n1": {offset, length}, ..},
//!                                                  current_offset}
//!    content                                      contiguous frames, each at its offset
//!
//!  columns: arrays of as many positions as _valid_rows
//!    n.b2nd                        numbers, fixed-length strings, timestamps (int64),
//!                                  rows that are arrays
//!    t.b2nd, t.utf8.b2nd           text: int64, where each row begins, and one more;
//!                                        uint8, the bytes
//!    d.b2nd, d_dict.b2b            a dictionary: int32 codes, and the strings
//!    o.b2b                         values of varying length: batches of MessagePack,
//!                                  one item for each row
//!    n.notnull.b2nd                bool: false for a null. Absent until a null is written
//! ```
//!
//! A file's path in the tree has no extension. In the name of a column, a dot separates folders: `p.q` is `_cols/p/q.b2nd`.
//! [The format](https://github.com/bloscpack/bloscpack/blob/main/docs/format-stores.md) describes everything else.
//!
//! # Reading
//!
//! | to | use |
//! |---|---|
//! | open a directory or an archive | [`FrameStore::open`], with a [`Store`] |
//! | open a `.b2e` | [`FrameStore::of_frame`] |
//! | list arrays, frames and tables | [`FrameStore::members`] |
//! | read an array or a frame | [`FrameStore::frame`], and [`NdArray::of`](bloscpack_frames::NdArray::of) |
//! | read a table | [`FrameStore::table`], [`StoreTable::reader`], [`TableReader::read`] |
//! | check everything | [`FrameStore::verify`] |
//!
//! Objects and batches outside of tables, lists that Arrow serialized, and remote arrays are listed but not read.
//!
//! # Writing
//!
//! | to | use |
//! |---|---|
//! | write a table | [`TableWriter::create`] |
//! | add rows to a table | [`TableWriter::open`] |
//! | write a tree of arrays | [`create_tree`], then files that end in `.b2nd`, then [`seal_store`] |
//! | get a directory that can be changed | [`unpack_store`] |
//!
//! All of these write into a directory without atomicity. Use a temporary directory, and rename it, or pack it into an archive,
//! when it is complete.
//!
//! # Errors
//!
//! All functions return a [`bloscpack_error::Error`] with the path in the store or the name of the column.
//!
//! | code | meaning |
//! |---|---|
//! | `NotFound` | no frame or table at this path, or no column with this number |
//! | `Damaged`, `Chunk`, `Metadata`, .. | values that no program writes, or that contradict each other |
//! | `Unsupported` | another version, a kind of column that is not read, or an array that was not fetched |
//! | `OverLimit` | more than 64 nested folders, 2^20 files, 2^34 positions, 2 GiB in a row, or 1 GiB of text in one read |
//! | `CannotStore`, `Usage` | columns or values that do not fit a table |

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
pub use write::{TableWriter, create_tree, seal_store, set_attributes, unpack_store};

use bloscpack::Options;
use bloscpack_array::Report;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_frames::{Frame, VaryingFrame};
use bloscpack_storage::{EntryKind, Key, ReadAt, Store};
use embed::{Place, Section};
use error::{at, damaged, not_found, over_limit, unsupported};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The file at the root of every store: the frame of embedded values.
pub const EMBED_FILE: &str = "embed.b2e";
/// The metalayers that mark a frame of embedded values. It has one of them.
const KINDS: [&str; 3] = ["b2embed", "b2tree", "b2dict"];
/// The extensions of frames in a tree.
const ENDINGS: [&str; 3] = ["b2nd", "b2f", "b2b"];
/// The maximum depth of folders, and the maximum number of files in a store.
const MAX_DEPTH: usize = 64;
const MAX_FILES: usize = 1 << 20;
/// The frame that describes a table. Only a table has it.
const META: &str = "_meta";
/// The folder of the indexes of a table.
const INDEXES: &str = "_indexes";
/// The frame with the user's attributes of a folder.
const ATTRIBUTES: &str = "__vlmeta__";

/// A store that is open for reading: a tree of frames and tables.
///
/// A path consists of names joined by `/`, without the extension of the file and without a slash at its beginning; the root is
/// the empty path. The list of files is read when the store is opened, and stays in memory.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_frames::NdArray;
/// use bloscpack_storage::DiskStore;
/// use bloscpack_stores::{FrameStore, MemberKind, create_tree};
/// use std::sync::Arc;
///
/// let temp = tempfile::tempdir()?;
/// create_tree(temp.path())?;
/// NdArray::of_type::<i32>(&[10]).create(temp.path().join("x.b2nd"))?;
///
/// let store = Arc::new(DiskStore::open(temp.path())?);
/// let tree = FrameStore::open(store, Options::new())?;
/// assert_eq!(tree.kind("x"), Some(MemberKind::Frame));
/// let array = NdArray::of(tree.frame("x")?)?;
/// assert_eq!(array.shape(), [10]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub struct FrameStore {
    store: Option<Arc<dyn Store>>,
    /// The frame of embedded values, if there is one.
    embedded: Option<Arc<Frame>>,
    members: BTreeMap<String, Member>,
    options: Options,
}

/// Where a frame is stored.
enum Member {
    /// In a file of its own.
    File(Key),
    /// In `embed.b2e`, or nowhere: a remote array.
    Embedded(Place),
    /// Alone in this source.
    Alone(Arc<dyn ReadAt>),
}

/// What is stored at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemberKind {
    /// A frame: an array, a byte string, objects or batches.
    Frame,
    /// A table: a folder with `_meta` and `_valid_rows`.
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
    /// Whether a directory or archive is a store: whether `embed.b2e` is at its root. Does not open it.
    ///
    /// # Errors
    /// Returns any error of the store.
    pub fn is_in(store: &dyn Store) -> Result<bool> {
        let key = Key::root().join(EMBED_FILE)?;
        Ok(store.kind(&key).reading()?.is_some())
    }

    /// Whether a frame contains other frames, like a `.b2e`: whether it has one of the metalayers `b2tree`, `b2dict` and
    /// `b2embed`.
    #[must_use]
    pub fn is_frame(frame: &Frame) -> bool {
        let layers = frame.metalayers();
        KINDS.iter().any(|kind| layers.get(kind).is_some())
    }

    /// Whether a frame contains Python's objects, as an ObjectArray, ListArray or BatchArray does: whether it has one of the
    /// metalayers `vlarray` and `batcharray`.
    #[must_use]
    pub fn is_objects(frame: &Frame) -> bool {
        let layers = frame.metalayers();
        table::ITEMS.iter().any(|name| layers.get(name).is_some())
    }

    /// Opens the store at the root of a directory or archive. Reads the metadata of `embed.b2e`, and lists all folders.
    ///
    /// Links are not followed, and files with other extensions are ignored. The options set limits and threads for all frames
    /// of the store.
    ///
    /// # Errors
    /// Returns any error of the store, such as a missing `embed.b2e`; the errors of [`Frame::read_with`] for that frame;
    /// [`Code::Damaged`](bloscpack_error::Code::Damaged) if two files differ only in their extension, or a path is both a file
    /// and embedded; and [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more than 64 nested folders or 2^20 files.
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
        let embedded = tree.embedded.as_ref();
        let remote = embedded.map(|frame| embed::remote_places(frame, EMBED_FILE));
        for (path, place) in remote.transpose()?.into_iter().flatten() {
            let member = tree.members.entry(path);
            member.or_insert(Member::Embedded(place));
        }
        Ok(tree)
    }

    /// A tree with nothing but a frame of [objects](Self::is_objects) at its root, which [`table`](Self::table) opens. Reads
    /// nothing.
    #[must_use]
    pub fn of_objects(source: Arc<dyn ReadAt>, options: Options) -> Self {
        Self {
            store: None,
            embedded: None,
            members: BTreeMap::from([(String::new(), Member::Alone(source))]),
            options,
        }
    }

    /// Opens the tree in a frame, such as a `.b2e`. Reads only the metadata. A frame without `estore_metadata` is an empty
    /// tree.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_frames::Frame;
    /// use bloscpack_stores::{EMBED_FILE, FrameStore, create_tree};
    ///
    /// let temp = tempfile::tempdir()?;
    /// create_tree(temp.path())?;
    /// let frame = Frame::open(temp.path().join(EMBED_FILE))?;
    /// assert!(FrameStore::is_frame(&frame));
    /// let tree = FrameStore::of_frame(frame, Options::new())?;
    /// assert_eq!(tree.members().count(), 0);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Damaged`](bloscpack_error::Code::Damaged) for metadata that does not describe frames within the content,
    /// and the errors of [`Frame::vlmetalayer`].
    pub fn of_frame(frame: Frame, options: Options) -> Result<Self> {
        let members = embed::places(&frame, EMBED_FILE)?;
        let members = members
            .into_iter()
            .map(|(path, place)| (path, Member::Embedded(place)));
        Ok(Self {
            store: None,
            members: members.collect(),
            embedded: Some(Arc::new(frame)),
            options,
        })
    }

    /// The arrays, other frames and tables, sorted by path. The parts of a table and the attributes of folders are left out.
    ///
    /// A table has the path of its folder. It is listed where `_meta` in that folder sorts.
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

    /// What is stored at a path; `None` if it is neither a frame nor a table. Parts of tables are frames here.
    #[must_use]
    pub fn kind(&self, path: &str) -> Option<MemberKind> {
        if self.is_table(path) {
            return Some(MemberKind::Table);
        }
        let is_there = self.members.contains_key(path);
        is_there.then_some(MemberKind::Frame)
    }

    /// Whether a path is a folder with frames in it. The root always is one.
    #[must_use]
    pub fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.members.keys().any(|name| is_below(name, path))
    }

    /// The user's attributes of a folder, in the order of the file; none if the folder has no `__vlmeta__`.
    ///
    /// # Errors
    /// Returns any damage to the frame that contains them.
    pub fn attributes(&self, folder: &str) -> Result<Vec<(String, Value)>> {
        self.attributes_at(&join(folder, ATTRIBUTES))
    }

    /// The vlmetalayers of the frame at a path, which need not exist.
    fn attributes_at(&self, path: &str) -> Result<Vec<(String, Value)>> {
        if self.kind(path).is_none() {
            return Ok(Vec::new());
        }
        let frame = self.frame(path)?;
        let names = frame.vlmetalayers();
        let pairs = names.map(|name| Ok((name.to_owned(), table::layer(&frame, name, path)?)));
        pairs.collect()
    }

    /// Whether a folder is a table.
    fn is_table(&self, folder: &str) -> bool {
        let child = |name| self.members.contains_key(&join(folder, name));
        child(META) && child(table::VALID_ROWS)
    }

    /// The nearest folder above a path that is a table.
    fn table_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let slashes = path.rmatch_indices('/').map(|(at, _)| at);
        let above = slashes.filter_map(|at| path.get(..at));
        above.chain([""]).find(|folder| self.is_table(folder))
    }

    /// The bytes of the frame at a path: a file of the store, or a range of the content of `embed.b2e`.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) for a path without a frame,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a remote array, and any error of the store.
    pub fn source(&self, path: &str) -> Result<Box<dyn ReadAt>> {
        let member = self.members.get(path).ok_or_else(|| not_found(path))?;
        Ok(match (member, &self.store) {
            (Member::File(key), Some(store)) => store.open(key).reading().map_err(at(path))?,
            (Member::Alone(source), _) => Box::new(Arc::clone(source)),
            (Member::Embedded(Place::Here(range)), _) => {
                let frame = self.embedded.as_ref();
                let frame =
                    frame.ok_or_else(|| Error::bug(format!("{path} is embedded nowhere")))?;
                Box::new(Section {
                    frame: Arc::clone(frame),
                    range: range.clone(),
                })
            }
            (Member::Embedded(Place::Remote(url)), _) => {
                let what = format!("nothing of it was fetched from {url:?}");
                return Err(unsupported(path, what));
            }
            (Member::File(_), None) => {
                return Err(Error::bug(format!("{path} is a file of no store")));
            }
        })
    }

    /// Opens the frame at a path for reading.
    ///
    /// # Errors
    /// Returns the errors of [`source`](Self::source) and of [`Frame::read_with`]. A frame whose chunks vary in length is
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported).
    pub fn frame(&self, path: &str) -> Result<Frame> {
        let source = self.source(path)?;
        Frame::read_with(source, &self.options).map_err(at(path))
    }

    /// Opens the table at a path; the empty path is the root. Reads its schema and the whole of `_valid_rows`, to count the
    /// rows. A frame of [objects](Self::is_objects) is a table of one column, `value`.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) if there is no table,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for another version of tables or schemas,
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more than 2^34 positions, and
    /// [`Code::Damaged`](bloscpack_error::Code::Damaged). A column that cannot be read is not an error here, but in
    /// [`StoreTable::reader`].
    pub fn table(self: &Arc<Self>, path: &str) -> Result<StoreTable> {
        if self.is_table(path) {
            StoreTable::open(Arc::clone(self), path)
        } else if self.members.contains_key(path) && self.has_objects(path)? {
            StoreTable::of_objects(Arc::clone(self), path)
        } else {
            Err(not_found(path))
        }
    }

    /// Reads and decompresses every frame at or below a path, including the parts of tables.
    ///
    /// In frames with a fingerprint, every byte is compared with it; in an archive, the files are compared with their
    /// checksums. Stores of python-blosc2 have no fingerprints: changed bytes that still decompress are then not detected in a
    /// directory. Remote arrays are named in a warning. Each damage carries the path of its frame.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_frames::NdArray;
    /// use bloscpack_storage::DiskStore;
    /// use bloscpack_stores::{FrameStore, create_tree, seal_store};
    /// use std::sync::Arc;
    ///
    /// let temp = tempfile::tempdir()?;
    /// create_tree(temp.path())?;
    /// let path = temp.path().join("x.b2nd");
    /// NdArray::of_type::<i32>(&[10]).full(&[1, 2, 3, 4]).create(&path)?;
    /// seal_store(temp.path())?;
    ///
    /// let open = || FrameStore::open(Arc::new(DiskStore::open(temp.path())?), Options::new());
    /// assert!(open()?.verify("").is_sound());
    /// let mut bytes = std::fs::read(&path)?;
    /// let last = bytes.len() - 1;
    /// bytes[last] ^= 1;
    /// std::fs::write(&path, bytes)?;
    /// assert_eq!(open()?.verify("").damages.len(), 1);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn verify(&self, below: &str) -> Report {
        let mut all = Report::default();
        if below.is_empty()
            && let Some(embedded) = &self.embedded
            && let Err(error) = embedded.check_fingerprint()
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

    /// Compares the files at or below a path with the checksums that an archive stores. Decompresses nothing. A directory has
    /// no checksums.
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
                Member::Alone(_) => None,
            });
        }
        if below.is_empty() {
            keys = BTreeSet::from([Key::root()]);
        }
        let found = keys.iter().flat_map(|key| store.verify(key));
        found.map(Error::from).collect()
    }

    /// Reads and decompresses the frame at a path.
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

    /// Whether a column may have another shape than its fingerprint covers.
    ///
    /// python-blosc2 trims all columns after rows at the end were deleted, which leaves their fingerprints. It then has changed
    /// `_valid_rows` as well, which therefore has no fingerprint, and the column has as many positions.
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

    /// Whether the frame at a path contains [objects](Self::is_objects). [`frame`](Self::frame) then may not be able to open it.
    ///
    /// # Errors
    /// Returns the errors of [`source`](Self::source) and of [`VaryingFrame::open`].
    pub fn has_objects(&self, path: &str) -> Result<bool> {
        self.varying(path)
            .map(|frame| Self::is_objects(frame.frame()))
    }

    /// Opens the frame at a path, whether or not its chunks vary in length.
    fn varying(&self, path: &str) -> Result<VaryingFrame> {
        VaryingFrame::open(self.source(path)?, &self.options).map_err(at(path))
    }
}

/// Whether a path is below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The path of a name in a folder.
fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Adds the frames in a folder and below it to `files`, by path. Links are not followed; files with names that no key can have
/// are not part of a tree.
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

/// Splits the name of a frame in a tree into path and extension; `None` for other files.
fn split_ending(name: &str) -> Option<(&str, &str)> {
    let (path, ending) = name.rsplit_once('.')?;
    let is_known = ENDINGS.contains(&ending) && !path.is_empty() && !path.ends_with('/');
    is_known.then_some((path, ending))
}

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
