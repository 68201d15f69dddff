//! Stores that this library writes.

use super::exported;
use bloscpack::Options;
use bloscpack::dtype::DType;
use bloscpack::storage::zip_folder;
use bloscpack_open::exchange::Format;
use bloscpack_open::frames::NdArray;
use bloscpack_open::stores::{
    ColumnData, ColumnKind, EMBED_FILE, ItemKind, StoreColumn, TableWriter, Value, create_tree,
    seal_store,
};
use bloscpack_open::{open, open_source};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use testkit::effort;

/// The stores: a table of one column each, and a tree.
const STORES: [&str; 6] = ["int", "nullable", "text", "string", "empty", "tree"];

fn fixed(dtype: DType) -> ColumnKind {
    let row_shape = Vec::new();
    ColumnKind::Fixed { dtype, row_shape }
}

fn elements(bytes: &[u8], present: Option<Vec<bool>>) -> ColumnData {
    let bytes = bytes.to_vec();
    ColumnData::Fixed { bytes, present }
}

/// Makes a store in an empty directory.
fn make(name: &str, folder: &Path) {
    let text = ["", "né", "three"].map(|text| Value::Text(text.to_owned()));
    let (kind, nullable, data) = match name {
        "tree" => return make_tree(folder),
        "int" => (
            fixed(DType::I16),
            false,
            elements(&[1, 0, 2, 0, 3, 1], None),
        ),
        "nullable" => {
            let present = Some(vec![true, false, true]);
            (fixed(DType::U8), true, elements(&[7, 0, 9], present))
        }
        "text" => (
            ColumnKind::Varying(ItemKind::Text),
            false,
            ColumnData::Varying(text.to_vec()),
        ),
        "string" => (
            fixed(DType::bytes(2).unwrap()),
            false,
            elements(b"a\0bcd\0", None),
        ),
        _ => (fixed(DType::F64), false, elements(&[], None)),
    };
    let columns = [StoreColumn::new("c", kind, nullable).unwrap()];
    let mut table = TableWriter::create(folder, &columns, Some(256), |array| array).unwrap();
    let rows = if name == "empty" { 0 } else { 3 };
    table.append(rows, &[data]).unwrap();
    assert_eq!(table.finish().unwrap(), rows);
}

fn make_tree(folder: &Path) {
    create_tree(folder).unwrap();
    fs::create_dir(folder.join("a")).unwrap();
    let mut array = NdArray::of_type::<u16>(&[2, 3])
        .create(folder.join("a/x.b2nd"))
        .unwrap();
    array.write(&[0..2, 0..3], &[1u16, 2, 3, 4, 5, 6]).unwrap();
    array.flush().unwrap();
    drop(array);
    seal_store(folder).unwrap();
}

/// The archive of a directory.
pub(super) fn packed(folder: &Path) -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("x.b2z");
    let archive = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path);
    zip_folder(folder, EMBED_FILE, &archive.unwrap()).unwrap();
    fs::read(path).unwrap()
}

pub(super) fn archive(name: &str) -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    make(name, temp.path());
    packed(temp.path())
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all)
        } else {
            all.push(path)
        }
    }
}

fn options() -> Options {
    Options::new().threads(1)
}

/// Whether an archive is opened and has no damage.
fn is_sound(bytes: Vec<u8>) -> bool {
    let opened = open_source(bytes, &options());
    opened.is_ok_and(|store| store.verify().is_ok_and(|report| report.is_sound()))
}

fn is_sound_at(path: &Path) -> bool {
    let opened = open(path, &options());
    opened.is_ok_and(|store| store.verify().is_ok_and(|report| report.is_sound()))
}

#[test]
fn every_bit_and_every_cut_of_an_archive_is_checked() {
    for name in STORES {
        let whole = archive(name);
        assert!(is_sound(whole.clone()), "{name}");
        for bit in effort::sample(0..whole.len() * 8, 101) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sound(bytes), "{name}: bit {bit}");
        }
        for len in effort::sample(0..whole.len(), 101) {
            assert!(!is_sound(whole[..len].to_vec()), "{name}: {len} bytes");
        }
    }
}

#[test]
fn every_bit_and_every_cut_of_a_directory_is_checked() {
    for name in STORES {
        let temp = tempfile::tempdir().unwrap();
        make(name, temp.path());
        assert!(is_sound_at(temp.path()), "{name}");
        let mut all = Vec::new();
        files(temp.path(), &mut all);
        for path in all {
            let whole = fs::read(&path).unwrap();
            for bit in effort::sample(0..whole.len() * 8, 101) {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, bytes).unwrap();
                assert!(!is_sound_at(temp.path()), "{}: bit {bit}", path.display());
            }
            for len in effort::sample(0..whole.len(), 101) {
                fs::write(&path, &whole[..len]).unwrap();
                assert!(!is_sound_at(temp.path()), "{}: {len} bytes", path.display());
            }
            fs::write(&path, whole).unwrap();
        }
    }
}

#[test]
fn rows_are_added() {
    let temp = tempfile::tempdir().unwrap();
    make("nullable", temp.path());
    for (bytes, present) in [(vec![1, 2], None), (vec![3, 0], Some(vec![true, false]))] {
        let open = TableWriter::open(temp.path(), "", &Options::new(), |array| array);
        let mut table = open.unwrap();
        table.append(2, &[elements(&bytes, present)]).unwrap();
        table.finish().unwrap();
    }
    assert!(is_sound_at(temp.path()));
    let mut table = open(temp.path(), &options()).unwrap();
    let csv = exported(&mut *table, Format::Csv).unwrap();
    assert_eq!(csv, "c\n7\n\"\"\n9\n1\n2\n3\n\"\"\n");
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let columns = [StoreColumn::new("c", fixed(DType::U8), false).unwrap()];
    let create = |columns: &[StoreColumn]| {
        let folder = tempfile::tempdir_in(temp.path()).unwrap().keep();
        TableWriter::create(&folder, columns, None, |array| array)
    };
    let mut table = create(&columns).unwrap();
    for data in [
        vec![],
        vec![elements(&[1, 2], None)],
        vec![elements(&[1], Some(vec![false]))],
        vec![ColumnData::Varying(vec![Value::Nil])],
    ] {
        assert!(table.append(1, &data).is_err(), "{data:?}");
    }
    assert!(create(&[columns[0].clone(), columns[0].clone()]).is_err());
    for name in ["", "a..b", ".", "a\\b", "a.", "\0"] {
        assert!(
            StoreColumn::new(name, fixed(DType::U8), false).is_err(),
            "{name:?}"
        );
    }
    for dtype in ["<M8[D]", "<m8[s]", "<f2", "O", "V3", "S0"] {
        let dtype = DType::parse(dtype).unwrap();
        assert!(
            StoreColumn::new("c", fixed(dtype.clone()), false).is_err(),
            "{dtype}"
        );
    }
}
