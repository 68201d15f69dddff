//! The storage of an array.

use bloscpack::Options;
use bloscpack::storage::{Memory, Snapshot};
use bloscpack_open::frames::{Frame, NdArray, NdArrayBuilder};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const NAME: &str = "array";

/// Kinds of places.
#[derive(Debug, Clone)]
pub enum Place {
    /// Nowhere but in the array itself.
    Nowhere,
    /// A file in memory.
    Memory,
    /// A sparse frame in memory.
    Store,
    /// A file in this folder.
    File(PathBuf),
    /// A sparse frame in this folder.
    Folder(PathBuf),
}

pub enum Home {
    Nowhere,
    Memory(Memory),
    Store(Memory),
    Path { path: PathBuf, is_sparse: bool },
}

impl Home {
    pub fn new(place: Place) -> Self {
        let within = |folder: &Path| folder.join(NAME);
        match place {
            Place::Nowhere => Self::Nowhere,
            Place::Memory => Self::Memory(Memory::new()),
            Place::Store => Self::Store(Memory::new()),
            Place::File(folder) => Self::Path {
                path: within(&folder),
                is_sparse: false,
            },
            Place::Folder(folder) => Self::Path {
                path: within(&folder),
                is_sparse: true,
            },
        }
    }

    pub fn lasts(&self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    pub fn create(&self, builder: NdArrayBuilder) -> NdArray {
        let array = match self {
            Self::Nowhere => builder.in_memory(),
            Self::Memory(memory) => builder.create_in(memory.clone(), OsStr::new(NAME)),
            Self::Store(store) => builder.create_in_store(store.clone()),
            Self::Path {
                path,
                is_sparse: false,
            } => builder.create(path),
            Self::Path { path, .. } => builder.create_sparse(path),
        };
        array.unwrap()
    }

    pub fn edit(&self, options: &Options) -> NdArray {
        let frame = match self {
            Self::Nowhere => unreachable!("nothing lasts there"),
            Self::Memory(memory) => Frame::edit_in(memory.clone(), OsStr::new(NAME), options),
            Self::Store(store) => Frame::edit_store(store.clone(), options),
            Self::Path { path, .. } => Frame::edit_with(path, options),
        };
        NdArray::of(frame.unwrap()).unwrap()
    }

    /// As others read it.
    pub fn read(&self, options: &Options) -> Option<NdArray> {
        let frame = match self {
            Self::Nowhere => return None,
            Self::Memory(memory) => Frame::read_with(
                Snapshot::open_in(memory, OsStr::new(NAME)).unwrap(),
                options,
            ),
            Self::Store(store) => Frame::open_store(store.clone(), options),
            Self::Path { path, .. } => Frame::open_with(path, options),
        };
        Some(NdArray::of(frame.unwrap()).unwrap())
    }
}
