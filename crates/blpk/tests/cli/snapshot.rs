//! Tests of files that are read while they are changed, and after a change was interrupted.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bloscpack::Options;
use bloscpack::edit::Editor;
use bloscpack::storage::{Access, Disk, Lock, LockMode, ReadAt, WriteAt};
use bloscpack_open::frames::{Frame, NdArray};

#[cfg(target_os = "linux")]
use crate::support::wait_for;
use crate::support::{BLPK, Folder, noise, ramp};

const JOURNAL: &str = "a.blp.blpk-journal";

/// A folder whose files cannot be written any more once a change has begun to be made.
struct Crashing {
    disk: Disk,
    crashed: Arc<AtomicBool>,
}

struct CrashingFile {
    file: File,
    crashed: Arc<AtomicBool>,
}

impl CrashingFile {
    fn check(&self) -> io::Result<()> {
        if self.crashed.load(Ordering::SeqCst) {
            Err(io::Error::other("crashed"))
        } else {
            Ok(())
        }
    }
}

impl ReadAt for CrashingFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl WriteAt for CrashingFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        // The mark that says that a change is being made.
        let marks = at == 0 && bytes == b"!";
        self.crashed.store(marks, Ordering::SeqCst);
        self.file.write_at(at, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        WriteAt::set_len(&self.file, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.check()
    }
}

impl Lock for CrashingFile {
    fn try_lock(&self, hold: LockMode) -> io::Result<bool> {
        Lock::try_lock(&self.file, hold)
    }

    fn unlock(&self) -> io::Result<()> {
        Lock::unlock(&self.file)
    }
}

impl Crashing {
    fn file(&self, file: File) -> CrashingFile {
        let crashed = Arc::clone(&self.crashed);
        CrashingFile { file, crashed }
    }
}

impl bloscpack::storage::Folder for Crashing {
    type File = CrashingFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<CrashingFile> {
        self.disk.open(name, access).map(|file| self.file(file))
    }

    fn create(&self, name: &OsStr, _: Option<&CrashingFile>) -> io::Result<CrashingFile> {
        self.disk.create(name, None).map(|file| self.file(file))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.disk.replace(from, to)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.disk.list()
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn leads_to(&self, name: &OsStr, file: &CrashingFile) -> io::Result<bool> {
        self.disk.leads_to(name, &file.file)
    }
}

/// A folder with `a.blp`, to which an append was interrupted by a power cut; and its content once that is completed.
pub fn interrupted() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&["-z", "64K"], &ramp(200_000)));
    let crashing = Crashing {
        disk: Disk::new(folder.path("")),
        crashed: Arc::default(),
    };
    let mut editor = Editor::open_in(crashing, "a.blp".as_ref()).unwrap();
    let mut appender = editor.append().unwrap();
    appender.write_all(&noise(100_000)).unwrap();
    assert!(
        appender
            .finish()
            .unwrap_err()
            .to_string()
            .contains("crashed")
    );
    drop(editor);
    assert_eq!(folder.names(), ["a.blp", JOURNAL]);
    assert_eq!(&folder.read("a.blp")[..4], b"!lpk");
    (folder, [ramp(200_000), noise(100_000)].concat())
}

#[test]
fn an_interrupted_change_is_read_through_its_journal() {
    let (folder, model) = interrupted();
    let before = (folder.read("a.blp"), folder.read(JOURNAL));
    let words = "'a.blp': a change was interrupted";
    assert_eq!(folder.run(["cat", "a.blp"]).warned(words), model);
    let range = folder.run(["cat", "--range", "190000..210000", "a.blp"]);
    assert_eq!(range.warned(words), &model[190_000..210_000]);
    let chunk = folder.run(["cat", "--chunk", "4", "a.blp"]);
    assert_eq!(chunk.warned(words), &model[4 * 65536..]);
    assert_eq!(folder.run(["d", "a.blp", "-"]).warned(words), model);
    folder.run(["d", "a.blp"]).warned(words);
    assert_eq!(folder.read("a"), model);
    let verified = folder.run(["verify", "a.blp"]).warned(words);
    assert!(verified.starts_with(b"a.blp: ok, 5 chunks, 300000 bytes"));
    let info = folder.run(["info", "--json", "a.blp"]).warned(words);
    let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
    assert_eq!(info["uncompressed_bytes"], 300_000);
    assert_eq!(info["state"], "complete");
    assert_eq!(folder.run(["-q", "cat", "a.blp"]).succeeded(), model);
    // Readers change nothing.
    assert_eq!((folder.read("a.blp"), folder.read(JOURNAL)), before);
}

#[test]
fn an_interrupted_change_of_a_frame_is_read_through_its_journal() {
    let folder = Folder::new();
    let model = [vec![7; 3000], vec![9; 1000]].concat();
    let array = NdArray::of_type::<u8>(&[4, 1000])
        .full(&[7])
        .chunk_shape(&[1, 1000]);
    drop(array.create(folder.path("a.b2nd")).unwrap());
    let crashing = Crashing {
        disk: Disk::new(folder.path("")),
        crashed: Arc::default(),
    };
    let frame = Frame::edit_in(crashing, "a.b2nd".as_ref(), &Options::new());
    let mut array = NdArray::of(frame.unwrap()).unwrap();
    array.write_slice(&[3..4, 0..1000], &[9; 1000]).unwrap();
    assert!(array.flush().unwrap_err().to_string().contains("crashed"));
    drop(array);
    assert_eq!(folder.names(), ["a.b2nd", "a.b2nd.blpk-journal"]);
    assert_eq!(&folder.read("a.b2nd")[..4], b"!\xa8b2");
    let words = "'a.b2nd': a change was interrupted";
    assert_eq!(folder.run(["cat", "a.b2nd"]).warned(words), model);
    let verified = folder.run(["verify", "a.b2nd"]).warned(words);
    assert!(verified.starts_with(b"a.b2nd: ok, 4 chunks, 4000 bytes"));
    folder.run(["info", "a.b2nd"]).warned(words);
    folder.run(["export", "a.b2nd", "a.npy"]).warned(words);
    folder.run(["convert", "a.b2nd", "b.b2nd"]).warned(words);
    assert_eq!(folder.run(["cat", "b.b2nd"]).succeeded(), model);
    std::fs::remove_file(folder.path("a.b2nd.blpk-journal")).unwrap();
    for command in ["info", "cat", "verify"] {
        let ran = folder.run([command, "a.b2nd"]).failed(4, "journal");
        assert!(!ran.stderr.contains("recover"), "{}", ran.stderr);
    }
}

#[test]
fn the_next_change_completes_it() {
    for command in [
        &["append", "a.blp"][..],
        &["patch", "--at", "0", "a.blp"],
        &["reindex", "-q", "a.blp"],
    ] {
        let (folder, model) = interrupted();
        if command.contains(&"-q") {
            folder.run(command).succeeded();
        } else {
            let ran = folder.run(command);
            ran.warned("'a.blp': a change was interrupted; it has now been completed");
        }
        assert_eq!(folder.names(), ["a.blp"]);
        assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), model);
    }
}

#[test]
fn without_its_journal_such_a_file_is_4() {
    let (folder, model) = interrupted();
    let (file, journal) = (folder.read("a.blp"), folder.read(JOURNAL));
    std::fs::remove_file(folder.path(JOURNAL)).unwrap();
    let commands: [&[&str]; 7] = [
        &["cat", "a.blp"],
        &["cat", "--range", "0..9", "a.blp"],
        &["d", "a.blp", "out"],
        &["info", "a.blp"],
        &["verify", "a.blp"],
        &["append", "a.blp"],
        &["patch", "--at", "0", "a.blp"],
    ];
    for command in commands {
        let ran = folder.run(command).failed(4, "its journal is missing");
        assert!(
            ran.stderr.contains(&format!("'{JOURNAL}'")),
            "{}",
            ran.stderr
        );
        assert_eq!(folder.read("a.blp"), file);
    }
    // One that is cut, and the right one again.
    assert_eq!(folder.names(), ["a.blp"]);
    folder.write(JOURNAL, &journal[..journal.len() - 1]);
    folder
        .run(["cat", "a.blp"])
        .failed(4, "incomplete or damaged");
    folder.write(JOURNAL, journal);
    folder.run(["-q", "append", "a.blp"]).succeeded();
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), model);
}

#[test]
fn a_journal_that_cannot_be_read_is_named() {
    let (folder, _) = interrupted();
    let file = folder.read("a.blp");
    std::fs::remove_file(folder.path(JOURNAL)).unwrap();
    std::fs::create_dir(folder.path(JOURNAL)).unwrap();
    for command in [
        &["cat", "a.blp"][..],
        &["info", "a.blp"],
        &["append", "a.blp"],
    ] {
        let both = format!("'a.blp', with its journal '{JOURNAL}': ");
        let ran = folder.run(command).failed(1, &both);
        assert!(!ran.stderr.contains("is unchanged"), "{}", ran.stderr);
        assert_eq!(folder.read("a.blp"), file);
    }
}

#[test]
fn through_a_pipe_the_journal_cannot_be_found() {
    let (folder, _) = interrupted();
    let file = folder.read("a.blp");
    for command in ["cat", "d", "info", "verify"] {
        let ran = folder.run_with([command], &file);
        assert_eq!(ran.status, 4, "{command}: {}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn the_journal_of_a_link_lies_beside_the_file() {
    let (folder, model) = interrupted();
    std::os::unix::fs::symlink("a.blp", folder.path("link.blp")).unwrap();
    assert_eq!(folder.run(["cat", "link.blp"]).warned("interrupted"), model);
    std::fs::remove_file(folder.path(JOURNAL)).unwrap();
    let ran = folder.run(["cat", "link.blp"]).failed(4, "interrupted");
    assert!(
        ran.stderr.contains(&format!("/{JOURNAL}'")),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_stale_journal_means_nothing() {
    let (folder, _) = interrupted();
    let journal = folder.read(JOURNAL);
    let whole = Folder::new();
    whole.write("a.blp", whole.compressed(&[], b"some bytes"));
    whole.write(JOURNAL, journal);
    assert_eq!(whole.run(["cat", "a.blp"]).succeeded(), b"some bytes");
    whole.run(["verify", "a.blp"]).succeeded();
    whole.run(["append", "a.blp"]).succeeded();
    assert_eq!(whole.names(), ["a.blp"]);

    // A foreign file is not taken for a journal.
    whole.write(JOURNAL, "Dear diary");
    assert_eq!(whole.run(["cat", "a.blp"]).succeeded(), b"some bytes");
    whole
        .run(["append", "a.blp"])
        .failed(1, "is not a journal but has the name of one");
    assert_eq!(whole.read(JOURNAL), b"Dear diary");
}

#[test]
fn a_text_that_begins_as_a_marked_file_does() {
    let folder = Folder::new();
    folder.write("a.blp", "!important: this is no such file");
    for command in ["cat", "info", "verify"] {
        folder.run([command, "a.blp"]).status_is(5);
    }
}

#[test]
fn writers_wait_for_one_another() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&[], b"some bytes"));
    folder.write("more", " more");
    for command in [
        &["append", "a.blp", "more"][..],
        &["patch", "--at", "0", "a.blp", "more"],
        &["reindex", "a.blp"],
    ] {
        let editor = Editor::open(folder.path("a.blp")).unwrap();
        let mut waiting = waiting(&folder, command);
        // Readers need not wait.
        folder.run(["cat", "a.blp"]).succeeded();
        drop(editor);
        assert!(waiting.wait().unwrap().success());
    }
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), b" morebytes more");
    assert_eq!(folder.names(), ["a.blp", "more"]);
}

/// Runs a command until it says that it waits for others.
fn waiting(folder: &Folder, command: &[&str]) -> std::process::Child {
    let mut child = Command::new(BLPK);
    let child = child.args(command).current_dir(folder.path(""));
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    let told = b"blpk: waiting for others to finish with 'a.blp'\n";
    let mut heard = vec![0; told.len()];
    let stderr = child.stderr.as_mut().unwrap();
    stderr.read_exact(&mut heard).unwrap();
    assert_eq!(heard, told);
    assert!(child.try_wait().unwrap().is_none());
    child
}

#[test]
fn a_writer_waits_for_readers_and_says_so() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&[], b"some bytes"));
    folder.write("more", " more");
    // As readers of earlier versions do, and all readers on a network file system.
    let reader = File::open(folder.path("a.blp")).unwrap();
    assert!(Lock::try_lock(&reader, LockMode::Shared).unwrap());
    let mut child = waiting(&folder, &["append", "a.blp", "more"]);
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), b"some bytes");
    drop(reader);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), b"some bytes more");
}

/// Whether handles of a file see one another here, so that readers need not lock it.
#[cfg(target_os = "linux")]
fn sees_others(folder: &Folder) -> bool {
    folder.write("any", "bytes");
    let file = File::open(folder.path("any")).unwrap();
    std::fs::remove_file(folder.path("any")).unwrap();
    file.presence()
        .is_some_and(|file| file.announce(9).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_keeps_the_content_while_the_file_is_changed() {
    let folder = Folder::new();
    if !sees_others(&folder) {
        return;
    }
    let plain = noise(4_000_000);
    for command in [
        &["cat", "a.blp"][..],
        &["d", "a.blp", "-"],
        &["cat", "--range", "1..", "a.blp"],
    ] {
        folder.write("a.blp", folder.compressed(&["-z", "64K"], &plain));
        let mut reader = Command::new(BLPK);
        reader.args(command).current_dir(folder.path(""));
        let mut reader = reader.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = reader.stdout.take().unwrap();
        let mut read = vec![0; 100];
        out.read_exact(&mut read).unwrap();
        // The pipe is full: the reader has not come to its end, and no writer waits for it.
        folder.run_with(["append", "a.blp"], "more").succeeded();
        for at in ["0", "2000000", "3999000"] {
            let patch = ["patch", "--at", at, "a.blp"];
            folder.run_with(patch, noise(500)).succeeded();
        }
        out.read_to_end(&mut read).unwrap();
        assert!(reader.wait().unwrap().success(), "{command:?}");
        let first = plain.len() - read.len();
        assert!(read == plain[first..], "{command:?}");
        // The next writer leaves nothing.
        folder.run_with(["append", "a.blp"], "").succeeded();
        assert_eq!(folder.names(), ["a.blp"]);
        let now = folder.run(["cat", "a.blp"]).succeeded();
        assert_eq!(now[..500], noise(500));
        assert_eq!(now[4_000_000..], *b"more");
    }
}

/// A writer of an earlier version keeps nothing: it locks the file, and changes it.
#[cfg(target_os = "linux")]
#[test]
fn a_writer_of_an_earlier_version_is_noticed() {
    let folder = Folder::new();
    folder.write(
        "a.blp",
        folder.compressed(&["-z", "64K"], &noise(4_000_000)),
    );
    let mut reader = Command::new(BLPK);
    reader.args(["cat", "a.blp"]).current_dir(folder.path(""));
    reader.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut reader = reader.spawn().unwrap();
    let mut first = [0; 100];
    let mut out = reader.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    let file = File::options().write(true).open(folder.path("a.blp"));
    let file = file.unwrap();
    wait_for(|| {
        Lock::try_lock(&file, LockMode::Exclusive)
            .unwrap()
            .then_some(())
    });
    file.write_all_at(3_000_000, &[0; 1000]).unwrap();
    drop(file);
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    let mut said = String::new();
    reader
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(reader.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("open it again"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_can_be_opened_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let packed = folder.compressed(&[], b"some bytes");
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/a.blp", &packed);
    let mode = |path: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(path), mode).unwrap();
    };
    mode("sub/a.blp", 0o400);
    // Names can be opened, but nothing listed or created.
    mode("sub", 0o100);
    assert_eq!(folder.run(["cat", "sub/a.blp"]).succeeded(), b"some bytes");
    folder.run(["verify", "sub/a.blp"]).succeeded();
    mode("sub", 0o700);

    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        let line = line.replace("blpk", BLPK);
        shell.args(["-c", &line]).current_dir(folder.path(""));
        shell.output().unwrap().stdout
    };
    assert_eq!(shell("blpk cat /dev/fd/3 3< sub/a.blp"), b"some bytes");
    assert_eq!(shell("cat sub/a.blp | blpk cat /dev/stdin"), b"some bytes");
    assert_eq!(shell("blpk cat < sub/a.blp"), b"some bytes");
    assert_eq!(
        shell("cat sub/a.blp | (blpk cat /dev/fd/3 3<&0)"),
        b"some bytes"
    );
    assert_eq!(
        shell("mkfifo fifo; cat sub/a.blp > fifo & blpk cat fifo"),
        b"some bytes"
    );
    // A file without a name has no place beside it.
    assert_eq!(
        shell("exec 3< sub/a.blp; rm -f sub/a.blp; blpk cat /dev/fd/3"),
        b"some bytes"
    );
    folder
        .run(["info", "/proc/self/status"])
        .failed(5, "not a Bloscpack file");
}
