//! Tests that spellings of types that NumPy writes are parsed, and written back unchanged.

use super::table::NUMPY;
use crate::{ByteOrder, DType, Field, Kind, TimeBase, TimeUnit};
use serde_json::json;

fn parse(text: &str) -> DType {
    DType::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn layout(fields: &[Field]) -> String {
    let each = fields.iter().map(|field| {
        let (one, offset) = (&field.dtype, field.offset);
        let count = if one.itemsize() == 0 {
            0
        } else {
            field.count().unwrap()
        };
        let within = one.fields().map(|fields| format!("{{{}}}", layout(fields)));
        format!(
            "{offset}:{count}*{}{}",
            one.itemsize(),
            within.unwrap_or_default()
        )
    });
    each.collect::<Vec<_>>().join(" ")
}

#[test]
fn types_are_what_numpy_makes_of_them() {
    for (repr, str, code, itemsize, alignment, fields, descr) in NUMPY {
        let dtype = parse(str);
        assert_eq!(dtype.to_string(), str);
        assert_eq!(dtype.code(), code, "{str}");
        assert_eq!(
            (dtype.itemsize(), dtype.alignment()),
            (itemsize, alignment),
            "{str}"
        );
        assert_eq!(layout(dtype.fields().unwrap_or_default()), fields, "{str}");
        assert_eq!(dtype.descr().ok().as_deref(), descr, "{str}");
        assert_eq!(parse(repr), dtype, "{repr}");
        if dtype.fields().is_none() {
            assert_eq!(parse(code), dtype);
        }
    }
}

/// Where only the flag of the alignment is lost, not the place of a byte.
#[test]
fn descr_and_json_say_the_same_layout() {
    for (_, str, ..) in NUMPY {
        let dtype = parse(str);
        let by_json = DType::from_json(&dtype.to_json()).unwrap();
        let of = |dtype: &DType| (dtype.itemsize(), layout(dtype.fields().unwrap_or_default()));
        assert_eq!(of(&by_json), of(&dtype), "{str}");
        if let Ok(descr) = dtype.descr() {
            assert_eq!(of(&parse(&descr)), of(&dtype), "{str}");
        }
        let code = |dtype: &DType| {
            let fields = dtype.fields().unwrap_or_default().iter();
            fields.map(|field| field.dtype.code()).collect::<Vec<_>>()
        };
        assert_eq!(code(&by_json), code(&dtype), "{str}");
    }
}

/// Spellings of released versions, and what `np.dtype` of 2.4 makes of them.
#[test]
fn other_spellings_are_the_same_types() {
    for (text, str) in [
        ("|i4", "int32"),
        ("=f8", "float64"),
        ("i08", "int64"),
        ("?", "bool"),
        (">b", "int8"),
        (">?", "bool"),
        ("S", "|S0"),
        ("a3", "|S3"),
        (">S3", "|S3"),
        ("|U3", "<U3"),
        (">V7", "|V7"),
        ("O8", "object"),
        ("|O4", "object"),
        ("|O", "object"),
        ("object_", "object"),
        ("half", "float16"),
        ("double", "float64"),
        ("csingle", "complex64"),
        ("M8[1s]", "datetime64[s]"),
        ("M8[generic]", "datetime64"),
        (">datetime64[ns]", ">M8[ns]"),
        ("<timedelta64", "timedelta64"),
        ("'<f8'", "float64"),
        (" \"<f8\" ", "float64"),
        ("u'<f8'", "float64"),
        ("dtype('<f8')", "float64"),
        ("numpy.dtype( '<f8' )", "float64"),
        ("[(u'a', u'<i4', (2L, 3L))]", "[('a', '<i4', (2, 3))]"),
        ("[('a', '<i4', 2)]", "[('a', '<i4', (2,))]"),
        ("[('a', '<i4', ())]", "[('a', '<i4')]"),
        ("[('', 'i4'), ('', 'f4')]", "[('f0', '<i4'), ('f1', '<f4')]"),
        (
            "(numpy.record, [('a', 'i1'), ('b', '<f8')])",
            "[('a', 'i1'), ('b', '<f8')]",
        ),
        (
            "dtype((numpy.record, [('a', 'i1')]), align=True)",
            "{'names': ['a'], 'formats': ['i1'], 'offsets': [0], 'itemsize': 1, 'aligned': True}",
        ),
        (
            "{'names':['a','b'], 'formats':['i1','<f8'], 'offsets':[0,8], 'itemsize':16, 'aligned':True}",
            "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
        ),
        (
            "{'names': ['a', 'b'], 'formats': ['i1', [('x', 'i1'), ('y', 'i4')]], 'aligned': True}",
            "{'names': ['a', 'b'], 'formats': ['i1', [('x', 'i1'), ('y', '<i4')]], 'offsets': [0, 4], 'itemsize': 12, 'aligned': True}",
        ),
        (
            "{'names': ('a', 'b'), 'formats': ('i1', 'f8'), 'aligned': False}",
            "[('a', 'i1'), ('b', '<f8')]",
        ),
    ] {
        assert_eq!(parse(text).to_string(), str, "{text}");
    }
}

/// NumPy spells both without the space, and parses neither as the original type.
#[test]
fn no_space_is_lost_where_only_a_part_is_aligned() {
    let fields = |b| vec![("a", DType::I8, vec![]), ("b", b, vec![])];
    let aligned = DType::structured(fields(DType::F32), true).unwrap();
    let packed = DType::structured(fields(DType::F32), false).unwrap();
    for outer in [
        DType::structured(fields(aligned), false).unwrap(),
        DType::structured(fields(packed), true).unwrap(),
    ] {
        let back = parse(&outer.to_string());
        let of = |dtype: &DType| (dtype.itemsize(), layout(dtype.fields().unwrap()));
        assert_eq!(of(&back), of(&outer), "{outer}");
    }
}

/// The document of BLZ: "nested types are described as lists".
#[test]
fn json_of_the_documents_is_read_and_written() {
    for (text, json) in [
        ("float64", json!("<f8")),
        (
            "[('a', '<i4'), ('b', [('c', '<f8'), ('d', 'S3')])]",
            json!([["a", "<i4"], ["b", [["c", "<f8"], ["d", "|S3"]]]]),
        ),
        ("[('m', '<f4', (2, 3))]", json!([["m", "<f4", [2, 3]]])),
        ("[(('t', 'n'), '?')]", json!([[["t", "n"], "|b1"]])),
    ] {
        assert_eq!(parse(text).to_json(), json);
        assert_eq!(DType::from_json(&json).unwrap(), parse(text));
    }
    assert_eq!(
        DType::from_json(&json!([["m", "<f4", 3]])).unwrap(),
        parse("[('m', '<f4', (3,))]")
    );
    for wrong in [
        json!(null),
        json!(5),
        json!({"names": []}),
        json!([["a", 1.5]]),
    ] {
        assert!(DType::from_json(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn constants_are_the_types_of_their_names() {
    for (dtype, name) in [
        (DType::BOOL, "bool"),
        (DType::I8, "int8"),
        (DType::I16, "int16"),
        (DType::I32, "int32"),
        (DType::I64, "int64"),
        (DType::U8, "uint8"),
        (DType::U16, "uint16"),
        (DType::U32, "uint32"),
        (DType::U64, "uint64"),
        (DType::F16, "float16"),
        (DType::F32, "float32"),
        (DType::F64, "float64"),
        (DType::C64, "complex64"),
        (DType::C128, "complex128"),
        (DType::OBJECT, "object"),
        (DType::bytes(10).unwrap(), "|S10"),
        (DType::text(7).unwrap(), "<U7"),
        (DType::void(7).unwrap(), "|V7"),
        (DType::datetime(TimeUnit::default()).unwrap(), "datetime64"),
        (
            DType::timedelta(TimeUnit::one(TimeBase::Day)).unwrap(),
            "timedelta64[D]",
        ),
    ] {
        assert_eq!(dtype.to_string(), name);
        assert_eq!(parse(name), dtype);
        let (kind, order) = (dtype.kind().clone(), dtype.order());
        assert_eq!(DType::new(kind, order, dtype.itemsize()), Ok(dtype));
    }
}

#[test]
fn order_reaches_the_fields_and_only_numbers() {
    for (little, big) in [
        ("<i4", ">i4"),
        ("|u1", "|u1"),
        ("|b1", "|b1"),
        ("|S3", "|S3"),
        ("<U3", ">U3"),
        ("|O", "|O"),
        ("<M8[ns]", ">M8[ns]"),
        (
            "[('a', '<i4'), ('b', [('c', 'V2'), ('d', '<f8', (2,))])]",
            "[('a', '>i4'), ('b', [('c', 'V2'), ('d', '>f8', (2,))])]",
        ),
    ] {
        assert_eq!(parse(little).with_order(ByteOrder::Big), parse(big));
        assert_eq!(parse(big).with_order(ByteOrder::Little), parse(little));
        assert_eq!(parse(big).is_big(), big.contains('>'));
        assert!(!parse(little).is_big());
    }
}

/// Each element by its bytes in memory, most significant first and least significant first.
#[test]
fn elements_are_turned_number_by_number() {
    let bytes: Vec<u8> = (1..=32).collect();
    for (dtype, expected) in [
        (">i2", &[2, 1, 4, 3][..]),
        ("<i2", &[1, 2, 3, 4]),
        (">f4", &[4, 3, 2, 1, 8, 7, 6, 5]),
        (">c8", &[4, 3, 2, 1, 8, 7, 6, 5]),
        (">U2", &[4, 3, 2, 1, 8, 7, 6, 5]),
        (">M8[s]", &[8, 7, 6, 5, 4, 3, 2, 1, 16]),
        (">c16", &[8, 7, 6, 5, 4, 3, 2, 1, 16]),
        (
            ">f16",
            &[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 32],
        ),
        (">f12", &[12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 24]),
        (">S4", &[1, 2, 3, 4]),
        ("[('a', 'i1'), ('b', '>i2')]", &[1, 3, 2, 4, 6, 5]),
        ("[('a', '<i2'), ('b', '>i2')]", &[1, 2, 4, 3, 5, 6, 8, 7]),
        (
            "[('a', [('x', '>i2'), ('y', 'i1')], (2,))]",
            &[2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12],
        ),
        (
            "{'names': ['a'], 'formats': ['>i2'], 'offsets': [1], 'itemsize': 4}",
            &[1, 3, 2, 4, 5, 7, 6, 8],
        ),
    ] {
        let (dtype, mut turned) = (parse(dtype), bytes.clone());
        dtype.to_little(&mut turned);
        assert_eq!(turned[..expected.len()], *expected, "{dtype}");
        dtype.to_little(&mut turned);
        assert_eq!(turned, bytes, "{dtype}");
    }
    let mut torn = [1, 2, 3];
    parse(">i2").to_little(&mut torn);
    assert_eq!(torn, [2, 1, 3]);
    for nothing in ["[]", ">U0", "S0"] {
        parse(nothing).to_little(&mut torn);
    }
    assert_eq!(torn, [2, 1, 3]);
}

#[test]
fn objects_are_found_wherever_they_are() {
    assert!(parse("O").is_object() && parse("O").has_object());
    let nested = parse("[('a', '<i4'), ('b', [('c', 'O', (2,))])]");
    assert!(nested.has_object() && !nested.is_object());
    assert!(matches!(nested.kind(), Kind::Struct(_)));
    assert!(!parse("[('a', '<i4')]").has_object());
}
