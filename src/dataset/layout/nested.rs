//! Columns within columns: the fields of a dtype, as leaves with dotted names, and back.

use crate::dataset::leaf::Spec;
use crate::error::{Error, Result};
use crate::wire::DType;
use crate::wire::dtype::Kind;

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

fn walk(dtype: &DType, names: &mut Vec<String>, leaves: &mut Vec<LeafColumn>) -> Result<()> {
    if names.len() > MAX_DEPTH {
        return Err(Error::usage(format!(
            "columns within columns more than {MAX_DEPTH} deep"
        )));
    }
    for field in dtype.fields().unwrap_or_default() {
        // Padding between fields is no column.
        if field.name.is_empty() {
            continue;
        }
        check_name(&field.name)?;
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
fn check_name(name: &str) -> Result<()> {
    match name.contains('.') {
        true => Err(Error::usage(format!(
            "the column {name:?} has a dot in its name, which stands for columns within columns"
        ))),
        false => Ok(()),
    }
}

/// A tree of columns, as they are put together again.
#[derive(Default)]
struct Tree {
    children: Vec<(String, Node)>,
}

enum Node {
    Leaf(DType, Vec<u64>),
    Tree(Tree),
}

/// The dtype of these columns, whose names have dots between the levels.
pub(super) fn join<'a>(columns: impl Iterator<Item = (&'a str, &'a Spec)>) -> Result<DType> {
    let mut tree = Tree::default();
    for (name, spec) in columns {
        let shape = spec.grid.shape().get(1..).unwrap_or_default().to_vec();
        tree.insert(name, name, Node::Leaf(spec.dtype.clone(), shape))?;
    }
    tree.dtype()
}

impl Tree {
    fn insert(&mut self, whole: &str, name: &str, node: Node) -> Result<()> {
        let twice = || {
            Error::usage(format!(
                "the column {whole:?} is there twice, or has the name of one with columns within"
            ))
        };
        let Some((first, rest)) = name.split_once('.') else {
            if self.children.iter().any(|(known, _)| known == name) {
                return Err(twice());
            }
            self.children.push((name.to_owned(), node));
            return Ok(());
        };
        let place = match self.children.iter().position(|(known, _)| known == first) {
            Some(place) => place,
            None => {
                self.children
                    .push((first.to_owned(), Node::Tree(Self::default())));
                self.children.len().saturating_sub(1)
            }
        };
        match self.children.get_mut(place) {
            Some((_, Node::Tree(tree))) => tree.insert(whole, rest, node),
            _ => Err(twice()),
        }
    }

    fn dtype(self) -> Result<DType> {
        let fields = self.children.into_iter().map(|(name, node)| match node {
            Node::Leaf(dtype, shape) => Ok((name, dtype, shape)),
            Node::Tree(tree) => Ok((name, tree.dtype()?, Vec::new())),
        });
        Ok(DType::structured(
            fields.collect::<Result<Vec<_>>>()?,
            false,
        )?)
    }
}
