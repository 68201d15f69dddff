//! [`Remote`]: opens URLs.

use crate::bridge::Bridge;
use crate::cache::Cache;
use crate::connect::connect;
use crate::editor::RemoteEditor;
use crate::error::Failure;
use crate::location::{Location, Scheme, secrets_of};
use crate::object::RemoteObject;
use crate::options::RemoteOptions;
use crate::plan::Plan;
use crate::publish::upload;
use crate::source::{Place, Shared, Source};
use crate::store::RemoteStore;
use crate::trouble::Trouble;
use crate::upload::exists;
use crate::writer::{RemoteWriter, WriteOptions, check_place};
use bloscpack::Result;
use bloscpack::error::IoSide as _;
use bloscpack_open::exchange::Ending;
use bloscpack_open::{Container, Options, open_source, open_store, open_within};
use object_store::ObjectStore;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Opens URLs: `s3://`, `gs://`, `az://`, `http://`, `https://`, `file://` and `memory:`.
///
/// All that it opens share a thread in the background, connections, and a bounded cache. Calls may be made from any thread,
/// in and out of any runtime.
///
/// ```
/// use bloscpack_open::{Options, Part, Selection};
/// use bloscpack_remote::{Remote, RemoteOptions};
/// use object_store::{ObjectStoreExt as _, memory::InMemory};
/// use std::sync::Arc;
///
/// let bucket = Arc::new(InMemory::new());
/// let remote = Remote::new(RemoteOptions::new())?;
/// # let (store, file) = (Arc::clone(&bucket), bloscpack::compress(b"some content")?);
/// # remote.bridge().wait(async move { store.put(&"dir/file.blp".into(), file.into()).await })?.unwrap();
/// remote.register("memory://bucket", bucket)?;
///
/// let mut file = remote.open("memory://bucket/dir/file.blp", &Options::new())?;
/// let mut out = Vec::new();
/// file.copy(&Selection::of(Part::Bytes((5..).into())), &mut out)?;
/// assert_eq!(out, b"content");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug)]
pub struct Remote {
    shared: Arc<Shared>,
    /// The stores that were made, or registered, by what their URLs have in common.
    stores: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

/// The target of a URL.
#[derive(Debug)]
pub enum Found {
    /// One object: a file.
    Object(RemoteObject),
    /// A path within an object, which is an archive or a tree of frames.
    Within(RemoteObject, String),
    /// Objects below a prefix: a dataset, or a folder of them.
    Folder(RemoteStore),
}

/// Endings of the objects that a URL may lead into.
const ARCHIVES: [&str; 3] = [".zip", ".b2z", ".b2e"];

impl Remote {
    /// Starts the thread in the background.
    ///
    /// # Errors
    /// Returns any error of the system.
    pub fn new(options: RemoteOptions) -> io::Result<Self> {
        Ok(Self::with_bridge(options, Bridge::new()?))
    }

    /// Makes requests in the runtime of this bridge.
    #[must_use]
    pub fn with_bridge(options: RemoteOptions, bridge: Bridge) -> Self {
        Self {
            shared: Arc::new(Shared {
                bridge,
                cache: Cache::new(options.cache),
                permits: Semaphore::new(options.requests),
                options,
            }),
            stores: Mutex::default(),
        }
    }

    /// The bridge to the runtime.
    #[must_use]
    pub fn bridge(&self) -> &Bridge {
        &self.shared.bridge
    }

    /// Uses this store for all URLs that begin like this one.
    ///
    /// # Errors
    /// Returns an error if this is not a URL.
    pub fn register(&self, url: &str, store: Arc<dyn ObjectStore>) -> io::Result<()> {
        let location = Location::parse(url)?;
        self.stores().insert(location.store_name(), store);
        Ok(())
    }

    /// The object at a URL.
    ///
    /// # Errors
    /// Returns an error with the URL and what to do: for a URL that is not one, a store that cannot be reached or does not
    /// accept the credentials, and an object that does not exist.
    pub fn object(&self, url: &str) -> io::Result<RemoteObject> {
        Ok(object_at(self.place(&Location::parse(url)?)?)?)
    }

    /// The objects below a URL.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), and [`NotFound`](io::ErrorKind::NotFound) if there are none.
    pub fn store(&self, url: &str) -> io::Result<RemoteStore> {
        let location = Location::parse(url)?;
        let store = store_at(self.place(&location)?, location.scheme)?;
        Ok(store.ok_or_else(|| missing(&location))?)
    }

    /// Finds out what a URL leads to: an object, or else objects below it. A URL that ends with a slash leads to a folder.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object).
    pub fn find(&self, url: &str) -> io::Result<Found> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        let folder = |found: Option<RemoteStore>| found.map(Found::Folder);
        // The likely kind is looked for first.
        let looks_like_file = location.has_extension() || location.scheme == Scheme::Http;
        if location.is_folder || !looks_like_file {
            if let Some(found) = folder(store_at(place.clone(), location.scheme)?) {
                return Ok(found);
            }
            if location.is_folder {
                return Err(missing(&location).into());
            }
        }
        // A folder has no ranges: a web server answers with its listing, or not at all.
        let may_be_folder = |error: &Failure| match location.scheme {
            Scheme::Http if error.is_forbidden() => !names_a_file(url),
            Scheme::Http => error.is_missing() || error.is_unsupported(),
            // Some servers have folders, and fail in their own ways where one is asked for as an object.
            _ => looks_like_file && !error.is_denied() && error.may_be_of_object(),
        };
        let error = match object_at(place) {
            Ok(object) => return Ok(Found::Object(object)),
            Err(error) => error,
        };
        let error = if may_be_folder(&error) {
            match store_at(self.place(&location)?, location.scheme) {
                Ok(Some(found)) => return Ok(Found::Folder(found)),
                // There may not even be a bucket.
                Err(other) if error.is_missing() => other,
                _ => error,
            }
        } else {
            error
        };
        let within = if error.is_missing() || error.is_forbidden() {
            self.within(url)?
        } else {
            None
        };
        Ok(within.ok_or(error)?)
    }

    /// The object that a URL leads into, if it has the name of an archive.
    fn within(&self, url: &str) -> io::Result<Option<Found>> {
        let ends = ARCHIVES.iter().filter_map(|ending| {
            let at = url.find(&format!("{ending}/"))?;
            Some(at + ending.len())
        });
        let Some((object, inside)) = ends.min().and_then(|end| url.split_at_checked(end)) else {
            return Ok(None);
        };
        let inside = inside.trim_start_matches('/').to_owned();
        Ok(Some(Found::Within(self.object(object)?, inside)))
    }

    /// Opens what a URL leads to: a Bloscpack file, records, a dataset or a frame.
    ///
    /// # Errors
    /// Returns the errors of [`find`](Self::find), and those of opening files and datasets.
    pub fn open(&self, url: &str, options: &Options) -> Result<Box<dyn Container>> {
        match self.find(url).reading()? {
            Found::Object(object) => open_source(object, options),
            Found::Within(object, path) => open_within(object, &path, options),
            Found::Folder(store) => open_store(store, options),
        }
    }

    /// Begins to write an object, which appears when it is finished.
    ///
    /// # Errors
    /// Returns an error for a URL that is not one, for those of folders and web servers, and for a store that cannot be
    /// reached.
    pub fn create(&self, url: &str, options: &WriteOptions) -> io::Result<RemoteWriter> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        check_place(&place, location.scheme == Scheme::Http, location.is_folder)?;
        Ok(RemoteWriter::new(place, options.clone()))
    }

    /// Opens the dataset at a URL to change it, or to make a new one where nothing is.
    ///
    /// # Errors
    /// Returns an error for a URL that is not one, for web servers, and for a store that cannot be reached.
    pub fn edit(&self, url: &str) -> io::Result<RemoteEditor> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        check_place(&place, location.scheme == Scheme::Http, false)?;
        Ok(RemoteEditor::new(place)?)
    }

    /// Puts a folder with a new dataset or sparse frame below a URL, and returns how many bytes that were. Readers see all
    /// of it or none.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is anything below the URL; any error of the
    /// folder and of the store, after which there may be objects that no reader takes for a dataset.
    pub fn upload(&self, folder: &Path, url: &str) -> io::Result<u64> {
        self.upload_watched(folder, url, |_, _| Ok(()))
    }

    /// As [`upload`](Self::upload), and calls `watch` with the bytes of each object that was put, and with those of all of
    /// them.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload), and that of `watch`, which ends the work.
    pub fn upload_watched(
        &self,
        folder: &Path,
        url: &str,
        watch: impl Fn(u64, u64) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<u64> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        check_place(&place, location.scheme == Scheme::Http, false)?;
        Ok(upload(&place, folder, watch)?)
    }

    /// Whether there is an object at a URL.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object) except that for an object that does not exist.
    pub fn exists(&self, url: &str) -> io::Result<bool> {
        Ok(exists(&self.place(&Location::parse(url)?)?)?)
    }

    fn place(&self, location: &Location) -> std::result::Result<Place, Failure> {
        let options = &self.shared.options;
        let secrets = secrets_of(&options.store, location);
        let known = self.stores().get(&location.store_name()).cloned();
        let store = match known {
            Some(store) => store,
            None => {
                let store = connect(location, options, &secrets)?;
                self.stores()
                    .insert(location.store_name(), Arc::clone(&store));
                store
            }
        };
        Ok(Place {
            shared: Arc::clone(&self.shared),
            store,
            path: location.path.clone(),
            name: location.name.as_str().into(),
            secrets,
            trouble: Arc::new(Trouble::new(options.retry_timeout)),
        })
    }

    fn stores(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<dyn ObjectStore>>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn object_at(place: Place) -> std::result::Result<RemoteObject, Failure> {
    let plan = Plan::new(place.shared.options.window);
    let source = Source::new(place, false);
    source.first()?;
    Ok(RemoteObject::new(source, Arc::new(plan)))
}

/// The objects below a place, if there are any.
fn store_at(place: Place, scheme: Scheme) -> std::result::Result<Option<RemoteStore>, Failure> {
    if scheme == Scheme::Http {
        let store = RemoteStore::unlisted(place);
        return Ok((!store.is_empty()?).then_some(store));
    }
    match RemoteStore::listed(place.clone()) {
        // Public buckets may be read, but not listed.
        Err(error) if error.is_forbidden() => {
            let store = RemoteStore::unlisted(place);
            match store.is_empty() {
                Ok(false) => Ok(Some(store)),
                _ => Err(error),
            }
        }
        listed => Ok(Some(listed?).filter(|store| !matches!(store.is_empty(), Ok(true)))),
    }
}

/// Whether a URL has the ending of something that is never a folder.
fn names_a_file(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    match Ending::of_path(path) {
        None => false,
        Some(Ending::Frame | Ending::StoreFolder | Ending::Zarr | Ending::Dataset(_)) => false,
        Some(_) => true,
    }
}

fn missing(location: &Location) -> Failure {
    let name = &location.name;
    let what = format!("{name}: there is no such object, and none below it (check the path)");
    Failure::new(io::ErrorKind::NotFound, what)
}
