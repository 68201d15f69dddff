//! How many bytes an element has, from the spelling of its dtype.

use super::literal::Literal;

/// Bytes of an element with this dtype: a string, or a list of fields.
pub(super) fn itemsize(dtype: &Literal) -> Result<u64, String> {
    match dtype {
        Literal::Text(name) => of_name(name),
        Literal::Sequence(fields) => fields.iter().try_fold(0_u64, |sum, field| {
            let size = of_field(field)?;
            sum.checked_add(size).ok_or_else(too_large)
        }),
        Literal::Whole(found) => Err(format!("the number {found} where a type should be")),
    }
}

/// Bytes of a field: `(name, type)` or `(name, type, shape)`. Padding is a field without a name.
fn of_field(field: &Literal) -> Result<u64, String> {
    let parts = match field {
        Literal::Sequence(parts) => parts.as_slice(),
        _ => &[],
    };
    match parts {
        [name, dtype] if is_name(name) => itemsize(dtype),
        [name, dtype, shape] if is_name(name) => {
            let count = elements(shape)?;
            itemsize(dtype)?.checked_mul(count).ok_or_else(too_large)
        }
        _ => Err("a field that is not (name, type) or (name, type, shape)".to_owned()),
    }
}

/// A name, or a title with a name.
fn is_name(name: &Literal) -> bool {
    match name {
        Literal::Text(_) => true,
        Literal::Sequence(both) => {
            matches!(both.as_slice(), [Literal::Text(_), Literal::Text(_)])
        }
        Literal::Whole(_) => false,
    }
}

/// How many elements an array within a field has.
fn elements(shape: &Literal) -> Result<u64, String> {
    match shape {
        Literal::Whole(count) => Ok(*count),
        Literal::Sequence(axes) => axes.iter().try_fold(1_u64, |product, axis| match axis {
            Literal::Whole(len) => product.checked_mul(*len).ok_or_else(too_large),
            _ => Err("a field's shape with something that is no whole number".to_owned()),
        }),
        Literal::Text(found) => Err(format!("{found:?} where a field's shape should be")),
    }
}

fn too_large() -> String {
    "an element of more bytes than can be counted".to_owned()
}

/// Bytes of a type that is a string: `<f8`, `float64`, `<M8[ns]`.
fn of_name(name: &str) -> Result<u64, String> {
    let code = name.strip_prefix(['<', '>', '|', '=']).unwrap_or(name);
    if matches!(code, "object" | "object_") || code.starts_with(['O', 'T']) {
        let why = "means pointers, which are worth nothing in a file";
        return Err(format!("{name:?} {why}"));
    }
    of_word(name)
        .or_else(|| of_code(code))
        .ok_or_else(|| format!("{name:?} is no NumPy type of known size"))
}

/// Bytes of a type by its letter, number and unit, without a byte order.
fn of_code(code: &str) -> Option<u64> {
    let (code, has_unit) = split_unit(code)?;
    if matches!(code, "M8" | "m8" | "datetime64" | "timedelta64") {
        return Some(8);
    }
    let mut rest = code.chars();
    let (kind, digits) = (rest.next()?, rest.as_str());
    if has_unit || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    match digits {
        "" => of_letter(kind),
        _ => of_kind(kind, digits.parse().ok()?),
    }
}

/// Splits `M8[ns]` after the 8, and tells whether there was a unit.
fn split_unit(code: &str) -> Option<(&str, bool)> {
    let Some((code, unit)) = code.split_once('[') else {
        return Some((code, false));
    };
    let unit = unit.strip_suffix(']')?;
    let sound = !unit.is_empty() && unit.chars().all(|c| c.is_ascii_alphanumeric() || c == '/');
    sound.then_some((code, true))
}

/// Names that are the same size on every machine, so not `int` or `longdouble`.
fn of_word(name: &str) -> Option<u64> {
    match name {
        "bool" | "bool_" | "int8" | "uint8" | "byte" | "ubyte" => Some(1),
        "int16" | "uint16" | "float16" | "short" | "ushort" | "half" => Some(2),
        "int32" | "uint32" | "float32" | "intc" | "uintc" | "single" => Some(4),
        "int64" | "uint64" | "float64" | "longlong" | "ulonglong" | "double" | "float" => Some(8),
        "complex64" | "csingle" => Some(8),
        "float96" => Some(12),
        "float128" | "complex128" | "cdouble" | "complex" => Some(16),
        "complex192" => Some(24),
        "complex256" => Some(32),
        _ => None,
    }
}

/// Letters without a number; not `l`, `p` and `g`, which depend on the machine.
const fn of_letter(kind: char) -> Option<u64> {
    match kind {
        'S' | 'a' | 'U' | 'V' => Some(0),
        '?' | 'b' | 'B' => Some(1),
        'h' | 'H' | 'e' => Some(2),
        'i' | 'I' | 'f' => Some(4),
        'q' | 'Q' | 'd' | 'F' => Some(8),
        'D' => Some(16),
        _ => None,
    }
}

/// A letter with a number, which counts bytes but for `U`, whose characters have four.
fn of_kind(kind: char, count: u64) -> Option<u64> {
    let known = match kind {
        'b' => count == 1,
        'i' | 'u' => matches!(count, 1 | 2 | 4 | 8),
        'f' => matches!(count, 2 | 4 | 8 | 12 | 16),
        'c' => matches!(count, 8 | 16 | 24 | 32),
        'S' | 'a' | 'V' => true,
        'U' => return count.checked_mul(4),
        _ => false,
    };
    known.then_some(count)
}
