//! Datasets by command, for `datasets.py`: all operations of the library on them, one call per line.

mod protocol;

use bloscpack::Options;
use bloscpack::dtype::DType;
use bloscpack_open::datasets::{Attributes, CArray, CArrayBuilder, CTable, Dataset, DatasetLayout};
use protocol::{
    Answer, Result, count, counts, first, from_hex, range, ranges, serve, text, to_hex,
};
use serde_json::{Value, json};
use std::ops::Range;

fn main() -> Result<()> {
    let mut driver = Driver { open: None };
    serve(|command, data| driver.call(command, data))
}

struct Driver {
    open: Option<Dataset>,
}

impl Driver {
    fn call(&mut self, command: &Value, data: &[Vec<u8>]) -> Result<Answer> {
        let name = text(&command["do"])?;
        match name {
            "create" => self.open = Some(create(command)?),
            "open" => self.open = Some(open(command)?),
            "close" => self.open = None,
            "info" => return Ok((info(self.dataset()?)?, Vec::new())),
            "read" => return Ok((json!({}), self.read(command)?)),
            "blocks" => return Ok((json!({}), self.blocks(command)?)),
            "entries" => return Ok((json!({ "entries": self.entries(command)? }), Vec::new())),
            "table" => return Ok((json!({}), self.read_table(command)?)),
            _ => self.change(name, command, data)?,
        }
        Ok((json!({}), Vec::new()))
    }

    fn dataset(&mut self) -> Result<&mut Dataset> {
        Ok(self.open.as_mut().ok_or("nothing is open")?)
    }

    /// The array, or the column that the command names.
    fn array(&mut self, command: &Value) -> Result<&CArray> {
        Ok(match self.dataset()? {
            Dataset::Array(array) => array,
            Dataset::Table(table) => table.column(text(&command["column"])?)?,
        })
    }

    fn read(&mut self, command: &Value) -> Result<Vec<u8>> {
        let array = self.array(command)?;
        match command.get("slice") {
            Some(slice) => Ok(array.read_slice(&ranges(slice)?)?),
            None => Ok(array.read_rows(rows(command, array.rows())?)?),
        }
    }

    fn blocks(&mut self, command: &Value) -> Result<Vec<u8>> {
        let at_once = usize::try_from(count(&command["at_once"])?)?;
        let array = self.array(command)?;
        let mut all = Vec::new();
        for block in array.blocks(rows(command, array.rows())?, at_once) {
            all.extend(block?.1);
        }
        Ok(all)
    }

    /// The statistics of each superchunk that hold; null without an index.
    fn entries(&mut self, command: &Value) -> Result<Value> {
        let array = self.array(command)?;
        let Some(index) = array.index()? else {
            return Ok(Value::Null);
        };
        let mut entries = Vec::new();
        for number in 0..array.superchunks() {
            let holds = array.index_holds(&index, number)?;
            let entry = index.entry(number).filter(|_| holds);
            entries.push(entry.map(|entry| {
                json!({
                    "rows": entry.rows,
                    "nulls": entry.nulls,
                    "min": entry.min.as_deref().map(to_hex),
                    "max": entry.max.as_deref().map(to_hex),
                    "ascending": entry.ascending,
                    "descending": entry.descending,
                })
            }));
        }
        Ok(json!(entries))
    }

    /// All columns, one after the other.
    fn read_table(&mut self, command: &Value) -> Result<Vec<u8>> {
        let Dataset::Table(table) = self.dataset()? else {
            return Err("not a table".into());
        };
        let rows = rows(command, table.rows()?)?;
        Ok(table.read_rows(table.names(), rows)?.concat())
    }

    fn change(&mut self, name: &str, command: &Value, data: &[Vec<u8>]) -> Result<()> {
        match self.dataset()? {
            Dataset::Array(array) => change_array(array, name, command, data),
            Dataset::Table(table) => change_table(table, name, command, data),
        }
    }
}

fn change_array(array: &mut CArray, name: &str, command: &Value, data: &[Vec<u8>]) -> Result<()> {
    match name {
        "append" => array.append(first(data)?)?,
        "set" => array.set_slice(&ranges(&command["slice"])?, first(data)?)?,
        "trim" => array.trim(count(&command["to"])?)?,
        "resize" => array.resize(count(&command["to"])?)?,
        "attribute" => array.set_attribute(text(&command["key"])?, &command["value"])?,
        "unset" => {
            array.remove_attribute(text(&command["key"])?)?;
        }
        "index" => drop(array.update_index(|_| Ok(()))?),
        "flush" => array.flush()?,
        _ => return Err(format!("an array knows no {name:?}").into()),
    }
    Ok(())
}

fn change_table(table: &mut CTable, name: &str, command: &Value, data: &[Vec<u8>]) -> Result<()> {
    let column = || text(&command["column"]);
    match name {
        "append" => table.append(&data.iter().map(Vec::as_slice).collect::<Vec<_>>())?,
        "set" => table.set_slice(column()?, &ranges(&command["slice"])?, first(data)?)?,
        "trim" => table.trim(count(&command["to"])?)?,
        "resize" => table.resize(count(&command["to"])?)?,
        "add" => {
            let position = command["position"].as_u64().map(usize::try_from);
            let builder = builder(command)?;
            table.add_column(column()?, builder, first(data)?, position.transpose()?)?;
        }
        "delete" => table.delete_column(column()?, command["keep"] == true)?,
        "replace" => table.replace_column(column()?, first(data)?)?,
        "attribute" => {
            let (key, value) = (text(&command["key"])?, &command["value"]);
            match command["column"].as_str() {
                Some(column) => table.set_column_attribute(column, key, value)?,
                None => table.set_attribute(key, value)?,
            }
        }
        "unset" => {
            table.remove_attribute(text(&command["key"])?)?;
        }
        "flush" => table.flush()?,
        _ => return Err(format!("a table knows no {name:?}").into()),
    }
    Ok(())
}

fn options(command: &Value) -> Result<Options> {
    let mut options = Options::new();
    if let Some(threads) = command["threads"].as_u64() {
        options = options.threads(usize::try_from(threads)?);
    }
    if let Some(bytes) = command["cache"].as_u64() {
        options = options.cache(usize::try_from(bytes)?);
    }
    Ok(options)
}

fn open(command: &Value) -> Result<Dataset> {
    let (options, path) = (options(command)?, text(&command["path"])?);
    Ok(if command["edit"] == true {
        Dataset::edit_with(path, &options)?
    } else {
        Dataset::open_with(path, &options)?
    })
}

fn create(command: &Value) -> Result<Dataset> {
    let path = text(&command["path"])?;
    let layout = layout(command)?;
    let attributes = attributes(command)?;
    let replace = command["replace"] == true;
    let Some(columns) = command["columns"].as_array() else {
        let array = builder(command)?.layout(layout).attributes(attributes);
        let array = array.replace(replace).options(options(command)?);
        return Ok(Dataset::Array(Box::new(array.create(path)?)));
    };
    let mut table = CTable::builder().layout(layout).attributes(attributes);
    if let Some(rows) = command["chunk_rows"].as_u64() {
        table = table.chunk_rows(rows);
    }
    for column in columns {
        table = table.column(text(&column["column"])?, builder(column)?);
    }
    let table = table.replace(replace).options(options(command)?);
    Ok(Dataset::Table(Box::new(table.create(path)?)))
}

fn layout(command: &Value) -> Result<DatasetLayout> {
    Ok(match command["layout"].as_str() {
        None | Some("bcolz") => DatasetLayout::Bcolz,
        Some("blz") => DatasetLayout::Blz,
        Some(other) => return Err(format!("no layout {other:?} here").into()),
    })
}

fn attributes(command: &Value) -> Result<Attributes> {
    let mut attributes = Attributes::default();
    for (key, value) in command["attributes"].as_object().into_iter().flatten() {
        attributes.set(key, value)?;
    }
    Ok(attributes)
}

/// Options of a new array, as far as the command sets them.
fn builder(command: &Value) -> Result<CArrayBuilder> {
    let mut array = CArray::builder(DType::parse(text(&command["dtype"])?)?);
    array = array.row_shape(&counts(&command["row_shape"])?);
    if let Some(rows) = command["chunk_rows"].as_u64() {
        array = array.chunk_rows(rows);
    }
    if let Some(rows) = command["expected_rows"].as_u64() {
        array = array.expected_rows(rows);
    }
    if let Some(name) = command["compressor"].as_str() {
        array = array.compressor(name.parse()?);
    }
    if let Some(level) = command["level"].as_u64() {
        array = array.level(u8::try_from(level)?);
    }
    if let Some(name) = command["filter"].as_str() {
        array = array.filter(name.parse()?);
    }
    array = array.index(command["index"] == true);
    if let Some(digits) = command["default"].as_str() {
        array = array.default_element(&from_hex(digits)?);
    }
    Ok(array)
}

fn info(dataset: &Dataset) -> Result<Value> {
    Ok(match dataset {
        Dataset::Array(array) => array_info(array),
        Dataset::Table(table) => {
            let columns = table.names().iter().map(|name| table.column(name));
            let columns = columns.collect::<bloscpack::Result<Vec<_>>>()?;
            json!({
                "names": table.names(),
                "rows": table.rows()?,
                "attributes": table.attributes().text(),
                "notes": table.warnings(),
                "columns": columns.into_iter().map(array_info).collect::<Vec<_>>(),
            })
        }
    })
}

fn array_info(array: &CArray) -> Value {
    json!({
        "dtype": array.dtype().to_string(),
        "shape": array.shape(),
        "chunk_shape": array.chunk_shape(),
        "nbytes": array.nbytes(),
        "cbytes": array.stated_cbytes(),
        "default": array.default_element().map_or_else(
            || "00".repeat(usize::try_from(array.dtype().itemsize()).unwrap_or(0)),
            to_hex,
        ),
        "attributes": array.attributes().text(),
        "notes": array.warnings(),
    })
}

/// The rows that the command names, or all.
fn rows(command: &Value, there: u64) -> Result<Range<u64>> {
    command.get("rows").map_or(Ok(0..there), range)
}
