//! Tests of datasets in ZIP archives, beside the same datasets as directories.

use std::fs::{self, File};
use std::io::{self, Cursor, Write as _};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::corpora;
use crate::support::{Folder, Ran};

/// A folder with the table `table`, and the same in `stored.zip` and `deflated.zip`.
fn with_archives() -> Folder {
    let folder = Folder::new();
    let chosen = corpora::chosen();
    let table = chosen.path().join("bcolz/table_mixed");
    corpora::copy(&table, &folder.path("table"));
    for (name, method) in [
        ("stored.zip", CompressionMethod::Stored),
        ("deflated.zip", CompressionMethod::Deflated),
    ] {
        let mut archive = ZipWriter::new(File::create(folder.path(name)).unwrap());
        let options = SimpleFileOptions::default().compression_method(method);
        add(&mut archive, &folder.path(""), "table", options);
        archive.finish().unwrap();
    }
    folder
}

fn add(archive: &mut ZipWriter<File>, root: &Path, below: &str, options: SimpleFileOptions) {
    let path = root.join(below);
    if path.is_file() {
        archive.start_file(below, options).unwrap();
        archive.write_all(&fs::read(path).unwrap()).unwrap();
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        add(archive, root, &format!("{below}/{name}"), options);
    }
}

fn csv(folder: &Folder, name: &str) -> Vec<u8> {
    folder.run(["export", "--to", "csv", name, "-"]).succeeded()
}

#[test]
fn an_archive_is_read_like_the_directory() {
    let folder = with_archives();
    let expected = csv(&folder, "table");
    assert!(expected.len() > 10_000);
    for name in ["stored.zip", "deflated.zip"] {
        assert_eq!(csv(&folder, name), expected);
        folder.run(["verify", name]).succeeded();
        let info = folder.run(["info", name]).succeeded();
        assert!(String::from_utf8(info).unwrap().contains("700"));
        folder.run(["convert", name, "copy"]).succeeded();
        assert_eq!(csv(&folder, "copy"), expected);
        fs::remove_dir_all(folder.path("copy")).unwrap();
    }
}

#[test]
fn only_archives_of_datasets_are_listed() {
    let folder = with_archives();
    let mut other = ZipWriter::new(File::create(folder.path("other.zip")).unwrap());
    other
        .start_file("letter.txt", SimpleFileOptions::default())
        .unwrap();
    other.finish().unwrap();
    let Ran {
        status,
        stdout,
        stderr,
    } = folder.run(["ls"]);
    let stdout = String::from_utf8(stdout).unwrap();
    let names = stdout.lines().filter_map(|line| line.split("  ").next());
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["deflated.zip", "stored.zip", "table"]
    );
    assert!(stderr.contains("1 file of another kind"), "{stderr}");
    folder.run(["info", "other.zip"]).failed(5, "not a dataset");
}

#[test]
fn archives_are_not_changed() {
    let folder = with_archives();
    let before = folder.read("stored.zip");
    for args in [
        &["dataset", "trim", "stored.zip", "1"][..],
        &["dataset", "append", "stored.zip", "table"],
        &["dataset", "repair", "stored.zip"],
    ] {
        folder.run(args).failed(2, "an archive is read-only");
    }
    assert_eq!(folder.read("stored.zip"), before);
}

#[test]
fn damage_is_reported_with_its_byte() {
    let folder = with_archives();
    let mut bytes = folder.read("stored.zip");
    folder.write("cut.zip", bytes.get(..bytes.len() / 2).unwrap());
    for command in ["info", "verify", "cat"] {
        folder
            .run([command, "cut.zip"])
            .failed(3, "ZIP archive, byte");
    }
    // Every superchunk begins with the magic of Bloscpack: its first chunk follows after 32 bytes.
    let at = bytes.windows(4).position(|bytes| bytes == b"blpk").unwrap() + 40;
    *bytes.get_mut(at).unwrap() ^= 1;
    folder.write("flipped.zip", &bytes);
    let ran = folder.run(["verify", "flipped.zip"]).status_is(3);
    assert!(
        String::from_utf8(ran.stdout)
            .unwrap()
            .contains("flipped.zip: damaged: ")
    );
}

/// Whether another reader finds every file to be as its checksum says.
fn is_sound(archive: &[u8]) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(archive)) else {
        return false;
    };
    (0..archive.len()).all(|number| {
        let file = archive.by_index(number);
        file.is_ok_and(|mut file| io::copy(&mut file, &mut io::sink()).is_ok())
    })
}

#[test]
fn no_flipped_bit_gives_other_data_in_silence() {
    let folder = with_archives();
    let expected = csv(&folder, "stored.zip");
    let sound = folder.read("stored.zip");
    // Each seventh step is odd, so that all bits of a byte occur.
    let bits = (0..150).map(|number| number * (sound.len() * 8 / 151) + 7 * number % 8);
    for bit in bits {
        let mut bytes = sound.clone();
        *bytes.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
        folder.write("flipped.zip", &bytes);
        let verified = folder.run(["verify", "flipped.zip"]).status;
        assert!(is_sound(&bytes) || verified != 0, "bit {bit}");
        let exported = folder.run(["export", "--to", "csv", "flipped.zip", "-"]);
        let is_same = exported.status == 0 && exported.stdout == expected;
        assert!(is_same || verified != 0, "bit {bit}: {}", exported.stderr);
        // All of it is read, so that all of it is compared.
        assert!(is_same || exported.status != 0, "bit {bit}");
    }
}

#[test]
fn a_member_is_verified_with_its_file() {
    let folder = Folder::new();
    let sound = fs::read(testkit::testdata("virtual/tree.b2z")).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(&sound)).unwrap();
    let file = archive.by_name("a.b2nd").unwrap();
    let start = usize::try_from(file.data_start().unwrap()).unwrap();
    let len = usize::try_from(file.size()).unwrap();
    for step in 0..60 {
        let mut bytes = sound.clone();
        *bytes.get_mut(start + step * (len / 60)).unwrap() ^= 1 << (step % 8);
        folder.write("flipped.b2z", &bytes);
        for path in ["flipped.b2z", "flipped.b2z/a"] {
            let status = folder.run(["verify", path]).status;
            assert!([3, 4, 5].contains(&status), "{path} {step}: {status}");
        }
        folder
            .run(["-q", "verify", "flipped.b2z/lazy"])
            .status_is(0);
    }
}
