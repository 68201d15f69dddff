//! The filters and compressors that C-Blosc2 has as plug-ins decode anything to data or an error: the same data whole, by blocks
//! and in ranges. The input chooses them, and has the streams; a chunk around these is made here.

use bloscpack::blosc::{BlockShape, ChunkContext, ChunkDecoder, ShuffleMeta};

/// The filter, the compressor, and its parameter.
const CHOICES: [(u8, u8, u8); 11] = [
    (35, 1, 0),
    (34, 1, 0),
    (32, 1, 0),
    (33, 1, 0),
    (36, 1, 0),
    (0, 32, 4),
    (0, 32, 8),
    (0, 33, 253),
    (0, 34, 9),
    (0, 35, 40),
    (35, 32, 4),
];

const TYPESIZES: [u8; 6] = [1, 2, 4, 8, 3, 16];

pub fn check(input: &[u8]) {
    let Some(([choice, meta, typesize, rows, columns, blocks, order], streams)) =
        input.split_first_chunk()
    else {
        return;
    };
    let (filter, compressor, parameter) = CHOICES[usize::from(*choice) % CHOICES.len()];
    let typesize = TYPESIZES[usize::from(*typesize) % TYPESIZES.len()];
    let lengths = [
        u32::from(*rows) % 40 + 1,
        u32::from(*columns) % 40 + 1,
        u32::from(*order) % 3 + 1,
    ];
    let axes = usize::from(*order) / 3 % 3 + 1;
    let shape = BlockShape::new(&lengths[..axes]).expect("small and not empty");
    let (blocks, blocksize) = (
        u32::from(*blocks) % 3 + 1,
        shape.items() * u32::from(typesize),
    );
    let is_plug_in = compressor >= 32;
    let format = if is_plug_in { 6 } else { compressor };
    let starts = 32 + 4 * blocks;
    let ctbytes = starts + streams.len() as u32;
    // The blocks share the bytes of the first: the later ones begin where it does or inside it.
    let mut chunk = vec![5, 1, format << 5 | 0x15, typesize];
    for field in [blocksize * blocks, blocksize, ctbytes] {
        chunk.extend(field.to_le_bytes());
    }
    chunk.extend([
        filter,
        1,
        0,
        0,
        0,
        0,
        compressor,
        parameter ^ (*order & 4),
        *meta,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ]);
    for block in 0..blocks {
        let start = starts + block * (streams.len() as u32 / 3);
        chunk.extend(start.to_le_bytes());
    }
    chunk.extend(streams);
    decode(&chunk, shape, (blocksize, blocks));
}

fn decode(chunk: &[u8], shape: BlockShape, (blocksize, blocks): (u32, u32)) {
    let mut decoder = ChunkDecoder::with_max_block(1 << 20);
    decoder.set_context(ChunkContext {
        shuffle_meta: ShuffleMeta::Width,
        block_shape: Some(shape),
    });
    let mut data = vec![0xA5; (blocksize * blocks) as usize];
    let whole = decoder.decode(chunk, &mut data).is_ok();
    for block in (0..blocks).rev() {
        let mut found = vec![0x5A; blocksize as usize];
        let is_sound = decoder.decode_block(chunk, block, &mut found).is_ok();
        let start = (block * blocksize) as usize;
        assert!(
            !whole || (is_sound && found == data[start..start + found.len()]),
            "block {block}"
        );
    }
    let (start, end) = (data.len() / 3, data.len() / 2);
    let mut part = vec![0x5A; end - start];
    let is_sound = decoder.decode_range(chunk, start as u32, &mut part).is_ok();
    assert!(!whole || (is_sound && part == data[start..end]));
    // Without a shape, the same data or an error.
    decoder.set_context(ChunkContext::default());
    let mut other = vec![0x5A; data.len()];
    if decoder.decode(chunk, &mut other).is_ok() {
        assert!(whole && other == data, "a shape changes the data");
    }
}
