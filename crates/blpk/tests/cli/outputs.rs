//! Tests that outputs appear atomically, and that nothing is overwritten by accident.

use std::fs;

use crate::support::{Folder, ramp};

/// A folder with a file, and the same compressed with one chunk damaged near its end.
fn with_damaged() -> Folder {
    let folder = Folder::new();
    let mut packed = folder.compressed(&[], &ramp(4_000_000));
    let at = packed.len() - 20;
    packed[at] ^= 0x10;
    folder.write("bad.blp", packed);
    folder
}

#[test]
fn an_existing_file_is_kept_without_force() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.write("data.blp", "precious");
    let ran = folder
        .run(["c", "data"])
        .failed(1, "output file 'data.blp' already exists");
    assert!(
        ran.stderr.contains("hint: use -f to overwrite it"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.read("data.blp"), b"precious");

    folder.run(["-f", "c", "data"]).succeeded();
    folder.write("data", "other bytes");
    folder
        .run(["d", "data.blp"])
        .failed(1, "output file 'data' already exists");
    assert_eq!(folder.read("data"), b"other bytes");
    folder.run(["d", "-f", "data.blp"]).succeeded();
    assert_eq!(folder.read("data"), b"some bytes");
    assert_eq!(folder.names(), ["data", "data.blp"]);
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let folder = with_damaged();
    let ran = folder.run(["d", "bad.blp"]).failed(3, "crc32");
    assert!(
        ran.stderr.contains("'bad' was not written"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.names(), ["bad.blp"]);
}

#[test]
fn a_failure_leaves_the_old_file() {
    let folder = with_damaged();
    folder.write("bad", "precious");
    let ran = folder.run(["-f", "d", "bad.blp"]).failed(3, "crc32");
    assert!(ran.stderr.contains("'bad' is unchanged"), "{}", ran.stderr);
    assert_eq!(folder.read("bad"), b"precious");
    assert_eq!(folder.names(), ["bad", "bad.blp"]);
}

#[test]
fn what_is_no_bloscpack_leaves_the_old_file() {
    let folder = Folder::new();
    folder.write("text.blp", "this is text");
    folder.write("text", "precious");
    folder
        .run(["-f", "d", "text.blp"])
        .failed(5, "not a Bloscpack");
    assert_eq!(folder.read("text"), b"precious");
    assert_eq!(folder.names(), ["text", "text.blp"]);
}

#[test]
fn input_and_output_may_not_be_the_same_file() {
    let folder = Folder::new();
    let packed = folder.compressed(&[], b"some bytes");
    folder.write("data", &packed);
    for command in [&["c"][..], &["d", "-e"]] {
        for force in [&[][..], &["-f"]] {
            let args = [force, command, &["data", "data"]].concat();
            folder.run(args).failed(2, "are the same file");
            assert_eq!(folder.read("data"), packed);
        }
    }
    folder
        .run(["-f", "c", "data", "./data"])
        .failed(2, "are the same file");
    assert_eq!(folder.names(), ["data"]);
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).unwrap();
    folder.write("data", "some bytes");
    folder.run(["c", "sub"]).failed(2, "'sub' is a directory");
    folder
        .run(["-f", "c", "data", "sub"])
        .failed(2, "'sub' is a directory");
    folder
        .run(["c", "data", "nowhere/out"])
        .failed(1, "'nowhere/out': No such file or directory\n");
    assert_eq!(folder.names(), ["data", "sub"]);
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    use super::with_damaged;
    use crate::support::{BLPK, Folder, Ran, ramp};

    fn mode(folder: &Folder, name: &str) -> u32 {
        fs::metadata(folder.path(name)).unwrap().mode() & 0o7777
    }

    #[test]
    fn links_to_the_input_are_the_input() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        fs::hard_link(folder.path("data"), folder.path("hard")).unwrap();
        symlink("data", folder.path("soft")).unwrap();
        folder
            .run(["-f", "c", "data", "hard"])
            .failed(2, "are the same file");
        folder
            .run(["-f", "c", "data", "soft"])
            .failed(2, "are the same file");
        folder
            .run(["-f", "c", "soft", "data"])
            .failed(2, "are the same file");
        assert_eq!(folder.read("data"), b"some bytes");
    }

    #[test]
    fn standard_streams_may_be_the_same_file_too() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        let open = || fs::File::open(folder.path("data")).unwrap();
        let append = fs::OpenOptions::new()
            .append(true)
            .open(folder.path("data"));
        let mut command = Command::new(BLPK);
        command.arg("c").stdin(open()).stdout(append.unwrap());
        let ran: Ran = command.output().unwrap().into();
        ran.failed(2, "are the same file");

        let mut command = Command::new(BLPK);
        command
            .args(["-f", "c", "-"])
            .arg(folder.path("data"))
            .stdin(open());
        let ran: Ran = command.output().unwrap().into();
        ran.failed(2, "are the same file");
        assert_eq!(folder.read("data"), b"some bytes");
    }

    #[test]
    fn a_new_file_gets_what_the_umask_leaves() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        fs::set_permissions(folder.path("data"), Permissions::from_mode(0o666)).unwrap();
        for umask in ["022", "077", "002"] {
            let script =
                format!("umask {umask}; rm -f like data.blp; : > like; exec {BLPK} c data");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(folder.path(""));
            let ran: Ran = shell.output().unwrap().into();
            ran.succeeded();
            assert_eq!(
                mode(&folder, "data.blp"),
                mode(&folder, "like"),
                "umask {umask}"
            );
        }
    }

    #[test]
    fn what_is_made_of_a_private_file_is_private() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        for bits in [0o600, 0o640, 0o400] {
            fs::set_permissions(folder.path("data"), Permissions::from_mode(bits)).unwrap();
            let script = format!(
                "umask 022; rm -f data.blp back; {BLPK} c data && exec {BLPK} d data.blp back"
            );
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(folder.path(""));
            let ran: Ran = shell.output().unwrap().into();
            ran.succeeded();
            assert_eq!(mode(&folder, "data.blp"), bits);
            assert_eq!(mode(&folder, "back"), bits);
        }
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        folder.write("data.blp", "old");
        for bits in [0o600, 0o640, 0o444, 0o777] {
            fs::set_permissions(folder.path("data.blp"), Permissions::from_mode(bits)).unwrap();
            folder.run(["-f", "c", "data"]).succeeded();
            assert_eq!(mode(&folder, "data.blp"), bits);
            assert_eq!(&folder.read("data.blp")[..4], b"blpk");
        }
    }

    #[test]
    fn a_symbolic_link_is_followed() {
        let folder = Folder::new();
        fs::create_dir(folder.path("sub")).unwrap();
        folder.write("data", "some bytes");
        folder.write("sub/real", folder.compressed(&[], b"old"));
        symlink("sub/real", folder.path("link")).unwrap();
        symlink("link", folder.path("link2")).unwrap();
        folder
            .run(["c", "data", "link2"])
            .failed(1, "already exists");
        folder.run(["-f", "c", "data", "link2"]).succeeded();
        assert!(
            fs::symlink_metadata(folder.path("link"))
                .unwrap()
                .is_symlink()
        );
        assert!(
            fs::symlink_metadata(folder.path("link2"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(&folder.read("sub/real")[..4], b"blpk");
        assert_eq!(folder.names(), ["data", "link", "link2", "sub"]);
        assert_eq!(fs::read_dir(folder.path("sub")).unwrap().count(), 1);
    }

    #[test]
    fn a_symbolic_link_to_nothing_names_the_file_to_make() {
        let folder = Folder::new();
        fs::create_dir(folder.path("sub")).unwrap();
        folder.write("data", "some bytes");
        symlink("sub/new", folder.path("link")).unwrap();
        folder.run(["c", "data", "link"]).succeeded();
        assert!(
            fs::symlink_metadata(folder.path("link"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(&folder.read("sub/new")[..4], b"blpk");
    }

    #[test]
    fn a_loop_of_symbolic_links_is_an_error() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        symlink("b", folder.path("a")).unwrap();
        symlink("a", folder.path("b")).unwrap();
        folder.run(["-f", "c", "data", "a"]).failed(1, "'a'");
        assert_eq!(folder.names(), ["a", "b", "data"]);
    }

    fn fifo(folder: &Folder, name: &str) {
        let made = Command::new("mkfifo").arg(folder.path(name)).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn a_fifo_is_written_not_replaced() {
        let folder = Folder::new();
        let plain = ramp(3_000_000);
        folder.write("data", &plain);
        fifo(&folder, "pipe");
        let reader = Command::new("cat")
            .arg(folder.path("pipe"))
            .stdout(Stdio::piped())
            .spawn();
        folder.run(["c", "data", "pipe"]).succeeded();
        let packed = reader.unwrap().wait_with_output().unwrap().stdout;
        assert!(
            fs::metadata(folder.path("pipe"))
                .unwrap()
                .file_type()
                .is_fifo()
        );
        // A FIFO cannot seek: no table of offsets.
        assert_eq!(packed[5] & crate::support::OFFSETS, 0);
        assert_eq!(folder.run_with(["d"], packed).succeeded(), plain);
        assert_eq!(folder.names(), ["data", "pipe"]);
    }

    #[test]
    fn a_fifo_is_read_as_a_pipe() {
        let folder = Folder::new();
        let plain = ramp(3_000_000);
        folder.write("data", &plain);
        fifo(&folder, "pipe");
        let script = "cat data > pipe";
        let writer = Command::new("sh")
            .args(["-c", script])
            .current_dir(folder.path(""))
            .spawn();
        folder.run(["c", "pipe"]).succeeded();
        assert!(writer.unwrap().wait().unwrap().success());
        let packed = folder.read("pipe.blp");
        assert_eq!(folder.run_with(["d"], &packed).succeeded(), plain);
        // The output can seek, so all is known in the end.
        assert_eq!(crate::support::fields(&packed).nchunks, 3);
    }

    #[test]
    fn a_device_is_written_directly() {
        let folder = Folder::new();
        folder.write("data", "some bytes");
        folder.run(["c", "data", "/dev/null"]).succeeded();
        folder.run(["c", "/dev/null", "/dev/null"]).succeeded();
        assert!(
            fs::metadata("/dev/null")
                .unwrap()
                .file_type()
                .is_char_device()
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_status_1() {
        let folder = Folder::new();
        folder.write("data", ramp(3_000_000));
        folder
            .run(["c", "data", "/dev/full"])
            .failed(1, "'/dev/full'");
        folder.write("data.blp", folder.compressed(&[], b"some bytes"));
        folder
            .run(["d", "data.blp", "/dev/full"])
            .failed(1, "'/dev/full'");

        let full = || {
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap()
        };
        for args in [["c", "data", "-"], ["d", "data.blp", "-"]] {
            let mut command = Command::new(BLPK);
            command
                .args(args)
                .current_dir(folder.path(""))
                .stdout(full());
            let ran: Ran = command.output().unwrap().into();
            ran.failed(1, "standard output");
        }
        let reports = [
            &["cat", "data.blp"][..],
            &["info", "data.blp"],
            &["info", "--json", "data.blp"],
            &["verify", "data.blp"],
            &["completions", "bash"],
            &["man"],
        ];
        for args in reports {
            let mut command = Command::new(BLPK);
            command
                .args(args)
                .current_dir(folder.path(""))
                .stdout(full());
            let ran: Ran = command.output().unwrap().into();
            ran.failed(1, "standard output");
        }
    }

    #[test]
    fn a_private_file_is_never_readable_in_between() {
        let folder = with_damaged();
        folder.write("out", folder.compressed(&[], b"precious"));
        fs::set_permissions(folder.path("out"), Permissions::from_mode(0o600)).unwrap();
        // Standard input stays open, so that the temporary file can be looked at.
        let mut command = Command::new(BLPK);
        command
            .args(["-f", "c", "-", "out"])
            .current_dir(folder.path(""))
            .stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let temporary = crate::support::wait_for(|| {
            folder
                .names()
                .into_iter()
                .find(|name| name.ends_with(".tmp"))
        });
        assert_eq!(mode(&folder, &temporary), 0o600);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert_eq!(mode(&folder, "out"), 0o600);
    }
}
