//! Columns within columns: the fields of a dtype, as leaves with dotted names, and back.

use crate::leaf::Spec;
use crate::wire::proposal::Elements;
use blosc1::Fault;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;

/// A column that has no columns within.
pub(super) struct LeafColumn {
    /// From the outermost in.
    pub names: Vec<String>,
    pub dtype: DType,
    /// Of a row.
    pub shape: Vec<u64>,
}

/// Deeper than any table; a hostile one must not nest the stack away.
const MAX_DEPTH: usize = 16;

/// The leaves of a dtype that stands for a table.
pub(super) fn leaves(dtype: &DType) -> Result<Vec<LeafColumn>> {
    let mut leaves = Vec::new();
    walk(dtype, &mut Vec::new(), &mut leaves)?;
    Ok(leaves)
}

fn too_deep() -> String {
    format!("columns within columns more than {MAX_DEPTH} deep")
}

fn walk(dtype: &DType, names: &mut Vec<String>, leaves: &mut Vec<LeafColumn>) -> Result<()> {
    if names.len() > MAX_DEPTH {
        return Err(crate::error::dataset(Fault::OverLimit, too_deep()));
    }
    for field in dtype.fields().unwrap_or_default() {
        // Padding between fields is no column.
        if field.name.is_empty() {
            continue;
        }
        if let Some(what) = odd_name(&field.name) {
            return Err(crate::error::dataset(Fault::Unsupported, what));
        }
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

/// A dot would make two names of one.
fn odd_name(name: &str) -> Option<String> {
    name.contains('.').then(|| {
        format!(
            "the column {name:?} has a dot in its name, which stands for columns within columns"
        )
    })
}

/// Refuses names of columns that were read and would be confused.
pub(super) fn check_names(names: &[&str]) -> Result<()> {
    match names.iter().find_map(|name| odd_name(name)) {
        Some(what) => Err(crate::error::dataset(Fault::Unsupported, what)),
        None => Ok(()),
    }
}

/// The folder of a column whose names were read.
pub(super) fn folder<'a>(at: &Key, names: impl IntoIterator<Item = &'a str>) -> Result<Key> {
    let unusable = |error: std::io::Error| {
        crate::error::dataset(Fault::Damaged, format!("the name of a column: {error}"))
    };
    names
        .into_iter()
        .try_fold(at.join("data")?, |key, name| key.join(name))
        .map_err(unusable)
}

/// A tree of columns, as they are put together again.
struct Tree<T> {
    children: Vec<(String, Node<T>)>,
}

enum Node<T> {
    Leaf(T),
    Tree(Tree<T>),
}

/// The dtype of these columns, whose names have dots between the levels.
pub(super) fn join<'a>(columns: impl Iterator<Item = (&'a str, &'a Spec)>) -> Result<DType> {
    let leaf = |spec: &Spec| {
        let shape = spec.grid.shape().get(1..).unwrap_or_default().to_vec();
        (spec.dtype.clone(), shape)
    };
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

/// The names of the dtypes of these columns, as the carray proposal nests them.
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

    fn insert(&mut self, whole: &str, name: &str, leaf: T) -> Result<()> {
        let twice = || {
            Error::usage(format!(
                "the column {whole:?} is there twice, or has the name of one with columns within"
            ))
        };
        let Some((first, rest)) = name.split_once('.') else {
            if self.children.iter().any(|(known, _)| known == name) {
                return Err(twice());
            }
            self.children.push((name.to_owned(), Node::Leaf(leaf)));
            return Ok(());
        };
        let place = match self.children.iter().position(|(known, _)| known == first) {
            Some(place) => place,
            None => {
                self.children.push((
                    first.to_owned(),
                    Node::Tree(Self {
                        children: Vec::new(),
                    }),
                ));
                self.children.len().saturating_sub(1)
            }
        };
        match self.children.get_mut(place) {
            Some((_, Node::Tree(tree))) => tree.insert(whole, rest, leaf),
            _ => Err(twice()),
        }
    }
}
