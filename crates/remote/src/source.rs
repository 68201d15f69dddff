//! [`Source`]: one object, and the requests for its bytes.
//!
//! ```text
//!  first read    begin  bytes 0 to 64 KiB, or to 8 MiB for a file of a store ─► length, version, first bytes
//!                end    the last 64 KiB, at the same time, if it is named .b2nd or .b2frame
//!  later reads   cover  the runs missing in the cache, 64 KiB to 2 MiB each, with If-Match: the version's tag
//!                body   compares version, range and length of each answer
//!  failures      ask    Trouble: no requests for this object, or after a failure of the server for everything
//!                       that was opened with it, until the pause is over
//! ```

use crate::bridge::Bridge;
use crate::cache::{Cache, Run, Wanted};
use crate::error::{Failure, Secrets, has_no_ranges, is_out_of_range};
use crate::options::RemoteOptions;
use crate::trouble::Trouble;
use bytes::Bytes;
use futures_util::future;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::fmt;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Semaphore;

/// Minimum length of a request, unless the object is shorter.
const LEAST: u64 = 64 << 10;
/// Maximum length of a request.
const MOST: u64 = 2 << 20;
/// Objects of a dataset up to this length are fetched whole, in one request.
const WHOLE: u64 = 8 << 20;

/// What all objects of a `Remote` share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub bridge: Bridge,
    pub cache: Cache,
    /// Limits the requests made at once.
    pub permits: Semaphore,
    pub options: RemoteOptions,
}

/// The location of an object.
#[derive(Clone)]
pub(crate) struct Place {
    pub shared: Arc<Shared>,
    pub store: Arc<dyn ObjectStore>,
    pub path: Path,
    /// Its URL, without secrets.
    pub name: Arc<str>,
    pub secrets: Secrets,
    /// Shared by everything that was opened at once.
    pub trouble: Arc<Trouble>,
}

impl Place {
    /// Makes a request when it is its turn, unless the server has failed recently.
    pub async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let permit = self.shared.permits.acquire().await;
        let _permit = permit.map_err(|_| Failure::ended())?;
        self.trouble.check()?;
        let answer = request.await;
        if let Err(failure) = &answer
            && failure.is_of_server()
        {
            self.trouble.note(failure);
        }
        answer
    }

    /// Makes a request and waits for it.
    pub fn wait<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let place = self.clone();
        let bridge = &self.shared.bridge;
        bridge.wait(async move { place.ask(request).await })?
    }

    /// The error of a failed change.
    pub fn not_written(&self, error: &object_store::Error) -> Failure {
        Failure::of_change(error, &self.name, &self.secrets)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A version of an object. All answers must be of the same version.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub size: u64,
    e_tag: Option<String>,
    modified: i64,
    /// The tag, as the condition of requests.
    condition: Option<String>,
    /// The name of this version in the cache.
    key: Arc<str>,
}

impl Version {
    pub fn of(meta: &ObjectMeta, name: &str, is_listed: bool) -> Self {
        let tag = meta.e_tag.as_deref().map(bare);
        let modified = meta.last_modified.timestamp_millis();
        let version = meta.version.as_deref().unwrap_or_default();
        let tag_text = tag.unwrap_or_default();
        let key = format!("{name}\n{tag_text}\n{version}\n{modified}\n{}", meta.size);
        // Weak tags never match `If-Match`, and listings may spell tags differently.
        let condition = meta.e_tag.clone();
        let condition = condition.filter(|tag| !tag.starts_with("W/"));
        Self {
            size: meta.size,
            e_tag: tag.map(str::to_owned),
            modified,
            condition: condition.filter(|tag| !is_listed || tag.starts_with('"')),
            key: key.into(),
        }
    }

    /// Whether an answer is of this version. Listings may round times to seconds.
    fn is(&self, meta: &ObjectMeta) -> bool {
        let tags = self.e_tag.as_deref().zip(meta.e_tag.as_deref().map(bare));
        let is_same = match tags {
            Some((one, other)) => one == other,
            None => self.modified / 1000 == meta.last_modified.timestamp(),
        };
        is_same && self.size == meta.size
    }
}

/// Its length, and its tag or else the time of its last change.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.e_tag {
            Some(tag) => write!(f, "{} {tag}", self.size),
            None => write!(f, "{} of {}", self.size, self.modified / 1000),
        }
    }
}

/// A tag without its quotes, which some listings omit.
fn bare(tag: &str) -> &str {
    tag.trim_start_matches("W/").trim_matches('"')
}

/// One object.
#[derive(Debug)]
pub(crate) struct Source {
    place: Place,
    /// Whether it is one of the files of a store, each of which is read whole.
    is_part: bool,
    version: OnceLock<Version>,
    /// Held while waiting for the first answer.
    first: Mutex<()>,
    /// The failure of this object alone.
    trouble: Trouble,
}

impl Source {
    /// An object about which nothing is known.
    pub fn new(place: Place, is_part: bool) -> Arc<Self> {
        Self::with(place, is_part, OnceLock::new())
    }

    /// An object of a store as it was listed.
    pub fn listed(place: Place, meta: &ObjectMeta) -> Arc<Self> {
        let version = Version::of(meta, &place.name, true);
        Self::with(place, true, OnceLock::from(version))
    }

    fn with(place: Place, is_part: bool, version: OnceLock<Version>) -> Arc<Self> {
        Arc::new(Self {
            trouble: Trouble::new(place.shared.options.retry_timeout),
            place,
            is_part,
            version,
            first: Mutex::default(),
        })
    }

    /// Makes a request for this object, unless one has failed recently.
    async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.trouble.check()?;
        let answer = self.place.ask(request).await;
        if let Err(failure) = &answer {
            self.trouble.note(failure);
        }
        answer
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The version, if it is known without a request.
    pub fn known(&self) -> Option<&Version> {
        self.version.get()
    }

    /// The version from the first answer, which also brings the first bytes. The last bytes of a frame are
    /// requested at the same time.
    pub fn version(self: &Arc<Self>) -> io::Result<&Version> {
        Ok(self.first()?)
    }

    /// As [`version`](Self::version).
    pub fn first(self: &Arc<Self>) -> Result<&Version, Failure> {
        if let Some(version) = self.version.get() {
            return Ok(version);
        }
        let _waits = lock(&self.first);
        if let Some(version) = self.version.get() {
            return Ok(version);
        }
        let source = Arc::clone(self);
        let begun = async move { future::join(source.begin(), source.end()).await };
        let (begun, end) = self.place.shared.bridge.wait(begun)?;
        let (version, bytes) = begun?;
        if let Some((meta, range, bytes)) = end {
            let is_end = version.is(&meta) && range.end == version.size;
            if is_end && bytes.len() as u64 == range.end - range.start {
                self.place.shared.cache.put(&version.key, range, bytes);
            }
        }
        Ok(self.begun_with(version, bytes))
    }

    fn begun_with(&self, version: Version, bytes: Bytes) -> &Version {
        let end = bytes.len() as u64;
        let cache = &self.place.shared.cache;
        cache.put(&version.key, 0..end, bytes);
        self.version.get_or_init(|| version)
    }

    /// Requests several objects at once and waits for their first answers.
    pub fn begin_all(sources: Vec<Arc<Self>>) -> io::Result<Vec<Result<Arc<Self>, Failure>>> {
        let Some(first) = sources.first() else {
            return Ok(Vec::new());
        };
        let bridge = first.place.shared.bridge.clone();
        let begun = sources.into_iter().map(|source| async move {
            let (version, bytes) = source.begin().await?;
            source.begun_with(version, bytes);
            Ok(source)
        });
        let begun = future::join_all(begun.collect::<Vec<_>>());
        bridge.wait(begun)
    }

    /// Requests the beginning, and so the length.
    async fn begin(&self) -> Result<(Version, Bytes), Failure> {
        let most = if self.is_part { WHOLE } else { LEAST };
        self.ask(async {
            let result = match self.get(GetRange::Bounded(0..most), None).await {
                Ok(result) => result,
                Err(error) => return self.empty(&error).await,
            };
            let version = Version::of(&result.meta, &self.place.name, false);
            let expected = 0..most.min(version.size);
            let bytes = self.body(result, &expected).await?;
            Ok((version, bytes))
        })
        .await
    }

    /// Handles an object without bytes: every range request for it is an error.
    async fn empty(&self, error: &object_store::Error) -> Result<(Version, Bytes), Failure> {
        if !is_out_of_range(error) {
            return Err(self.failed(error));
        }
        let head = GetOptions {
            head: true,
            ..Default::default()
        };
        let head = self.place.store.get_opts(&self.place.path, head).await;
        let head = head.ok().filter(|head| head.meta.size == 0);
        let head = head.ok_or_else(|| self.failed(error))?;
        let version = Version::of(&head.meta, &self.place.name, false);
        Ok((version, Bytes::new()))
    }

    /// Requests the last bytes of an object that is named like a frame, before its length is known, because
    /// opening a frame needs both ends. `None` if anything fails; the bytes are then requested when they are
    /// needed.
    async fn end(&self) -> Option<(ObjectMeta, Range<u64>, Bytes)> {
        if self.is_part || !matches!(self.place.path.extension(), Some("b2nd" | "b2frame")) {
            return None;
        }
        let end = self.place.ask(async {
            let result = self.get(GetRange::Suffix(LEAST), None).await;
            let result = result.map_err(|error| self.failed(&error))?;
            let (meta, range) = (result.meta.clone(), result.range.clone());
            let bytes = result.bytes().await.map_err(|error| self.failed(&error))?;
            Ok((meta, range, bytes))
        });
        end.await.ok()
    }

    async fn get(
        &self,
        range: GetRange,
        if_match: Option<String>,
    ) -> object_store::Result<GetResult> {
        let whole = GetOptions {
            if_match,
            ..Default::default()
        };
        let options = GetOptions {
            range: Some(range),
            ..whole.clone()
        };
        let (store, path) = (&self.place.store, &self.place.path);
        match store.get_opts(path, options).await {
            // Simple servers have no ranges. A part is short enough to be fetched whole.
            Err(error) if self.is_part && has_no_ranges(&error) => {
                let answer = store.get_opts(path, whole).await?;
                if answer.meta.size > WHOLE {
                    return Err(error);
                }
                Ok(answer)
            }
            answer => answer,
        }
    }

    /// The bytes of an answer, if its range is the requested one, or if it is the whole part.
    async fn body(&self, result: GetResult, expected: &Range<u64>) -> Result<Bytes, Failure> {
        let (name, given) = (&self.place.name, result.range.clone());
        let wrong = |found| Failure::wrong_length(name, found, expected.end - expected.start);
        if given != *expected && !(self.is_part && given == (0..result.meta.size)) {
            return Err(wrong(given.end.saturating_sub(given.start)));
        }
        let bytes = result.bytes().await.map_err(|error| self.failed(&error))?;
        let found = bytes.len() as u64;
        let wanted = expected
            .start
            .checked_sub(given.start)
            .zip(expected.end.checked_sub(given.start));
        let wanted = wanted
            .filter(|_| found == given.end - given.start)
            .and_then(|(start, end)| {
                bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            });
        let wanted = wanted.ok_or_else(|| wrong(found))?;
        Ok(bytes.slice_ref(wanted))
    }

    async fn fetch(&self, version: &Version, range: &Range<u64>) -> Result<Bytes, Failure> {
        self.ask(async {
            let condition = version.condition.clone();
            let result = self.get(GetRange::Bounded(range.clone()), condition).await;
            let result = result.map_err(|error| self.failed(&error))?;
            if !version.is(&result.meta) {
                return Err(Failure::changed(&self.place.name));
            }
            self.body(result, range).await
        })
        .await
    }

    fn failed(&self, error: &object_store::Error) -> Failure {
        Failure::of(error, &self.place.name, &self.place.secrets)
    }

    /// Begins to fetch the missing bytes of a range. Returns the run with its first byte, and how many bytes
    /// were requested.
    pub fn cover(
        self: &Arc<Self>,
        version: &Version,
        range: Range<u64>,
        is_planned: bool,
    ) -> (Option<Arc<Run>>, u64) {
        let size = version.size;
        let is_whole = self.is_part && size <= WHOLE;
        let wanted = Wanted {
            at: range.start,
            range: if is_whole { 0..size } else { range },
            is_planned,
            least: if is_planned { 0 } else { LEAST },
            most: if is_whole { WHOLE } else { MOST },
            size,
        };
        let cache = &self.place.shared.cache;
        let (run, new) = cache.cover(&version.key, &wanted);
        let asked = new.iter().map(|run| run.len()).sum();
        for run in new {
            let work = Fetching {
                source: Arc::clone(self),
                version: version.clone(),
                run,
            };
            self.place.shared.bridge.spawn(work.run());
        }
        (run, asked)
    }

    /// The bytes of a run, when they have arrived.
    pub fn wait(&self, version: &Version, run: &Arc<Run>) -> io::Result<Bytes> {
        self.place.shared.bridge.check()?;
        let bytes = run.wait()?;
        self.place.shared.cache.touch(&version.key, run);
        Ok(bytes)
    }
}

/// A run that is being fetched. It always gets a result, even if the runtime ends first.
struct Fetching {
    source: Arc<Source>,
    version: Version,
    run: Arc<Run>,
}

impl Fetching {
    async fn run(self) {
        let result = self.source.fetch(&self.version, &self.run.range).await;
        self.finish(result);
    }

    fn finish(&self, result: Result<Bytes, Failure>) {
        let cache = &self.source.place.shared.cache;
        cache.finish(&self.version.key, &self.run, result);
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        if !self.run.is_finished() {
            self.finish(Err(Failure::ended()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
