//! The files that other programs wrote: the archives of `testdata/`, unpacked in `target/testdata`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use flate2::read::GzDecoder;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A path below `target/testdata`.
pub fn testdata(path: &str) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let root = crate::root();
        unpacked(&root.join("testdata"), &root.join("target"))
    });
    FOLDER.join(path)
}

/// Makes `target` the current directory: examples in the documentation read `testdata/...` there.
pub fn enter_testdata() {
    std::env::set_current_dir(testdata("..")).unwrap();
}

/// The folder `testdata` in `target`, with the content of the archives. Whichever program comes first unpacks them, and the others
/// wait for it. `testdata/archives.py` does the same.
fn unpacked(archives: &Path, target: &Path) -> PathBuf {
    fs::create_dir_all(target).unwrap();
    let lock = File::create(target.join("testdata.lock")).unwrap();
    lock.lock().unwrap();
    let paths = archives
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "gz"))
        .collect();
    paths.sort();
    let contents: Vec<_> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let mut stamp = String::new();
    for (path, content) in paths.iter().zip(&contents) {
        stamp += path.file_name().unwrap().to_str().unwrap();
        stamp.push(' ');
        // Gzip ends with the CRC and the length of what is compressed.
        for byte in &content[content.len() - 8..] {
            write!(stamp, "{byte:02x}").unwrap();
        }
        stamp.push('\n');
    }
    let folder = target.join("testdata");
    let is_current =
        fs::read_to_string(folder.join("archives.txt")).is_ok_and(|text| text == stamp);
    if !is_current {
        let new = target.join("testdata.new");
        let _ = fs::remove_dir_all(&new);
        for content in &contents {
            tar::Archive::new(GzDecoder::new(&content[..]))
                .unpack(&new)
                .unwrap();
        }
        fs::write(new.join("archives.txt"), stamp).unwrap();
        let _ = fs::remove_dir_all(&folder);
        fs::rename(&new, &folder).unwrap();
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn pack(archives: &Path, name: &str, content: &str) {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for number in 0..200 {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            let path = format!("{name}/{number}");
            tar.append_data(&mut header, path, content.as_bytes())
                .unwrap();
        }
        let packed = tar.into_inner().unwrap().finish().unwrap();
        fs::write(archives.join(format!("{name}.tar.gz")), packed).unwrap();
    }

    #[test]
    fn programs_that_start_at_once_find_everything_unpacked() {
        let place = tempfile::tempdir().unwrap();
        let (archives, target) = (place.path().join("archives"), place.path().join("target"));
        fs::create_dir(&archives).unwrap();
        for content in ["old", "new"] {
            pack(&archives, "one", content);
            pack(&archives, "two", content);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let folder = unpacked(&archives, &target);
                        for file in ["one/0", "one/199", "two/0", "two/199"] {
                            assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), content);
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn the_archives_of_the_repository_hold_what_each_tool_wrote() {
        for file in [
            "bloscpack/manifest.json",
            "datasets/bcolz/manifest.json",
            "datasets/documents",
            "frames/caterva/manifest.json",
            "blosc2/chunks.bin",
            "exchange/table.parquet",
        ] {
            assert!(testdata(file).exists(), "{file}");
        }
    }
}
