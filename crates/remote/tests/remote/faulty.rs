//! Changes of a bucket that are counted, and fail on demand.

use crate::bucket::{Fault, Seen};
use bloscpack_remote::object_store::path::Path;
use bloscpack_remote::object_store::{
    Error, MultipartUpload, PutPayload, PutResult, Result, UploadPart,
};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The part of a bucket that counts changes and lets them fail.
#[derive(Debug, Clone)]
pub struct Faults {
    pub seen: Arc<Mutex<Seen>>,
    pub fault: Option<(usize, bool, Fault)>,
    pub delay: Duration,
    pub open: Arc<Mutex<isize>>,
}

impl Faults {
    /// The number of a request, with what is wrong with it.
    async fn begin(&self) -> (usize, Option<Fault>) {
        let (number, round) = {
            let mut seen = self.seen.lock().unwrap();
            seen.requests += 1;
            seen.now += 1;
            seen.at_once = seen.at_once.max(seen.now);
            (seen.requests - 1, seen.rounds + 1)
        };
        tokio::time::sleep(self.delay).await;
        let fault = self
            .fault
            .filter(|(at, goes_on, _)| *at == number || (*goes_on && *at < number));
        (round, fault.map(|(.., fault)| fault))
    }

    fn end(&self, round: usize) {
        let mut seen = self.seen.lock().unwrap();
        seen.rounds = seen.rounds.max(round);
        seen.now = seen.now.saturating_sub(1);
    }

    /// Makes a change, or says that it did not, or does so although it did.
    pub async fn change<T>(
        self,
        path: &Path,
        change: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let (round, fault) = self.begin().await;
        let failed = |what: &'static str| Error::Generic {
            store: "bucket",
            source: what.into(),
        };
        let done = match fault {
            None => change.await,
            Some(Fault::Torn | Fault::Long) => match change.await {
                Ok(_) => Err(failed("503, after it was done")),
                Err(error) => Err(error),
            },
            Some(Fault::Precondition | Fault::Changed) => Err(Error::Precondition {
                path: path.to_string(),
                source: "412".into(),
            }),
            Some(_) => Err(failed("500 Internal Server Error")),
        };
        self.end(round);
        done
    }
}

/// An upload in parts, each of which may fail.
#[derive(Debug)]
pub struct Upload {
    pub inner: Box<dyn MultipartUpload>,
    pub path: Path,
    pub faults: Faults,
}

#[async_trait::async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        // The store keeps parts in the order of the calls: one that is cut has to be cut here.
        let number = self.faults.seen.lock().unwrap().requests;
        let is_cut = matches!(self.faults.fault, Some((at, _, Fault::Cut)) if at == number);
        let bytes = bytes::Bytes::from(data);
        let kept = if is_cut { bytes.len() / 2 } else { bytes.len() };
        let put = self.inner.put_part(bytes.slice(..kept).into());
        let (faults, path) = (self.faults.clone(), self.path.clone());
        if is_cut {
            faults.seen.lock().unwrap().requests += 1;
            put
        } else {
            Box::pin(async move { faults.change(&path, put).await })
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let faults = self.faults.clone();
        let (path, complete) = (self.path.clone(), self.inner.complete());
        let open = Arc::clone(&faults.open);
        let complete = async move {
            let done = complete.await;
            *open.lock().unwrap() -= 1;
            done
        };
        faults.change(&path, complete).await
    }

    async fn abort(&mut self) -> Result<()> {
        let faults = self.faults.clone();
        let (path, abort) = (self.path.clone(), self.inner.abort());
        let open = Arc::clone(&faults.open);
        let abort = async move {
            *open.lock().unwrap() -= 1;
            abort.await
        };
        faults.change(&path, abort).await
    }
}
