//! Boxes of elements in vectors, element by element.

use std::ops::Range;

/// Where each element of a box begins, in C order.
fn places(shape: &[u64], item: usize, wanted: &[Range<u64>]) -> Vec<usize> {
    let mut places = vec![0u64];
    for (side, range) in shape.iter().zip(wanted) {
        let next = |place: &u64| {
            let row = place * side;
            range.clone().map(move |at| row + at)
        };
        places = places.iter().flat_map(next).collect();
    }
    places.iter().map(|place| *place as usize * item).collect()
}

pub fn get(bytes: &[u8], shape: &[u64], item: usize, wanted: &[Range<u64>]) -> Vec<u8> {
    let places = places(shape, item, wanted);
    let elements = places.iter().flat_map(|at| &bytes[*at..at + item]);
    elements.copied().collect()
}

pub fn set(bytes: &mut [u8], shape: &[u64], item: usize, wanted: &[Range<u64>], new: &[u8]) {
    let places = places(shape, item, wanted);
    for (at, element) in places.iter().zip(new.chunks(item)) {
        bytes[*at..at + item].copy_from_slice(element);
    }
}

/// Bytes of a box.
pub fn len(item: usize, wanted: &[Range<u64>]) -> usize {
    let sides = wanted
        .iter()
        .map(|range| (range.end - range.start) as usize);
    sides.product::<usize>() * item
}
