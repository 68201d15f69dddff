//! [`Value::encode`]: writes a value as MessagePack.

use super::{Value, error};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Result};

impl Value {
    /// Appends the value to `out` in MessagePack, with the shortest form of each length; integers take 1, 5 or 9 bytes, floats
    /// 9.
    ///
    /// ```
    /// use bloscpack_array::msgpack::Value;
    /// let value = Value::List(vec![Value::Nil, Value::Int(-1), Value::Text("a".to_owned())]);
    /// let mut bytes = Vec::new();
    /// value.encode(&mut bytes)?;
    /// assert_eq!(bytes, b"\x93\xc0\xff\xa1a");
    /// assert_eq!(Value::decode(&bytes)?, value);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for text, bytes, lists, maps or extension data of 2^32 bytes or items and more. `out` then
    /// holds a part of the value.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Nil => out.push(0xc0),
            Self::Bool(value) => out.push(0xc2 + u8::from(*value)),
            Self::Int(number) => int(*number, out),
            Self::UInt(number) => {
                out.push(0xcf);
                out.extend(number.to_be_bytes());
            }
            Self::Float(number) => {
                out.push(0xcb);
                out.extend(number.to_be_bytes());
            }
            Self::Text(text) => {
                head(text.len(), (0xa0, 32), &[0xd9, 0xda, 0xdb], out)?;
                out.extend(text.as_bytes());
            }
            Self::Bytes(bytes) => {
                head(bytes.len(), (0, 0), &[0xc4, 0xc5, 0xc6], out)?;
                out.extend(bytes);
            }
            Self::List(values) => {
                head(values.len(), (0x90, 16), &[0, 0xdc, 0xdd], out)?;
                values.iter().try_for_each(|value| value.encode(out))?;
            }
            Self::Map(pairs) => {
                head(pairs.len(), (0x80, 16), &[0, 0xde, 0xdf], out)?;
                for (key, value) in pairs {
                    key.encode(out)?;
                    value.encode(out)?;
                }
            }
            Self::Ext(number, bytes) => {
                head(bytes.len(), (0, 0), &[0xc7, 0xc8, 0xc9], out)?;
                out.extend(number.to_be_bytes());
                out.extend(bytes);
            }
        }
        Ok(())
    }
}

fn int(number: i64, out: &mut Vec<u8>) {
    if let Ok(number @ -32..) = i8::try_from(number) {
        out.extend(number.to_be_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(0xd2);
        out.extend(number.to_be_bytes());
    } else {
        out.push(0xd3);
        out.extend(number.to_be_bytes());
    }
}

/// Writes the head of a value of `len` bytes or items: one byte if `len` is less than `short.1`, otherwise one of `marks` and a
/// length of 1, 2 or 4 bytes. A mark of 0 is not used.
fn head(len: usize, short: (u8, u8), marks: &[u8; 3], out: &mut Vec<u8>) -> Result<()> {
    let [one, two, four] = *marks;
    match (u8::try_from(len), u16::try_from(len), u32::try_from(len)) {
        (Ok(len), ..) if len < short.1 => out.push(short.0 | len),
        (Ok(len), ..) if one != 0 => out.extend([one, len]),
        (_, Ok(len), _) => {
            out.push(two);
            out.extend(len.to_be_bytes());
        }
        (.., Ok(len)) => {
            out.push(four);
            out.extend(len.to_be_bytes());
        }
        _ => {
            let what = format_args!("{} bytes or items", to_u64(len));
            return Err(error(Code::CannotStore, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn values_come_back() {
        let ints = [
            0,
            127,
            128,
            -32,
            -33,
            i64::MAX,
            i64::MIN,
            1 << 31,
            -(1 << 31),
        ];
        let mut values: Vec<_> = ints.into_iter().map(Value::Int).collect();
        values.extend([Value::UInt(u64::MAX), Value::Float(-0.5), Value::Bool(true)]);
        for len in [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536] {
            values.push(Value::Text("x".repeat(len)));
            values.push(Value::Bytes(vec![7; len]));
            values.push(Value::Ext(-3, vec![7; len]));
            values.push(Value::List(vec![Value::Nil; len]));
            values.push(Value::Map(vec![(Value::Nil, Value::Int(1)); len]));
        }
        let all = Value::List(values);
        let mut bytes = Vec::new();
        all.encode(&mut bytes).unwrap();
        assert_eq!(Value::decode(&bytes).unwrap(), all);
    }
}
