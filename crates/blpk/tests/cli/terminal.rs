//! Tests on a terminal, which `script` of util-linux simulates.

use std::process::Command;

use crate::support::{BLPK, Folder, Ran, noise};

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

#[test]
fn nothing_gained_is_said_on_a_terminal() {
    let folder = Folder::new();
    folder.write("noise", noise(100_000));
    let said = on_terminal(&folder, &format!("{BLPK} c noise")).text_lossy();
    assert!(said.contains("'noise.blp' is not smaller than"), "{said}");
    let said = on_terminal(&folder, &format!("{BLPK} -q c noise again")).text_lossy();
    assert_eq!(said, "");
}

/// Lines of a run on a terminal of this many columns.
fn shown(folder: &Folder, columns: u32, args: &str) -> Vec<String> {
    let line = format!("COLUMNS={columns} {BLPK} --color never {args}");
    let ran = on_terminal(folder, &line);
    let text = ran.text_lossy();
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn table(folder: &Folder, rows: u32) {
    let mut text = "day,close,volume,what\n".to_owned();
    for n in 0..rows {
        text += &format!(
            "2024-01-{:02},{},{},name {n}\n",
            n % 28 + 1,
            f64::from(n) / 4.0,
            n * 3
        );
    }
    folder.write("t.csv", text);
    folder.run(["-f", "import", "t.csv", "t"]).succeeded();
}

#[test]
fn a_table_is_shown_with_aligned_columns() {
    let folder = Folder::new();
    table(&folder, 3);
    assert_eq!(
        shown(&folder, 80, "cat t"),
        [
            "day              close  volume  what",
            "datetime64[D]  float64   int64  <U6",
            "2024-01-01         0.0       0  name 0",
            "2024-01-02        0.25       3  name 1",
            "2024-01-03         0.5       6  name 2",
            "(3 rows)",
        ]
    );
    // Columns that do not fit are named.
    let narrow = shown(&folder, 30, "cat t");
    assert_eq!(narrow[0], "day              close  volume");
    assert_eq!(narrow[5], "(3 rows; 1 more column: what)");
    // Rows can be chosen.
    let rows = shown(&folder, 80, "cat --rows 1.. t");
    assert_eq!(rows[2], "2024-01-02        0.25       3  name 1");
    assert_eq!(rows.len(), 5);
    // Elsewhere, they are CSV.
    let ran = folder.run(["cat", "t", "--rows", "1..2"]);
    assert_eq!(
        ran.text(),
        "day,close,volume,what\n2024-01-02,0.25,3,name 1\n"
    );
    let column = ["cat", "t", "--column", "volume", "--rows", "..1"];
    assert_eq!(folder.run(column).succeeded(), [0; 8]);
}

#[test]
fn of_a_long_table_both_ends_are_shown() {
    let folder = Folder::new();
    table(&folder, 1000);
    let lines = shown(&folder, 80, "cat t");
    assert_eq!(lines.len(), 2 + 10 + 1 + 5 + 1);
    assert_eq!(lines[11], "2024-01-10        2.25      27  name 9");
    assert!(lines[12].starts_with('…'), "{lines:?}");
    assert_eq!(lines[17], "2024-01-20      249.75    2997  name 999");
    assert_eq!(lines[18], "(15 of 1000 rows)");
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
    assert_eq!(shown(&folder, 80, "cat --rows 5..20 t").len(), 2 + 15 + 1);
}

#[test]
fn what_a_terminal_would_obey_is_escaped_in_tables() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "a\u{1b}[31m,b\nx\u{1b}[2Jy,1\n\"long, long, long, long, long\",2\n",
    );
    folder.run(["import", "t.csv", "t"]).succeeded();
    let lines = shown(&folder, 80, "cat t").join("\n");
    assert!(!lines.contains('\u{1b}'), "{lines}");
    assert!(lines.contains("\\u{1b}[2J"), "{lines}");
    assert!(lines.contains("long, long, long, long,…"), "{lines}");
}

#[test]
fn chunks_are_drawn_on_request_and_by_verify_on_a_terminal() {
    let folder = Folder::new();
    let plain = [vec![0; 3 << 20], noise(2 << 20)].concat();
    folder.write("a.blp", folder.compressed(&["--auto=off"], &plain));
    let lines = shown(&folder, 80, "info --plot a.blp");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("  plot: ") && line.ends_with(" ▁▁▁==")),
        "{lines:?}"
    );
    // Also where standard output is no terminal.
    let text = folder.run(["info", "--plot", "a.blp"]).succeeded();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("▁▁▁==\n") && text.contains("1 chunk per mark"),
        "{text}"
    );
    let plain = folder.run(["info", "a.blp"]).succeeded();
    assert!(!String::from_utf8(plain).unwrap().contains('▁'));

    let lines = shown(&folder, 80, "verify a.blp");
    assert_eq!(lines[0], "a.blp: ok, 5 chunks, 5242880 bytes");
    assert_eq!(lines[1], "▁▁▁==");
    let said = folder.run(["verify", "a.blp"]).succeeded();
    assert_eq!(said, b"a.blp: ok, 5 chunks, 5242880 bytes\n");
    // Damage has a mark of its own.
    let mut bytes = folder.read("a.blp");
    let last = bytes.len() - 100;
    bytes[last] ^= 1;
    folder.write("b.blp", bytes);
    let lines = shown(&folder, 80, "verify b.blp");
    assert!(lines.contains(&"▁▁▁=X".to_owned()), "{lines:?}");
    // A narrow terminal has fewer marks.
    folder.write(
        "c.blp",
        folder.compressed(&["-z", "1K", "-t8"], &noise(100 << 10)),
    );
    let lines = shown(&folder, 40, "verify c.blp");
    assert_eq!(lines[1], "=".repeat(34));
    assert!(lines[2].starts_with("3 chunks per mark"), "{lines:?}");
    folder.run(["info", "--plot", "."]).failed(5, "");
}
