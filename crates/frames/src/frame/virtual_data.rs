//! [`Virtual`]: a frame that does not contain all of its elements.
//!
//! python-blosc2 saves lazy expressions, user functions, and arrays on other machines as frames of the right shape without
//! data. A proxy contains the chunks or blocks that were fetched from its source, and a bitmap of them.
//!
//! ```text
//!              metalayer        vlmetalayers
//! expression   b2o, LazyArray   b2o, _LazyArray
//! function     b2o, LazyArray   b2o, _LazyArray
//! remote       b2o              b2o, and the same as a proxy
//! proxy        proxy-source     proxy-fetched, or proxy-fetched-blocks; bit n is byte n / 8 >> (n % 8) & 1
//! ```
//!
//! `docs/frames.md`, "Virtual frames", describes how they are handled.

use super::Frame;
use crate::part::FramePart;
use crate::wire::ChunkPlace;
use crate::wire::array::ArrayMeta;
use crate::wire::kind::VirtualKind;
use bloscpack_array::msgpack::Value;
use bloscpack_array::{Grid, relative};
use bloscpack_error::{Code, Error, Result};
use std::fmt;

/// The metalayer of objects of python-blosc2, and the one that its earlier versions write.
const OBJECT: &str = "b2o";
const LAZY: &str = "LazyArray";
/// The metalayer of proxies.
const PROXY: &str = "proxy-source";
/// The metalayers that make a frame virtual, or name the store it belongs to.
const LAYERS: [&str; 4] = [OBJECT, LAZY, PROXY, "remote-store"];
/// The vlmetalayers that only a virtual frame has.
const VL_LAYERS: [&str; 4] = [OBJECT, "_LazyArray", "hdf5-index", "zarr-metadata"];
/// The vlmetalayer with the user attributes of a virtual frame, as one map.
const ATTRIBUTES: &str = "_b2o_user_vlmeta";
/// Characters of an expression or a path in an error message.
const MOST_SHOWN: usize = 200;

/// The definition of a frame that does not contain all of its elements. [`Frame::virtual_data`] returns it.
///
/// Nothing is ever evaluated or fetched: reading an element that is not in the frame fails with [`Code::NotStored`]. The frame
/// cannot be changed. [`Display`](fmt::Display) shows the definition in one line, with long parts shortened.
#[derive(Debug, Clone)]
pub struct Virtual {
    kind: VirtualKind,
    name: Option<String>,
    definition: Option<String>,
    operands: Vec<(String, String)>,
    /// The chunks and blocks that the frame contains.
    fetched: Fetched,
}

/// The chunks and blocks that were fetched into the frame.
#[derive(Debug, Clone)]
enum Fetched {
    /// None.
    Nothing,
    /// Each chunk that is stored: proxies without a bitmap.
    Stored,
    /// Chunks or blocks whose bit is set.
    Bits(Bits),
}

/// A bitmap with a bit for each chunk, or for each block of each chunk.
#[derive(Debug, Clone)]
struct Bits {
    bits: Vec<u8>,
    /// Bits of a chunk: 1, or the number of its blocks.
    per_chunk: u64,
    /// Determines which blocks at the edge of an array have elements: the others are never fetched.
    array: Option<ArrayMeta>,
}

impl Bits {
    /// Whether a block of a chunk was fetched. False past the end of the bitmap.
    fn is_set(&self, number: u64, block: u64) -> bool {
        let block = if self.per_chunk > 1 { block } else { 0 };
        let bit = number * self.per_chunk + block;
        let byte = usize::try_from(bit / 8).ok();
        let byte = byte.and_then(|byte| self.bits.get(byte));
        block < self.per_chunk && byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Whether all blocks of a chunk that have elements were fetched. Stops at the first that was not: the work is bounded by
    /// the length of the bitmap.
    fn has_chunk(&self, number: u64) -> bool {
        match &self.array {
            Some(array) if self.per_chunk > 1 => {
                blocks_with_elements(array, number).all(|block| self.is_set(number, block))
            }
            _ => (0..self.per_chunk).all(|block| self.is_set(number, block)),
        }
    }
}

/// The numbers of the blocks of a chunk that contain elements of the array, in ascending order.
fn blocks_with_elements(array: &ArrayMeta, number: u64) -> impl Iterator<Item = u64> + use<> {
    let wide = |shape: &[u32]| shape.iter().map(|len| u64::from(*len)).collect();
    let chunks = Grid::new(array.shape.clone(), wide(&array.chunk_shape));
    let blocks = Grid::new(array.stored_chunk_shape(), wide(&array.block_shape));
    let at = chunks.position(number);
    let present = relative(&chunks.extent(&at), &chunks.origin(&at));
    blocks.positions(&present).map(move |at| blocks.number(&at))
}

impl Virtual {
    /// How the elements are defined.
    #[must_use]
    pub fn kind(&self) -> VirtualKind {
        self.kind
    }

    /// The name of a user function, or the kind of an unknown object; `None` if the frame has none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The text of an expression, or the source code of a function; `None` for other kinds, and if it is missing.
    #[must_use]
    pub fn definition(&self) -> Option<&str> {
        self.definition.as_deref()
    }

    /// The arrays that the elements are computed or fetched from: pairs of a name and a path or URL. The source of a proxy or a
    /// remote array has the name `source`. Access tokens are left out.
    pub fn operands(&self) -> impl Iterator<Item = (&str, &str)> {
        let operands = self.operands.iter();
        operands.map(|(name, place)| (name.as_str(), place.as_str()))
    }

    /// The definition in a frame; `None` for an ordinary frame. Unreadable metadata leaves parts of it out.
    fn of(frame: &Frame) -> Option<Self> {
        let layers = frame.metalayers();
        let (object, old) = (layers.get(OBJECT), layers.get(LAZY));
        // Current versions write a proxy as an object, with the bitmap of a proxy.
        let mut found = match (object, old, layers.get(PROXY)) {
            (Some(marker), ..) => Self::of_object(marker, &value(frame, OBJECT)),
            (None, Some(_), _) => Self::of_lazy(&value(frame, "_LazyArray")),
            (None, None, Some(source)) => Self::of_proxy(&decoded(source)),
            (None, None, None) => return None,
        };
        if found.kind.has_cache() {
            found.fetched = Fetched::of(frame);
        }
        Some(found)
    }

    /// A definition of this kind without any details.
    fn new(kind: VirtualKind) -> Self {
        Self {
            kind,
            name: None,
            definition: None,
            operands: Vec::new(),
            fetched: Fetched::Nothing,
        }
    }

    /// The definition in the metalayer `b2o`.
    fn of_object(marker: &[u8], payload: &Value) -> Self {
        let kind = text(&decoded(marker), "kind").unwrap_or_default();
        match kind.as_str() {
            "lazyexpr" => Self {
                definition: text(payload, "expression"),
                operands: operands(payload),
                ..Self::new(VirtualKind::Expression)
            },
            "lazyudf" => Self {
                name: text(payload, "name"),
                definition: text(payload, "udf_source"),
                operands: operands(payload),
                ..Self::new(VirtualKind::Function)
            },
            "remote_array" | "c2array" => {
                let source = payload.get("source").unwrap_or(payload);
                Self {
                    operands: source_of(reference(source)),
                    ..Self::new(VirtualKind::Remote)
                }
            }
            _ => Self {
                name: Some(kind),
                ..Self::new(VirtualKind::Other)
            },
        }
    }

    /// A definition in the earlier format, which is still written for functions that are not kernels.
    fn of_lazy(payload: &Value) -> Self {
        let function = text(payload, "UDF");
        let (kind, definition) = match payload.get("expression") {
            Some(Value::Text(expression)) => (VirtualKind::Expression, Some(expression.clone())),
            _ => (VirtualKind::Function, function),
        };
        Self {
            name: text(payload, "name"),
            definition,
            operands: operands(payload),
            ..Self::new(kind)
        }
    }

    /// The definition of a proxy of this source.
    fn of_proxy(source: &Value) -> Self {
        let place = reference(source).or_else(|| text(source, "local_abspath"));
        Self {
            operands: source_of(place),
            ..Self::new(VirtualKind::Proxy)
        }
    }

    /// Whether the frame contains a chunk completely.
    fn has_chunk(&self, number: u64, place: ChunkPlace) -> bool {
        match &self.fetched {
            Fetched::Nothing => false,
            Fetched::Stored => matches!(place, ChunkPlace::At(_)),
            Fetched::Bits(bits) => bits.has_chunk(number),
        }
    }

    /// Refuses a chunk that is not in the frame, with [`Code::NotStored`] and advice.
    fn check(&self, number: u64, is_there: bool) -> Result<()> {
        if is_there {
            return Ok(());
        }
        let (message, hint) = if self.kind.has_cache() {
            (
                format!("chunk {number} was not fetched: the frame is {self}"),
                "read the source, or fetch the rest of it with python-blosc2",
            )
        } else {
            let kind = self.kind;
            (
                format!(
                    "the elements are not stored: the frame is {self}, and a {kind} is never evaluated"
                ),
                "compute it with python-blosc2, and save the result",
            )
        };
        Err(Error::new(Code::NotStored, message).with_hint(hint))
    }
}

/// `the lazy expression "a + b" of a = "x.b2nd", b = "y.b2nd"`, with long parts shortened.
impl fmt::Display for Virtual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = match self.kind {
            VirtualKind::Expression => &self.definition,
            _ => &self.name,
        };
        write!(f, "the {}", self.kind)?;
        if let Some(named) = named {
            write!(f, " {:?}", shortened(named))?;
        }
        for (at, (name, place)) in self.operands.iter().enumerate() {
            f.write_str(if at == 0 { " of " } else { ", " })?;
            if !self.kind.has_cache() {
                write!(f, "{} = ", shortened(name).escape_debug())?;
            }
            write!(f, "{:?}", shortened(place))?;
        }
        Ok(())
    }
}

impl Fetched {
    /// Reads the bitmap of a proxy. One of the wrong length counts as empty; without any, all stored chunks count as fetched.
    fn of(frame: &Frame) -> Self {
        // A program that was interrupted during a change may have left a wrong bitmap: nothing counts as fetched, as in
        // python-blosc2.
        if frame.has_vlmetalayer("proxy-dirty") {
            return Self::Nothing;
        }
        let size = u64::from(frame.chunk_size());
        let per_chunk = size
            .div_ceil(u64::from(frame.header().blocksize).max(1))
            .max(1);
        let array = frame.array_meta().ok().flatten();
        for (name, per_chunk) in [("proxy-fetched-blocks", per_chunk), ("proxy-fetched", 1)] {
            if !frame.has_vlmetalayer(name) {
                continue;
            }
            let bits = frame.chunks().checked_mul(per_chunk);
            let expected = bits.and_then(|bits| usize::try_from(bits.div_ceil(8)).ok());
            return match value(frame, name) {
                Value::Bytes(bits) if Some(bits.len()) == expected => Self::Bits(Bits {
                    bits,
                    per_chunk,
                    array,
                }),
                _ => Self::Nothing,
            };
        }
        Self::Stored
    }
}

/// The MessagePack value of a vlmetalayer; nil if it is missing or does not decode.
fn value(frame: &Frame, name: &str) -> Value {
    let bytes = frame.vlmetalayer(name).ok().flatten();
    bytes.map_or(Value::Nil, |bytes| decoded(&bytes))
}

/// The MessagePack value in these bytes; nil if they do not decode.
fn decoded(bytes: &[u8]) -> Value {
    Value::decode(bytes).unwrap_or(Value::Nil)
}

/// The text at this key of a MessagePack map.
fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_text()?.to_owned())
}

/// The operands of an expression or a function: their names, with paths or references.
fn operands(payload: &Value) -> Vec<(String, String)> {
    let Some(Value::Map(pairs)) = payload.get("operands") else {
        return Vec::new();
    };
    let named = pairs.iter().map(|(name, operand)| {
        let place = operand.as_text().map(str::to_owned);
        let place = place.or_else(|| reference(operand));
        let name = name.as_text().unwrap_or_default().to_owned();
        (name, place.unwrap_or_else(|| UNKNOWN.to_owned()))
    });
    named.collect()
}

const UNKNOWN: &str = "an unknown source";

/// The only operand of a proxy or a remote array.
fn source_of(place: Option<String>) -> Vec<(String, String)> {
    let place = place.unwrap_or_else(|| UNKNOWN.to_owned());
    vec![("source".to_owned(), place)]
}

/// The path or URL of a reference: a file with a name in it, or a server with a path on it.
fn reference(value: &Value) -> Option<String> {
    let joined = |base: Option<String>, path: Option<String>| match (base, path) {
        (Some(base), Some(path)) => Some(format!(
            "{}/{}",
            base.trim_end_matches('/'),
            path.trim_start_matches('/')
        )),
        (base, path) => base.or(path),
    };
    match value.get("urlpath") {
        Some(Value::Text(base)) => {
            let inside = text(value, "key").or_else(|| text(value, "dataset"));
            joined(Some(base.clone()), inside)
        }
        // A path, a server, and in some files an access token, which is not shown.
        Some(parts @ Value::List(_)) => {
            let parts = parts.as_tuple().unwrap_or_default();
            let part = |at: usize| Some(parts.get(at)?.as_text()?.to_owned());
            joined(part(1), part(0))
        }
        _ => joined(text(value, "urlbase"), text(value, "path")),
    }
}

/// The first characters of a long text, followed by dots.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some(_) => text.chars().take(MOST_SHOWN).chain("...".chars()).collect(),
        None => text.to_owned(),
    }
}

/// Metalayers of the header, and metalayers of the trailer with their uncompressed values.
type OwnLayers<'a> = (Vec<(&'a str, &'a [u8])>, Vec<(String, Vec<u8>)>);

/// The metalayers that a copy of the array keeps: those that make the frame virtual are left out, and the user attributes of a
/// virtual frame become metalayers again.
pub(crate) fn own_layers(frame: &Frame) -> Result<OwnLayers<'_>> {
    let is_virtual = frame.virtual_data.is_some();
    let fixed = frame.metalayers().iter();
    let fixed = fixed.filter(|(name, _)| !(is_virtual && LAYERS.contains(name)));
    let mut varying = Vec::new();
    for name in frame.vlmetalayers() {
        if is_virtual && (VL_LAYERS.contains(&name) || name.starts_with("proxy-")) {
            continue;
        }
        let bytes = frame.vlmetalayer(name)?.unwrap_or_default();
        match decoded(&bytes) {
            Value::Map(pairs) if is_virtual && name == ATTRIBUTES => {
                for (key, attribute) in pairs {
                    let mut bytes = Vec::new();
                    if let Some(key) = key.as_text()
                        && attribute.encode(&mut bytes).is_ok()
                    {
                        varying.push((key.to_owned(), bytes));
                    }
                }
            }
            _ => varying.push((name.to_owned(), bytes)),
        }
    }
    Ok((fixed.collect(), varying))
}

impl Frame {
    /// The definition of a frame that does not contain all of its elements; `None` for an ordinary frame.
    ///
    /// ```
    /// use bloscpack_error::Category;
    /// use bloscpack_frames::{Frame, VirtualKind};
    /// # testkit::enter_testdata();
    /// let frame = Frame::open("testdata/virtual/expression.b2nd")?;
    /// let found = frame.virtual_data().unwrap();
    /// assert_eq!((found.kind(), found.definition()), (VirtualKind::Expression, Some("(o1 + (o0 * 2))")));
    /// assert!(found.operands().eq([("o0", "b.b2nd"), ("o1", "a.b2nd")]));
    /// assert_eq!(frame.chunk(0).unwrap_err().category(), Category::Unsupported);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn virtual_data(&self) -> Option<&Virtual> {
        self.virtual_data.as_deref()
    }

    /// The number of chunks that are completely in the frame. In an ordinary frame these are all.
    #[must_use]
    pub fn present_chunks(&self) -> u64 {
        let numbers = 0..self.chunks();
        match &self.virtual_data {
            None => numbers.end,
            Some(found) if matches!(found.fetched, Fetched::Nothing) => 0,
            Some(_) => numbers
                .filter(|number| self.place(*number).is_ok())
                .fold(0, |count, _| count + 1),
        }
    }

    /// Reads the definition from the metalayers of the frame.
    pub(super) fn with_virtual_data(mut self) -> Self {
        self.virtual_data = Virtual::of(&self).map(Box::new);
        self
    }

    fn has_vlmetalayer(&self, name: &str) -> bool {
        self.vlmetalayers().any(|other| other == name)
    }

    /// Refuses a chunk that is not completely in the frame, with [`Code::NotStored`].
    pub(crate) fn check_present(&self, number: u64, place: ChunkPlace) -> Result<()> {
        match &self.virtual_data {
            Some(found) => found.check(number, found.has_chunk(number, place)),
            None => Ok(()),
        }
    }

    /// Refuses blocks of a chunk that are not in the frame, with [`Code::NotStored`].
    pub(crate) fn check_blocks_present(
        &self,
        number: u64,
        place: ChunkPlace,
        mut blocks: impl Iterator<Item = u64>,
    ) -> Result<()> {
        let Some(found) = &self.virtual_data else {
            return Ok(());
        };
        let is_there = match &found.fetched {
            Fetched::Bits(bits) => blocks.all(|block| bits.is_set(number, block)),
            _ => found.has_chunk(number, place),
        };
        found.check(number, is_there)
    }

    /// Refuses to change a virtual frame: its chunks would contradict its definition.
    pub(super) fn check_changeable(&self) -> Result<()> {
        match &self.virtual_data {
            Some(found) => {
                let expected = "a frame with elements of its own";
                let (part, field) = (FramePart::Frame, "a change of");
                Err(part.unsupported(None, field, found, expected))
            }
            None => Ok(()),
        }
    }
}
