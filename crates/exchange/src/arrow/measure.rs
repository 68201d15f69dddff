//! The dtypes for the columns of an Arrow file. For strings the data is scanned for the longest.

use super::from::getter;
use super::types::{DTYPE, fits, fits_rows, is_string, is_text, plain};
use crate::options::ImportOptions;
use crate::schema::{Column, structured};
use crate::source::to_u64;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use blosc1::Fault;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::{Error, Result};

/// Length of a string, in characters or bytes, above which a column of such strings is not intended.
const LONGEST: u64 = 1 << 16;

/// The dtype for a column.
struct Plan {
    name: String,
    shape: Vec<u64>,
    elements: Elements,
}

/// The dtype for its elements.
enum Elements {
    Known(DType),
    Strings { text: bool, longest: u64 },
    Fields(Vec<Plan>),
}

/// The dtypes for the columns.
pub(super) struct Plans(Vec<Plan>);

impl Plans {
    pub fn of(schema: &Schema, options: &ImportOptions) -> Result<Self> {
        let known = |name: &str| schema.fields().iter().any(|field| field.name() == name);
        if let Some(name) = options.types.keys().find(|name| !known(name)) {
            return Err(Error::usage(format!("no column {name:?}")));
        }
        let plans = schema.fields().iter().map(|field| {
            let given = options.types.get(field.name());
            column(field, given).map_err(|error| error.in_file(format!("column {}", field.name())))
        });
        Ok(Self(plans.collect::<Result<_>>()?))
    }

    /// The columns that must be scanned.
    pub fn unknown(&self) -> Vec<usize> {
        let plans = self.0.iter().enumerate();
        let unknown = plans.filter(|(_, plan)| !plan.is_known());
        unknown.map(|(index, _)| index).collect()
    }

    /// Looks at rows of those columns.
    pub fn see(&mut self, rows: &RecordBatch) {
        let unknown = self.0.iter_mut().filter(|plan| !plan.is_known());
        for (plan, array) in unknown.zip(rows.columns()) {
            plan.see(array);
        }
    }

    pub fn columns(&self) -> Result<Vec<Column>> {
        self.0.iter().map(Plan::column).collect()
    }
}

/// The dtype for a column: as given, as noted in its metadata, or by its type alone.
fn column(field: &Field, given: Option<&Column>) -> Result<Plan> {
    let mut plan = Plan::of(field)?;
    let (shape, data_type) = unlisted(field.data_type());
    let noted = field.metadata().get(DTYPE);
    let noted = noted.and_then(|text| DType::parse(text).ok());
    match (given, noted) {
        (Some(given), _) if given.dtype.itemsize() == 0 && is_string(data_type) => {
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

/// The lists around elements.
fn unlisted(mut data_type: &DataType) -> (Vec<u64>, &DataType) {
    let mut shape = Vec::new();
    while let DataType::FixedSizeList(item, len) = data_type {
        shape.push(u64::try_from(*len).unwrap_or(0));
        data_type = item.data_type();
    }
    (shape, data_type)
}

impl Plan {
    fn of(field: &Field) -> Result<Self> {
        let (shape, data_type) = unlisted(field.data_type());
        let elements = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let elements = match elements {
            DataType::Struct(fields) if elements == data_type => {
                let fields = fields.iter().map(|field| Self::of(field));
                Elements::Fields(fields.collect::<Result<_>>()?)
            }
            _ if is_string(elements) => Elements::Strings {
                text: is_text(elements),
                longest: 0,
            },
            _ => match plain(elements).filter(|dtype| dtype.itemsize() > 0) {
                Some(dtype) => Elements::Known(dtype),
                None => {
                    let what =
                        format!("{elements} has no place here: cast it to another type first");
                    return Err(crate::error::exchange(Fault::Unsupported, what));
                }
            },
        };
        let name = field.name().clone();
        Ok(Self {
            name,
            shape,
            elements,
        })
    }

    fn is_known(&self) -> bool {
        match &self.elements {
            Elements::Known(_) => true,
            Elements::Strings { .. } => false,
            Elements::Fields(fields) => fields.iter().all(Self::is_known),
        }
    }

    fn see(&mut self, array: &dyn Array) {
        if self.is_known() {
            return;
        }
        if let Some(list) = array.as_fixed_size_list_opt() {
            return self.see(list.values());
        }
        match &mut self.elements {
            Elements::Known(_) => {}
            Elements::Fields(fields) => {
                let columns = array.as_struct_opt().map(|of| of.columns());
                let columns = columns.unwrap_or_default();
                let seen = fields.iter_mut().zip(columns);
                seen.for_each(|(field, column)| field.see(column));
            }
            Elements::Strings { text, longest } => {
                let keyed = array.as_any_dictionary_opt();
                let values = keyed.map_or(array, |keyed| keyed.values().as_ref());
                let Some(get) = getter(values) else {
                    return;
                };
                for at in (0..values.len()).filter(|at| values.is_valid(*at)) {
                    let bytes = get(at);
                    let len = match text {
                        // As many characters as bytes that begin one.
                        true => bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
                        false => bytes.len(),
                    };
                    *longest = to_u64(len).max(*longest);
                }
            }
        }
    }

    fn column(&self) -> Result<Column> {
        let dtype = match &self.elements {
            Elements::Known(dtype) => dtype.clone(),
            Elements::Strings { longest, .. } if *longest > LONGEST => {
                let what = format!(
                    "column {:?} has a string of {longest} characters, and every element would take that much: give its type",
                    self.name
                );
                return Err(crate::error::exchange(Fault::OverLimit, what));
            }
            Elements::Strings { text, longest } => match text {
                true => DType::text((*longest).max(1))?,
                false => DType::bytes((*longest).max(1))?,
            },
            Elements::Fields(fields) => {
                let fields = fields.iter().map(Self::column);
                structured(&fields.collect::<Result<Vec<_>>>()?)?
            }
        };
        let mut column = Column::new(&self.name, dtype);
        column.row_shape.clone_from(&self.shape);
        if column.row_bytes() == 0 {
            let what = format!("column {:?} has rows without bytes", self.name);
            return Err(crate::error::exchange(Fault::Unsupported, what));
        }
        Ok(column)
    }
}
