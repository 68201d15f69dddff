//! Calls that crash C-Blosc return an error here.

use std::ptr::{null, null_mut};

use crate::compress::{blosc_compress, blosc_compress_ctx};
use crate::decompress::{blosc_decompress, blosc_decompress_ctx, blosc_getitem};
use crate::{global, header, names};

#[test]
fn null_pointers_are_refused() {
    let mut out = [0_u8; 100];
    let dest = out.as_mut_ptr().cast();
    let name = c"lz4".as_ptr();
    // SAFETY: every pointer is null or valid for the length given with it.
    unsafe {
        assert_eq!(blosc_compress(5, 1, 4, 10, null(), dest, 100), -1);
        assert_eq!(blosc_compress(5, 1, 4, 0, null(), null_mut(), 100), -1);
        assert_eq!(
            blosc_compress_ctx(5, 1, 4, 10, null(), dest, 100, name, 0, 1),
            -1
        );
        assert_eq!(
            blosc_compress_ctx(5, 1, 4, 0, null(), dest, 100, null(), 0, 1),
            -5
        );
        assert_eq!(
            blosc_compress_ctx(5, 1, 0, 0, null(), dest, 100, name, 0, 1),
            -10
        );
        assert_eq!(
            blosc_compress_ctx(5, 1, 4, 0, null(), dest, 100, name, 0, 1),
            16
        );
        assert_eq!(blosc_decompress(null(), dest, 100), -1);
        assert_eq!(blosc_decompress_ctx(null(), dest, 100, 1), -1);
        assert_eq!(blosc_getitem(null(), 0, 1, dest), -1);
        assert_eq!(global::blosc_set_compressor(null()), -1);
        global::blosc_set_compressor(c"blosclz".as_ptr());
        assert_eq!(names::blosc_compname_to_compcode(null()), -1);
        assert_eq!(names::blosc_compcode_to_compname(1, null_mut()), 1);
        assert_eq!(
            names::blosc_get_complib_info(null(), null_mut(), null_mut()),
            -1
        );
        assert_eq!(header::blosc_cbuffer_validate(null(), 100, null_mut()), -1);
        header::blosc_cbuffer_sizes(null(), null_mut(), null_mut(), null_mut());
        header::blosc_cbuffer_metainfo(null(), null_mut(), null_mut());
        header::blosc_cbuffer_versions(null(), null_mut(), null_mut());
        assert!(header::blosc_cbuffer_complib(null()).is_null());
    }
}
