//! The header in `include/` is what cbindgen makes of the sources.

use std::path::Path;

use cbindgen::{Builder, Config};

/// The sources with exported functions and constants, in the order of the header.
const SOURCES: [&str; 6] = [
    "constants",
    "global",
    "compress",
    "decompress",
    "names",
    "header",
];

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut builder = Builder::new().with_config(config);
    let folder = tempfile::tempdir().unwrap();
    for name in SOURCES {
        let source = std::fs::read_to_string(root.join(format!("src/{name}.rs"))).unwrap();
        // cbindgen does not look for the attribute within a condition.
        let source = source.replace(
            "#[cfg_attr(not(test), unsafe(no_mangle))]",
            "#[unsafe(no_mangle)]",
        );
        let copy = folder.path().join(format!("{name}.rs"));
        std::fs::write(&copy, source).unwrap();
        builder = builder.with_src(copy);
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = root.join("include/blosc.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == made,
        "run this test with UPDATE_HEADER=1 to bring include/blosc.h up to date"
    );
}
