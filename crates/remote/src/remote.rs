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
/// Everything that it opens shares one background thread, the connections, and a bounded cache, so make one and
/// keep it. Calls block, and can be made from any thread, inside and outside any runtime. In a forked child,
/// all requests are errors.
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
    /// The stores that were made or registered, by the part that their URLs share.
    stores: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

/// What a URL refers to.
#[derive(Debug)]
pub enum Found {
    /// An object: a file.
    Object(RemoteObject),
    /// A path within an object that is an archive or a tree of frames: `dir/inside` for
    /// `s3://bucket/a.zip/dir/inside`.
    Within(RemoteObject, String),
    /// Objects below a prefix: a dataset, or a folder of datasets.
    Folder(RemoteStore),
}

/// Extensions of objects that a URL can lead into.
const ARCHIVES: [&str; 3] = [".zip", ".b2z", ".b2e"];

impl Remote {
    /// Starts the background thread. Makes no request.
    ///
    /// # Errors
    /// Returns any error of the system for a thread or a runtime.
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

    /// The bridge to the runtime that makes the requests.
    #[must_use]
    pub fn bridge(&self) -> &Bridge {
        &self.shared.bridge
    }

    /// Uses this store for all URLs with the same scheme, host, port and query. Replaces the store that such
    /// URLs have used; what is open keeps the old one.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if `url` is not a URL with a known scheme.
    pub fn register(&self, url: &str, store: Arc<dyn ObjectStore>) -> io::Result<()> {
        let location = Location::parse(url)?;
        self.stores().insert(location.store_name(), store);
        Ok(())
    }

    /// Opens the object at a URL with one request, or two for a frame (`.b2nd`, `.b2frame`), made at once.
    ///
    /// # Errors
    /// Returns an error that names the URL and what to do: [`InvalidInput`](io::ErrorKind::InvalidInput) for an
    /// invalid URL, [`NotFound`](io::ErrorKind::NotFound) if the object does not exist,
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) for missing or insufficient credentials,
    /// [`Unsupported`](io::ErrorKind::Unsupported) if this build lacks the scheme or the server sends no
    /// ranges, and any error of the network.
    pub fn object(&self, url: &str) -> io::Result<RemoteObject> {
        Ok(object_at(self.place(&Location::parse(url)?)?)?)
    }

    /// Opens the objects below a URL. A bucket is listed to the end of the prefix, a thousand objects a
    /// request; a plain web server is asked for 13 files by name.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), and [`NotFound`](io::ErrorKind::NotFound) if there are
    /// no objects.
    pub fn store(&self, url: &str) -> io::Result<RemoteStore> {
        let location = Location::parse(url)?;
        let store = store_at(self.place(&location)?, location.scheme)?;
        Ok(store.ok_or_else(|| missing(&location))?)
    }

    /// Determines what a URL refers to: an object, objects below it, or a path within an archive. A URL that
    /// ends with a slash refers to a folder. The likely kind is requested first: an object if the name has a
    /// known file extension and for web servers, otherwise a folder.
    ///
    /// ```
    /// use bloscpack_remote::{Found, Remote, RemoteOptions, WriteOptions};
    /// use std::io::Write as _;
    ///
    /// let remote = Remote::new(RemoteOptions::new())?;
    /// let mut object = remote.create("memory://bucket/data/a.blp", &WriteOptions::new())?;
    /// object.write_all(b"any bytes")?;
    /// object.finish()?;
    /// assert!(matches!(remote.find("memory://bucket/data/a.blp")?, Found::Object(_)));
    /// assert!(matches!(remote.find("memory://bucket/data")?, Found::Folder(_)));
    /// assert!(remote.find("memory://bucket/other").is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object).
    pub fn find(&self, url: &str) -> io::Result<Found> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        let folder = |found: Option<RemoteStore>| found.map(Found::Folder);
        // The likely kind is requested first.
        let looks_like_file = location.has_extension() || location.scheme == Scheme::Http;
        if location.is_folder || !looks_like_file {
            if let Some(found) = folder(store_at(place.clone(), location.scheme)?) {
                return Ok(found);
            }
            if location.is_folder {
                return Err(missing(&location).into());
            }
        }
        // A folder has no ranges: a web server answers with its index page, or with an error.
        let may_be_folder = |error: &Failure| match location.scheme {
            Scheme::Http if error.is_forbidden() => !names_a_file(url),
            Scheme::Http => error.is_missing() || error.is_unsupported(),
            // Some servers have folders, and fail in their own ways when one is requested as an object.
            _ => looks_like_file && !error.is_denied() && error.may_be_of_object(),
        };
        let error = match object_at(place) {
            Ok(object) => return Ok(Found::Object(object)),
            Err(error) => error,
        };
        let error = if may_be_folder(&error) {
            match store_at(self.place(&location)?, location.scheme) {
                Ok(Some(found)) => return Ok(Found::Folder(found)),
                // The bucket may be missing, too.
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

    /// The object that a URL leads into, if one of its parts is named like an archive.
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

    /// Opens what a URL refers to: a Bloscpack file, records, an archive, a dataset or a frame.
    ///
    /// # Errors
    /// Returns the errors of [`find`](Self::find) and those of opening files and datasets.
    pub fn open(&self, url: &str, options: &Options) -> Result<Box<dyn Container>> {
        match self.find(url).reading()? {
            Found::Object(object) => open_source(object, options),
            Found::Within(object, path) => open_within(object, &path, options),
            Found::Folder(store) => open_store(store, options),
        }
    }

    /// Begins to write an object. It appears when [`RemoteWriter::finish`] returns. Makes no request yet.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for an invalid URL or one of a folder,
    /// [`Unsupported`](io::ErrorKind::Unsupported) for a web server, and an error for missing credentials.
    pub fn create(&self, url: &str, options: &WriteOptions) -> io::Result<RemoteWriter> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        check_place(&place, location.scheme == Scheme::Http, location.is_folder)?;
        Ok(RemoteWriter::new(place, options.clone()))
    }

    /// Opens the dataset at a URL to change it, or to make a new one if there are no objects. Lists the
    /// objects.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for an invalid URL,
    /// [`Unsupported`](io::ErrorKind::Unsupported) for a web server,
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if the directory was uploaded in the middle of a change,
    /// and any error of the store.
    pub fn edit(&self, url: &str) -> io::Result<RemoteEditor> {
        let location = Location::parse(url)?;
        let place = self.place(&location)?;
        check_place(&place, location.scheme == Scheme::Http, false)?;
        Ok(RemoteEditor::new(place)?)
    }

    /// Uploads a folder that contains a new dataset or sparse frame, and returns the number of bytes. Readers
    /// see all of it or none. Each file is one request and read into memory, 16 at once.
    ///
    /// ```
    /// use bloscpack_open::datasets::CArray;
    /// use bloscpack_remote::{Remote, RemoteOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array");
    /// let mut array = CArray::of::<i32>().create(&path)?;
    /// array.append_values(&[1, 2, 3])?;
    /// array.flush()?;
    /// drop(array);
    ///
    /// let remote = Remote::new(RemoteOptions::new())?;
    /// remote.upload(&path, "memory://bucket/array")?;
    /// let array = CArray::open_in(remote.store("memory://bucket/array")?)?;
    /// assert_eq!(array.to_vec::<i32>(0..3)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there are objects below the URL, and any
    /// error of the folder and of the store. Objects that readers do not recognise as a dataset may then
    /// remain.
    pub fn upload(&self, folder: &Path, url: &str) -> io::Result<u64> {
        self.upload_watched(folder, url, |_, _| Ok(()))
    }

    /// As [`upload`](Self::upload), and calls `watch` after each object, with its bytes and the bytes of all
    /// objects.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload), and that of `watch`, which stops the upload.
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

    /// Whether there is an object at a URL. Makes one request.
    ///
    /// ```
    /// use bloscpack_remote::{Remote, RemoteOptions, WriteOptions};
    ///
    /// let (remote, url) = (Remote::new(RemoteOptions::new())?, "memory://bucket/empty");
    /// assert!(!remote.exists(url)?);
    /// assert_eq!(remote.create(url, &WriteOptions::new().create_new(true))?.finish()?, 0);
    /// assert!(remote.exists(url)?);
    /// // The object exists now.
    /// assert!(remote.create(url, &WriteOptions::new().create_new(true))?.finish().is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), except for an object that does not exist.
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

/// The objects below a place; `None` if there are none.
fn store_at(place: Place, scheme: Scheme) -> std::result::Result<Option<RemoteStore>, Failure> {
    if scheme == Scheme::Http {
        let store = RemoteStore::unlisted(place);
        return Ok((!store.is_empty()?).then_some(store));
    }
    match RemoteStore::listed(place.clone()) {
        // Public buckets may be readable but not listable.
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

/// Whether a URL has the extension of something that is never a folder.
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
