//! Tests against the results of other programs: NumPy and pyarrow wrote the test data in `exchange`, see
//! `make.py`.

use super::{Held, opened, written};
use bloscpack_datasets::{CArrayBuilder, CTable, CTableBuilder};
use bloscpack_dtype::DType;
use bloscpack_error::{Category, Code};
use bloscpack_exchange::{Format, ImportOptions, Schema};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    testkit::testdata("exchange").join(name)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

#[test]
fn an_array_in_fortrans_order_is_turned() {
    let mut source = opened(&file("fortran.npy"), Format::Npy, &ImportOptions::new()).unwrap();
    assert_eq!(source.schema().columns[0].row_shape, [3, 2]);
    let numbers: Vec<u8> = (0..24i16).flat_map(i16::to_be_bytes).collect();
    for bytes in [1, 12, 13, 30, 1000] {
        let mut again = opened(&file("fortran.npy"), Format::Npy, &ImportOptions::new()).unwrap();
        let held = Held::of(&mut *again, bytes).unwrap();
        assert_eq!((held.rows, &held.columns[0]), (4, &numbers));
    }
    // It goes out in C order.
    let out = written(&mut *source, Format::Npy).unwrap();
    let header = b"{'descr': '>i2', 'fortran_order': False, 'shape': (4, 3, 2), }";
    assert!(out[10..].starts_with(header));
    assert_eq!(&out[128..], numbers);
}

#[test]
fn fields_become_columns_and_are_fields_again() {
    let source = opened(&file("fields.npy"), Format::Npy, &ImportOptions::new()).unwrap();
    assert!(!source.schema().is_table);
    let held = Held::of(&mut *source.fields().unwrap(), 10).unwrap();
    assert_eq!(held.texts("a"), ["1", "-1"]);
    assert_eq!(held.texts("b"), ["2.5", "nan"]);
    assert_eq!(held.texts("c"), ["ab", ""]);
    assert_eq!(held.texts("d"), ["1", "2", "3", "4"]);
    assert_eq!(held.column("d").0.row_shape, [2]);
    // Byte for byte what NumPy wrote.
    let mut held = held;
    assert_eq!(written(&mut held, Format::Npy).unwrap(), file("fields.npy"));
}

#[test]
fn a_single_element_is_one_row() {
    let mut source = opened(&file("single.npy"), Format::Npy, &ImportOptions::new()).unwrap();
    let held = Held::of(&mut *source, 100).unwrap();
    assert_eq!(
        (held.rows, held.texts("value")),
        (1, vec!["1.5".to_owned()])
    );
    // Its shape stays (), byte for byte as NumPy wrote it.
    let mut source = opened(&file("single.npy"), Format::Npy, &ImportOptions::new()).unwrap();
    assert!(source.schema().shape(1).unwrap().is_empty());
    assert_eq!(
        written(&mut *source, Format::Npy).unwrap(),
        file("single.npy")
    );
}

#[test]
fn targets_of_elements_refuse_several_columns_and_missing_values() {
    use bloscpack_datasets::CArray;
    use bloscpack_exchange::{Batch, Cells, Column, FixedSource, OneArray, Source};
    use bloscpack_exchange::{import_array, import_table};
    use bloscpack_storage::Memory;

    /// Two rows of each column, the second of which is missing where it may be.
    struct Rows(Schema, bool);
    impl Source for Rows {
        fn schema(&self) -> &Schema {
            &self.0
        }
        fn rows(&self) -> Option<u64> {
            Some(2)
        }
        fn next_batch(&mut self, _: usize) -> bloscpack_error::Result<Option<Batch>> {
            if std::mem::replace(&mut self.1, true) {
                return Ok(None);
            }
            let cells = |column: &Column| {
                if column.nullable {
                    Cells::Present(vec![true, false])
                } else {
                    Cells::Elements
                }
            };
            Ok(Some(Batch {
                rows: 2,
                columns: vec![[1.5f64, 0.0].map(f64::to_le_bytes).concat(); self.0.columns.len()],
                cells: self.0.columns.iter().map(cells).collect(),
            }))
        }
    }
    let whole = |name: &str| Column::new(name, DType::F64);
    let holed = Column {
        nullable: true,
        ..whole("holed")
    };
    let of = |columns: &[Column]| Rows(Schema::table(columns.to_vec()), false);
    let refused = |done: bloscpack_error::Result<()>, words: &str| {
        let error = done.unwrap_err();
        assert_eq!(error.category(), Category::Usage);
        assert!(error.to_string().contains(words), "{error}");
    };

    let two = [whole("a"), whole("b")];
    let mut array = CArray::builder(DType::F64)
        .create_in(Memory::new())
        .unwrap();
    refused(OneArray::new(&mut of(&two)).map(drop), "choose one of a, b");
    refused(
        import_array(&mut of(&two), &mut array, &mut |_| ()),
        "choose one of a, b",
    );
    refused(
        CArrayBuilder::of_schema(&of(&two).0).map(drop),
        "choose one of a, b",
    );
    refused(
        written(&mut of(&two), Format::Bytes).map(drop),
        "choose one of a, b",
    );
    let holed = std::slice::from_ref(&holed);
    refused(
        import_array(&mut of(holed), &mut array, &mut |_| ()),
        "missing values",
    );
    let mut rows = of(holed);
    let mut one = OneArray::new(&mut rows).unwrap();
    refused(one.next_elements(100).map(drop), "missing values");
    let table = |rows: &Rows| CTableBuilder::of_schema(&rows.0, |_, column| column);
    let mut table = table(&of(holed)).create_in(Memory::new()).unwrap();
    refused(
        import_table(&mut of(holed), &mut table, &mut |_| ()),
        "missing values",
    );
    assert_eq!((array.rows(), table.rows().unwrap()), (0, 0));

    let mut fixed = FixedSource::new(Box::new(of(holed)), &[]).unwrap();
    import_array(&mut fixed, &mut array, &mut |_| ()).unwrap();
    let elements = array.read_rows(0..2).unwrap();
    assert_eq!(elements[..8], 1.5f64.to_le_bytes());
    let missing: [u8; 8] = elements[8..].try_into().unwrap();
    assert!(f64::from_le_bytes(missing).is_nan());
}

#[test]
#[cfg(feature = "csv")]
fn csv_is_what_the_rfc_says() {
    use super::typed;
    use bloscpack_exchange::Column;
    let text = Column::new("a,\"b\"", DType::text(6).unwrap());
    let number = Column::new("n", DType::F64);
    let cells = ["x", "1,2", "\"q\"", "a\nb", "", " y "];
    let mut chars = Vec::new();
    for cell in cells {
        let mut place = [0u8; 24];
        text.dtype.parse_text(cell, &mut place).unwrap();
        chars.extend(place);
    }
    let numbers = [1.0, -0.5, f64::INFINITY, f64::NAN, 1e300, 0.1];
    let numbers = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let schema = Schema::table(vec![text, number]);
    let mut held = Held::new(schema.clone(), 6, vec![chars, numbers]);
    let file = written(&mut held, Format::Csv).unwrap();
    let expected = "\"a,\"\"b\"\"\",n\nx,1.0\n\"1,2\",-0.5\n\"\"\"q\"\"\",inf\n\"a\nb\",nan\n,1e300\n y ,0.1\n";
    assert_eq!(String::from_utf8(file.clone()).unwrap(), expected);
    let mut back = opened(&file, Format::Csv, &typed(&schema)).unwrap();
    assert_eq!(Held::of(&mut *back, 10).unwrap().columns, held.columns);
}

/// Otherwise a reader would take the tab or semicolon of the only name for the separator.
#[test]
#[cfg(feature = "csv")]
fn names_with_separators_are_quoted() {
    use super::typed;
    use bloscpack_exchange::Column;
    for name in ["a;b", "a\tb", "a,b", "a\"b"] {
        let schema = Schema::table(vec![Column::new(name, DType::F64)]);
        let mut held = Held::new(schema.clone(), 1, vec![0.5f64.to_le_bytes().to_vec()]);
        let file = written(&mut held, Format::Csv).unwrap();
        let quoted = name.replace('"', "\"\"");
        assert_eq!(file, format!("\"{quoted}\"\n0.5\n").into_bytes());
        let mut back = opened(&file, Format::Csv, &typed(&schema)).unwrap();
        assert_eq!(Held::of(&mut *back, 10).unwrap().columns, held.columns);
    }
}

#[test]
#[cfg(feature = "csv")]
fn types_of_csv_are_guessed_from_all_of_it() {
    let text = "\u{feff}int,uint,float,gaps,big,truth,day,moment,zip,text,none,mixed\r\n\
        1,0,1.5,1,9007199254740993,true,2016-01-04,2016-01-04T14:31:00,0123,\"a,b\",,1\r\n\
        -2,18446744073709551615,nan,,1,false,,2016-01-04 14:31:00.25,4567,\u{20ac}uro,,x\r\n\
        3,1,1e3,3,2,True,1999-12-31,,1,,,\r\n";
    let mut source = opened(text.as_bytes(), Format::Csv, &ImportOptions::new()).unwrap();
    let dtypes: Vec<_> = source
        .schema()
        .columns
        .iter()
        .map(|it| it.dtype.to_string())
        .collect();
    assert_eq!(
        dtypes,
        [
            "int64",
            "uint64",
            "float64",
            "float64",
            "int64",
            "bool",
            "datetime64[D]",
            "datetime64[ms]",
            "<U4",
            "<U4",
            "float64",
            "<U1"
        ]
    );
    let held = Held::of(&mut *source, 200).unwrap();
    assert_eq!(held.texts("uint"), ["0", "18446744073709551615", "1"]);
    assert_eq!(held.texts("gaps"), ["1.0", "nan", "3.0"]);
    assert_eq!(held.texts("day"), ["2016-01-04", "", "1999-12-31"]);
    assert_eq!(
        held.texts("moment"),
        ["2016-01-04T14:31:00.000", "2016-01-04T14:31:00.250", ""]
    );
    assert_eq!(held.texts("zip"), ["0123", "4567", "1"]);
    assert_eq!(held.texts("text"), ["a,b", "\u{20ac}uro", ""]);
}

/// Blanks around numbers, times and truth values do not count, and what a type would not give back is text.
#[test]
#[cfg(feature = "csv")]
fn no_guess_loses_a_digit() {
    let text = |cells: [&'static str; 2]| ("text", cells, cells);
    for (dtype, cells, back) in [
        (
            "int64",
            ["1", " 9007199254740993"],
            ["1", "9007199254740993"],
        ),
        (
            "uint64",
            ["0 ", " 18446744073709551615"],
            ["0", "18446744073709551615"],
        ),
        ("bool", [" true", "False "], ["true", "false"]),
        ("float64", ["+0.5", " -1e3 "], ["0.5", "-1000.0"]),
        (
            "float64",
            ["1.000000000000000056e-01", "9007199254740994.0"],
            ["0.1", "9007199254740994.0"],
        ),
        ("float64", ["1", "  "], ["1.0", "nan"]),
        ("float64", ["1.5", " NA"], ["1.5", "nan"]),
        (
            "float64",
            ["9007199254740992", "1e22"],
            ["9007199254740992.0", "1e22"],
        ),
        (
            "datetime64[D]",
            ["2016-01-04", " 2016-01-05 "],
            ["2016-01-04", "2016-01-05"],
        ),
        (
            "datetime64[D]",
            ["2016-01-04", "          "],
            ["2016-01-04", ""],
        ),
        text(["+4930123456", "+4930123457"]),
        text(["+49", "17"]),
        text(["0301234567", "0301234568"]),
        text(["007.5", "1.5"]),
        text(["1.5", "9007199254740993"]),
        text(["0.1234567890123456789", "1.5"]),
        text(["1e-400", "1"]),
        text(["1e400", "1"]),
        text(["-1", "18446744073709551615"]),
        text(["36893488147419103232", "1"]),
        text(["2016-01-04", "2016-01-04T00:00:00.1234567890123"]),
        text(["2016-01-04", "0301234567"]),
        text([" a", "b "]),
        text([" ", "   "]),
        text(["{\"hex\":\"zz\"}", "a"]),
    ] {
        let file = format!("n\tx\n{}\t\n{}\t\n", quoted(cells[0]), quoted(cells[1]));
        let mut source = opened(file.as_bytes(), Format::Tsv, &ImportOptions::new()).unwrap();
        let found = source.schema().columns[0].dtype.clone();
        let is_text = matches!(found.kind(), bloscpack_dtype::Kind::Text);
        assert!(
            found.to_string() == dtype || is_text && dtype == "text",
            "{cells:?}: {found}"
        );
        assert_eq!(
            Held::of(&mut *source, 200).unwrap().texts("n"),
            back,
            "{cells:?}"
        );
    }
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

#[test]
#[cfg(feature = "csv")]
fn numbers_that_are_text_are_named() {
    let file = b"a,b,c\n1.5,+49,K\xf6ln\n9007199254740993,1,Bonn\n";
    let source = opened(file, Format::Csv, &ImportOptions::new()).unwrap();
    let warnings = source.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("\"a\"") && warnings[0].contains("digits"));
    assert!(warnings[1].contains("\"c\"") && warnings[1].contains("UTF-8"));
    let given = ImportOptions::new()
        .dtype("a", DType::F64)
        .dtype("c", DType::bytes(4).unwrap());
    let source = opened(file, Format::Csv, &given).unwrap();
    assert!(source.warnings().is_empty());
}

/// Latin-1, and any bytes that are not text.
#[test]
#[cfg(feature = "csv")]
fn bytes_in_other_encodings_come_out_as_they_went_in() {
    for file in [
        &b"a,b\nK\xf6ln,1\nBonn,2\n"[..],
        b"a,b\n\"\xff,\"\"\n\",1\n{\"\"hex\"\":\"\"00\"\"},2\n",
    ] {
        let mut source = opened(file, Format::Csv, &ImportOptions::new()).unwrap();
        assert_eq!(
            *source.schema().columns[0].dtype.kind(),
            bloscpack_dtype::Kind::Bytes
        );
        let out = written(&mut *source, Format::Csv).unwrap();
        let lines = |file: &[u8]| file.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
        assert_eq!(lines(&out), lines(file));
        let mut back = opened(&out, Format::Csv, &ImportOptions::new()).unwrap();
        let mut first = opened(file, Format::Csv, &ImportOptions::new()).unwrap();
        let (back, first) = (Held::of(&mut *back, 100), Held::of(&mut *first, 100));
        assert_eq!(back.unwrap().columns, first.unwrap().columns);
    }
    let latin = b"a,b\nK\xf6ln,1\nBonn,2\n";
    let mut source = opened(latin, Format::Csv, &ImportOptions::new()).unwrap();
    assert_eq!(written(&mut *source, Format::Csv).unwrap(), latin);
}

/// Empty cells are null again, as DuckDB and pandas read the same file.
#[test]
#[cfg(feature = "csv")]
fn missing_cells_are_noted_and_read_as_null() {
    use bloscpack_datasets::DatasetLayout;
    use bloscpack_exchange::import_table;
    use bloscpack_storage::Memory;

    let text = b"x,y,when,name\n1.5,1.5,2024-01-02,ann\nnan,,,\n3.0,300.0,2024-01-04,cy\n";
    for layout in [
        DatasetLayout::Bcolz,
        DatasetLayout::Blz,
        DatasetLayout::BlzDocument,
        DatasetLayout::CarrayDocument,
    ] {
        let mut source = opened(text, Format::Csv, &ImportOptions::new()).unwrap();
        let builder = CTableBuilder::of_schema(source.schema(), |_, column| column);
        let store = Memory::new();
        let mut table = builder.layout(layout).create_in(store.clone()).unwrap();
        import_table(&mut *source, &mut table, &mut |_| ()).unwrap();
        drop(table);
        let table = CTable::open_in(store.clone()).unwrap();
        let noted = |name: &str| table.has_missing(name).unwrap();
        let noted = ["x", "y", "when", "name"].map(noted);
        assert_eq!(noted, [false, true, true, false], "{layout}");

        {
            let mut out = table.source().unwrap();
            let csv = written(&mut out, Format::Csv).unwrap();
            assert_eq!(csv, text, "{layout}");
            let mut out = table.source().unwrap();
            let lines = written(&mut out, Format::JsonLines).unwrap();
            let second = lines.split(|byte| *byte == b'\n').nth(1).unwrap();
            let nulls = br#"{"x":null,"y":null,"when":null,"name":""}"#;
            assert_eq!(second, nulls, "{layout}");
            // NumPy has nothing but NaN.
            let mut out = table.source_of(&["y"]).unwrap();
            let npy = written(&mut out, Format::Npy).unwrap();
            let mut back = opened(&npy, Format::Npy, &ImportOptions::new()).unwrap();
            back = back.fields().unwrap();
            let back = Held::of(&mut *back, 100).unwrap();
            assert_eq!(back.texts("y"), ["1.5", "nan", "300.0"]);
        }
        drop(table);
        // Rows that are appended are noted as well, and a column that is deleted is forgotten.
        let mut table = CTable::edit_in(store).unwrap();
        let more = b"x,y,when,name\n,1,2024-01-02,a\n";
        let options = ImportOptions::new().for_table(&table).unwrap();
        let mut source = opened(more, Format::Csv, &options).unwrap();
        import_table(&mut *source, &mut table, &mut |_| ()).unwrap();
        assert!(table.has_missing("x").unwrap(), "{layout}");
        table.delete_column("x", false).unwrap();
        let rows = vec![0; 4 * 8];
        table
            .add_column("x", bloscpack_datasets::CArray::of::<f64>(), &rows, None)
            .unwrap();
        assert!(!table.has_missing("x").unwrap(), "{layout}");
    }
}

/// A NaN of pyarrow is a value, and a null is none.
#[test]
#[cfg(feature = "arrow")]
fn nulls_of_arrow_are_noted() {
    use bloscpack_exchange::{import_table, record_batches};
    use bloscpack_storage::Memory;

    for (name, format) in [
        ("table.parquet", Format::Parquet),
        ("table.arrow", Format::Arrow),
    ] {
        let mut source = opened(&file(name), format, &ImportOptions::new()).unwrap();
        let builder = CTableBuilder::of_schema(source.schema(), |_, column| column);
        let mut table = builder.create_in(Memory::new()).unwrap();
        import_table(&mut *source, &mut table, &mut |_| ()).unwrap();
        let noted = |name: &str| table.has_missing(name).unwrap();
        let noted = ["half", "float", "moment", "zoned", "span"].map(noted);
        assert_eq!(noted, [false, true, true, false, true], "{name}");
        let names = ["half", "float"];
        let mut out = table.source_of(&names).unwrap();
        let batches = record_batches(&mut out).unwrap();
        let batches = batches.collect::<Result<Vec<_>, _>>().unwrap();
        let nulls = |column: usize| {
            batches
                .iter()
                .map(move |batch| batch.column(column).null_count())
        };
        // A NaN beside a null cannot be told from it in a dataset.
        assert_eq!([0, 1].map(|column| nulls(column).sum::<usize>()), [0, 2]);
    }
}

#[test]
#[cfg(feature = "csv")]
fn what_is_missing_in_csv_is_filled_or_named() {
    let text = b"n,t\n1,x\n,y\n";
    let int = ImportOptions::new().dtype("n", DType::I32);
    let mut source = opened(text, Format::Csv, &int).unwrap();
    let error = Held::of(&mut *source, 1).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("line 3") && told.contains("\"n\""), "{told}");
    for options in [int.clone().fill("n", "-7"), int.fill_all("-7")] {
        let mut source = opened(text, Format::Csv, &options).unwrap();
        assert_eq!(Held::of(&mut *source, 1).unwrap().texts("n"), ["1", "-7"]);
    }
    let bytes = ImportOptions::new().dtype("t", DType::parse("S").unwrap());
    let source = opened(b"t\nabc\n", Format::Csv, &bytes).unwrap();
    assert_eq!(source.schema().columns[0].dtype, DType::bytes(3).unwrap());
    let other = ImportOptions::new().dtype("x", DType::I8);
    let error = opened(text, Format::Csv, &other).err().unwrap();
    assert_eq!(error.category(), Category::Usage);
}

#[test]
#[cfg(feature = "csv")]
fn csv_that_is_cut_or_uneven_is_refused() {
    for (text, category) in [
        (&b""[..], Category::CutShort),
        (b"a,b\n1,\"x", Category::CutShort),
        (b"a,b\n1,2\n3\n", Category::Damaged),
        (b"a,a\n1,2\n", Category::Damaged),
        (b"a\xff,b\n1,2\n", Category::Damaged),
    ] {
        let error = opened(text, Format::Csv, &ImportOptions::new())
            .err()
            .unwrap();
        assert_eq!(error.category(), category, "{error}");
    }
}

#[test]
#[cfg(feature = "csv")]
fn an_error_in_csv_has_its_line_and_column() {
    let error = |text: &[u8]| {
        let options = ImportOptions::new().dtype("b", DType::I8);
        let opened = opened(text, Format::Csv, &options);
        opened
            .and_then(|mut source| Held::of(&mut *source, 1))
            .unwrap_err()
    };
    let uneven = error(b"a,b\n1,2\n3\n");
    assert_eq!(uneven.code(), Code::Damaged);
    assert_eq!(uneven.to_string(), "CSV: line 3: expected 2 cells, found 1");
    let missing = error(b"a,b\n1,2\n3,\n");
    assert_eq!(missing.code(), Code::Value);
    assert_eq!(missing.part(), Some("CSV: line 3: column \"b\""));
    assert!(
        missing
            .to_string()
            .ends_with("the value is missing, and int8 has none for that: say what to fill in"),
        "{missing}"
    );
}

#[cfg(feature = "arrow")]
fn check_table(held: &Held, has: impl Fn(&str) -> bool) {
    let long = "longer than the others";
    let all = [
        (
            "flag",
            "bool",
            vec!["true", "false", "true", "false", "true"],
        ),
        ("small", "int8", vec!["-128", "127", "0", "1", "2"]),
        (
            "big",
            "uint64",
            vec!["0", "18446744073709551615", "1", "2", "3"],
        ),
        ("half", "float16", vec!["1.0", "-2.5", "inf", "nan", "0.0"]),
        (
            "float",
            "float64",
            vec!["1.5", "nan", "nan", "-0.0", "1e300"],
        ),
        (
            "text",
            "<U22",
            vec!["a", "\u{e9}\u{20ac}\u{1d11e}", "", "", long],
        ),
        (
            "large",
            "<U22",
            vec!["a", "\u{e9}\u{20ac}\u{1d11e}", "", "", long],
        ),
        (
            "view",
            "<U22",
            vec!["a", "\u{e9}\u{20ac}\u{1d11e}", "", "", long],
        ),
        (
            "bytes",
            "|S3",
            vec!["{\"hex\":\"00ff\"}", "", "abc", "", "x"],
        ),
        (
            "fixed",
            "|V3",
            vec!["616263", "000000", "78797a", "313233", "202020"],
        ),
        ("category", "<U2", vec!["x", "y", "", "x", "zz"]),
        (
            "day",
            "datetime64[D]",
            vec!["1970-01-01", "", "1969-12-31", "2019-04-14", "1970-01-03"],
        ),
        (
            "moment",
            "datetime64[ns]",
            vec![
                "1970-01-01T00:00:00.000000000",
                "1970-01-01T00:00:00.000000001",
                "",
                "1969-12-31T23:59:59.999999999",
                "2001-09-09T01:46:40.000000000",
            ],
        ),
        (
            "zoned",
            "datetime64[ms]",
            vec![
                "1970-01-01T00:00:00.000",
                "1970-01-01T00:00:00.001",
                "1970-01-01T00:00:00.002",
                "1970-01-01T00:00:00.003",
                "1970-01-01T00:00:00.004",
            ],
        ),
        ("span", "timedelta64[us]", vec!["0", "1", "", "-1", "5"]),
        (
            "pair",
            "int16",
            vec!["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
        ),
        (
            "fields",
            "[('x', '<i4'), ('y', '<U12')]",
            vec![
                "{\"x\":0,\"y\":\"\"}",
                "{\"x\":1,\"y\":\"yes\"}",
                "{\"x\":2,\"y\":\"yesyes\"}",
                "{\"x\":3,\"y\":\"yesyesyes\"}",
                "{\"x\":4,\"y\":\"yesyesyesyes\"}",
            ],
        ),
    ];
    for (name, dtype, texts) in all.iter().filter(|(name, ..)| has(name)) {
        assert_eq!(held.column(name).0.dtype.to_string(), *dtype, "{name}");
        assert_eq!(held.texts(name), *texts, "{name}");
    }
}

#[test]
#[cfg(feature = "arrow")]
fn tables_of_pyarrow_are_read() {
    for name in ["table.arrow", "lz4.feather", "zstd.feather"] {
        let mut source = bloscpack_exchange::open(path(name), &ImportOptions::new()).unwrap();
        check_table(&Held::of(&mut *source, 200).unwrap(), |_| true);
    }
    let mut source = opened(
        &file("table.parquet"),
        Format::Parquet,
        &ImportOptions::new(),
    )
    .unwrap();
    check_table(&Held::of(&mut *source, 200).unwrap(), |name| name != "view");
    // Without Arrow's schema, which spans and lists of a length need.
    let mut source = opened(
        &file("plain.parquet"),
        Format::Parquet,
        &ImportOptions::new(),
    )
    .unwrap();
    let lacks = ["view", "span", "pair"];
    check_table(&Held::of(&mut *source, 200).unwrap(), |name| {
        !lacks.contains(&name)
    });
}

#[test]
#[cfg(feature = "arrow")]
fn nulls_are_filled_or_named() {
    let nulls = file("nulls.parquet");
    let mut source = opened(&nulls, Format::Parquet, &ImportOptions::new()).unwrap();
    let told = Held::of(&mut *source, 1).unwrap_err().to_string();
    assert!(told.contains("\"n\"") && told.contains("row 1"), "{told}");
    let filled = ImportOptions::new().fill_all("0");
    let mut source = opened(&nulls, Format::Parquet, &filled).unwrap();
    assert_eq!(
        Held::of(&mut *source, 100).unwrap().texts("n"),
        ["1", "0", "3"]
    );
    let lists = file("lists.parquet");
    let source = opened(&lists, Format::Parquet, &ImportOptions::new()).unwrap();
    assert!(matches!(
        source.schema().columns[0].varying,
        Some(bloscpack_stores::ItemKind::List(_))
    ));
}

#[test]
#[cfg(feature = "arrow")]
fn strings_may_be_given_a_type() {
    let options = ImportOptions::new()
        .dtype("text", DType::parse("S").unwrap())
        .dtype("category", DType::parse(">U5").unwrap())
        .dtype("moment", DType::parse("datetime64[ns]").unwrap());
    let mut source = opened(&file("table.parquet"), Format::Parquet, &options).unwrap();
    let held = Held::of(&mut *source, 1000).unwrap();
    assert_eq!(held.column("text").0.dtype, DType::bytes(22).unwrap());
    assert_eq!(held.column("category").0.dtype.to_string(), ">U5");
    assert_eq!(held.texts("category"), ["x", "y", "", "x", "zz"]);
    let short = ImportOptions::new().dtype("text", DType::text(3).unwrap());
    let mut source = opened(&file("table.parquet"), Format::Parquet, &short).unwrap();
    let told = Held::of(&mut *source, 1000).unwrap_err().to_string();
    assert!(
        told.contains("row 4") && told.contains("22 characters"),
        "{told}"
    );
}

#[test]
fn formats_that_are_not_there_say_so() {
    let schema = Schema::array(DType::I8, &[]);
    let missing = [
        Format::Csv,
        Format::Arrow,
        Format::ArrowStream,
        Format::Parquet,
    ];
    for format in missing.into_iter().filter(|format| !format.is_available()) {
        let mut held = Held::new(schema.clone(), 1, vec![vec![1]]);
        let error = written(&mut held, format).unwrap_err();
        assert_eq!(error.category(), Category::Unsupported);
        assert!(error.to_string().contains("--features"), "{error}");
    }
    for format in [Format::ArrowStream, Format::Bytes] {
        let error = opened(b"", format, &ImportOptions::new()).err().unwrap();
        assert_eq!(error.category(), Category::Unsupported);
    }
}

#[test]
fn a_table_goes_into_every_layout() {
    use bloscpack_datasets::DatasetLayout;
    use bloscpack_exchange::import_table;
    use bloscpack_storage::Memory;
    let layouts = [
        DatasetLayout::Bcolz,
        DatasetLayout::Blz,
        DatasetLayout::BlzDocument,
    ];
    for layout in layouts {
        let source = opened(&file("fields.npy"), Format::Npy, &ImportOptions::new()).unwrap();
        let mut source = source.fields().unwrap();
        let builder = CTableBuilder::of_schema(source.schema(), |_, column| column.level(1));
        let store = Memory::new();
        let mut table = builder.layout(layout).create_in(store.clone()).unwrap();
        import_table(&mut *source, &mut table, &mut |_| ()).unwrap();
        drop(table);
        let table = CTable::open_in(store).unwrap();
        let held = Held::of(&mut table.source().unwrap(), 1000).unwrap();
        assert_eq!(held.texts("a"), ["1", "-1"], "{layout:?}");
        assert_eq!(held.texts("d"), ["1", "2", "3", "4"], "{layout:?}");
    }
}

#[test]
#[cfg(feature = "arrow")]
fn time_zones_stay_where_they_can() {
    use super::Held;
    use bloscpack::Options;
    use bloscpack_exchange::{Source as _, StoreSource, import_store, store_columns};
    use bloscpack_storage::DiskStore;
    use bloscpack_stores::{FrameStore, TableWriter};
    use std::sync::Arc;

    let zone = |schema: &Schema, name: &str| {
        let column = schema.columns.iter().find(|column| column.name == name);
        column.unwrap().zone.clone()
    };
    let oslo = Some("Europe/Oslo".to_owned());
    for (name, format) in [
        ("table.arrow", Format::Arrow),
        ("table.parquet", Format::Parquet),
    ] {
        let source = opened(&file(name), format, &ImportOptions::new()).unwrap();
        assert_eq!(zone(source.schema(), "zoned"), oslo, "{name}");
        assert_eq!(zone(source.schema(), "moment"), None, "{name}");
    }
    let mut source = opened(
        &file("table.parquet"),
        Format::Parquet,
        &ImportOptions::new(),
    )
    .unwrap();
    let all = Held::of(&mut *source, 1000).unwrap();
    let (column, bytes) = all.column("zoned");
    let held = Held::new(Schema::table(vec![column.clone()]), 5, vec![bytes.to_vec()]);
    for format in [Format::Arrow, Format::Parquet] {
        let out = written(&mut held.clone(), format).unwrap();
        let mut back = opened(&out, format, &ImportOptions::new()).unwrap();
        assert_eq!(zone(back.schema(), "zoned"), oslo);
        assert_eq!(Held::of(&mut *back, 1000).unwrap().columns, held.columns);
    }
    let temp = tempfile::tempdir().unwrap();
    let columns = store_columns(&held.schema, |_| false).unwrap();
    let mut table = TableWriter::create(temp.path(), &columns, None, |array| array).unwrap();
    import_store(&mut held.clone(), &mut table, &mut |_| ()).unwrap();
    table.finish().unwrap();
    let store = Arc::new(DiskStore::open(temp.path()).unwrap());
    let tree = Arc::new(FrameStore::open(store, Options::new()).unwrap());
    let table = tree.table("").unwrap();
    // As python-blosc2 spells it.
    assert!(
        table.schema().contains("\"timezone\":\"Europe/Oslo\""),
        "{}",
        table.schema()
    );
    let mut source = StoreSource::new(&table, &["zoned"]).unwrap();
    assert_eq!(zone(source.schema(), "zoned"), oslo);
    assert_eq!(Held::of(&mut source, 1000).unwrap().columns, held.columns);
}

#[test]
#[cfg(feature = "arrow")]
fn lists_and_dictionaries_reach_a_store_from_each_format() {
    use bloscpack::Options;
    use bloscpack_exchange::{import_store, store_columns};
    use bloscpack_storage::DiskStore;
    use bloscpack_stores::{ColumnData, FrameStore, TableWriter, Value};
    use std::sync::Arc;

    let lines = br#"{"l": [1.5, 2], "n": [["a"], []], "x": 1}
{"l": [], "n": null, "x": 2}
{"l": null, "n": [["b", null]], "x": 3}
"#;
    let options = ImportOptions::new().keep_missing();
    let list = Value::List;
    let text = |text: &str| Value::Text(text.to_owned());
    let l = vec![
        list(vec![Value::Float(1.5), Value::Float(2.0)]),
        list(Vec::new()),
        Value::Nil,
    ];
    let n = vec![
        list(vec![list(vec![text("a")]), list(Vec::new())]),
        Value::Nil,
        list(vec![list(vec![text("b"), Value::Nil])]),
    ];
    // JSON lines, and what is written of them as Arrow and as Parquet.
    let mut source = opened(lines, Format::JsonLines, &options).unwrap();
    let arrow = written(&mut *source, Format::Arrow).unwrap();
    let mut source = opened(&arrow, Format::Arrow, &options).unwrap();
    let parquet = written(&mut *source, Format::Parquet).unwrap();
    for (bytes, format) in [
        (lines.as_slice(), Format::JsonLines),
        (&arrow, Format::Arrow),
        (&parquet, Format::Parquet),
    ] {
        let mut source = opened(bytes, format, &options).unwrap();
        let temp = tempfile::tempdir().unwrap();
        let columns = store_columns(source.schema(), |_| false).unwrap();
        let mut table = TableWriter::create(temp.path(), &columns, None, |array| array).unwrap();
        import_store(&mut *source, &mut table, &mut |_| ()).unwrap();
        assert_eq!(table.finish().unwrap(), 3);
        // The same rows again, into the existing table.
        let mut table = TableWriter::open(temp.path(), "", &Options::new(), |array| array).unwrap();
        let again = options.clone().for_store(table.columns()).unwrap();
        let mut source = opened(bytes, format, &again).unwrap();
        import_store(&mut *source, &mut table, &mut |_| ()).unwrap();
        assert_eq!(table.finish().unwrap(), 6);
        let store = Arc::new(DiskStore::open(temp.path()).unwrap());
        let store = Arc::new(FrameStore::open(store, Options::new()).unwrap());
        let read = store.table("").unwrap();
        let read = read.reader(&[0, 1]).unwrap().read(&(3..6)).unwrap();
        let expected = [l.clone(), n.clone()].map(ColumnData::Varying);
        assert_eq!(read, expected, "{format}");
        assert!(store.verify("").is_sound());
    }
    // The words of a table stay a dictionary, also where text of a fixed length keeps it.
    let words = bloscpack_exchange::Column {
        is_dictionary: true,
        ..bloscpack_exchange::Column::with_values("w", bloscpack_stores::ItemKind::Text)
    };
    let columns = store_columns(&Schema::table(vec![words]), |_| true).unwrap();
    assert_eq!(columns[0].stored_kind, "dictionary");
    // Without missing values, a column of lists is text, as JSON.
    let source = opened(lines, Format::JsonLines, &ImportOptions::new()).unwrap();
    assert_eq!(
        *source.schema().columns[0].dtype.kind(),
        bloscpack_dtype::Kind::Text
    );
}
