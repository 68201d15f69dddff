//! URLs in place of paths.

use crate::error::OrRaise;
use bloscpack_remote::{Remote, RemoteOptions};
use pyo3::prelude::*;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The URL in a Python object, unless a file has that name.
pub fn url(object: &Bound<'_, PyAny>) -> Option<String> {
    let text: String = object.extract().ok()?;
    let is_url = bloscpack_remote::is_url(&text) && !Path::new(&text).exists();
    is_url.then_some(text)
}

/// Whether an object is a URL.
#[pyfunction]
pub fn is_url(object: &Bound<'_, PyAny>) -> bool {
    url(object).is_some()
}

/// The `Remote` that all URLs share. A forked child has its own.
pub fn remote(py: Python<'_>) -> PyResult<Arc<Remote>> {
    static REMOTE: Mutex<Option<Arc<Remote>>> = Mutex::new(None);
    let found = py.detach(|| {
        let mut remote = REMOTE.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = remote.take_if(|remote| remote.bridge().is_usable());
        let usable = match usable {
            Some(usable) => usable,
            None => Arc::new(Remote::new(RemoteOptions::new())?),
        };
        // Leak the parent's `Remote`: its thread does not exist in this process and cannot be joined.
        std::mem::forget(remote.replace(Arc::clone(&usable)));
        Ok::<_, io::Error>(usable)
    });
    found.or_raise(py)
}
