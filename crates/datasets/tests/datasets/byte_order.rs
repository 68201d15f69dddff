//! Values and bytes on machines of either byte order.

use bloscpack_datasets::CArray;
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_storage::Memory;

const VALUES: [i32; 4] = [1, 0x0203_0405, -2, i32::MIN];

#[test]
fn values_have_the_byte_order_of_the_dtype() {
    let changed = [VALUES[0], 7, VALUES[2], VALUES[3]];
    for (dtype, bytes) in [
        (DType::I32, changed.map(i32::to_le_bytes)),
        (
            DType::I32.with_order(ByteOrder::Big),
            changed.map(i32::to_be_bytes),
        ),
    ] {
        let builder = CArray::builder(dtype).chunk_rows(3);
        let mut array = builder.create_in(Memory::new()).unwrap();
        array.append_values(&VALUES).unwrap();
        array.set(&[1..2], &[7]).unwrap();
        assert_eq!(array.read_rows(0..4).unwrap(), bytes.as_flattened());
        assert_eq!(array.to_vec::<i32>(0..4).unwrap(), changed);
        let mut read = [0; 4];
        array.read(&[0..4], &mut read).unwrap();
        assert_eq!(read, changed);
    }
}
