//! [`Upload`]: a multipart upload, invisible until all parts have arrived.

use crate::error::Failure;
use crate::source::Place;
use bytes::Bytes;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutResult};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// How long aborting an upload may take.
const GIVING_UP: Duration = Duration::from_secs(20);

/// A multipart upload. Dropping it before it is complete aborts it.
#[derive(Debug)]
pub(crate) struct Upload {
    place: Place,
    /// `None` after completing or aborting.
    upload: Option<Box<dyn MultipartUpload>>,
    /// The parts being sent, in order, with their lengths.
    parts: VecDeque<(u64, Receiver<Result<(), Failure>>)>,
    on_their_way: u64,
    /// Maximum number of bytes being sent.
    most: u64,
}

impl Upload {
    /// Begins an upload with at most `most` bytes being sent, or a single longer part.
    pub fn begin(place: &Place, most: u64) -> Result<Self, Failure> {
        let at = place.clone();
        let upload = place.wait(async move {
            let begun = at.store.put_multipart(&at.path).await;
            begun.map_err(|error| at.not_written(&error))
        })?;
        Ok(Self {
            place: place.clone(),
            upload: Some(upload),
            parts: VecDeque::new(),
            on_their_way: 0,
            most,
        })
    }

    /// Sends the next part when there is room for it.
    pub fn put(&mut self, part: Bytes) -> Result<(), Failure> {
        let len = part.len() as u64;
        while !self.parts.is_empty() && self.on_their_way.saturating_add(len) > self.most {
            self.wait_for_one()?;
        }
        let upload = self.upload.as_mut().ok_or_else(Failure::ended)?;
        let sent = upload.put_part(part.into());
        let place = self.place.clone();
        let (done, result) = sync_channel(1);
        self.place.shared.bridge.spawn(async move {
            let put = async { sent.await.map_err(|error| place.not_written(&error)) };
            let put = place.ask(put).await;
            // Nobody waits for it if another part has failed.
            let _ = done.send(put);
        });
        self.on_their_way += len;
        self.parts.push_back((len, result));
        Ok(())
    }

    /// Waits for the part that was sent first.
    fn wait_for_one(&mut self) -> Result<(), Failure> {
        let Some((len, result)) = self.parts.pop_front() else {
            return Ok(());
        };
        self.on_their_way = self.on_their_way.saturating_sub(len);
        result.recv().map_err(|_| Failure::ended())?
    }

    /// Waits for all parts.
    pub fn settle(&mut self) -> Result<(), Failure> {
        while !self.parts.is_empty() {
            self.wait_for_one()?;
        }
        Ok(())
    }

    /// Joins all parts to an object, which must have length `len`.
    pub fn complete(mut self, len: u64) -> Result<(), Failure> {
        self.settle()?;
        let mut upload = self.upload.take().ok_or_else(Failure::ended)?;
        let at = self.place.clone();
        let work = async move {
            let done = upload.complete().await;
            (upload, done)
        };
        let (upload, done) = self.place.shared.bridge.wait(work)?;
        match done {
            Ok(put) => check_length(&at, put, len),
            Err(error) => {
                // If the store has completed it, aborting has no effect.
                self.upload = Some(upload);
                Err(self.place.not_written(&error))
            }
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(mut upload) = self.upload.take() else {
            return;
        };
        let parts = std::mem::take(&mut self.parts);
        // A part that arrives after the abort would stay in the store.
        for (_, result) in parts {
            let _ = result.recv();
        }
        let abort = async move { upload.abort().await };
        let abort = async move { tokio::time::timeout(GIVING_UP, abort).await.map(drop) };
        // If the store does not answer, its lifecycle rules remove what is left.
        let _ = self.place.shared.bridge.wait(abort);
    }
}

/// Compares the object's length with what was sent, and removes an object of another length, which would look
/// complete.
fn check_length(place: &Place, put: PutResult, len: u64) -> Result<(), Failure> {
    let at = place.clone();
    let check = async move {
        let found = at.store.head(&at.path).await?;
        // Another writer has replaced it.
        let is_other = put.e_tag.zip(found.e_tag).is_some_and(|(a, b)| a != b);
        if found.size == len || is_other {
            return Ok(len);
        }
        at.store.delete(&at.path).await?;
        Ok(found.size)
    };
    let found = place.shared.bridge.wait(check)?;
    match found.map_err(|error| place.not_written(&error))? {
        found if found == len => Ok(()),
        found => Err(Failure::stored(&place.name, found, len)),
    }
}

/// Whether there is an object at a place.
pub(crate) fn exists(place: &Place) -> Result<bool, Failure> {
    let at = place.clone();
    place.wait(async move {
        match at.store.head(&at.path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(at.not_written(&error)),
        }
    })
}
