//! The container of tables in python-blosc2's stores.

use crate::error::needs_column;
use crate::exchange::{BoxedSource, Source as _, StoreSource};
use crate::summary::{Line, Summary};
use crate::text::plain;
use crate::warnings::Warnings;
use crate::{Container, Inner, Kind, Outline, Part, Report, Selection, watch};
use bloscpack::Watch;
use bloscpack_array::{Array, UserAttributes};
use bloscpack_error::Result;
use bloscpack_stores::{ColumnKind, FrameStore, StoreColumn, StoreTable};
use serde_json::json;
use std::sync::Arc;

/// A table in a tree of frames.
pub(crate) struct Table {
    pub(crate) tree: Arc<FrameStore>,
    pub(crate) table: StoreTable,
    pub(crate) path: String,
    pub(crate) layout: &'static str,
    pub(crate) warnings: Warnings,
    pub(crate) watch: Watch,
}

impl Table {
    fn names(&self) -> Vec<String> {
        let columns = self.table.columns().iter();
        columns.map(|column| column.name.clone()).collect()
    }

    /// Adds a line for each column, stored or computed.
    fn add_columns(&self, summary: &mut Summary) {
        let columns = self.table.columns();
        let lens = columns
            .iter()
            .map(|column| plain(&column.name).chars().count());
        let width = lens.max().unwrap_or(0);
        for column in columns {
            let name = plain(&column.name);
            let text = format!("{name:width$}  {}", kind_of(column));
            summary.lines.push(Line::More(text));
        }
        let computed = self.table.computed();
        if !computed.is_empty() {
            summary.line("computed", computed.len());
        }
        for column in computed {
            let text = format!("{} = {}", plain(&column.name), plain(&column.definition));
            summary.lines.push(Line::More(text));
        }
    }
}

impl Table {
    /// Warns about computed columns, which are left out unless columns are named, and about stale columns that are read.
    fn warn(&self, names: &[String]) {
        let computed = self.table.computed().iter().filter(|_| names.is_empty());
        let computed = computed.map(|column| {
            let (name, definition) = (plain(&column.name), plain(&column.definition));
            format!("column {name} is left out: it is computed as {definition}, and its values are not stored")
        });
        let columns = self.table.columns().iter();
        let stale = columns
            .filter(|column| column.stale && (names.is_empty() || names.contains(&column.name)));
        let stale = stale.map(|column| {
            let name = plain(&column.name);
            format!(
                "column {name} is stale: the columns that it was computed from have changed since"
            )
        });
        self.warnings.add(computed.chain(stale));
    }
}

/// The kind of a column, for the summary.
fn kind_of(column: &StoreColumn) -> String {
    let nulls = if column.nullable { ", may be null" } else { "" };
    let nulls = if column.stale {
        format!("{nulls}, stale")
    } else {
        nulls.to_owned()
    };
    let kind = &column.stored_kind;
    match &column.kind {
        ColumnKind::Fixed { dtype, row_shape } if row_shape.is_empty() => {
            format!("{kind}  {dtype}{nulls}")
        }
        ColumnKind::Fixed { dtype, row_shape } => format!("{kind}  {dtype} {row_shape:?}{nulls}"),
        ColumnKind::Unsupported(what) => format!("{kind}  not read: {what}"),
        _ => format!("{kind}{nulls}"),
    }
}

impl Container for Table {
    fn kind(&self) -> Kind {
        Kind::Table
    }

    fn outline(&self) -> Result<Outline> {
        Ok(Outline {
            layout: Some(self.layout),
            shape: Some(vec![self.table.rows()]),
            columns: Some(self.names()),
            ..Outline::new(Kind::Table)
        })
    }

    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        let path = match self.path.as_str() {
            "" => ".",
            path => path,
        }
        .to_owned();
        let outline = self.outline();
        take(&path, outline)?;
        Ok(true)
    }

    fn summary(&self) -> Result<Summary> {
        let mut summary = Summary::new(Kind::Table);
        let (rows, positions) = (self.table.rows(), self.table.positions());
        let columns = self.table.columns().iter().map(|column| {
            json!({ "name": column.name, "kind": column.stored_kind, "nullable": column.nullable, "stale": column.stale })
        });
        let computed = self.table.computed().iter();
        let computed =
            computed.map(|column| json!({ "name": column.name, "definition": column.definition }));
        summary.add(json!({
            "kind": Kind::Table.name(),
            "layout": self.layout,
            "rows": rows,
            "positions": positions,
            "columns": columns.collect::<Vec<_>>(),
            "computed_columns": computed.collect::<Vec<_>>(),
        }));
        let attributes = self.table.attributes()?;
        summary.line("kind", Kind::Table);
        summary.line("layout", self.layout);
        summary.line("rows", rows);
        summary.line(
            "deleted",
            format!("{} of {positions} positions are not rows", positions - rows),
        );
        for (name, value) in attributes {
            let value = value.as_text().map_or_else(|| format!("{value:?}"), plain);
            summary.lines.push(Line::Fact(
                "attribute",
                format!("{} = {value}", plain(&name)),
            ));
        }
        summary.line("columns", self.table.columns().len());
        self.add_columns(&mut summary);
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        Ok(super::report(&self.tree, &self.path, Some(&self.table)))
    }

    /// A deleted row leaves its position in the columns, so no array holds exactly the rows.
    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        let names = self.names();
        match column {
            Some(name) if names.iter().any(|column| column == name) => Ok(None),
            _ => Err(needs_column(&names)),
        }
    }

    fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        if let Part::Slice(_) | Part::Chunk(_) | Part::Bytes(_) = selection.part {
            return Err(needs_column(&self.names()));
        }
        self.warn(&selection.columns);
        let mut source = StoreSource::new(&self.table, &selection.columns)?;
        let region = selection.part.region(&[source.known_rows()?])?;
        if let [rows] = region.ranges.as_slice() {
            source = source.range(rows.clone())?;
        }
        Ok(watch::rows(&self.watch, Box::new(source)))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        match column {
            // The table's attributes do not apply to a column.
            Some(_) => Ok(UserAttributes::default()),
            None => UserAttributes::of_values(self.table.attributes()?),
        }
    }

    fn inner(&self) -> Inner<'_> {
        Inner::StoreTable(&self.table)
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }
}
