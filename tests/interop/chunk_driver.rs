//! Chunks of Blosc 2 by command, for `chunks2.py`.
//!
//! A command is a JSON object on a line of standard input, whose `bytes` raw bytes follow the line. The answer is
//! such a line, too, with `error` in it if the call failed, followed by its bytes.

use bloscpack::blosc::{
    Blosc2Encoder, Blosc2Settings, ChunkDecoder, FilterPipeline, ShuffleMeta, SpecialValue,
    special_chunk,
};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Read, Write, stdin, stdout};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let command: Value = serde_json::from_str(&line)?;
        let mut data = vec![0; number(&command, "bytes")?];
        input.read_exact(&mut data)?;
        let (mut answer, bytes) = match call(&command, &data) {
            Ok(bytes) => (json!({}), bytes),
            Err(error) => (json!({ "error": error.to_string() }), Vec::new()),
        };
        answer["bytes"] = bytes.len().into();
        writeln!(output, "{answer}")?;
        output.write_all(&bytes)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn call(command: &Value, data: &[u8]) -> Result<Vec<u8>> {
    let name = command["do"].as_str().ok_or("no \"do\"")?;
    match name {
        "encode" => {
            let mut chunk = Vec::new();
            Blosc2Encoder::new(settings(command)?)?.encode(data, &mut chunk)?;
            Ok(chunk)
        }
        "decode" => {
            let mut out = vec![0xA5; number(command, "len")?];
            let mut decoder = ChunkDecoder::new().shuffle_meta(ShuffleMeta::Width);
            decoder.decode_range(data, small(command, "start")?, &mut out)?;
            Ok(out)
        }
        "special" => {
            let value = match command["kind"].as_str() {
                Some("zeros") => SpecialValue::Zeros,
                Some("nan") => SpecialValue::Nan,
                Some("uninit") => SpecialValue::Uninit,
                _ => SpecialValue::Value(data),
            };
            let (nbytes, blocksize) = (small(command, "nbytes")?, small(command, "blocksize")?);
            Ok(special_chunk(
                value,
                nbytes,
                small(command, "typesize")?,
                blocksize,
            )?)
        }
        _ => Err(format!("no call {name:?}").into()),
    }
}

fn settings(command: &Value) -> Result<Blosc2Settings> {
    let compressor = command["compressor"].as_str().ok_or("no compressor")?;
    let blocksize = match command["blocksize"] {
        Value::Null => None,
        _ => Some(small(command, "blocksize")?),
    };
    Ok(Blosc2Settings::default()
        .compressor(compressor.parse()?)
        .level(small(command, "level")?)
        .filters(FilterPipeline::from_ids(
            six(&command["filters"])?,
            six(&command["metas"])?,
        )?)
        .typesize(small(command, "typesize")?)
        .blocksize(blocksize))
}

fn six(value: &Value) -> Result<[u8; 6]> {
    let list = value.as_array().ok_or("no list")?;
    let bytes: Option<Vec<u8>> = list.iter().map(byte).collect();
    let bytes = bytes.ok_or("no bytes")?;
    bytes.try_into().map_err(|_| "not six of them".into())
}

fn byte(value: &Value) -> Option<u8> {
    u8::try_from(value.as_u64()?).ok()
}

fn number(command: &Value, field: &str) -> Result<usize> {
    small(command, field)
}

fn small<T: TryFrom<u64>>(command: &Value, field: &str) -> Result<T> {
    let found = command[field].as_u64();
    let found = found.and_then(|number| T::try_from(number).ok());
    found.ok_or_else(|| format!("no {field}").into())
}
