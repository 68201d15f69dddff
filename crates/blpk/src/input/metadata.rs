//! The JSON file that becomes the metadata of a new file.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use bloscpack::Metadata;

use super::{is_standard_input, name};
use crate::failure::Failure;

/// Reads the metadata at `path` for the data at `data`.
pub fn read_metadata(path: Option<&Path>, data: &Path) -> Result<Option<Metadata>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    if is_standard_input(path) && is_standard_input(data) {
        let title = "standard input cannot be both the data and the metadata";
        return Err(Failure::usage(title));
    }
    let json = read_all(path).map_err(|error| Failure::io(name(path), &error))?;
    // It is wrong usage to give such a file, whatever the category of the error.
    Metadata::from_json(json).map(Some).map_err(|error| {
        Failure::usage(format!("metadata {}: {error}", name(path)))
            .hint("the file must contain one JSON value")
    })
}

fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    if !is_standard_input(path) {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
