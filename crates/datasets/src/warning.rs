//! [`Warning`]: something unusual about a dataset.

/// Something unusual about a dataset that does not prevent reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file or folder, relative to the root of the dataset.
    pub path: String,
    /// A description.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(path: impl ToString, message: impl Into<String>) -> Self {
        Self {
            path: path.to_string(),
            message: message.into(),
        }
    }
}
