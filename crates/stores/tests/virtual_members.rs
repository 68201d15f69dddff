//! Frames of a store whose elements are not, or not all, in it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::Options;
use bloscpack_error::{Category, Code};
use bloscpack_frames::Frame;
use bloscpack_stores::FrameStore;

#[test]
fn a_member_of_a_store_is_what_it_is_alone() {
    let options = Options::new();
    let embedded =
        Frame::open_with(testkit::testdata("virtual").join("tree.b2e"), &options).unwrap();
    let store = FrameStore::of_frame(embedded, options).unwrap();
    let error = store.frame("lazy").unwrap().chunk(0).unwrap_err();
    assert_eq!(error.code(), Code::NotStored);
    assert_eq!(error.category(), Category::Unsupported);
    assert!(store.frame("a").unwrap().chunk(0).is_ok());
    let report = store.verify("");
    assert!(report.is_sound());
    assert!(
        report
            .warnings
            .iter()
            .any(|text| text.starts_with("lazy: 4 of 4 chunks"))
    );
}
