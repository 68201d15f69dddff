//! Tests of each exit status, for each way to read a file.

use crate::support::{Folder, OFFSETS, Ran, fields, noise, ramp};

/// Every way to read standard input to its end.
const READERS: [&[&str]; 4] = [&["d"], &["cat"], &["info"], &["verify"]];

fn read(folder: &Folder, reader: &[&str], bytes: &[u8]) -> Ran {
    folder.run_with(reader, bytes)
}

#[test]
fn sound_data_is_0() {
    let folder = Folder::new();
    for plain in [&b""[..], b"x", &ramp(2_500_000), &noise(2_500_000)] {
        let packed = folder.compressed(&[], plain);
        for reader in READERS {
            read(&folder, reader, &packed).succeeded();
        }
    }
}

#[test]
fn what_the_system_refuses_is_1() {
    let folder = Folder::new();
    for command in ["c", "cat", "info", "verify"] {
        folder.run([command, "missing"]).failed(1, "'missing'");
    }
    folder.run(["d", "missing.blp"]).failed(1, "'missing.blp'");
    folder.write("data", "some bytes");
    folder.run(["c", "data/below"]).failed(1, "'data/below'");
    assert_eq!(folder.names(), ["data"]);
}

#[test]
fn wrong_usage_is_2() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.write("data.blp", folder.compressed(&[], b"some bytes"));
    let lines: &[&[&str]] = &[
        &[],
        &["frobnicate"],
        &["c", "--frobnicate", "data"],
        &["c", "data", "out", "more"],
        &["c", "-l", "10", "data"],
        &["c", "-l", "-1", "data"],
        &["c", "-t", "0", "data"],
        &["c", "-t", "-1", "data"],
        &["-n", "-1", "c", "data"],
        &["a", "-l", "-1", "data.blp", "data"],
        &["patch", "--at", "-1", "data.blp", "data"],
        &["c", "-t", "256", "data"],
        &["c", "-c", "lzma", "data"],
        &["c", "-k", "crc64", "data"],
        &["c", "-z", "0", "data"],
        &["c", "-z", "3G", "data"],
        &["c", "-z", "", "data"],
        &["c", "-z", "1Q", "data"],
        &["c", "--shuffle", "nibble", "data"],
        &["c", "-s", "--shuffle", "bit", "data"],
        &["c", "--format", "0", "data"],
        &["c", "--format", "4", "data"],
        &["c", "--size", "some", "data"],
        &["-n", "0", "c", "data"],
        &["-n", "257", "c", "data"],
        &["-v", "-q", "c", "data"],
        &["-v", "-d", "c", "data"],
        &["--color", "mauve", "c", "data"],
        &["--progress", "maybe", "c", "data"],
        &["--limit", "chunk", "d", "data.blp", "-"],
        &["--limit", "crumb=1", "d", "data.blp", "-"],
        &["--limit", "ratio=0", "d", "data.blp", "-"],
        &["cat", "--range", "5", "data.blp"],
        &["cat", "--range", "5..3", "data.blp"],
        &["cat", "--range", "0..1.5", "data.blp"],
        &["cat", "--range", "-1..2", "data.blp"],
        &["cat", "--chunk", "-1", "data.blp"],
        &["c", "-z", "1.5", "data"],
        &["c", "-z", "-1", "data"],
        &["c", "--size", "9.5", "data"],
        &["--limit", "chunk=1.5", "d", "data.blp", "-"],
        &["cat", "--range", "0..1", "--chunk", "0", "data.blp"],
        &["completions", "cobol"],
    ];
    for line in lines {
        let ran = folder.run(*line);
        assert_eq!(ran.status, 2, "{line:?}: {}", ran.stderr);
        // A negative number is refused as such, and not taken for an option.
        assert!(!ran.stderr.contains("unexpected argument '-1"), "{line:?}");
        assert!(!ran.stderr.is_empty(), "{line:?}");
    }
    assert_eq!(folder.names(), ["data", "data.blp"]);
}

#[test]
fn damaged_data_is_3() {
    let folder = Folder::new();
    let mut packed = folder.compressed(&[], &ramp(2_500_000));
    let at = packed.len() - 30;
    packed[at] ^= 1;
    for reader in [&["d"][..], &["cat"], &["verify"]] {
        let ran = read(&folder, reader, &packed);
        assert_eq!(ran.status, 3, "{reader:?}: {}", ran.stderr);
        let said = format!("{}{}", ran.text_lossy(), ran.stderr);
        // The last of three chunks, and both digests.
        assert!(said.contains("chunk 2 (byte "), "{said}");
        assert!(said.contains("crc32 mismatch: file has "), "{said}");
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let folder = Folder::new();
    let packed = folder
        .run_with(["c", "-z", "64", "--size", "200"], ramp(200))
        .succeeded();
    for at in 0..packed.len() {
        let mut flipped = packed.clone();
        flipped[at] ^= 1 << (at % 8);
        let ran = read(&folder, &["d"], &flipped);
        // The typesize in the header is only informative; every other change must be reported.
        if ran.status == 0 {
            assert_eq!(ran.stdout, ramp(200), "byte {at}");
        } else {
            assert!((2..=5).contains(&ran.status), "byte {at}: {}", ran.stderr);
        }
    }
}

#[test]
fn cut_data_is_4() {
    let folder = Folder::new();
    let plain = ramp(5000);
    let file = folder.compressed(&["-z", "1K"], &plain);
    let stream = folder.run_with(["c", "-z", "1K"], &plain).succeeded();
    for packed in [file, stream] {
        for cut in (0..60)
            .chain((60..packed.len()).step_by(97))
            .chain([packed.len() - 1])
        {
            for reader in READERS {
                let ran = read(&folder, reader, &packed[..cut]);
                assert_eq!(ran.status, 4, "{reader:?} cut at {cut}: {}", ran.stderr);
            }
        }
    }
}

#[test]
fn an_empty_input_is_4() {
    let folder = Folder::new();
    folder.write("empty.blp", "");
    folder.run(["d", "empty.blp"]).failed(4, "'empty.blp'");
    for reader in READERS {
        assert_eq!(read(&folder, reader, b"").status, 4, "{reader:?}");
    }
    assert_eq!(folder.names(), ["empty.blp"]);
}

#[test]
fn other_formats_are_5() {
    let folder = Folder::new();
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03some bytes that do not matter";
    let blizzard = b"BLP1\x00\x00\x00\x00\x08\x00\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00some";
    let text = b"Dear reader, this is but a text.";
    let future = b"blpk\x09\x00\x00\x08\x00\x00\x10\x00\x00\x00\x10\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    for other in [&gzip[..], blizzard, text, future] {
        for reader in READERS {
            let ran = read(&folder, reader, other);
            assert_eq!(ran.status, 5, "{reader:?} {other:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn over_a_limit_is_5_and_names_the_option() {
    let folder = Folder::new();
    let packed = folder.compressed(&["-z", "1M"], &ramp(2_500_000));
    let ran = folder
        .run_with(["--limit", "chunk=512K", "d"], &packed)
        .failed(5, "limit");
    assert!(ran.stderr.contains("--limit chunk="), "{}", ran.stderr);
    folder
        .run_with(["--limit", "chunk=1M", "d"], &packed)
        .succeeded();

    folder.write("in.blp", &packed);
    for (option, hint) in [
        ("total=2499999", "--limit total="),
        ("ratio=2", "--limit ratio="),
    ] {
        let limited = |args: &[&str]| folder.run([&["--limit", option], args].concat());
        limited(&["d", "in.blp", "out"]).failed(5, hint);
        limited(&["cat", "in.blp"]).failed(5, hint);
        // `verify` reports it as a finding.
        let report = limited(&["verify", "in.blp"]).status_is(5);
        assert!(report.text().contains("the limit"), "{}", report.text());
        assert!(!folder.names().contains(&"out".into()), "{option}");
    }
    folder
        .run([
            "--limit",
            "total=2500000,ratio=1000000",
            "d",
            "in.blp",
            "out",
        ])
        .succeeded();

    folder.write("meta.json", format!("\"{}\"", "x".repeat(5000)));
    let packed = folder.compressed_with_metadata("meta.json", &ramp(100));
    let ran = folder
        .run_with(["d", "--limit", "metadata=4K"], &packed)
        .failed(5, "limit");
    assert!(ran.stderr.contains("--limit metadata="), "{}", ran.stderr);

    let many = folder.compressed(&["-z", "16"], &ramp(16_000));
    let ran = folder
        .run_with(["d", "--limit", "offsets=7K"], &many)
        .failed(5, "limit");
    assert!(ran.stderr.contains("--limit offsets="), "{}", ran.stderr);
    folder
        .run_with(["d", "--limit", "offsets=8K,chunk=16"], &many)
        .succeeded();
}

#[test]
fn an_unterminated_stream_is_4_unless_allowed() {
    let folder = Folder::new();
    let plain = ramp(5000);
    let stream = folder.run_with(["c", "-z", "1K"], &plain).succeeded();
    let cut = &stream[..stream.len() - 20];
    for reader in READERS {
        assert_eq!(read(&folder, reader, cut).status, 4, "{reader:?}");
    }
    let allowed = folder.run_with(["d", "--allow-unterminated"], cut);
    assert_eq!(allowed.warned("standard input: "), plain);
    let quiet = folder.run_with(["-q", "d", "--allow-unterminated"], cut);
    assert_eq!(quiet.succeeded(), plain);

    folder.write("cut.blp", cut);
    folder
        .run(["d", "cut.blp"])
        .failed(4, "--allow-unterminated");
    assert_eq!(folder.names(), ["cut.blp"]);
    folder
        .run(["d", "cut.blp", "--allow-unterminated"])
        .warned("'cut.blp': ");
    assert_eq!(folder.read("cut"), plain);
}

#[test]
fn an_unfinished_file_is_4_unless_allowed() {
    let folder = Folder::new();
    let plain = ramp(5000);
    let mut packed = folder.compressed(&["-z", "1K", "--max-app-chunks", "0"], &plain);
    assert_eq!(fields(&packed).options, OFFSETS);
    // As an aborted writer leaves it: five offsets of -1, and the last chunk not yet there.
    packed[32..32 + 5 * 8].fill(0xff);
    let chunk_at = |mut number: usize| {
        let mut at = 32 + 5 * 8;
        while number > 0 {
            at += u32::from_le_bytes(packed[at + 12..at + 16].try_into().unwrap()) as usize + 4;
            number -= 1;
        }
        at
    };
    let cut = &packed[..chunk_at(4)];
    for reader in READERS {
        assert_eq!(read(&folder, reader, cut).status, 4, "{reader:?}");
    }
    let allowed = folder.run_with(["d", "--allow-unterminated"], cut);
    assert_eq!(allowed.warned("standard input: "), &plain[..4096]);
    // All chunks there, and only the offsets missing: complete.
    assert_eq!(folder.run_with(["d"], &packed).succeeded(), plain);
}

#[test]
fn trailing_bytes_of_an_append_are_a_warning() {
    let folder = Folder::new();
    let plain = ramp(5000);
    let mut packed = folder.compressed(&[], &plain);
    packed.extend(b"stale bytes of a longer chunk");
    for reader in READERS {
        let ran = read(&folder, reader, &packed);
        ran.warned("standard input: ");
    }
    assert_eq!(folder.run_with(["-q", "d"], &packed).succeeded(), plain);
}

#[test]
fn trailing_bytes_of_a_stream_are_an_error() {
    let folder = Folder::new();
    let mut stream = folder.run_with(["c"], ramp(5000)).succeeded();
    stream.extend(b"what is this doing here?");
    assert_eq!(folder.run_with(["d"], stream).status, 3);
}

#[test]
fn a_readable_error_has_color_only_when_wanted() {
    let folder = Folder::new();
    let plain = folder.run(["c", "missing"]);
    assert!(
        plain.stderr.starts_with("blpk: error: 'missing': "),
        "{}",
        plain.stderr
    );
    assert!(!plain.stderr.contains('\x1b'));
    let colored = folder.run(["c", "--color", "always", "missing"]);
    assert!(colored.stderr.contains("\x1b["), "{}", colored.stderr);
    let mut command = folder.command();
    command.env("NO_COLOR", "1").args(["c", "missing"]);
    let ran: Ran = command.output().unwrap().into();
    assert!(!ran.stderr.contains('\x1b'));
    // The messages of the argument parser, too.
    let parser = folder.run(["--color=always", "frobnicate"]);
    assert!(parser.stderr.contains("\x1b["), "{}", parser.stderr);
}

#[cfg(unix)]
#[test]
fn names_cannot_move_the_cursor() {
    let folder = Folder::new();
    let name = "a\x1b[2Jb\nc";
    let escaped = r"a\u{1b}[2Jb\nc";
    let ran = folder.run(["c", name]).failed(1, &format!("'{escaped}'"));
    assert!(!ran.stderr.contains('\x1b'));
    folder.write(name, folder.compressed(&[], b"x"));
    for command in ["verify", "info"] {
        let said = folder.run(["--color", "never", command, name]).succeeded();
        let said = String::from_utf8(said).unwrap();
        assert!(said.starts_with(escaped), "{said:?}");
    }
}

/// Nothing is asked of any server, and nothing that may be a signature is printed.
#[cfg(not(feature = "remote"))]
#[test]
fn urls_need_a_feature() {
    let folder = Folder::new();
    let url = "https://host/a.blp?X-Amz-Signature=abc";
    let lines: &[&[&str]] = &[
        &["cat", url],
        &["info", url],
        &["verify", url],
        &["ls", url],
        &["d", url, "-"],
        &["export", url, "out.csv"],
        &["records", "get", url, "0"],
    ];
    for line in lines {
        let ran = folder.run(*line);
        let said = format!("{}{}", ran.text_lossy(), ran.stderr);
        assert!(!said.contains("abc"), "{line:?}: {said}");
        let ran = ran.failed(5, "'https://host/a.blp'");
        assert!(ran.stderr.contains("--features remote"), "{}", ran.stderr);
    }
    assert!(folder.names().is_empty());
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_url_is_5_in_a_build_that_has_none() {
    let folder = Folder::new();
    let url = "https://host/a.blp?signature=secret";
    let options = ["--metadata-out", "about.json", "--allow-unterminated"];
    for args in [
        [&["decompress"], options.as_slice(), &[url, "out"]].concat(),
        vec!["cat", url],
        vec!["info", url],
        vec!["info", "--auto", url],
        vec!["verify", url],
        vec!["export", url, "out.csv"],
        vec!["compress", url, "out"],
        vec!["recover", url, "out"],
        vec!["records", "get", url, "0"],
        vec!["records", "unpack", url, "out"],
    ] {
        let ran = folder.run(args.clone()).failed(5, "--features remote");
        assert!(!ran.stderr.contains("secret"), "{args:?}: {}", ran.stderr);
    }
    assert!(folder.names().is_empty());
}
