//! Serves a folder for `tests/interop/doors.py`: its folders as buckets of S3, and its files by HTTP without listings.
//!
//! ```text
//! serve ROOT
//! ```
//!
//! Prints the endpoint of S3 and its keys, the URL of a web server, and that of one which forbids what is not there. Ends with
//! standard input.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a server for tests fails by panicking, and says where it is"
)]

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/remote/servers.rs"]
mod servers;

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn main() {
    let root = PathBuf::from(std::env::args().nth(1).unwrap());
    let forbids = servers::Requests {
        forbids_missing: true,
        ..servers::Requests::default()
    };
    println!(
        "{} {} {}",
        servers::s3(&root),
        servers::KEY,
        servers::SECRET
    );
    println!("{}", servers::http(&root));
    println!(
        "{}",
        servers::http_with(&root, Arc::new(Mutex::new(forbids)))
    );
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
