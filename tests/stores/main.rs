//! Stores of python-blosc2: what it wrote is read, hostile ones end in an error, and what is written here is checked to the last
//! bit.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

mod hostile;
mod read;
mod written;

use bloscpack::Result;
use bloscpack_open::exchange::Format;
use bloscpack_open::{Container, Options, Selection, open_source};
use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: testkit::counting::Counting = testkit::counting::Counting;

/// The path of a store that python-blosc2 4.14.1 has written.
fn path(name: &str) -> PathBuf {
    testkit::testdata("stores").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn opened(bytes: Vec<u8>) -> Result<Box<dyn Container>> {
    open_source(bytes, &Options::new().threads(1))
}

/// The paths in a store.
fn members(container: &mut dyn Container) -> Vec<String> {
    let mut paths = Vec::new();
    let listed = container.members(&mut |path, outline| {
        outline?;
        paths.push(path.to_owned());
        Ok(())
    });
    assert!(listed.unwrap());
    paths
}

fn exported(container: &mut dyn Container, format: Format) -> Result<String> {
    let mut out = Vec::new();
    container.export(&Selection::default(), format, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}
