//! Tests of files that real tools wrote: a hole in one chunk leaves all the others.

use crate::recovery::golden::Random;
use crate::recovery::model::Model;

/// One file of every kind in `testdata`: codecs, checksums, metadata, many chunks, old layouts.
const FILES: [&str; 10] = [
    "b_many_256B.blp",
    "b_None_off_nometa_11c.blp",
    "b_oddchunk_t8.blp",
    "b_md5_off_meta_1c.blp",
    "b_sha384_off_nometa_1c.blp",
    "a2_zlib_byte_t8_1m.blp",
    "a_lz4_byte_t24.blp",
    "d_mck_sha1_zlib.blp",
    "e_maxapp_1.blp",
    "devms_nometa.blp",
];

#[test]
fn real_files() {
    let mut cases = 0;
    for name in FILES {
        let path = testkit::testdata("bloscpack").join(name);
        let model = Model::of(name, &std::fs::read(path).unwrap());
        let mut random = Random::new(7);
        model.check();
        for _ in 0..30 {
            let chunks = model.chunks();
            let chunk = chunks[random.below(chunks.len())].clone();
            let mut damaged = model.clone();
            let from = chunk.start + random.below(chunk.len());
            let len = (1 + random.below(600)).min(model.len() - from);
            damaged.overwrite(from, &vec![0xa5; len]);
            damaged.name = format!("{name}: hole at {from}, {len}");
            cases += usize::from(damaged.check().is_some());
            if model.checked {
                let mut headless = model.clone();
                headless.overwrite(0, &[0xa5; 32]);
                headless.name = format!("{name}: no header");
                assert!(headless.check().is_some_and(|report| report.header_lost));
            }
        }
    }
    assert!(cases > 100, "{cases}");
}
