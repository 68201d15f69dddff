//! [`Warnings`]: collects warnings until they are taken.

use std::sync::{Mutex, PoisonError};

/// Warnings that were not taken yet, each once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    pub(crate) fn add<T: ToString>(&self, more: impl IntoIterator<Item = T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in more.into_iter().map(|warning| warning.to_string()) {
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: ToString> FromIterator<T> for Warnings {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let warnings = Self::default();
        warnings.add(all);
        warnings
    }
}
