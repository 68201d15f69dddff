//! Tests of help, version, completions and the manual page.

use bloscpack::Checksum;
use bloscpack::blosc::ChunkSettings;

use crate::support::{Folder, Ran};

#[test]
fn help_documents_the_exit_statuses() {
    let folder = Folder::new();
    for flag in ["-h", "--help"] {
        let ran = folder.run([flag]);
        let help = String::from_utf8(ran.succeeded()).unwrap();
        for (status, meaning) in [
            (0, "success; all data is sound"),
            (1, "the work failed"),
            (2, "wrong usage"),
            (3, "damaged data"),
            (4, "truncated, unterminated or unfinished"),
            (5, "unknown or unsupported format, or over a limit"),
            (
                6,
                "the change is committed, but not completed: do not repeat it",
            ),
        ] {
            assert!(help.contains(&format!("  {status}  {meaning}")), "{help}");
        }
        for command in [
            "compress",
            "decompress",
            "cat",
            "append",
            "patch",
            "reindex",
            "info",
            "verify",
            "recover",
            "records",
            "ls",
            "import",
            "export",
            "convert",
            "dataset",
            "sql",
            "completions",
            "man",
        ] {
            assert!(
                help.contains(&format!("\n  {command} ")),
                "{command}: {help}"
            );
        }
    }
}

#[test]
fn help_names_the_defaults_of_the_library() {
    let folder = Folder::new();
    let help = String::from_utf8(folder.run(["c", "--help"]).succeeded()).unwrap();
    let settings = ChunkSettings::default();
    for default in [
        format!("[default: {}]", settings.compressor),
        format!("[default: {};", settings.level),
        format!("[default: {}]", settings.typesize),
        format!("[default: {}]", settings.filter),
        format!("[default: {};", Checksum::default()),
        "[default: 1M]".to_owned(),
    ] {
        assert!(help.contains(&default), "{default}: {help}");
    }
    for codec in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        assert!(help.contains(codec), "{codec}");
    }
}

#[test]
fn every_subcommand_has_help() {
    let folder = Folder::new();
    for command in [
        "c",
        "d",
        "cat",
        "a",
        "patch",
        "reindex",
        "i",
        "verify",
        "recover",
        "ls",
        "import",
        "export",
        "convert",
        "completions",
        "man",
    ] {
        let help = String::from_utf8(folder.run([command, "--help"]).succeeded()).unwrap();
        assert!(help.contains("Usage: blpk "), "{help}");
        assert!(
            help.ends_with("Options of every command (-f, -n, -v, -q, ...): blpk --help\n"),
            "{help}"
        );
        assert!(!help.contains("--progress"), "{help}");
    }
}

#[test]
fn every_subcommand_of_records_has_help_with_its_separators() {
    let folder = Folder::new();
    for command in ["pack", "unpack", "get", "append"] {
        let ran = folder.run(["records", command, "--help"]);
        let help = String::from_utf8(ran.succeeded()).unwrap();
        for part in ["Usage: blpk records ", "--null", "--lengths", "blpk --help"] {
            assert!(help.contains(part), "{command}: {part}: {help}");
        }
        let same = folder.run(["help", "records", command]).succeeded();
        assert_eq!(String::from_utf8(same).unwrap(), help);
    }
    let help = folder.run(["records", "pack", "--help"]).succeeded();
    let help = String::from_utf8(help).unwrap();
    assert!(help.contains("[OPTIONS] [IN] <OUT>"), "{help}");
    assert!(help.contains("\n  blpk records pack --small "), "{help}");
}

#[test]
fn every_subcommand_of_dataset_has_help() {
    let folder = Folder::new();
    for command in [
        "append",
        "trim",
        "resize",
        "set",
        "attrs",
        "add-column",
        "delete-column",
        "index",
        "repair",
    ] {
        let help = folder.run(["dataset", command, "--help"]).succeeded();
        let help = String::from_utf8(help).unwrap();
        let usage = format!("Usage: blpk dataset {command} ");
        for part in [&usage, "blpk --help", "<DIR>"] {
            assert!(help.contains(part), "{command}: {part}: {help}");
        }
    }
}

/// Scripts that use them keep working.
#[test]
fn old_names_of_options_are_hidden_aliases() {
    let folder = Folder::new();
    for (command, old, new) in [
        ("import", "--superchunk", "--chunks-per-superchunk"),
        ("dataset delete-column", "--keep", "--keep-files"),
        ("dataset repair", "--cut", "--truncate"),
        ("compress", "--clevel", "--level"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let help = folder.run([&words[..], &["--help"]].concat()).succeeded();
        let help = String::from_utf8(help).unwrap();
        assert!(help.contains(&format!("{new} ")) || help.contains(&format!("{new}\n")));
        // `--clevel` is that of the Python tool, and shown as an alias.
        assert!(!help.contains(&format!(" {old} ")), "{old}: {help}");
        let ran = folder.run([&words[..], &[old]].concat()).status_is(2);
        assert!(!ran.stderr.contains("unexpected"), "{old}: {}", ran.stderr);
    }
}

#[test]
fn no_arguments_show_the_help_as_an_error() {
    let ran = Folder::new().run::<&str>([]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("Usage: blpk"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
}

#[test]
fn version() {
    let folder = Folder::new();
    let text = String::from_utf8(folder.run(["--version"]).succeeded()).unwrap();
    let first = concat!("blpk ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("compressors: "), "{text}");
    assert_eq!(folder.run(["-V"]).succeeded(), first.as_bytes());
}

#[test]
fn completions() {
    let folder = Folder::new();
    for (shell, sign) in [
        ("bash", "complete -F _blpk"),
        ("zsh", "#compdef blpk"),
        ("fish", "complete -c blpk"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = String::from_utf8(folder.run(["completions", shell]).succeeded()).unwrap();
        assert!(script.contains(sign), "{shell}: {script}");
        for word in ["decompress", "unpack", "--quick"] {
            assert!(
                script.contains(word.trim_start_matches('-')),
                "{shell} {word}"
            );
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let folder = Folder::new();
    folder.write("blpk.bash", folder.run(["completions", "bash"]).succeeded());
    let mut bash = assert_cmd::Command::new("bash");
    let ran: Ran = bash
        .arg("-n")
        .arg(folder.path("blpk.bash"))
        .output()
        .unwrap()
        .into();
    ran.succeeded();
}

#[test]
fn the_manual_page() {
    let page = String::from_utf8(Folder::new().run(["man"]).succeeded()).unwrap();
    assert!(page.contains("\n.TH blpk 1"), "{page}");
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "SUBCOMMANDS",
        "EXAMPLES",
        "\"EXIT STATUS\"",
    ] {
        assert!(
            page.contains(&format!("\n.SH {section}\n")),
            "{section}: {page}"
        );
    }
    for part in [
        "BLPK COMPRESS, C",
        "BLPK DECOMPRESS, D",
        "BLPK CAT",
        "BLPK INFO, I",
        "BLPK VERIFY",
        "BLPK RECOVER",
        "BLPK RECORDS",
        "BLPK RECORDS PACK",
        "BLPK RECORDS UNPACK",
        "BLPK RECORDS GET",
        "BLPK RECORDS APPEND",
    ] {
        assert!(
            page.contains(&format!("\n.SH \"{part}\"\n")),
            "{part}: {page}"
        );
    }
    assert!(
        page.contains("damaged data; from recover: something is lost, or may be"),
        "{page}"
    );
    assert!(page.contains("\\-\\-chunk\\-size"), "{page}");
}

#[test]
fn a_file_without_a_command_is_told_which() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.write("data.blp", "some bytes");
    folder
        .run(["-d", "data.blp"])
        .failed(2, "use 'blpk decompress'");
    folder.run(["data"]).failed(2, "use 'blpk compress'");
    folder.run(["nothing"]).failed(2, "unrecognized subcommand");
}
