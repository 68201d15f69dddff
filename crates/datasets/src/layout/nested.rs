//! Nested columns: the fields of a dtype as columns with dotted names, and back.

use crate::array_storage::ArraySpec;
use crate::files::{below, join};
use crate::wire::proposal::Elements;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::Key;

/// A column without columns inside it.
pub(super) struct LeafColumn {
    /// The names of all levels, from the outermost inwards.
    pub names: Vec<String>,
    pub dtype: DType,
    /// The shape of a row.
    pub shape: Vec<u64>,
}

/// The maximum depth of columns. Deeper hostile ones could overflow the stack.
const MAX_DEPTH: usize = 16;

/// The columns of a dtype that describes a table.
pub(super) fn leaves(dtype: &DType) -> Result<Vec<LeafColumn>> {
    let mut leaves = Vec::new();
    walk(dtype, &mut Vec::new(), &mut leaves)?;
    Ok(leaves)
}

fn too_deep() -> String {
    format!("columns are nested more than {MAX_DEPTH} deep")
}

fn walk(dtype: &DType, names: &mut Vec<String>, leaves: &mut Vec<LeafColumn>) -> Result<()> {
    if names.len() > MAX_DEPTH {
        return Err(Error::new(Code::OverLimit, too_deep()));
    }
    for field in dtype.fields().unwrap_or(&[]) {
        // Padding between fields is not a column.
        if field.name.is_empty() {
            continue;
        }
        check_names(&[&field.name])?;
        names.push(field.name.clone());
        match field.dtype.kind() {
            Kind::Struct(_) if field.shape.is_empty() => walk(&field.dtype, names, leaves)?,
            _ => leaves.push(LeafColumn {
                names: names.clone(),
                dtype: field.dtype.clone(),
                shape: field.shape.clone(),
            }),
        }
        names.pop();
    }
    Ok(())
}

/// Refuses names with a dot, which would be read as two levels.
pub(super) fn check_names(names: &[&str]) -> Result<()> {
    match names.iter().find(|name| name.contains('.')) {
        Some(name) => Err(Error::new(
            Code::Unsupported,
            format!(
                "the name of the column {name:?} has a dot in it, which separates nested columns"
            ),
        )),
        None => Ok(()),
    }
}

/// The folder of a column whose names were read from a file.
pub(super) fn folder<'a>(at: &Key, names: impl IntoIterator<Item = &'a str>) -> Result<Key> {
    names
        .into_iter()
        .try_fold(below(at, &["data"])?, |key, name| join(&key, name))
}

/// A tree of columns.
struct Tree<T> {
    children: Vec<(String, Node<T>)>,
}

enum Node<T> {
    Leaf(T),
    Tree(Tree<T>),
}

/// The dtype of a table with these columns, whose names have dots between the levels.
pub(super) fn join_columns<'a>(
    columns: impl Iterator<Item = (&'a str, &'a ArraySpec)>,
) -> Result<DType> {
    let leaf = |spec: &ArraySpec| (spec.dtype.clone(), spec.grid.row_shape().to_vec());
    let tree = Tree::of(columns.map(|(name, spec)| (name, leaf(spec))))?;
    dtype(tree)
}

fn dtype(tree: Tree<(DType, Vec<u64>)>) -> Result<DType> {
    let fields = tree.children.into_iter().map(|(name, node)| match node {
        Node::Leaf((dtype, shape)) => Ok((name, dtype, shape)),
        Node::Tree(tree) => Ok((name, dtype(tree)?, Vec::new())),
    });
    Ok(DType::structured(
        fields.collect::<Result<Vec<_>>>()?,
        false,
    )?)
}

/// The dtype names of these columns, nested as in the carray proposal.
pub(super) fn elements<'a>(columns: impl Iterator<Item = (&'a str, String)>) -> Result<Elements> {
    Ok(columns_of(Tree::of(columns)?))
}

fn columns_of(tree: Tree<String>) -> Elements {
    let columns = tree.children.into_iter().map(|(name, node)| match node {
        Node::Leaf(dtype) => (name, Elements::Of(dtype)),
        Node::Tree(tree) => (name, columns_of(tree)),
    });
    Elements::Columns(columns.collect())
}

impl<T> Tree<T> {
    fn of<'a>(columns: impl Iterator<Item = (&'a str, T)>) -> Result<Self> {
        let mut tree = Self {
            children: Vec::new(),
        };
        for (name, leaf) in columns {
            if name.split('.').count() > MAX_DEPTH {
                return Err(Error::usage(too_deep()));
            }
            tree.insert(name, name, leaf)?;
        }
        Ok(tree)
    }

    /// Inserts a column. `name` is the part of its full name below this tree.
    fn insert(&mut self, full_name: &str, name: &str, leaf: T) -> Result<()> {
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (name, None),
        };
        let known = self.children.iter_mut().find(|(known, _)| known == first);
        match (known, rest) {
            (None, None) => {
                self.children.push((first.to_owned(), Node::Leaf(leaf)));
                Ok(())
            }
            (None, Some(rest)) => {
                let mut tree = Self {
                    children: Vec::new(),
                };
                tree.insert(full_name, rest, leaf)?;
                self.children.push((first.to_owned(), Node::Tree(tree)));
                Ok(())
            }
            (Some((_, Node::Tree(tree))), Some(rest)) => tree.insert(full_name, rest, leaf),
            (Some(_), _) => Err(Error::usage(format!(
                "the column {full_name:?} exists already, or has the name of one with nested columns"
            ))),
        }
    }
}
