//! Tests of Blosc2 frames and the arrays in them: frames of the corpora are read, and others are made from `.npy`
//! files and converted into each other.

use std::fs;
use std::path::Path;

use bloscpack_open::frames::Frame as Raw;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::datasets::{copied, object};
use crate::datasets_exchanged::npy;
use crate::frame_corpora::{self, Frame};
use crate::support::{Folder, Ran, ramp};

/// A frame whose chunks this library refuses: versions of the library that wrote them read the bytes differently.
const REFUSED: &str = "filt_shuffle_meta.cat";
/// The text that identifies a frame.
const FRAME: &str = "is a Blosc2 frame";

/// The frames of `testdata` and, if unpacked, of the corpora.
fn frames() -> Vec<Frame> {
    let all = frame_corpora::all().into_iter();
    all.filter(|frame| frame.name() != REFUSED).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The elements as NumPy would write them.
fn golden(frame: &Frame) -> Option<Vec<u8>> {
    let path = format!("{}.expected.npy", frame.root.display());
    fs::read(path).ok()
}

/// The type in the header of a `.npy` file, if it is not a list of fields.
fn descr(file: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&file[..200.min(file.len())]).into_owned();
    let behind = text.split("'descr': '").nth(1)?;
    Some(behind.split('\'').next()?.to_owned())
}

fn args<'a>(words: &'a str, paths: &[&'a Path]) -> Vec<&'a std::ffi::OsStr> {
    let mut paths = paths.iter();
    let words = words.split_whitespace();
    words
        .map(|word| match word {
            "@" => paths.next().unwrap().as_os_str(),
            word => word.as_ref(),
        })
        .collect()
}

#[test]
fn the_containers_of_the_manifests_are_told_printed_and_sound() {
    let folder = Folder::new();
    for frame in frames() {
        let (name, root) = (frame.name(), frame.root.as_path());
        let info = object(&folder.run(args("info --json @", &[root])), 0);
        assert_eq!(info["kind"], "frame", "{name}");
        assert_eq!(info["layout"], frame.text("metalayer"), "{name}");
        assert_eq!(
            info["contiguous"],
            frame.text("layout") == "contiguous",
            "{name}"
        );
        for key in ["shape", "chunkshape", "blockshape", "typesize"] {
            assert_eq!(info[key], frame.entry[key], "{name} {key}");
        }
        // A few entries of the manifests do not say.
        if !frame.entry["nbytes"].is_null() {
            assert_eq!(info["uncompressed_bytes"], frame.entry["nbytes"], "{name}");
        }
        assert_eq!(
            info["dtype"].is_null(),
            frame.text("metalayer") == "caterva",
            "{name}"
        );
        assert_eq!(
            (&info["state"], &info["checksum"]),
            (&json!("complete"), &Value::Null)
        );
        check_metadata(&frame, &info["metadata"]);
        let bytes = folder.run(args("cat @", &[root])).succeeded();
        if !frame.text("sha256").is_empty() {
            assert_eq!(hex(&Sha256::digest(&bytes)), frame.text("sha256"), "{name}");
        }
        // Chunks that the frame does not need any more cause warnings.
        let told = folder.run(args("-q verify @", &[root])).succeeded();
        assert!(
            String::from_utf8(told).unwrap().contains(": ok, "),
            "{name}"
        );
    }
}

fn check_metadata(frame: &Frame, metadata: &Value) {
    if frame.entry.get("metalayers").is_none() {
        return;
    }
    for key in ["metalayers", "vlmetalayers"] {
        let mut told: Vec<_> = metadata[key].as_object().unwrap().keys().collect();
        let mut expected = frame.names(key);
        told.sort();
        expected.sort_unstable();
        assert_eq!(told, expected, "{} {key}", frame.name());
    }
}

#[test]
fn arrays_of_the_corpora_become_the_files_that_numpy_wrote_and_those_become_arrays() {
    let folder = Folder::new();
    let out = folder.path("out.npy");
    for frame in frames() {
        let Some(file) = golden(&frame) else { continue };
        // A single element has an axis there.
        if frame.numbers("shape").is_empty() {
            continue;
        }
        let name = frame.name();
        let mut export = args("-f export @ @", &[&frame.root, &out]);
        let dtype = descr(&file);
        if let Some(dtype) = &dtype {
            export.extend(["--dtype", dtype].map(std::ffi::OsStr::new));
        }
        folder.run(export).succeeded();
        assert!(folder.read("out.npy") == file, "{name}");
        folder.write("in.npy", &file);
        folder
            .run(["-f", "import", "in.npy", "back", "--layout", "b2nd"])
            .succeeded();
        folder.run(["-f", "export", "back", "out.npy"]).succeeded();
        assert!(folder.read("out.npy") == file, "{name}");
    }
}

#[test]
fn an_array_of_numpy_goes_in_and_comes_out() {
    let folder = Folder::new();
    let elements = ramp(50 * 7 * 6 * 8);
    let file = npy("'<i8'", "(50, 7, 6)", &elements);
    folder.write("a.npy", &file);
    for layout in ["caterva", "b2nd"] {
        for sparse in [&[][..], &["--sparse"]] {
            let shapes = ["--chunkshape", "20,4,6", "--blockshape", "5,4,3"];
            let import = [
                "-f", "import", "a.npy", layout, "--layout", layout, "-c", "zlib", "-l", "3",
            ];
            folder
                .run([&import[..], &shapes, sparse].concat())
                .succeeded();
            let info = object(&folder.run(["info", "--json", layout]), 0);
            assert_eq!(info["layout"], layout);
            assert_eq!(info["contiguous"], sparse.is_empty());
            assert_eq!(info["shape"], json!([50, 7, 6]));
            assert_eq!(info["chunkshape"], json!([20, 4, 6]));
            assert_eq!(info["blockshape"], json!([5, 4, 3]));
            assert_eq!(info["codecs"], json!(["zlib"]));
            assert_eq!(info["nchunks"], 6);
            assert_eq!(folder.run(["cat", layout]).succeeded(), elements);
            let export = ["-f", "export", layout, "out.npy", "--dtype", "<i8"];
            folder.run(export).succeeded();
            assert_eq!(folder.read("out.npy"), file);
            // Another kind has to make room.
            if sparse.is_empty() {
                fs::remove_file(folder.path(layout)).unwrap()
            } else {
                fs::remove_dir_all(folder.path(layout)).unwrap()
            }
        }
    }
    assert_eq!(folder.names(), ["a.npy", "out.npy"]);
}

#[test]
fn the_order_of_fortran_is_turned() {
    let folder = Folder::new();
    let (rows, columns) = (300_u16, 200_u16);
    let value = |row: u16, column: u16| (row * 211 + column).to_le_bytes();
    let by_columns =
        (0..columns).flat_map(|column| (0..rows).flat_map(move |row| value(row, column)));
    let by_rows: Vec<u8> = (0..rows)
        .flat_map(|row| (0..columns).flat_map(move |column| value(row, column)))
        .collect();
    let plain = npy("'<u2'", "(300, 200)", &by_columns.collect::<Vec<u8>>());
    let header = String::from_utf8(plain[10..128].to_vec())
        .unwrap()
        .replace("False,", "True, ");
    let file = [&plain[..10], header.as_bytes(), &plain[128..]].concat();
    folder
        .run_with(
            [
                "import",
                "-",
                "a.b2nd",
                "--from",
                "npy",
                "--layout",
                "b2nd",
                "--chunkshape",
                "70,70",
            ],
            &file,
        )
        .succeeded();
    assert!(folder.run(["cat", "a.b2nd"]).succeeded() == by_rows);
    folder.run(["export", "a.b2nd", "b.npy"]).succeeded();
    assert!(folder.read("b.npy") == npy("'<u2'", "(300, 200)", &by_rows));
}

#[test]
fn arrays_without_elements_or_axes_go_in_and_come_out() {
    let folder = Folder::new();
    for (shape, elements) in [("()", &[7; 4][..]), ("(0,)", &[]), ("(3, 0, 2)", &[])] {
        let file = npy("'>f4'", shape, elements);
        folder.write("a.npy", &file);
        folder
            .run(["-f", "import", "a.npy", "a", "--layout", "b2nd"])
            .succeeded();
        assert_eq!(folder.run(["cat", "a"]).succeeded(), elements, "{shape}");
        folder.run(["verify", "a"]).succeeded();
        folder.run(["-f", "export", "a", "out.npy"]).succeeded();
        assert_eq!(folder.read("out.npy"), file, "{shape}");
    }
    folder.write("a.npy", npy("'<f4'", "()", &[7; 4]));
    let none = folder.run(["import", "a.npy", "b", "--layout", "caterva"]);
    none.failed(2, "at least one axis");
    folder.write("a.npy", npy("'|V300'", "(2,)", &[7; 600]));
    let large = folder.run(["import", "a.npy", "b", "--layout", "caterva"]);
    large.failed(2, "elements of 300 bytes");
    assert_eq!(folder.names(), ["a", "a.npy", "out.npy"]);
    // python-blosc2 writes them, too.
    folder
        .run(["import", "a.npy", "b", "--layout", "b2nd"])
        .succeeded();
    assert_eq!(folder.run(["cat", "b"]).succeeded(), [7; 600]);
}

/// `a.b2nd` of shape (50, 7, 6), of `i8`, and its elements.
fn cube(folder: &Folder) -> Vec<u8> {
    let elements = ramp(50 * 7 * 6 * 8);
    folder.write("a.npy", npy("'<i8'", "(50, 7, 6)", &elements));
    let shapes = ["--chunkshape", "20,4,6", "--blockshape", "5,4,3"];
    folder
        .run(
            [
                &["import", "a.npy", "a.b2nd", "--layout", "b2nd"][..],
                &shapes,
            ]
            .concat(),
        )
        .succeeded();
    elements
}

#[test]
fn parts_are_what_python_would_take() {
    let folder = Folder::new();
    let elements = cube(&folder);
    let number = |i: usize, j: usize, k: usize| &elements[((i * 7 + j) * 6 + k) * 8..][..8];
    let cat = |part: &[&str]| folder.run([&["cat", "a.b2nd"], part].concat()).succeeded();
    let mut expected: Vec<u8> = Vec::new();
    for i in 47..50 {
        for k in 0..5 {
            expected.extend(number(i, 6, k));
        }
    }
    assert_eq!(cat(&["--slice", "-3:,-1,:5"]), expected);
    assert_eq!(cat(&["--slice", "5"]), elements[5 * 336..6 * 336]);
    assert_eq!(cat(&["--rows", "48.."]), elements[48 * 336..]);
    assert_eq!(cat(&["--range", "1000..5001"]), elements[1000..5001]);
    assert!(cat(&["--slice", "5:2"]).is_empty());
    // The last chunk, cut off at the ends of the array.
    let mut last: Vec<u8> = Vec::new();
    for i in 40..50 {
        for j in 4..7 {
            for k in 0..6 {
                last.extend(number(i, j, k));
            }
        }
    }
    assert_eq!(cat(&["--chunk", "5"]), last);
    for (part, words) in [
        (["--slice", "50"], "no position 50"),
        (["--slice", "0,0,0,0"], "the slice has 4 axes"),
        (["--rows", "..51"], "past the end"),
        (["--range", "..16801"], "past the end"),
        (["--chunk", "6"], "no chunk 6"),
        (["--column", "a"], "is not a table"),
    ] {
        folder
            .run([&["cat", "a.b2nd"][..], &part].concat())
            .failed(2, words);
    }
    folder
        .run(["export", "a.b2nd", "b.npy", "--slice", "-3:,-1,:5"])
        .succeeded();
    assert_eq!(folder.read("b.npy"), npy("'<i8'", "(3, 1, 5)", &expected));
    folder
        .run(["export", "a.b2nd", "b.npy", "--dtype", "f4"])
        .failed(2, "has 4 bytes");
    folder
        .run(["export", "a.npy", "b.npy", "--dtype", "i8"])
        .failed(2, "already has a dtype");
}

#[test]
fn frames_become_others_with_all_their_metadata() {
    let folder = Folder::new();
    let corpus = frame_corpora::chosen();
    let of = |name| corpus.iter().find(|frame| frame.name() == name).unwrap();
    let (sparse, contiguous) = (of("x_vlmeta_s.cat"), of("x_vlmeta_c.cat"));
    let elements = folder.run(args("cat @", &[&sparse.root])).succeeded();
    let layers = |path: &Path| {
        let frame = Raw::open(path).unwrap();
        let names: Vec<String> = frame.vlmetalayers().map(str::to_owned).collect();
        let vl: Vec<_> = names
            .iter()
            .map(|name| frame.vlmetalayer(name).unwrap())
            .collect();
        let fixed = frame.metalayers().get("fixed1").map(<[u8]>::to_vec);
        (names, vl, fixed)
    };
    for (source, options, layout) in [
        (
            sparse,
            &["-c", "zstd", "--chunkshape", "11,2"][..],
            "caterva",
        ),
        (contiguous, &["--sparse", "--blockshape", "1,5"], "caterva"),
        (
            sparse,
            &["--layout", "b2nd", "--dtype", "<f4", "--sparse"],
            "b2nd",
        ),
    ] {
        let convert = args("convert @ out", &[&source.root]);
        let convert = convert
            .into_iter()
            .chain(options.iter().map(|word| word.as_ref()));
        folder.run(convert).succeeded();
        let info = object(&folder.run(["info", "--json", "out"]), 0);
        assert_eq!(info["layout"], layout);
        assert_eq!(info["contiguous"], !options.contains(&"--sparse"));
        assert_eq!(
            info["dtype"],
            match layout {
                "b2nd" => json!("float32"),
                _ => Value::Null,
            }
        );
        assert_eq!(folder.run(["cat", "out"]).succeeded(), elements);
        let (expected, found) = (layers(&source.root), layers(&folder.path("out")));
        assert!(expected.0.len() == 2 && expected == found, "{found:?}");
        if options.contains(&"--sparse") {
            fs::remove_dir_all(folder.path("out")).unwrap()
        } else {
            fs::remove_file(folder.path("out")).unwrap()
        }
    }
}

#[test]
fn datasets_become_frames_and_frames_datasets() {
    let folder = copied();
    let array = "bcolz/py2_int64";
    let elements = folder.run(["cat", array]).succeeded();
    for layout in ["caterva", "b2nd"] {
        folder
            .run(["-q", "convert", array, layout, "--layout", layout])
            .succeeded();
        assert_eq!(folder.run(["cat", layout]).succeeded(), elements);
    }
    folder
        .run([
            "convert", "b2nd", "back", "--layout", "blz-doc", "-k", "crc32",
        ])
        .succeeded();
    let info = object(&folder.run(["info", "--json", "back"]), 0);
    assert_eq!(
        (&info["layout"], &info["dtype"]),
        (&json!("blz-doc"), &json!("int64"))
    );
    assert_eq!(folder.run(["cat", "back"]).succeeded(), elements);
    let none = folder.run(["convert", "caterva", "no", "--layout", "bcolz"]);
    none.failed(2, "does not store the dtype of its elements");
    folder
        .run([
            "convert", "caterva", "yes", "--layout", "bcolz", "--dtype", "u8",
        ])
        .succeeded();
    assert_eq!(folder.run(["cat", "yes"]).succeeded(), elements);
    // A Bloscpack file that contains the metadata of an array.
    folder
        .run(["convert", array, "a.blp", "--format", "3"])
        .succeeded();
    folder
        .run([
            "convert",
            "a.blp",
            "c.b2nd",
            "--layout",
            "b2nd",
            "--chunkshape",
            "64",
        ])
        .succeeded();
    assert_eq!(folder.run(["cat", "c.b2nd"]).succeeded(), elements);
    folder.run(["verify", "c.b2nd"]).succeeded();
    folder
        .run(["convert", "b2nd", "x.blp", "--format", "3"])
        .succeeded();
    assert_eq!(folder.run(["d", "x.blp", "-"]).succeeded(), elements);
    let csv = folder
        .run(["export", "b2nd", "-", "--to", "csv", "--rows", "..3"])
        .succeeded();
    let expected = folder.run(["export", array, "-", "--to", "csv", "--rows", "..3"]);
    assert_eq!(csv, expected.succeeded());
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let folder = Folder::new();
    cube(&folder);
    folder.write("a.csv", "a,b\n1,2\n");
    for (arguments, words) in [
        (
            "import a.csv x --layout b2nd",
            "this is a table; columns: a, b",
        ),
        (
            "import a.npy x --layout b2nd --chunkshape 3,3",
            "chunkshape has 2 axes, but the array has 3 axes",
        ),
        (
            "import a.npy x --layout b2nd --blockshape 3",
            "blockshape has 1 axis, but the array has 3 axes",
        ),
        (
            "import a.npy x --layout b2nd --blockshape 9,9,9 --chunkshape 3,3,3",
            "no block can be longer than its chunk",
        ),
        ("import a.npy x --layout b2nd --chunkshape 0,1,1", "0"),
        ("import a.npy x --layout b2nd --chunklen 3", "chunklen"),
        ("import a.npy x --layout b2nd -k crc32", "checksums"),
        ("import a.npy x --layout b2nd -c snappy", "snappy"),
        ("import a.npy x --layout b2nd --spare 3", "spare"),
        ("import a.npy x --layout b2nd --table", "no fields"),
        ("import a.npy x --layout bcolz --sparse", "sparse"),
        ("import a.npy x --blockshape 1,1,1", "blockshape"),
        (
            "convert a.b2nd x --layout caterva --dtype i8",
            "cannot store a dtype",
        ),
        ("convert a.b2nd x --column a", "is not a table"),
        ("convert a.b2nd x -z 1M", "size of chunks"),
        ("convert a.b2nd a.b2nd -f", "is the input"),
        ("export a.b2nd x.npy --columns a", "is not a table"),
    ] {
        folder.run(arguments.split(' ')).failed(2, words);
    }
    assert_eq!(folder.names(), ["a.b2nd", "a.csv", "a.npy"]);
}

#[test]
fn what_changes_other_files_says_what_is_done_with_frames() {
    let folder = Folder::new();
    cube(&folder);
    folder
        .run(["convert", "a.b2nd", "a", "--sparse"])
        .succeeded();
    folder.write("in", "12345678");
    let before = folder.read("a.b2nd");
    for path in ["a.b2nd", "a"] {
        for command in [
            "patch @ --at 0 in",
            "reindex @",
            "recover @ out",
            "decompress @ out",
            "records unpack @",
            "records get @ 0",
            "records append @ in",
            "dataset append @ a.npy",
            "dataset repair @",
            "dataset attrs @",
        ] {
            let ran = folder.run(args(command, &[Path::new(path)]));
            assert!(ran.stderr.contains("hint: "), "{command}: {}", ran.stderr);
            ran.failed(5, FRAME);
        }
    }
    assert_eq!(folder.read("a.b2nd"), before);
    assert_eq!(folder.names(), ["a", "a.b2nd", "a.npy", "in"]);
    let piped = folder.run_with(["cat", "-"], &before);
    assert!(piped.stderr.contains("not from a pipe"), "{}", piped.stderr);
    piped.status_is(5);
}

#[test]
fn nothing_is_overwritten_unless_one_insists() {
    let folder = Folder::new();
    let elements = cube(&folder);
    let other = npy("'|u1'", "(3,)", &[1, 2, 3]);
    folder.write("b.npy", &other);
    folder
        .run(["convert", "a.b2nd", "a", "--sparse"])
        .succeeded();
    for (path, sparse) in [("a.b2nd", &[][..]), ("a", &["--sparse"])] {
        let import = [&["import", "b.npy", path, "--layout", "b2nd"], sparse].concat();
        folder.run(&import).failed(1, "exists");
        assert_eq!(folder.run(["cat", path]).succeeded(), elements);
        folder.run([&import[..], &["-f"]].concat()).succeeded();
        assert_eq!(folder.run(["cat", path]).succeeded(), [1, 2, 3]);
        let told = folder.run(["verify", path]).succeeded();
        assert!(String::from_utf8(told).unwrap().contains("1 chunk"));
    }
    // A sparse frame only replaces a sparse frame, and nothing else does.
    folder.run(["import", "b.npy", "data"]).succeeded();
    folder
        .run([
            "-f", "import", "b.npy", "data", "--layout", "b2nd", "--sparse",
        ])
        .failed(1, "not a sparse frame");
    folder
        .run(["-f", "import", "b.npy", "a"])
        .failed(1, "a Blosc2 frame");
    folder
        .run([
            "-f", "import", "b.npy", "a.b2nd", "--layout", "b2nd", "--sparse",
        ])
        .failed(1, "not a directory");
    folder
        .run(["-f", "import", "b.npy", "a", "--layout", "b2nd"])
        .failed(2, "is a directory");
    assert_eq!(folder.names(), ["a", "a.b2nd", "a.npy", "b.npy", "data"]);
}

/// For two names that are exchanged, the kernel reports two moves, the new name first; if one is put aside for
/// another, it reports that one first.
#[cfg(target_os = "linux")]
#[test]
fn a_sparse_frame_that_is_replaced_has_its_name_at_every_moment() {
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    let folder = Folder::new();
    cube(&folder);
    let import = ["-f", "import", "a.npy", "a", "--layout", "b2nd", "--sparse"];
    folder.run(import).succeeded();
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&watch, folder.path("."), WatchFlags::MOVE).unwrap();
    folder.run(import).succeeded();
    let mut room = [std::mem::MaybeUninit::uninit(); 4096];
    let (mut reader, mut told) = (Reader::new(&watch, &mut room), Vec::new());
    while let Ok(event) = reader.next() {
        if event
            .file_name()
            .is_some_and(|name| name.to_bytes() == b"a")
        {
            told.push(event.events().contains(ReadFlags::MOVED_TO));
        }
    }
    assert_eq!(told, [true, false], "came, then went");
    assert_eq!(folder.names(), ["a", "a.b2nd", "a.npy"]);
}

#[test]
fn a_frame_goes_to_standard_output() {
    let folder = Folder::new();
    let elements = cube(&folder);
    let bytes = folder
        .run(["import", "a.npy", "-", "--layout", "caterva"])
        .succeeded();
    folder.write("b.cat", &bytes);
    assert_eq!(folder.run(["cat", "b.cat"]).succeeded(), elements);
}

#[cfg(unix)]
#[test]
fn a_frame_made_of_something_private_is_private() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    cube(&folder);
    set_permissions(folder.path("a.npy"), Permissions::from_mode(0o600)).unwrap();
    folder
        .run(["import", "a.npy", "b.b2nd", "--layout", "b2nd"])
        .succeeded();
    folder
        .run(["import", "a.npy", "b", "--layout", "b2nd", "--sparse"])
        .succeeded();
    for name in ["b.b2nd", "b"] {
        let mode = fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[test]
fn frames_without_an_array_are_chunks_of_bytes() {
    let folder = Folder::new();
    let content = ramp(2500);
    let mut frame = Raw::builder(8, 1000)
        .create(folder.path("plain.b2frame"))
        .unwrap();
    for chunk in content.chunks(1000) {
        frame.append(chunk).unwrap();
    }
    frame.flush().unwrap();
    drop(frame);
    let info = object(&folder.run(["info", "--json", "plain.b2frame"]), 0);
    assert_eq!(
        (&info["layout"], &info["shape"]),
        (&json!("frame"), &Value::Null)
    );
    assert_eq!(
        (&info["nchunks"], &info["last_chunk"]),
        (&json!(3), &json!(500))
    );
    let cat = |part: &[&str]| folder.run([&["cat", "plain.b2frame"], part].concat());
    assert_eq!(cat(&[]).succeeded(), content);
    assert_eq!(
        cat(&["--range", "900..2100"]).succeeded(),
        content[900..2100]
    );
    assert_eq!(cat(&["--range", "2400.."]).succeeded(), content[2400..]);
    assert_eq!(cat(&["--chunk", "2"]).succeeded(), content[2000..]);
    cat(&["--chunk", "3"]).failed(2, "no chunk 3");
    cat(&["--range", "..2501"]).failed(2, "past the end");
    cat(&["--rows", "..1"]).failed(2, "no array");
    folder
        .run(["export", "plain.b2frame", "a.npy"])
        .failed(5, "no array");
    folder
        .run(["convert", "plain.b2frame", "b"])
        .failed(5, "no array");
}

/// For any content of a frame: no crash, a documented exit status, and no message with status 0.
fn survives(ran: &Ran, what: &str) {
    assert!(
        [0, 2, 3, 4, 5].contains(&ran.status),
        "{what}: {} {}",
        ran.status,
        ran.stderr
    );
    assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
}

#[test]
fn cut_frames_are_told_with_status_4() {
    let folder = Folder::new();
    cube(&folder);
    let whole = folder.read("a.b2nd");
    for len in [1, 9, 10, 23, 24, 96, 200, whole.len() / 2, whole.len() - 1] {
        folder.write("cut.b2nd", &whole[..len]);
        for command in ["info", "cat", "verify"] {
            folder.run([command, "cut.b2nd"]).failed(4, "");
        }
        folder.run(["export", "cut.b2nd", "b.npy"]).failed(4, "");
        folder.run(["convert", "cut.b2nd", "b"]).failed(4, "");
    }
    // Trailing bytes are tolerated.
    folder.write("long.b2nd", [&whole[..], b"more"].concat());
    folder
        .run(["verify", "long.b2nd"])
        .warned("ignored 4 trailing bytes");
    assert_eq!(folder.names(), ["a.b2nd", "a.npy", "cut.b2nd", "long.b2nd"]);
}

#[test]
fn flipped_bytes_are_damage_or_change_nothing_that_is_checked() {
    let folder = Folder::new();
    cube(&folder);
    let whole = folder.read("a.b2nd");
    let mut damaged = 0;
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bad = whole.clone();
        bad[at] ^= 0xff;
        folder.write("bad.b2nd", &bad);
        let verified = folder.run(["verify", "--json", "bad.b2nd"]);
        survives(&verified, &format!("verify, byte {at}"));
        damaged += usize::from(verified.status == 3);
        survives(&folder.run(["cat", "bad.b2nd"]), &format!("cat, byte {at}"));
        survives(
            &folder.run(["info", "bad.b2nd"]),
            &format!("info, byte {at}"),
        );
    }
    assert!(damaged > 10, "{damaged}");
}

#[test]
fn a_damaged_chunk_is_named_and_the_others_are_printed() {
    let folder = Folder::new();
    cube(&folder);
    folder
        .run(["convert", "a.b2nd", "a", "--sparse"])
        .succeeded();
    let mut names: Vec<_> = fs::read_dir(folder.path("a"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|name| name.extension().is_some_and(|ending| ending == "chunk"));
    names.sort();
    assert_eq!(names.len(), 6);
    fs::remove_file(&names[2]).unwrap();
    let mut cut = fs::read(&names[4]).unwrap();
    cut.truncate(40);
    fs::write(&names[4], cut).unwrap();
    // One is not there, and one was cut.
    let report = object(&folder.run(["verify", "--json", "a"]), 4);
    let file = &report["files"][0];
    assert_eq!((&file["ok"], &file["chunks"]), (&json!(false), &json!(4)));
    assert_eq!(file["damages"].as_array().unwrap().len(), 2, "{file}");
    folder.run(["cat", "a"]).failed(3, "its file is missing");
    assert_eq!(
        folder.run(["cat", "--chunk", "0", "a"]).succeeded().len(),
        20 * 4 * 6 * 8
    );
    fs::write(folder.path("a/chunks.b2frame"), b"").unwrap();
    folder.run(["info", "a"]).failed(4, "cut short");
    fs::write(
        folder.path("a/chunks.b2frame"),
        b"something else, long enough to be read",
    )
    .unwrap();
    folder.run(["info", "a"]).failed(5, "");
    // A file of a sparse frame alone.
    let sparse = frame_corpora::chosen();
    let sparse = sparse.iter().find(|frame| frame.is_sparse()).unwrap();
    let outline = sparse.root.join("chunks.b2frame");
    folder
        .run(args("info @", &[&outline]))
        .failed(5, "open the directory");
}

#[test]
fn limits_are_kept() {
    let folder = Folder::new();
    cube(&folder);
    for command in ["cat", "verify"] {
        folder
            .run([command, "a.b2nd", "--limit", "chunk=100"])
            .status_is(5);
    }
    folder
        .run(["info", "a.b2nd", "--limit", "metadata=100"])
        .failed(5, "exceeds the limit");
}

#[test]
fn an_array_grows_along_an_axis() {
    let folder = Folder::new();
    folder.write("a.npy", npy("'|u1'", "(3, 4)", b"abcdefghijkl"));
    folder.write("row.npy", npy("'|u1'", "(2, 4)", b"mnopqrst"));
    folder.write("column.npy", npy("'|u1'", "(5, 1)", b"ABCDE"));
    folder.write("wide.npy", npy("'<u2'", "(1, 5)", &[0; 10]));
    for (array, shape) in [
        ("a.b2nd", "--blockshape 1,2"),
        ("a.zarr", "--to zarr2"),
        ("b.zarr", "--to zarr3"),
        ("c.zarr", "--to zarr3 --chunks-per-superchunk 2"),
    ] {
        let make = format!("-q convert a.npy {array} --chunkshape 2,2 {shape}");
        folder.run(make.split(' ')).succeeded();
        folder.run(["append", array, "row.npy"]).succeeded();
        assert_eq!(folder.run(["cat", array]).text(), "abcdefghijklmnopqrst");
        let along = ["append", array, "column.npy", "--axis", "1"];
        folder.run(along).succeeded();
        let expected = "abcdAefghBijklCmnopDqrstE";
        assert_eq!(folder.run(["cat", array]).text(), expected);
        folder.run(["verify", array]).succeeded();
        // A refused append leaves the array unchanged.
        for (args, words) in [
            ("row.npy", "does not fit"),
            ("column.npy --axis 2", "does not fit"),
            ("wide.npy", "elements of uint16"),
            ("row.npy -z 1M", "only for Bloscpack files"),
        ] {
            let args = ["append", array].into_iter().chain(args.split(' '));
            folder.run(args).failed(2, words);
        }
        assert_eq!(folder.run(["cat", array]).text(), expected);
        let resize = |shape: &str| folder.run(["dataset", "resize", array, shape]);
        resize("2,3").succeeded();
        assert_eq!(folder.run(["cat", array]).text(), "abcefg");
        resize("3,4").succeeded();
        assert_eq!(
            folder.run(["cat", array]).succeeded(),
            b"abc\0efg\0\0\0\0\0"
        );
        resize("3").failed(2, "axes");
    }
    let resize = ["dataset", "resize", "a.npy", "1,2"];
    folder
        .run(resize)
        .failed(2, "can change its length along each axis");
}
