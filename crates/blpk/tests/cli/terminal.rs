//! Tests on a terminal, which `script` of util-linux simulates.

use std::process::Command;

use crate::support::{BLPK, Folder, Ran};

/// Runs a shell line with a terminal as all three standard streams.
fn on_terminal(folder: &Folder, line: &str) -> Ran {
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", line, "/dev/null"]);
    script
        .current_dir(folder.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR");
    script.stdin(std::process::Stdio::null());
    script.output().unwrap().into()
}

#[test]
fn compressed_data_is_not_shown() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    let ran = on_terminal(&folder, &format!("{BLPK} --color never c data -"));
    assert_eq!(ran.status, 2, "{}", ran.text_lossy());
    assert!(
        ran.text_lossy().contains("is not written to a terminal"),
        "{}",
        ran.text_lossy()
    );
    assert!(!ran.text_lossy().contains("blpk\x03"));

    let ran = on_terminal(&folder, &format!("{BLPK} -f c data -"));
    assert_eq!(ran.status, 0);
    assert!(ran.text_lossy().contains("blpk\x03"));
}

#[test]
fn records_are_not_shown_where_they_are_compressed_or_binary() {
    let folder = Folder::new();
    folder.write("lines", "one\ntwo\n");
    let show = |line: &str| on_terminal(&folder, &format!("{BLPK} --color never records {line}"));
    let ran = show("pack lines -");
    assert_eq!(ran.status, 2, "{}", ran.text_lossy());
    let told = ran.text_lossy();
    assert!(told.contains("is not written to a terminal"), "{told}");
    assert_eq!(show("pack lines a.blp").status, 0);
    assert_eq!(show("unpack a.blp").text_lossy(), "one\r\ntwo\r\n");
    assert_eq!(show("get a.blp 1").text_lossy(), "two\r\n");
    for command in [
        "unpack -0 a.blp",
        "unpack --lengths a.blp",
        "get -0 a.blp 0",
    ] {
        let ran = show(command);
        assert_eq!(ran.status, 2, "{}", ran.text_lossy());
        let told = ran.text_lossy();
        assert!(told.contains("binary data is not written"), "{told}");
        assert_eq!(show(&format!("{command} -f")).status, 0);
    }
}

#[test]
fn compressed_data_is_not_typed() {
    let folder = Folder::new();
    for command in [
        "d",
        "cat",
        "info",
        "verify",
        "d - out",
        "records unpack -",
        "records get - 0",
    ] {
        let ran = on_terminal(&folder, &format!("{BLPK} {command}"));
        assert_eq!(ran.status, 2, "{}", ran.text_lossy());
        assert!(
            ran.text_lossy().contains("is not read from a terminal"),
            "{}",
            ran.text_lossy()
        );
    }
    assert!(folder.names().is_empty());
}

#[test]
fn text_is_shown_and_binary_data_is_not() {
    let folder = Folder::new();
    folder.write(
        "text.blp",
        folder.compressed(&[], "Grüße\tan alle\n".as_bytes()),
    );
    folder.write("binary.blp", folder.compressed(&[], b"\x00\x01\x02\x03"));
    for command in ["cat text.blp", "d text.blp -"] {
        let ran = on_terminal(&folder, &format!("{BLPK} {command}"));
        assert_eq!(
            (ran.status, ran.text_lossy()),
            (0, "Grüße\tan alle\r\n".into())
        );
    }
    for command in ["cat binary.blp", "d binary.blp -"] {
        let ran = on_terminal(&folder, &format!("{BLPK} {command}"));
        assert_eq!(ran.status, 2, "{}", ran.text_lossy());
        assert!(
            ran.text_lossy().contains("binary data is not written"),
            "{}",
            ran.text_lossy()
        );
        let ran = on_terminal(&folder, &format!("{BLPK} -f {command}"));
        assert_eq!(
            (ran.status, ran.stdout.as_slice()),
            (0, &b"\x00\x01\x02\x03"[..])
        );
    }
}

#[test]
fn errors_are_coloured_on_a_terminal() {
    let folder = Folder::new();
    let colored = on_terminal(&folder, &format!("{BLPK} c missing"));
    assert!(
        colored.text_lossy().contains("\x1b["),
        "{}",
        colored.text_lossy()
    );
    for line in [
        format!("NO_COLOR=1 {BLPK} c missing"),
        format!("{BLPK} --color never c missing"),
    ] {
        let plain = on_terminal(&folder, &line);
        assert!(
            !plain.text_lossy().contains('\x1b'),
            "{}",
            plain.text_lossy()
        );
    }
}
