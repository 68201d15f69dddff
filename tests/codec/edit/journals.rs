//! Tests that journals that are planted, foreign, stale or missing do no harm.

use crate::edit::golden::sensor;
use crate::edit::{JOURNAL, NAME, append, check, name, names};
use bloscpack::storage::{Access, Folder, Lock, LockMode, Memory, Snapshot, WriteAt};
use bloscpack::{
    Category, Checksum, Encoder, Options, edit::Editor, indexed::IndexedReader, wire::Hashers,
};
use std::io::{Cursor, Write};

fn file(data: &[u8]) -> Vec<u8> {
    let options = Encoder::builder().chunk_size(1000);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

/// A file in the middle of a change, and its complete journal: the change is made while a reader
/// that locks the file, as those of earlier versions do, keeps it from being applied, and the mark
/// is set by hand.
fn interrupted(data: &[u8], more: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let folder = Memory::from([(NAME, file(data))]);
    let reader = Folder::open(&folder, name(), Access::Read).unwrap();
    assert!(reader.try_lock(LockMode::Shared).unwrap());
    let options = Editor::builder().options(Options::new().lock_timeout(std::time::Duration::ZERO));
    let mut editor = options.open_in(folder.clone(), name()).unwrap();
    let mut appender = editor.append().unwrap();
    appender.write_all(more).unwrap();
    let error = appender.finish().unwrap_err();
    assert_eq!(error.category(), Category::Failed);
    let (mut bytes, journal) = (folder.bytes(NAME).unwrap(), folder.bytes(JOURNAL).unwrap());
    drop(editor);
    drop(reader);
    // A change that failed has left nothing.
    check(&folder, data, None);
    assert_eq!(names(&folder), [NAME]);
    bytes[0] = b'!';
    (bytes, journal)
}

fn content(folder: &Memory) -> bloscpack::Result<Vec<u8>> {
    let reader = IndexedReader::open(Snapshot::open_in(folder, name())?)?;
    let mut content = Vec::new();
    reader.copy_range(0..u64::MAX, &mut content)?;
    Ok(content)
}

#[test]
fn an_interrupted_change_is_read_through_and_completed() {
    let (data, more) = (sensor(2500, 1), sensor(5000, 2));
    let model = [data.clone(), more.clone()].concat();
    let (marked, journal) = interrupted(&data, &more);
    let folder = Memory::from([(NAME, marked.clone()), (JOURNAL, journal.clone())]);
    assert!(Snapshot::open_in(&folder, name()).unwrap().is_interrupted());
    assert_eq!(content(&folder).unwrap(), model);
    // Reading writes nothing.
    assert_eq!(folder.bytes(NAME).unwrap(), marked);
    assert_eq!(folder.bytes(JOURNAL).unwrap(), journal);
    drop(Editor::open_in(folder.clone(), name()).unwrap());
    check(&folder, &model, None);
    assert_eq!(names(&folder), [NAME]);
}

#[test]
fn without_its_journal_an_interrupted_change_is_reported_and_nothing_is_touched() {
    let (marked, journal) = interrupted(&sensor(2500, 1), &sensor(5000, 2));
    let (_, foreign) = interrupted(&sensor(2500, 3), &sensor(5000, 4));
    let mut flipped = journal.clone();
    flipped[100] ^= 1;
    let cut = journal[..journal.len() - 1].to_vec();
    let alone = Memory::from([(NAME, marked.clone())]);
    let mut cases = vec![alone];
    for journal in [foreign, flipped, cut, Vec::new(), b"not a journal".to_vec()] {
        cases.push(Memory::from([(NAME, marked.clone()), (JOURNAL, journal)]));
    }
    for folder in cases {
        assert_eq!(content(&folder).unwrap_err().category(), Category::CutShort);
        let error = Editor::open_in(folder.clone(), name()).unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{error}");
        assert_eq!(folder.bytes(NAME).unwrap(), marked);
        assert_eq!(
            bloscpack::decompress(&marked).unwrap_err().category(),
            Category::CutShort
        );
    }
}

#[test]
fn every_flipped_bit_of_a_journal_is_noticed() {
    let (data, more) = (sensor(1500, 1), sensor(700, 2));
    let model = [data.clone(), more.clone()].concat();
    let (marked, journal) = interrupted(&data, &more);
    for bit in 0..journal.len() * 8 {
        let mut flipped = journal.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let folder = Memory::from([(NAME, marked.clone()), (JOURNAL, flipped)]);
        match content(&folder) {
            Ok(found) => assert!(found == model, "bit {bit}"),
            Err(error) => assert_eq!(error.category(), Category::CutShort, "bit {bit}: {error}"),
        }
    }
}

#[test]
fn a_whole_file_does_not_heed_any_journal() {
    let data = sensor(2500, 1);
    let (_, foreign) = interrupted(&sensor(2500, 3), &sensor(5000, 4));
    let (_, own) = interrupted(&data, &sensor(5000, 2));
    for journal in [foreign, own, Vec::new(), vec![0; 5000], b"blpkjr".to_vec()] {
        let folder = Memory::from([(NAME, file(&data)), (JOURNAL, journal)]);
        assert_eq!(content(&folder).unwrap(), data);
        let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
        append(&mut editor, b"more").unwrap();
        drop(editor);
        check(&folder, &[data.clone(), b"more".to_vec()].concat(), None);
        assert_eq!(names(&folder), [NAME]);
    }
}

#[test]
fn what_is_no_journal_is_not_destroyed() {
    let folder = Memory::from([(NAME, file(b"data")), (JOURNAL, b"a letter".to_vec())]);
    assert_eq!(content(&folder).unwrap(), b"data");
    let error = Editor::open_in(folder.clone(), name()).unwrap_err();
    assert_eq!(error.category(), Category::Failed, "{error}");
    assert_eq!(folder.bytes(JOURNAL).unwrap(), b"a letter");
}

/// On a disk there can be worse in the journal's place than another file.
#[cfg(unix)]
#[test]
fn links_and_pipes_in_the_place_of_the_journal_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (path, journal) = (folder.path().join(NAME), folder.path().join(JOURNAL));
    let victim = folder.path().join("victim");
    std::fs::write(&path, file(b"data")).unwrap();
    for target in ["victim", "nowhere"] {
        std::fs::write(&victim, b"precious").unwrap();
        symlink(folder.path().join(target), &journal).unwrap();
        let error = Editor::open(&path).unwrap_err();
        assert_eq!(error.category(), Category::Failed, "{error}");
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert!(!folder.path().join("nowhere").exists());
        std::fs::remove_file(&journal).unwrap();
    }
    let made = std::process::Command::new("mkfifo").arg(&journal).status();
    assert!(made.unwrap().success());
    assert_eq!(
        Editor::open(&path).unwrap_err().category(),
        Category::Failed
    );
    assert!(Snapshot::open(&path).is_ok());
}

#[test]
fn a_file_on_disk_keeps_who_may_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    std::fs::write(&path, file(b"data")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let mut editor = Editor::open(&path).unwrap();
        let journal = std::fs::metadata(folder.path().join(JOURNAL)).unwrap();
        assert_eq!(journal.permissions().mode() & 0o777, 0o640);
        // Metadata of this length needs a new file.
        let metadata = bloscpack::Metadata::from_json(format!("[{}1]", "1,".repeat(999))).unwrap();
        editor.set_metadata(&metadata).unwrap();
        assert_eq!(mode(), 0o640);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(bloscpack::decompress(&std::fs::read(&path).unwrap()).unwrap() == b"data");
}

#[test]
fn what_a_file_was_torn_from_is_cut_off_by_the_next_change() {
    let data = sensor(2500, 1);
    let folder = Memory::from([(NAME, file(&data))]);
    let stale = folder.open(name(), Access::Write).unwrap();
    let end = folder.bytes(NAME).unwrap().len() as u64;
    stale
        .write_all_at(end, b"stale bytes of another tool")
        .unwrap();
    append(&mut Editor::open_in(folder.clone(), name()).unwrap(), b"!").unwrap();
    check(&folder, &[data, b"!".to_vec()].concat(), None);
}

/// Numbers in the tail of a journal, from its end.
const NEW_LEN: usize = 148 - 48;
const TAIL: usize = 148;
const PIECE: usize = 32;

/// The journal with another number there, and with all its checksums right.
fn forged(journal: &[u8], from_end: usize, number: u64) -> Vec<u8> {
    let crc32 = |bytes: &[u8]| {
        Hashers::default()
            .digest(Checksum::Crc32, bytes)
            .as_bytes()
            .to_vec()
    };
    let mut journal = journal.to_vec();
    let len = journal.len();
    journal[len - from_end..][..8].copy_from_slice(&number.to_le_bytes());
    let index_at = u64::from_le_bytes(journal[len - TAIL + 32..][..8].try_into().unwrap());
    let index = crc32(&journal[index_at as usize..len - TAIL]);
    journal[len - TAIL + 76..][..4].copy_from_slice(&index);
    let tail = crc32(&journal[len - TAIL..len - 4]);
    journal[len - 4..].copy_from_slice(&tail);
    journal
}

/// Zeros without end are read for ever, or fill a disk.
#[test]
fn a_journal_does_not_make_a_file_longer_than_what_it_brings() {
    let (data, more) = (sensor(2500, 1), sensor(5000, 2));
    let (marked, journal) = interrupted(&data, &more);
    let own = u64::from_le_bytes(journal[journal.len() - NEW_LEN..][..8].try_into().unwrap());
    let same = forged(&journal, NEW_LEN, own);
    assert!(same == journal, "the numbers are elsewhere");
    let last_piece = TAIL + PIECE;
    for (from_end, number) in [
        (NEW_LEN, own + 1),
        (NEW_LEN, 1 << 40),
        (NEW_LEN, 1 << 62),
        (NEW_LEN, u64::MAX),
        (last_piece, 1 << 20),
        (last_piece, 1 << 62),
        (last_piece, u64::MAX - 1),
    ] {
        let journal = forged(&journal, from_end, number);
        let folder = Memory::from([(NAME, marked.clone()), (JOURNAL, journal)]);
        let error = Snapshot::open_in(&folder, name())
            .map_err(bloscpack::Error::from)
            .unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{from_end} {number}");
        let error = Editor::open_in(folder.clone(), name()).unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{from_end} {number}");
        assert_eq!(folder.bytes(NAME).unwrap(), marked);
    }
}
