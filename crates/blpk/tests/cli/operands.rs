//! Tests that no file is lost to a habit: two or three names and a few flags never change a file that was not meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::{Folder, ramp};

/// Command lines that are tried.
const LINES: usize = 500;
const SEED: u64 = 20;

/// Files that are compressed by content or by name.
const COMPRESSED: [&str; 5] = ["p.blp", "q.blp", "q.blp.blp", "bare", "junk.blp"];
/// All other files. The last one is empty.
const PLAIN: [&str; 6] = ["a.csv", "b.csv", "p", "meta.json", "b", "empty"];

fn folder() -> Folder {
    let folder = Folder::new();
    let packed = |len| folder.compressed(&[], &ramp(len));
    for (name, bytes) in [
        ("p.blp", packed(3000)),
        ("q.blp", packed(5000)),
        ("q.blp.blp", folder.compressed(&[], &packed(100))),
        ("bare", packed(700)),
        ("junk.blp", b"not what its name says".to_vec()),
        ("a.csv", b"1,2\n3,4\n".to_vec()),
        ("b.csv", b"5,6\n7,8\n".to_vec()),
        ("p", ramp(300)),
        ("meta.json", br#"{"unit": "mV"}"#.to_vec()),
        // The first byte of the magic number of a Bloscpack file.
        ("b", b"b".to_vec()),
        ("empty", Vec::new()),
    ] {
        folder.write(name, bytes);
    }
    folder
}

fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let names = folder.names().into_iter();
    names
        .map(|name| (name.clone(), folder.read(&name)))
        .collect()
}

/// Numbers that look random (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn name(&mut self) -> &'static str {
        let names = [&COMPRESSED[..], &PLAIN, &["new", "new.blp"]].concat();
        names[self.roll(names.len())]
    }
}

/// A command line, as it was put together.
#[derive(Debug)]
struct Line {
    compresses: bool,
    force: bool,
    multiple: bool,
    names: Vec<&'static str>,
    /// The value of `-O`.
    output: Option<&'static str>,
    /// The value of `--metadata-out`.
    metadata: Option<&'static str>,
    args: Vec<&'static str>,
}

impl Line {
    fn roll(dice: &mut Dice) -> Self {
        let compresses = dice.roll(2) == 0;
        let words = if compresses {
            ["c", "compress"]
        } else {
            ["d", "decompress"]
        };
        let mut line = Self {
            compresses,
            force: dice.roll(4) > 0,
            multiple: dice.roll(4) == 0,
            names: Vec::new(),
            output: None,
            metadata: None,
            args: vec![words[dice.roll(2)]],
        };
        let mut parts: Vec<Vec<&str>> = Vec::new();
        for _ in 0..2 + dice.roll(2) {
            let name = dice.name();
            line.names.push(name);
            parts.push(vec![name]);
        }
        if line.force {
            parts.insert(dice.roll(parts.len() + 1), vec!["-f"]);
        }
        if line.multiple {
            parts.insert(dice.roll(parts.len() + 1), vec!["--multiple"]);
        }
        let flags: &[&str] = if compresses {
            &["-o", "-s", "-9", "--keep", "--auto"]
        } else {
            &["-e", "--keep", "--allow-unterminated"]
        };
        for _ in 0..dice.roll(3) {
            let flag = flags[dice.roll(flags.len())];
            if !parts.contains(&vec![flag]) {
                parts.insert(dice.roll(parts.len() + 1), vec![flag]);
            }
        }
        // With a single name before it, this is a second way to name OUT.
        if dice.roll(6) == 0 {
            let name = dice.name();
            line.output = Some(name);
            parts.push(vec!["-O", name]);
        }
        if dice.roll(6) == 0 {
            let name = dice.name();
            if compresses {
                parts.push(vec!["-m", name])
            } else {
                line.metadata = Some(name);
                parts.push(vec!["--metadata-out", name]);
            }
        }
        line.args.extend(parts.concat());
        line
    }

    /// The files that this line may change: named as an output, and of the kind that the command writes.
    fn outputs(&self) -> BTreeSet<String> {
        let fits = |name: &str| {
            let is_compressed = COMPRESSED.contains(&name);
            name == "empty" || is_compressed == self.compresses
        };
        let own = |name: &str| {
            if self.compresses {
                Some(format!("{name}.blp"))
            } else {
                name.strip_suffix(".blp").map(str::to_owned)
            }
        };
        let mut outputs = BTreeSet::new();
        if !self.force {
            return outputs;
        }
        let metadata = self.metadata.filter(|name| !COMPRESSED.contains(name));
        outputs.extend(metadata.map(str::to_owned));
        if self.multiple {
            let own = self.names.iter().filter_map(|name| own(name));
            outputs.extend(own.filter(|name| !self.names.contains(&name.as_str())));
        } else if self.names.len() == 2 {
            let named = self.names[1];
            // `d -f q.blp.blp q.blp` names what it would write anyway.
            let is_own = !self.compresses && own(self.names[0]).as_deref() == Some(named);
            let named = Some(named).filter(|name| fits(name) || is_own);
            outputs.extend(named.map(str::to_owned));
        }
        outputs
    }
}

#[test]
fn no_command_line_changes_a_file_that_it_does_not_name_as_its_output() {
    let folder = folder();
    let before = contents(&folder);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ SEED);
    let (mut replaced, mut refused, mut made) = (0, 0, 0);
    for _ in 0..LINES {
        let line = Line::roll(&mut dice);
        let allowed = line.outputs();
        let ran = folder.run(&line.args);
        let after = contents(&folder);
        for (name, bytes) in &before {
            if after.get(name) == Some(bytes) {
                continue;
            }
            assert!(
                allowed.contains(name),
                "{line:?} has changed {name}: {}",
                ran.stderr
            );
            replaced += 1;
            folder.write(name, bytes);
        }
        refused += usize::from(ran.status != 0);
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            made += 1;
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
    // Otherwise this would prove nothing.
    assert!(replaced > 20, "only {replaced} files were replaced");
    assert!(made > 20, "only {made} files were made");
    assert!(refused < LINES, "all were refused");
}

#[test]
fn two_inputs_are_not_input_and_output() {
    let folder = Folder::new();
    folder.write("a.csv", "1,2\n");
    folder.write("b.csv", "3,4\n");
    let ran = folder.run(["c", "-f", "a.csv", "b.csv"]);
    let ran = ran.failed(2, "'b.csv' already exists and is not a compressed file");
    assert!(
        ran.stderr.contains("blpk compress --multiple a.csv b.csv"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.read("b.csv"), b"3,4\n");
    folder
        .run(["c", "a.csv", "b.csv"])
        .failed(1, "'b.csv' already exists and is not");

    folder.write("c.csv", "5,6\n");
    let ran = folder.run(["c", "-f", "a.csv", "b.csv", "c.csv"]);
    let ran = ran.failed(2, "compress takes one IN and one OUT");
    let told = "for f in a.csv b.csv c.csv; do blpk compress \"$f\"; done";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(folder.names(), ["a.csv", "b.csv", "c.csv"]);

    let args = ["c", "--multiple", "a.csv", "b.csv", "c.csv"];
    folder.run(args).succeeded();
    assert_eq!(folder.run(["d", "b.csv.blp", "-"]).succeeded(), b"3,4\n");
    assert_eq!(folder.names().len(), 6);
}

#[test]
fn several_files_go_on_after_a_failure() {
    let folder = Folder::new();
    folder.write("a", "one");
    folder.write("b", "two");
    folder.write("b.blp", "precious");
    folder.write("c", "three");
    let ran = folder.run(["c", "--multiple", "a", "b", "c"]);
    ran.failed(1, "'b.blp' already exists");
    assert_eq!(folder.read("b.blp"), b"precious");
    assert_eq!(folder.run(["d", "c.blp", "-"]).succeeded(), b"three");

    let args = ["c", "--multiple", "-f", "a", "b", "b.blp"];
    folder.run(args).failed(
        2,
        "'b' would be written to 'b.blp', which is one of the inputs",
    );
    assert_eq!(folder.read("b.blp"), b"precious");

    folder.write("d", "four");
    folder
        .run(["c", "--multiple", "c.blp", "d"])
        .warned("'c.blp' already ends with '.blp'");
    fs::remove_file(folder.path("a")).unwrap();
    fs::remove_file(folder.path("d")).unwrap();
    folder
        .run(["d", "--multiple", "a.blp", "d.blp"])
        .succeeded();
    assert_eq!(
        (folder.read("a"), folder.read("d")),
        (b"one".into(), b"four".into())
    );
    folder
        .run(["c", "--multiple", "-"])
        .failed(2, "standard input cannot be one of several");
}

#[test]
fn plain_data_does_not_replace_a_compressed_file() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&[], b"one"));
    folder.write("b.blp", folder.compressed(&[], b"two"));
    let before = folder.read("b.blp");
    let ran = folder.run(["d", "-f", "a.blp", "b.blp"]);
    let ran = ran.failed(2, "'b.blp' already exists and is a compressed file");
    assert!(
        ran.stderr
            .contains("blpk decompress --multiple a.blp b.blp"),
        "{}",
        ran.stderr
    );
    let args = ["d", "-f", "--metadata-out", "b.blp", "a.blp", "a"];
    folder.run(args).failed(2, "is a compressed file");
    assert_eq!(folder.read("b.blp"), before);

    folder.write("a", "old");
    folder.run(["d", "-f", "a.blp"]).succeeded();
    assert_eq!(folder.read("a"), b"one");
    folder.write("twice.blp.blp", folder.compressed(&[], &before));
    folder.write("twice.blp", &before);
    folder.run(["d", "-f", "twice.blp.blp"]).succeeded();
    assert_eq!(folder.read("twice.blp"), before);
}

#[test]
fn no_offsets_is_not_the_output() {
    let folder = Folder::new();
    folder.write("out.blp", folder.compressed(&[], b"old"));
    folder.write("b.csv", "3,4\n");
    let ran = folder.run(["c", "-f", "-o", "out.blp", "b.csv"]);
    let ran = ran.failed(2, "is not a compressed file");
    assert!(ran.stderr.contains("-o is --no-offsets"), "{}", ran.stderr);
    assert_eq!(folder.read("b.csv"), b"3,4\n");
    let ran = folder.run(["c", "-o", "new.blp", "b.csv"]).status_is(1);
    assert!(ran.stderr.contains("-o is --no-offsets"), "{}", ran.stderr);

    folder.run(["c", "b.csv", "-O", "new.blp"]).succeeded();
    folder.run(["c", "b.csv", "new.blp", "-f"]).succeeded();
    assert_eq!(
        folder.run(["d", "--stdout", "new.blp"]).succeeded(),
        b"3,4\n"
    );
    folder
        .run(["c", "--rm", "b.csv"])
        .failed(2, "blpk never removes its input");
    folder.run(["c", "--keep", "-f", "b.csv"]).succeeded();
    assert_eq!(folder.names(), ["b.csv", "b.csv.blp", "new.blp", "out.blp"]);
}
