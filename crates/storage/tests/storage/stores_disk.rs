//! Tests of a store in a directory: links, pipes and devices are not followed, files keep their modes, and a removed
//! folder is not kept.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack_storage::{DiskStore, EntryKind, Key, ReadAt, Store};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use testkit::stopwatch::HANG;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// A directory with one file outside of the store, and a store with a file in a folder.
struct Place {
    _folder: tempfile::TempDir,
    outside: PathBuf,
    root: PathBuf,
    store: DiskStore,
}

const SECRET: &[u8] = b"not to be read or changed";

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let (outside, root) = (folder.path().join("outside"), folder.path().join("set"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("0"), SECRET).unwrap();
    let store = DiskStore::create(&root).unwrap();
    store.make_folder(&key("data")).unwrap();
    store.create(&key("data/0"), b"inside").unwrap();
    Place {
        _folder: folder,
        outside,
        root,
        store,
    }
}

impl Place {
    fn assert_untouched(&self) {
        assert_eq!(fs::read(self.outside.join("0")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(&self.outside).unwrap().count(), 1);
    }

    /// All that could read, write or remove something under this key, without any success.
    fn assert_refused(&self, at: &str) {
        let (begun, at) = (Instant::now(), key(at));
        let store = &self.store;
        let refused = [
            store.open(&at).err(),
            store.patch(&at, 0, b"x").err(),
            store.patch(&at, 0, b"").err(),
            store.remove(&at).err(),
            store.rename(&at, &key("moved")).err(),
            store.create_like(&key("new"), &at, b"x").err(),
            store.sync(&at).err(),
        ];
        for (number, error) in refused.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("{at}: {number} was done"));
            assert_eq!(
                error.kind(),
                ErrorKind::InvalidInput,
                "{at}, {number}: {error}"
            );
            assert!(error.to_string().contains(at.as_str()), "{error}");
        }
        assert!(store.create(&at, b"x").is_err(), "{at}");
        assert!(begun.elapsed() < HANG, "{at}: it waited");
        self.assert_untouched();
    }
}

#[test]
fn links_are_not_followed() {
    let place = place();
    let link = |to: &Path, name: &str| symlink(to, place.root.join(name)).unwrap();
    link(&place.outside.join("0"), "file");
    link(&place.outside, "folder");
    link(Path::new("../outside/0"), "data/relative");
    link(Path::new("data/0"), "within");
    link(Path::new("loop"), "loop");
    link(Path::new("nowhere"), "dangling");
    for at in ["file", "data/relative", "within", "loop", "dangling"] {
        place.assert_refused(at);
        assert_eq!(place.store.kind(&key(at)).unwrap(), Some(EntryKind::Other));
    }
    for at in ["folder/0", "folder/new", "loop/0", "file/0"] {
        place.assert_refused(at);
        assert_eq!(
            place.store.kind(&key(at)).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
    for at in ["folder", "loop"] {
        let at = key(at);
        assert!(place.store.list(&at).is_err());
        assert!(place.store.make_folder(&at).is_err());
        assert!(place.store.remove_folder(&at).is_err());
        assert!(place.store.make_folder(&at.join("new").unwrap()).is_err());
        let hold = bloscpack_storage::LockMode::Exclusive;
        assert!(place.store.try_lock(&at, hold).is_err());
        assert!(place.store.sync(&at).is_err());
    }
    let other = place.store.list(&Key::root()).unwrap();
    let other = other.iter().filter(|entry| entry.kind == EntryKind::Other);
    assert_eq!(other.count(), 5);
    place.assert_untouched();
}

#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let place = place();
    assert_eq!(place.store.open(&key("data/0")).unwrap().size().unwrap(), 6);
    fs::rename(place.root.join("data"), place.root.join("gone")).unwrap();
    symlink(&place.outside, place.root.join("data")).unwrap();
    // A folder that is kept open may still be the old one.
    if let Ok(object) = place.store.open(&key("data/0")) {
        assert_eq!(object.size().unwrap(), 6);
    }
    for at in ["data/new", "data/0"] {
        assert!(place.store.create(&key(at), b"x").is_err());
        assert!(place.store.patch(&key(at), 0, b"x").is_err());
        assert!(place.store.remove(&key(at)).is_err());
    }
    place.assert_untouched();
    assert_eq!(fs::read(place.root.join("gone/0")).unwrap(), b"inside");
}

#[test]
fn pipes_and_devices_are_not_opened() {
    let place = place();
    let made = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    assert!(made(Command::new("mkfifo").arg(place.root.join("fifo"))));
    place.assert_refused("fifo");
    let _socket = std::os::unix::net::UnixListener::bind(place.root.join("socket")).unwrap();
    place.assert_refused("socket");
    // Only the superuser makes devices.
    let zero = place.root.join("zero");
    if made(Command::new("mknod").arg(&zero).args(["c", "1", "5"])) {
        place.assert_refused("zero");
    }
    assert!(fs::symlink_metadata(place.root.join("fifo")).is_ok());
}

#[test]
fn the_path_of_the_root_may_be_a_link() {
    let place = place();
    let link = place.outside.parent().unwrap().join("link");
    symlink(&place.root, &link).unwrap();
    let store = DiskStore::open(&link).unwrap();
    assert_eq!(store.open(&key("data/0")).unwrap().size().unwrap(), 6);
    // It is followed once.
    fs::remove_file(&link).unwrap();
    symlink(&place.outside, &link).unwrap();
    assert!(store.open(&key("0")).is_err());
    assert_eq!(store.open(&key("data/0")).unwrap().size().unwrap(), 6);
}

#[test]
fn a_root_is_a_directory_that_is_there_or_is_made() {
    let place = place();
    let parent = place.root.parent().unwrap();
    let kind = |done: std::io::Result<DiskStore>| done.unwrap_err().kind();
    assert_eq!(
        kind(DiskStore::open(parent.join("no"))),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(DiskStore::create(parent.join("no/set"))),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(DiskStore::create(&place.root)),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        kind(DiskStore::open(place.root.join("data/0"))),
        ErrorKind::NotADirectory
    );
    assert!(
        Command::new("mkfifo")
            .arg(parent.join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    DiskStore::open(parent.join("fifo")).unwrap_err();
}

#[test]
fn files_of_several_names_are_replaced_but_not_patched() {
    let place = place();
    let other = place.outside.parent().unwrap().join("other");
    fs::hard_link(place.root.join("data/0"), &other).unwrap();
    let at = key("data/0");
    assert_eq!(place.store.open(&at).unwrap().size().unwrap(), 6);
    for bytes in [&b"x"[..], b""] {
        let error = place.store.patch(&at, 0, bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    place.store.create(&key("new"), b"new").unwrap();
    place.store.rename(&key("new"), &at).unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"inside");
    assert_eq!(fs::read(place.root.join("data/0")).unwrap(), b"new");
    place.store.patch(&at, 0, b"x").unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_have_the_modes_of_what_they_replace_or_are_readable_as_their_folder_is() {
    let place = place();
    let path = |name: &str| place.root.join(name);
    // The mode that the umask of this process gives.
    fs::write(path("plain"), b"").unwrap();
    fs::create_dir(path("plain_folder")).unwrap();
    let (plain, plain_folder) = (mode(&path("plain")), mode(&path("plain_folder")));
    for around in [0o700, 0o750, 0o755, 0o711, 0o777] {
        set_mode(&place.root, around);
        place.store.create(&key("file"), b"x").unwrap();
        assert_eq!(mode(&path("file")), plain | around & 0o444, "{around:o}");
        place.store.make_folder(&key("folder")).unwrap();
        assert_eq!(
            mode(&path("folder")),
            plain_folder | around & 0o555,
            "{around:o}"
        );
        // A file made like one in another folder gets the mode that it would have there.
        set_mode(&path("data"), 0o700);
        place
            .store
            .create_like(&key("staged"), &key("data/1"), b"x")
            .unwrap();
        assert_eq!(mode(&path("staged")), plain | 0o400);
        for old in [0o600, 0o644, 0o640, 0o664, 0o400] {
            set_mode(&path("file"), old);
            place
                .store
                .create_like(&key("new"), &key("file"), b"y")
                .unwrap();
            assert_eq!(mode(&path("new")), old);
            place.store.rename(&key("new"), &key("file")).unwrap();
            assert_eq!(mode(&path("file")), old);
        }
        for name in ["file", "staged"] {
            place.store.remove(&key(name)).unwrap();
        }
        place.store.remove_folder(&key("folder")).unwrap();
    }
}

#[test]
fn folders_that_others_remove_and_make_again_are_found() {
    let place = place();
    let folder = place.root.join("data");
    for round in 0..5u8 {
        fs::remove_file(folder.join("0")).unwrap();
        fs::remove_dir(&folder).unwrap();
        assert_eq!(place.store.kind(&key("data/0")).unwrap(), None);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("0"), [round; 10]).unwrap();
        let mut bytes = [0; 10];
        let object = place.store.open(&key("data/0")).unwrap();
        object.read_exact_at(0, &mut bytes).unwrap();
        assert_eq!(bytes, [round; 10]);
    }
}

#[test]
fn no_handles_are_lost() {
    let place = place();
    let open = || fs::read_dir("/dev/fd").unwrap().count();
    for number in 0..40 {
        let folder = key(&format!("folder{number}"));
        place.store.make_folder(&folder).unwrap();
        place
            .store
            .create(&folder.join("0").unwrap(), b"x")
            .unwrap();
    }
    let work = || {
        for number in 0..40 {
            let folder = key(&format!("folder{number}"));
            place.store.open(&folder.join("0").unwrap()).unwrap();
            place.store.list(&folder).unwrap();
            let _ = place.store.open(&folder.join("1").unwrap());
            let _ = place
                .store
                .try_lock(&folder, bloscpack_storage::LockMode::Shared);
        }
    };
    work();
    let before = open();
    (0..5).for_each(|_| work());
    // Parallel tests open some, too.
    assert!(open() < before + 100, "{before} and then {}", open());
}

#[test]
fn names_that_are_no_text_are_listed() {
    use std::os::unix::ffi::OsStrExt;
    let place = place();
    let odd = std::ffi::OsStr::from_bytes(b"odd \xff");
    fs::write(place.root.join(odd), b"x").unwrap();
    let names = place.store.list(&Key::root()).unwrap();
    assert!(names.iter().any(|entry| entry.name == odd));
}
