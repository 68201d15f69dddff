//! Tests of each command when its standard input or output is missing, closed, full, or the file that it works on.

use std::fs;
use std::io::pipe;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::support::{BLPK, Folder, Ran, noise};

const DATA: &[u8] = b"some bytes, and some more of them\n";

/// One of everything that the verbs take.
fn all() -> Folder {
    let folder = Folder::new();
    folder.write("data", DATA);
    folder.write("a.blp", folder.compressed(&[], DATA));
    folder.write("m.json", "{\"a\": 1}");
    folder.write("m.blp", folder.compressed_with_metadata("m.json", DATA));
    folder.write("rows.csv", "a,b\n1,2\n3,4\n");
    for make in [
        "records pack data r.blp",
        "import rows.csv t",
        "convert t --column a c",
        "export c c.npy",
        "import c.npy f --layout b2nd",
        "import c.npy s --layout b2nd --sparse",
    ] {
        folder.run(make.split(' ')).succeeded();
    }
    folder
}

/// Each verb that writes to standard output, and says something there.
const TELLING: [&str; 39] = [
    "c data -",
    "c --size 34 data -",
    "c --format 1 data -",
    "d a.blp -",
    "d --metadata-out - m.blp out",
    "cat a.blp",
    "cat --range 1..3 a.blp",
    "cat --chunk 0 a.blp",
    "cat c",
    "cat --column b t",
    "cat f",
    "cat s",
    "info a.blp",
    "info --json t",
    "info f",
    "info --auto a.blp",
    "verify a.blp r.blp t f s",
    "verify --json a.blp",
    "-q ls",
    "ls --json",
    "records pack data -",
    "records unpack r.blp -",
    "records get r.blp 0",
    "export t - --to csv",
    "export c - --to npy",
    "export s - --to jsonl",
    "import c.npy - --layout b2nd",
    "-q convert f - --layout caterva",
    "convert --format 2 a.blp -",
    "dataset attrs t",
    "dataset repair --json --dry-run t",
    "recover --json a.blp recovered.blp",
    "completions bash",
    "man",
    "man verify",
    "--help",
    "dataset repair -h",
    "help cat",
    "--version",
];

fn run(folder: &Folder, words: &str, stdin: Stdio, stdout: Stdio) -> Ran {
    let mut command = Command::new(BLPK);
    command.args(words.split(' ')).current_dir(folder.path(""));
    command.stdin(stdin).stdout(stdout);
    let ran: Ran = command.stderr(Stdio::piped()).output().unwrap().into();
    // So that each begins with the same.
    for made in ["out", "recovered.blp"] {
        let _ = fs::remove_file(folder.path(made));
    }
    ran
}

#[test]
fn a_reader_that_was_never_there_is_no_error() {
    let folder = all();
    for words in TELLING {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let ran = run(&folder, words, Stdio::null(), writer.into());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{words}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_status_1() {
    let folder = all();
    for words in TELLING {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let ran = run(&folder, words, Stdio::null(), full.unwrap().into());
        assert_eq!(ran.status, 1, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("error: "), "{words}: {}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_closed_is_status_1() {
    let folder = all();
    for words in TELLING {
        let script = format!("exec {BLPK} {words} >&-");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path(""));
        let ran: Ran = shell.output().unwrap().into();
        assert_eq!(ran.status, 1, "{words}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("standard output"),
            "{words}: {}",
            ran.stderr
        );
        for made in ["out", "recovered.blp"] {
            let _ = fs::remove_file(folder.path(made));
        }
        // Output that a parent discards is none that is closed.
        for is_read in [false, true] {
            let null = fs::OpenOptions::new()
                .read(is_read)
                .write(true)
                .open("/dev/null");
            let ran = run(&folder, words, Stdio::null(), null.unwrap().into());
            assert_eq!(ran.status, 0, "{words}: {}", ran.stderr);
        }
    }
}

/// The next file that is opened takes the number of a closed stream: no message may be written into it.
#[test]
fn what_is_closed_is_never_a_file_that_is_written() {
    let folder = all();
    let plain = noise(300_000);
    folder.write("noise", &plain);
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        for (words, check) in [
            ("-f -v c noise n.blp", "d n.blp -"),
            ("-f -v d n.blp out", "cat out.blp"),
            ("-f -v recover n.blp n2.blp", "d n2.blp -"),
            ("-f -v convert --format 2 n.blp n2.blp", "d n2.blp -"),
        ] {
            let script = format!("exec {BLPK} {words} {closed}");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(folder.path(""));
            let ran: Ran = shell.output().unwrap().into();
            // The report of what was recovered is output, too.
            let is_lost = cfg!(target_os = "linux") && words.contains("recover");
            let expected = i32::from(is_lost && closed.split(' ').any(|stream| stream == ">&-"));
            assert_eq!(ran.status, expected, "{words} {closed}: {}", ran.stderr);
            let found = match check {
                "cat out.blp" => folder.read("out"),
                _ => folder.run(check.split(' ')).succeeded(),
            };
            assert!(found == plain, "{words} {closed}");
        }
    }
}

/// It is an empty one.
#[test]
fn a_closed_standard_input_is_read_by_every_verb() {
    let folder = all();
    for (words, expected) in [
        ("c - -", 0),
        ("d - -", 4),
        ("cat -", 4),
        ("info -", 4),
        ("verify -", 4),
        ("append a.blp -", 0),
        ("patch a.blp --at 0 -", 0),
        ("records pack - -", 0),
        ("records unpack -", 4),
        ("records append r.blp -", 0),
        ("import --from csv - new", 4),
        ("import --from npy - new", 4),
        ("dataset append --from npy c -", 4),
        ("dataset set --rows 0..2 c -", 2),
        ("dataset add-column --from npy t z -", 4),
    ] {
        let before = folder.names();
        let script = format!("exec {BLPK} {words} <&-");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path(""));
        let ran: Ran = shell.output().unwrap().into();
        assert_eq!(ran.status, expected, "{words}: {}", ran.stderr);
        assert_eq!(folder.names(), before, "{words}");
    }
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), DATA);
    assert_eq!(folder.run(["records", "unpack", "r.blp"]).succeeded(), DATA);
}

/// Every name of the input is refused as output by every command, even with `--force`.
#[test]
fn no_verb_writes_over_its_own_input() {
    let folder = all();
    let verbs = [
        ("data", "c"),
        ("a.blp", "d"),
        ("r.blp", "records unpack"),
        ("data", "records pack"),
        ("a.blp", "recover"),
        ("a.blp", "convert --format 2"),
        ("c.npy", "import --layout b2nd"),
        ("f", "convert --layout caterva"),
        ("f", "export --to npy"),
    ];
    for (input, verb) in verbs {
        let before = folder.read(input);
        fs::hard_link(folder.path(input), folder.path("hard")).unwrap();
        symlink(input, folder.path("soft")).unwrap();
        symlink("soft", folder.path("softer")).unwrap();
        let same = format!("./{input}");
        for name in [input, "hard", "soft", "softer", &same] {
            for (from, to) in [(input, name), (name, input)] {
                let words = format!("-f {verb} {from} {to}");
                let ran = run(&folder, &words, Stdio::null(), Stdio::piped());
                assert_eq!(ran.status, 2, "{words}: {}", ran.stderr);
                assert!(folder.read(input) == before, "{words}");
            }
        }
        for name in ["hard", "soft", "softer"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

/// A directory is not made within the one that it is made of, nor over it.
#[test]
fn no_verb_writes_into_its_own_input() {
    let folder = all();
    symlink("t", folder.path("soft")).unwrap();
    symlink("t/new", folder.path("inside")).unwrap();
    let before = folder.run(["export", "t", "-", "--to", "csv"]).succeeded();
    for to in ["t", "./t", "soft", "t/new", "soft/new", "t/a/new", "inside"] {
        for verb in [
            "convert t TO",
            "convert t TO --layout blz-doc",
            "convert t --column a TO --layout b2nd --sparse",
        ] {
            let words = format!("-f {}", verb.replace("TO", to));
            let ran = run(&folder, &words, Stdio::null(), Stdio::piped());
            assert!(
                [1, 2].contains(&ran.status),
                "{words}: {} {}",
                ran.status,
                ran.stderr
            );
            let after = folder.run(["export", "t", "-", "--to", "csv"]).succeeded();
            assert_eq!(after, before, "{words}");
            folder.run(["verify", "t"]).succeeded();
        }
    }
}
