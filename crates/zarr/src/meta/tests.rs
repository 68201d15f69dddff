use super::{ArrayMeta, Format};
use crate::codec::{BytesCodec, Serializer};
use crate::keys::ChunkKeys;
use bloscpack_dtype::ByteOrder;
use bloscpack_error::{Category, Result};
use bloscpack_wire::Limits;
use serde_json::{Value, json};

fn v2() -> Value {
    json!({
        "zarr_format": 2, "shape": [4, 5], "chunks": [3, 2], "dtype": ">f4", "fill_value": "-Infinity", "order": "F",
        "compressor": {"id": "zstd", "level": 1}, "filters": null, "dimension_separator": "/",
    })
}

fn v3() -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [40, 30], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20, 10]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": -2, "attributes": {"unit": "m"}, "dimension_names": ["x", null], "storage_transformers": [],
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [5, 5], "index_location": "start",
            "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
        }}],
    })
}

fn parsed(value: &Value) -> Result<ArrayMeta> {
    let (text, limits) = (value.to_string(), Limits::default());
    if value["zarr_format"] == 2 {
        ArrayMeta::parse_v2(text.as_bytes(), Some(b"{\"limit\": NaN}\n"), &limits)
    } else {
        ArrayMeta::parse_v3(text.as_bytes(), &limits)
    }
}

/// The category of metadata with this value at this path.
fn category(mut value: Value, path: &str, to: Value) -> Option<Category> {
    match value.pointer_mut(path) {
        Some(place) => *place = to,
        None => value[path.trim_start_matches('/')] = to,
    }
    parsed(&value).err().map(|error| error.category())
}

#[test]
fn all_fields_of_version_2_are_read() {
    let meta = parsed(&v2()).unwrap();
    assert_eq!(
        (meta.format, meta.shape.as_slice()),
        (Format::V2, &[4, 5][..])
    );
    assert_eq!(meta.chunk_shape, [3, 2]);
    assert_eq!(
        (meta.dtype.to_string().as_str(), meta.dtype.order()),
        (">f4", ByteOrder::Big)
    );
    assert_eq!(meta.fill.unwrap(), f32::NEG_INFINITY.to_be_bytes());
    assert_eq!(meta.keys, ChunkKeys::new(false, '/'));
    assert_eq!(
        (
            meta.codecs.transpose.as_deref(),
            meta.codecs.bytes.as_slice()
        ),
        (Some(&[1, 0][..]), &[BytesCodec::Zstd][..])
    );
    assert_eq!(meta.attributes, "{\"limit\": NaN}");
}

#[test]
fn all_fields_of_version_3_are_read() {
    let meta = parsed(&v3()).unwrap();
    assert_eq!(
        (meta.format, meta.chunk_shape.as_slice()),
        (Format::V3, &[20, 10][..])
    );
    assert_eq!(meta.inner_chunk_shape(), [5, 5]);
    assert_eq!(
        (meta.dtype.to_string().as_str(), meta.fill.as_deref()),
        (">i2", Some(&[0xff, 0xfe][..]))
    );
    assert_eq!(meta.dimension_names, Some(vec![Some("x".to_owned()), None]));
    assert_eq!(meta.attributes, "{\"unit\":\"m\"}");
    assert_eq!(meta.codecs.names(), ["sharding_indexed", "bytes", "gzip"]);
    let Serializer::Sharding(shard) = meta.codecs.serializer else {
        panic!("no shards");
    };
    assert!(shard.at_start && shard.has_crc && shard.index_order == ByteOrder::Little);
}

#[test]
fn hostile_metadata_is_an_error() {
    let huge = json!([u64::MAX, u64::MAX]);
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    for (path, to, expected) in [
        ("/shape", huge.clone(), Category::Damaged),
        ("/shape", json!([1u64 << 62, 4]), Category::Damaged),
        ("/shape", json!([-1, 4]), Category::Damaged),
        ("/shape", json!([1.5, 4]), Category::Damaged),
        ("/shape", json!("4"), Category::Damaged),
        ("/shape", json!([4]), Category::Damaged),
        ("/shape", json!(vec![1; 65]), Category::Unsupported),
        ("/shape", deep, Category::Damaged),
        ("/chunks", json!([0, 2]), Category::Damaged),
        ("/chunks", huge, Category::Damaged),
        ("/chunks", json!([1 << 20, 1 << 20]), Category::OverLimit),
        ("/dtype", json!("<f3"), Category::Damaged),
        ("/dtype", json!("|O"), Category::Unsupported),
        ("/dtype", json!("|S0"), Category::Unsupported),
        ("/dtype", json!("<U999999999999"), Category::Damaged),
        (
            "/dtype",
            json!([["a", "<i4"], ["a", "<i4"]]),
            Category::Damaged,
        ),
        ("/fill_value", json!({"a": 1}), Category::Damaged),
        ("/fill_value", json!("0x1ffffffff"), Category::Damaged),
        ("/order", json!("A"), Category::Damaged),
        ("/compressor", json!({"id": "lzma"}), Category::Unsupported),
        ("/compressor", json!("zlib"), Category::Damaged),
        ("/filters", json!([{"id": "delta"}]), Category::Unsupported),
        ("/zarr_format", json!(2.5), Category::Damaged),
        ("/dimension_separator", json!("../"), Category::Damaged),
    ] {
        assert_eq!(
            category(v2(), path, to.clone()),
            Some(expected),
            "{path} {to}"
        );
    }
}

#[test]
fn hostile_metadata_of_version_3_is_an_error() {
    let shard = "/codecs/0/configuration";
    for (path, to, expected) in [
        ("/node_type", json!("dataset"), Category::Damaged),
        ("/data_type", json!("float8"), Category::Unsupported),
        ("/data_type", json!("r7"), Category::Unsupported),
        (
            "/data_type",
            json!({"name": "raw_bytes", "configuration": {"length_bytes": -1}}),
            Category::Damaged,
        ),
        (
            "/data_type",
            json!({"name": "struct", "configuration": {"fields": [["a"]]}}),
            Category::Damaged,
        ),
        (
            "/chunk_grid/name",
            json!("rectangular"),
            Category::Unsupported,
        ),
        (
            "/chunk_grid/configuration/chunk_shape",
            json!([0, 10]),
            Category::Damaged,
        ),
        (
            "/chunk_grid/configuration/chunk_shape",
            json!([7, 10]),
            Category::Damaged,
        ),
        (
            "/chunk_grid/configuration/chunk_shape",
            json!([5u64 << 36, 5 << 10]),
            Category::OverLimit,
        ),
        (
            "/chunk_key_encoding/name",
            json!("hashed"),
            Category::Unsupported,
        ),
        (
            "/chunk_key_encoding/configuration/separator",
            json!("/../"),
            Category::Damaged,
        ),
        ("/fill_value", json!("NaN"), Category::Damaged),
        ("/fill_value", json!(1 << 20), Category::Damaged),
        ("/codecs", json!([]), Category::Damaged),
        ("/codecs", json!(["gzip", "bytes"]), Category::Unsupported),
        (
            "/codecs",
            json!(["bytes", "vlen-utf8"]),
            Category::Unsupported,
        ),
        (
            "/codecs",
            json!([{"name": "transpose", "configuration": {"order": [0, 0]}}, "bytes"]),
            Category::Damaged,
        ),
        (
            "/codecs",
            json!([{"name": "transpose", "configuration": {"order": [0, 2]}}, "bytes"]),
            Category::Damaged,
        ),
        (
            "/storage_transformers",
            json!([{"name": "x"}]),
            Category::Unsupported,
        ),
        ("/dimension_names", json!(["x"]), Category::Damaged),
        (
            "/later",
            json!({"must_understand": true}),
            Category::Unsupported,
        ),
    ] {
        assert_eq!(
            category(v3(), path, to.clone()),
            Some(expected),
            "{path} {to}"
        );
    }
    assert_eq!(
        category(v3(), "/later", json!({"must_understand": false})),
        None
    );
    let index = json!(["bytes", "gzip"]);
    assert_eq!(
        category(v3(), &format!("{shard}/index_codecs"), index),
        Some(Category::Unsupported)
    );
    let inner = json!([3, 5]);
    assert_eq!(
        category(v3(), &format!("{shard}/chunk_shape"), inner),
        Some(Category::Damaged)
    );
    assert_eq!(
        category(v3(), &format!("{shard}/index_location"), json!("middle")),
        Some(Category::Damaged)
    );
}

#[test]
fn text_that_is_not_an_object_is_an_error() {
    let limits = Limits::default();
    for text in [
        &b""[..],
        b"[]",
        b"{",
        b"\xff",
        b"{\"zarr_format\": 2",
        b"null",
    ] {
        assert!(
            ArrayMeta::parse_v2(text, None, &limits).is_err(),
            "{text:?}"
        );
        assert!(ArrayMeta::parse_v3(text, &limits).is_err(), "{text:?}");
    }
    let text = v2().to_string();
    assert!(ArrayMeta::parse_v2(text.as_bytes(), Some(b"[1]"), &limits).is_err());
}

/// The fill value of this JSON text, or why there is none.
fn fill_of(mut meta: Value, text: &str) -> std::result::Result<Option<Vec<u8>>, Category> {
    meta["fill_value"] = json!("@");
    let text = meta.to_string().replace("\"@\"", text);
    let limits = Limits::default();
    let meta = if meta["zarr_format"] == 2 {
        ArrayMeta::parse_v2(text.as_bytes(), None, &limits)
    } else {
        ArrayMeta::parse_v3(text.as_bytes(), &limits)
    };
    meta.map(|meta| meta.fill).map_err(|error| error.category())
}

/// As zarr-python 3.1.6 and 3.4.2 read these, but for `bool`, which they take for true.
#[test]
fn numbers_that_only_python_writes_are_no_null() {
    let in_v2 = |dtype: Value, text: &str| {
        let mut meta = v2();
        meta["dtype"] = dtype;
        fill_of(meta, text)
    };
    let in_v3 = |dtype: Value, text: &str| {
        let mut meta = v3();
        meta["data_type"] = dtype;
        let inner = meta["codecs"][0]["configuration"]["codecs"].as_array_mut();
        inner.unwrap()[0]["configuration"]["endian"] = json!("little");
        fill_of(meta, text)
    };
    for (text, float) in [
        ("NaN", f32::NAN),
        ("\"NaN\"", f32::NAN),
        ("Infinity", f32::INFINITY),
        ("-Infinity", f32::NEG_INFINITY),
        ("1e400", f32::INFINITY),
        ("-1e400", f32::NEG_INFINITY),
    ] {
        let bytes = float.to_le_bytes().to_vec();
        assert_eq!(in_v2(json!("<f4"), text), Ok(Some(bytes.clone())), "{text}");
        assert_eq!(in_v3(json!("float32"), text), Ok(Some(bytes)), "{text}");
    }
    let both = [f32::NAN.to_le_bytes(), 1f32.to_le_bytes()].concat();
    assert_eq!(in_v2(json!("<c8"), "[NaN, 1]"), Ok(Some(both)));
    let fields = json!([["a", "<i4"], ["b", "<f8"]]);
    let two = [
        json!("|b1"),
        json!("<i4"),
        json!("<u8"),
        json!("<c8"),
        json!("|S8"),
        json!("<U8"),
        json!("|V8"),
    ];
    for dtype in two
        .into_iter()
        .chain([json!("<M8[s]"), json!("<m8[s]"), fields])
    {
        for text in ["NaN", "Infinity", "-Infinity", "1e400"] {
            let found = in_v2(dtype.clone(), text);
            assert_eq!(found, Err(Category::Damaged), "{dtype} {text}");
        }
    }
    let text = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 32}});
    for dtype in [json!("bool"), json!("int32"), json!("complex64"), text] {
        assert_eq!(
            in_v3(dtype.clone(), "NaN"),
            Err(Category::Damaged),
            "{dtype}"
        );
    }
}

/// No field takes such a number for null, which would mean that there is no compressor, filter or name.
#[test]
fn numbers_that_only_python_writes_are_damage_elsewhere() {
    for (meta, fields) in [
        (
            v2(),
            &[
                "shape",
                "chunks",
                "dtype",
                "order",
                "compressor",
                "filters",
                "dimension_separator",
            ][..],
        ),
        (
            v3(),
            &[
                "shape",
                "data_type",
                "chunk_grid",
                "chunk_key_encoding",
                "codecs",
                "attributes",
                "dimension_names",
                "storage_transformers",
            ],
        ),
    ] {
        for field in fields {
            for value in ["@", "[@]", "{\"name\": @}"] {
                if *field == "attributes" && value.starts_with('{') {
                    continue;
                }
                let mut meta = meta.clone();
                meta[field] = json!("@");
                let text = meta
                    .to_string()
                    .replace("\"@\"", &value.replace('@', "NaN"));
                let read = if meta["zarr_format"] == 2 {
                    ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default())
                } else {
                    ArrayMeta::parse_v3(text.as_bytes(), &Limits::default())
                };
                let error = read.unwrap_err();
                assert_eq!(error.category(), Category::Damaged, "{field}: {error}");
                assert!(error.to_string().contains(field), "{field}: {error}");
            }
        }
    }
}

/// As zarr-python 3.1.6 and 3.4.2 read arrays of version 2 without a fill value.
#[test]
fn times_without_a_fill_value_are_no_times() {
    let fill = |dtype: Value| {
        let mut meta = v2();
        meta["dtype"] = dtype;
        fill_of(meta, "null").unwrap()
    };
    for dtype in ["<M8[s]", "<M8[ns]", "<m8[ms]", "<M8", "<m8"] {
        assert_eq!(
            fill(json!(dtype)).unwrap(),
            i64::MIN.to_le_bytes(),
            "{dtype}"
        );
    }
    assert_eq!(fill(json!(">M8[D]")).unwrap(), i64::MIN.to_be_bytes());
    for dtype in [
        json!("|b1"),
        json!("<f8"),
        json!("<U2"),
        json!([["a", "<i4"], ["t", "<M8[s]"]]),
    ] {
        assert_eq!(fill(dtype.clone()), None, "{dtype}");
    }
    let mut missing = v2();
    missing.as_object_mut().unwrap().remove("fill_value");
    missing["dtype"] = json!("<M8[s]");
    assert_eq!(
        parsed(&missing).unwrap().fill.unwrap(),
        i64::MIN.to_le_bytes()
    );
}

/// A `struct` of an `int16` and a time, as zarr-python 3.4 writes it.
fn fields(name: &str, endian: Option<&str>) -> Value {
    let time =
        json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}});
    let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "t", "data_type": time}]);
    let mut meta = v3();
    meta["data_type"] = json!({"name": name, "configuration": {"fields": fields}});
    meta["codecs"] = match endian {
        Some(endian) => json!([{"name": "bytes", "configuration": {"endian": endian}}]),
        None => json!(["bytes"]),
    };
    meta
}

/// Bytes by zarr-python 3.4.2.
#[test]
fn fill_values_of_fields_may_be_objects() {
    let fill = |endian, text: &str| fill_of(fields("struct", endian), text);
    let nat = [0, 0, 0, 0, 0, 0, 0, 0x80];
    let element = |a: [u8; 2], t: [u8; 8]| Ok(Some([&a[..], &t].concat()));
    for (text, expected) in [
        (
            r#"{"a": 1, "t": 3}"#,
            element([1, 0], [3, 0, 0, 0, 0, 0, 0, 0]),
        ),
        (r#"{"t": "NaT", "a": 1}"#, element([1, 0], nat)),
        (r#"{"a": 1}"#, element([1, 0], nat)),
        ("{}", element([0, 0], nat)),
        (r#""AQAAAAAAAAAAgA==""#, element([1, 0], nat)),
        (r#"{"a": NaN, "t": 3}"#, Err(Category::Damaged)),
        (r#"{"a": null, "t": 3}"#, Err(Category::Damaged)),
        (r#"{"a": 1, "t": 3, "z": 1}"#, Err(Category::Damaged)),
        ("[1, 2]", Err(Category::Damaged)),
    ] {
        assert_eq!(fill(Some("little"), text), expected, "{text}");
        assert_eq!(fill(None, text), expected, "{text}");
    }
    let big = element([0, 1], [0x80, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(fill(Some("big"), r#"{"a": 1}"#), big);
    assert_eq!(fill(Some("big"), r#""AQAAAAAAAAAAgA==""#), big);
    let old = fill_of(fields("structured", Some("big")), r#""AQAAAAAAAAAAgA==""#);
    assert_eq!(old, big);
    let mut nested = v3();
    let inner = json!({"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "float32"}]}});
    nested["data_type"] =
        json!({"name": "struct", "configuration": {"fields": [{"name": "n", "data_type": inner}]}});
    nested["codecs"] = fields("struct", Some("little"))["codecs"].take();
    let text = r#"{"n": {"x": Infinity}}"#;
    assert_eq!(
        fill_of(nested, text),
        Ok(Some(f32::INFINITY.to_le_bytes().to_vec()))
    );
}

/// zarr-python 3.4.2 refuses the same.
#[test]
fn numbers_of_several_bytes_need_a_byte_order() {
    let text = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 4}});
    let time =
        json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}});
    let bytes = json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 4}});
    for (dtype, fill, expected) in [
        (json!("int16"), json!(0), Some(Category::Damaged)),
        (json!("complex64"), json!([0, 0]), Some(Category::Damaged)),
        (text, json!(""), Some(Category::Damaged)),
        (time, json!(0), Some(Category::Damaged)),
        (json!("uint8"), json!(0), None),
        (json!("bool"), json!(false), None),
        (json!("r16"), json!([0, 0]), None),
        (bytes, json!(""), None),
    ] {
        let mut meta = v3();
        (meta["data_type"], meta["fill_value"]) = (dtype.clone(), fill);
        for codec in [
            json!("bytes"),
            json!({"name": "bytes", "configuration": {"endian": null}}),
        ] {
            meta["codecs"] = json!([codec]);
            let read = parsed(&meta);
            assert_eq!(
                read.map_err(|error| error.category()).err(),
                expected,
                "{dtype}"
            );
        }
    }
    let mut index = v3();
    index["codecs"][0]["configuration"]["index_codecs"] = json!(["bytes", "crc32c"]);
    let error = parsed(&index).unwrap_err().to_string();
    assert_eq!(
        error,
        "bytes: endian: found nothing, expected little or big"
    );
}

#[test]
fn fill_values_are_read_as_each_version_spells_them() {
    let fill = |dtype: &str, value: Value| {
        let mut meta = v2();
        (meta["dtype"], meta["fill_value"]) = (json!(dtype), value);
        parsed(&meta).unwrap().fill
    };
    assert_eq!(fill("<i4", Value::Null), None);
    assert_eq!(fill("<f4", json!("NaN")).unwrap(), f32::NAN.to_le_bytes());
    assert_eq!(
        fill("<f8", json!("0x7ff8000000000001")).unwrap(),
        0x7ff8_0000_0000_0001_u64.to_le_bytes()
    );
    assert_eq!(
        fill("<c8", json!([1.5, "Infinity"])).unwrap(),
        [1.5f32.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat()
    );
    assert_eq!(fill("|b1", json!(true)).unwrap(), [1]);
    assert_eq!(fill("|S3", json!("YWI=")).unwrap(), b"ab\0");
    assert_eq!(
        fill("<U2", json!("é")).unwrap(),
        [0xe9, 0, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(fill("<M8[s]", json!(-5)).unwrap(), (-5i64).to_le_bytes());
    assert_eq!(
        fill(">m8[s]", json!("NaT")).unwrap(),
        i64::MIN.to_be_bytes()
    );
    assert_eq!(fill("|V2", json!("AQI=")).unwrap(), [1, 2]);
    let mut raw = v3();
    raw["codecs"] = json!(["bytes"]);
    (raw["data_type"], raw["fill_value"]) = (json!("r16"), json!([3, 4]));
    assert_eq!(parsed(&raw).unwrap().fill.unwrap(), [3, 4]);
}
