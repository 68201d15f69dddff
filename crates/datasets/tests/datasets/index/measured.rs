//! Tests that statistics are those of the elements, by the orders of the standard library.

use bloscpack_datasets::{CArray, IndexEntry};
use bloscpack_dtype::DType;
use bloscpack_error::Code;
use bloscpack_storage::Memory;
use proptest::prelude::*;
use std::cmp::Ordering;

const ROWS: usize = 16;

/// The entries of an array with these elements.
fn entries(dtype: &str, elements: &[Vec<u8>]) -> Vec<IndexEntry> {
    let dtype = DType::parse(dtype).unwrap();
    let mut array = CArray::builder(dtype)
        .chunk_rows(ROWS as u64)
        .index(true)
        .create_in(Memory::new())
        .unwrap();
    array.append(&elements.concat()).unwrap();
    array.flush().unwrap();
    let index = array.index().unwrap().unwrap();
    assert_eq!(index.len() as usize, elements.len().div_ceil(ROWS));
    (0..index.len())
        .map(|number| index.entry(number).unwrap().clone())
        .collect()
}

/// Compares the statistics with those of the elements. `bytes` spells one; `is_null` and `is_ordered` sort them out.
fn compare<T: Copy>(
    dtype: &str,
    values: &[T],
    bytes: impl Fn(T) -> Vec<u8>,
    order: impl Fn(&T, &T) -> Ordering,
    (is_null, is_ordered): (impl Fn(T) -> bool, impl Fn(T) -> bool),
) {
    let elements: Vec<Vec<u8>> = values.iter().map(|value| bytes(*value)).collect();
    let found = entries(dtype, &elements);
    for (entry, values) in found.iter().zip(values.chunks(ROWS)) {
        let ordered: Vec<T> = values.iter().copied().filter(|v| is_ordered(*v)).collect();
        let nulls = values.iter().filter(|value| is_null(**value)).count();
        assert_eq!(entry.rows as usize, values.len());
        assert_eq!(entry.nulls as usize, nulls, "{dtype}");
        let least = ordered.iter().copied().min_by(&order).map(&bytes);
        let greatest = ordered.iter().copied().max_by(&order).map(&bytes);
        assert_eq!((&entry.min, &entry.max), (&least, &greatest), "{dtype}");
        let all = ordered.len() == values.len();
        let is_sorted = |wrong| {
            let mut pairs = values.windows(2);
            all && pairs.all(|pair| order(&pair[0], &pair[1]) != wrong)
        };
        assert_eq!(entry.ascending, is_sorted(Ordering::Greater), "{dtype}");
        assert_eq!(entry.descending, is_sorted(Ordering::Less), "{dtype}");
    }
}

macro_rules! both_orders {
    ($code:literal, $values:expr, $order:expr, $null:expr, $ordered:expr) => {{
        let checks = || ($null, $ordered);
        compare(
            concat!("<", $code),
            $values,
            |v| v.to_le_bytes().to_vec(),
            $order,
            checks(),
        );
        compare(
            concat!(">", $code),
            $values,
            |v| v.to_be_bytes().to_vec(),
            $order,
            checks(),
        );
    }};
}

/// A half as a number; its NaN keep sign and payload in the order.
fn half_order(one: &u16, other: &u16) -> Ordering {
    let key = |bits: u16| {
        let magnitude = i32::from(bits & 0x7fff);
        if bits >> 15 == 1 {
            -magnitude - 1
        } else {
            magnitude
        }
    };
    key(*one).cmp(&key(*other))
}

fn floats() -> impl Strategy<Value = Vec<f64>> {
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        1.5,
    ]);
    let one = prop_oneof![
        special,
        -10.0..10.0f64,
        any::<u64>().prop_map(f64::from_bits)
    ];
    let runs = prop_oneof![Just(0), Just(1), Just(2)];
    (prop::collection::vec(one, 1..50), runs).prop_map(|(mut values, run)| {
        match run {
            1 => values.sort_by(f64::total_cmp),
            2 => values.sort_by(|one, other| other.total_cmp(one)),
            _ => {}
        }
        values
    })
}

fn no<T>(_: T) -> bool {
    false
}

fn yes<T>(_: T) -> bool {
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::effort::cases(200, 10) as u32))]

    #[test]
    fn floats_are_in_total_order(values in floats()) {
        both_orders!("f8", &values, f64::total_cmp, |v: f64| v.is_nan(), yes);
        let singles: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        both_orders!("f4", &singles, f32::total_cmp, |v: f32| v.is_nan(), yes);
        let halves: Vec<u16> = values.iter().map(|v| (v.to_bits() >> 48) as u16).collect();
        let is_nan = |bits: u16| bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0;
        both_orders!("f2", &halves, half_order, is_nan, yes);
    }

    #[test]
    fn integers_and_times_are_in_their_order(
        mut values in prop::collection::vec(prop_oneof![Just(i64::MIN), any::<i64>(), -5..5i64], 1..50),
        sorted: bool,
    ) {
        if sorted {
            values.sort_unstable();
        }
        both_orders!("i8", &values, i64::cmp, no, yes);
        let is_nat = |v: i64| v == i64::MIN;
        let is_time = |v: i64| v != i64::MIN;
        both_orders!("M8[ns]", &values, i64::cmp, is_nat, is_time);
        both_orders!("m8[25us]", &values, i64::cmp, is_nat, is_time);
        let unsigned: Vec<u64> = values.iter().map(|v| *v as u64).collect();
        both_orders!("u8", &unsigned, u64::cmp, no, yes);
        let shorter: Vec<i32> = values.iter().map(|v| *v as i32).collect();
        both_orders!("i4", &shorter, i32::cmp, no, yes);
        let shorter: Vec<u32> = values.iter().map(|v| *v as u32).collect();
        both_orders!("u4", &shorter, u32::cmp, no, yes);
        let shorter: Vec<i16> = values.iter().map(|v| *v as i16).collect();
        both_orders!("i2", &shorter, i16::cmp, no, yes);
        let shorter: Vec<u16> = values.iter().map(|v| *v as u16).collect();
        both_orders!("u2", &shorter, u16::cmp, no, yes);
        let shorter: Vec<i8> = values.iter().map(|v| *v as i8).collect();
        both_orders!("i1", &shorter, i8::cmp, no, yes);
        let bytes: Vec<u8> = values.iter().map(|v| *v as u8).collect();
        both_orders!("u1", &bytes, u8::cmp, no, yes);
        let bits: Vec<u8> = bytes.iter().map(|v| *v & 1).collect();
        both_orders!("b1", &bits, u8::cmp, no, yes);
    }

    #[test]
    fn texts_are_compared_without_the_zeros_at_their_end(
        texts in prop::collection::vec("[a-c\u{e9}\u{20ac}\u{10348}\u{1}]{0,3}", 1..50)
    ) {
        let chars = |text: &str, spell: fn(u32) -> [u8; 4]| {
            let mut bytes: Vec<u8> = text.chars().flat_map(|c| spell(c.into())).collect();
            bytes.resize(12, 0);
            bytes
        };
        // The order of texts in Rust is that of their code points.
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        compare("<U3", &texts, |text| chars(text, u32::to_le_bytes), |a, b| a.cmp(b), (no, yes));
        compare(">U3", &texts, |text| chars(text, u32::to_be_bytes), |a, b| a.cmp(b), (no, yes));
        let spell = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(12, 0);
            bytes
        };
        compare("S12", &texts, spell, |a, b| a.as_bytes().cmp(b.as_bytes()), (no, yes));
    }
}

#[test]
fn a_superchunk_of_nothing_but_nat_has_no_bounds() {
    let nat = i64::MIN.to_le_bytes().to_vec();
    let found = entries("<M8[D]", &vec![nat; 20]);
    assert_eq!(found.len(), 2);
    for (entry, rows) in found.iter().zip([16, 4]) {
        assert_eq!((entry.nulls, &entry.min, &entry.max), (rows, &None, &None));
        assert!(!entry.ascending && !entry.descending);
    }
}

#[test]
fn nan_is_the_greatest_and_minus_zero_is_less_than_zero() {
    let spell = |values: &[f64]| -> Vec<Vec<u8>> {
        let bytes = values.iter().map(|value| value.to_le_bytes().to_vec());
        bytes.collect()
    };
    let [entry] = &entries("<f8", &spell(&[0.0, f64::NAN, -0.0]))[..] else {
        panic!("one superchunk");
    };
    assert_eq!(entry.nulls, 1);
    assert_eq!(entry.min, Some((-0.0f64).to_le_bytes().to_vec()));
    assert_eq!(entry.max, Some(f64::NAN.to_le_bytes().to_vec()));
    let [entry] = &entries("<f8", &spell(&[-0.0, 0.0, f64::NAN]))[..] else {
        panic!("one superchunk");
    };
    assert!(entry.ascending && !entry.descending);
}

#[test]
fn elements_without_an_order_have_no_index() {
    for (dtype, words) in [
        ("complex128", "no order"),
        ("V8", "no order"),
        ("[('a', '<i4')]", "no order"),
        ("S65", "more than 64 bytes"),
        ("U17", "more than 64 bytes"),
        ("float128", "depends on the machine"),
    ] {
        let builder = || CArray::builder(DType::parse(dtype).unwrap());
        let error = builder().index(true).create_in(Memory::new()).unwrap_err();
        assert_eq!(error.code(), Code::NoIndex);
        assert!(error.to_string().contains(words), "{error}");
        let mut array = builder().create_in(Memory::new()).unwrap();
        let error = array.update_index(|_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(array.index().unwrap().is_none());
    }
    for dtype in ["S64", "U16"] {
        let array = CArray::builder(DType::parse(dtype).unwrap()).index(true);
        assert!(array.create_in(Memory::new()).is_ok());
    }
    let rows = CArray::of::<i32>().row_shape(&[2]).index(true);
    let error = rows.create_in(Memory::new()).unwrap_err();
    assert!(error.to_string().contains("[2]"), "{error}");
}
