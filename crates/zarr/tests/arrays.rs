//! Arrays and groups in stores: written, read, damaged.

#![allow(
    clippy::unwrap_used,
    clippy::single_range_in_vec_init,
    reason = "a test fails by panicking, and reads slices of one axis"
)]

use bloscpack::Options;
use bloscpack_array::{Array, Grid};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::{Category, Code, Error, Result};
use bloscpack_storage::{Key, Memory};
use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrArray, ZarrGroup, ZarrNode, create_group};
use serde_json::json;
use std::ops::Range;
use std::sync::Arc;

/// Elements 0, 1, 2, ... of an array of this shape, in C order.
struct Counted {
    grid: Grid,
    /// Whether whole chunks are there as chunks of Blosc.
    has_chunks: bool,
}

impl Counted {
    fn new(shape: &[u64], chunk: &[u64], has_chunks: bool) -> Self {
        let grid = Grid::new(shape.to_vec(), chunk.to_vec());
        Self { grid, has_chunks }
    }

    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        let mut at: Vec<u64> = slice.iter().map(|range| range.start).collect();
        let mut data = Vec::new();
        if slice.iter().any(Range::is_empty) {
            return Ok(data);
        }
        loop {
            let number = at
                .iter()
                .zip(self.grid.shape())
                .fold(0, |number, (at, len)| number * len + at);
            data.extend_from_slice(&u16::try_from(number).unwrap().to_le_bytes());
            let mut axis = at.len();
            loop {
                if axis == 0 {
                    return Ok(data);
                }
                axis -= 1;
                at[axis] += 1;
                if at[axis] < slice[axis].end {
                    break;
                }
                at[axis] = slice[axis].start;
            }
        }
    }
}

impl Array for Counted {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dtype(&self) -> &DType {
        const DTYPE: &DType = &DType::U16;
        DTYPE
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(&self.read(slice)?);
        Ok(())
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let slice: Vec<Range<u64>> = at
            .iter()
            .zip(self.grid.chunk_shape())
            .map(|(at, len)| at * len..(at + 1) * len)
            .collect();
        if self.has_chunks {
            Ok(Some(blosc1::compress(
                &self.read(&slice)?,
                blosc1::ChunkSettings::default().typesize(2),
            )?))
        } else {
            Ok(None)
        }
    }
}

fn open(store: &Memory) -> Result<ZarrArray> {
    let options = Options::new().threads(2);
    ZarrArray::open(Arc::new(store.clone()), &Key::root(), &options)
}

fn open_group(store: Memory, folder: &Key) -> Result<ZarrGroup> {
    match ZarrNode::open(Arc::new(store), folder, &Options::new())? {
        ZarrNode::Group(group) => Ok(group),
        ZarrNode::Array(_) => Err(Error::usage("not a group")),
    }
}

/// Every box of some arrays, in each version and order, with and without shards.
#[test]
fn what_is_written_is_read() -> Result<()> {
    for (shape, chunk) in [
        (vec![], vec![]),
        (vec![11], vec![4]),
        (vec![7, 5], vec![3, 2]),
        (vec![3, 4, 5], vec![2, 3, 6]),
        (vec![0, 3], vec![2, 2]),
    ] {
        for (format, fortran, shards, order) in [
            (Format::V2, false, 1, ByteOrder::Little),
            (Format::V2, true, 1, ByteOrder::Big),
            (Format::V3, false, 1, ByteOrder::Big),
            (Format::V3, true, 1, ByteOrder::Little),
            (Format::V3, false, 3, ByteOrder::Little),
        ] {
            if shards > 1 && shape.is_empty() {
                continue;
            }
            let store = Memory::new();
            let mut new = NewArray::new(format, DType::U16.with_order(order), &shape, &chunk);
            (new.fortran, new.chunks_per_shard, new.fill) = (fortran, shards, Some(vec![7, 9]));
            new.attributes = r#"{"unit": "m", "none": NaN}"#.to_owned();
            let source = Counted::new(&shape, &chunk, false);
            let writer = ArrayWriter::create(Arc::new(store.clone()), Key::root(), new)?;
            let counts = writer.fill_from(&source, true, 2, &mut |_| Ok(()))?;
            writer.finish()?;
            assert_eq!(counts.taken, 0);
            let array = open(&store)?;
            assert_eq!(
                (array.shape(), array.dtype().order()),
                (shape.as_slice(), order)
            );
            assert!(array.attributes().contains("\"unit\": \"m\""));
            let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
            assert_eq!(
                array.read_slice(&whole)?,
                source.read(&whole)?,
                "{format} {shape:?}"
            );
            let part: Vec<Range<u64>> = shape.iter().map(|len| len / 3..len - len / 4).collect();
            assert_eq!(
                array.read_slice(&part)?,
                source.read(&part)?,
                "{format} {part:?}"
            );
            let report = array.verify(|_| ());
            assert!(
                report.is_sound() && report.warnings.is_empty(),
                "{report:?}"
            );
            assert_eq!(report.bytes, array.nbytes());
        }
    }
    Ok(())
}

#[test]
fn whole_chunks_are_taken_as_they_are() -> Result<()> {
    for format in [Format::V2, Format::V3] {
        let store = Memory::new();
        let source = Counted::new(&[10, 4], &[3, 2], true);
        let new = NewArray::new(
            format,
            DType::U16,
            source.grid.shape(),
            source.grid.chunk_shape(),
        );
        let writer = ArrayWriter::create(Arc::new(store.clone()), Key::root(), new)?;
        let counts = writer.fill_from(&source, true, 1, &mut |_| Ok(()))?;
        writer.finish()?;
        assert_eq!((counts.taken, counts.compressed), (6, 2));
        let name = if format == Format::V2 { "1.1" } else { "c/1/1" };
        assert_eq!(store.bytes(name), source.stored(&[1, 1])?);
        assert_eq!(
            open(&store)?.read_slice(&[0..10, 0..4])?,
            source.read(&[0..10, 0..4])?
        );
    }
    Ok(())
}

/// A chunk that only Blosc 2 reads, or one with another number of bytes, is not taken.
#[test]
fn other_chunks_are_compressed_anew() -> Result<()> {
    struct Strange(Counted, Vec<u8>);
    impl Array for Strange {
        fn grid(&self) -> &Grid {
            self.0.grid()
        }

        fn dtype(&self) -> &DType {
            self.0.dtype()
        }

        fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
            self.0.read_slice_into(slice, out)
        }

        fn stored(&self, _: &[u64]) -> Result<Option<Vec<u8>>> {
            Ok(Some(self.1.clone()))
        }
    }
    let data = vec![0; 8000];
    let mut blosc2 = Vec::new();
    blosc1::Blosc2Encoder::new(blosc1::Blosc2Settings::default())?.encode(&data, &mut blosc2)?;
    let short = blosc1::compress(&data[..100], blosc1::ChunkSettings::default())?;
    for chunk in [blosc2, short] {
        let counted = Counted::new(&[8000], &[4000], false);
        let store = Memory::new();
        let new = NewArray::new(Format::V3, DType::U16, &[8000], &[4000]);
        let writer = ArrayWriter::create(Arc::new(store.clone()), Key::root(), new)?;
        let counts = writer.fill_from(&Strange(counted, chunk), true, 2, &mut |_| Ok(()))?;
        writer.finish()?;
        assert_eq!((counts.taken, counts.compressed), (0, 2));
        assert_eq!(
            open(&store)?.read_slice(&[7999..8000])?,
            7999u16.to_le_bytes()
        );
    }
    Ok(())
}

/// `zarr.json` of 8 bytes in shards of 2 chunks of 4.
fn sharded() -> (Memory, Vec<u8>) {
    let meta = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "uint8", "fill_value": 9, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [4], "codecs": ["bytes"],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}],
    });
    let mut index = Vec::new();
    for number in [0u64, 4, u64::MAX, u64::MAX] {
        index.extend_from_slice(&number.to_le_bytes());
    }
    let shard = with_crc(vec![1, 2, 3, 4], index);
    (
        Memory::from([("zarr.json", meta.to_string().into_bytes())]),
        shard,
    )
}

fn with_crc(mut chunks: Vec<u8>, index: Vec<u8>) -> Vec<u8> {
    let digest = crc32c::crc32c(&index);
    chunks.extend_from_slice(&index);
    chunks.extend_from_slice(&digest.to_le_bytes());
    chunks
}

fn with_file(store: &Memory, name: &str, bytes: Vec<u8>) -> Memory {
    let files = store
        .keys()
        .into_iter()
        .map(|key| (key.as_str().to_owned(), store.bytes(&key).unwrap()));
    files.chain([(name.to_owned(), bytes)]).collect()
}

#[test]
fn every_cut_and_every_flipped_bit_of_a_shard_is_noticed_or_harmless() -> Result<()> {
    let (store, shard) = sharded();
    let sound = open(&with_file(&store, "c/0", shard.clone()))?.read_slice(&[0..8])?;
    assert_eq!(sound, [1, 2, 3, 4, 9, 9, 9, 9]);
    for len in 0..shard.len() {
        let array = open(&with_file(&store, "c/0", shard[..len].to_vec()))?;
        assert!(array.read_slice(&[0..8]).is_err(), "cut after {len}");
        assert_eq!(array.verify(|_| ()).damages.len(), 1);
    }
    // Chunks themselves have no checksum here: only the index is covered.
    for bit in 4 * 8..shard.len() * 8 {
        let mut flipped = shard.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read = open(&with_file(&store, "c/0", flipped))?.read_slice(&[0..8]);
        assert_eq!(
            read.map_err(|error| error.category()).err(),
            Some(Category::Damaged),
            "bit {bit}"
        );
    }
    Ok(())
}

#[test]
fn an_index_that_lies_is_an_error() -> Result<()> {
    let (store, _) = sharded();
    for entry in [
        [0, 5],
        [4, 4],
        [u64::MAX, 4],
        [1, u64::MAX],
        [100, 1],
        [0, 0],
        [0, 3],
    ] {
        let mut index = Vec::new();
        for number in entry.into_iter().chain([u64::MAX, u64::MAX]) {
            index.extend_from_slice(&number.to_le_bytes());
        }
        let array = open(&with_file(&store, "c/0", with_crc(vec![1, 2, 3, 4], index)))?;
        assert!(array.read_slice(&[0..8]).is_err(), "{entry:?}");
    }
    Ok(())
}

fn array_v2(compressor: serde_json::Value, chunks: u64, chunk: Vec<u8>) -> Memory {
    let meta = json!({"zarr_format": 2, "shape": [chunks], "chunks": [chunks], "dtype": "|u1", "compressor": compressor,
        "filters": null, "fill_value": 0, "order": "C"});
    Memory::from([(".zarray", meta.to_string().into_bytes()), ("0", chunk)])
}

/// A few bytes that claim a gigabyte: an error before any memory is taken.
#[test]
fn little_data_does_not_become_much() -> Result<()> {
    for id in ["zlib", "gzip", "zstd", "lz4", "blosc"] {
        let array = open(&array_v2(json!({"id": id}), 1 << 30, vec![0x28; 40]))?;
        let error = array.read_slice(&[0..1]).unwrap_err();
        let category = error.category();
        assert!(
            matches!(
                category,
                Category::Damaged | Category::CutShort | Category::Unsupported
            ),
            "{id}: {error}"
        );
    }
    let array = open(&array_v2(json!(null), 1 << 30, vec![0; 40]))?;
    assert_eq!(
        array.read_slice(&[0..1]).unwrap_err().category(),
        Category::CutShort
    );
    let array = open(&array_v2(json!(null), 4, vec![0; 1 << 20]))?;
    assert_eq!(
        array.read_slice(&[0..1]).unwrap_err().category(),
        Category::Damaged
    );
    Ok(())
}

#[test]
fn every_cut_of_compressed_data_is_an_error() -> Result<()> {
    let data = [1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5];
    let mut gzip = vec![0; 200];
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let len = compressor.gzip_compress(&data, &mut gzip).unwrap();
    gzip.truncate(len);
    let mut lz4 = 12u32.to_le_bytes().to_vec();
    lz4.extend(lz4_flex::block::compress(&data));
    let mut zstd = vec![0; 200];
    let len = zstd_safe::compress(zstd.as_mut_slice(), &data, 1).unwrap();
    zstd.truncate(len);
    let blosc = blosc1::compress(&data, blosc1::ChunkSettings::default())?;
    for (id, chunk) in [
        ("gzip", gzip),
        ("lz4", lz4),
        ("zstd", zstd),
        ("blosc", blosc),
    ] {
        let read =
            |chunk: Vec<u8>| open(&array_v2(json!({"id": id}), 12, chunk))?.read_slice(&[0..12]);
        assert_eq!(read(chunk.clone())?, data, "{id}");
        for cut in 0..chunk.len() {
            assert!(read(chunk[..cut].to_vec()).is_err(), "{id} cut after {cut}");
        }
    }
    Ok(())
}

#[test]
fn names_never_leave_the_store() -> Result<()> {
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {},
        "consolidated_metadata": {"metadata": {"../../etc": {}, "a/../../b": {}, "": {}}}});
    let store = Memory::from([
        ("g/zarr.json", group.to_string().into_bytes()),
        ("zarr.json", b"{}".to_vec()),
    ]);
    assert_eq!(open_group(store, &Key::parse("g")?)?.members()?.len(), 0);
    Ok(())
}

#[test]
fn members_of_a_group_are_found_in_either_version() -> Result<()> {
    for format in [Format::V2, Format::V3] {
        let store = Memory::new();
        let mut files = Vec::new();
        for name in ["b", "a"] {
            let mut new = NewArray::new(format, DType::U8, &[3], &[2]);
            new.dimension_names = Some(vec!["row".to_owned()]);
            let writer = ArrayWriter::create(Arc::new(store.clone()), Key::parse(name)?, new)?;
            writer.write_chunk(&[0], &[5, 6])?;
            files.push(writer.finish()?);
        }
        create_group(
            &store,
            format,
            r#"{"title": "x"}"#,
            &files,
            &Default::default(),
        )?;
        let group = open_group(store.clone(), &Key::root())?;
        assert_eq!(
            (group.format(), group.attributes()),
            (format, r#"{"title": "x"}"#)
        );
        let members = group.members()?;
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        // As the consolidated metadata has them, which for a table is the order of its columns.
        assert_eq!(names, ["b", "a"]);
        let Some(Ok(ZarrNode::Array(array))) = members.into_iter().next().map(|(_, node)| node)
        else {
            panic!("no array");
        };
        assert_eq!(array.read_slice(&[0..3])?, [5, 6, 0]);
        let attributes = store.bytes("a/.zattrs");
        assert_eq!(attributes.is_some(), format == Format::V2);
        assert!(
            attributes.is_none_or(|text| text.windows(17).any(|part| part == b"_ARRAY_DIMENSIONS"))
        );
    }
    Ok(())
}

#[test]
fn what_zarr_has_no_place_for_is_refused() {
    for (format, dtype) in [
        (Format::V2, "O"),
        (Format::V3, "S0"),
        (Format::V3, "f16"),
        (Format::V3, "[('a', '<i4', (2,))]"),
        (Format::V3, "[('a', '>i4')]"),
        (
            Format::V2,
            "{'names': ['a', 'b'], 'formats': ['i1', '<i4'], 'offsets': [0, 4], 'itemsize': 8}",
        ),
    ] {
        let new = NewArray::new(format, DType::parse(dtype).unwrap(), &[3], &[2]);
        let error = ArrayWriter::create(Arc::new(Memory::new()), Key::root(), new).unwrap_err();
        assert_eq!(error.code(), Code::CannotStore, "{dtype}: {error}");
    }
}

/// `zarr.json`, the first of two chunks, and the elements, as zarr-python 3.4.2 has written and read them.
#[test]
fn fields_of_zarr_python_3_4_are_read() -> Result<()> {
    const META: &str = r#"{"shape": [3], "data_type": {"name": "struct", "configuration": {"fields": [
        {"name": "a", "data_type": "int16"},
        {"name": "t", "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}},
        {"name": "s", "data_type": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}},
        {"name": "n", "data_type": {"name": "struct", "configuration": {"fields": [
            {"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "bool"}]}}}]}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": {"a": -1, "t": -9223372036854775808, "s": "YWI=", "n": {"x": "Infinity", "y": true}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#;
    let elements = "010002000000000000007a000000003f00\
        ffff000000000000008061620000807f01ffff000000000000008061620000807f01";
    for (endian, chunk) in [
        (
            "little",
            "010002000000000000007a000000003f00ffff000000000000008061620000807f01",
        ),
        (
            "big",
            "000100000000000000027a003f00000000ffff800000000000000061627f80000001",
        ),
    ] {
        let store = Memory::from([
            ("zarr.json", META.replace("little", endian).into_bytes()),
            ("c/0", from_hex(chunk)),
        ]);
        let array = open(&store)?;
        let mut found = array.read_slice(&[0..3])?;
        array.dtype().to_little(&mut found);
        assert_eq!(found, from_hex(elements), "{endian}");
    }
    Ok(())
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16));
    bytes.collect::<std::result::Result<_, _>>().unwrap()
}

#[test]
fn a_slice_outside_is_an_error() -> Result<()> {
    let array = open(&array_v2(json!(null), 4, vec![1, 2, 3, 4]))?;
    for slice in [
        vec![0..5],
        vec![Range { start: 3, end: 2 }],
        vec![0..1, 0..1],
        vec![],
    ] {
        assert!(array.read_slice(&slice).is_err(), "{slice:?}");
    }
    Ok(())
}
