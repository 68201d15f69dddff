//! Sends the changes of an [`Overlay`].
//!
//! ```text
//!  there were no objects          publish::steps_of_new
//!  one file put                   one request
//!  several files put              append::steps: rows of an array, or refused
//!  files removed                  refused
//! ```

use crate::append;
use crate::error::Failure;
use crate::overlay::Overlay;
use crate::publish::{Content, Put, Versions, put_in_steps, steps_of_new};
use object_store::{ObjectStoreExt as _, UpdateVersion};
use std::io;
use std::sync::Arc;

impl Overlay {
    /// Sends all changes or none.
    pub fn send(self: &Arc<Self>) -> io::Result<()> {
        let (put, removed) = {
            let state = self.state();
            let removed: Vec<String> = state.removed.iter().cloned().collect();
            (state.put.iter().cloned().collect::<Vec<_>>(), removed)
        };
        let sent = self.send_all(put, &removed);
        let mut state = self.state();
        match sent {
            Ok(versions) => {
                state.put.clear();
                state.versions.extend(versions);
                drop(state);
                self.forget_old()
            }
            Err(failure) => {
                state.has_failed = true;
                Err(failure.into())
            }
        }
    }

    fn send_all(
        self: &Arc<Self>,
        put: Vec<String>,
        removed: &[String],
    ) -> Result<Versions, Failure> {
        if put.is_empty() && removed.is_empty() {
            return Ok(Versions::new());
        }
        let is_new = self.base.is_empty()? && self.state().versions.is_empty();
        let puts = put.into_iter().map(|path| self.put_of(path));
        let puts: Vec<Put> = puts.collect::<Result<_, _>>()?;
        let steps = match (is_new, removed.is_empty(), puts.len()) {
            (true, ..) => steps_of_new(puts),
            (false, true, 1) => vec![puts],
            (false, true, _) => append::steps(self, puts)?,
            (false, false, _) => {
                let what = "files cannot be removed from a dataset in a bucket together with other changes";
                return Err(append::refused(&self.place.name, what));
            }
        };
        put_in_steps(&self.place, steps, Arc::new(|_| Ok(())))
    }

    /// The object for a file that was put.
    fn put_of(&self, path: String) -> Result<Put, Failure> {
        Ok(Put {
            place: self.base.place_of(&path),
            content: Content::File(self.file(&path)),
            replaces: self.version(&path)?,
            path,
        })
    }

    /// The version of an object that this editor knows; `None` if it did not exist.
    fn version(&self, path: &str) -> Result<Option<UpdateVersion>, Failure> {
        if let Some(version) = self.state().versions.get(path) {
            return Ok(Some(version.clone()));
        }
        let Some(meta) = self.base.meta(path) else {
            return Ok(None);
        };
        if meta.e_tag.is_some() || meta.version.is_some() {
            let (e_tag, version) = (meta.e_tag.clone(), meta.version.clone());
            return Ok(Some(UpdateVersion { e_tag, version }));
        }
        // Some listings have no tags.
        let place = self.base.place_of(path);
        let at = place.clone();
        let found = place.wait(async move {
            let found = at.store.head(&at.path).await;
            found.map_err(|error| at.not_written(&error))
        })?;
        if found.size == meta.size
            && found.last_modified.timestamp() == meta.last_modified.timestamp()
        {
            Ok(Some(UpdateVersion {
                e_tag: found.e_tag,
                version: found.version,
            }))
        } else {
            Err(Failure::conflict(&place.name))
        }
    }
}
