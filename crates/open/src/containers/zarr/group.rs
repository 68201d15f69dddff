//! The container of Zarr groups. A group whose members are arrays with equally many rows is a table.

use super::KIND;
use super::array;
use crate::error::{has_dtype, needs_column};
use crate::exchange::UserAttributes;
use crate::summary::{Line, Summary};
use crate::text::{plain, shape};
use crate::{Container, Kind, Options, Outline, Report, watch};
use bloscpack::Watch;
use bloscpack_array::{Array, Attributes, TableSource};
use bloscpack_error::{Error, Result};
use bloscpack_wire::internal::to_u64;
use bloscpack_zarr::{ZarrArray, ZarrGroup, ZarrNode};
use serde_json::json;

/// A Zarr group that was opened.
pub(crate) struct Group {
    group: ZarrGroup,
    /// The columns, if the group is a table.
    columns: Option<Vec<(String, ZarrArray)>>,
    options: Options,
}

impl Group {
    pub(crate) fn new(group: ZarrGroup, options: &Options) -> Result<Self> {
        if options.dtype.is_some() {
            return Err(has_dtype());
        }
        // The error is reported when rows are read; nothing else needs the columns.
        let columns = super::columns(&group).unwrap_or_default();
        Ok(Self {
            group,
            columns,
            options: options.clone(),
        })
    }

    fn names(&self) -> Option<Vec<String>> {
        let columns = self.columns.as_ref()?;
        Some(columns.iter().map(|(name, _)| name.clone()).collect())
    }

    fn rows(&self) -> Option<u64> {
        let (_, first) = self.columns.as_ref()?.first()?;
        first.shape().first().copied()
    }

    /// Uncompressed bytes of all columns. The sum is only shown.
    fn bytes(&self) -> Option<u64> {
        let columns = self.columns.as_ref()?.iter();
        Some(columns.fold(0, |all, (_, array)| all.saturating_add(array.nbytes())))
    }

    /// The paths of everything below the group.
    fn paths(&self) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        self.group.walk(&mut |path, _| {
            paths.push(path.to_owned());
            Ok(())
        })?;
        Ok(paths)
    }

    /// The error for an operation that needs a single array.
    fn choose(&self) -> Error {
        if let Some(columns) = self.names() {
            return needs_column(&columns);
        }
        super::columns(&self.group).err().unwrap_or_else(|| {
            Error::usage(
                "a group, which is not a table: add the path of an array within it to its name",
            )
        })
    }

    /// A table, or a Zarr group.
    fn kind_name(&self) -> Kind {
        match self.columns {
            Some(_) => Kind::Table,
            None => KIND,
        }
    }

    fn add_members(&self, summary: &mut Summary) -> Result<()> {
        self.group.walk(&mut |path, node| {
            let text = match node {
                Ok(ZarrNode::Array(array)) => {
                    let (dtype, chunk) = (array.dtype(), shape(array.chunk_shape()));
                    format!("{dtype}  {}, chunks of {chunk}", shape(array.shape()))
                }
                Ok(ZarrNode::Group(_)) => "group".to_owned(),
                Err(error) => error.to_string(),
            };
            summary
                .lines
                .push(Line::More(format!("{}  {text}", plain(path))));
            Ok(())
        })
    }
}

impl Container for Group {
    fn kind(&self) -> Kind {
        self.kind_name()
    }

    fn outline(&self) -> Result<Outline> {
        Ok(Outline {
            layout: Some(self.group.format().name()),
            shape: self.rows().map(|rows| vec![rows]),
            columns: self.names(),
            bytes: self.bytes(),
            ..Outline::new(self.kind_name())
        })
    }

    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        self.group.walk(&mut |path, node| match node {
            Ok(ZarrNode::Array(array)) => take(path, Ok(array::outline(&array))),
            Ok(ZarrNode::Group(_)) => Ok(()),
            Err(error) => take(path, Err(error)),
        })?;
        Ok(true)
    }

    fn summary(&self) -> Result<Summary> {
        let kind = self.kind_name();
        let mut summary = Summary::new(kind);
        let paths = self.paths()?;
        summary.add(json!({
            "kind": kind.name(),
            "layout": self.group.format().name(),
            "rows": self.rows(),
            "columns": self.names(),
            "members": paths.len(),
            "paths": paths,
            "uncompressed_bytes": self.bytes(),
        }));
        summary.add_json("attributes", self.group.attributes());
        summary.line("kind", kind);
        summary.line("layout", self.group.format());
        if let Some(rows) = self.rows() {
            summary.line("rows", rows);
        }
        summary.attributes(self.group.attributes());
        summary.line("members", paths.len());
        self.add_members(&mut summary)?;
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        let (mut report, total) = (Report::default(), self.bytes().unwrap_or(0));
        let mut own = self.group.verify_files();
        self.group.walk(&mut |_, node| {
            match node {
                Ok(ZarrNode::Array(array)) => {
                    let watch = &self.options.watch;
                    report.add(array.verify_chunks(|bytes| watch::show(watch, bytes, total)));
                }
                Ok(ZarrNode::Group(_)) => {}
                Err(error) => own.push(error),
            }
            Ok(())
        })?;
        report.damage_count += to_u64(own.len());
        report.damages.extend(own.into_iter().map(Into::into));
        Ok(report)
    }

    fn is_tree(&self) -> bool {
        self.columns.is_none()
    }

    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        super::container(self.group.node(path)?, &self.options).map(Some)
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let found = columns
            .iter()
            .find(|(name, _)| column == Some(name.as_str()));
        let (_, array) = found.ok_or_else(|| self.choose())?;
        Ok(Some(Box::new(array)))
    }

    fn table(&self, columns: &[String]) -> Result<Option<TableSource<'_>>> {
        let Some(all) = &self.columns else {
            return Err(self.choose());
        };
        let arrays = all.iter().map(|(name, array)| {
            let array: Box<dyn Array + '_> = Box::new(array);
            (name.clone(), array)
        });
        // Attributes that are too long are left out.
        let attributes = self.attributes(None).unwrap_or_default().attributes;
        let rows = self.rows().unwrap_or(0);
        let source = TableSource::of(rows, arrays.collect())?.attributes(attributes);
        Ok(Some(if columns.is_empty() {
            source
        } else {
            source.columns(columns)?
        }))
    }

    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        match column {
            Some(_) => match self.array(column)? {
                Some(array) => crate::attributes_of(array.description()?),
                None => Ok(UserAttributes::default()),
            },
            None => {
                let text = self.group.attributes();
                Ok(UserAttributes::new(Attributes::parse(text.as_bytes())?))
            }
        }
    }

    fn watch(&self) -> &Watch {
        &self.options.watch
    }
}
