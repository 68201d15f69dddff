//! Parses dtypes from text, Python literals and JSON. Nothing is evaluated.

use super::excerpt::excerpt;
use super::layout::laid_out;
use super::name::of_name;
use super::{ByteOrder, DType, DTypeError, Field, Kind, Struct};
use crate::literal::Literal;

/// Bytes of the longest text: enough for 65,536 fields. Parsing may take fifty times as much memory as the text.
const MAX_TEXT: usize = 1 << 21;

impl DType {
    /// Parses any spelling that NumPy writes.
    ///
    /// | spelling | example |
    /// |---|---|
    /// | name | `float64`, `bool`, `datetime64[ns]` |
    /// | code | `<f8`, `>i4`, `\|S10`, `<U7`, `<M8[25s]`; without a byte order: little-endian |
    /// | letter | `?`, `b`, `h`, `i`, `q`, `B`, `H`, `I`, `Q`, `e`, `f`, `d`, `F`, `D`, `S`, `U`, `V`, `O` |
    /// | list | `[('a', '<i4'), ('b', '<f8', (2,)), (('title', 'c'), 'S3')]` |
    /// | dictionary | `{'names': [...], 'formats': [...]}`, and optionally `offsets`, `titles`, `itemsize`, `aligned` |
    /// | quoted name, code or letter | `'<f8'`, `u'float64'` |
    /// | call | `dtype('<f8')`, `np.dtype([...], align=True)`, `(numpy.record, [...])` |
    ///
    /// With `align=True`, fields are laid out as by a C compiler on a 64-bit machine. In a list, void without a name is
    /// padding, as in `descr`; any other field without a name is called `f0`, `f1` and so on, after its position.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    ///
    /// assert_eq!(DType::parse("<f8")?, DType::F64);
    /// assert_eq!(DType::parse("float64")?, DType::F64);
    /// let dtype = DType::parse("dtype([('a', 'i1'), ('b', '<f8', (2,))], align=True)")?;
    /// assert_eq!((dtype.itemsize(), dtype.fields().map(<[_]>::len)), (24, Some(2)));
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails for any other text, for more than 2 MiB of text, and with the errors of [`DType::new`]. Names and letters whose
    /// size depends on the machine (`int`, `l`, `p`, `g`) are refused. Subarrays, such as `('<i4', (2,))`, are only accepted
    /// within fields.
    pub fn parse(text: &str) -> Result<Self, DTypeError> {
        if text.len() > MAX_TEXT {
            let why = format!(
                "text of {} bytes exceeds the limit of {MAX_TEXT}",
                text.len()
            );
            return Err(DTypeError::invalid(why));
        }
        let (inner, aligned) = match call(text) {
            Some((inner, aligned)) => (inner, aligned),
            None => (text, false),
        };
        let inner = record(inner).unwrap_or(inner);
        if is_literal(inner) {
            of_literal(&Literal::parse(inner)?, aligned)
        } else {
            of_name(inner)
        }
    }

    /// Parses a dtype from JSON, as the BLZ document spells it: a string that [`DType::parse`] reads, or a list of fields, each
    /// `[name, type]` or `[name, type, shape]`. A `type` may be a list of fields again.
    ///
    /// ```
    /// let json = serde_json::json!([["a", "<i4"], ["b", [["c", "<f8"], ["d", "|S3"]], [2]]]);
    /// assert_eq!(bloscpack_dtype::DType::from_json(&json)?.itemsize(), 26);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`DType::parse`]; fails for maps, floats, negative numbers, booleans and null.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, DTypeError> {
        match value {
            serde_json::Value::String(text) => Self::parse(text),
            other => of_literal(&Literal::from_json(other)?, false),
        }
    }
}

fn is_literal(text: &str) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with(['\'', '"', '[', '(', '{'])
        || text.starts_with("u'")
        || text.starts_with("u\"")
}

/// The text inside `dtype(...)`, and whether `align=True` follows it.
fn call(text: &str) -> Option<(&str, bool)> {
    let text = text.trim_ascii();
    let name = text.strip_prefix("numpy.").or(text.strip_prefix("np."));
    let inner = name.unwrap_or(text).strip_prefix("dtype(")?;
    let inner = inner.strip_suffix(')')?.trim_ascii();
    let aligned = inner.strip_suffix("align=True").map(str::trim_ascii_end);
    match aligned.and_then(|before| before.strip_suffix(',')) {
        Some(before) => Some((before, true)),
        None => Some((inner, false)),
    }
}

/// The dtype inside `(numpy.record, ...)`, as NumPy writes it for record arrays.
fn record(text: &str) -> Option<&str> {
    let inner = text.trim_ascii().strip_prefix('(')?.strip_suffix(')')?;
    let rest = inner.trim_ascii_start().strip_prefix("numpy.record")?;
    rest.trim_ascii_start().strip_prefix(',')
}

/// The dtype that a literal describes. `aligned` applies to fields, unless a dictionary says otherwise.
///
/// # Errors
/// Fails if the literal does not describe a dtype, or describes a subarray.
pub fn of_literal(literal: &Literal, aligned: bool) -> Result<DType, DTypeError> {
    match format(literal, aligned)? {
        (dtype, shape) if shape.is_empty() => Ok(dtype),
        _ => {
            let why = "subarray, whose dimensions belong to the shape of the array";
            Err(DTypeError::invalid(why))
        }
    }
}

/// A dtype, and the shape of the subarray if the literal is `(type, shape)`.
fn format(literal: &Literal, aligned: bool) -> Result<(DType, Vec<u64>), DTypeError> {
    match literal {
        Literal::Text(name) => Ok((of_name(name)?, Vec::new())),
        Literal::Map(_) => Ok((of_map(literal, aligned)?, Vec::new())),
        Literal::Sequence(items) => match items.as_slice() {
            [base, shape] if is_shape(shape) => {
                let mut axes = self::shape(shape)?;
                let (dtype, within) = format(base, aligned)?;
                axes.extend(within);
                Ok((dtype, axes))
            }
            fields => Ok((of_list(fields, aligned)?, Vec::new())),
        },
        Literal::Whole(_) | Literal::Truth(_) | Literal::Nothing => {
            Err(DTypeError::invalid("number or constant instead of a type"))
        }
    }
}

/// Whether this is a shape. A field differs from it by its name.
fn is_shape(literal: &Literal) -> bool {
    match literal {
        Literal::Whole(_) => true,
        Literal::Sequence(axes) => axes.iter().all(|axis| matches!(axis, Literal::Whole(_))),
        _ => false,
    }
}

fn shape(literal: &Literal) -> Result<Vec<u64>, DTypeError> {
    let axis = |axis: &Literal| match axis {
        Literal::Whole(len) => Ok(*len),
        _ => Err(wrong_shape()),
    };
    match literal {
        Literal::Whole(len) => Ok(vec![*len]),
        Literal::Sequence(axes) => axes.iter().map(axis).collect(),
        _ => Err(wrong_shape()),
    }
}

fn wrong_shape() -> DTypeError {
    DTypeError::invalid("shape of a field with something that is not an integer")
}

fn structure(fields: Vec<Field>, aligned: bool, itemsize: u64) -> Result<DType, DTypeError> {
    let of = Box::new(Struct { fields, aligned });
    DType::new(Kind::Struct(of), ByteOrder::Little, itemsize)
}

/// The dtype of a list `[(name, type), (name, type, shape), ...]`.
fn of_list(items: &[Literal], aligned: bool) -> Result<DType, DTypeError> {
    let fields = items.iter().enumerate();
    let fields = fields.map(|(number, item)| of_item(item, number, aligned));
    let (mut fields, itemsize) = laid_out(fields.collect::<Result<_, _>>()?, aligned)?;
    fields.retain(|field| !is_padding(field));
    structure(fields, aligned, itemsize)
}

/// Whether this is padding as `descr` spells it: void without a name.
fn is_padding(field: &Field) -> bool {
    field.name.is_empty() && field.dtype.kind == Kind::Void
}

fn of_item(item: &Literal, number: usize, aligned: bool) -> Result<Field, DTypeError> {
    let parts = match item {
        Literal::Sequence(parts) => parts.as_slice(),
        _ => &[],
    };
    let (name, dtype, outer) = match parts {
        [name, dtype] => (name, dtype, Vec::new()),
        [name, dtype, axes] => (name, dtype, shape(axes)?),
        _ => {
            let why = "field that is not (name, type) or (name, type, shape)";
            return Err(DTypeError::invalid(why));
        }
    };
    let (name, title) = naming(name)?;
    let (dtype, within) = format(dtype, aligned)?;
    let shape = [outer, within].concat();
    let mut field = Field {
        name,
        title,
        dtype,
        shape,
        offset: 0,
    };
    if field.name.is_empty() && !is_padding(&field) {
        field.name = format!("f{number}");
    }
    Ok(field)
}

/// The name and title in `name` or `(title, name)`.
fn naming(literal: &Literal) -> Result<(String, Option<String>), DTypeError> {
    match literal {
        Literal::Text(name) => Ok((name.clone(), None)),
        Literal::Sequence(both) => match both.as_slice() {
            [Literal::Text(title), Literal::Text(name)] => Ok((name.clone(), Some(title.clone()))),
            _ => Err(DTypeError::invalid(
                "title and name of a field are not two strings",
            )),
        },
        _ => Err(DTypeError::invalid("name of a field is not a string")),
    }
}

/// The dtype of `{'names': [...], 'formats': [...], 'offsets': [...], 'titles': [...], 'itemsize': n, 'aligned': True}`. Only
/// the first two keys are required.
fn of_map(map: &Literal, aligned: bool) -> Result<DType, DTypeError> {
    only_known(map)?;
    let aligned = match map.get("aligned") {
        Some(Literal::Truth(aligned)) => *aligned,
        Some(_) => return Err(DTypeError::invalid("'aligned' is neither True nor False")),
        None => aligned,
    };
    let names = list(map, "names", None)?;
    let formats = list(map, "formats", Some(names.len()))?;
    let mut fields = Vec::new();
    for (name, literal) in names.iter().zip(formats) {
        let (dtype, shape) = format(literal, aligned)?;
        let Literal::Text(name) = name else {
            return Err(DTypeError::invalid("name of a field is not a string"));
        };
        fields.push(Field {
            name: name.clone(),
            title: None,
            dtype,
            shape,
            offset: 0,
        });
    }
    entitle(map, &mut fields)?;
    let (fields, end) = placed(map, fields, aligned)?;
    let itemsize = match map.get("itemsize") {
        Some(Literal::Whole(itemsize)) => *itemsize,
        Some(_) => return Err(DTypeError::invalid("'itemsize' is not an integer")),
        None => end,
    };
    structure(fields, aligned, itemsize)
}

fn only_known(map: &Literal) -> Result<(), DTypeError> {
    const KNOWN: [&str; 6] = [
        "names", "formats", "offsets", "titles", "itemsize", "aligned",
    ];
    let Literal::Map(members) = map else {
        return Ok(());
    };
    let mut keys = members.iter().map(|(key, _)| key.as_str());
    match keys.find(|key| !KNOWN.contains(key)) {
        None => Ok(()),
        Some(key) => {
            let why = format!("unknown key {}", excerpt(key));
            Err(DTypeError::invalid(why))
        }
    }
}

/// The list with this key; an error if it is missing or has another length.
fn list<'a>(map: &'a Literal, name: &str, len: Option<usize>) -> Result<&'a [Literal], DTypeError> {
    let Some(Literal::Sequence(items)) = map.get(name) else {
        return Err(DTypeError::invalid(format!("no list {name:?}")));
    };
    match len {
        Some(len) if len != items.len() => {
            let found = items.len();
            let why = format!("list {name:?} of {found} for {len} fields");
            Err(DTypeError::invalid(why))
        }
        _ => Ok(items),
    }
}

fn entitle(map: &Literal, fields: &mut [Field]) -> Result<(), DTypeError> {
    if map.get("titles").is_none() {
        return Ok(());
    }
    let titles = list(map, "titles", Some(fields.len()))?;
    for (field, title) in fields.iter_mut().zip(titles) {
        field.title = match title {
            Literal::Text(title) => Some(title.clone()),
            Literal::Nothing => None,
            _ => return Err(DTypeError::invalid("title of a field is not a string")),
        };
    }
    Ok(())
}

/// The fields at the given offsets, or laid out if there are none, and the item size that follows from them.
fn placed(
    map: &Literal,
    mut fields: Vec<Field>,
    aligned: bool,
) -> Result<(Vec<Field>, u64), DTypeError> {
    if map.get("offsets").is_none() {
        return laid_out(fields, aligned);
    }
    let offsets = list(map, "offsets", Some(fields.len()))?;
    let (mut end, mut alignment) = (0, 1);
    for (field, offset) in fields.iter_mut().zip(offsets) {
        let Literal::Whole(offset) = offset else {
            return Err(DTypeError::invalid("offset of a field is not an integer"));
        };
        field.offset = *offset;
        end = end.max(field.end()?);
        alignment = alignment.max(field.dtype.alignment());
    }
    if aligned {
        let padded = end.checked_next_multiple_of(alignment);
        end = padded.ok_or_else(|| DTypeError::invalid("fields of more than 2^64 bytes"))?;
    }
    Ok((fields, end))
}
