//! Any bytes as a file and as the journal beside it give only an error or a file; readers see the file that the next
//! writer makes of it, and a complete file ignores any journal.

use bloscpack::edit::Editor;
use bloscpack::storage::{Memory, ReadAt, Snapshot};

const NAME: &str = "a.blp";
const JOURNAL: &str = "a.blp.blpk-journal";

fn seen(folder: &Memory) -> Option<Vec<u8>> {
    let snapshot = Snapshot::open_in(folder, NAME.as_ref()).ok()?;
    let size = snapshot.size().ok().filter(|size| *size < 1 << 20)?;
    let mut bytes = vec![0; size as usize];
    snapshot.read_exact_at(0, &mut bytes).ok()?;
    Some(bytes)
}

pub fn check(input: &[u8]) {
    let Some((cut, rest)) = input.split_first() else {
        return;
    };
    let (file, journal) = rest.split_at(rest.len() * usize::from(*cut) / 255);
    let folder = Memory::from([(NAME, file.to_vec()), (JOURNAL, journal.to_vec())]);
    let before = seen(&folder);
    if file.first().is_some_and(|first| *first != b'!') {
        assert!(before.as_deref() == Some(file));
    }
    drop(Editor::open_in(folder.clone(), NAME.as_ref()));
    let after = folder.bytes(NAME).expect("the file");
    match before {
        Some(before) if after != file => assert!(after == before),
        Some(_) => {}
        None => assert!(after == file, "it was refused and changed"),
    }
}
