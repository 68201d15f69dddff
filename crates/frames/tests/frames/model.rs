//! Tests that arrays created and changed in any way have the content of `ndarray`'s, in each storage, and frames that
//! of vectors.
//!
//! `BLOSCPACK_MODEL_CASES=100000` tries more of each.

use crate::frame_model::{Place, run, run_plain};
use proptest::prelude::*;

fn config(share: u32) -> ProptestConfig {
    ProptestConfig {
        cases: testkit::effort::models(2000) / share,
        max_shrink_iters: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn making() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 48)
}

fn steps() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 20), 1..14)
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn an_array_in_memory_is_as_one_of_ndarray(making in making(), steps in steps(), lasts: bool) {
        run(&making, &steps, if lasts { Place::Memory } else { Place::Nowhere });
    }

    #[test]
    fn an_array_in_a_store_is_as_one_of_ndarray(making in making(), steps in steps()) {
        run(&making, &steps, Place::Store);
    }

    #[test]
    fn a_frame_is_as_vectors(making in making(), steps in steps()) {
        run_plain(&making, &steps);
    }
}

proptest! {
    // A disk takes its time.
    #![proptest_config(config(8))]

    #[test]
    fn an_array_in_a_file_is_as_one_of_ndarray(making in making(), steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        run(&making, &steps, Place::File(folder.path().to_owned()));
    }

    #[test]
    fn an_array_in_a_directory_is_as_one_of_ndarray(making in making(), steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        run(&making, &steps, Place::Folder(folder.path().to_owned()));
    }
}
