//! Compares with descriptions in files of the reference implementation, and with NumPy's own answers about its types.

use super::{NumpyArray, Order, with_shape};
use crate::Metadata;

/// Typesize in the header, length of the content, and metadata of files that Bloscpack 0.4.1 to 0.16
/// wrote: one file for each description.
#[rustfmt::skip]
const FILES: [(u64, u64, &str); 60] = [
    (1, 600, r#"{"dtype":"'|i1'","shape":[600],"order":"C","container":"numpy"}"#),
    (1, 600, r#"{"dtype":"'|u1'","shape":[600],"order":"C","container":"numpy"}"#),
    (2, 1200, r#"{"dtype":"'<i2'","shape":[600],"order":"C","container":"numpy"}"#),
    (2, 1200, r#"{"dtype":"'<u2'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<i4'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<u4'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<i8'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<u8'","shape":[600],"order":"C","container":"numpy"}"#),
    (2, 1200, r#"{"dtype":"'<f2'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<f4'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<f8'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<c8'","shape":[600],"order":"C","container":"numpy"}"#),
    (16, 9600, r#"{"dtype":"'<c16'","shape":[600],"order":"C","container":"numpy"}"#),
    (2, 1200, r#"{"dtype":"'>i2'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'>i4'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'>i8'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'>f4'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'>f8'","shape":[600],"order":"C","container":"numpy"}"#),
    (16, 9600, r#"{"dtype":"'>c16'","shape":[600],"order":"C","container":"numpy"}"#),
    (1, 600, r#"{"dtype":"'|b1'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<M8[ns]'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<M8[D]'","shape":[600],"order":"C","container":"numpy"}"#),
    (8, 4800, r#"{"dtype":"'<m8[s]'","shape":[600],"order":"C","container":"numpy"}"#),
    (16, 9600, r#"{"dtype":"'<f16'","shape":[600],"order":"C","container":"numpy"}"#),
    (4, 640, r#"{"dtype":"'|S4'","shape":[160],"order":"C","container":"numpy"}"#),
    (12, 1920, r#"{"dtype":"'<U3'","shape":[160],"order":"C","container":"numpy"}"#),
    (20, 800, r#"{"dtype":"'>U5'","shape":[40],"order":"C","container":"numpy"}"#),
    (5, 100, r#"{"dtype":"'|V5'","shape":[20],"order":"C","container":"numpy"}"#),
    (84, 336, r#"{"dtype":"'<U21'","shape":[2,2],"order":"C","container":"numpy"}"#),
    (8, 8, r#"{"dtype":"'<f8'","shape":[],"order":"C","container":"numpy"}"#),
    (1, 1, r#"{"dtype":"'|i1'","shape":[],"order":"C","container":"numpy"}"#),
    (5, 5, r#"{"dtype":"'|S5'","shape":[],"order":"C","container":"numpy"}"#),
    (12, 12, r#"{"dtype":"[('a', '<i4'), ('b', '<f8')]","shape":[],"order":"C","container":"numpy"}"#),
    (8, 0, r#"{"dtype":"'<f8'","shape":[0],"order":"C","container":"numpy"}"#),
    (4, 0, r#"{"dtype":"'<i4'","shape":[0,5],"order":"C","container":"numpy"}"#),
    (4, 0, r#"{"dtype":"'<i4'","shape":[3,0,2],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<i4'","shape":[20,30],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<i4'","shape":[20,30],"order":"F","container":"numpy"}"#),
    (8, 5760, r#"{"dtype":"'<f8'","shape":[6,10,12],"order":"F","container":"numpy"}"#),
    (8, 5760, r#"{"dtype":"'<f8'","shape":[6,10,12],"order":"C","container":"numpy"}"#),
    (4, 2400, r#"{"dtype":"'<i4'","shape":[30,20],"order":"F","container":"numpy"}"#),
    (4, 800, r#"{"dtype":"'<i4'","shape":[5,40],"order":"C","container":"numpy"}"#),
    (8, 2672, r#"{"dtype":"'<i8'","shape":[334],"order":"C","container":"numpy"}"#),
    (2, 1000, r#"{"dtype":"'<i2'","shape":[500],"order":"C","container":"numpy"}"#),
    (8, 400, r#"{"dtype":"'<f8'","shape":[50],"order":"C","container":"numpy"}"#),
    (4, 280, r#"{"dtype":"'<i4'","shape":[7,10],"order":"C","container":"numpy"}"#),
    (4, 224, r#"{"dtype":"'<i4'","shape":[7,8],"order":"C","container":"numpy"}"#),
    (15, 1500, r#"{"dtype":"[('step', '<i4'), ('sym', '|S3'), ('v', '<f8')]","shape":[100],"order":"C","container":"numpy"}"#),
    (18, 36, r#"{"dtype":"[('year', '<i4'), ('countries', [('c1', [('iso', '|S3'), ('value', '<f4')]), ('c2', [('iso', '|S3'), ('value', '<f4')])])]","shape":[2],"order":"C","container":"numpy"}"#),
    (26, 780, r#"{"dtype":"[('m', '<f4', (2, 3)), ('k', '<i2')]","shape":[30],"order":"C","container":"numpy"}"#),
    (12, 36, r#"{"dtype":"[('\u0438\u043c\u044f', '<i4'), ('b', '<f8')]","shape":[3],"order":"C","container":"numpy"}"#),
    (4, 40, r#"{"dtype":"[('only', '<i4')]","shape":[10],"order":"C","container":"numpy"}"#),
    (12, 240, r#"{"dtype":"[('a', '<i4'), ('b', '>f8')]","shape":[4,5],"order":"F","container":"numpy"}"#),
    (8, 32000, r#"{"dtype":"'<f8'","shape":[4000],"order":"C","container":"numpy"}"#),
    (3, 180, r#"{"dtype":"|S3","shape":[60],"container":"numpy","order":"C"}"#),
    (9, 18, r#"{"dtype":[["a","|S1"],["b","<f8"]],"shape":[2],"container":"numpy","order":"C"}"#),
    (4, 2400, r#"{"dtype":"<i4","shape":[20,30],"container":"numpy","order":"F"}"#),
    (8, 4000, r#"{"dtype":"<f8","shape":[500],"container":"numpy","order":"C"}"#),
    (4, 1200, r#"{"dtype":">i4","shape":[300],"container":"numpy","order":"C"}"#),
    (18, 18, r#"{"dtype":[["year","<i4"],["countries",[["c1",[["iso","|S3"],["value","<f4"]]],["c2",[["iso","|S3"],["value","<f4"]]]]]],"shape":[1],"container":"numpy","order":"C"}"#),
];

/// `dtype` as JSON, and `np.dtype(..).itemsize` by NumPy 2.4 on x86-64: of names, and of what
/// `repr(dtype.descr)` gives for aligned, nested, titled, padded and oddly named fields.
#[rustfmt::skip]
const TYPES: [(u64, &str); 81] = [
    (1, r#""bool""#), (1, r#""bool_""#), (1, r#""int8""#), (2, r#""int16""#),
    (4, r#""int32""#), (8, r#""int64""#), (1, r#""uint8""#), (2, r#""uint16""#),
    (4, r#""uint32""#), (8, r#""uint64""#), (2, r#""float16""#), (4, r#""float32""#),
    (8, r#""float64""#), (16, r#""float128""#), (8, r#""complex64""#), (16, r#""complex128""#),
    (32, r#""complex256""#), (2, r#""half""#), (4, r#""single""#), (8, r#""double""#),
    (8, r#""float""#), (16, r#""complex""#), (8, r#""csingle""#), (16, r#""cdouble""#),
    (8, r#""datetime64[ns]""#), (8, r#""timedelta64[s]""#), (8, r#""datetime64""#), (0, r#""S""#),
    (7, r#""S7""#), (3, r#""a3""#), (0, r#""U""#), (16, r#""U4""#),
    (0, r#""V""#), (9, r#""<V9""#), (1, r#""|b1""#), (8, r#""=f8""#),
    (16, r#"">c16""#), (8, r#""<m8[25s]""#), (8, r#""M8[D]""#), (1, r#""?""#),
    (1, r#""b""#), (1, r#""B""#), (2, r#""h""#), (2, r#""H""#),
    (4, r#""i""#), (4, r#""I""#), (8, r#""q""#), (8, r#""Q""#),
    (2, r#""e""#), (4, r#""f""#), (8, r#""d""#), (8, r#""F""#),
    (16, r#""D""#), (1, r#""byte""#), (1, r#""ubyte""#), (2, r#""short""#),
    (2, r#""ushort""#), (4, r#""intc""#), (4, r#""uintc""#), (8, r#""longlong""#),
    (8, r#""ulonglong""#), (8, r#""<f08""#), (4, r#""|i4""#),
    (34, r#""[('a', '<i4'), ('b', '|S5', (2, 3))]""#),
    (16, r#""[(('A title', 'name'), '<i4'), ('x', '<U3')]""#),
    (16, r#""[('a', '|i1'), ('', '|V7'), ('b', '<f8')]""#),
    (33, r#""[('in', [('a', '|i1'), ('', '|V7'), ('b', '<f8')], (2,)), ('z', '|b1')]""#),
    (28, r#""[(\"it's\", '<i2'), ('q\"\\'', '<f4'), ('back\\\\slash', '|u1'), ('line\\nend\\t', '<f8'), ('\u03a9', '<c8'), ('\\x01', '|i1'), ('\ud83d\ude00', '<i2'), ('\\u200b', '<i2')]""#),
    (52, r#""[('one', '<i4', (3,)), ('two', '<M8[ns]', (1,)), ('m', '<m8[25s]', (4,))]""#),
    (96, r#""[('n', [('n', [('n', [('n', '<i4', (2,))], (3,))], (2, 2))])]""#),
    (0, r#""[('a', '|V0'), ('b', '|S0')]""#),
    (0, r#""[]""#),
    (32, r#""[('', '|V4'), ('a', '<i4'), ('', '|V8'), ('b', '<f4'), ('', '|V12')]""#),
    (77, r#""[('u', '>U7'), ('g', '<f16'), ('G', '<c32'), ('b', '|b1')]""#),
    (26, r#"[["m", "<f4", [2, 3]], ["k", "<i2"]]"#),
    (8, r#"[[["title", "name"], "<i4"], ["", "|V4"]]"#),
    (12, r#"[["m", "<f4", 3]]"#),
    (8, r#""'float64'""#),
    (8, r#""u'<f8'""#),
    (24, r#""[(u'a', u'<i4', (2L, 3L))]""#),
    (4, r#""  [('a', '<i4')] ""#),
];

/// Types that NumPy refuses, that contain pointers, that differ from machine to machine, and that are none
/// of the spellings of the reference.
const NO_TYPES: [&str; 51] = [
    r#""<i3""#,
    r#""f1""#,
    r#""i16""#,
    r#""<M8[ns""#,
    r#""""#,
    r#""<""#,
    r#""f8 ""#,
    r#"" f8""#,
    r#""M4""#,
    r#""M8[]""#,
    r#""f10""#,
    r#""u""#,
    r#""S-1""#,
    r#""S99999999999999999999""#,
    r#""U9999999999999999999""#,
    r#""f8[ns]""#,
    r#""O""#,
    r#""|O""#,
    r#""object""#,
    r#""object_""#,
    r#""O8""#,
    r#""T""#,
    r#""|T16""#,
    r#""int""#,
    r#""uint""#,
    r#""l""#,
    r#""longdouble""#,
    r#""g""#,
    r#""p""#,
    r#""numpy.float64""#,
    r#""'<f8""#,
    r#""'<f8' + 'x'""#,
    r#""[('a', '<i4')""#,
    r#""[('a', '|O')]""#,
    r#""[('a', '<i4', (-1,))]""#,
    r#""[('a', '<i4', ('b',))]""#,
    r#""[('a',)]""#,
    r#""['<i4']""#,
    r#""('<f4', (2, 3))""#,
    r#""[(('a',), '<i4')]""#,
    r#""5""#,
    r#""{'names': ['a']}""#,
    r#"5"#,
    r#"null"#,
    r#"{"a": "<f8"}"#,
    r#"[["a", null]]"#,
    r#"[["a", "<i4"], "b"]"#,
    r#"[["a", "|O"]]"#,
    r#"[["a", "<i4", [4294967296, 4294967296]]]"#,
    r#"[["a", "V18446744073709551615"], ["b", "V1"]]"#,
    r#"[[["a", "b", "c"], "<i4"]]"#,
];

fn metadata(text: &str) -> Metadata {
    Metadata::from_json(text).unwrap()
}

fn array(text: &str) -> NumpyArray {
    NumpyArray::of(&metadata(text)).unwrap().unwrap()
}

fn refusal(text: &str) -> String {
    NumpyArray::of(&metadata(text)).unwrap_err().to_string()
}

fn of_type(dtype: &str) -> String {
    format!(r#"{{"dtype": {dtype}, "shape": [2], "container": "numpy"}}"#)
}

#[test]
fn arrays_in_real_files_are_as_long_as_their_content() {
    for (typesize, len, text) in FILES {
        let array = array(text);
        assert_eq!(
            (array.itemsize, array.content_len()),
            (typesize, len),
            "{text}"
        );
        let fortran = text.contains(r#""order":"F""#);
        assert_eq!(array.order == Order::F, fortran, "{text}");
    }
}

#[test]
fn types_have_the_size_that_numpy_gives_them() {
    for (itemsize, dtype) in TYPES {
        assert_eq!(array(&of_type(dtype)).itemsize, itemsize, "{dtype}");
    }
}

#[test]
fn types_without_a_size_to_rely_on_are_refused() {
    for dtype in NO_TYPES {
        let why = refusal(&of_type(dtype));
        assert!(
            why.starts_with("bad metadata: dtype of the NumPy array: "),
            "{dtype}: {why}"
        );
    }
    assert!(refusal(&of_type(r#""'|O'""#)).contains("pointers"));
}

#[test]
fn metadata_that_names_no_array_is_none() {
    for text in [
        r#"{"dtype": "float64", "shape": [1024], "others": []}"#,
        r#"{"container": "Numpy", "dtype": "<f8", "shape": [1]}"#,
        r#"{"container": ["numpy"]}"#,
        r#"{"container": "numpy", "container": NaN}"#,
        r#"{"in": {"container": "numpy", "dtype": "<f8", "shape": [1]}}"#,
        r#"["container", "numpy"]"#,
        r#""numpy""#,
        "{}",
        "null",
    ] {
        assert_eq!(NumpyArray::of(&metadata(text)), Ok(None), "{text}");
    }
}

#[test]
fn of_keys_that_occur_twice_the_last_counts() {
    let text = r#"{"shape": "?", "container": 1, "dtype": null, "order": "F", "x": {"shape": []},
        "dtype": "float32", "cont\u0061iner": "numpy", "shape": [3, 4], "order": "C"}"#;
    let expected = NumpyArray {
        itemsize: 4,
        shape: vec![3, 4],
        order: Order::C,
    };
    assert_eq!(array(text), expected);
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let with = |rest: &str| refusal(&format!(r#"{{"container": "numpy"{rest}}}"#));
    for (rest, why) in [
        ("", "dtype of the NumPy array: it is missing"),
        (
            r#", "dtype": "<f8""#,
            "shape of the NumPy array: it is missing",
        ),
        (r#", "dtype": "<f8", "shape": 3"#, "a list of whole numbers"),
        (
            r#", "dtype": "<f8", "shape": [3.0]"#,
            "a list of whole numbers",
        ),
        (
            r#", "dtype": "<f8", "shape": [-1]"#,
            "a list of whole numbers",
        ),
        (
            r#", "dtype": "<f8", "shape": [[1]]"#,
            "a list of whole numbers",
        ),
        (
            r#", "dtype": "<f8", "shape": [1], "order": "K""#,
            r#""K" where "C" or "F""#,
        ),
        (
            r#", "dtype": "<f8", "shape": [1], "order": null"#,
            r#"null where "C" or "F""#,
        ),
        (
            r#", "dtype": "<f8", "shape": [4294967296, 4294967296]"#,
            "more bytes than",
        ),
        (
            r#", "dtype": "<f8", "shape": [0, 4294967296, 4294967296]"#,
            "more bytes than",
        ),
        (
            r#", "dtype": "<f8", "shape": [2305843009213693952]"#,
            "more bytes than",
        ),
        (
            r#", "dtype": "<f8", "shape": [18446744073709551616]"#,
            "a list of whole numbers",
        ),
    ] {
        assert!(with(rest).contains(why), "{rest}: {}", with(rest));
    }
    let axes = |count: usize| {
        format!(
            r#", "dtype": "<f8", "shape": [{}1]"#,
            "1,".repeat(count - 1)
        )
    };
    assert!(with(&axes(65)).contains("65 dimensions"));
    assert_eq!(
        array(&format!(r#"{{"container": "numpy"{}}}"#, axes(64))).shape,
        [1; 64]
    );
    let long = format!(r#", "dtype": "{}""#, "<f8 ".repeat(1 << 20));
    assert!(with(&long).contains("over the limit"));
}

/// Shapes as `np.concatenate` gives them along the axis that memory grows along.
#[test]
fn arrays_grow_along_the_axis_that_counts_slowest() {
    let of = |shape: &[u64], order| NumpyArray {
        itemsize: 4,
        shape: shape.to_vec(),
        order,
    };
    for (shape, order, bytes, expected) in [
        (&[8192][..], Order::C, 4, &[8193][..]),
        (&[20, 30], Order::C, 240, &[22, 30]),
        (&[20, 30], Order::F, 240, &[20, 33]),
        (&[6, 10, 12], Order::C, 480, &[7, 10, 12]),
        (&[6, 10, 12], Order::F, 480, &[6, 10, 14]),
        (&[0], Order::C, 12, &[3]),
        (&[0, 5], Order::C, 60, &[3, 5]),
        (&[5, 0], Order::F, 60, &[5, 3]),
        (&[20, 30], Order::C, 0, &[20, 30]),
        (&[3, 0, 2], Order::C, 0, &[3, 0, 2]),
        (&[], Order::C, 0, &[]),
    ] {
        let grown = of(shape, order).grown(bytes);
        assert_eq!(
            grown.as_deref(),
            Ok(expected),
            "{shape:?} {order:?} {bytes}"
        );
    }
    for (shape, order, bytes, why) in [
        (
            &[20, 30][..],
            Order::C,
            121,
            "not a whole number of rows: a row of the array has 120 bytes",
        ),
        (
            &[20, 30],
            Order::F,
            120,
            "not a whole number of rows: a row of the array has 80 bytes",
        ),
        (&[20, 30], Order::C, 4, "4 more bytes are not a whole"),
        (&[], Order::C, 4, "no dimensions"),
        (
            &[3, 0, 2],
            Order::C,
            4,
            "has 0 bytes (shape [3, 0, 2], 4 bytes per element)",
        ),
        (&[0, 5], Order::F, 20, "has 0 bytes"),
        (
            &[1 << 61],
            Order::C,
            1 << 63,
            "would have 4611686018427387904 rows",
        ),
    ] {
        let found = of(shape, order).grown(bytes).unwrap_err();
        assert!(found.contains(why), "{shape:?} {order:?} {bytes}: {found}");
    }
}

#[test]
fn with_shape_changes_no_other_byte() {
    for (before, after) in [
        (
            r#"{"dtype":"'<f8'","shape":[20,30],"order":"C","container":"numpy"}"#,
            r#"{"dtype":"'<f8'","shape":[1,2],"order":"C","container":"numpy"}"#,
        ),
        (r#"{"shape":[]}"#, r#"{"shape":[1,2]}"#),
        (
            " { \"a\" : NaN , \"shape\" : [ 1,\n 2 ] \n, \"b\": [-Infinity,\t1.50]}\n",
            " { \"a\" : NaN , \"shape\" : [1,2] \n, \"b\": [-Infinity,\t1.50]}\n",
        ),
        (
            r#"{"x":{"shape":[9]},"s":"\"shape\":[9]","y":["shape",[9]],"sh\u0061pe":[9]}"#,
            r#"{"x":{"shape":[9]},"s":"\"shape\":[9]","y":["shape",[9]],"sh\u0061pe":[1,2]}"#,
        ),
        (
            r#"{"shape": {"shape": "]}"}, "z": "Ω\\", "shape": "[\\"}"#,
            r#"{"shape": [1,2], "z": "Ω\\", "shape": [1,2]}"#,
        ),
    ] {
        let renewed = with_shape(&metadata(before), &[1, 2]).unwrap();
        assert_eq!(renewed.text(), after);
        assert_eq!(renewed.value()["shape"], serde_json::json!([1, 2]));
    }
    let largest = with_shape(&metadata(r#"{"shape":[9]}"#), &[u64::MAX]).unwrap();
    assert_eq!(largest.text(), r#"{"shape":[18446744073709551615]}"#);
    for text in ["{}", "[]", r#"{"x":{"shape":[9]}}"#, r#""shape""#] {
        assert!(with_shape(&metadata(text), &[1]).is_err(), "{text}");
    }
}
