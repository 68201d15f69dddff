//! Tests of properties that hold for any type and any bytes.

use super::table::NUMPY;
use crate::DType;
use proptest::prelude::*;
use proptest::sample::select;

fn known() -> impl Strategy<Value = DType> {
    let texts: Vec<_> = NUMPY.iter().map(|(_, str, ..)| *str).collect();
    select(texts).prop_map(|text| DType::parse(text).unwrap())
}

/// Bytes, many of which are zeros, digits and letters.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0), b'0'..=b'z', any::<u8>()]
}

/// Types that are elements one by one: no objects, whose bytes are nothing, and no fields that
/// overlap, of which the last is what counts.
fn is_plain(dtype: &DType) -> bool {
    !dtype.has_object() && dtype.descr().is_ok()
}

/// An element of these bytes, over and over.
fn element(dtype: &DType, bytes: &[u8]) -> Vec<u8> {
    let itemsize = usize::try_from(dtype.itemsize()).unwrap();
    bytes.iter().copied().cycle().take(itemsize).collect()
}

fn text_of(dtype: &DType, element: &[u8]) -> String {
    let mut text = String::new();
    dtype.write_text(element, &mut text);
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_with_errors_are_refused_or_sound(
        row in select(NUMPY.as_slice()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z<>|\\[\\](){}',: \\\\TN-]{0,3}"), 1..4),
    ) {
        for text in [row.0, row.1] {
            let mut chars: Vec<char> = text.chars().collect();
            for (at, new) in &changes {
                let at = at.index(chars.len());
                chars.splice(at..=at, new.chars());
                chars.push(' ');
            }
            let text: String = chars.iter().collect();
            if let Ok(dtype) = DType::parse(text.trim()) {
                let back = DType::parse(&dtype.to_string()).unwrap();
                prop_assert_eq!(back.to_string(), dtype.to_string());
                prop_assert_eq!(back.itemsize(), dtype.itemsize());
                prop_assert_eq!(back.descr(), dtype.descr());
            }
        }
    }

    #[test]
    fn any_element_is_text_that_is_the_same_element(
        dtype in known().prop_filter("plain", is_plain),
        bytes in prop::collection::vec(byte(), 1..200),
    ) {
        let element = &element(&dtype, &bytes);
        let mut back = element.clone();
        let text = text_of(&dtype, element);
        dtype.parse_text(&text, &mut back).unwrap();
        prop_assert_eq!(text_of(&dtype, &back), text);

        let value = dtype.value(element);
        dtype.from_value(&value, &mut back).unwrap();
        prop_assert_eq!(dtype.value(&back), value);
    }

    #[test]
    fn elements_mean_the_same_in_either_order(
        dtype in known().prop_filter("plain", is_plain),
        bytes in prop::collection::vec(byte(), 1..200),
    ) {
        let original = element(&dtype, &bytes);
        let mut elements = original.clone();
        let value = dtype.value(&elements);
        dtype.to_little(&mut elements);
        let little = dtype.clone().with_order(crate::ByteOrder::Little);
        // Bytes that are not text are shown in their stored order.
        if !value.to_string().contains("{\"hex\":") {
            prop_assert_eq!(little.value(&elements), value);
        }
        dtype.to_little(&mut elements);
        prop_assert_eq!(elements, original);
    }
}
