//! [`RemoteStore`]: the objects below a prefix, as files in folders.

use crate::error::Failure;
use crate::object::RemoteObject;
use crate::plan::Plan;
use crate::source::{Place, Source, Version};
use bloscpack::storage::{Entry, EntryKind, Key, ReadAt, Store};
use bloscpack_open::internal::marks;
use futures_util::TryStreamExt as _;
use object_store::ObjectMeta;
use object_store::path::Path;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The objects below a prefix, as files in folders, for reading. Clones share it.
///
/// A bucket is listed once, when this is opened, and then always shows the objects of that listing, with their
/// lengths and versions; the list stays in memory. Reading an object that was changed later is an error. Small
/// files that describe datasets are fetched at once, and files of up to 8 MiB are fetched whole.
///
/// A plain web server has no listings: files are requested by name, and [`list`](Store::list) returns
/// [`Unsupported`](ErrorKind::Unsupported).
///
/// A bucket has no locks: a program that changes a dataset in place, file by file, changes it under its
/// readers.
///
/// ```
/// use bloscpack::storage::{Key, Store as _};
/// use bloscpack_remote::{Remote, RemoteOptions, WriteOptions};
/// use std::io::Write as _;
///
/// let remote = Remote::new(RemoteOptions::new())?;
/// let mut object = remote.create("memory://bucket/data/a.txt", &WriteOptions::new())?;
/// object.write_all(b"some text")?;
/// object.finish()?;
///
/// let store = remote.store("memory://bucket/data")?;
/// assert_eq!(store.paths().collect::<Vec<_>>(), ["a.txt"]);
/// assert_eq!(store.open(&Key::parse("a.txt")?)?.size()?, 9);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemoteStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    place: Place,
    plan: Arc<Plan>,
    objects: Objects,
}

#[derive(Debug)]
enum Objects {
    /// All objects, by path relative to the prefix.
    Listed(BTreeMap<String, ObjectMeta>),
    /// The objects that were requested.
    Unlisted(Mutex<Asked>),
}

#[derive(Debug, Default)]
struct Asked {
    known: HashMap<String, Result<Option<Arc<Source>>, Failure>>,
    /// The first file that the server has denied.
    denied: Option<Failure>,
    /// Files that will be read, in this order.
    announced: VecDeque<String>,
}

/// Maximum length of a small file that is fetched when a store is opened, and maximum number of such files.
const SMALL: u64 = 64 << 10;
const MAX_SMALL: usize = 1 << 10;

/// Small files that are read together with those that identify a folder.
const BESIDE: [&str; 4] = ["__attrs__", "meta/attributes", ".zattrs", ".zmetadata"];

/// The paths of the small files that describe a folder.
fn described_by() -> impl Iterator<Item = &'static str> {
    marks().chain(BESIDE)
}

/// How many files are requested at once from a server without listings.
const AT_ONCE: usize = 16;

impl RemoteStore {
    /// Lists the objects below a prefix, and begins to fetch the small files that describe datasets.
    pub(crate) fn listed(place: Place) -> Result<Self, Failure> {
        let (store, path) = (Arc::clone(&place.store), place.path.clone());
        let (name, secrets) = (Arc::clone(&place.name), place.secrets.clone());
        let listed = place.wait(async move {
            let prefix = Some(&path).filter(|path| !path.as_ref().is_empty());
            let listed = store.list(prefix).try_collect::<Vec<ObjectMeta>>().await;
            listed.map_err(|error| Failure::of(&error, &name, &secrets))
        })?;
        let below = |meta: ObjectMeta| {
            let parts = meta.location.prefix_match(&place.path)?;
            let names: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            (!names.is_empty()).then(|| (names.join("/"), meta))
        };
        let mut objects: BTreeMap<String, ObjectMeta> =
            listed.into_iter().filter_map(below).collect();
        // Some programs create an empty object for each folder.
        let folders: Vec<String> = objects
            .iter()
            .filter(|(path, meta)| meta.size == 0 && has_below(&objects, path))
            .map(|(path, _)| path.clone())
            .collect();
        for folder in folders {
            objects.remove(&folder);
        }
        let store = Self::new(place, Objects::Listed(objects));
        store.fetch_small();
        Ok(store)
    }

    /// The files below a URL of a server without listings.
    pub(crate) fn unlisted(place: Place) -> Self {
        Self::new(place, Objects::Unlisted(Mutex::default()))
    }

    fn new(place: Place, objects: Objects) -> Self {
        let plan = Arc::new(Plan::new(place.shared.options.window));
        Self(Arc::new(Inner {
            place,
            plan,
            objects,
        }))
    }

    /// Whether there is no object. A file that cannot be read does not count if others can. A server that
    /// answers for every name counts as empty.
    pub(crate) fn is_empty(&self) -> Result<bool, Failure> {
        if let Objects::Listed(objects) = &self.0.objects {
            return Ok(objects.is_empty());
        }
        let (mut found, mut asked, mut failure) = (0, 0, None);
        for name in described_by() {
            asked += 1;
            match self.asked(name) {
                Ok(Some(_)) => found += 1,
                Ok(None) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if found > 0 {
            return Ok(found == asked);
        }
        // If nothing is readable, return the error of access.
        let denied = self.asked_before().and_then(|asked| asked.denied.clone());
        failure.or(denied).map_or(Ok(true), Err)
    }

    /// The URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.place.name
    }

    /// An object's entry in the listing.
    pub(crate) fn meta(&self, path: &str) -> Option<&ObjectMeta> {
        match &self.0.objects {
            Objects::Listed(objects) => objects.get(path),
            Objects::Unlisted(_) => None,
        }
    }

    /// The paths of all objects, relative to the URL, sorted; none on a server without listings.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let objects = match &self.0.objects {
            Objects::Listed(objects) => Some(objects),
            Objects::Unlisted(_) => None,
        };
        objects
            .into_iter()
            .flat_map(BTreeMap::keys)
            .map(String::as_str)
    }

    /// For each object, a text that differs for every version: its path, its length, and its tag or else the
    /// time of its last change. All bytes that are read are of these versions. `None` on a server without
    /// listings.
    #[must_use]
    pub fn versions(&self) -> Option<impl Iterator<Item = String>> {
        let Objects::Listed(objects) = &self.0.objects else {
            return None;
        };
        let version = |(path, meta): (&String, &ObjectMeta)| {
            format!("{path} {}", Version::of(meta, path, true))
        };
        Some(objects.iter().map(version))
    }

    /// Fetches the files that describe datasets, all at once.
    fn fetch_small(&self) {
        let Objects::Listed(objects) = &self.0.objects else {
            return;
        };
        let small = objects.iter().filter(|(path, meta)| {
            let is_meta = described_by().any(|name| {
                path.strip_suffix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            });
            is_meta && meta.size <= SMALL
        });
        for (path, meta) in small.take(MAX_SMALL) {
            let source = Source::listed(self.place_of(path), meta);
            if let Some(version) = source.known() {
                source.cover(version, 0..meta.size, true);
            }
        }
    }

    pub(crate) fn place_of(&self, path: &str) -> Place {
        let place = &self.0.place;
        let full = match place.path.as_ref() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        };
        Place {
            // Keeps names unchanged where possible.
            path: Path::parse(&full).unwrap_or_else(|_| Path::from(full)),
            name: format!("{}/{path}", place.name.trim_end_matches('/')).into(),
            ..place.clone()
        }
    }

    fn source(&self, path: &str) -> io::Result<Option<Arc<Source>>> {
        match &self.0.objects {
            Objects::Listed(objects) => {
                let meta = objects.get(path);
                Ok(meta.map(|meta| Source::listed(self.place_of(path), meta)))
            }
            Objects::Unlisted(_) => Ok(self.asked(path)?),
        }
    }

    /// The file with this path on a server without listings. Requests it together with the files that will be
    /// read next.
    fn asked(&self, path: &str) -> Result<Option<Arc<Source>>, Failure> {
        let Some(mut asked) = self.asked_before() else {
            return Ok(None);
        };
        if let Some(known) = asked.known.get(path) {
            return known.clone();
        }
        let mut wanted = vec![path.to_owned()];
        let folder = described_by().find_map(|name| {
            let folder = path.strip_suffix(name)?;
            (folder.is_empty() || folder.ends_with('/')).then_some(folder)
        });
        let beside = folder
            .into_iter()
            .flat_map(|folder| described_by().map(move |name| format!("{folder}{name}")));
        wanted.extend(beside);
        if let Some(at) = asked.announced.iter().position(|next| next == path) {
            let end = asked.announced.len().min(at + AT_ONCE);
            let next = asked.announced.drain(..end);
            wanted.extend(next.skip(at));
        }
        wanted.retain(|path| !asked.known.contains_key(path));
        wanted.sort_unstable();
        wanted.dedup();
        drop(asked);
        let sources = wanted
            .iter()
            .map(|path| Source::new(self.place_of(path), true));
        let found = Source::begin_all(sources.collect())?;
        let is_denied =
            |found: &Result<_, Failure>| found.as_ref().is_err_and(Failure::is_forbidden);
        // Public buckets deny missing objects, because only users who may list them are told that an object is
        // missing. A denial counts as "missing" as long as existing objects are not denied, as they are once
        // credentials have expired.
        let is_open = found.iter().any(Result::is_ok)
            || !found.iter().any(is_denied)
            || self.still_answers()?;
        let Some(mut asked) = self.asked_before() else {
            return Ok(None);
        };
        for (name, found) in wanted.into_iter().zip(found) {
            match found {
                Err(error) if error.is_missing() => drop(asked.known.insert(name, Ok(None))),
                Err(error) if error.is_forbidden() && is_open => {
                    asked.known.insert(name, Ok(None));
                    asked.denied.get_or_insert(error);
                }
                // Reports only the error of the wanted file. The others may never be read.
                Err(error) if name == path && error.is_of_server() => return Err(error),
                Err(error) if error.is_of_server() => {}
                found => drop(asked.known.insert(name, found.map(Some))),
            }
        }
        asked.known.get(path).cloned().unwrap_or(Ok(None))
    }

    /// Whether the server still answers for a file that it answered for before; true if there is none.
    fn still_answers(&self) -> Result<bool, Failure> {
        let name = self.asked_before().and_then(|asked| {
            let mut known = asked.known.iter();
            known.find_map(|(name, found)| matches!(found, Ok(Some(_))).then(|| name.clone()))
        });
        let Some(name) = name else { return Ok(true) };
        let again = Source::new(self.place_of(&name), true);
        Ok(Source::begin_all(vec![again])?.iter().all(Result::is_ok))
    }

    fn asked_before(&self) -> Option<MutexGuard<'_, Asked>> {
        match &self.0.objects {
            Objects::Unlisted(asked) => Some(asked.lock().unwrap_or_else(PoisonError::into_inner)),
            Objects::Listed(_) => None,
        }
    }

    fn failed(&self, key: &Key, kind: ErrorKind, what: &str) -> io::Error {
        io::Error::new(kind, format!("{}/{key}: {what}", self.0.place.name))
    }
}

/// Whether there are objects below this path.
fn has_below(objects: &BTreeMap<String, ObjectMeta>, path: &str) -> bool {
    let prefix = format!("{path}/");
    let next = objects.range(prefix.clone()..).next();
    next.is_some_and(|(next, _)| next.starts_with(&prefix))
}

impl Store for RemoteStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        match self.source(key.as_str())? {
            Some(source) => Ok(Box::new(RemoteObject::new(
                source,
                Arc::clone(&self.0.plan),
            ))),
            None => match self.kind(key)? {
                None => Err(ErrorKind::NotFound.into()),
                Some(_) => Err(self.failed(key, ErrorKind::InvalidInput, "this is a folder")),
            },
        }
    }

    fn will_read(&self, keys: &[Key]) {
        if let Some(mut asked) = self.asked_before() {
            asked.announced = keys.iter().map(|key| key.as_str().to_owned()).collect();
            return;
        }
        let sources = keys
            .iter()
            .filter_map(|key| self.source(key.as_str()).ok().flatten());
        self.0.plan.add_whole(sources);
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let Objects::Listed(objects) = &self.0.objects else {
            let what = "a plain HTTP server has no listings: name a file, or an array below it";
            return Err(self.failed(folder, ErrorKind::Unsupported, what));
        };
        let prefix = if *folder == Key::root() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let below = objects
            .range(prefix.clone()..)
            .map_while(|(path, _)| path.strip_prefix(&prefix));
        let mut entries: BTreeMap<String, EntryKind> = BTreeMap::new();
        for rest in below {
            match rest.split_once('/') {
                Some((name, _)) => entries.insert(name.to_owned(), EntryKind::Folder),
                None => entries.insert(rest.to_owned(), EntryKind::File),
            };
        }
        match entries.is_empty() && !prefix.is_empty() {
            true if objects.contains_key(folder.as_str()) => Err(self.failed(
                folder,
                ErrorKind::InvalidInput,
                "this is an object, not a folder",
            )),
            true => Err(ErrorKind::NotFound.into()),
            false => Ok(entries
                .into_iter()
                .map(|(name, kind)| Entry {
                    name: name.into(),
                    kind,
                })
                .collect()),
        }
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        if *key == Key::root() {
            return Ok(Some(EntryKind::Folder));
        }
        if self.source(key.as_str())?.is_some() {
            return Ok(Some(EntryKind::File));
        }
        let is_folder = match &self.0.objects {
            Objects::Listed(objects) => has_below(objects, key.as_str()),
            Objects::Unlisted(_) => false,
        };
        Ok(is_folder.then_some(EntryKind::Folder))
    }

    fn read_only(&self, key: &Key) -> io::Error {
        let what = "this is open for reading (changes are made through an editor: Remote::edit)";
        self.failed(key, ErrorKind::ReadOnlyFilesystem, what)
    }
}
