//! Tests of `.npy` headers against NumPy's.

use super::NpyHeader;
use crate::DType;

type Row = (&'static str, bool, &'static [u64], &'static [u8]);

/// `str(dtype)`, whether in the order of Fortran, the shape, and what `np.save` of NumPy 2.4 writes
/// before the elements.
#[rustfmt::skip]
const HEADERS: [Row; 11] = [
    (r#"float64"#, false, &[20, 30], b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }                                                        \n"),
    (r#">i4"#, true, &[20, 30], b"\x93NUMPY\x01\x00v\x00{'descr': '>i4', 'fortran_order': True, 'shape': (20, 30), }                                                         \n"),
    (r#"float64"#, false, &[], b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (), }                                                              \n"),
    (r#"|S3"#, false, &[0], b"\x93NUMPY\x01\x00v\x00{'descr': '|S3', 'fortran_order': False, 'shape': (0,), }                                                            \n"),
    (r#"datetime64[ns]"#, false, &[3, 0, 2], b"\x93NUMPY\x01\x00v\x00{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3, 0, 2), }                                                   \n"),
    (r#"{'names': ['a', 'b', 'n'], 'formats': ['i1', ('<f8', (2,)), '<U3'], 'offsets': [0, 8, 24], 'titles': [None, None, 'T'], 'itemsize': 40, 'aligned': True}"#, false, &[5], b"\x93NUMPY\x01\x00\xb6\x00{'descr': [('a', '|i1'), ('', '|V7'), ('b', '<f8', (2,)), (('T', 'n'), '<U3'), ('', '|V4')], 'fortran_order': False, 'shape': (5,), }                                                \n"),
    (r#"[('é', 'i1')]"#, false, &[5], b"\x93NUMPY\x01\x00v\x00{'descr': [('\xe9', '|i1')], 'fortran_order': False, 'shape': (5,), }                                                   \n"),
    (r#"[('Ω', 'i1')]"#, false, &[5], b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': [('\xce\xa9', '|i1')], 'fortran_order': False, 'shape': (5,), }                                                \n"),
    (r#"bool"#, false, &[2], b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }                                                            \n"),
    (r#"uint8"#, false, &[123456], b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (123456,), }                                                       \n"),
    (r#"complex128"#, false, &[1, 1, 1], b"\x93NUMPY\x01\x00v\x00{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1, 1), }                                                      \n"),
];

fn dtype(text: &str) -> DType {
    DType::parse(text).unwrap()
}

fn fields(count: usize, name: &str) -> DType {
    let fields = (0..count).map(|number| (format!("{name}{number}"), DType::F64, vec![]));
    DType::structured(fields.collect(), false).unwrap()
}

fn encoded(dtype: DType, len: u64) -> Vec<u8> {
    let header = NpyHeader {
        dtype,
        fortran_order: false,
        shape: vec![len],
    };
    let bytes = header.encode().unwrap();
    let back = NpyHeader::parse(&bytes);
    assert_eq!(back, Ok((header, bytes.len())));
    bytes
}

#[test]
fn headers_are_those_of_numpy() {
    for (text, fortran_order, shape, bytes) in HEADERS {
        let dtype = dtype(text);
        let (shape, itemsize) = (shape.to_vec(), dtype.itemsize());
        let header = NpyHeader {
            dtype,
            fortran_order,
            shape: shape.clone(),
        };
        assert_eq!(header.encode().as_deref(), Ok(bytes), "{text}");
        assert_eq!(
            NpyHeader::len_of(&bytes[..NpyHeader::START]),
            Ok(bytes.len())
        );
        let file = [bytes, &[1, 2, 3]].concat();
        let (read, len) = NpyHeader::parse(&file).unwrap();
        assert_eq!(len, bytes.len());
        assert_eq!((read.fortran_order, &read.shape), (fortran_order, &shape));
        // That it was aligned is not in the file, only where each field is.
        assert_eq!(read.dtype.descr(), header.dtype.descr());
        assert_eq!(read.dtype.itemsize(), itemsize);
        assert_eq!(read.encode().as_deref(), Ok(bytes));
    }
}

/// Before 1.14 NumPy padded to 16 bytes, under Python 2 it wrote long integers with an `L`.
#[test]
fn headers_of_older_versions_are_read() {
    let text = "{'descr': '<i8', 'fortran_order': False, 'shape': (10L,), }";
    let file = format!("\u{93}NUMPY\u{1}\0F\0{text:<69}\n");
    let file: Vec<_> = file.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let (header, len) = NpyHeader::parse(&file).unwrap();
    assert_eq!((header.dtype, header.fortran_order), (DType::I64, false));
    assert_eq!((header.shape.as_slice(), len), (&[10][..], 80));
}

/// Lengths and crc32 of what NumPy 2.4 writes: of every amount of padding, of version 2 and of 3.
#[test]
fn headers_of_every_length_are_those_of_numpy() {
    let mut all = Vec::new();
    for len in 1..=130_u8 {
        let name = "x".repeat(len.into());
        let dtype = DType::structured(vec![(name, DType::I32, vec![])], false).unwrap();
        all.extend(encoded(dtype, len.into()));
    }
    assert_eq!((all.len(), crc32fast::hash(&all)), (25_216, 2_146_777_986));
    for (name, version, len, crc) in [
        ("field", 2, 108_992, 1_098_353_476),
        ("Ω", 3, 94_016, 499_657_197),
    ] {
        let bytes = encoded(fields(5000, name), 7);
        assert_eq!(
            (bytes[6], bytes.len(), crc32fast::hash(&bytes)),
            (version, len, crc)
        );
    }
}

#[test]
fn content_is_counted_or_refused() {
    let parse = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
        let len = u16::try_from(text.len()).unwrap().to_le_bytes();
        let file = [b"\x93NUMPY\x01\x00", len.as_slice(), text.as_bytes()].concat();
        NpyHeader::parse(&file).map(|(header, _)| header.content_len().unwrap())
    };
    assert_eq!(parse("()"), Ok(8));
    assert_eq!(parse("(3, 4)"), Ok(96));
    assert_eq!(parse("(0, 2305843009213693951)"), Ok(0));
    assert_eq!(
        parse("(2305843009213693951,)"),
        Ok(18_446_744_073_709_551_608)
    );
    assert!(parse(&format!("({})", "1,".repeat(64))).is_ok());
    for shape in [
        "(2305843009213693952,)",
        "(0, 2305843009213693952)",
        "(4294967296, 4294967296)",
        "(18446744073709551616,)",
        "(-1,)",
        "(1.0,)",
        "('3',)",
        "3",
        "None",
        "True",
        "((3,),)",
        &format!("({})", "1,".repeat(65)),
    ] {
        assert!(parse(shape).is_err(), "{shape}");
    }
}

fn refusal(bytes: &[u8]) -> String {
    NpyHeader::parse(bytes).unwrap_err().to_string()
}

#[test]
fn what_is_no_header_is_refused() {
    let (.., sound) = HEADERS[0];
    for len in 0..sound.len() {
        assert!(NpyHeader::parse(&sound[..len]).is_err(), "{len}");
    }
    for (at, byte) in [
        (0, 0x92),
        (5, b'X'),
        (6, 0),
        (6, 4),
        (7, 1),
        (8, 0x20),
        (9, 1),
    ] {
        let mut bytes = sound.to_vec();
        bytes[at] = byte;
        assert!(NpyHeader::parse(&bytes).is_err(), "{at} {byte}");
    }
    assert!(refusal(b"PK\x03\x04").contains("[93, 4e, 55, 4d, 50, 59]"));
    assert!(refusal(b"\x93NUMPY\x02\x01\0\0\0\0").contains("version 2.1"));
    assert!(refusal(&sound[..100]).contains("byte 100 of 128"));
    let huge = b"\x93NUMPY\x02\x00\xff\xff\xff\xff";
    assert!(refusal(huge).contains("exceeds the limit"));
    let long = NpyHeader::len_of(huge).unwrap_err();
    assert!(!long.is_cut_short());
    assert!(long.to_string().contains("exceeds the limit"), "{long}");
    assert!(NpyHeader::len_of(&sound[..9]).unwrap_err().is_cut_short());
    for text in [
        "",
        "'<f8'",
        "{}",
        "{'descr': '<f8', 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'x': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f9', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', 'O')], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': __import__('os')}",
    ] {
        let len = u16::try_from(text.len()).unwrap().to_le_bytes();
        let file = [b"\x93NUMPY\x01\x00", len.as_slice(), text.as_bytes()].concat();
        assert!(NpyHeader::parse(&file).is_err(), "{text}");
    }
    assert!(refusal(b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\xff").contains("UTF-8"));
}

#[test]
fn what_no_header_can_say_is_refused() {
    let header = |dtype| NpyHeader {
        dtype,
        fortran_order: false,
        shape: vec![],
    };
    let overlapping = dtype("{'names': ['a', 'b'], 'formats': ['<i4', '<i2'], 'offsets': [0, 2]}");
    let why = header(overlapping).encode().unwrap_err().to_string();
    assert!(
        why.contains("\"b\"") && why.contains("begins before"),
        "{why}"
    );
    assert!(header(DType::OBJECT).encode().is_err());
    let long = header(fields(60_000, "a long name")).encode();
    assert!(long.unwrap_err().to_string().contains("exceeds the limit"));
}
