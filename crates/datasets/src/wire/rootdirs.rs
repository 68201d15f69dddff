//! `__rootdirs__`: the columns of a table, in order.
//!
//! ```text
//! {"names": ["id", "price"]}                                                     bcolz from 0.7.2
//! {"dirs": {"price": "price", "id": "id"}, "names": ["id", "price"]}             BLZ
//! {"dirs": {"price": "/data/t/price", "id": "/data/t/id"}, "names": [...]}       carray 0.5, bcolz up to 0.7.1
//! ```

use bloscpack_array::json::shown;
use bloscpack_array::json::{Field, Object};
use bloscpack_array::json::{python_json, write_string};
use bloscpack_error::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Bytes of the longest file: enough for far more columns than a file system allows folders.
const MAX_LEN: usize = 16 << 20;

/// The content of `__rootdirs__`. A folder with such a file is a table.
///
/// ```
/// use bloscpack_datasets::wire::RootDirs;
/// let text = b"{\"names\": [\"id\", \"\\u00e9t\\u00e9\"]}\n";
/// let table = RootDirs::parse(text)?;
/// assert_eq!(table.names, ["id", "été"]);
/// assert_eq!(table.folder_of("été"), "été");
/// assert_eq!(table.encode(), text);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RootDirs {
    /// The column names in order, without repetition. They come from the file unchecked: a name may point outside the table,
    /// and code that makes a path of it must refuse that.
    pub names: Vec<String>,
    /// Column names with paths, which may be relative, absolute, or of another machine; `None` if the file has none. There may
    /// be more paths than `names`, since BLZ keeps the paths of deleted columns.
    pub dirs: Option<Vec<(String, String)>>,
}

impl RootDirs {
    /// The columns of a new bcolz table, each in a folder with its name.
    ///
    /// # Errors
    /// Returns a usage error if a name occurs twice.
    pub fn new(names: Vec<String>) -> Result<Self> {
        if let Some(name) = repeated(&names) {
            let message = format!("two columns have the name \"{}\"", shown(name));
            return Err(Error::usage(message));
        }
        let dirs = None;
        Ok(Self { names, dirs })
    }

    /// Adds the paths that BLZ requires: each column's name.
    #[must_use]
    pub fn with_dirs(mut self) -> Self {
        let dirs = self.names.iter().map(|name| (name.clone(), name.clone()));
        self.dirs = Some(dirs.collect());
        self
    }

    /// Parses the file of any writer, up to 16 MiB. Unknown keys are ignored.
    ///
    /// # Errors
    /// Returns an error if the file is not a JSON object, has no list of names, or repeats a name in it.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let object = Object::parse(file, MAX_LEN)?;
        let field = object.need("names")?;
        let names: Vec<String> =
            serde_json::from_str(field.text).map_err(|_| field.wrong("a list of strings"))?;
        if let Some(name) = repeated(&names) {
            let expected = format!(
                "a list without repetition, but \"{}\" occurs twice",
                shown(name)
            );
            return Err(field.wrong(&expected));
        }
        let dirs = object.find("dirs").filter(|field| field.text != "null");
        let dirs = dirs.map(|field| paths(&field)).transpose()?;
        Ok(Self { names, dirs })
    }

    /// The folder of a column: the last component of its path, or its name if it has no path.
    ///
    /// Only the last component counts, because tables are moved after they are written. If there is no such folder, try the
    /// column's name.
    ///
    /// ```
    /// use bloscpack_datasets::wire::RootDirs;
    /// let text = br#"{"dirs": {"a": "/data/t/col_a", "b": "C:\\t\\col_b"}, "names": ["a", "b", "c"]}"#;
    /// let table = RootDirs::parse(text)?;
    /// let folders: Vec<_> = table.names.iter().map(|name| table.folder_of(name)).collect();
    /// assert_eq!(folders, ["col_a", "col_b", "c"]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn folder_of(&self, name: &str) -> String {
        let mut dirs = self.dirs.iter().flatten().rev();
        let path = dirs.find(|(column, _)| column == name);
        end_of(path.map(|(_, path)| path.as_str()), name).to_owned()
    }

    /// The folders of all columns, in the order of `names`. Faster than [`folder_of`](Self::folder_of) for each of many
    /// columns.
    ///
    /// ```
    /// use bloscpack_datasets::wire::RootDirs;
    /// let table = RootDirs::parse(br#"{"dirs": {"a": "/data/t/col_a"}, "names": ["a", "b"]}"#)?;
    /// assert_eq!(table.folders(), ["col_a", "b"]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn folders(&self) -> Vec<String> {
        let dirs = self.dirs.iter().flatten();
        let dirs: HashMap<&str, &str> = dirs.map(|(name, path)| (&**name, &**path)).collect();
        let names = self.names.iter();
        names
            .map(|name| end_of(dirs.get(name.as_str()).copied(), name).to_owned())
            .collect()
    }

    /// The bytes of the file, exactly as BLZ writes them if there are `dirs`, otherwise as bcolz.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut text = "{".to_owned();
        if let Some(dirs) = &self.dirs {
            text.push_str("\"dirs\": {");
            for (number, (name, path)) in dirs.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                write_string(&mut text, name);
                text.push_str(": ");
                write_string(&mut text, path);
            }
            text.push_str("}, ");
        }
        text.push_str("\"names\": ");
        text.push_str(&python_json(&json!(self.names)));
        text.push_str("}\n");
        text.into_bytes()
    }
}

/// The last component of a path, or the name without a path.
fn end_of<'a>(path: Option<&'a str>, name: &'a str) -> &'a str {
    let end = path.and_then(|path| path.rsplit(['/', '\\']).next());
    end.filter(|end| !end.is_empty()).unwrap_or(name)
}

fn repeated(names: &[String]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(names.len());
    let mut names = names.iter().map(String::as_str);
    names.find(|name| !seen.insert(*name))
}

fn paths(field: &Field<'_>) -> Result<Vec<(String, String)>> {
    let wrong = || field.wrong("an object of strings");
    let map: Map<String, Value> = serde_json::from_str(field.text).map_err(|_| wrong())?;
    let pair = |(name, path)| match path {
        Value::String(path) => Ok((name, path)),
        _ => Err(wrong()),
    };
    map.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::RootDirs;
    use bloscpack_error::Category;

    fn parsed(text: &str) -> RootDirs {
        RootDirs::parse(text.as_bytes()).unwrap()
    }

    /// Written by bcolz 1.2.1, BLZ 0.6 and carray 0.5.
    #[test]
    fn real_files_are_read_and_written() {
        let texts = [
            "{\"names\": [\"open\", \"high\", \"low\", \"close\", \"volume\"]}\n",
            "{\"names\": [\"\\u00e9t\\u00e9\"]}\n",
            "{\"dirs\": {\"price\": \"price\", \"ts\": \"ts\", \"flag\": \"flag\", \"sym\": \"sym\", \"id\": \"id\"}, \"names\": [\"id\", \"price\", \"sym\", \"flag\", \"ts\"]}\n",
            "{\"dirs\": {\"a\": \"/data/carray05/table_empty/a\", \"b\": \"/data/carray05/table_empty/b\"}, \"names\": [\"a\", \"b\"]}\n",
        ];
        for text in texts {
            let table = parsed(text);
            assert_eq!(String::from_utf8(table.encode()).unwrap(), text);
            for name in &table.names {
                assert_eq!(&table.folder_of(name), name);
            }
        }
    }

    #[test]
    fn folders_are_the_ends_of_paths() {
        let folder = |path: &str| {
            let dirs = Some(vec![("a".to_owned(), path.to_owned())]);
            RootDirs {
                names: vec!["a".to_owned()],
                dirs,
            }
            .folder_of("a")
        };
        let facts = [
            ("b", "b"),
            ("/x/b", "b"),
            ("x/b", "b"),
            (r"C:\x\b", "b"),
            (r"x/y\b", "b"),
            ("/x/", "a"),
            ("", "a"),
        ];
        for (path, expected) in facts {
            assert_eq!(folder(path), expected, "{path}");
        }
    }

    /// BLZ leaves such a path when a column is deleted.
    #[test]
    fn paths_without_a_name_mean_nothing() {
        let table = parsed(r#"{"dirs": {"a": "a", "gone": "gone"}, "names": ["a"]}"#);
        assert_eq!(table.names, ["a"]);
    }

    #[test]
    fn new_tables_are_spelled_for_their_reader() {
        let names = || vec!["id".to_owned(), "price".to_owned()];
        let table = RootDirs::new(names()).unwrap();
        assert_eq!(table.encode(), b"{\"names\": [\"id\", \"price\"]}\n");
        let text =
            b"{\"dirs\": {\"id\": \"id\", \"price\": \"price\"}, \"names\": [\"id\", \"price\"]}\n";
        assert_eq!(table.with_dirs().encode(), text);
        let twice = RootDirs::new(vec!["a".to_owned(), "a".to_owned()]);
        assert_eq!(twice.unwrap_err().category(), Category::Usage);
    }

    #[test]
    fn impossible_files_are_refused() {
        for text in [
            r#"{"dirs": {}}"#,
            r#"{"names": "a"}"#,
            r#"{"names": [1]}"#,
            r#"{"names": [NaN]}"#,
            r#"{"names": ["a", "b", "\u0061"]}"#,
            r#"{"names": ["a"], "dirs": ["a"]}"#,
            r#"{"names": ["a"], "dirs": {"a": 1}}"#,
        ] {
            let error = RootDirs::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), Category::Damaged, "{text}");
        }
        let error = RootDirs::parse(br#"{"names": ["a", "a"]}"#).unwrap_err();
        assert!(
            error.to_string().ends_with("but \"a\" occurs twice"),
            "{error}"
        );
    }
}
