//! A file is created, appended to, patched, described and indexed, and the power fails at some moment. Readers then
//! find the content before or after the change at once; recovery, which may fail in the same way, keeps that content;
//! and the file can be edited again.

use arbitrary::{Arbitrary, Unstructured};
use bloscpack::storage::{Snapshot, SourceReader};
use bloscpack::{
    Category, Checksum, Compressor, FormatVersion,
    records::{IndexedRecordReader, RecordWriter},
};
use serde_json::{Value, json};
use std::ffi::OsStr;

use testkit::check;
use testkit::crash;
use testkit::golden;
use testkit::recorder;
use testkit::scenario;

use crash::{Files, one_state};
use golden::{Random, Recipe, sensor};
use recorder::{Log, Recorder};
use scenario::{Content, Edit, NAME, Scenario, noise};

#[derive(Arbitrary, Debug)]
struct Case {
    making: Making,
    edits: Vec<Step>,
    chunk_size: Option<u8>,
    level: Option<u8>,
    /// The moment of the power failure, and the resulting state.
    crashes: Vec<(u16, u64)>,
}

#[derive(Arbitrary, Debug)]
enum Making {
    Content {
        layout: u8,
        checksum: u8,
        compressor: u8,
        chunk_size: u8,
        len: u16,
        /// None for a stream, else whether there are offsets.
        seek: Option<bool>,
        spare: u8,
        metadata: bool,
        size_known: bool,
        litter: Option<u8>,
    },
    Records {
        is_v3: bool,
        checksum: u8,
        packed: Option<u16>,
        spare: Option<u8>,
        lens: Vec<u8>,
    },
}

#[derive(Arbitrary, Debug)]
enum Step {
    Append(Bytes),
    AppendWith(Bytes, u8),
    Patch(u16, Bytes),
    Metadata(u8),
    Reindex,
    GivenUp(Bytes),
    Reopen,
}

/// Bytes that may or may not compress well.
#[derive(Arbitrary, Debug)]
struct Bytes {
    len: u16,
    seed: u8,
}

impl Bytes {
    fn make(&self) -> Vec<u8> {
        let len = usize::from(self.len % 900);
        match self.seed % 3 {
            0 => noise(len, self.seed.into()),
            1 => vec![self.seed; len],
            _ => sensor(len, self.seed.into()),
        }
    }
}

fn checksum(number: u8) -> Checksum {
    Checksum::ALL[usize::from(number) % Checksum::ALL.len()]
}

fn items(count: u8) -> Value {
    json!({ "items": (0..count).collect::<Vec<_>>() })
}

impl Making {
    /// The file, and its content.
    fn make(&self) -> (Vec<u8>, Content) {
        match self {
            Self::Content { .. } => self.content(),
            Self::Records {
                is_v3,
                checksum: number,
                packed,
                spare,
                lens,
            } => {
                let layout = if *is_v3 {
                    FormatVersion::V3
                } else {
                    FormatVersion::V2
                };
                let mut builder = RecordWriter::builder()
                    .version(layout)
                    .checksum(checksum(*number));
                if let Some(size) = packed {
                    builder = builder.packed(u32::from(size % 2000) + 64);
                }
                if let Some(spare) = spare {
                    builder = builder.max_app_chunks((*spare).into());
                }
                let target = std::io::Cursor::new(Vec::new());
                let mut writer = builder.write_to_file(target).expect("valid");
                let mut before = Content {
                    data: Vec::new(),
                    metadata: None,
                    records: Some(0),
                };
                for len in lens.iter().take(40) {
                    let record = sensor((*len).into(), (*len).into());
                    writer.push(&record).expect("memory");
                    before.push(&record);
                }
                let file = writer.finish().expect("memory").into_inner();
                let reader = IndexedRecordReader::open(&file).expect("our own");
                before.metadata = reader.metadata().map(|metadata| metadata.value().clone());
                (file, before)
            }
        }
    }

    fn content(&self) -> (Vec<u8>, Content) {
        let Self::Content {
            layout,
            checksum: number,
            compressor,
            chunk_size,
            len,
            seek,
            spare,
            metadata,
            size_known,
            litter,
        } = self
        else {
            unreachable!("the other makes records")
        };
        let layout = [
            FormatVersion::V1,
            FormatVersion::V2,
            FormatVersion::V3,
            FormatVersion::V3,
        ][usize::from(layout % 4)];
        let is_v1 = layout == FormatVersion::V1;
        let recipe = Recipe {
            layout,
            compressor: Compressor::ALL[usize::from(compressor % 6)],
            chunk_size: 16 * (1 + u32::from(*chunk_size)),
            len: usize::from(len % 1500),
            seek: if is_v1 { Some(false) } else { *seek },
            spare: (*spare).into(),
            metadata: *metadata && !is_v1,
            size_known: is_v1 || *size_known,
            ..Recipe::new(if is_v1 {
                Checksum::None
            } else {
                checksum(*number)
            })
        };
        let mut file = recipe.make();
        if let Some(litter) = litter.filter(|_| layout == FormatVersion::V3 && *seek == Some(true))
        {
            file.extend(noise(usize::from(litter), litter.into()));
        }
        let found = check::read(recipe.make().as_slice()).expect("our own");
        (
            file,
            Content {
                data: recipe.data(),
                ..found
            },
        )
    }
}

impl Case {
    fn scenario(&self) -> Scenario {
        let (file, before) = self.making.make();
        let (mut len, mut edits) = (before.data.len(), Vec::new());
        for step in self.edits.iter().take(6) {
            edits.extend(step.edit(&mut len, before.records.is_some()));
        }
        Scenario {
            name: String::new(),
            file,
            before,
            edits,
            chunk_size: self.chunk_size.map(|size| 2 * (16 + u32::from(size))),
            level: self.level.map(|level| level % 10),
        }
    }
}

impl Step {
    /// An edit that suits content of this length, or records.
    fn edit(&self, len: &mut usize, of_records: bool) -> Option<Edit> {
        Some(match self {
            Self::Append(bytes) => {
                let data = bytes.make();
                *len += data.len();
                Edit::Append(data)
            }
            Self::GivenUp(bytes) => Edit::GivenUp(bytes.make()),
            Self::Reindex => Edit::Reindex,
            Self::Reopen => Edit::Reopen,
            _ if of_records => return None,
            Self::AppendWith(bytes, count) => {
                let data = bytes.make();
                *len += data.len();
                Edit::AppendWith(data, items(*count))
            }
            Self::Patch(at, bytes) => {
                let at = usize::from(*at) % (*len + 1);
                let mut data = bytes.make();
                data.truncate(*len - at);
                Edit::Patch(at as u64, data)
            }
            Self::Metadata(count) => Edit::Metadata(items(*count)),
        })
    }
}

/// The work of an editor: the operations recorded up to each edit, and the content after it.
struct Run {
    log: Log,
    acked: Vec<usize>,
    contents: Vec<Content>,
}

/// Nothing if this file lets itself not be edited.
fn run(scenario: &Scenario) -> Option<Run> {
    let recorder = Recorder::new(&[(NAME.into(), scenario.file.clone())]);
    let (mut acked, mut contents) = (Vec::new(), vec![scenario.before.clone()]);
    let mut editor = Some(scenario.open(recorder.clone()).ok()?);
    for edit in &scenario.edits {
        match scenario.apply(edit, &mut editor, || recorder.clone()) {
            Ok(()) => {}
            // An edit that such a file does not allow.
            Err(error) if error.category() == Category::Usage => break,
            Err(error) => panic!("{edit:?}: {error}"),
        }
        acked.push(recorder.done());
        contents.push(edit.model(&contents[contents.len() - 1]));
        let beside = Snapshot::open_in(&recorder, OsStr::new(NAME)).expect("the file");
        let seen = check::read(SourceReader::new(beside)).expect("the writer is in nobody's way");
        assert!(
            Some(&seen) == contents.last(),
            "{edit:?}: a reader beside it sees something else"
        );
    }
    drop(editor);
    Some(Run {
        log: recorder.log(),
        acked,
        contents,
    })
}

fn checked(files: &Files, scenario: &Scenario, allowed: &[Content]) -> Content {
    check::check(files, scenario, allowed).unwrap_or_else(|why| panic!("{why}"))
}

/// Recovery crashes, too: it is decided what the file holds.
fn crash_again(
    scenario: &Scenario,
    files: &Files,
    seen: &Content,
    moment: u16,
    random: &mut Random,
) {
    let recorder = Recorder::new(files);
    drop(
        scenario
            .open(recorder.clone())
            .expect("it could be recovered"),
    );
    let log = recorder.log();
    let left = one_state(&log, usize::from(moment) % (log.ops.len() + 1), random);
    checked(&left, scenario, std::slice::from_ref(seen));
}

pub fn check(input: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    let scenario = case.scenario();
    let Some(run) = run(&scenario) else { return };
    for (moment, seed) in case.crashes.iter().take(4) {
        let done = usize::from(*moment) % (run.log.ops.len() + 1);
        let random = &mut Random::new(*seed);
        let files = one_state(&run.log, done, random);
        let promised = run.acked.iter().filter(|acked| **acked <= done).count();
        let allowed = &run.contents[promised..run.contents.len().min(promised + 2)];
        let seen = checked(&files, &scenario, allowed);
        crash_again(&scenario, &files, &seen, moment.rotate_left(5), random);
    }
}
