//! Tests of arrays with the filters and compressors that C-Blosc2 has as plug-ins, written by python-blosc2, and of those that are
//! written here. `tests/interop/plugins.py` compares many more, in both directions.

use blosc1::{FilterPipeline, FilterStep};
use bloscpack_error::{Category, Code, Error};
use bloscpack_frames::NdArray;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn manifest() -> Value {
    let path = testkit::testdata("plug_ins").join("manifest.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn names() -> Vec<String> {
    manifest()["arrays"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

#[test]
fn arrays_are_read_as_python_blosc2_reads_them() {
    let manifest = manifest();
    assert_eq!(names().len(), 11);
    for name in names() {
        let array = NdArray::open(testkit::testdata("plug_ins").join(&name)).unwrap();
        let whole = array.read_slice(&[0..60, 0..50]).unwrap();
        let digest = Sha256::digest(&whole);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(manifest["arrays"][&name], hex.as_str(), "{name}");
        let size = array.itemsize() as usize;
        let part = array.read_slice(&[17..18, 3..40]).unwrap();
        let at = (17 * 50 + 3) * size;
        assert_eq!(part, whole[at..at + 37 * size], "{name}");
    }
}

#[test]
fn damage_is_an_error_or_data_and_never_a_panic() {
    for name in names() {
        let bytes = std::fs::read(testkit::testdata("plug_ins").join(&name)).unwrap();
        for at in (0..bytes.len()).step_by(61) {
            for bit in [0, 3, 7] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                let read = NdArray::from_bytes(bytes).and_then(|array| {
                    let all: Vec<_> = array.shape().iter().map(|len| 0..(*len).min(60)).collect();
                    array.read_slice(&all)
                });
                let is_bug = |error: &Error| error.code() == Code::Bug;
                assert!(
                    !read.is_err_and(|error| is_bug(&error)),
                    "{name}: byte {at}"
                );
            }
        }
    }
}

#[test]
fn the_first_data_decides_whether_bytedelta_is_used() {
    let smooth = |i: u32| (f64::from(i) / 1000.0).sin();
    // Equal probabilities: differences are as long as the numbers.
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761));
    for (is_smooth, has_bytedelta) in [(true, true), (false, false)] {
        let data: Vec<f64> = (0..50_000)
            .map(|i| if is_smooth { smooth(i) } else { noise(i) })
            .collect();
        let builder = NdArray::of_type::<f64>(&[50_000]).filters_by_data();
        let mut array = builder.in_memory().unwrap();
        array.write(&[0..50_000], &data).unwrap();
        assert_eq!(array.frame().header().filters[5] == 35, has_bytedelta);
        let array = NdArray::from_bytes(array.to_bytes().unwrap()).unwrap();
        assert_eq!(array.to_vec::<f64>(&[0..50_000]).unwrap(), data);
    }
}

#[test]
fn chunks_may_have_different_filters() {
    let mut array = NdArray::of_type::<i32>(&[4000])
        .chunk_shape(&[1000])
        .in_memory()
        .unwrap();
    let data: Vec<i32> = (0..4000).map(|i| i * i).collect();
    array.write(&[0..2000], &data[..2000]).unwrap();
    array.flush().unwrap();
    let bytes = array.to_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    std::fs::write(&path, bytes).unwrap();
    let mut frame = bloscpack_frames::Frame::edit(&path).unwrap();
    let steps = [FilterStep::Shuffle, FilterStep::Bytedelta { streams: 4 }];
    frame
        .set_filters(FilterPipeline::new(&steps).unwrap())
        .unwrap();
    let wrong = FilterPipeline::new(&[FilterStep::CellMeans { side: 2 }]).unwrap();
    assert_eq!(
        frame.set_filters(wrong).unwrap_err().category(),
        Category::Unsupported
    );
    let mut array = NdArray::of(frame).unwrap();
    array.write(&[2000..4000], &data[2000..]).unwrap();
    array.flush().unwrap();
    drop(array);
    let array = NdArray::open(&path).unwrap();
    assert_eq!(array.frame().header().filters[4..], [1, 35]);
    assert_eq!(array.to_vec::<i32>(&[0..4000]).unwrap(), data);
}
