//! Tests that invalid types are refused, and that no type in a file can exhaust time or end the program.

use crate::{ByteOrder, DType, Field, Kind, Struct, TimeBase, TimeUnit};

fn refusal(text: &str) -> String {
    match DType::parse(text) {
        Ok(dtype) => panic!("{text}: {dtype}"),
        Err(error) => error.to_string(),
    }
}

#[test]
#[rustfmt::skip]
fn what_is_no_type_is_refused() {
    for text in [
        "", "<", "<i3", "f1", "i16", "b2", "c4", "u", "M4", "M8[]", "M8[ns", "M8[0s]", "M8[-1s]",
        "M8[2147483648D]", "M8[xs]", "M8[B]", "f8[ns]", "f8 ", " f8", "S-1", "S+3", "S 3", "i4,f8",
        ">int32", "T", "|T16", "StringDType()", "int", "uint", "l", "longdouble", "g", "p",
        "numpy.float64", "'<f8", "'<f8' + 'x'", "dtype('<f8'", "dtype(float64", "dtype()",
        "dtype('<f8', metadata={})", "__import__('os')", "5", "None", "True", "['<i4']", "('<i4',)",
        "[('a', '<i4')", "[('a',)]", "[('a', '<i4', (2,), 3)]", "[('a', '<i4', (-1,))]",
        "[('a', '<i4', ('b',))]", "[('a', '<i4', 'b')]", "[(('a',), '<i4')]", "[(5, '<i4')]",
        "[('a', 5)]", "[('a', None)]", "[('a', '<i3')]", "[('a', '<i4'), ('a', '<i4')]",
        "[(('a', 'a'), 'i4')]", "[(('b', 'a'), 'i4'), ('b', 'i4')]", "[('f1', 'i4'), ('', 'i4')]",
        "{}", "{'names': ['a']}", "{'formats': ['i4']}", "{'names': 'a', 'formats': ['i4']}",
        "{'names': ['a', 'b'], 'formats': ['i4']}", "{'names': [5], 'formats': ['i4']}",
        "{'names': [''], 'formats': ['i4']}", "{'names': ['a'], 'formats': ['i4'], 'extra': 1}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [0, 4]}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': ['b']}",
        "{'names': ['a'], 'formats': ['i4'], 'titles': ['a']}",
        "{'names': ['a'], 'formats': ['i4'], 'titles': [5]}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 3}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 'b'}",
        "{'names': ['a'], 'formats': ['i4'], 'aligned': 1}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [1], 'itemsize': 4}",
        "('<i4', (2, 3))", "([('a', '<i4')], (2,))",
    ] {
        refusal(text);
    }
}

#[test]
fn sizes_are_those_that_numpy_can_count() {
    for (text, itemsize) in [
        ("S2147483647", 2_147_483_647),
        ("U536870911", 2_147_483_644),
        ("[('a', 'i1', (2147483647,))]", 2_147_483_647),
        (
            "[('a', 'V2147483647', (0,)), ('b', 'i1', (0, 2147483647))]",
            0,
        ),
    ] {
        assert_eq!(DType::parse(text).unwrap().itemsize(), itemsize, "{text}");
    }
    for text in [
        "S2147483648",
        "U536870912",
        "S99999999999999999999",
        "U9999999999999999999",
        "V18446744073709551615",
        "[('a', 'i1', (2147483647,)), ('b', 'i1')]",
        "[('a', 'i1', (4294967296, 4294967296))]",
        "[('a', 'i1', (0, 4294967296))]",
        "[('a', 'V1073741824'), ('', 'V1073741824')]",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [18446744073709551615]}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [2147483644]}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 18446744073709551615}",
        "dtype([('a', 'S2147483647'), ('b', 'f8')], align=True)",
    ] {
        refusal(text);
    }
    let axes = |count: usize| format!("[('a', 'i1', ({}))]", "1,".repeat(count));
    assert!(DType::parse(&axes(64)).is_ok());
    assert!(refusal(&axes(65)).contains("65 dimensions"));
}

#[test]
fn depth_and_number_of_fields_are_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("[('a', ".repeat(depth), ")]".repeat(depth));
        format!("{open}'i1'{close}")
    };
    assert!(DType::parse(&nested(15)).is_ok());
    assert!(refusal(&nested(16)).contains("deeper"));
    assert!(refusal(&nested(100_000)).contains("deeper"));
    let maps = |depth: usize| {
        let open = "{'names': ['a'], 'formats': [".repeat(depth);
        format!("{open}'i1'{}", "]}".repeat(depth))
    };
    assert!(refusal(&maps(1000)).contains("deeper"));

    let mut dtype = DType::I8;
    for _ in 0..32 {
        dtype = DType::structured(vec![("a", dtype, vec![])], false).unwrap();
    }
    assert!(DType::parse(&"(".repeat(1 << 20)).is_err());
    let deeper = DType::structured(vec![("a", dtype, vec![])], false);
    assert!(deeper.unwrap_err().to_string().contains("deeper"));

    let wide = |count: usize| {
        let fields: String = (0..count)
            .map(|number| format!("('f{number}','i1'),"))
            .collect();
        format!("[{fields}]")
    };
    assert_eq!(DType::parse(&wide(65_536)).unwrap().itemsize(), 65_536);
    assert!(refusal(&wide(65_537)).contains("65537 fields"));
    let half = DType::parse(&wide(40_000)).unwrap();
    let both = vec![("a", half.clone(), vec![]), ("b", half, vec![])];
    assert!(DType::structured(both, false).is_err());
    let long = format!("'{}'", "a".repeat(1 << 21));
    assert!(refusal(&long).contains("exceeds the limit"));
}

/// A row of two bytes would be shown as gigabytes.
#[test]
fn fields_overlap_only_so_often() {
    let over = |count: usize| {
        let names: Vec<_> = (0..count).map(|number| format!("'{number}'")).collect();
        let (formats, offsets) = (vec!["'i2'"; count].join(","), vec!["0"; count].join(","));
        let names = names.join(",");
        format!("{{'names':[{names}],'formats':[{formats}],'offsets':[{offsets}]}}")
    };
    assert!(DType::parse(&over(64)).is_ok());
    assert!(refusal(&over(65)).contains("overlap"));
    let inner = over(9);
    let outer = inner.replace("'i2'", &inner);
    assert!(refusal(&outer).contains("overlap"));
}

#[test]
fn what_is_made_by_hand_is_checked_too() {
    let new = |kind, itemsize| DType::new(kind, ByteOrder::Big, itemsize);
    for (kind, itemsize) in [
        (Kind::Bool, 2),
        (Kind::Int, 3),
        (Kind::Uint, 16),
        (Kind::Float, 1),
        (Kind::Complex, 4),
        (Kind::Datetime(TimeUnit::GENERIC), 4),
        (Kind::Object, 4),
        (Kind::Text, 7),
        (Kind::Bytes, 1 << 31),
        (Kind::Void, u64::MAX),
    ] {
        assert!(new(kind.clone(), itemsize).is_err(), "{kind:?}");
    }
    for count in [0, 1 << 31] {
        let base = Some(TimeBase::Second);
        assert!(DType::datetime(TimeUnit { base, count }).is_err());
        assert!(DType::timedelta(TimeUnit { base, count }).is_err());
        let unit = TimeUnit { base: None, count };
        assert_eq!(DType::datetime(unit), DType::datetime(TimeUnit::GENERIC));
    }
    assert!(DType::text(u64::MAX).is_err());
    for kind in [Kind::Bool, Kind::Bytes, Kind::Void, Kind::Object] {
        let itemsize = if kind == Kind::Object { 8 } else { 1 };
        assert_eq!(new(kind, itemsize).unwrap().order(), ByteOrder::Little);
    }
    let field = |offset| Field {
        name: "a".to_owned(),
        title: None,
        dtype: DType::I32,
        shape: vec![],
        offset,
    };
    let of = |offset, aligned| {
        let fields = vec![field(offset)];
        new(Kind::Struct(Box::new(Struct { fields, aligned })), 8)
    };
    assert!(of(5, false).is_err());
    assert!(of(u64::MAX, false).is_err());
    let is_aligned = |dtype: DType| matches!(dtype.kind(), Kind::Struct(of) if of.aligned);
    assert!(is_aligned(of(4, true).unwrap()));
    assert!(!is_aligned(of(3, true).unwrap()));
}
