//! [`ChunkKeys`]: the names of chunk files.

use bloscpack_storage::Key;
use std::io;

/// How the position of a chunk becomes the name of its file.
///
/// | version | encoding | names for position 1, 20 |
/// |---|---|---|
/// | 2 | `dimension_separator` `.` or `/` | `1.20`, `1/20` |
/// | 3 | `default`, separator `/` or `.` | `c/1/20`, `c.1.20` |
/// | 3 | `v2`, separator `.` or `/` | `1.20`, `1/20` |
///
/// ```
/// use bloscpack_zarr::ChunkKeys;
/// let key = |keys: ChunkKeys, at: &[u64]| keys.text(at);
/// assert_eq!(key(ChunkKeys::new(true, '/'), &[1, 20]), "c/1/20");
/// assert_eq!(key(ChunkKeys::new(false, '.'), &[1, 20]), "1.20");
/// assert_eq!(key(ChunkKeys::new(true, '/'), &[]), "c");
/// assert_eq!(key(ChunkKeys::new(false, '.'), &[]), "0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkKeys {
    /// Whether names begin with `c`: the encoding `default` of version 3.
    pub prefix: bool,
    /// The separator between numbers, `/` or `.`.
    pub separator: char,
}

impl ChunkKeys {
    /// The keys with or without `c`, and with this separator.
    #[must_use]
    pub const fn new(prefix: bool, separator: char) -> Self {
        Self { prefix, separator }
    }

    /// The name of a chunk, relative to the folder of its array. A name with `/` is a file in folders. An array without axes
    /// has the chunk `c` or `0`.
    #[must_use]
    pub fn text(self, at: &[u64]) -> String {
        let mut parts: Vec<String> = at.iter().map(u64::to_string).collect();
        match (self.prefix, at) {
            (true, _) => parts.insert(0, "c".to_owned()),
            (false, []) => parts.push("0".to_owned()),
            _ => {}
        }
        parts.join(&self.separator.to_string())
    }

    /// The key of a chunk of the array in this folder.
    pub(crate) fn key(self, folder: &Key, at: &[u64]) -> io::Result<Key> {
        let text = self.text(at);
        let mut names = text.split('/');
        names.try_fold(folder.clone(), |key, name| key.join(name))
    }

    /// The position of the chunk with this name; `None` for a name that [`text`](Self::text) never returns for this number of
    /// axes, such as `01`.
    pub(crate) fn parse(self, name: &str, axes: usize) -> Option<Vec<u64>> {
        let mut parts: Vec<&str> = name.split(self.separator).collect();
        if self.prefix {
            let first = (!parts.is_empty()).then(|| parts.remove(0));
            first.filter(|first| *first == "c")?;
        } else if axes == 0 {
            return (name == "0").then(Vec::new);
        }
        let at: Option<Vec<u64>> = parts.iter().map(|part| part.parse().ok()).collect();
        at.filter(|at| at.len() == axes && self.text(at) == name)
    }
}

#[cfg(test)]
mod tests {
    use super::ChunkKeys;

    #[test]
    fn names_are_read_as_they_are_written() {
        for prefix in [false, true] {
            for separator in ['/', '.'] {
                let keys = ChunkKeys::new(prefix, separator);
                for at in [&[][..], &[0], &[3, 0, u64::MAX]] {
                    let text = keys.text(at);
                    assert_eq!(keys.parse(&text, at.len()).as_deref(), Some(at), "{text}");
                }
                for other in [
                    "01",
                    "c/01",
                    "+1",
                    "c.x",
                    "",
                    "c/",
                    "1.2",
                    "c.1.2",
                    "c/1/2",
                    "zarr.json",
                ] {
                    assert_eq!(keys.parse(other, 1), None, "{other}");
                }
            }
        }
    }
}
