//! The folder in which a hostile dataset is made, and the files beside it.

use super::sound::Sound;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A folder for the dataset, and one that it must not reach.
pub struct Place {
    pub root: PathBuf,
    /// With the sound datasets `array`, `table` and `document`, and with `pipe`, which blocks when it is opened.
    pub outside: PathBuf,
}

impl Place {
    pub fn new(temp: &Path) -> Self {
        let (root, outside) = (temp.join("inside/dataset"), temp.join("outside"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        Sound::Array.write(&outside.join("array"));
        Sound::Table.write(&outside.join("table"));
        Sound::Document.write(&outside.join("document"));
        fifo(&outside.join("pipe"));
        Self { root, outside }
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        match path.as_ref() {
            path if path == Path::new("") => self.root.clone(),
            path => self.root.join(path),
        }
    }

    /// A file, and the folders above it.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let file = self.at(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// Other words in a text.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.at(path)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {path}: {text}");
        self.write(path, text.replace(from, to));
    }

    /// Other bytes in a file.
    pub fn patch(&self, path: &str, at: usize, bytes: &[u8]) {
        let mut file = std::fs::read(self.at(path)).unwrap();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        self.write(path, file);
    }

    pub fn rename(&self, from: &str, to: impl AsRef<Path>) {
        std::fs::rename(self.at(from), self.at(to)).unwrap();
    }

    /// Takes a file, or a folder with all in it.
    pub fn remove(&self, path: impl AsRef<Path>) {
        let path = self.at(path);
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path).unwrap(),
            Ok(_) => std::fs::remove_file(path).unwrap(),
            Err(_) => {}
        }
    }

    /// A link in the place of the previous entry.
    pub fn link(&self, path: impl AsRef<Path>, to: impl AsRef<Path>) {
        self.remove(&path);
        std::os::unix::fs::symlink(to, self.at(path)).unwrap();
    }

    pub fn fifo(&self, path: impl AsRef<Path>) {
        self.remove(&path);
        fifo(&self.at(path));
    }

    pub fn folder(&self, path: impl AsRef<Path>) {
        self.remove(&path);
        std::fs::create_dir(self.at(path)).unwrap();
    }

    /// A file of this length that takes no room, after the bytes that it has.
    pub fn stretch(&self, path: &str, len: u64) {
        let file = std::fs::File::options();
        let file = file.clone().write(true).open(self.at(path)).unwrap();
        file.set_len(len).unwrap();
    }

    /// Only the superuser can read the file.
    pub fn forbid(&self, path: &str) {
        use std::os::unix::fs::PermissionsExt;
        let nobody = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(self.at(path), nobody).unwrap();
    }

    /// Copies of a sound dataset's files.
    pub fn add(&self, path: impl AsRef<Path>, sound: Sound) {
        sound.write(&self.at(path));
    }
}

pub fn fifo(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status();
    assert!(made.unwrap().success(), "{}", at.display());
}

/// A name that is not UTF-8.
pub fn not_utf_8() -> &'static OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(b"\xff\xfe\x80")
}
