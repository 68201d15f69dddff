//! [`Bucket`]: a store in memory that counts requests, takes its time, and fails on demand.

use crate::faulty::{Faults, Upload};
use bloscpack_remote::object_store::memory::InMemory;
use bloscpack_remote::object_store::path::Path;
use bloscpack_remote::object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use bloscpack_remote::{Remote, RemoteOptions};
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The requests that a bucket has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub requests: usize,
    /// The longest chain of requests each of which began after the last one had ended.
    pub rounds: usize,
    /// The most requests at once.
    pub at_once: usize,
    pub bytes: u64,
    pub now: usize,
}

/// A fault of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An error of the server, as it is after all retries.
    Error,
    /// An error that says that the object has changed.
    Precondition,
    /// The body ends early, with an error.
    Torn,
    /// The body ends early, without an error.
    Cut,
    /// A body with more bytes than were asked for.
    Long,
    /// Another range than the one that was asked for.
    OtherRange,
    /// Another version of the object, of the same length, with other bytes.
    Changed,
    /// The same of another length.
    ChangedLength,
}

pub const FAULTS: [Fault; 8] = [
    Fault::Error,
    Fault::Precondition,
    Fault::Torn,
    Fault::Cut,
    Fault::Long,
    Fault::OtherRange,
    Fault::Changed,
    Fault::ChangedLength,
];

#[derive(Debug, Default)]
pub struct Bucket {
    /// Buckets with the same objects may count for themselves.
    inner: Arc<InMemory>,
    seen: Arc<Mutex<Seen>>,
    /// The request that fails, counted from 0, and how; perhaps all after it fail, too.
    pub fault: Option<(usize, bool, Fault)>,
    pub delay: Duration,
    /// Uploads in parts that were neither completed nor aborted.
    open: Arc<Mutex<isize>>,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bucket")
    }
}

impl Bucket {
    pub fn new(delay: Duration) -> Arc<Self> {
        Arc::new(Self {
            delay,
            ..Self::default()
        })
    }

    /// The same objects, with another fault: nothing that is still under way counts here.
    pub fn again(&self, fault: Option<(usize, bool, Fault)>) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::clone(&self.inner),
            seen: Arc::default(),
            fault,
            delay: self.delay,
            open: Arc::default(),
        })
    }

    /// A remote that has this bucket at `memory://bucket`.
    pub fn remote(self: &Arc<Self>) -> Remote {
        let remote = Remote::new(RemoteOptions::new()).unwrap();
        remote
            .register("memory://bucket", Arc::clone(self) as Arc<dyn ObjectStore>)
            .unwrap();
        remote
    }

    pub fn put(self: &Arc<Self>, remote: &Remote, path: &str, bytes: Vec<u8>) {
        let (bucket, path) = (Arc::clone(self), Path::parse(path).unwrap());
        let put = async move { bucket.inner.put(&path, bytes.into()).await.map(drop) };
        remote.bridge().wait(put).unwrap().unwrap();
    }

    /// Uploads all files of a folder.
    pub fn put_all(self: &Arc<Self>, remote: &Remote, prefix: &str, folder: &std::path::Path) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                self.put_all(remote, &name, &path)
            } else {
                self.put(remote, &name, std::fs::read(path).unwrap())
            }
        }
    }

    /// The bytes of an object, if there is one.
    pub fn bytes(&self, remote: &Remote, path: &str) -> Option<Vec<u8>> {
        let (inner, path) = (Arc::clone(&self.inner), Path::parse(path).unwrap());
        let get = async move { inner.get(&path).await.ok()?.bytes().await.ok() };
        Some(remote.bridge().wait(get).unwrap()?.to_vec())
    }

    /// A bucket of its own with the same objects.
    pub fn copy(&self, fault: Option<(usize, bool, Fault)>) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(self.inner.fork()),
            fault,
            delay: self.delay,
            ..Self::default()
        })
    }

    /// Uploads in parts that were neither completed nor aborted.
    pub fn open_uploads(&self) -> isize {
        *self.open.lock().unwrap()
    }

    fn faults(&self) -> Faults {
        Faults {
            seen: Arc::clone(&self.seen),
            fault: self.fault,
            delay: self.delay,
            open: Arc::clone(&self.open),
        }
    }

    /// The requests since the last call.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// Counts a request. Returns its number, and the round in which it is.
    async fn begin(&self) -> (usize, usize) {
        let begun = {
            let mut seen = self.seen.lock().unwrap();
            seen.requests += 1;
            seen.now += 1;
            seen.at_once = seen.at_once.max(seen.now);
            (seen.requests - 1, seen.rounds + 1)
        };
        tokio::time::sleep(self.delay).await;
        begun
    }

    fn end(&self, round: usize, bytes: u64) {
        let mut seen = self.seen.lock().unwrap();
        seen.rounds = seen.rounds.max(round);
        seen.now = seen.now.saturating_sub(1);
        seen.bytes += bytes;
    }

    fn fault_of(&self, number: usize) -> Option<Fault> {
        self.fault
            .filter(|(at, goes_on, _)| *at == number || (*goes_on && *at < number))
            .map(|(.., fault)| fault)
    }

    async fn answer(
        &self,
        path: &Path,
        options: GetOptions,
        fault: Option<Fault>,
    ) -> Result<GetResult> {
        let torn = || Error::Generic {
            store: "bucket",
            source: "500 Internal Server Error".into(),
        };
        match fault {
            Some(Fault::Error) => return Err(torn()),
            Some(Fault::Precondition) => {
                let source = "412".into();
                return Err(Error::Precondition {
                    path: path.to_string(),
                    source,
                });
            }
            _ => {}
        }
        let result = self.inner.get_opts(path, options).await?;
        let (mut meta, mut range) = (result.meta.clone(), result.range.clone());
        let (attributes, extensions) = (result.attributes.clone(), result.extensions.clone());
        let bytes = result.bytes().await?;
        let half = bytes.slice(..bytes.len() / 2);
        let mut parts = vec![Ok(bytes.clone())];
        match fault {
            Some(Fault::Torn) => parts = vec![Ok(half), Err(torn())],
            Some(Fault::Cut) => parts = vec![Ok(half)],
            Some(Fault::Long) => parts.push(Ok("more".into())),
            Some(Fault::OtherRange) => range.end += 1,
            Some(Fault::Changed) => {
                meta.e_tag = Some("another".to_owned());
                parts = vec![Ok(bytes
                    .iter()
                    .map(|byte| !byte)
                    .collect::<Vec<u8>>()
                    .into())];
            }
            Some(Fault::ChangedLength) => meta.size += 1,
            _ => {}
        }
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream::iter(parts).boxed()),
            meta,
            range,
            attributes,
            extensions,
        })
    }
}

#[async_trait::async_trait]
impl ObjectStore for Bucket {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let put = self.inner.put_opts(path, payload, options);
        self.faults().change(path, put).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let begin = self.inner.put_multipart_opts(path, options);
        let faults = self.faults();
        let inner = faults.clone().change(path, begin).await?;
        *self.open.lock().unwrap() += 1;
        let path = path.clone();
        Ok(Box::new(Upload {
            inner,
            path,
            faults,
        }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let (number, round) = self.begin().await;
        let answer = self.answer(path, options, self.fault_of(number)).await;
        let bytes = answer
            .as_ref()
            .map_or(0, |answer| answer.range.end - answer.range.start);
        self.end(round, bytes);
        answer
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (inner, prefix) = (self.inner.list(prefix), prefix.cloned());
        let (number, round) = {
            let mut seen = self.seen.lock().unwrap();
            seen.requests += 1;
            (seen.requests - 1, seen.rounds + 1)
        };
        let (delay, fault) = (self.delay, self.fault_of(number));
        // The stream outlives the reference: the round ends here.
        self.end(round, 0);
        let listed = async move {
            tokio::time::sleep(delay).await;
            let mut all: Vec<ObjectMeta> = inner.try_collect().await?;
            match fault {
                None => {}
                Some(Fault::Changed) => all
                    .iter_mut()
                    .for_each(|meta| meta.e_tag = Some("other".to_owned())),
                Some(Fault::ChangedLength) => all.iter_mut().for_each(|meta| meta.size += 1),
                Some(_) => {
                    let source = format!("listing {prefix:?}").into();
                    return Err(Error::Generic {
                        store: "bucket",
                        source,
                    });
                }
            }
            Ok(stream::iter(all.into_iter().map(Ok)))
        };
        stream::once(listed).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
