//! Tests that the folders of the file system and in memory behave the same.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack_storage::{Access, Disk, Folder, Lock, LockMode, Memory, ReadAt, WriteAt};
use std::ffi::OsStr;
use std::io::ErrorKind;

fn name(name: &str) -> &OsStr {
    OsStr::new(name)
}

fn bytes<F: ReadAt + ?Sized>(file: &F) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(file.size().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// Runs a check on both.
fn on_both(check: impl Fn(&dyn Fn() -> Box<dyn Any>)) {
    check(&|| Box::new(Memory::new()));
    let folder = tempfile::tempdir().unwrap();
    check(&|| Box::new(Disk::new(folder.path())));
}

/// A folder without its kind of file.
trait Any {
    fn create(&self, name: &str) -> std::io::Result<Box<dyn File>>;
    fn open(&self, name: &str, access: Access) -> std::io::Result<Box<dyn File>>;
    fn replace(&self, from: &str, to: &str) -> std::io::Result<()>;
    fn remove(&self, name: &str) -> std::io::Result<()>;
    fn list(&self) -> Vec<String>;
}

trait File: WriteAt + Lock {}
impl<T: WriteAt + Lock> File for T {}

impl<F: Folder> Any for F
where
    F::File: 'static,
{
    fn create(&self, at: &str) -> std::io::Result<Box<dyn File>> {
        let file = Folder::create(self, name(at), None)?;
        assert!(self.leads_to(name(at), &file)?);
        Ok(Box::new(file))
    }

    fn open(&self, at: &str, access: Access) -> std::io::Result<Box<dyn File>> {
        Ok(Box::new(Folder::open(self, name(at), access)?))
    }

    fn replace(&self, from: &str, to: &str) -> std::io::Result<()> {
        Folder::replace(self, name(from), name(to))?;
        self.sync()
    }

    fn remove(&self, at: &str) -> std::io::Result<()> {
        Folder::remove(self, name(at))
    }

    fn list(&self) -> Vec<String> {
        let names = Folder::list(self).unwrap();
        let names = names.into_iter().map(|name| name.into_string().unwrap());
        names.collect()
    }
}

#[test]
fn names_come_and_go() {
    on_both(|make| {
        let folder = make();
        assert_eq!(
            folder.open("a", Access::Read).err().unwrap().kind(),
            ErrorKind::NotFound
        );
        folder.create("b").unwrap();
        folder
            .create("a")
            .unwrap()
            .write_all_at(0, b"first")
            .unwrap();
        assert_eq!(
            folder.create("a").err().unwrap().kind(),
            ErrorKind::AlreadyExists
        );
        assert_eq!(folder.list(), ["a", "b"]);
        folder.replace("a", "b").unwrap();
        assert_eq!(folder.list(), ["b"]);
        assert_eq!(bytes(&*folder.open("b", Access::Read).unwrap()), b"first");
        assert_eq!(
            folder.replace("a", "b").unwrap_err().kind(),
            ErrorKind::NotFound
        );
        folder.remove("b").unwrap();
        assert_eq!(folder.remove("b").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(folder.list().is_empty());
    });
}

#[test]
fn bytes_lie_where_they_were_put() {
    on_both(|make| {
        let folder = make();
        let file = folder.create("a").unwrap();
        file.write_all_at(3, b"def").unwrap();
        file.write_all_at(1, b"b").unwrap();
        assert_eq!(bytes(&*file), b"\0b\0def");
        file.set_len(4).unwrap();
        file.set_len(6).unwrap();
        assert_eq!(bytes(&*file), b"\0b\0d\0\0");
        file.sync().unwrap();
        let mut beyond = [0; 3];
        assert_eq!(file.read_at(6, &mut beyond).unwrap(), 0);
        assert_eq!(file.read_at(5, &mut beyond).unwrap(), 1);
        assert_eq!(
            file.read_exact_at(5, &mut beyond).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
        assert!(
            folder
                .open("a", Access::Read)
                .unwrap()
                .write_at(0, b"x")
                .is_err()
        );
        assert_eq!(
            bytes(&*folder.open("a", Access::Write).unwrap()),
            b"\0b\0d\0\0"
        );
    });
}

#[test]
fn holds_exclude_one_another() {
    on_both(|make| {
        let folder = make();
        let one = folder.create("a").unwrap();
        let two = folder.open("a", Access::Read).unwrap();
        assert!(one.try_lock(LockMode::Shared).unwrap());
        assert!(two.try_lock(LockMode::Shared).unwrap());
        assert!(!one.try_lock(LockMode::Exclusive).unwrap());
        two.unlock().unwrap();
        assert!(one.try_lock(LockMode::Exclusive).unwrap());
        assert!(!two.try_lock(LockMode::Shared).unwrap());
        drop(one);
        assert!(two.try_lock(LockMode::Exclusive).unwrap());
    });
}

#[test]
fn an_open_file_outlives_its_name() {
    on_both(|make| {
        let folder = make();
        folder.create("a").unwrap().write_all_at(0, b"old").unwrap();
        folder.create("b").unwrap().write_all_at(0, b"new").unwrap();
        let old = folder.open("a", Access::Read).unwrap();
        folder.replace("b", "a").unwrap();
        assert_eq!(bytes(&*old), b"old");
        assert_eq!(bytes(&*folder.open("a", Access::Read).unwrap()), b"new");
    });
}
