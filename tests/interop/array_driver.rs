//! Arrays of Caterva and `b2nd` by command, for `arrays.py`: all operations of the library on them, one call per
//! line.

mod protocol;

use bloscpack::Options;
use bloscpack::blosc::{FilterPipeline, FilterStep};
use bloscpack::dtype::DType;
use bloscpack_open::frames::{ArrayKind, NdArray, NdArrayBuilder};
use protocol::{
    Answer, Result, count, counts, first, from_hex, list, range, ranges, serve, text, to_hex,
};
use serde_json::{Value, json};

fn main() -> Result<()> {
    let mut driver = Driver { open: None };
    serve(|command, data| driver.call(command, data))
}

struct Driver {
    open: Option<NdArray>,
}

impl Driver {
    fn call(&mut self, command: &Value, data: &[Vec<u8>]) -> Result<Answer> {
        match text(&command["do"])? {
            "create" => self.open = Some(place(builder(command, data)?, command)?),
            "open" => self.open = Some(open(command)?),
            "close" => self.open = None,
            "info" => return Ok((info(self.array()?)?, Vec::new())),
            "verify" => {
                let report = self.array()?.frame().verify(|_| ());
                return Ok((json!({ "sound": report.is_sound() }), Vec::new()));
            }
            "read" => {
                let bytes = self.array()?.read_slice(&ranges(&command["slice"])?)?;
                return Ok((json!({}), bytes));
            }
            "select" => {
                let positions: Vec<Vec<u64>> = list(&command["positions"])
                    .iter()
                    .map(counts)
                    .collect::<Result<_>>()?;
                let positions: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
                return Ok((json!({}), self.array()?.select(&positions)?));
            }
            "bytes" => return Ok((json!({}), self.array()?.to_bytes()?)),
            "copy" => self.copy(command)?,
            name => change(self.array()?, name, command, data)?,
        }
        Ok((json!({}), Vec::new()))
    }

    fn array(&mut self) -> Result<&mut NdArray> {
        Ok(self.open.as_mut().ok_or("nothing is open")?)
    }

    /// A copy somewhere else, as far as the command says so in other shapes and of the other kind.
    fn copy(&mut self, command: &Value) -> Result<()> {
        let array = self.array()?;
        let mut copy = place(described(array.like()?, command)?, command)?;
        array.copy_to(&mut copy)?;
        Ok(copy.flush()?)
    }
}

fn change(array: &mut NdArray, name: &str, command: &Value, data: &[Vec<u8>]) -> Result<()> {
    let axis = || -> Result<usize> { Ok(usize::try_from(count(&command["axis"])?)?) };
    match name {
        "set" => array.write_slice(&ranges(&command["slice"])?, first(data)?)?,
        "fill" => array.fill_slice(&ranges(&command["slice"])?, first(data)?)?,
        "resize" => array.resize(&counts(&command["shape"])?)?,
        "append" => array.append(axis()?, first(data)?)?,
        "insert" => array.insert(axis()?, count(&command["at"])?, first(data)?)?,
        "delete" => array.delete(axis()?, range(&command["range"])?)?,
        "squeeze" => array.squeeze()?,
        "meta" => array.set_metalayer(text(&command["layer"])?, first(data)?.to_vec())?,
        "vlmeta" => array.set_vlmetalayer(text(&command["layer"])?, first(data)?)?,
        "unset" => {
            array.remove_vlmetalayer(text(&command["layer"])?)?;
        }
        "flush" => array.flush()?,
        _ => return Err(format!("an array knows no {name:?}").into()),
    }
    Ok(())
}

fn options(command: &Value) -> Result<Options> {
    let mut options = Options::new();
    if let Some(threads) = command["threads"].as_u64() {
        options = options.threads(usize::try_from(threads)?);
    }
    if let Some(bytes) = command["buffer"].as_u64() {
        options = options.cache(usize::try_from(bytes)?);
    }
    Ok(options)
}

fn open(command: &Value) -> Result<NdArray> {
    let (options, path) = (options(command)?, text(&command["path"])?);
    Ok(if command["edit"] == true {
        NdArray::edit_with(path, &options)?
    } else {
        NdArray::open_with(path, &options)?
    })
}

fn place(builder: NdArrayBuilder, command: &Value) -> Result<NdArray> {
    let (builder, path) = (builder.options(options(command)?), text(&command["path"])?);
    Ok(if command["sparse"] == true {
        builder.create_sparse(path)?
    } else {
        builder.create(path)?
    })
}

/// Options of a new array; a piece of data is its fill value.
fn builder(command: &Value, data: &[Vec<u8>]) -> Result<NdArrayBuilder> {
    let itemsize = u32::try_from(count(&command["itemsize"])?)?;
    let mut array = NdArray::builder(&counts(&command["shape"])?, itemsize);
    if let Some(name) = command["compressor"].as_str() {
        array = array.compressor(name.parse()?);
    }
    if let Some(level) = command["level"].as_u64() {
        array = array.level(u8::try_from(level)?);
    }
    if command.get("filters").is_some() {
        array = array.filters(filters(&command["filters"])?);
    }
    if command.get("ids").is_some() {
        let (ids, metas) = (six(&command["ids"])?, six(&command["metas"])?);
        array = array.filters(FilterPipeline::from_ids(ids, metas)?);
    }
    array = match command["content"].as_str() {
        None | Some("zeros") => array,
        Some("nans") => array.nans(),
        Some("empty") => array.empty(),
        Some("full") => array.full(first(data)?),
        Some(other) => return Err(format!("no content {other:?}").into()),
    };
    described(array, command)
}

/// As far as the command says so, another kind, shapes and metadata.
fn described(mut array: NdArrayBuilder, command: &Value) -> Result<NdArrayBuilder> {
    array = match command["kind"].as_str() {
        None => array,
        Some("caterva") => array.kind(ArrayKind::Caterva),
        Some("b2nd") => array.kind(ArrayKind::B2nd),
        Some(other) => return Err(format!("no kind {other:?}").into()),
    };
    if let Some(dtype) = command["dtype"].as_str() {
        array = array.dtype(DType::parse(dtype)?);
    }
    if command.get("chunks").is_some() {
        array = array.chunk_shape(&lens(&command["chunks"])?);
    }
    if command.get("blocks").is_some() {
        array = array.block_shape(&lens(&command["blocks"])?);
    }
    for (name, digits) in command["meta"].as_object().into_iter().flatten() {
        array = array.metalayer(name, from_hex(text(digits)?)?);
    }
    for (name, digits) in command["vlmeta"].as_object().into_iter().flatten() {
        array = array.vlmetalayer(name, from_hex(text(digits)?)?);
    }
    Ok(array)
}

/// Up to six bytes, and zeros after them.
fn six(value: &Value) -> Result<[u8; 6]> {
    let mut bytes = [0; 6];
    for (byte, number) in bytes.iter_mut().zip(list(value)) {
        *byte = u8::try_from(count(number)?)?;
    }
    Ok(bytes)
}

/// Filters by name; for truncated precision, a colon and the number of bits to keep follow.
fn filters(value: &Value) -> Result<FilterPipeline> {
    let steps = list(value).iter().map(|name| {
        Ok(match text(name)? {
            "shuffle" => FilterStep::Shuffle,
            "bitshuffle" => FilterStep::Bitshuffle,
            "delta" => FilterStep::Delta,
            name => match name.strip_prefix("truncprec:") {
                Some(bits) => FilterStep::TruncatePrecision {
                    bits: bits.parse()?,
                },
                None => return Err(format!("no filter {name:?}").into()),
            },
        })
    });
    Ok(FilterPipeline::new(&steps.collect::<Result<Vec<_>>>()?)?)
}

fn info(array: &NdArray) -> Result<Value> {
    let frame = array.frame();
    let layers = frame.metalayers().iter();
    let meta: serde_json::Map<_, _> = layers
        .map(|(name, bytes)| (name.to_owned(), to_hex(bytes).into()))
        .collect();
    let mut vlmeta = serde_json::Map::new();
    for name in frame.vlmetalayers() {
        let bytes = frame.vlmetalayer(name)?.unwrap_or_default();
        vlmeta.insert(name.to_owned(), to_hex(&bytes).into());
    }
    Ok(json!({
        "kind": array.kind().name(),
        "shape": array.shape(),
        "chunks": array.chunk_shape(),
        "blocks": array.block_shape(),
        "itemsize": array.itemsize(),
        "dtype": array.dtype_text(),
        "meta": meta,
        "vlmeta": vlmeta,
        "nchunks": frame.chunks(),
    }))
}

fn lens(value: &Value) -> Result<Vec<u32>> {
    let lens = counts(value)?.into_iter();
    Ok(lens
        .map(u32::try_from)
        .collect::<std::result::Result<_, _>>()?)
}
