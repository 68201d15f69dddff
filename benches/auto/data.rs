//! The data to compress.

use super::oracle::{Kind, Random};

/// Bytes that use only a few of their bits.
pub const NARROW: &str = "narrow bytes";

/// Data of one kind.
pub struct Data {
    pub name: &'static str,
    pub typesize: u8,
    pub bytes: Vec<u8>,
}

/// The six kinds of the comparison.
pub fn all(len: usize) -> Vec<Data> {
    let of = |name, kind: Kind| Data {
        name,
        typesize: kind.typesize(),
        bytes: kind.data(&mut Random::new(31), len),
    };
    vec![
        of("float64 walk", Kind::Walk),
        of("int64 ramp", Kind::Ramp),
        of("uint16 sensor", Kind::Sensor),
        field(len),
        of("text", Kind::Text),
        of("noise", Kind::Noise),
    ]
}

/// The six kinds, and more whose streams have other densities.
pub fn for_calibration(len: usize) -> Vec<Data> {
    let mut data = all(len);
    data.push(Data {
        name: "uint32 sparse",
        typesize: 4,
        bytes: Kind::Sparse.data(&mut Random::new(31), len),
    });
    for bits in [1, 2, 3, 5, 7] {
        data.push(narrow(bits, len));
    }
    data
}

/// float32 temperatures over a grid of 1024 points per row, with noise in the last digits.
fn field(len: usize) -> Data {
    let mut random = Random::new(31);
    let mut bytes = Vec::with_capacity(len + 4);
    let mut point = 0_u32;
    while bytes.len() < len {
        let (x, y) = (f64::from(point % 1024), f64::from(point / 1024));
        let noise = (random.next() >> 40) as f64 / f64::from(1 << 24);
        let value = 280.0 + 15.0 * (x / 97.0).sin() * (y / 63.0).cos() + noise / 50.0;
        bytes.extend_from_slice(&(value as f32).to_le_bytes());
        point += 1;
    }
    bytes.truncate(len);
    Data {
        name: "float32 field",
        typesize: 4,
        bytes,
    }
}

/// Bytes with noise in the lowest bits and zeros above.
fn narrow(bits: u32, len: usize) -> Data {
    let mut random = Random::new(31);
    let bytes = std::iter::repeat_with(|| (random.next() >> 32) as u8 >> (8 - bits));
    Data {
        name: NARROW,
        typesize: 1,
        bytes: bytes.take(len).collect(),
    }
}
