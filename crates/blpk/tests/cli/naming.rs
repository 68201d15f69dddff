//! Tests of the default of OUT, and of the conventions of the Python tool.

use crate::support::{Folder, ramp};

#[test]
fn compress_adds_the_extension_and_decompress_takes_it_away() {
    let folder = Folder::new();
    let plain = ramp(100_000);
    folder.write("data", &plain);
    assert_eq!(folder.run(["compress", "data"]).succeeded(), b"");
    assert_eq!(folder.names(), ["data", "data.blp"]);
    assert_eq!(&folder.read("data.blp")[..4], b"blpk");

    std::fs::remove_file(folder.path("data")).unwrap();
    assert_eq!(folder.run(["decompress", "data.blp"]).succeeded(), b"");
    assert_eq!(folder.names(), ["data", "data.blp"]);
    assert_eq!(folder.read("data"), plain);
}

#[test]
fn short_names_of_the_subcommands() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.run(["c", "data"]).succeeded();
    folder.run(["d", "data.blp", "again"]).succeeded();
    assert_eq!(folder.read("again"), b"some bytes");
    assert!(!folder.run(["i", "data.blp"]).succeeded().is_empty());
}

#[test]
fn only_the_last_extension_goes() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.run(["c", "data", "a.dat.blp.blp"]).succeeded();
    folder.run(["d", "a.dat.blp.blp"]).succeeded();
    assert_eq!(folder.read("a.dat.blp"), b"some bytes");
}

#[test]
fn files_of_another_folder_stay_there() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/data", "some bytes");
    folder.run(["c", "sub/data"]).succeeded();
    std::fs::remove_file(folder.path("sub/data")).unwrap();
    folder.run(["d", "sub/data.blp"]).succeeded();
    assert_eq!(folder.read("sub/data"), b"some bytes");
    assert_eq!(folder.names(), ["sub"]);
}

#[test]
fn standard_input_and_output_by_default() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    let packed = folder.run_with(["compress"], &plain).succeeded();
    assert_eq!(&packed[..4], b"blpk");
    assert_eq!(folder.run_with(["decompress"], &packed).succeeded(), plain);
    assert_eq!(folder.run_with(["d", "-"], &packed).succeeded(), plain);
    assert_eq!(folder.run_with(["d", "-e"], &packed).succeeded(), plain);
    assert!(folder.names().is_empty());
}

#[test]
fn a_dash_is_a_standard_stream_beside_a_file() {
    let folder = Folder::new();
    let plain = ramp(3000);
    folder.write("data", &plain);
    let packed = folder.run(["c", "data", "-"]).succeeded();
    folder.run_with(["d", "-", "again"], &packed).succeeded();
    assert_eq!(folder.read("again"), plain);
    folder
        .run_with(["c", "-", "packed.blp"], &plain)
        .succeeded();
    assert_eq!(folder.run(["d", "packed.blp", "-"]).succeeded(), plain);
    assert_eq!(folder.names(), ["again", "data", "packed.blp"]);
}

#[test]
fn an_input_without_the_extension_needs_an_output() {
    let folder = Folder::new();
    folder.write("packed", folder.compressed(&[], b"some bytes"));
    let ran = folder.run(["d", "packed"]);
    let ran = ran.failed(2, "input file 'packed' does not end with '.blp'");
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
    folder
        .run(["d", "-e", "packed"])
        .failed(2, "--no-check-extension requires");
    assert_eq!(folder.names(), ["packed"]);

    folder.run(["d", "packed", "out"]).succeeded();
    folder.run(["d", "-e", "packed", "too"]).succeeded();
    assert_eq!(folder.read("out"), b"some bytes");
    assert_eq!(folder.read("too"), b"some bytes");
    assert_eq!(
        folder.run(["d", "-e", "packed", "-"]).succeeded(),
        b"some bytes"
    );
}

#[test]
fn a_name_that_is_only_the_extension_leaves_no_name() {
    let folder = Folder::new();
    folder.write(".blp", folder.compressed(&[], b"some bytes"));
    folder.run(["d", ".blp"]).failed(2, "does not end with");
    assert_eq!(folder.names(), [".blp"]);
}

#[test]
fn the_python_command_line() {
    let folder = Folder::new();
    let plain = ramp(5000);
    folder.write("in", &plain);
    folder.write("meta.json", r#"{"dtype": "float64", "missing": NaN}"#);
    let line = "-f -n 1 c -t 4 -l 9 -s -c blosclz -z 0.5K -k sha256 -o -m meta.json in out.blp";
    folder.run(line.split(' ')).succeeded();
    let packed = folder.read("out.blp");
    // Version 3, metadata but no offsets, sha256, typesize 4; ten chunks of 512, the last of 392.
    assert_eq!(packed[4..8], [3, 2, 6, 4]);
    assert_eq!(
        packed[8..24],
        [0, 2, 0, 0, 0x88, 1, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0]
    );

    folder.run("-f d -e out.blp back".split(' ')).succeeded();
    assert_eq!(folder.read("back"), plain);
}

#[test]
fn values_may_stick_to_short_options() {
    let folder = Folder::new();
    folder.write("in", ramp(5000));
    folder.run(["c", "-z1K", "-t2", "-kNone", "in"]).succeeded();
    let packed = folder.read("in.blp");
    assert_eq!(packed[6..12], [0, 2, 0, 4, 0, 0]);
}

#[test]
fn global_options_stand_anywhere() {
    let folder = Folder::new();
    folder.write("in", "some bytes");
    folder.run(["-f", "-n", "2", "c", "in"]).succeeded();
    folder.run(["c", "in", "-f", "-n", "2"]).succeeded();
    folder
        .run(["c", "-q", "in", "-f", "--progress=never"])
        .succeeded();
}

#[cfg(unix)]
#[test]
fn names_need_not_be_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    std::fs::write(folder.path(name), "some bytes").unwrap();
    folder.run([OsStr::new("c"), name]).succeeded();
    std::fs::remove_file(folder.path(name)).unwrap();
    folder
        .run([OsStr::new("d"), OsStr::from_bytes(b"caf\xe9.blp")])
        .succeeded();
    assert_eq!(std::fs::read(folder.path(name)).unwrap(), b"some bytes");
}

#[test]
fn a_name_that_looks_like_an_option() {
    let folder = Folder::new();
    folder.write("-v", "some bytes");
    folder.run(["c", "--", "-v"]).succeeded();
    assert_eq!(folder.names(), ["-v", "-v.blp"]);
}
