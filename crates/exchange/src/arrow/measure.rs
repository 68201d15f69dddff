//! Finds the dtypes for the columns of Arrow data. For strings, the data is scanned for the longest.

use super::from::getter;
use super::types::{DTYPE, fits, fits_rows, is_string, is_text, kind_of, plain};
use crate::error::{damaged, long_string, unsupported_column};
use crate::format::Format;
use crate::options::ImportOptions;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use bloscpack_array::{Column, ItemKind, structured};
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};

/// The longest string, in characters or bytes, for which every element of a column gets that length.
const LONGEST: u64 = 1 << 16;

/// The dtype of a column, as far as it is known.
struct Plan {
    name: String,
    shape: Vec<u64>,
    elements: Elements,
    zone: Option<String>,
    is_dictionary: bool,
}

/// The dtype of the elements, as far as it is known.
enum Elements {
    /// Known from the type, the metadata or the options.
    Known(DType),
    /// Strings; `longest` is the length of the longest one so far.
    Strings { text: bool, longest: u64 },
    /// Structured elements.
    Fields(Vec<Plan>),
    /// Values of varying length.
    Values(ItemKind),
}

/// The dtypes of all columns, as far as they are known.
pub(super) struct Plans {
    format: Format,
    columns: Vec<Plan>,
}

impl Plans {
    pub fn of(format: Format, schema: &Schema, options: &ImportOptions) -> Result<Self> {
        let known = |name: &str| schema.fields().iter().any(|field| field.name() == name);
        if let Some(name) = options.types.keys().find(|name| !known(name)) {
            return Err(Error::usage(format!("no column {name:?}")));
        }
        let plans = schema.fields().iter().map(|field| {
            let given = options.types.get(field.name());
            column(format, field, given)
                .map_err(|error| error.in_file(format!("column {}", field.name())))
        });
        Ok(Self {
            format,
            columns: plans.collect::<Result<_>>()?,
        })
    }

    /// The numbers of the columns that must be scanned.
    pub fn unknown(&self) -> Vec<usize> {
        let plans = self.columns.iter().enumerate();
        let unknown = plans.filter(|(_, plan)| !plan.is_known());
        unknown.map(|(index, _)| index).collect()
    }

    /// Scans rows of those columns.
    pub fn see(&mut self, rows: &RecordBatch) -> Result<()> {
        let format = self.format;
        let mut unknown = self.columns.iter_mut().filter(|plan| !plan.is_known());
        let mut arrays = rows.columns().iter();
        arrays.try_for_each(|array| match unknown.next() {
            Some(plan) => plan.see(format, array),
            None => Err(Error::bug("a batch has more columns than were asked for")),
        })?;
        match unknown.next() {
            None => Ok(()),
            Some(_) => Err(Error::bug("a batch has fewer columns than were asked for")),
        }
    }

    pub fn columns(&self) -> Result<Vec<Column>> {
        self.columns
            .iter()
            .map(|plan| plan.column(self.format))
            .collect()
    }
}

/// The dtype of a column: the given one, else the one noted in its metadata, else the one that its type tells.
fn column(format: Format, field: &Field, given: Option<&Column>) -> Result<Plan> {
    if let Some(kind) = given.and_then(|given| given.varying.clone()) {
        return Plan::of_values(format, field, kind);
    }
    let mut plan = Plan::of(format, field)?;
    let (shape, data_type) = unlisted(format, field)?;
    let noted = field.metadata().get(DTYPE);
    let noted = noted.and_then(|text| DType::parse(text).ok());
    match (given, noted) {
        (Some(given), _) if given.dtype.itemsize() == 0 && plan.is_of_strings() => {
            let text = *given.dtype.kind() == Kind::Text;
            plan.elements = Elements::Strings { text, longest: 0 };
        }
        (Some(given), _) => {
            let fitting = fits_rows(&given.dtype, &shape, field.data_type());
            let shaped = given.row_shape == shape || given.row_shape.is_empty();
            if !fitting || !shaped {
                return Err(Error::usage(format!(
                    "{} cannot be converted to {}",
                    field.data_type(),
                    given.dtype
                )));
            }
            plan.elements = Elements::Known(given.dtype.clone());
        }
        // A noted dtype counts only if the column still has the matching type.
        (None, Some(dtype)) if !dtype.has_object() && fits(&dtype, data_type) => {
            plan.elements = Elements::Known(dtype);
        }
        _ => {}
    }
    Ok(plan)
}

/// The shape of the lists around the elements, and the type of the elements.
fn unlisted(format: Format, field: &Field) -> Result<(Vec<u64>, &DataType)> {
    let (mut shape, mut data_type) = (Vec::new(), field.data_type());
    while let DataType::FixedSizeList(item, len) = data_type {
        let found = || format!("a list of {len} elements");
        shape.push(
            u64::try_from(*len).map_err(|_| unsupported_column(format, field.name(), found()))?,
        );
        data_type = item.data_type();
    }
    Ok((shape, data_type))
}

impl Plan {
    fn is_of_strings(&self) -> bool {
        matches!(self.elements, Elements::Strings { .. })
    }

    /// A column of values of a kind that was given.
    fn of_values(format: Format, field: &Field, kind: ItemKind) -> Result<Self> {
        values_of(format, field.name(), field.data_type())?;
        Ok(Self {
            name: field.name().clone(),
            shape: Vec::new(),
            elements: Elements::Values(kind),
            zone: None,
            is_dictionary: false,
        })
    }

    fn of(format: Format, field: &Field) -> Result<Self> {
        let (shape, data_type) = unlisted(format, field)?;
        let elements = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let elements = match elements {
            DataType::Struct(fields) if elements == data_type => {
                let fields = fields.iter().map(|field| Self::of(format, field));
                Elements::Fields(fields.collect::<Result<_>>()?)
            }
            _ if is_string(elements) => Elements::Strings {
                text: is_text(elements),
                longest: 0,
            },
            DataType::List(_) | DataType::LargeList(_) => {
                Elements::Values(values_of(format, field.name(), elements)?)
            }
            _ => match plain(elements).filter(|dtype| dtype.itemsize() > 0) {
                Some(dtype) => Elements::Known(dtype),
                None => {
                    let found = elements.to_string();
                    return Err(unsupported_column(format, field.name(), found));
                }
            },
        };
        let zone = match data_type {
            DataType::Timestamp(_, zone) => zone.as_deref().map(str::to_owned),
            _ => None,
        };
        Ok(Self {
            name: field.name().clone(),
            shape,
            elements,
            zone,
            is_dictionary: matches!(data_type, DataType::Dictionary(..)),
        })
    }

    fn is_known(&self) -> bool {
        match &self.elements {
            Elements::Known(_) | Elements::Values(_) => true,
            Elements::Strings { .. } => false,
            Elements::Fields(fields) => fields.iter().all(Self::is_known),
        }
    }

    fn see(&mut self, format: Format, array: &dyn Array) -> Result<()> {
        if self.is_known() {
            return Ok(());
        }
        if let Some(list) = array.as_fixed_size_list_opt() {
            return self.see(format, list.values());
        }
        match &mut self.elements {
            Elements::Known(_) | Elements::Values(_) => Ok(()),
            Elements::Fields(fields) => {
                let columns = array.as_struct_opt().map(|of| of.columns());
                let columns = columns.filter(|columns| columns.len() == fields.len());
                let columns = columns.ok_or_else(|| other_type(format, array))?;
                let mut seen = fields.iter_mut().zip(columns);
                seen.try_for_each(|(field, column)| field.see(format, column))
            }
            Elements::Strings { text, longest } => {
                let keyed = array.as_any_dictionary_opt();
                let values = keyed.map_or(array, |keyed| keyed.values().as_ref());
                let get = getter(values).ok_or_else(|| other_type(format, values))?;
                for at in (0..values.len()).filter(|at| values.is_valid(*at)) {
                    let bytes = get(at);
                    let len = match text {
                        // Every character has one byte that is not a continuation byte.
                        true => bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
                        false => bytes.len(),
                    };
                    *longest = to_u64(len).max(*longest);
                }
                Ok(())
            }
        }
    }

    fn column(&self, format: Format) -> Result<Column> {
        let dtype = match &self.elements {
            Elements::Values(kind) if self.shape.is_empty() => {
                return Ok(Column::with_values(&self.name, kind.clone()));
            }
            Elements::Values(_) => {
                let found = "lists of a fixed length, of lists".to_owned();
                return Err(unsupported_column(format, &self.name, found));
            }
            Elements::Known(dtype) => dtype.clone(),
            Elements::Strings { longest, .. } if *longest > LONGEST => {
                return Err(long_string(format, &self.name, *longest));
            }
            Elements::Strings { text, longest } => {
                if *text {
                    DType::text((*longest).max(1))?
                } else {
                    DType::bytes((*longest).max(1))?
                }
            }
            Elements::Fields(fields) => {
                let fields = fields.iter().map(|field| field.column(format));
                structured(&fields.collect::<Result<Vec<_>>>()?)?
            }
        };
        let mut column = Column::new(&self.name, dtype);
        column.zone.clone_from(&self.zone);
        column.is_dictionary = self.is_dictionary;
        column.row_shape.clone_from(&self.shape);
        if column.row_bytes() == 0 {
            let found = "a type whose rows have no bytes".to_owned();
            return Err(unsupported_column(format, &self.name, found));
        }
        Ok(column)
    }
}

/// The kind of values of varying length in a column of this type.
fn values_of(format: Format, name: &str, data_type: &DataType) -> Result<ItemKind> {
    kind_of(data_type).ok_or_else(|| unsupported_column(format, name, data_type.to_string()))
}

/// The error for a batch whose columns have other types than the schema says.
fn other_type(format: Format, array: &dyn Array) -> Error {
    let found = array.data_type();
    damaged(
        format,
        "batch",
        format_args!("a column of {found} where the schema says otherwise"),
    )
}
