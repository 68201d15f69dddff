//! Puts files from the disk into a bucket so that readers see all of them or none.
//!
//! ```text
//! new dataset     first file, if nobody has it ─► all others, many at once ─► the file that makes it a dataset
//! rows appended   count, with a mark of the writer ─► chunks, many at once ─► count of all rows
//! ```
//!
//! Each request has a condition: the object still is the version that was listed, or is still missing.

use crate::error::Failure;
use crate::source::Place;
use crate::store::RemoteStore;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{PutMode, PutOptions, UpdateVersion};
use std::collections::HashMap;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// How many files are sent at once.
const AT_ONCE: usize = 16;

/// The versions of the objects that were put, by path.
pub(crate) type Versions = HashMap<String, UpdateVersion>;

/// Called with the length of each object after it was put. An error stops the work.
pub(crate) type Watch = Arc<dyn Fn(u64) -> Result<(), Error> + Send + Sync>;

/// An object to put, and what must exist before.
#[derive(Debug, Clone)]
pub(crate) struct Put {
    /// The path in the dataset.
    pub path: String,
    pub place: Place,
    pub content: Content,
    /// The version that it replaces; `None` for a new object.
    pub replaces: Option<UpdateVersion>,
}

/// The bytes of an object, or the file that contains them.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Bytes(Bytes),
    File(PathBuf),
}

impl Put {
    /// Puts the object, if the bucket still is as expected.
    async fn send(self, watch: &Watch) -> Result<(String, UpdateVersion), Failure> {
        let place = self.place.clone();
        place.ask(self.put(watch)).await
    }

    async fn put(self, watch: &Watch) -> Result<(String, UpdateVersion), Failure> {
        let bytes = match self.content {
            Content::Bytes(bytes) => bytes,
            Content::File(file) => std::fs::read(file)?.into(),
        };
        let len = bytes.len() as u64;
        let is_update = self.replaces.is_some();
        let mode = match self.replaces {
            Some(version) => PutMode::Update(version),
            None => PutMode::Create,
        };
        let (store, path) = (&self.place.store, &self.place.path);
        let put = store.put_opts(path, bytes.into(), PutOptions::from(mode));
        match put.await {
            Ok(put) => {
                watch(len)?;
                let (e_tag, version) = (put.e_tag, put.version);
                Ok((self.path, UpdateVersion { e_tag, version }))
            }
            // It was missing when listed.
            Err(object_store::Error::AlreadyExists { .. }) => {
                Err(Failure::conflict(&self.place.name))
            }
            // It existed when listed.
            Err(object_store::Error::NotFound { .. }) if is_update => {
                Err(Failure::conflict(&self.place.name))
            }
            Err(error) => Err(self.place.not_written(&error)),
        }
    }
}

/// Puts objects in steps: all objects of a step at once, and each step after the previous one is done.
pub(crate) fn put_in_steps(
    place: &Place,
    steps: Vec<Vec<Put>>,
    watch: Watch,
) -> Result<Versions, Failure> {
    let work = async move {
        let mut versions = Versions::new();
        for mut step in steps {
            for put in &mut step {
                // It replaces an object of an earlier step.
                if let Some(version) = versions.get(&put.path) {
                    put.replaces = Some(version.clone());
                }
            }
            let sent = stream::iter(step).map(|put| put.send(&watch));
            let sent = sent.buffer_unordered(AT_ONCE);
            versions.extend(sent.try_collect::<Vec<_>>().await?);
        }
        Ok(versions)
    };
    place.shared.bridge.wait(work)?
}

/// The file that makes a folder a dataset or a sparse frame. Readers do not recognise a folder without it.
const LAST: [&str; 4] = ["__rootdirs__", "meta/sizes", "meta/shape", "chunks.b2frame"];
/// A file that every new dataset has, whatever its columns.
const FIRST: [&str; 3] = ["__attrs__", "meta/attributes", "meta/storage"];
/// The file without which a dataset with a count is damaged.
const STORAGE: &str = "meta/storage";

/// The steps that make a new dataset of these objects.
pub(crate) fn steps_of_new(mut puts: Vec<Put>) -> Vec<Vec<Put>> {
    let take = |puts: &mut Vec<Put>, names: &[&str]| {
        let at = names
            .iter()
            .find_map(|name| puts.iter().position(|put| put.path == *name));
        at.map(|at| puts.remove(at))
    };
    puts.sort_by(|one, other| one.path.cmp(&other.path));
    let last = take(&mut puts, &LAST);
    let storage = take(&mut puts, &[STORAGE]).filter(|_| last.is_some());
    let first = take(&mut puts, &FIRST);
    let first = first.or_else(|| (!puts.is_empty()).then(|| puts.remove(0)));
    let steps = [
        first.into_iter().collect(),
        puts,
        storage.into_iter().collect(),
        last.into_iter().collect(),
    ];
    steps
        .into_iter()
        .filter(|step: &Vec<Put>| !step.is_empty())
        .collect()
}

/// Puts all files of a folder where there are no objects, and returns their total length.
pub(crate) fn upload(
    place: &Place,
    folder: &std::path::Path,
    watch: impl Fn(u64, u64) -> Result<(), Error> + Send + Sync + 'static,
) -> Result<u64, Failure> {
    let store = RemoteStore::listed(place.clone())?;
    if !store.is_empty()? {
        let what = format!(
            "{}: there are objects below this URL (choose another one)",
            place.name
        );
        return Err(Failure::new(ErrorKind::AlreadyExists, what));
    }
    let (mut puts, mut bytes) = (Vec::new(), 0);
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name
                .to_str()
                .ok_or(Error::from(ErrorKind::InvalidFilename))?;
            let (path, metadata) = (format!("{prefix}{name}"), entry.metadata()?);
            if metadata.is_dir() {
                folders.push((entry.path(), format!("{path}/")));
                continue;
            }
            bytes += metadata.len();
            puts.push(Put {
                place: store.place_of(&path),
                content: Content::File(entry.path()),
                replaces: None,
                path,
            });
        }
    }
    let watch = Arc::new(move |sent| watch(sent, bytes));
    put_in_steps(place, steps_of_new(puts), watch)?;
    Ok(bytes)
}

/// The count of an array with a mark that no other writer uses: equal numbers, another version.
pub(crate) fn marked(count: &[u8], mark: &str) -> Option<Bytes> {
    let text = std::str::from_utf8(count).ok()?;
    let numbers = text.trim_end().strip_suffix('}')?;
    let numbers = numbers
        .split_once(MARK)
        .map_or(numbers, |(numbers, _)| numbers);
    Some(format!("{numbers}{MARK}{mark}\"}}\n").into_bytes().into())
}

/// The key of the mark, which readers ignore.
const MARK: &str = ", \"writer\": \"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_changes_no_number() {
        let count = b"{\"shape\": [10], \"nbytes\": 80, \"cbytes\": 5}\n";
        let one = marked(count, "a").unwrap();
        assert_eq!(
            &*one,
            b"{\"shape\": [10], \"nbytes\": 80, \"cbytes\": 5, \"writer\": \"a\"}\n"
        );
        let two = marked(&one, "b").unwrap();
        assert_eq!(two.len(), one.len());
        assert_ne!(two, one);
        assert_eq!(marked(b"[1]", "a"), None);
    }
}
