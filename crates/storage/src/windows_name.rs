//! Names that no file on Windows can have.

use std::io;

/// Reserved device names, in every folder and with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Checks that Windows can store a file under this name and under no other: it opens a device for a device
/// name, takes a colon as the start of a stream name, and drops dots and spaces at the end.
///
/// ```
/// use bloscpack_storage::internal::check_windows_name;
/// assert!(check_windows_name("price").is_ok() && check_windows_name("console").is_ok());
/// for name in ["con", "NUL.blp", "lpt1", "a:b", "a?", "ends in a dot."] {
///     assert!(check_windows_name(name).is_err(), "{name}");
/// }
/// ```
///
/// # Errors
/// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) with the name and the reason.
pub fn check(name: &str) -> io::Result<()> {
    let is_forbidden = |c: char| c < ' ' || matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    let reason = if is_device(name) {
        "it is a device there"
    } else if name.contains(is_forbidden) {
        "it contains a character that no name there has"
    } else if name.ends_with(['.', ' ']) {
        "its end is dropped there"
    } else {
        return Ok(());
    };
    let what = format!("{name:?} cannot be the name of a file on Windows: {reason}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

fn is_device(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or(name);
    let stem = stem.trim_end_matches(' ').to_uppercase();
    if DEVICES.contains(&stem.as_str()) {
        return true;
    }
    // COM1 to COM9, LPT1 to LPT9, and the same with superscript digits.
    let number = stem.strip_prefix("COM").or(stem.strip_prefix("LPT"));
    number.is_some_and(|number| {
        let mut chars = number.chars();
        let is_port = |c| matches!(c, '1'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}');
        chars.next().is_some_and(is_port) && chars.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_that_mean_something_else_are_refused() {
        for name in [
            "CON",
            "con",
            "Con.txt",
            "nul .blp",
            "aux",
            "COM1",
            "com9.x.y",
            "LPT\u{b2}",
            "CONIN$",
            "a:b",
            "a.",
            "a ",
            "...",
            "a<b",
            "tab\there",
            "what?",
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains("on Windows"), "{error}");
        }
    }

    #[test]
    fn names_that_only_look_like_them_are_names() {
        for name in [
            "console",
            "COM",
            "COM0",
            "COM10",
            "LPTX",
            "nulls",
            ".blpk",
            "a.con",
            " a",
            "__1.blp",
            "\u{fc}ml\u{e4}ut",
        ] {
            check(name).unwrap();
        }
    }
}
