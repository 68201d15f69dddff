use super::{bytes, exported, members, opened, path};
use bloscpack::{Category, Code};
use bloscpack_open::exchange::Format;
use bloscpack_open::{Bounds, Kind, Options, Part, Selection, open};

const ROWS: &str = "\
{\"n\":1,\"s\":\"one\",\"l\":[1],\"k\":\"a\"}
{\"n\":null,\"s\":\"zwei\",\"l\":null,\"k\":\"b\"}
{\"n\":4,\"s\":\"\",\"l\":[1,2,3],\"k\":\"a\"}
";

#[test]
fn a_table_has_its_rows_without_the_deleted_ones() {
    for name in ["table.b2z", "table.b2e"] {
        let mut table = opened(bytes(name)).unwrap();
        assert_eq!(table.kind(), Kind::Table);
        assert_eq!(members(&mut *table), ["."]);
        assert_eq!(exported(&mut *table, Format::JsonLines).unwrap(), ROWS);
        let csv = exported(&mut *table, Format::Csv).unwrap();
        assert_eq!(csv, "n,s,l,k\n1,one,[1],a\n,zwei,,b\n4,,\"[1,2,3]\",a\n");
        assert!(table.verify().unwrap().is_sound());
        let summary = serde_json::to_value(table.summary().unwrap()).unwrap();
        assert_eq!(
            (&summary["rows"], &summary["positions"]),
            (&3.into(), &4.into())
        );
    }
}

#[test]
fn rows_and_columns_are_selected() {
    let table = opened(bytes("table.b2z")).unwrap();
    for (start, end, expected) in [
        (0, Some(1), "k,n\na,1\n"),
        (1, None, "k,n\nb,\na,4\n"),
        (2, Some(3), "k,n\na,4\n"),
        (3, None, "k,n\n"),
    ] {
        let rows = Part::Rows(Bounds {
            start,
            end,
            ..Bounds::default()
        });
        let mut out = Vec::new();
        let selection = Selection::of(rows).columns(["k", "n"]);
        table.export(&selection, Format::Csv, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            expected,
            "{start}..{end:?}"
        );
    }
    let unknown = Selection::default().columns(["m"]);
    let error = table
        .export(&unknown, Format::Csv, &mut Vec::new())
        .unwrap_err();
    assert_eq!(error.category(), Category::Usage);
}

#[test]
fn what_a_format_has_no_place_for_is_refused() {
    let table = opened(bytes("table.b2z")).unwrap();
    for (column, format) in [
        ("l", Format::Npy),
        ("n", Format::Npy),
        ("l", Format::Bytes),
        ("n", Format::Bytes),
    ] {
        let selection = Selection::default().columns([column]);
        let error = table
            .export(&selection, format, &mut Vec::new())
            .unwrap_err();
        assert_eq!(error.code(), Code::CannotStore, "{column} {format}");
        assert!(
            error.to_string().contains(&format!("{column:?}")),
            "{error}"
        );
    }
}

#[test]
fn paths_lead_into_a_store() {
    let options = Options::new();
    for (name, expected) in [("tree.b2z", &["a/x", "b"][..]), ("tree.b2e", &["a/x"])] {
        let mut tree = open(&path(name), &options).unwrap();
        assert_eq!(tree.kind(), Kind::Store);
        assert_eq!(members(&mut *tree), expected);
        assert!(tree.verify().unwrap().is_sound());
        assert!(tree.copy(&Selection::default(), &mut Vec::new()).is_err());
        let mut folder = open(&path(name).join("a"), &options).unwrap();
        assert_eq!(members(&mut *folder), ["a/x"]);
        let error = open(&path(name).join("nowhere"), &options).unwrap_err();
        assert_eq!(error.category(), Category::Usage);
    }
    let mut array = open(&path("tree.b2z").join("a/x"), &options).unwrap();
    assert_eq!(
        exported(&mut *array, Format::JsonLines).unwrap(),
        "[0,1,2]\n[3,4,5]\n"
    );
    let array = open(&path("tree.b2e").join("a/x"), &options).unwrap();
    let mut content = Vec::new();
    array.copy(&Selection::default(), &mut content).unwrap();
    assert_eq!(content, [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn a_directory_is_a_store_too() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("tree.b2d");
    unpack(&bytes("table.b2z"), &root);
    let options = Options::new();
    let mut table = open(&root, &options).unwrap();
    assert_eq!(exported(&mut *table, Format::JsonLines).unwrap(), ROWS);
    std::fs::remove_file(root.join("_cols/l.b2b")).unwrap();
    let mut table = open(&root, &options).unwrap();
    let error = exported(&mut *table, Format::Csv).unwrap_err();
    assert!(error.to_string().contains("_cols/l"), "{error}");
    assert!(!table.verify().unwrap().is_sound());
}

/// Writes the members of an archive as files.
fn unpack(archive: &[u8], root: &std::path::Path) {
    use bloscpack::storage::{EntryKind, Key, ReadAt as _, Store as _, ZipStore};
    let store = ZipStore::open(archive.to_vec()).unwrap();
    let mut open = vec![Key::root()];
    while let Some(folder) = open.pop() {
        std::fs::create_dir_all(root.join(folder.as_str())).unwrap();
        for entry in store.list(&folder).unwrap() {
            let key = folder.join(entry.name.to_str().unwrap()).unwrap();
            if entry.kind == EntryKind::Folder {
                open.push(key);
                continue;
            }
            let file = store.open(&key).unwrap();
            let mut content = vec![0; usize::try_from(file.size().unwrap()).unwrap()];
            file.read_exact_at(0, &mut content).unwrap();
            std::fs::write(root.join(key.as_str()), content).unwrap();
        }
    }
}
