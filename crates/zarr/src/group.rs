//! [`ZarrGroup`]: a folder of arrays and groups.

use crate::array::ZarrArray;
use crate::error::unsupported;
use crate::meta::{ArrayMeta, Document, Format, object_text};
use crate::read::open_file;
use bloscpack::Options;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Category, Error, IoSide as _, Result, Side};
use bloscpack_storage::{EntryKind, Key, Store};
use bloscpack_wire::{Limit, Limits};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// An array or a group, as [`ZarrNode::open`] finds it.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_dtype::DType;
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrNode, create_group};
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// let store = Arc::new(Memory::new());
/// let new = NewArray::new(Format::V3, DType::U8, &[4], &[4]);
/// let files = ArrayWriter::create(store.clone(), Key::parse("a")?, new)?.finish()?;
/// create_group(&*store, Format::V3, r#"{"unit": "m"}"#, &[files], &BTreeMap::new())?;
///
/// let ZarrNode::Group(group) = ZarrNode::open(store, &Key::root(), &Options::new())? else {
///     panic!("not a group");
/// };
/// assert!(group.attributes().contains(r#""unit": "m""#));
/// let names: Vec<String> = group.members()?.into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["a"]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum ZarrNode {
    /// An array.
    Array(Box<ZarrArray>),
    /// A group.
    Group(ZarrGroup),
}

/// A group: attributes, and a folder that contains arrays and further groups.
///
/// Members are found by listing the folder. If the store cannot list it, as with a plain web server, they are taken from the
/// consolidated metadata.
#[derive(Debug, Clone)]
pub struct ZarrGroup {
    store: Arc<dyn Store>,
    folder: Key,
    format: Format,
    attributes: String,
    /// The paths of all members, from the consolidated metadata.
    consolidated: Vec<String>,
    options: Arc<Options>,
}

/// The maximum depth of groups.
const MAX_DEPTH: usize = 64;

impl ZarrGroup {
    /// The version of Zarr.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The attributes: the text of a JSON object, in the spelling of the file. The numbers `NaN` and `Infinity` of Python may
    /// occur in it.
    #[must_use]
    pub fn attributes(&self) -> &str {
        &self.attributes
    }

    /// The direct members of this group: each an array or a group, or the error of opening it. Members that the consolidated metadata
    /// lists come first, in its order, which for a table is that of its columns; the others follow, sorted by name. Folders that are
    /// not Zarr are left out.
    ///
    /// Opens each member, that is, reads its metadata files.
    ///
    /// # Errors
    /// Returns any I/O error of listing the folder, unless consolidated metadata can replace the list.
    pub fn members(&self) -> Result<Vec<(String, Result<ZarrNode>)>> {
        let mut members = Vec::new();
        for name in self.names()? {
            let folder = self.folder.join(&name).reading()?;
            match open(&self.store, &folder, &self.options) {
                Ok(None) => {}
                Ok(Some(mut node)) => {
                    self.pass_on(&name, &mut node);
                    members.push((name, Ok(node)));
                }
                Err(error) => members.push((name, Err(error))),
            }
        }
        Ok(members)
    }

    /// Opens the array or group at a path below this group: names joined by `/`.
    ///
    /// # Errors
    /// Returns the errors of [`ZarrNode::open`].
    pub fn node(&self, path: &str) -> Result<ZarrNode> {
        let parts = path.split('/');
        let folder = parts
            .into_iter()
            .try_fold(self.folder.clone(), |folder, name| folder.join(name));
        let mut node = ZarrNode::open(Arc::clone(&self.store), &folder.reading()?, &self.options)?;
        self.pass_on(path, &mut node);
        Ok(node)
    }

    /// Gives a group below this one its part of the consolidated metadata, unless it has its own.
    fn pass_on(&self, path: &str, node: &mut ZarrNode) {
        if let ZarrNode::Group(group) = node
            && group.consolidated.is_empty()
        {
            let all = self.consolidated.iter();
            let below = all.filter_map(|found| found.strip_prefix(path)?.strip_prefix('/'));
            group.consolidated = below.map(str::to_owned).collect();
        }
    }

    /// The names of folders that may be members.
    fn names(&self) -> Result<Vec<String>> {
        match self.store.list(&self.folder) {
            Ok(entries) => {
                let listed = names(&self.consolidated);
                let places: HashMap<_, _> = listed.iter().zip(0..).collect();
                let members = entries.into_iter().filter_map(|entry| {
                    let is_folder = entry.kind == EntryKind::Folder;
                    let name = entry.name.into_string().ok()?;
                    // The place of a member may be taken by a link or a file, which cannot be opened.
                    (is_folder || places.contains_key(&name)).then_some(name)
                });
                let mut members: Vec<String> = members.collect();
                members.sort_by_key(|name| places.get(name).copied().unwrap_or(usize::MAX));
                Ok(members)
            }
            Err(_) if !self.consolidated.is_empty() => Ok(names(&self.consolidated)),
            Err(error) => Err(error).reading(),
        }
    }

    /// Compares all files of the group and its members with checksums that the store keeps, as an archive does. Decodes
    /// nothing; most stores have no checksums.
    #[must_use]
    pub fn verify_files(&self) -> Vec<Error> {
        let found = self.store.verify(&self.folder).into_iter();
        found
            .map(|error| Error::from(error).on(Side::Source))
            .collect()
    }

    /// Calls `take` with the path of each array and group below this one, a group before its members. A member that cannot be
    /// opened is passed as its error.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::ZarrNode;
    /// use std::sync::Arc;
    /// let group = b"{\"zarr_format\": 2}".to_vec();
    /// let store = Memory::from([(".zgroup", group.clone()), ("a/.zgroup", group.clone()), ("a/b/.zgroup", group)]);
    /// let ZarrNode::Group(root) = ZarrNode::open(Arc::new(store), &Key::root(), &Options::new())? else {
    ///     panic!("not a group");
    /// };
    /// let mut paths = Vec::new();
    /// root.walk(&mut |path, _| {
    ///     paths.push(path.to_owned());
    ///     Ok(())
    /// })?;
    /// assert_eq!(paths, ["a", "a/b"]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error of listing a folder, the errors of `take`, and
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for groups nested more than 64 deep.
    pub fn walk(&self, take: &mut dyn FnMut(&str, Result<ZarrNode>) -> Result<()>) -> Result<()> {
        let mut open = vec![(String::new(), self.clone(), 0)];
        while let Some((path, group, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                return Err(unsupported("groups nested", depth, "at most 64"));
            }
            let mut below = Vec::new();
            for (name, node) in group.members()? {
                let path = match path.as_str() {
                    "" => name,
                    path => format!("{path}/{name}"),
                };
                if let Ok(ZarrNode::Group(group)) = &node {
                    below.push((path.clone(), group.clone(), depth + 1));
                }
                take(&path, node)?;
            }
            open.extend(below.into_iter().rev());
        }
        Ok(())
    }
}

/// Opens the array or group in a folder; `None` if it is not Zarr. Version 3 takes precedence.
pub(crate) fn open(
    store: &Arc<dyn Store>,
    folder: &Key,
    options: &Options,
) -> Result<Option<ZarrNode>> {
    let files = Files {
        store,
        folder,
        limits: &options.limits,
    };
    if let Some(text) = files.read("zarr.json")? {
        return files
            .located("zarr.json", || files.v3(&text, options))
            .map(Some);
    }
    if let Some(text) = files.read(".zarray")? {
        let attributes = files.read(".zattrs")?;
        return files.located(".zarray", || {
            let meta = ArrayMeta::parse_v2(&text, attributes.as_deref(), &options.limits)?;
            let array = ZarrArray::new(store, folder, meta, options)?;
            Ok(Some(ZarrNode::Array(Box::new(array))))
        });
    }
    match files.read(".zgroup")? {
        Some(text) => files
            .located(".zgroup", || files.v2(&text, options))
            .map(Some),
        None => Ok(None),
    }
}

/// The metadata files of a folder.
pub(crate) struct Files<'a> {
    pub store: &'a Arc<dyn Store>,
    pub folder: &'a Key,
    pub limits: &'a Limits,
}

impl Files<'_> {
    /// Adds the name of a metadata file to an error, and advice to one about damage.
    fn located<T>(&self, name: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
        act().map_err(|error| {
            let error = match error.category() {
                Category::Damaged | Category::CutShort => error.with_hint(
                    "the consolidated metadata of a group has a copy of that of its arrays",
                ),
                _ => error,
            };
            match self.folder.join(name) {
                Ok(key) => error.in_file(Path::new(key.as_str())),
                Err(_) => error,
            }
        })
    }

    /// The bytes of a file; `None` if there is none. One over the limit `metadata` is refused.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.located(name, || {
            let key = self.folder.join(name).reading()?;
            let Some(file) = open_file(&**self.store, &key)? else {
                return Ok(None);
            };
            let size = file.size().reading()?;
            Error::check_limit(Limit::Metadata, size, self.limits.metadata.into())?;
            let bytes = file.read_bytes(0, in_memory(size)?).reading()?;
            Ok(Some(bytes.to_vec()))
        })
    }

    /// The array or group that a `zarr.json` describes.
    fn v3(&self, text: &[u8], options: &Options) -> Result<ZarrNode> {
        let document = Document::parse(text)?;
        let fields = document.fields();
        fields.expect("zarr_format", 3)?;
        if fields.text("node_type")? != "group" {
            let meta = ArrayMeta::parse_v3(text, &options.limits)?;
            let array = ZarrArray::new(self.store, self.folder, meta, options)?;
            return Ok(ZarrNode::Array(Box::new(array)));
        }
        let consolidated = fields.get("consolidated_metadata");
        let consolidated = consolidated.and_then(|all| all.get("metadata")?.as_object());
        let paths = consolidated.into_iter().flat_map(|all| all.keys());
        let attributes = document.attributes()?.to_owned();
        Ok(self.group(Format::V3, attributes, paths.cloned().collect(), options))
    }

    /// The group that a `.zgroup` describes. Reads its attributes and the consolidated metadata.
    fn v2(&self, text: &[u8], options: &Options) -> Result<ZarrNode> {
        Document::parse(text)?.fields().expect("zarr_format", 2)?;
        let attributes = match self.read(".zattrs")? {
            Some(text) => self.located(".zattrs", || Ok(object_text(&text)?.to_owned()))?,
            None => "{}".to_owned(),
        };
        let consolidated = self.read(".zmetadata")?;
        let paths = consolidated
            .as_deref()
            .map_or_else(Vec::new, consolidated_v2);
        Ok(self.group(Format::V2, attributes, paths, options))
    }

    /// A group in this folder.
    fn group(
        &self,
        format: Format,
        attributes: String,
        consolidated: Vec<String>,
        options: &Options,
    ) -> ZarrNode {
        ZarrNode::Group(ZarrGroup {
            store: Arc::clone(self.store),
            folder: self.folder.clone(),
            format,
            attributes,
            consolidated,
            options: Arc::new(options.clone()),
        })
    }
}

/// The folders of the files that consolidated metadata of version 2 lists. Unreadable metadata lists none: it is only needed if
/// the folder cannot be listed.
fn consolidated_v2(text: &[u8]) -> Vec<String> {
    let value = bloscpack_wire::internal::json::parse(text).unwrap_or_default();
    let files = value.get("metadata").and_then(|all| all.as_object());
    let folders = files.into_iter().flat_map(|all| all.keys());
    folders
        .filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned()))
        .collect()
}

/// The first names of these paths, each once, in their order. Names that lead elsewhere are refused when they become keys.
fn names(paths: &[String]) -> Vec<String> {
    let first = paths.iter().filter_map(|path| path.split('/').next());
    let mut known = HashSet::new();
    first
        .filter(|name| known.insert(*name))
        .map(str::to_owned)
        .collect()
}
