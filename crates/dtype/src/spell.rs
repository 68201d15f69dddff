//! Writes dtypes as NumPy spells them: `str(dtype)`, `dtype.str` and `dtype.descr`.

use super::{ByteOrder, DType, DTypeError, Field, Kind, Struct, TimeUnit};
use std::fmt;

/// Writes `str(dtype)` of NumPy, which bcolz and BLZ store: `int64`, `>i4`, `|S10`, `datetime64[ns]`,
/// `[('a', '<i4'), ('b', '<f8')]`, and a dictionary with offsets if fields are padded or aligned.
///
/// [`DType::parse`] reads the same layout back. To ensure this, one spelling differs from NumPy's: if fields are aligned and
/// nested ones are not, or the reverse, the offsets are written. NumPy's spelling loses the padding.
///
/// ```
/// use bloscpack_dtype::DType;
///
/// assert_eq!(DType::parse("<i8")?.to_string(), "int64");
/// assert_eq!(DType::parse("|i1")?.to_string(), "int8");
/// assert_eq!(DType::parse("<M8[ns]")?.to_string(), "datetime64[ns]");
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Struct(of) if all_aligned(of) => {
                let text = map(of, self.itemsize, true);
                write!(f, "{}, 'aligned': True}}", text.trim_end_matches('}'))
            }
            Kind::Struct(of) => f.write_str(&structure(of, self.itemsize, false)),
            Kind::Bytes | Kind::Text | Kind::Void => f.write_str(&self.code()),
            _ if self.order == ByteOrder::Big => f.write_str(&self.code()),
            Kind::Bool => f.write_str("bool"),
            Kind::Object => f.write_str("object"),
            Kind::Int => write!(f, "int{}", self.bits()),
            Kind::Uint => write!(f, "uint{}", self.bits()),
            Kind::Float => write!(f, "float{}", self.bits()),
            Kind::Complex => write!(f, "complex{}", self.bits()),
            Kind::Datetime(unit) => write!(f, "datetime64{}", brackets(unit)),
            Kind::Timedelta(unit) => write!(f, "timedelta64{}", brackets(unit)),
        }
    }
}

impl DType {
    /// The code, NumPy's `dtype.str`: `<f8`, `|b1`, `<M8[ns]`. A structured dtype is written as void, `|V12`, without its
    /// fields.
    ///
    /// ```
    /// assert_eq!(bloscpack_dtype::DType::parse("float64")?.code(), "<f8");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn code(&self) -> String {
        let order = match self.order {
            ByteOrder::Big => '>',
            ByteOrder::Little if self.has_arrow() => '<',
            ByteOrder::Little => '|',
        };
        let size = self.itemsize;
        match &self.kind {
            Kind::Bool => "|b1".to_owned(),
            Kind::Object => "|O".to_owned(),
            Kind::Int => format!("{order}i{size}"),
            Kind::Uint => format!("{order}u{size}"),
            Kind::Float => format!("{order}f{size}"),
            Kind::Complex => format!("{order}c{size}"),
            Kind::Bytes => format!("|S{size}"),
            Kind::Text => format!("{order}U{}", size / 4),
            Kind::Datetime(unit) => format!("{order}M8{}", brackets(unit)),
            Kind::Timedelta(unit) => format!("{order}m8{}", brackets(unit)),
            Kind::Void | Kind::Struct(_) => format!("|V{size}"),
        }
    }

    /// The Python literal in the header of a `.npy` file, NumPy's `dtype.descr`: the quoted code, or the list of fields.
    /// Padding is written as void without a name. Whether fields are `aligned` is not written, only their offsets.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    ///
    /// assert_eq!(DType::F64.descr()?, "'<f8'");
    /// let dtype = DType::structured(vec![("a", DType::I8, vec![]), ("b", DType::I16, vec![2])], true)?;
    /// assert_eq!(dtype.descr()?, "[('a', '|i1'), ('', '|V1'), ('b', '<i2', (2,))]");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if fields overlap or are not in the order of their offsets, which a list cannot express.
    pub fn descr(&self) -> Result<String, DTypeError> {
        let Kind::Struct(of) = &self.kind else {
            return Ok(format!("'{}'", self.code()));
        };
        let (mut items, mut end) = (Vec::new(), 0);
        for field in &of.fields {
            items.extend(padding_before(field, end)?.map(|len| format!("('', '|V{len}')")));
            let (name, dtype) = (naming(field), field.dtype.descr()?);
            items.push(match field.shape.as_slice() {
                [] => format!("({name}, {dtype})"),
                shape => format!("({name}, {dtype}, {})", tuple(shape)),
            });
            end = field.end()?;
        }
        if self.itemsize > end {
            items.push(format!("('', '|V{}')", self.itemsize - end));
        }
        Ok(format!("[{}]", items.join(", ")))
    }

    /// The nested JSON list of fields that the BLZ document describes, with padding as void without a name. A dtype without
    /// fields is a string: its code. If fields overlap or are out of order, the result is the string that `Display` writes.
    ///
    /// ```
    /// let dtype = bloscpack_dtype::DType::parse("[('a', '<i4'), ('b', [('c', '<f8'), ('d', 'S3')])]")?;
    /// let json = serde_json::json!([["a", "<i4"], ["b", [["c", "<f8"], ["d", "|S3"]]]]);
    /// assert_eq!(dtype.to_json(), json);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        self.nested().unwrap_or_else(|_| self.to_string().into())
    }

    fn nested(&self) -> Result<serde_json::Value, DTypeError> {
        let Kind::Struct(of) = &self.kind else {
            return Ok(self.code().into());
        };
        let (mut items, mut end) = (Vec::new(), 0);
        for field in &of.fields {
            items.extend(padding_before(field, end)?.map(padding));
            let name: serde_json::Value = match &field.title {
                None => field.name.clone().into(),
                Some(title) => vec![title.clone(), field.name.clone()].into(),
            };
            let mut item = vec![name, field.dtype.nested()?];
            if !field.shape.is_empty() {
                item.push(field.shape.clone().into());
            }
            items.push(item.into());
            end = field.end()?;
        }
        if self.itemsize > end {
            items.push(padding(self.itemsize - end));
        }
        Ok(items.into())
    }

    fn bits(&self) -> u64 {
        // Cannot overflow: an item size is less than 2^31.
        self.itemsize * 8
    }

    /// Whether the code begins with `<` or `>`.
    fn has_arrow(&self) -> bool {
        match &self.kind {
            Kind::Text => true,
            Kind::Bytes | Kind::Void | Kind::Struct(_) | Kind::Object => false,
            _ => self.itemsize > 1,
        }
    }
}

fn padding(len: u64) -> serde_json::Value {
    vec![String::new(), format!("|V{len}")].into()
}

/// The bytes between the end of the previous field and this one; an error if they overlap.
fn padding_before(field: &Field, end: u64) -> Result<Option<u64>, DTypeError> {
    match field.offset.checked_sub(end) {
        Some(0) => Ok(None),
        Some(len) => Ok(Some(len)),
        None => {
            let why = "begins before the previous field ends, which a list cannot express";
            Err(DTypeError::invalid(why).in_field(&field.name))
        }
    }
}

fn brackets(unit: &TimeUnit) -> String {
    match unit.base {
        None => String::new(),
        Some(_) => format!("[{unit}]"),
    }
}

/// A list if it implies the offsets, otherwise a dictionary. A reader applies `aligned` to nested fields, too.
fn structure(of: &Struct, itemsize: u64, aligned: bool) -> String {
    if is_natural(of, itemsize, aligned) {
        let items: Vec<_> = of.fields.iter().map(|field| item(field, aligned)).collect();
        return format!("[{}]", items.join(", "));
    }
    map(of, itemsize, aligned)
}

/// Whether a reader of a list would compute these offsets and this item size.
fn is_natural(of: &Struct, itemsize: u64, aligned: bool) -> bool {
    let (mut end, mut alignment) = (0_u64, 1_u64);
    for field in &of.fields {
        if aligned {
            let its = field.dtype.alignment();
            (end, alignment) = (end.next_multiple_of(its), alignment.max(its));
        }
        match field.end() {
            Ok(its_end) if field.offset == end => end = its_end,
            _ => return false,
        }
    }
    end.next_multiple_of(alignment) == itemsize
}

/// Whether these fields and all nested ones are aligned, as a reader assumes.
fn all_aligned(of: &Struct) -> bool {
    let within = |field: &Field| match &field.dtype.kind {
        Kind::Struct(of) => all_aligned(of),
        _ => true,
    };
    of.aligned && of.fields.iter().all(within)
}

fn item(field: &Field, aligned: bool) -> String {
    let (name, dtype) = (naming(field), short(&field.dtype, aligned));
    match field.shape.as_slice() {
        [] => format!("({name}, {dtype})"),
        shape => format!("({name}, {dtype}, {})", tuple(shape)),
    }
}

fn map(of: &Struct, itemsize: u64, aligned: bool) -> String {
    let each = |spell: &dyn Fn(&Field) -> String| {
        let spelled: Vec<_> = of.fields.iter().map(spell).collect();
        spelled.join(", ")
    };
    let mut text = format!(
        "{{'names': [{}], 'formats': [{}], 'offsets': [{}], ",
        each(&|field| repr(&field.name)),
        each(&|field| format(field, aligned)),
        each(&|field| field.offset.to_string()),
    );
    if of.fields.iter().any(|field| field.title.is_some()) {
        let title = |field: &Field| field.title.as_deref().map_or("None".to_owned(), repr);
        text.push_str(&format!("'titles': [{}], ", each(&title)));
    }
    text.push_str(&format!("'itemsize': {itemsize}}}"));
    text
}

/// The type of a field in a map, together with its shape.
fn format(field: &Field, aligned: bool) -> String {
    let dtype = short(&field.dtype, aligned);
    match field.shape.as_slice() {
        [] => dtype,
        shape => format!("({dtype}, {})", tuple(shape)),
    }
}

/// The code as NumPy writes it in lists: `?` for bool, and no `|`.
fn short(dtype: &DType, aligned: bool) -> String {
    let code = match &dtype.kind {
        Kind::Struct(of) => return structure(of, dtype.itemsize, aligned),
        Kind::Bool => "?".to_owned(),
        // NumPy leaves out a length of 0.
        Kind::Bytes if dtype.itemsize == 0 => "S".to_owned(),
        Kind::Void if dtype.itemsize == 0 => "V".to_owned(),
        Kind::Text if dtype.itemsize == 0 => dtype.code().trim_end_matches('0').to_owned(),
        _ => dtype.code().trim_start_matches('|').to_owned(),
    };
    format!("'{code}'")
}

fn naming(field: &Field) -> String {
    match &field.title {
        None => repr(&field.name),
        Some(title) => format!("({}, {})", repr(title), repr(&field.name)),
    }
}

/// A Python tuple of numbers: `()`, `(3,)`, `(3, 4)`.
pub fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => {
            let axes: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!("({})", axes.join(", "))
        }
    }
}

/// A string as Python's `repr` writes it.
fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut spelled = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => spelled.push_str("\\\\"),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            c if c == quote => spelled.extend(['\\', c]),
            c if is_printable(c) => spelled.push(c),
            c => spelled.push_str(&escape(c)),
        }
    }
    spelled.push(quote);
    spelled
}

fn escape(c: char) -> String {
    match u32::from(c) {
        code @ ..=0xff => format!("\\x{code:02x}"),
        code @ ..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

/// Whether Python's `repr` prints a character unescaped. `escape_debug` follows the same rule, except that it escapes quotes,
/// and combining characters at the start of a text; hence the `a` before them.
fn is_printable(c: char) -> bool {
    let after_a = ['a', c].iter().collect::<String>();
    matches!(c, '\'' | '"') || after_a.escape_debug().eq(['a', c])
}
