//! [`Handle`]: where a dataset is, and whether it may be changed.

use crate::dataset_layout::DatasetLayout;
use crate::files::Files;
use bloscpack_error::{Category, Code, Error, Result};
use bloscpack_storage::{Access, Key};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a dataset is in a store, and whether it may be changed.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub files: Arc<Files>,
    /// The folder of the dataset or column.
    pub at: Key,
    pub layout: DatasetLayout,
    pub access: Access,
    /// Whether it is a column. Only its table can change the number of rows.
    pub in_table: bool,
    /// Whether a change failed halfway, so that nothing may be committed any more. All columns of a table share the flag.
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

    /// Compares the files with the digests that the store has of them, such as the CRC-32 of a ZIP archive. Returns all
    /// differences.
    pub(crate) fn verify_files(&self) -> Vec<Error> {
        self.files.verify(&self.at)
    }

    /// Refuses to change a dataset that was opened for reading, or after a change that failed halfway.
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

    /// Passes on the result of a change, and notes a failure. A usage error or an unsupported value has changed nothing; any
    /// other error may have left the change half done.
    pub(crate) fn tried<T>(&self, done: Result<T>) -> Result<T> {
        if done.as_ref().is_err_and(|error| {
            !matches!(error.category(), Category::Usage | Category::Unsupported)
        }) {
            self.fail();
        }
        done
    }

    /// Refuses all further changes and the flush of those that are staged.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether it is a column whose description is shared with the others, as in the layouts of the documents.
    pub(crate) fn is_shared_column(&self) -> bool {
        self.in_table && !self.layout.columns_are_datasets()
    }
}
