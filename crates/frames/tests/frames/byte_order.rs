//! Values and bytes on machines of either byte order.

use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_frames::{ArrayKind, NdArray};

const VALUES: [u16; 3] = [1, 0x0203, 0xfffe];

fn written(dtype: Option<DType>) -> NdArray {
    let builder = NdArray::builder(&[3], 2);
    let builder = match dtype {
        Some(dtype) => builder.dtype(dtype),
        // An array of the kind b2nd always stores a dtype.
        None => builder.kind(ArrayKind::Caterva),
    };
    let mut array = builder.in_memory().unwrap();
    array.write(&[0..3], &VALUES).unwrap();
    array
}

#[test]
fn values_have_the_byte_order_of_the_dtype() {
    for (dtype, bytes) in [
        (DType::U16, VALUES.map(u16::to_le_bytes)),
        (
            DType::U16.with_order(ByteOrder::Big),
            VALUES.map(u16::to_be_bytes),
        ),
    ] {
        let array = written(Some(dtype));
        assert_eq!(array.read_slice(&[0..3]).unwrap(), bytes.as_flattened());
        assert_eq!(array.to_vec::<u16>(&[0..3]).unwrap(), VALUES);
    }
}

#[test]
fn values_without_a_dtype_are_little_endian() {
    let array = written(None);
    let bytes = VALUES.map(u16::to_le_bytes);
    assert_eq!(array.read_slice(&[0..3]).unwrap(), bytes.as_flattened());
    assert_eq!(array.to_vec::<u16>(&[0..3]).unwrap(), VALUES);
}
