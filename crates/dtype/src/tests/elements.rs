//! Tests of elements converted to values and text, and back.

use super::values::{DATES, HALVES, ROUNDED};
use crate::DType;
use serde_json::{Value, json};

fn parse(text: &str) -> DType {
    DType::parse(text).unwrap()
}

fn text(dtype: &DType, element: &[u8]) -> String {
    let mut text = String::new();
    dtype.write_text(element, &mut text);
    text
}

fn from_text(dtype: &DType, text: &str) -> Result<Vec<u8>, String> {
    let mut element = vec![0xaa; usize::try_from(dtype.itemsize()).unwrap()];
    let done = dtype.parse_text(text, &mut element);
    done.map_err(|error| error.to_string()).map(|()| element)
}

fn from_value(dtype: &DType, value: &Value) -> Result<Vec<u8>, String> {
    let mut element = vec![0xaa; usize::try_from(dtype.itemsize()).unwrap()];
    let done = dtype.from_value(value, &mut element);
    done.map_err(|error| error.to_string()).map(|()| element)
}

fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<_> = digits.chars().filter_map(|c| c.to_digit(16)).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap())
        .collect()
}

/// The bytes by `np.array(...).tobytes().hex()`.
#[test]
#[rustfmt::skip]
fn elements_are_values_and_text_and_come_back() {
    for (dtype, element, value, text_of) in [
        ("bool", "01", json!(true), "true"),
        ("bool", "00", json!(false), "false"),
        ("int8", "80", json!(-128), "-128"),
        (">i2", "fffe", json!(-2), "-2"),
        ("<i4", "ffffff7f", json!(i32::MAX), "2147483647"),
        ("<i8", "0000000000000080", json!(i64::MIN), "-9223372036854775808"),
        ("|u1", "ff", json!(255), "255"),
        (">u2", "0100", json!(256), "256"),
        ("<u8", "ffffffffffffffff", json!(u64::MAX), "18446744073709551615"),
        ("<f4", "cdcccc3d", json!(0.1), "0.1"),
        (">f4", "3dcccccd", json!(0.1), "0.1"),
        ("<f4", "ffff7f7f", json!(3.402_823_5e38), "3.4028235e38"),
        ("<f8", "9a9999999999b93f", json!(0.1), "0.1"),
        ("<f8", "0000000000000080", json!(-0.0), "-0.0"),
        (">f8", "0010000000000000", json!(2.225_073_858_507_201_4e-308), "2.2250738585072014e-308"),
        ("<f2", "662e", json!(0.1), "0.1"),
        ("<c8", "0000803f000000c0", json!([1.0, -2.0]), "1.0-2.0j"),
        (">c16", "3ff00000000000004000000000000000", json!([1.0, 2.0]), "1.0+2.0j"),
        ("<c16", "9c7500883ce4377e000000000000f83f", json!([1e300, 1.5]), "1e300+1.5j"),
        ("|S4", "61620000", json!("ab"), "ab"),
        ("|S4", "00610000", json!("\0a"), "\0a"),
        ("|S4", "00000000", json!(""), ""),
        ("|S2", "c3a9", json!("é"), "é"),
        ("|S3", "ff0061", json!({"hex": "ff0061"}), r#"{"hex":"ff0061"}"#),
        ("|S12", "7b22686578223a223030227d", json!(r#"{"hex":"00"}"#), r#"{"hex":"7b22686578223a223030227d"}"#),
        ("<U2", "e9000000ac200000", json!("é€"), "é€"),
        (">U2", "0001f60000000000", json!("😀"), "😀"),
        ("<U1", "00d80000", json!({"hex": "00d80000"}), r#"{"hex":"00d80000"}"#),
        ("<M8[D]", "dd41000000000000", json!("2016-03-01"), "2016-03-01"),
        (">M8[s]", "0000000056d55d94", json!("2016-03-01T09:15:00"), "2016-03-01T09:15:00"),
        ("<M8[D]", "0000000000000080", Value::Null, ""),
        ("<M8", "0500000000000000", json!(5), "5"),
        ("<M8", "e803000000000000", json!(1000), "+1000"),
        ("<M8[Y]", "5e1f000000000000", json!(8030), "+8030"),
        ("<M8[Y]", "5d1f000000000000", json!("9999"), "9999"),
        ("<M8[Y]", "ffffffffffffff7f", json!(i64::MAX), "9223372036854775807"),
        ("<M8[W]", "ffffffffffffff7f", json!(i64::MAX), "9223372036854775807"),
        (">M8[2147483647M]", "8000000000000001", json!(-i64::MAX), "-9223372036854775807"),
        ("<m8[ns]", "ffffffffffffffff", json!(-1), "-1"),
        ("<m8[ns]", "0000000000000080", Value::Null, ""),
        ("|V3", "00ff10", json!("00ff10"), "00ff10"),
        ("<f16", "000102030405060708090a0b0c0d0e0f", json!({"hex": "000102030405060708090a0b0c0d0e0f"}), r#"{"hex":"000102030405060708090a0b0c0d0e0f"}"#),
        ("[]", "", json!({}), "{}"),
        (
            "[('a', '>i2'), ('b', [('c', 'S2'), ('d', '?')], (2,))]",
            "0102610001626300",
            json!({"a": 258, "b": [{"c": "a", "d": true}, {"c": "bc", "d": false}]}),
            r#"{"a":258,"b":[{"c":"a","d":true},{"c":"bc","d":false}]}"#,
        ),
        (
            "{'names': ['a'], 'formats': [('u1', (2, 2))], 'offsets': [1], 'itemsize': 6}",
            "000102030400",
            json!({"a": [[1, 2], [3, 4]]}),
            r#"{"a":[[1,2],[3,4]]}"#,
        ),
        ("[('a', '<f4', (0, 2)), ('b', 'S0', (3,))]", "", json!({"a": [], "b": []}), r#"{"a":[],"b":[]}"#),
    ] {
        let (dtype, element) = (parse(dtype), bytes(element));
        assert_eq!(dtype.value(&element), value, "{dtype}");
        assert_eq!(text(&dtype, &element), text_of, "{dtype}");
        assert_eq!(from_value(&dtype, &value).as_ref(), Ok(&element), "{dtype} {value}");
        assert_eq!(from_text(&dtype, text_of).as_ref(), Ok(&element), "{dtype} {text_of}");
    }
}

#[test]
fn floats_that_are_not_finite_are_words_and_null() {
    for (dtype, element, text_of, value) in [
        ("<f2", "007e", "nan", Value::Null),
        ("<f2", "007c", "inf", json!("inf")),
        ("<f4", "000080ff", "-inf", json!("-inf")),
        (">f8", "7ff8000000000000", "nan", Value::Null),
        ("<f8", "000000000000f07f", "inf", json!("inf")),
    ] {
        let (dtype, element) = (parse(dtype), bytes(element));
        assert_eq!(dtype.value(&element), value);
        assert_eq!(text(&dtype, &element), text_of);
        assert_eq!(from_text(&dtype, text_of).unwrap(), element);
        assert_eq!(from_value(&dtype, &json!(text_of)).unwrap(), element);
        let nan = from_value(&dtype, &Value::Null).unwrap();
        assert_eq!(text(&dtype, &nan), "nan");
    }
    let complex = parse("<c8");
    let element = bytes("0000c07f000080ff");
    assert_eq!(complex.value(&element), json!([null, "-inf"]));
    assert_eq!(
        from_value(&complex, &json!([null, "-inf"])).unwrap(),
        element
    );
    assert_eq!(text(&complex, &element), "nan-infj");
    assert_eq!(from_text(&complex, "nan-infj").unwrap(), element);
    assert_eq!(from_text(&complex, "").unwrap(), bytes("0000c07f0000c07f"));
}

#[test]
fn dates_are_those_of_numpy() {
    for (count, unit, spelled) in DATES {
        let dtype = parse(&format!("datetime64[{unit}]"));
        let element = count.to_le_bytes();
        assert_eq!(dtype.value(&element), json!(spelled), "{count} {unit}");
        assert_eq!(
            from_text(&dtype, spelled).unwrap(),
            element,
            "{spelled} {unit}"
        );
        let big = parse(&format!(">M8[{unit}]"));
        assert_eq!(text(&big, &count.to_be_bytes()), spelled);
        assert_eq!(
            from_value(&big, &json!(spelled)).unwrap(),
            count.to_be_bytes()
        );
    }
}

/// Over 800 years, each day directly follows the previous one in a calendar that only counts.
#[test]
fn days_follow_each_other() {
    let (dtype, mut date) = (parse("datetime64[D]"), (1599, 12, 31));
    for count in -135_140_i64..157_055 {
        let (year, month, day) = date;
        let is_leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
        let february = if is_leap { 29 } else { 28 };
        let days = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
        date = match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            _ if day == days => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
        let (year, month, day) = date;
        let expected = format!("{year:04}-{month:02}-{day:02}");
        assert_eq!(text(&dtype, &count.to_le_bytes()), expected);
        assert_eq!(from_text(&dtype, &expected).unwrap(), count.to_le_bytes());
    }
    assert_eq!(date, (2400, 1, 1));
}

#[test]
fn times_are_read_in_other_spellings_and_lose_nothing() {
    let count = |unit: &str, text: &str| {
        let element = from_text(&parse(&format!("M8[{unit}]")), text)?;
        Ok::<_, String>(i64::from_le_bytes(element.try_into().unwrap()))
    };
    for (unit, text, expected) in [
        ("s", "2016", 1_451_606_400),
        ("s", "2016-03", 1_456_790_400),
        ("s", "2016-03-01", 1_456_790_400),
        ("s", "2016-03-01 09", 1_456_822_800),
        ("s", " 2016-03-01T09:15Z ", 1_456_823_700),
        ("ms", "2016-03-01T09:15:00.5", 1_456_823_700_500),
        ("s", "2016-03-01T09:15:00.000", 1_456_823_700),
        ("D", "2016-03-01T00:00", 16_861),
        ("M", "2016-03-01", 554),
        ("Y", "2016-01-01", 46),
        ("Y", "-0044", -2014),
        ("s", "1456823700", 1_456_823_700),
        ("s", "-1", -1),
        ("s", "+2016", 2016),
        ("generic", "2016", 2016),
        ("generic", "-5", -5),
        ("ns", "", i64::MIN),
        ("ns", "NaT", i64::MIN),
    ] {
        assert_eq!(count(unit, text), Ok(expected), "{unit} {text}");
    }
    for (unit, text) in [
        ("s", "2016-03-01T09:15:00.5"),
        ("D", "2016-03-01T09"),
        ("M", "2016-03-02"),
        ("Y", "2016-03"),
        ("W", "2016-03-01"),
        ("25s", "1970-01-01T00:00:01"),
        ("ns", "2262-04-12"),
        ("ns", "9999"),
        ("s", "2016-02-30"),
        ("s", "2015-02-29"),
        ("s", "1900-02-29"),
        ("s", "2016-13"),
        ("s", "2016-00-01"),
        ("s", "2016-03-01T24"),
        ("s", "2016-03-01T23:60"),
        ("s", "2016-03-01T23:59:60"),
        ("s", "2016-03-01T"),
        ("s", "2016-03-01T9"),
        ("s", "2016-03T09"),
        ("ms", "2016-03-01T09:15.5"),
        ("ms", "2016-03-01T09:15:00."),
        ("as", "1970-01-01T00:00:00.1234567890123456789"),
        ("s", "2016-03-01T09:15:00+01:00"),
        ("s", "2016-3-1"),
        ("s", "16-03-01"),
        ("s", "2016-03-01-01"),
        ("s", "--2016"),
        ("s", "+"),
        ("s", "-"),
        ("s", "today"),
        ("s", "9223372036854775808"),
        ("s", "²016"),
        ("generic", "2016-03-01"),
    ] {
        assert!(count(unit, text).is_err(), "{unit} {text}");
    }
    assert!(from_text(&parse("m8[s]"), "1.5").is_err());
    assert!(from_text(&parse("m8[s]"), "2016-03-01").is_err());
}

#[test]
fn floats_of_two_bytes_are_those_of_numpy() {
    for (bits, number, shortest) in HALVES {
        let element = bits.to_le_bytes();
        let spelled: f64 = text(&DType::F16, &element).parse().unwrap();
        assert_eq!(spelled, shortest.parse::<f64>().unwrap(), "{bits:#x}");
        let exact = from_text(&DType::F16, &number.to_string()).unwrap();
        assert_eq!(exact, element, "{number}");
    }
    for (number, bits) in ROUNDED {
        let found = from_text(&DType::F16, &format!("{number:e}"));
        if f64::abs(number) >= 65_520.0 {
            assert!(found.unwrap_err().contains("too large"))
        } else {
            assert_eq!(found.unwrap(), bits.to_le_bytes(), "{number}")
        }
    }
    for bits in 0..=u16::MAX {
        let element = bits.to_le_bytes();
        let back = from_text(&DType::F16, &text(&DType::F16, &element)).unwrap();
        let is_nan = bits & 0x7fff > 0x7c00;
        assert!(is_nan || back == element, "{bits:#x}");
    }
}

#[test]
#[rustfmt::skip]
fn other_spellings_of_values_are_read() {
    for (dtype, text, expected) in [
        ("bool", "True", "01"),
        ("bool", "0", "00"),
        ("u1", " +7 ", "07"),
        ("<f4", "1", "0000803f"),
        ("<f4", "-1e-3", "6f1283ba"),
        ("<f8", "Infinity", "000000000000f07f"),
        ("<c8", "(1+2j)", "0000803f00000040"),
        ("<c8", "1e0", "0000803f00000000"),
        ("<c8", "1e-3-2e+0j", "6f12833a000000c0"),
        ("<c8", "-2j", "00000000000000c0"),
        ("|S3", "", "000000"),
        ("|V2", "FFfe", "fffe"),
    ] {
        assert_eq!(from_text(&parse(dtype), text), Ok(bytes(expected)), "{dtype} {text}");
    }
    for (dtype, value, expected) in [
        ("bool", json!(1), "01"),
        ("<i2", json!(-3.0), "fdff"),
        ("<u8", json!(9_223_372_036_854_775_808.0), "0000000000000080"),
        ("<f8", json!(7), "0000000000001c40"),
        ("<c8", json!(1.0), "0000803f00000000"),
        ("<M8[ns]", json!(0), "0000000000000000"),
        ("<M8[s]", json!(2016), "e007000000000000"),
        ("<M8", Value::Null, "0000000000000080"),
        ("|V7", json!("\0\0\0\0\0\0\0"), "00000000000000"),
        ("|V2", json!("\u{ff}a"), "ff61"),
        ("[('a', '<i4'), ('b', '<f8'), ('c', 'S5')]", json!([0, 0.0, ""]), "0000000000000000000000000000000000"),
        ("|S2", json!({"hex": "ff"}), "ff00"),
    ] {
        assert_eq!(from_value(&parse(dtype), &value), Ok(bytes(expected)), "{dtype} {value}");
    }
}

#[test]
#[rustfmt::skip]
fn what_is_no_value_is_refused() {
    for (dtype, text) in [
        ("bool", ""), ("bool", "yes"), ("bool", "2"),
        ("i1", "128"), ("i1", "-129"), ("u1", "256"), ("u1", "-1"), ("<i8", "9223372036854775808"),
        ("<u8", "18446744073709551616"), ("<i4", ""), ("<i4", "1.0"), ("<i4", "0x1"), ("<i4", "1e3"),
        ("<i8", "999999999999999999999999999999999999999999"),
        ("<f4", "1e39"), ("<f8", "1e309"), ("<f8", "1,5"), ("<f8", "1 2"), ("<f16", "1"), ("<f16", ""),
        ("<c8", "1+2"), ("<c8", "1+2j+3j"), ("<c8", "j"), ("<c8", "1e39+0j"), ("<c32", "1"),
        ("|S2", "abc"), ("|S1", "é"), ("<U2", "abc"), ("|S1", r#"{"hex":"6162"}"#),
        ("<U1", r#"{"hex":"61"}"#), ("|V2", "00"), ("|V2", "0g0g"), ("|V2", "000"), ("|V1", ""),
        ("O", "x"), ("[('a', 'i1')]", ""), ("[('a', 'i1')]", "[1"), ("[('a', 'i1')]", "[128]"),
    ] {
        assert!(from_text(&parse(dtype), text).is_err(), "{dtype} {text}");
    }
    for (dtype, value) in [
        ("bool", json!(2)), ("bool", json!("true")), ("bool", Value::Null), ("i1", json!(128)),
        ("i1", json!(0.5)), ("i1", json!("1")), ("i1", json!(true)), ("i1", Value::Null),
        ("i8", json!(1e300)), ("u1", json!(-1)), ("<f8", json!(true)), ("<f8", json!([1])),
        ("<f4", json!(1e39)), ("<c8", json!([1])), ("<c8", json!([1, 2, 3])), ("<c8", json!([1, []])),
        ("|S2", json!("abc")), ("|S2", json!(5)), ("|S2", Value::Null), ("<U1", json!("ab")),
        ("|S2", json!({"hex": "0"})), ("|S2", json!({"hex": "00", "x": 1})), ("i1", json!({"hex": "0000"})),
        ("|V2", json!("abc")), ("<M8[s]", json!(true)), ("<M8[s]", json!("x")), ("O", json!(0)),
        ("[('a', 'i1')]", json!(0)), ("[('a', 'i1')]", json!([])), ("[('a', 'i1')]", json!([1, 2])),
        ("[('a', 'i1')]", json!({"b": 1})), ("[('a', 'i1')]", json!({"a": 1, "b": 1})),
        ("[('a', 'i1', (2,))]", json!({"a": 1})), ("[('a', 'i1', (2,))]", json!({"a": [1]})),
        ("[('a', 'i1', (2, 1))]", json!({"a": [1, 2]})), ("[('a', 'i1', (0,))]", json!({"a": [1]})),
    ] {
        assert!(from_value(&parse(dtype), &value).is_err(), "{dtype} {value}");
    }
    let why = from_text(&DType::U8, "300").unwrap_err();
    assert_eq!(why, "300 is out of range for uint8, from 0 to 255");
    let why = from_value(&parse("[('a', [('b', 'i1')])]"), &json!([[128]])).unwrap_err();
    assert_eq!(why, r#"field "a": field "b": 128 is out of range for int8, from -128 to 127"#);
}

#[test]
fn elements_of_another_length_are_nothing() {
    for dtype in [
        "?",
        "<i4",
        ">f8",
        "<c8",
        "S3",
        "<U2",
        "M8[s]",
        "V4",
        "[('a', '<i4')]",
        "O",
    ] {
        let dtype = parse(dtype);
        let itemsize = usize::try_from(dtype.itemsize()).unwrap();
        for len in [0, itemsize - 1, itemsize + 1] {
            let mut element = vec![1; len];
            if len == itemsize {
                continue;
            }
            assert_eq!(dtype.value(&element), Value::Null, "{dtype} {len}");
            assert_eq!(text(&dtype, &element), "");
            assert!(dtype.parse_text("0", &mut element).is_err());
            assert!(dtype.from_value(&json!(0), &mut element).is_err());
        }
    }
    assert_eq!(parse("O").value(&[0; 8]), Value::Null);
    assert_eq!(text(&parse("O"), &[0; 8]), "");
}

/// Two thousand million empty arrays that take no bytes.
#[test]
fn arrays_without_bytes_take_no_room() {
    let dtype = parse("[('a', 'i1', (2147483647, 0)), ('b', 'S0', (2147483647,))]");
    assert_eq!(dtype.value(&[]), json!({"a": [], "b": []}));
    let huge = "[('a', [('a', [('a', 'V0', (2147483647,))], (2147483647,))], (2147483647,))]";
    assert_eq!(parse(huge).value(&[]), json!({"a": []}));
}
