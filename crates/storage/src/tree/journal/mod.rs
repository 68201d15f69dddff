//! The journal of a store: the steps of one change.
//!
//! ```text
//! head    "blpktree" | version u32 | salt 16 | length of the steps u64 | of the bytes u64     44
//!         spilled: number u64 (0: none) | its length u64 | its crc32                           20
//!         crc32 of the head so far                                                              4
//! steps   kind u8 | key: length u16, bytes | then by kind                       one after another
//!         1 put            number u64 | crc32 | new fingerprint 16 | replaces u8 | old fingerprint 16
//!         2 patch          old length u64 | new length u64
//!                          witness at u64 | its length u32 | its hash u32 | before length u32 | before
//!                          pieces u32, each: at u64 | length u64 | from u64
//!         3 remove         old fingerprint 16
//!         4 make a folder
//!         5 remove a folder
//! bytes   of the patches, unless they are spilled
//! end     crc32 of all before
//! ```
//!
//! Numbers are little-endian. A fingerprint is a file's length and the beginning of the SHA-256 of its first
//! and last 4 KiB. *before* and *witness* are as in the [journal of a file](crate::journal). See
//! `docs/crash-safety.md`, "The layout of the journal".

mod decode;

use super::Store;
use super::staging::Staging;
use super::step::{Action, Fingerprint, Spilled, Step};
use crate::ReadAt;
use crate::convert::to_u64;
use crate::journal::Salt;
use crate::journal::fields::{put_crc, put_u32, put_u64};
use std::collections::BTreeSet;
use std::io;

const MAGIC: [u8; 8] = *b"blpktree";
const VERSION: u32 = 1;
const HEAD_LEN: u64 = 68;
const CRC_LEN: u64 = 4;

const PUT: u8 = 1;
const PATCH: u8 = 2;
const REMOVE: u8 = 3;
const MAKE_FOLDER: u8 = 4;
const REMOVE_FOLDER: u8 = 5;

/// A complete change.
#[derive(Debug)]
pub(super) struct Journal {
    pub salt: Salt,
    pub steps: Vec<Step>,
    /// The bytes of patches, unless they are spilled.
    pub bytes: Vec<u8>,
    pub spilled: Option<Spilled>,
}

impl Journal {
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut steps = Vec::new();
        for step in &self.steps {
            encode_step(step, &mut steps)?;
        }
        let mut out = MAGIC.to_vec();
        put_u32(&mut out, VERSION);
        out.extend_from_slice(&self.salt.0);
        put_u64(&mut out, to_u64(steps.len()));
        put_u64(&mut out, to_u64(self.bytes.len()));
        let spilled = self.spilled.unwrap_or(Spilled {
            number: 0,
            len: 0,
            crc: 0,
        });
        put_u64(&mut out, spilled.number);
        put_u64(&mut out, spilled.len);
        put_u32(&mut out, spilled.crc);
        put_crc(&mut out);
        out.append(&mut steps);
        out.extend_from_slice(&self.bytes);
        put_crc(&mut out);
        Ok(out)
    }

    /// The bytes of the patches.
    pub(super) fn patch_bytes(
        &self,
        store: &dyn Store,
        staging: &Staging,
    ) -> io::Result<Box<dyn ReadAt>> {
        match self.spilled {
            Some(spilled) => store.open(&staging.key(spilled.number)?),
            None => Ok(Box::new(self.bytes.clone())),
        }
    }

    /// The numbers of the staged files that the steps refer to.
    pub(super) fn needed(&self) -> BTreeSet<u64> {
        let puts = self.steps.iter().filter_map(|step| match step.action {
            Action::Put { number, .. } => Some(number),
            _ => None,
        });
        puts.chain(self.spilled.map(|spilled| spilled.number))
            .collect()
    }
}

fn encode_step(step: &Step, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(match step.action {
        Action::Put { .. } => PUT,
        Action::Patch { .. } => PATCH,
        Action::Remove { .. } => REMOVE,
        Action::MakeFolder => MAKE_FOLDER,
        Action::RemoveFolder => REMOVE_FOLDER,
    });
    let key = step.key.as_str().as_bytes();
    let len = u16::try_from(key.len()).map_err(|_| io::ErrorKind::InvalidFilename)?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(key);
    match &step.action {
        Action::Put {
            number,
            crc,
            new,
            old,
        } => {
            put_u64(out, *number);
            put_u32(out, *crc);
            put_fingerprint(out, *new);
            out.push(u8::from(old.is_some()));
            put_fingerprint(out, old.unwrap_or(Fingerprint { len: 0, hash: 0 }));
        }
        Action::Patch {
            old_len,
            new_len,
            binding,
            pieces,
        } => {
            put_u64(out, *old_len);
            put_u64(out, *new_len);
            put_u64(out, binding.witness_at);
            put_u32(out, binding.witness_len);
            put_u32(out, binding.witness_hash);
            let before_len = u32::try_from(binding.before.len());
            put_u32(out, before_len.map_err(|_| io::ErrorKind::FileTooLarge)?);
            out.extend_from_slice(&binding.before);
            let count = u32::try_from(pieces.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            put_u32(out, count);
            for (at, piece) in pieces {
                for number in [*at, piece.len, piece.from] {
                    put_u64(out, number);
                }
            }
        }
        Action::Remove { old } => put_fingerprint(out, *old),
        Action::MakeFolder | Action::RemoveFolder => {}
    }
    Ok(())
}

fn put_fingerprint(out: &mut Vec<u8>, fingerprint: Fingerprint) {
    put_u64(out, fingerprint.len);
    put_u64(out, fingerprint.hash);
}
