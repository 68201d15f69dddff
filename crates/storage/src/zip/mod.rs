//! [`ZipStore`]: the files in a ZIP archive. [`zip_folder`]: writes one.

mod directory;
mod member;
mod record;
mod seal;
mod seen;
mod write;

pub use write::zip_folder;

use crate::convert::to_u64;
use crate::tree::errors::{A_FILE, NOT_A_FILE, invalid, not_found};
use crate::{Entry, EntryKind, Key, ReadAt, SharedSource, Store};
use directory::Directory;
use member::Member;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Default maximum length of an unpacked file: see [`ZipStore::max_file_len`].
const MAX_FILE_LEN: u64 = 1 << 30;
/// Maximum number of differences that `verify` returns.
const MAX_DAMAGES: usize = 1000;

/// The files in a ZIP archive, as a read-only store.
///
/// - **Stored files** (without compression) are read from the archive by position. Their checksum is compared
///   when all bytes have been read, in any order: the read that completes them fails if it differs, and so does
///   every later one. While a part has not been read, nothing is compared; [`verify`](Store::verify) reads
///   everything.
/// - **Deflated files** are unpacked into memory by the first read, up to a [limit](Self::max_file_len), which
///   compares their checksum.
/// - **Encrypted files** and other compression methods are an error when the file is opened. Links are [never
///   opened](EntryKind::Other).
///
/// Opening refuses archives whose directory contradicts itself: names that lead outside the archive, files that
/// overlap, files within files. Of several files with one name, the last one counts. ZIP64 archives are
/// supported; archives in several parts are not.
///
/// ```
/// use bloscpack_storage::{Key, ReadAt, Store, ZipStore};
/// // An archive of one empty folder, `data`.
/// let mut archive = b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0data/".to_vec();
/// archive.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0data/");
/// archive.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x33\0\0\0\x23\0\0\0\0\0");
/// let store = ZipStore::open(archive)?;
/// assert_eq!(store.list(&Key::root())?.len(), 1);
/// assert!(store.list(&Key::parse("data")?)?.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ZipStore {
    source: SharedSource,
    nodes: BTreeMap<Key, Node>,
    max_file_len: u64,
    /// The position of the directory, and the comment if it is a seal.
    seal: Option<(u64, Vec<u8>)>,
}

#[derive(Debug, Clone)]
enum Node {
    Folder,
    File(Member),
    /// A link.
    Other,
}

impl Node {
    fn kind(&self) -> EntryKind {
        match self {
            Self::Folder => EntryKind::Folder,
            Self::File(_) => EntryKind::File,
            Self::Other => EntryKind::Other,
        }
    }
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ZipStore");
        shown
            .field("files", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl ZipStore {
    /// Opens an archive and reads its directory, of up to 256 MiB, into memory.
    ///
    /// # Errors
    /// Returns [`InvalidData`](io::ErrorKind::InvalidData) for data that is not an archive, and for one whose
    /// directory contradicts itself; [`Unsupported`](io::ErrorKind::Unsupported) for an archive in several
    /// parts and a directory of more than 256 MiB; and any error of the source. The first two contain
    /// [`Error::Archive`](crate::Error::Archive) with the position.
    pub fn open(source: impl ReadAt + 'static) -> io::Result<Self> {
        let source: SharedSource = Arc::new(source);
        let mut directory = Directory::read(&*source)?;
        let comment = std::mem::take(&mut directory.comment);
        let seal = seal::is_seal(&comment).then_some((directory.at, comment));
        let nodes = nodes(directory)?;
        Ok(Self {
            source,
            nodes,
            max_file_len: MAX_FILE_LEN,
            seal,
        })
    }

    /// Sets the maximum length of an unpacked file in bytes: 1 GiB by default. A longer one is an error when it
    /// is opened. Stored files are not limited.
    #[must_use]
    pub fn max_file_len(mut self, bytes: u64) -> Self {
        self.max_file_len = bytes;
        self
    }

    /// The folder that contains everything: many archives contain one folder rather than its files. The root if
    /// there are several entries.
    ///
    /// ```
    /// use bloscpack_storage::{Key, ZipStore, zip_folder};
    /// let temp = tempfile::tempdir()?;
    /// std::fs::create_dir(temp.path().join("dataset"))?;
    /// std::fs::write(temp.path().join("dataset/a"), b"one")?;
    /// let archive = tempfile::tempfile()?;
    /// zip_folder(temp.path(), "", &archive)?;
    ///
    /// let store = ZipStore::open(archive)?.max_file_len(1 << 20);
    /// assert_eq!(store.only_folder(), Key::parse("dataset")?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn only_folder(&self) -> Key {
        let mut folder = Key::root();
        while let Ok([entry]) = self.list(&folder).as_deref()
            && entry.kind == EntryKind::Folder
            && let Some(inner) = entry.name.to_str().and_then(|name| folder.join(name).ok())
        {
            folder = inner;
        }
        folder
    }

    fn members(&self) -> impl Iterator<Item = (&Key, &Member)> {
        self.nodes.iter().filter_map(|(key, node)| match node {
            Node::File(member) => Some((key, member)),
            _ => None,
        })
    }

    /// Compares a file with its checksum.
    fn check_file(&self, key: &Key, member: &Member) -> io::Result<()> {
        // Start with an empty record of what was read.
        let member = Member {
            seen: Arc::default(),
            ..member.clone()
        };
        let file = member.open(Arc::clone(&self.source), key, self.max_file_len)?;
        match seal::crc(&*file)? {
            found if found == member.crc => Ok(()),
            found => Err(member.wrong_crc(key, found)),
        }
    }

    /// Compares the bytes outside of files with the seal, if there is one.
    fn check_seal(&self) -> io::Result<()> {
        let Some((directory, comment)) = &self.seal else {
            return Ok(());
        };
        let mut heads = Vec::new();
        for (key, member) in self.members() {
            heads.push(member.at..member.content(&*self.source, key)?);
        }
        heads.sort_by_key(|head| head.start);
        let end = self.source.size()?.saturating_sub(to_u64(seal::DIGITS));
        heads.push(*directory..end);
        let digits = seal::digits(&*self.source, heads)?;
        if *comment == [seal::PREFIX, digits.as_bytes()].concat() {
            Ok(())
        } else {
            let comment = comment.escape_ascii();
            let what =
                format_args!("the digest of its headers is {digits}, and its comment is {comment}");
            Err(record::damaged(*directory, what))
        }
    }

    fn check_folder(&self, key: &Key) -> io::Result<()> {
        match self.nodes.get(key) {
            _ if *key == Key::root() => Ok(()),
            Some(Node::Folder) => Ok(()),
            Some(_) => Err(invalid(key, A_FILE)),
            None => Err(not_found(key)),
        }
    }
}

/// The folders and files of a directory. A program that rewrites a file adds its name again, and the last one
/// counts.
fn nodes(directory: Directory) -> io::Result<BTreeMap<Key, Node>> {
    let mut nodes = BTreeMap::new();
    for record in directory.records {
        let mut folder = record.key.split().map(|(folder, _)| folder);
        while let Some(key) = folder.filter(|key| *key != Key::root()) {
            folder = key.split().map(|(folder, _)| folder);
            let found = nodes.entry(key).or_insert(Node::Folder);
            if found.kind() != EntryKind::Folder {
                return Err(record.wrong("lies in a file"));
            }
        }
        let node = match record.kind {
            EntryKind::Folder => Node::Folder,
            EntryKind::Other => Node::Other,
            EntryKind::File => Node::File(record.member.clone()),
        };
        let kind = node.kind();
        let before = nodes.insert(record.key.clone(), node);
        if before.is_some_and(|before| before.kind() != kind) {
            return Err(record.wrong("is both a file and a folder"));
        }
    }
    Ok(nodes)
}

impl Store for ZipStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        match self.nodes.get(key) {
            Some(Node::File(member)) => {
                member.open(Arc::clone(&self.source), key, self.max_file_len)
            }
            Some(Node::Folder) => Err(invalid(key, NOT_A_FILE)),
            Some(Node::Other) => Err(invalid(key, "a link, not a file")),
            None if *key == Key::root() => Err(invalid(key, NOT_A_FILE)),
            None => Err(not_found(key)),
        }
    }

    fn has_own_files(&self) -> bool {
        false
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.check_folder(folder)?;
        // The keys of a folder's entries follow its own, among those of siblings that begin with its name.
        let after = self.nodes.range(folder.clone()..);
        let near = after.take_while(|(key, _)| key.as_str().starts_with(folder.as_str()));
        let inside = near.filter_map(|(key, node)| {
            let (there, name) = key.split()?;
            let (name, kind) = (name.into(), node.kind());
            (there == *folder).then_some(Entry { name, kind })
        });
        let mut entries: Vec<_> = inside.collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        let Some((folder, _)) = key.split() else {
            return Ok(Some(EntryKind::Folder));
        };
        match self.check_folder(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            done => done?,
        }
        Ok(self.nodes.get(key).map(Node::kind))
    }

    fn verify(&self, below: &Key) -> Vec<io::Error> {
        let depth = below.names().count();
        let files = self
            .members()
            .filter(|(key, _)| key.names().take(depth).eq(below.names()))
            .map(|(key, member)| self.check_file(key, member));
        let seal = (depth == 0).then(|| std::iter::once_with(|| self.check_seal()));
        let all = files.chain(seal.into_iter().flatten());
        all.filter_map(Result::err).take(MAX_DAMAGES).collect()
    }

    fn read_only(&self, _: &Key) -> io::Error {
        let what = "a ZIP archive is only read: unpack it to change it";
        io::Error::new(io::ErrorKind::ReadOnlyFilesystem, what)
    }
}
