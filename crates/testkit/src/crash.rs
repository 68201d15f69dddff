//! Crashes of a file or a store: what may be on the disk if the power fails after any of the recorded operations.
//!
//! A sync of a file makes its bytes and its length safe; a sync of a folder, the names in it. Everything else may have
//! arrived or not, each piece independently and in any order: complete, up to a sector's edge, single bytes of it, or only the
//! length that it gave the file. A rename may have left both names, but never none of them. `docs/crash-safety.md` lists the
//! other assumptions.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::effort;
use super::golden::Random;
pub use super::recorder::Files;
use super::recorder::{Disk, Log, Node, Op};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The unit in which a disk writes, unless a write is torn even within it.
const SECTOR: usize = 512;
/// How many states to make up after each operation.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// All combinations of up to this many pieces, half as many in a normal run.
    pub exhaustive: usize,
    pub random: usize,
}

/// Something that arrives on the disk as one, or is torn.
#[derive(Debug, Clone)]
enum Piece {
    Bytes {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    Len {
        file: usize,
        len: usize,
    },
    Name {
        folder: usize,
        name: String,
        node: Node,
    },
    NoName {
        folder: usize,
        name: String,
    },
    /// The old name of a file goes; the new one, unless it is safe anyway, is there by then.
    OldName {
        folder: usize,
        name: String,
        to: Option<(usize, String, Node)>,
    },
}

fn pieces(op: &Op) -> Vec<Piece> {
    match op.clone() {
        Op::Write { file, at, bytes } => {
            let (mut at, mut rest, mut pieces) = (at, &bytes[..], Vec::new());
            while !rest.is_empty() {
                let room = SECTOR - at % SECTOR;
                let (bytes, behind) = rest.split_at(room.min(rest.len()));
                let whole = bytes.to_vec();
                pieces.push(Piece::Bytes {
                    file,
                    at,
                    bytes: whole,
                });
                (at, rest) = (at + bytes.len(), behind);
            }
            pieces
        }
        Op::SetLen { file, len } => vec![Piece::Len { file, len }],
        Op::Create { folder, name, node } => vec![Piece::Name { folder, name, node }],
        Op::Remove { folder, name } => vec![Piece::NoName { folder, name }],
        Op::Rename {
            file,
            from: (old_folder, old),
            to: (folder, name),
        } => {
            let node = Node::File(file);
            let to = Some((folder, name.clone(), node));
            let (new, old) = (
                Piece::Name { folder, name, node },
                Piece::OldName {
                    folder: old_folder,
                    name: old,
                    to,
                },
            );
            vec![new, old]
        }
        Op::Sync { .. } | Op::SyncFolder { .. } => Vec::new(),
    }
}

fn is_safe_after(piece: &Piece, sync: &Op) -> bool {
    match (piece, sync) {
        (Piece::Bytes { file, .. } | Piece::Len { file, .. }, Op::Sync { file: synced }) => {
            file == synced
        }
        (
            Piece::Name { folder, .. }
            | Piece::NoName { folder, .. }
            | Piece::OldName { folder, .. },
            Op::SyncFolder { folder: synced },
        ) => folder == synced,
        _ => false,
    }
}

/// A new name that is safe does not have to come with the old one's end.
fn know_of(piece: &mut Piece, sync: &Op) {
    if let (Piece::OldName { to, .. }, Op::SyncFolder { folder }) = (piece, sync)
        && to.as_ref().is_some_and(|(there, ..)| there == folder)
    {
        *to = None;
    }
}

fn arrive(disk: &mut Disk, piece: &Piece) {
    match piece {
        Piece::Bytes { file, at, bytes } => disk.write(*file, *at, bytes),
        Piece::Len { file, len } => disk.files[*file].resize(*len, 0),
        Piece::Name { folder, name, node } => {
            disk.folders[*folder].insert(name.clone(), *node);
        }
        Piece::NoName { folder, name } => {
            disk.folders[*folder].remove(name);
        }
        Piece::OldName { folder, name, to } => {
            disk.folders[*folder].remove(name);
            if let Some((folder, name, node)) = to {
                disk.folders[*folder].insert(name.clone(), *node);
            }
        }
    }
}

/// A part of the piece arrives.
fn tear(disk: &mut Disk, piece: &Piece, random: &mut Random) {
    let Piece::Bytes { file, at, bytes } = piece else {
        return arrive(disk, piece);
    };
    let cut = random.below(bytes.len() + 1);
    match random.below(4) {
        // Only the length.
        0 => {
            let file = &mut disk.files[*file];
            file.resize(file.len().max(at + bytes.len()), 0);
        }
        1 => disk.write(*file, *at, &bytes[..cut]),
        2 => disk.write(*file, at + cut, &bytes[cut..]),
        _ => {
            for (at, byte) in (*at..).zip(bytes) {
                if random.below(2) == 0 {
                    disk.write(*file, at, &[*byte]);
                }
            }
        }
    }
}

/// Room for all that an operation may put on the disk.
fn make_room(disk: &mut Disk, op: &Op) {
    match op {
        Op::Create {
            node: Node::File(file),
            ..
        } => disk
            .files
            .resize(disk.files.len().max(file + 1), Vec::new()),
        Op::Create {
            node: Node::Folder(folder),
            ..
        } => {
            let len = disk.folders.len().max(folder + 1);
            disk.folders.resize_with(len, Default::default);
        }
        _ => {}
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
            safe: log.before.clone(),
            pending: Vec::new(),
        }
    }

    /// The operation is done.
    fn goes_on(&mut self, op: &Op) {
        make_room(&mut self.safe, op);
        let mut still = Vec::new();
        for mut piece in self.pending.drain(..) {
            if is_safe_after(&piece, op) {
                arrive(&mut self.safe, &piece);
            } else {
                know_of(&mut piece, op);
                still.push(piece);
            }
        }
        self.pending = still;
        self.pending.extend(pieces(op));
    }
}

/// The files of one state that a crash may leave after this many operations.
pub fn one_state(log: &Log, done: usize, random: &mut Random) -> Files {
    let mut now = Moment::new(log);
    log.ops[..done].iter().for_each(|op| now.goes_on(op));
    at_random(&now.safe, &now.pending, random).to_files()
}

/// The states of [`for_each_state`] as files in one folder.
pub fn for_each_files(
    log: &Log,
    acked: &[usize],
    depth: Depth,
    random: &mut Random,
    mut visit: impl FnMut(usize, &Files),
) {
    for_each_state(log, acked, depth, random, |done, disk| {
        visit(done, &disk.to_files());
    });
}

/// Goes through states that a crash may leave: after each operation `done`, what is then on the disk. No state comes twice
/// with the same number of `acked`, which are numbers of operations after which something was promised.
pub fn for_each_state(
    log: &Log,
    acked: &[usize],
    depth: Depth,
    random: &mut Random,
    mut visit: impl FnMut(usize, &Disk),
) {
    let mut now = Moment::new(log);
    let mut seen = HashSet::<u64, BuildHasherDefault<DefaultHasher>>::default();
    let exhaustive = effort::cases(depth.exhaustive, 2);
    let random_states = effort::cases(depth.random, 6);
    for done in 0..=log.ops.len() {
        if let Some(op) = done.checked_sub(1).map(|last| &log.ops[last]) {
            now.goes_on(op);
        }
        let Moment { safe, pending } = &now;
        let promises = acked.iter().filter(|acked| **acked <= done).count();
        let mut found = |disk: Disk| {
            let state = (promises, shape(&disk));
            if seen.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(state)) {
                visit(done, &disk);
            }
        };
        if pending.len() <= exhaustive {
            for chosen in 0..1u32 << pending.len() {
                let mut disk = safe.clone();
                let arrived = pending
                    .iter()
                    .enumerate()
                    .filter(|(number, _)| chosen >> number & 1 == 1);
                arrived.for_each(|(_, piece)| arrive(&mut disk, piece));
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

/// Keys, with bytes and the number of the first name of the same file, or nothing for folders.
type Shape = Vec<(String, Option<(usize, Vec<u8>)>)>;

/// The properties that distinguish states: names, bytes, and which names refer to the same file.
fn shape(disk: &Disk) -> Shape {
    let (mut shape, mut numbers) = (Vec::new(), Vec::new());
    let mut open = vec![(0, String::new())];
    while let Some((folder, way)) = open.pop() {
        for (name, node) in &disk.folders[folder] {
            let key = format!("{way}{name}");
            match node {
                Node::Folder(inside) => {
                    open.push((*inside, format!("{key}/")));
                    shape.push((key, None));
                }
                Node::File(file) => {
                    let first = numbers.iter().position(|number| number == file);
                    let first = first.unwrap_or(numbers.len());
                    numbers.push(*file);
                    shape.push((key, Some((first, disk.files[*file].clone()))));
                }
            }
        }
    }
    shape
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
            tear(&mut disk, &pending[piece], random);
        } else {
            arrive(&mut disk, &pending[piece]);
        }
    }
    disk
}
