//! The layers of the crate import only from those below; `unsafe` and panics stay where they
//! belong. Read from the sources, so that nobody has to remember it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From low to high: each may use those before it. `ARCHITECTURE.md` tells why.
const LAYERS: [&str; 10] = [
    "blosc", "limits", "wire", "error", "array", "storage", "file", "frame", "dataset", "exchange",
];

/// The only places with `unsafe`: vector instructions, calls into the C libraries of LZ4 and of
/// Blosc 2, and a file mapped into memory.
const UNSAFE: [&str; 4] = [
    "src/blosc/filter/",
    "src/blosc/compressor/lz4.rs",
    "src/blosc/c_blosc2.rs",
    "src/storage/map.rs",
];

#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: String,
    line: usize,
}

/// Words and signs of a source, without comments, strings and characters.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let (mut at, mut line, mut tokens) = (0, 1, Vec::new());
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    while at < chars.len() {
        let (start, c) = (at, chars[at]);
        match c {
            '/' if peek(at + 1) == '/' => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            '/' if peek(at + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (peek(at), peek(at + 1)) {
                        ('/', '*') => (depth, at) = (depth + 1, at + 2),
                        ('*', '/') => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                    if depth == 0 || at >= chars.len() {
                        break;
                    }
                }
            }
            '"' => at = string_end(&chars, at + 1),
            'r' | 'b' if raw_hashes(&chars, at).is_some() => {
                let (hashes, inside) = raw_hashes(&chars, at).unwrap();
                let end: Vec<char> = format!("\"{}", "#".repeat(hashes)).chars().collect();
                at = inside;
                while at < chars.len() && !chars[at..].starts_with(&end) {
                    at += 1;
                }
                at += end.len();
            }
            // A character, unless it is a lifetime.
            '\'' if peek(at + 1) == '\\' => {
                at += 3;
                while at < chars.len() && chars[at - 1] != '\'' {
                    at += 1;
                }
            }
            '\'' if peek(at + 2) == '\'' => at += 3,
            _ if word(c) => {
                while word(peek(at)) {
                    at += 1;
                }
                let text: String = chars[start..at].iter().collect();
                tokens.push(Token { text, line });
            }
            ':' if peek(at + 1) == ':' => {
                at += 2;
                let text = "::".to_owned();
                tokens.push(Token { text, line });
            }
            _ => {
                at += 1;
                if !c.is_whitespace() {
                    let text = c.to_string();
                    tokens.push(Token { text, line });
                }
            }
        }
        line += chars[start..at.min(chars.len())]
            .iter()
            .filter(|c| **c == '\n')
            .count();
    }
    tokens
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Where a raw string begins here: its number of hashes, and the first character inside.
fn raw_hashes(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let rest: String = chars[at..].iter().take(20).collect();
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let skipped = rest.len() - after.len();
    after[hashes..]
        .starts_with('"')
        .then_some((hashes, at + skipped + hashes + 1))
}

/// A source without what is only compiled for tests.
struct Source {
    /// From the root of the package.
    path: String,
    /// Its module, from the root of its crate.
    module: Vec<String>,
    tokens: Vec<Token>,
    /// Modules in files of their own that are only for tests.
    test_files: Vec<String>,
}

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

/// Takes out items behind `#[cfg(test)]`.
fn without_tests(all: &[Token]) -> (Vec<Token>, Vec<String>) {
    let sign = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut files, mut at) = (Vec::new(), Vec::new(), 0);
    while at < all.len() {
        if !texts(&all[at..]).starts_with(&sign) {
            kept.push(all[at].clone());
            at += 1;
            continue;
        }
        at += sign.len();
        let mut depth = 0;
        loop {
            match all[at].text.as_str() {
                "mod" if all[at + 2].text == ";" => files.push(all[at + 1].text.clone()),
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let ends = matches!(all[at].text.as_str(), "}" | ";");
            at += 1;
            if depth == 0 && ends {
                break;
            }
        }
    }
    (kept, files)
}

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_under(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// All sources under `src`.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    files_under(&root.join("src"), &mut files);
    files.sort();
    let mut sources: Vec<_> = files
        .iter()
        .map(|file| {
            let path = file.strip_prefix(root).unwrap();
            let mut module: Vec<String> = path
                .with_extension("")
                .iter()
                .skip(1)
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if module.first().is_some_and(|first| first == "bin") {
                module.drain(..2);
            }
            if matches!(
                module.last().map(String::as_str),
                Some("mod" | "lib" | "main")
            ) {
                module.pop();
            }
            let all = tokens(&std::fs::read_to_string(file).unwrap());
            let (tokens, test_files) = without_tests(&all);
            Source {
                path: path.to_string_lossy().replace('\\', "/"),
                module,
                tokens,
                test_files,
            }
        })
        .collect();
    let tests: BTreeSet<Vec<String>> = sources
        .iter()
        .flat_map(|source| {
            let join = |name: &String| [source.module.clone(), vec![name.clone()]].concat();
            source.test_files.iter().map(join)
        })
        .collect();
    // With the modules within them.
    let is_test = |module: &[String]| tests.iter().any(|test| module.starts_with(test));
    sources.retain(|source| !is_test(&source.module));
    assert!(sources.len() > 30, "only {} sources", sources.len());
    sources
}

/// The first names behind `crate::`, or behind `super::` where that leads to the crate's root; each
/// with its line.
fn names_at_root(source: &Source) -> Vec<(String, usize)> {
    let (texts, mut found) = (texts(&source.tokens), Vec::new());
    // For each open brace, whether it is that of a module.
    let mut braces = Vec::new();
    let mut at = 0;
    while at < texts.len() {
        match texts[at] {
            "{" => braces.push(at >= 2 && texts[at - 2] == "mod"),
            "}" => drop(braces.pop()),
            _ => {}
        }
        let inside = at > 0 && texts[at - 1] == "::";
        let mut depth = source.module.len() + braces.iter().filter(|is_module| **is_module).count();
        let mut next = at;
        if texts[at] == "crate" && !inside {
            (depth, next) = (0, at + 1);
        } else if texts[at] == "super" && !inside {
            while texts[next] == "super" && texts[next + 1] == "::" {
                depth -= 1;
                next += 2;
            }
            next -= 1;
        }
        if next > at && depth == 0 && texts[next] == "::" {
            found.extend(first_names(&source.tokens[next + 1..]));
        }
        at = next.max(at + 1);
    }
    found
}

/// The name that follows, or each that begins a branch of the group that follows.
fn first_names(tokens: &[Token]) -> Vec<(String, usize)> {
    let name = |token: &Token| (token.text.clone(), token.line);
    if tokens[0].text != "{" {
        return vec![name(&tokens[0])];
    }
    let (mut names, mut depth) = (Vec::new(), 0);
    for (before, token) in tokens.iter().zip(&tokens[1..]) {
        match before.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(before.text.as_str(), "{" | ",") && token.text != "}" {
            names.push(name(token));
        }
    }
    names
}

/// What `lib.rs` shows at the root, and the module where it lives.
fn reexports(lib: &Source) -> BTreeMap<String, String> {
    let texts = texts(&lib.tokens);
    let mut homes = BTreeMap::new();
    for at in (0..texts.len()).filter(|at| texts[*at] == "use") {
        let end = at + texts[at..].iter().position(|text| *text == ";").unwrap();
        // What an alias or a comma or a brace follows is a name; modules of the way do no harm.
        for word in &texts[at + 2..end] {
            if word.chars().all(|c| c.is_alphanumeric() || c == '_') {
                homes.insert((*word).to_owned(), texts[at + 1].to_owned());
            }
        }
    }
    homes
}

fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|name| *name == layer)
}

/// What a source may not import, as messages.
fn wrong_imports(source: &Source, homes: &BTreeMap<String, String>) -> (usize, Vec<String>) {
    let own = rank(&source.module[0])
        .unwrap_or_else(|| panic!("{} belongs to no layer: give it a place", source.path));
    let names = names_at_root(source);
    let wrong = names.iter().filter_map(|(name, line)| {
        let home = if rank(name).is_some() {
            name
        } else {
            homes.get(name).unwrap_or(name)
        };
        let place = format!(
            "{}:{line}: `{}` uses `{home}`",
            source.path, source.module[0]
        );
        match rank(home) {
            Some(rank) if rank <= own => None,
            Some(_) => Some(format!("{place}, which is above it")),
            None => Some(format!("{place}, which is no layer")),
        }
    });
    (names.len(), wrong.collect())
}

#[test]
fn each_layer_imports_only_from_those_below() {
    let sources = sources();
    let is_bin = |source: &&Source| source.path.starts_with("src/bin/");
    let lib = sources
        .iter()
        .find(|source| source.path == "src/lib.rs")
        .unwrap();
    let homes = reexports(lib);
    assert_eq!(homes.get("Limits").map(String::as_str), Some("limits"));
    let (mut imports, mut wrong) = (0, Vec::new());
    for source in sources
        .iter()
        .filter(|source| !is_bin(source) && source.path != lib.path)
    {
        let (count, complaints) = wrong_imports(source, &homes);
        imports += count;
        wrong.extend(complaints);
    }
    println!(
        "{} sources, {imports} imports between modules of the root",
        sources.len()
    );
    assert!(imports > 50);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_command_stands_on_the_public_interface() {
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("src/bin/"))
    {
        let texts = texts(&source.tokens);
        // The compiler keeps `bloscpack::` to what is public; these are the ways around it.
        for way in [["#", "[", "path"], ["include", "!", "("]] {
            assert!(
                !texts.windows(3).any(|three| three == way),
                "{}: {way:?}",
                source.path
            );
        }
        for (name, line) in names_at_root(source) {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/blpk");
            let own = folder.join(&name).is_dir() || folder.join(format!("{name}.rs")).exists();
            let layer = rank(&name).is_some();
            assert!(own || !layer, "{}:{line}: crate::{name}", source.path);
        }
    }
}

#[test]
fn unsafe_code_stays_at_the_edges() {
    let (mut count, mut wrong) = (0, Vec::new());
    for source in sources() {
        let allowed = UNSAFE.iter().any(|place| source.path.starts_with(place));
        for token in source.tokens.iter().filter(|token| token.text == "unsafe") {
            count += 1;
            if !allowed {
                wrong.push(format!("{}:{}", source.path, token.line));
            }
        }
    }
    println!("{count} times unsafe");
    assert!(count > 10);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_outside_of_tests_panics_at_will() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (three, token) in texts(&source.tokens).windows(3).zip(&source.tokens) {
            let panics = matches!(
                three,
                [".", "unwrap" | "expect" | "unwrap_err" | "expect_err", "("]
                    | ["panic" | "todo" | "unimplemented" | "unreachable", "!", _]
            );
            if panics {
                let what = three.concat();
                wrong.push(format!("{}:{}: {what}", source.path, token.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A source as it might be written, at this place.
fn planted(path: &str, module: &[&str], text: &str) -> Source {
    let (tokens, test_files) = without_tests(&tokens(text));
    Source {
        path: path.to_owned(),
        module: module.iter().map(|part| (*part).to_owned()).collect(),
        tokens,
        test_files,
    }
}

#[test]
fn what_these_tests_look_for_they_find() {
    let homes = BTreeMap::from([("Limits".to_owned(), "limits".to_owned())]);
    let complaints = |module: &[&str], text: &str| {
        wrong_imports(&planted("planted.rs", module, text), &homes)
            .1
            .len()
    };
    assert_eq!(
        complaints(&["wire", "parser"], "use crate::error::Error;"),
        1
    );
    assert_eq!(
        complaints(
            &["wire"],
            "use crate::{blosc::{self, X}, file, limits::Limits};"
        ),
        1
    );
    assert_eq!(
        complaints(&["blosc", "filter"], "fn f(_: crate::Limits) {}"),
        1
    );
    assert_eq!(
        complaints(&["blosc", "filter"], "use super::super::wire::Header;"),
        1
    );
    assert_eq!(
        complaints(
            &["blosc", "filter"],
            "mod a { use super::super::super::file; }"
        ),
        1
    );
    assert_eq!(complaints(&["blosc"], "mod a { use super::wire; }"), 0);
    assert_eq!(
        complaints(&["file"], "use crate::{blosc, error, limits, wire};"),
        0
    );
    assert_eq!(
        complaints(
            &["wire"],
            "// crate::file\n/* crate::file */ const A: &str = \"crate::file\";"
        ),
        0
    );
    assert_eq!(
        complaints(&["wire"], "const Q: char = '\"'; use crate::file; // \""),
        1
    );
    assert_eq!(
        complaints(&["wire"], "#[cfg(test)]\nmod tests { use crate::file; }\n"),
        0
    );
    assert_eq!(
        complaints(&["wire"], "#[cfg(test)]\nmod tests;\nuse crate::file;"),
        1
    );
    assert_eq!(
        complaints(
            &["wire"],
            "const A: &str = r#\"\" crate::file\"#; fn a<'a>(_: &'a u8) {}"
        ),
        0
    );
}
