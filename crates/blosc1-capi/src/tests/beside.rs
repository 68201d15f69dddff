//! Our functions return what those of C-Blosc return, and each library reads the other's chunks.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};

use testkit::oracle::{Kind, Random};

use super::{Arguments, OURS, THEIRS, data};
use crate::{global, header, names};

#[test]
fn compressing_returns_the_same_and_each_reads_the_others_chunks() {
    let mut random = Random::new(61);
    for _ in 0..testkit::effort::cases(4_000, 4) {
        let arguments = Arguments::any(&mut random);
        let data = data(&mut random);
        let room = data.len() + 16 + random.pick(&[0, 1, 100]);
        let (ours, chunk) = OURS.compress(&arguments, &data, room);
        let (theirs, reference) = THEIRS.compress(&arguments, &data, room);
        assert_eq!(ours.min(0), theirs.min(0), "{arguments:?} {}", data.len());
        if ours <= 0 {
            continue;
        }
        // C-Blosc also makes blocks of less than one element.
        let theirs = u32::from_le_bytes([reference[8], reference[9], reference[10], reference[11]]);
        if data.len() >= arguments.typesize && (theirs as usize) < arguments.typesize.min(256) {
            continue;
        }
        // All of the header but whether the data was copied, and the length of the chunk.
        let mut heads = [&chunk, &reference].map(|chunk| chunk[..12].to_vec());
        for head in &mut heads {
            head[2] &= !2;
        }
        assert_eq!(heads[0], heads[1], "{arguments:?} {}", data.len());
        for chunk in [&chunk, &reference] {
            for library in [OURS, THEIRS] {
                for threads in [1, 2] {
                    let (len, back) = library.decompress(chunk, data.len() + 3, threads);
                    assert_eq!(len, data.len() as c_int, "{arguments:?}");
                    assert!(back == data, "{arguments:?}");
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_returns_0() {
    let mut random = Random::new(62);
    let noise = Kind::Noise.data(&mut random, 5000);
    for _ in 0..500 {
        let arguments = Arguments::sound(&mut random);
        for room in [0, 15, 16, 17, 5000, 5015] {
            for library in [OURS, THEIRS] {
                assert_eq!(
                    library.compress(&arguments, &noise, room).0,
                    0,
                    "{room}: {arguments:?}"
                );
            }
        }
        assert_eq!(OURS.compress(&arguments, &noise, 5016).0, 5016);
    }
}

#[test]
fn elements_are_the_same() {
    let mut random = Random::new(63);
    let mut refused = 0;
    for _ in 0..testkit::effort::cases(2_000, 4) {
        let arguments = Arguments::sound(&mut random);
        let data = data(&mut random);
        if data.is_empty() {
            continue;
        }
        let (_, chunk) = THEIRS.compress(&arguments, &data, data.len() + 16);
        let count = data.len() / arguments.typesize;
        for _ in 0..8 {
            let start = random.below(count + 3) as c_int - 1;
            let wanted = random.below(count + 3) as c_int;
            let room = wanted as usize * arguments.typesize;
            let ours = OURS.getitem(&chunk, start, wanted, room);
            let theirs = THEIRS.getitem(&chunk, start, wanted, room);
            assert_eq!(
                ours.0, theirs.0,
                "{start} {wanted} of {count}: {arguments:?}"
            );
            assert!(ours == theirs, "{start} {wanted} of {count}: {arguments:?}");
            refused += u32::from(ours.0 < 0);
        }
    }
    assert!(refused > 100);
}

#[test]
fn wrong_headers_return_the_same_numbers() {
    let data: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
    let arguments = Arguments {
        level: 5,
        shuffle: 1,
        typesize: 4,
        compressor: "lz4",
        blocksize: 0,
        threads: 1,
    };
    let (_, chunk) = THEIRS.compress(&arguments, &data, data.len() + 16);
    // C-Blosc takes a negative length for no data.
    let mut negative = chunk.clone();
    negative[7] = 0x80;
    assert_eq!(OURS.decompress(&negative, 20_000, 1).0, -1);
    let edits: [&[(usize, u8)]; 12] = [
        &[],
        &[(0, 1)],
        &[(0, 3)],
        &[(1, 2)],
        &[(2, chunk[2] | 8)],
        &[(2, chunk[2] | 0xA0)],
        &[(2, chunk[2] | 0xE0)],
        &[(2, chunk[2] | 2)],
        &[(3, 0)],
        &[(4, 0), (5, 0)],
        &[(8, 0), (9, 0), (10, 0), (11, 0)],
        &[(11, 0x80)],
    ];
    for edit in edits {
        let mut chunk = chunk.clone();
        for &(at, byte) in edit {
            chunk[at] = byte;
        }
        for room in [20_000, 19_999, 0] {
            let ours = OURS.decompress(&chunk, room, 1).0;
            assert_eq!(
                ours,
                THEIRS.decompress(&chunk, room, 1).0,
                "{edit:?} {room}"
            );
        }
        let ours = OURS.getitem(&chunk, 2, 3, 20_000).0;
        // C-Blosc reserves the flag, but does not look at it here.
        if edit != [(2, chunk[2] | 8)] {
            assert_eq!(ours, THEIRS.getitem(&chunk, 2, 3, 20_000).0, "{edit:?}");
        }
        assert_same_fields(&chunk);
    }
}

/// Compares what the functions `blosc_cbuffer_*` return.
fn assert_same_fields(chunk: &[u8]) {
    let at = chunk.as_ptr().cast();
    let (mut ours, mut theirs) = ([0_usize; 4], [0_usize; 4]);
    let (mut our_ints, mut their_ints) = ([0; 4], [0; 4]);
    // SAFETY: the chunk has at least 16 bytes, and all results have a place.
    unsafe {
        let [a, b, c, d] = &mut ours;
        let [f, v, w, r] = &mut our_ints;
        header::blosc_cbuffer_sizes(at, a, b, c);
        header::blosc_cbuffer_metainfo(at, d, f);
        header::blosc_cbuffer_versions(at, v, w);
        *r = header::blosc_cbuffer_validate(at, chunk.len(), a);
        let [a, b, c, d] = &mut theirs;
        let [f, v, w, r] = &mut their_ints;
        blosc_src::blosc_cbuffer_sizes(at, a, b, c);
        blosc_src::blosc_cbuffer_metainfo(at, d, f);
        blosc_src::blosc_cbuffer_versions(at, v, w);
        *r = blosc_src::blosc_cbuffer_validate(at, chunk.len(), a);
        let names = [
            header::blosc_cbuffer_complib(at),
            blosc_src::blosc_cbuffer_complib(at),
        ];
        let [ours, theirs] = names.map(|name| (!name.is_null()).then(|| CStr::from_ptr(name)));
        assert_eq!(ours, theirs);
    }
    assert_eq!((ours, our_ints), (theirs, their_ints));
}

#[test]
fn names_and_codes_are_the_same() {
    for code in -2..8 {
        let (mut ours, mut theirs) = (std::ptr::null(), std::ptr::null());
        // SAFETY: both results have a place; names end with a zero byte.
        unsafe {
            let result = names::blosc_compcode_to_compname(code, &mut ours);
            assert_eq!(
                result,
                blosc_src::blosc_compcode_to_compname(code, &mut theirs)
            );
            assert_eq!(ours.is_null(), theirs.is_null());
            if !ours.is_null() {
                assert_eq!(CStr::from_ptr(ours), CStr::from_ptr(theirs));
                assert_eq!(names::blosc_compname_to_compcode(ours), code);
            }
        }
    }
    // SAFETY: static strings that end with a zero byte.
    unsafe {
        let [ours, theirs] = [
            names::blosc_list_compressors(),
            blosc_src::blosc_list_compressors(),
        ];
        assert_eq!(CStr::from_ptr(ours), CStr::from_ptr(theirs));
        let ours = names::blosc_get_version_string();
        let theirs = blosc_src::blosc_get_version_string();
        assert_eq!(CStr::from_ptr(ours), CStr::from_ptr(theirs));
    }
    for name in [
        c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd", c"", c"no",
    ] {
        let info = |function: unsafe extern "C" fn(
            *const c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> c_int| {
            let (mut library, mut version) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: the name ends with a zero byte, both results have a place, and are freed as `blosc.h` says.
            unsafe {
                let code = function(name.as_ptr(), &mut library, &mut version);
                let text = (!library.is_null()).then(|| CStr::from_ptr(library).to_owned());
                assert_eq!(library.is_null(), version.is_null());
                libc::free(library.cast());
                libc::free(version.cast());
                (code, text)
            }
        };
        assert_eq!(
            info(names::blosc_get_complib_info),
            info(blosc_src::blosc_get_complib_info)
        );
    }
}

/// The settings of the process, in one test: they are global.
#[test]
fn settings_are_kept_as_in_c_blosc() {
    // SAFETY: numbers, and strings that end with a zero byte.
    unsafe {
        assert_eq!(
            global::blosc_free_resources(),
            blosc_src::blosc_free_resources()
        );
        for name in [c"zstd", c"nonsense", c"lz4"] {
            let ours = global::blosc_set_compressor(name.as_ptr());
            assert_eq!(ours, blosc_src::blosc_set_compressor(name.as_ptr()));
            let current = [
                global::blosc_get_compressor(),
                blosc_src::blosc_get_compressor(),
            ];
            assert_eq!(current[0].is_null(), current[1].is_null());
        }
        for count in [1, 4, 4, 300, -1, 1] {
            let ours = global::blosc_set_nthreads(count);
            assert_eq!(ours, blosc_src::blosc_set_nthreads(count));
            assert_eq!(
                global::blosc_get_nthreads(),
                blosc_src::blosc_get_nthreads()
            );
        }
        for size in [4096, 0, 1 << 31, 1 << 32, 0] {
            global::blosc_set_blocksize(size);
            blosc_src::blosc_set_blocksize(size);
            assert_eq!(
                global::blosc_get_blocksize(),
                blosc_src::blosc_get_blocksize()
            );
        }
        assert_eq!(
            global::blosc_free_resources(),
            blosc_src::blosc_free_resources()
        );
        global::blosc_destroy();
        blosc_src::blosc_destroy();
        assert_eq!(
            global::blosc_free_resources(),
            blosc_src::blosc_free_resources()
        );
    }
}
