//! Crashes: what may be on the disk if the power fails after any of the recorded operations.
//!
//! After a sync of a file, its bytes and its length are safe; after one of the folder, its names are. All else may
//! have arrived or not, each piece independently and in any order: complete, up to a sector's edge, single bytes of
//! it, or only the length that it gave the file. A rename may have left both names. `docs/crash-safety.md` lists the
//! other assumptions.

use super::effort;
use super::golden::Random;
use super::recorder::{Log, Op};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The unit in which a disk writes, unless a write is torn even within it.
const SECTOR: u64 = 512;
/// So many pieces are tried in all combinations.
const EXHAUSTIVE: usize = 10;
/// In a normal run.
const SAMPLED: usize = 5;

/// Files by name, as they are found after a crash.
pub type Files = Vec<(OsString, Vec<u8>)>;

/// How many states to make up at random after each operation.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// All combinations of up to `EXHAUSTIVE` pieces, or random ones of these, too.
    pub exhaustive: bool,
    pub random: usize,
}

/// Names and the files they refer to.
#[derive(Debug, Clone, Default)]
struct Disk {
    files: Vec<Vec<u8>>,
    names: BTreeMap<OsString, usize>,
}

/// Something that arrives on the disk as one, or is torn.
#[derive(Debug, Clone)]
enum Piece {
    Bytes {
        file: usize,
        at: u64,
        bytes: Vec<u8>,
    },
    Len {
        file: usize,
        len: u64,
    },
    Name(Op),
}

impl Disk {
    fn new(log: &Log) -> Self {
        let names = log.before.iter().enumerate();
        Self {
            files: log.before.iter().map(|(_, bytes)| bytes.clone()).collect(),
            names: names
                .map(|(file, (name, _))| (name.clone(), file))
                .collect(),
        }
    }

    fn file(&mut self, file: usize) -> &mut Vec<u8> {
        let len = self.files.len().max(file + 1);
        self.files.resize(len, Vec::new());
        &mut self.files[file]
    }

    fn write(&mut self, file: usize, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap();
        let file = self.file(file);
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..][..bytes.len()].copy_from_slice(bytes);
    }

    fn arrive(&mut self, piece: &Piece) {
        match piece {
            Piece::Bytes { file, at, bytes } => self.write(*file, *at, bytes),
            Piece::Len { file, len } => {
                let len = usize::try_from(*len).unwrap();
                self.file(*file).resize(len, 0);
            }
            Piece::Name(Op::Create { file, name }) => {
                self.file(*file);
                self.names.insert(name.clone(), *file);
            }
            Piece::Name(Op::Replace { file, from, to }) => {
                self.names.remove(from);
                self.names.insert(to.clone(), *file);
            }
            Piece::Name(Op::Remove { name }) => {
                self.names.remove(name);
            }
            Piece::Name(_) => {}
        }
    }

    /// A part of the piece arrives.
    fn tear(&mut self, piece: &Piece, random: &mut Random) {
        match piece {
            Piece::Bytes { file, at, bytes } => {
                let cut = random.below(bytes.len() + 1);
                match random.below(4) {
                    // Only the length.
                    0 => {
                        let end = usize::try_from(*at).unwrap() + bytes.len();
                        let file = self.file(*file);
                        file.resize(file.len().max(end), 0);
                    }
                    1 => self.write(*file, *at, &bytes[..cut]),
                    2 => self.write(*file, at + cut as u64, &bytes[cut..]),
                    _ => {
                        for (at, byte) in (*at..).zip(bytes) {
                            if random.below(2) == 0 {
                                self.write(*file, at, &[*byte]);
                            }
                        }
                    }
                }
            }
            // Both names refer to the file.
            Piece::Name(Op::Replace { file, from, to }) => {
                self.names.insert(from.clone(), *file);
                self.names.insert(to.clone(), *file);
            }
            other => self.arrive(other),
        }
    }

    fn found(&mut self) -> Files {
        let files = self.names.clone().into_iter();
        files
            .map(|(name, file)| (name, self.file(file).clone()))
            .collect()
    }
}

/// The pieces that an operation consists of.
fn pieces(op: &Op) -> Vec<Piece> {
    match op {
        Op::Write { file, at, bytes } => {
            let (mut at, mut rest, mut pieces) = (*at, &bytes[..], Vec::new());
            while !rest.is_empty() {
                let room = usize::try_from(SECTOR - at % SECTOR).unwrap();
                let (bytes, behind) = rest.split_at(room.min(rest.len()));
                pieces.push(Piece::Bytes {
                    file: *file,
                    at,
                    bytes: bytes.to_vec(),
                });
                (at, rest) = (at + bytes.len() as u64, behind);
            }
            pieces
        }
        Op::SetLen { file, len } => vec![Piece::Len {
            file: *file,
            len: *len,
        }],
        Op::Create { .. } | Op::Replace { .. } | Op::Remove { .. } => {
            vec![Piece::Name(op.clone())]
        }
        Op::Sync { .. } | Op::SyncFolder => Vec::new(),
    }
}

fn is_safe_after(piece: &Piece, sync: &Op) -> bool {
    match (piece, sync) {
        (Piece::Bytes { file, .. } | Piece::Len { file, .. }, Op::Sync { file: synced }) => {
            file == synced
        }
        (Piece::Name(_), Op::SyncFolder) => true,
        _ => false,
    }
}

/// The state before a crash: safe content, and pending writes that may be lost.
struct Moment {
    safe: Disk,
    pending: Vec<Piece>,
}

impl Moment {
    fn new(log: &Log) -> Self {
        Self {
            safe: Disk::new(log),
            pending: Vec::new(),
        }
    }

    /// The operation is done.
    fn goes_on(&mut self, op: &Op) {
        let (now_safe, still): (Vec<_>, Vec<_>) = self
            .pending
            .drain(..)
            .partition(|piece| is_safe_after(piece, op));
        now_safe.iter().for_each(|piece| self.safe.arrive(piece));
        self.pending = still;
        self.pending.extend(pieces(op));
    }
}

/// One state that a crash may leave when so many operations were done.
pub fn one_state(log: &Log, done: usize, random: &mut Random) -> Files {
    let mut now = Moment::new(log);
    log.ops[..done].iter().for_each(|op| now.goes_on(op));
    at_random(&now.safe, &now.pending, random).found()
}

/// Goes through states that a crash may leave: after each operation `done`, what is then on the
/// disk. No state comes twice with the same number of `acked`, which are numbers of operations
/// after which something was promised.
pub fn for_each_state(
    log: &Log,
    acked: &[usize],
    depth: Depth,
    random: &mut Random,
    mut visit: impl FnMut(usize, &Files),
) {
    let mut now = Moment::new(log);
    let mut seen = HashSet::<u64, BuildHasherDefault<DefaultHasher>>::default();
    let exhaustive = if effort::is_whole() {
        EXHAUSTIVE
    } else {
        SAMPLED
    };
    let random_states = effort::cases(depth.random, 6);
    let hash =
        |state: &(usize, &Files)| BuildHasherDefault::<DefaultHasher>::default().hash_one(state);
    for done in 0..=log.ops.len() {
        if let Some(op) = done.checked_sub(1).map(|last| &log.ops[last]) {
            now.goes_on(op);
        }
        let Moment { safe, pending } = &now;
        let promises = acked.iter().filter(|acked| **acked <= done).count();
        let mut found = |mut disk: Disk| {
            let files = disk.found();
            if seen.insert(hash(&(promises, &files))) {
                visit(done, &files);
            }
        };
        if depth.exhaustive && pending.len() <= exhaustive {
            for chosen in 0..1u32 << pending.len() {
                let mut disk = safe.clone();
                let arrived = |(number, _): &(usize, _)| chosen >> number & 1 == 1;
                let arrived = pending.iter().enumerate().filter(arrived);
                arrived.for_each(|(_, piece)| disk.arrive(piece));
                found(disk);
            }
        } else {
            found(safe.clone());
        }
        for _ in 0..if pending.is_empty() { 0 } else { random_states } {
            found(at_random(safe, pending, random));
        }
    }
}

/// Some of the pieces arrive, in some order, some of them in part.
fn at_random(safe: &Disk, pending: &[Piece], random: &mut Random) -> Disk {
    let mut order: Vec<usize> = (0..pending.len()).collect();
    if random.below(2) == 0 {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
    }
    // Sometimes nearly all arrive, sometimes hardly any.
    let (lost, torn) = (random.below(8), random.below(5));
    let mut disk = safe.clone();
    for piece in order {
        if random.below(8) < lost {
            continue;
        }
        if random.below(8) < torn {
            disk.tear(&pending[piece], random);
        } else {
            disk.arrive(&pending[piece]);
        }
    }
    disk
}
