//! Maps NumPy types to Arrow types, and back.

use crate::error::unsupported;
use crate::format::Format;
use arrow_schema::{DataType, Field, Fields, Schema as ArrowSchema, TimeUnit as Unit};
use bloscpack_array::{Column, Schema};
use bloscpack_datasets::wire::Attributes;
use bloscpack_dtype::{ByteOrder, DType, Kind, TimeBase, TimeUnit};
use bloscpack_error::{Error, Result};
use bloscpack_stores::ItemKind;
use std::collections::HashMap;
use std::sync::Arc;

/// The metadata key of the NumPy type.
pub(super) const DTYPE: &str = "bloscpack.dtype";
const ATTRIBUTES: &str = "bloscpack.attributes";
const KIND: &str = "bloscpack.kind";

/// The rules by which a NumPy type becomes an Arrow type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TypeMapping {
    /// Whether the target is Parquet, where seconds become milliseconds.
    pub parquet: bool,
    /// Whether NaN is null.
    pub nan_is_null: bool,
    /// Whether strings become views of UTF-8 text, as query engines read them.
    pub string_views: bool,
    /// Whether bytes are UTF-8 text.
    pub is_text: bool,
}

impl TypeMapping {
    /// The format that is written, for errors.
    fn format(self) -> Format {
        if self.parquet {
            Format::Parquet
        } else {
            Format::Arrow
        }
    }

    /// The rules for this column.
    pub fn of(self, column: &Column) -> Self {
        Self {
            nan_is_null: column.nan_is_null,
            is_text: column.is_text,
            ..self
        }
    }

    /// Whether elements of this type may be null.
    pub fn has_null(self, dtype: &DType) -> bool {
        match dtype.kind() {
            Kind::Datetime(_) | Kind::Timedelta(_) => true,
            Kind::Float => self.nan_is_null && dtype.itemsize() <= 8,
            _ => false,
        }
    }
}

/// The Arrow schema for these columns.
pub(super) fn schema_of(schema: &Schema, mapping: TypeMapping) -> Result<ArrowSchema> {
    let fields = schema.columns.iter().map(|column| {
        if let Some(kind) = &column.varying {
            return Ok(Field::new(&column.name, type_of(kind, mapping), true));
        }
        let noted = HashMap::from([(DTYPE.to_owned(), column.dtype.to_string())]);
        let mapping = mapping.of(column);
        let field = field(&column.name, &column.dtype, &column.row_shape, mapping)?;
        let field = match (field.data_type(), &column.zone) {
            // An engine would compare times of two zones only after a cast.
            (DataType::Timestamp(unit, _), Some(zone)) if !mapping.string_views => {
                let zoned = DataType::Timestamp(*unit, Some(zone.as_str().into()));
                field.with_data_type(zoned)
            }
            _ => field,
        };
        let nulls = field.is_nullable() || column.nullable;
        Ok(field.with_nullable(nulls).with_metadata(noted))
    });
    let fields: Vec<Field> = fields.collect::<Result<_>>()?;
    let mut noted = HashMap::new();
    if !schema.attributes.is_empty() {
        noted.insert(ATTRIBUTES.to_owned(), schema.attributes.text().to_owned());
    }
    if !schema.is_table {
        noted.insert(KIND.to_owned(), "array".to_owned());
    }
    Ok(ArrowSchema::new_with_metadata(fields, noted))
}

/// The Arrow type for values of this kind.
pub(super) fn type_of(kind: &ItemKind, mapping: TypeMapping) -> DataType {
    match kind {
        ItemKind::Bool => DataType::Boolean,
        ItemKind::Int => DataType::Int64,
        ItemKind::UInt => DataType::UInt64,
        ItemKind::Float => DataType::Float64,
        ItemKind::Bytes => DataType::Binary,
        ItemKind::List(item) => DataType::List(Arc::new(item_field(item, mapping))),
        _ if mapping.string_views => DataType::Utf8View,
        _ => DataType::Utf8,
    }
}

/// The kind of values of varying length for an Arrow type; `None` if there is none.
pub(super) fn kind_of(data_type: &DataType) -> Option<ItemKind> {
    Some(match data_type {
        DataType::Boolean => ItemKind::Bool,
        DataType::UInt64 => ItemKind::UInt,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ItemKind::Float,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            ItemKind::List(Box::new(kind_of(item.data_type())?))
        }
        _ if data_type.is_integer() => ItemKind::Int,
        _ if is_text(data_type) => ItemKind::Text,
        _ if is_string(data_type) => ItemKind::Bytes,
        _ => return None,
    })
}

/// The field for the items of a list.
pub(super) fn item_field(item: &ItemKind, mapping: TypeMapping) -> Field {
    Field::new("item", type_of(item, mapping), true)
}

/// The schema that Arrow metadata describes: whether it is a table, and the attributes.
pub(super) fn noted(schema: &ArrowSchema, columns: Vec<Column>) -> Result<Schema> {
    let is_array = schema
        .metadata
        .get(KIND)
        .is_some_and(|kind| kind == "array");
    let attributes = match schema.metadata.get(ATTRIBUTES) {
        Some(text) => Attributes::parse(text.as_bytes())?,
        None => Attributes::default(),
    };
    Ok(Schema {
        is_table: !(is_array && columns.len() == 1),
        columns,
        attributes,
        ..Schema::default()
    })
}

/// The field for elements, or for lists of this shape.
pub(super) fn field(
    name: &str,
    dtype: &DType,
    shape: &[u64],
    mapping: TypeMapping,
) -> Result<Field> {
    let data_type = data_type(dtype, shape, mapping)?;
    let nulls = shape.is_empty() && mapping.has_null(dtype);
    Ok(Field::new(name, data_type, nulls))
}

fn data_type(dtype: &DType, shape: &[u64], mapping: TypeMapping) -> Result<DataType> {
    let Some((len, within)) = shape.split_first() else {
        return element_type(dtype, mapping);
    };
    let len = i32::try_from(*len)
        .map_err(|_| Error::usage(format!("Arrow: lists of {len} are too long")))?;
    let item = field("item", dtype, within, mapping)?;
    Ok(DataType::FixedSizeList(Arc::new(item), len))
}

fn element_type(dtype: &DType, mapping: TypeMapping) -> Result<DataType> {
    Ok(match (dtype.kind(), dtype.itemsize()) {
        (Kind::Bool, _) => DataType::Boolean,
        (Kind::Int, 1) => DataType::Int8,
        (Kind::Int, 2) => DataType::Int16,
        (Kind::Int, 4) => DataType::Int32,
        (Kind::Int, _) => DataType::Int64,
        (Kind::Uint, 1) => DataType::UInt8,
        (Kind::Uint, 2) => DataType::UInt16,
        (Kind::Uint, 4) => DataType::UInt32,
        (Kind::Uint, _) => DataType::UInt64,
        (Kind::Float, 2) => DataType::Float16,
        (Kind::Float, 4) => DataType::Float32,
        (Kind::Float, 8) => DataType::Float64,
        (Kind::Complex, 8) => DataType::Struct(parts(DataType::Float32)),
        (Kind::Complex, 16) => DataType::Struct(parts(DataType::Float64)),
        (Kind::Bytes | Kind::Text, _) if mapping.string_views => DataType::Utf8View,
        (Kind::Bytes, _) if !mapping.is_text => DataType::Binary,
        (Kind::Bytes | Kind::Text, _) => DataType::Utf8,
        (Kind::Datetime(unit), _) => match (unit_of(*unit), mapping.parquet) {
            (Some(Unit::Second), true) => DataType::Timestamp(Unit::Millisecond, None),
            (Some(unit), _) => DataType::Timestamp(unit, None),
            (None, _) if *unit == TimeUnit::one(TimeBase::Day) => DataType::Date32,
            (None, _) => DataType::Int64,
        },
        (Kind::Timedelta(unit), _) => unit_of(*unit).map_or(DataType::Int64, DataType::Duration),
        (Kind::Void | Kind::Float | Kind::Complex, itemsize) => {
            let len = i32::try_from(itemsize);
            let len = len.map_err(|_| Error::usage(format!("Arrow: {dtype} is too long")))?;
            DataType::FixedSizeBinary(len)
        }
        (Kind::Struct(of), _) => {
            let fields = of
                .fields
                .iter()
                .map(|part| field(&part.name, &part.dtype, &part.shape, mapping));
            DataType::Struct(fields.collect::<Result<_>>()?)
        }
        (kind, _) => {
            let found = match kind {
                Kind::Object => "a Python object, which is a pickle,".to_owned(),
                _ => dtype.to_string(),
            };
            return Err(unsupported(mapping.format(), "type", found));
        }
    })
}

/// The fields of a complex number.
pub(super) fn parts(part: DataType) -> Fields {
    let part = |name: &str| Field::new(name, part.clone(), false);
    Fields::from(vec![part("re"), part("im")])
}

/// The Arrow unit for a time unit; `None` if Arrow lacks it.
pub(super) fn unit_of(unit: TimeUnit) -> Option<Unit> {
    match (unit.base, unit.count) {
        (Some(TimeBase::Second), 1) => Some(Unit::Second),
        (Some(TimeBase::Milli), 1) => Some(Unit::Millisecond),
        (Some(TimeBase::Micro), 1) => Some(Unit::Microsecond),
        (Some(TimeBase::Nano), 1) => Some(Unit::Nanosecond),
        _ => None,
    }
}

fn base_of(unit: Unit) -> TimeUnit {
    TimeUnit::one(match unit {
        Unit::Second => TimeBase::Second,
        Unit::Millisecond => TimeBase::Milli,
        Unit::Microsecond => TimeBase::Micro,
        Unit::Nanosecond => TimeBase::Nano,
    })
}

/// Whether the values are strings of varying length.
pub(super) fn is_string(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}

/// Whether strings are text.
pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// The NumPy type for single elements that need no scan of the data.
pub(super) fn plain(data_type: &DataType) -> Option<DType> {
    let little = |kind| DType::new(kind, ByteOrder::Little, 8).ok();
    Some(match data_type {
        DataType::Boolean => DType::BOOL,
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 => DType::I32,
        DataType::Int64 => DType::I64,
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        DataType::Float16 => DType::F16,
        DataType::Float32 => DType::F32,
        DataType::Float64 => DType::F64,
        DataType::FixedSizeBinary(len) => DType::void(u64::try_from(*len).ok()?).ok()?,
        DataType::Date32 => little(Kind::Datetime(TimeUnit::one(TimeBase::Day)))?,
        DataType::Date64 => little(Kind::Datetime(TimeUnit::one(TimeBase::Milli)))?,
        // A zone only affects display: the count is in UTC.
        DataType::Timestamp(unit, _) => little(Kind::Datetime(base_of(*unit)))?,
        DataType::Duration(unit) | DataType::Time32(unit) | DataType::Time64(unit) => {
            little(Kind::Timedelta(base_of(*unit)))?
        }
        _ => return None,
    })
}

/// Whether elements of this Arrow type convert to this NumPy type.
pub(super) fn fits(dtype: &DType, data_type: &DataType) -> bool {
    if let DataType::Dictionary(_, values) = data_type {
        return fits(dtype, values);
    }
    match (dtype.kind(), data_type) {
        (Kind::Bytes | Kind::Text, _) => is_string(data_type),
        (Kind::Datetime(unit), DataType::Timestamp(..) | DataType::Date32 | DataType::Date64) => {
            scale_of(*unit).is_some()
        }
        (
            Kind::Timedelta(unit),
            DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_),
        ) => scale_of(*unit).is_some(),
        (Kind::Datetime(_) | Kind::Timedelta(_), DataType::Int64) => true,
        (Kind::Struct(of), DataType::Struct(fields)) => {
            let same = |(part, field): (&bloscpack_dtype::Field, &Arc<Field>)| {
                part.name == *field.name() && fits_rows(&part.dtype, &part.shape, field.data_type())
            };
            of.fields.len() == fields.len() && of.fields.iter().zip(fields).all(same)
        }
        (Kind::Complex, DataType::Struct(fields)) => {
            let same = |(field, name): (&Arc<Field>, &str)| {
                let len = dtype.itemsize() / 2;
                let width = field.data_type().primitive_width();
                field.name() == name
                    && field.data_type().is_floating()
                    && width.and_then(|width| u64::try_from(width).ok()) == Some(len)
            };
            fields.len() == 2 && fields.iter().zip(["re", "im"]).all(same)
        }
        _ => {
            element_type(dtype, TypeMapping::default()).is_ok_and(|expected| expected == *data_type)
        }
    }
}

/// Like [`fits`], for lists of a shape.
pub(super) fn fits_rows(dtype: &DType, shape: &[u64], data_type: &DataType) -> bool {
    match (shape.split_first(), data_type) {
        (None, _) => fits(dtype, data_type),
        (Some((len, within)), DataType::FixedSizeList(item, found)) => {
            u64::try_from(*found) == Ok(*len) && fits_rows(dtype, within, item.data_type())
        }
        _ => false,
    }
}

/// The nanoseconds of one step, for days and shorter units that nanoseconds divide.
pub(super) fn scale_of(unit: TimeUnit) -> Option<i128> {
    let each = match unit.base? {
        TimeBase::Day => 86_400_000_000_000,
        TimeBase::Second => 1_000_000_000,
        TimeBase::Milli => 1_000_000,
        TimeBase::Micro => 1000,
        TimeBase::Nano => 1,
        _ => return None,
    };
    (unit.count == 1).then_some(each)
}
