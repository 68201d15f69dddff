//! Files and operations on them, with the content before, between and after.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use super::golden::{ByHand, Field, Random, Recipe, parts, sensor};
use bloscpack::storage::Folder;
use bloscpack::{
    Checksum, Encoder, FormatVersion, Metadata, Options,
    edit::{Editor, EditorBuilder, RecordEditor},
    records::{RecordWriter, RecordWriterBuilder},
};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{Cursor, Write};
use std::time::Duration;

pub const NAME: &str = "a.blp";
pub const JOURNAL: &str = "a.blp.blpk-journal";

/// The content of a file as a reader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// If there are records, each is preceded by its length.
    pub data: Vec<u8>,
    pub metadata: Option<Value>,
    /// How many records there are, in a file of records.
    pub records: Option<usize>,
}

impl Content {
    pub fn push(&mut self, record: &[u8]) {
        let length = u32::try_from(record.len()).unwrap();
        self.data.extend(length.to_le_bytes());
        self.data.extend_from_slice(record);
        *self.records.as_mut().unwrap() += 1;
    }
}

/// Data as records of several lengths.
fn records_of(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (head, tail) = data.split_at(data.len().min(1));
    [head, &[]].into_iter().chain(tail.chunks(29))
}

/// An editor of content, or of records.
#[derive(Debug)]
pub enum Opened<F: Folder> {
    Content(Editor<F>),
    Records(RecordEditor<F>),
}

/// Something done to a file by an editor.
#[derive(Debug, Clone)]
pub enum Edit {
    Append(Vec<u8>),
    /// Data and metadata in one change.
    AppendWith(Vec<u8>, Value),
    Patch(u64, Vec<u8>),
    Metadata(Value),
    Reindex,
    /// An append that is given up.
    GivenUp(Vec<u8>),
    /// The editor is closed, and the file opened by another one.
    Reopen,
}

/// A file, and what one editor does to it.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: String,
    pub file: Vec<u8>,
    pub before: Content,
    pub edits: Vec<Edit>,
    pub chunk_size: Option<u32>,
    pub level: Option<u8>,
}

/// The first axis of a NumPy array of two-byte elements.
fn grow(metadata: &mut Option<Value>, bytes: usize) {
    if let Some(Value::Object(map)) = metadata
        && map.get("container") == Some(&json!("numpy"))
    {
        map.insert("shape".to_owned(), json!([bytes / 2]));
    }
}

impl Edit {
    /// The content after this edit, computed without a file.
    pub fn model(&self, content: &Content) -> Content {
        let mut content = content.clone();
        match self {
            Self::Append(data) if content.records.is_some() => {
                records_of(data).for_each(|record| content.push(record));
                content.metadata = content.metadata.map(|mut metadata| {
                    metadata["shape"] = json!([content.records]);
                    metadata
                });
            }
            Self::Append(data) => {
                content.data.extend_from_slice(data);
                grow(&mut content.metadata, content.data.len());
            }
            Self::AppendWith(data, metadata) => {
                content.data.extend_from_slice(data);
                content.metadata = Some(metadata.clone());
            }
            Self::Patch(at, data) => {
                content.data[usize::try_from(*at).unwrap()..][..data.len()].copy_from_slice(data);
            }
            Self::Metadata(value) => content.metadata = Some(value.clone()),
            Self::Reindex | Self::GivenUp(_) | Self::Reopen => {}
        }
        content
    }

    pub fn apply<F: Folder>(&self, opened: &mut Opened<F>) -> bloscpack::Result<()> {
        match opened {
            Opened::Content(editor) => self.apply_to_content(editor),
            Opened::Records(editor) => self.apply_to_records(editor),
        }
    }

    fn apply_to_records<F: Folder>(&self, editor: &mut RecordEditor<F>) -> bloscpack::Result<()> {
        match self {
            Self::Append(data) | Self::GivenUp(data) => {
                let mut appender = editor.append()?;
                for record in records_of(data) {
                    appender.push(record)?;
                }
                match self {
                    Self::Append(_) => appender.finish().map(|_| ()),
                    _ => Ok(()),
                }
            }
            Self::Reindex => editor.reindex().map(|_| ()),
            Self::Reopen => Ok(()),
            Self::AppendWith(..) | Self::Patch(..) | Self::Metadata(_) => {
                unreachable!("no scenario does this to records")
            }
        }
    }

    fn apply_to_content<F: Folder>(&self, editor: &mut Editor<F>) -> bloscpack::Result<()> {
        match self {
            Self::Append(data) => {
                let mut appender = editor.append()?;
                appender.write_all(data)?;
                appender.finish().map(|_| ())
            }
            Self::AppendWith(data, metadata) => {
                let mut appender = editor.append()?;
                appender.write_all(data)?;
                appender.set_metadata(&Metadata::from_json(metadata.to_string()).unwrap())?;
                appender.finish().map(|_| ())
            }
            Self::GivenUp(data) => {
                let mut appender = editor.append()?;
                Ok(appender.write_all(data)?)
            }
            Self::Patch(at, data) => editor.patch(*at, data.as_slice()).map(|_| ()),
            Self::Metadata(value) => {
                editor.set_metadata(&Metadata::from_json(value.to_string()).unwrap())
            }
            Self::Reindex => editor.reindex().map(|_| ()),
            // The scenario does this.
            Self::Reopen => Ok(()),
        }
    }
}

impl Scenario {
    fn new(name: &str, file: Vec<u8>, data: Vec<u8>, edits: &[Edit]) -> Self {
        Self {
            name: name.to_owned(),
            file,
            before: Content {
                data,
                metadata: None,
                records: None,
            },
            edits: edits.to_vec(),
            chunk_size: None,
            level: None,
        }
    }

    fn of(name: &str, recipe: &Recipe, edits: &[Edit]) -> Self {
        Self::new(name, recipe.make(), recipe.data(), edits)
    }

    /// The same with meaningless bytes after the end of the file.
    fn trailing(mut self, bytes: &[u8]) -> Self {
        self.file.extend_from_slice(bytes);
        self
    }

    fn with_metadata(mut self, value: Value) -> Self {
        self.before.metadata = Some(value);
        self
    }

    pub fn builder(&self) -> EditorBuilder {
        let waits = Options::new().lock_timeout(Duration::from_millis(20));
        let mut builder = Editor::builder().options(waits);
        if let Some(size) = self.chunk_size {
            builder = builder.chunk_size(size);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        builder
    }

    pub fn open<F: Folder>(&self, folder: F) -> bloscpack::Result<Opened<F>> {
        let (builder, name) = (self.builder(), OsStr::new(NAME));
        Ok(match self.before.records {
            None => Opened::Content(builder.open_in(folder, name)?),
            Some(_) => Opened::Records(builder.open_records_in(folder, name)?),
        })
    }

    /// Makes an edit, with the editor that there is or a new one.
    pub fn apply<F: Folder>(
        &self,
        edit: &Edit,
        editor: &mut Option<Opened<F>>,
        folder: impl FnOnce() -> F,
    ) -> bloscpack::Result<()> {
        if matches!(edit, Edit::Reopen) {
            drop(editor.take());
        }
        let editor = match editor {
            Some(editor) => editor,
            None => editor.insert(self.open(folder())?),
        };
        edit.apply(editor)
    }

    /// The contents before the first edit and after each.
    pub fn contents(&self) -> Vec<Content> {
        let mut contents = vec![self.before.clone()];
        for edit in &self.edits {
            contents.push(edit.model(&contents[contents.len() - 1]));
        }
        contents
    }
}

/// Bytes that no compressor makes shorter.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// The smallest thing with which a file can go on.
pub const MORE: [u8; 2] = [0x17, 0x42];

fn append(len: usize) -> Edit {
    Edit::Append(sensor(len, len as u64))
}

fn small(checksum: Checksum) -> Recipe {
    Recipe {
        chunk_size: 128,
        len: 300,
        ..Recipe::new(checksum)
    }
}

fn v2(checksum: Checksum) -> Recipe {
    Recipe {
        layout: FormatVersion::V2,
        ..small(checksum)
    }
}

fn v1() -> Recipe {
    Recipe {
        layout: FormatVersion::V1,
        seek: Some(false),
        ..small(Checksum::None)
    }
}

fn pieces(len: usize) -> Vec<Vec<u8>> {
    sensor(len, 99).chunks(128).map(<[u8]>::to_vec).collect()
}

/// Sets the offsets back to -1, as a writer leaves them that could not go back.
fn unindexed(mut file: Vec<u8>) -> Vec<u8> {
    for part in parts(&file) {
        if part.field == Field::Offset {
            file[part.at].fill(0xff);
        }
    }
    file
}

/// A file with metadata, as the encoder makes it.
fn described(layout: FormatVersion, text: &Value) -> Vec<u8> {
    let recipe = Recipe {
        layout,
        ..small(Checksum::Crc32)
    };
    let metadata = Metadata::from_json(text.to_string()).unwrap();
    let target = Cursor::new(Vec::new());
    let mut encoder = recipe
        .builder()
        .metadata(metadata)
        .write_to_file(target)
        .unwrap();
    encoder.write_all(&recipe.data()).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn array(rows: usize) -> Value {
    json!({"dtype": "'<u2'", "shape": [rows], "order": "C", "container": "numpy"})
}

/// A file whose bytes cannot be compressed, not even those of its header.
fn inner_file() -> Vec<u8> {
    let builder = Encoder::builder().checksum(Checksum::None).offsets(false);
    let mut encoder = builder.size(900).write_to(Vec::new()).unwrap();
    encoder.write_all(&noise(900, 5)).unwrap();
    encoder.finish().unwrap()
}

fn appending() -> Vec<Scenario> {
    let of = Scenario::of;
    let crc = small(Checksum::Crc32);
    let full = Recipe {
        len: 256,
        ..crc.clone()
    };
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..crc.clone()
    };
    let bare = Recipe {
        seek: Some(false),
        ..crc.clone()
    };
    vec![
        of("append, last chunk becomes longer", &crc, &[append(40)]),
        of("append, last chunk becomes full", &crc, &[append(84)]),
        of("append, last chunk is full", &full, &[append(10)]),
        of("append, several chunks", &crc, &[append(400)]),
        of("append nothing", &crc, &[append(0)]),
        of(
            "append, table used up",
            &Recipe {
                spare: 1,
                ..crc.clone()
            },
            &[append(400)],
        ),
        of(
            "append, no spare offsets",
            &Recipe { spare: 0, ..full },
            &[append(100)],
        ),
        of(
            "append to nothing",
            &Recipe {
                len: 0,
                ..crc.clone()
            },
            &[append(200)],
        ),
        of("append without offsets", &bare, &[append(200)]),
        of("append without offsets, short", &bare, &[append(20)]),
        of("append to a stream", &stream, &[append(200)]),
        of("append to V1", &v1(), &[append(200)]),
        of("append to V2", &v2(Checksum::Sha256), &[append(200)]),
        of("append to V2, short", &v2(Checksum::Crc32), &[append(20)]),
        of(
            "append to V2 without offsets",
            &Recipe {
                seek: Some(false),
                ..v2(Checksum::Crc32)
            },
            &[append(200)],
        ),
        of(
            "append with long digests",
            &small(Checksum::Sha512),
            &[append(300)],
        ),
        of(
            "append without a checksum",
            &small(Checksum::None),
            &[append(300)],
        ),
        of("append twice", &crc, &[append(40), append(300)]),
        of(
            "append until it does not fit",
            &crc,
            &[append(300), append(300)],
        ),
        of(
            "append and give up",
            &crc,
            &[Edit::GivenUp(noise(700, 1)), append(40)],
        ),
        of(
            "append what cannot be compressed",
            &crc,
            &[Edit::Append(noise(1500, 2))],
        ),
    ]
}

/// After the last chunk there are bytes left by another program.
fn appending_over_litter() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for checksum in [Checksum::None, Checksum::Adler32] {
        let recipe = small(checksum);
        // A chunk whose writer did not come to its end.
        let other = Recipe {
            len: 128,
            compressor: bloscpack::Compressor::Lz4,
            ..recipe.clone()
        };
        let file = other.make();
        let chunk = parts(&file)
            .into_iter()
            .find(|part| part.field == Field::Chunk)
            .unwrap();
        let torn = file[chunk.at.start..].to_vec();
        let torn = &torn[..torn.len() - 9 - checksum.digest_len()];
        for (what, litter) in [("noise", &noise(300, 3)[..]), ("a torn chunk", torn)] {
            let name = format!("append over {what}, {}", checksum.name());
            let edits = [Edit::Append(noise(700, 4))];
            scenarios.push(Scenario::of(&name, &recipe, &edits).trailing(litter));
        }
        // If stored uncompressed, it looks like a member after a digest.
        let name = format!("append a file, {}", checksum.name());
        let full = Recipe { len: 256, ..recipe };
        scenarios.push(Scenario::of(&name, &full, &[Edit::Append(inner_file())]));
    }
    scenarios
}

fn patching() -> Vec<Scenario> {
    let of = Scenario::of;
    let patch = |at, len| Edit::Patch(at, noise(len, at + 7));
    let crc = small(Checksum::Crc32);
    let flat = Edit::Patch(130, vec![0; 100]);
    let sealed = ByHand {
        room: 40,
        sealed: true,
        ..ByHand::v2(Checksum::Crc32, pieces(300))
    };
    vec![
        of("patch a byte", &crc, &[patch(140, 1)]),
        of("patch one chunk to be shorter", &crc, &[flat]),
        of("patch several chunks", &crc, &[patch(100, 150)]),
        of("patch all", &crc, &[patch(0, 300)]),
        of("patch the last chunk", &crc, &[patch(270, 30)]),
        of(
            "patch without offsets",
            &Recipe {
                seek: Some(false),
                ..crc.clone()
            },
            &[patch(100, 90)],
        ),
        of(
            "patch a stream",
            &Recipe {
                seek: None,
                size_known: false,
                ..crc
            },
            &[patch(100, 90)],
        ),
        of("patch V1", &v1(), &[patch(100, 90)]),
        of("patch V2", &v2(Checksum::Sha1), &[patch(100, 90)]),
        Scenario::new(
            "patch V2 with room",
            sealed.make(),
            sealed.data(),
            &[patch(100, 90)],
        ),
    ]
}

fn describing() -> Vec<Scenario> {
    let short = json!({"unit": "dBm"});
    let long: Vec<_> = (0..300).map(|i| json!(i * i)).collect();
    let set = |value: &Value| Edit::Metadata(value.clone());
    let data = small(Checksum::Crc32).data();
    let mut scenarios = Vec::new();
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let file = described(layout, &short);
        let new = |name: &str, file: &Vec<u8>, edits: &[Edit]| {
            let name = format!("{name}, {layout:?}");
            Scenario::new(&name, file.clone(), data.clone(), edits)
        };
        let fits = [set(&json!({"unit": "mW"}))];
        let both = [Edit::AppendWith(noise(200, 10), json!({"unit": "mW"}))];
        scenarios.push(new("both", &file, &both).with_metadata(short.clone()));
        let both = [Edit::AppendWith(noise(20, 11), json!(long))];
        scenarios.push(new("both grow", &file, &both).with_metadata(short.clone()));
        scenarios.push(new("metadata fits", &file, &fits).with_metadata(short.clone()));
        let grows = [set(&json!(long)), append(20)];
        scenarios.push(new("metadata grows", &file, &grows).with_metadata(short.clone()));
        let bare = Recipe {
            layout,
            ..small(Checksum::Crc32)
        }
        .make();
        scenarios.push(new("metadata is new", &bare, &[set(&short)]));
        let numpy = described(layout, &array(150));
        let array = new("append to an array", &numpy, &[append(200)]).with_metadata(array(150));
        scenarios.push(array);
    }
    scenarios
}

/// A file of records, and appends to it.
fn records(name: &str, builder: RecordWriterBuilder, is_stream: bool) -> Scenario {
    let mut before = Content {
        data: Vec::new(),
        metadata: None,
        records: Some(0),
    };
    let all = sensor(300, 3);
    for record in records_of(&all) {
        before.push(record);
    }
    let count = before.records;
    let file = if is_stream {
        let mut writer = builder.write_to(Vec::new()).unwrap();
        records_of(&all).for_each(|record| writer.push(record).unwrap());
        before.metadata = Some(json!({"dtype": "varbinary"}));
        writer.finish().unwrap()
    } else {
        let target = Cursor::new(Vec::new());
        let mut writer = builder.write_to_file(target).unwrap();
        records_of(&all).for_each(|record| writer.push(record).unwrap());
        before.metadata = Some(json!({"dtype": "varbinary", "shape": [count]}));
        writer.finish().unwrap().into_inner()
    };
    let reader = bloscpack::records::IndexedRecordReader::open(file.as_slice()).unwrap();
    if let (Some(packing), Some(metadata)) = (reader.packing(), &mut before.metadata) {
        let packing = json!({"name": "lengths", "version": 1, "chunk_size": packing.chunk_size()});
        metadata["packing"] = packing;
    }
    Scenario {
        before,
        ..Scenario::new(name, file, Vec::new(), &[append(100), append(40)])
    }
}

fn recording() -> Vec<Scenario> {
    let v2 = RecordWriter::builder();
    let v3 = v2.clone().version(FormatVersion::V3);
    let full = v3.clone().max_app_chunks(2);
    vec![
        records("append records", v3.clone(), false),
        records("append records, table used up", full, false),
        records("append records to V2", v2.clone(), false),
        records("append records to a stream", v3.clone(), true),
        records("append packed records", v3.clone().packed(100), false),
        records("append packed records, one chunk", v3.packed(5000), false),
        records("append packed records to V2", v2.packed(100), false),
    ]
}

fn indexing() -> Vec<Scenario> {
    let crc = small(Checksum::Crc32);
    let v2 = ByHand::v2(Checksum::Crc32, pieces(300));
    let new = |name: &str, recipe: &Recipe, edits: &[Edit]| {
        Scenario::new(name, unindexed(recipe.make()), recipe.data(), edits)
    };
    vec![
        new("reindex", &crc, &[Edit::Reindex]),
        new("append where offsets are -1", &crc, &[append(200)]),
        new(
            "patch where offsets are -1",
            &crc,
            &[Edit::Patch(100, noise(90, 6))],
        ),
        Scenario::new(
            "reindex V2",
            unindexed(v2.make()),
            v2.data(),
            &[Edit::Reindex],
        ),
        Scenario::of(
            "all kinds",
            &crc,
            &[
                append(200),
                Edit::Patch(10, noise(200, 8)),
                Edit::Metadata(json!({"a": 1})),
                append(50),
                Edit::Metadata(json!({"a": [1, 2, 3]})),
                Edit::Reindex,
            ],
        ),
    ]
}

/// A file of a chunk that is only stored, and becomes shorter when it is compressed.
fn shrinking() -> Vec<Scenario> {
    let data = vec![7; 100];
    let make = |offsets| {
        let builder = Encoder::builder().level(0).chunk_size(128).size(100);
        let target = Cursor::new(Vec::new());
        let mut encoder = builder.offsets(offsets).write_to_file(target).unwrap();
        encoder.write_all(&data).unwrap();
        let file = encoder.finish().unwrap().into_inner();
        let name = format!("append makes the file shorter, offsets {offsets}");
        Scenario {
            level: Some(9),
            ..Scenario::new(&name, file, data.clone(), &[Edit::Append(vec![7; 20])])
        }
    };
    vec![make(false), make(true)]
}

/// Two files that differ in nothing but the bytes of their chunks.
pub fn twins() -> [Scenario; 2] {
    [21, 22].map(|seed| {
        let data = noise(300, seed);
        let recipe = small(Checksum::Crc32);
        let target = Cursor::new(Vec::new());
        let mut encoder = recipe.builder().write_to_file(target).unwrap();
        encoder.write_all(&data).unwrap();
        let file = encoder.finish().unwrap().into_inner();
        let name = format!("patch a twin, {seed}");
        Scenario::new(&name, file, data, &[Edit::Patch(130, noise(20, 23))])
    })
}

/// One of each kind that an editor knows.
pub fn scenarios() -> Vec<Scenario> {
    [
        appending(),
        appending_over_litter(),
        shrinking(),
        patching(),
        describing(),
        indexing(),
        recording(),
    ]
    .concat()
}

/// Anything that an editor may be asked, for any file it may meet.
pub fn at_random(random: &mut Random) -> Scenario {
    let checksum = Checksum::ALL[random.below(Checksum::ALL.len())];
    let layout = [
        FormatVersion::V1,
        FormatVersion::V2,
        FormatVersion::V3,
        FormatVersion::V3,
        FormatVersion::V3,
    ][random.below(5)];
    let seek = if layout == FormatVersion::V1 {
        1
    } else {
        random.below(4)
    };
    let recipe = Recipe {
        layout,
        checksum: if layout == FormatVersion::V1 {
            Checksum::None
        } else {
            checksum
        },
        chunk_size: 32 * (1 + random.below(8) as u32),
        len: 2 * random.below(400),
        seek: [None, Some(false), Some(true), Some(true)][seek],
        spare: random.below(12) as u64,
        size_known: layout == FormatVersion::V1 || random.below(2) == 0,
        ..Recipe::new(checksum)
    };
    let mut scenario = Scenario::of("", &recipe, &[]);
    if random.below(4) == 0 && recipe.seek == Some(true) && layout == FormatVersion::V3 {
        scenario
            .file
            .extend(noise(random.below(600), random.next()));
    }
    let mut len = recipe.len;
    for _ in 0..1 + random.below(4) {
        scenario
            .edits
            .push(edit_at_random(random, &mut len, layout));
    }
    scenario.chunk_size = (random.below(3) == 0).then(|| 2 * (16 + random.below(100) as u32));
    scenario.name = format!("at random: {recipe:?}, {:?}", scenario.edits);
    scenario
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} {} chunks of {}, {} bytes, seek {:?}, spare {}, size known {}",
            self.layout,
            self.checksum.name(),
            self.chunk_size,
            self.len,
            self.seek,
            self.spare,
            self.size_known
        )
    }
}

fn edit_at_random(random: &mut Random, len: &mut usize, layout: FormatVersion) -> Edit {
    let bytes = |len: usize, random: &mut Random| match random.below(3) {
        0 => noise(len, random.next()),
        1 => vec![random.next() as u8; len],
        _ => sensor(len, random.next()),
    };
    match random.below(8) {
        0 | 1 if *len > 0 => {
            let at = random.below(*len);
            let most = (*len - at).min(300);
            let most = 1 + random.below(most);
            Edit::Patch(at as u64, bytes(most, random))
        }
        2 if layout != FormatVersion::V1 => {
            let items: Vec<_> = (0..random.below(120)).map(|i| json!(i)).collect();
            Edit::Metadata(json!({ "items": items }))
        }
        3 => [Edit::Reindex, Edit::Reopen][random.below(2)].clone(),
        4 => {
            let len = random.below(900);
            Edit::GivenUp(bytes(len, random))
        }
        _ => {
            let more = 2 * random.below(600);
            *len += more;
            let data = bytes(more, random);
            if layout == FormatVersion::V1 || random.below(6) > 0 {
                return Edit::Append(data);
            }
            Edit::AppendWith(data, json!({ "items": random.below(100) }))
        }
    }
}
