//! [`Handle`]: the place of a dataset in a store, and whether it may be changed.

use crate::dataset_layout::DatasetLayout;
use crate::files::Files;
use bloscpack_error::{Category, Code, Error, Result};
use bloscpack_storage::{Access, Key};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The place of a dataset in a store, and whether it may be changed.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub files: Arc<Files>,
    /// Its folder.
    pub at: Key,
    pub layout: DatasetLayout,
    pub access: Access,
    /// Whether it is a column. Only its table can add rows.
    pub in_table: bool,
    /// Whether a change failed after it had begun, so that nothing of it may be committed. All columns of a table share it.
    pub failed: Arc<AtomicBool>,
}

impl Handle {
    pub(crate) fn new(files: Arc<Files>, at: Key, layout: DatasetLayout, access: Access) -> Self {
        Self {
            files,
            at,
            layout,
            access,
            in_table: false,
            failed: Arc::default(),
        }
    }

    /// The differences between its files and digests that the store has of them, as an archive has.
    pub(crate) fn verify_files(&self) -> Vec<Error> {
        self.files.verify(&self.at)
    }

    /// Refuses to change a dataset that was opened for reading, or of which a change has failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Write if self.failed.load(Ordering::Relaxed) => Err(Error::new(
                Code::Reopen,
                "an earlier change failed; reopen the dataset (it is unchanged since the last flush)",
            )),
            Access::Write => Ok(()),
            Access::Read => Err(Error::new(
                Code::ReadOnly,
                "the dataset was opened for reading: open it for changes",
            )),
        }
    }

    /// The result of a change. A usage error or an unsupported value has changed nothing; after any other error a part of the
    /// change may have been made.
    pub(crate) fn tried<T>(&self, done: Result<T>) -> Result<T> {
        if done.as_ref().is_err_and(|error| {
            !matches!(error.category(), Category::Usage | Category::Unsupported)
        }) {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Whether it is a column that is described together with the others.
    pub(crate) fn is_shared_column(&self) -> bool {
        self.in_table && !self.layout.columns_are_datasets()
    }
}
