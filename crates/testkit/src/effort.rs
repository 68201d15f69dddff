//! How far the long searches go: crash states, property tests, matrices of bits and bytes, random models, hostile directories.
//!
//! One rule for all of them: a normal run takes a sample, the same in each run, and `BLOSCPACK_TESTS=whole` takes everything, as
//! CI does.

use std::env;
use std::sync::LazyLock;

/// Whether this run searches in full.
pub fn is_whole() -> bool {
    static WHOLE: LazyLock<bool> = LazyLock::new(|| match env::var("BLOSCPACK_TESTS").as_deref() {
        Ok("whole") => true,
        Err(env::VarError::NotPresent) | Ok("" | "sample") => false,
        other => panic!("BLOSCPACK_TESTS is whole or sample, not {other:?}"),
    });
    *WHOLE
}

/// As many as `whole`, or in a normal run one in `one_in` of them, but at least one.
pub fn cases(whole: usize, one_in: usize) -> usize {
    if is_whole() {
        whole
    } else {
        (whole / one_in).max(1)
    }
}

/// All, or in a normal run the first one and then one in `one_in`.
///
/// That is best a prime: then a sample of bits has each place in a byte, and a sample of bytes each place in a word.
pub fn sample<I: IntoIterator>(all: I, one_in: usize) -> std::iter::StepBy<I::IntoIter> {
    all.into_iter().step_by(if is_whole() { 1 } else { one_in })
}
