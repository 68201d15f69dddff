//! Tests that files that are cut or changed give an error, or at least no panic and no more memory than the file
//! justifies.

use super::{Held, available, opened, written};
use crate::counting::peak_of;
use bloscpack_dtype::DType;
use bloscpack_dtype::npy::NpyHeader;
use bloscpack_error::Category;
use bloscpack_exchange::{Batch, Column, Format, ImportOptions, Schema, Source, export};

fn sample() -> Held {
    let columns = vec![
        Column::new("n", DType::I32),
        Column::new("s", DType::bytes(4).unwrap()),
        Column::new("u", DType::parse(">U2").unwrap()),
        Column::new("t", DType::parse("datetime64[ms]").unwrap()),
        Column::new("b", DType::BOOL),
    ];
    let rows = 50u64;
    let numbers = (0..50i32).flat_map(i32::to_le_bytes).collect();
    let strings = (0..50u8)
        .flat_map(|i| [b'a' + i % 26, b'b', b'\'', 0])
        .collect();
    let texts = (0..50u32).flat_map(|i| [(0x40 + i).to_be_bytes(), 0x20acu32.to_be_bytes()]);
    let texts = texts.flatten().collect();
    let times = (0..50i64)
        .flat_map(|i| (i * 86_400_000).to_le_bytes())
        .collect();
    let truths = (0..50u8).map(|i| i & 1).collect();
    let contents = vec![numbers, strings, texts, times, truths];
    Held::new(Schema::table(columns), rows, contents)
}

fn read(file: &[u8], format: Format) -> bloscpack_error::Result<Held> {
    let mut source = opened(file, format, &ImportOptions::new())?;
    Held::of(&mut *source, 300)
}

/// Caught panics would still print their message, thousands of times.
fn in_silence(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("silent".to_owned());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some("silent")
            || info
                .location()
                .is_some_and(|at| at.file().contains("tests/"))
        {
            hook(info);
        }
    }));
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_file_that_is_cut_is_refused() {
    in_silence(|| {
        for format in available() {
            let file = written(&mut sample(), format).unwrap();
            assert_eq!(read(&file, format).unwrap().rows, 50);
            for len in 0..file.len() {
                match read(&file[..len], format) {
                    // A cut between lines cannot be detected.
                    Ok(held) => assert!(format == Format::Csv && held.rows <= 50),
                    Err(error) => {
                        let category = error.category();
                        let sound = [Category::CutShort, Category::Damaged, Category::Unsupported];
                        assert!(sound.contains(&category), "{format} {len}: {error}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_file_that_is_changed_does_no_harm() {
    in_silence(|| {
        for format in available() {
            let file = written(&mut sample(), format).unwrap();
            let (mut errors, mut state) = (0, 88_172_645_463_325_252u64);
            for round in 0..4000usize {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let mut changed = file.clone();
                // Every byte once, and then more near the end, where some formats keep their description.
                let at = if round < file.len() {
                    round
                } else {
                    file.len() - 1 - (state >> 8) as usize % file.len().min(1500)
                };
                changed[at] = match state & 3 {
                    0 => 0xff,
                    1 => 0x7f,
                    2 => 0,
                    _ => changed[at] ^ (1 << (state >> 61)),
                };
                errors += usize::from(read(&changed, format).is_err());
            }
            println!("{format}: {errors} errors");
            assert!(errors > 100, "{format}: {errors}");
        }
    });
}

#[test]
fn lengths_that_lie_take_no_memory() {
    // An array of a petabyte.
    let mut npy = written(
        &mut Held::new(Schema::array(DType::I8, &[]), 9, vec![vec![0; 9]]),
        Format::Npy,
    )
    .unwrap();
    let text = String::from_utf8_lossy(&npy[10..128]).replace("(9,), }        ", "(999999999,), }");
    npy[10..128].copy_from_slice(&text.into_bytes()[..118]);
    let error = read(&npy, Format::Npy).unwrap_err();
    assert_eq!(error.category(), Category::CutShort, "{error}");
    // A header of a gigabyte.
    let error = read(b"\x93NUMPY\x02\x00\xff\xff\xff\x3f", Format::Npy).unwrap_err();
    assert_eq!(error.category(), Category::Damaged, "{error}");
    #[cfg(feature = "arrow")]
    {
        // A list of two billion groups of rows in the footer.
        let footer = [0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0];
        let mut file = b"PAR1".to_vec();
        file.extend(footer);
        file.extend((footer.len() as u32).to_le_bytes());
        file.extend(b"PAR1");
        let error = read(&file, Format::Parquet).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{error}");
    }
}

/// A `.npy` file of bytes with this shape, and nothing after its header.
fn empty_npy(shape: &[u64]) -> Vec<u8> {
    let header = NpyHeader {
        dtype: DType::U8,
        fortran_order: false,
        shape: shape.to_vec(),
    };
    header.encode().unwrap()
}

#[test]
fn rows_without_bytes_are_gone_through_at_once() {
    let shape = [1 << 62, 0];
    let file = empty_npy(&shape);
    let mut source = opened(&file, Format::Npy, &ImportOptions::new()).unwrap();
    let batch = source.next_batch(1 << 20).unwrap().unwrap();
    assert_eq!((batch.rows, &batch.columns[..]), (1 << 62, &[vec![]][..]));
    assert_eq!(source.next_batch(1 << 20).unwrap(), None);

    let source = || opened(&file, Format::Npy, &ImportOptions::new()).unwrap();
    assert_eq!(written(&mut *source(), Format::Npy).unwrap(), file);
    for format in [
        Format::Csv,
        Format::JsonLines,
        Format::Arrow,
        Format::Parquet,
    ] {
        if format.is_available() {
            let refused = written(&mut *source(), format).unwrap_err();
            assert_eq!(refused.category(), Category::Usage, "{format}: {refused}");
        }
    }
    // A few such rows are accepted.
    let few = empty_npy(&[3, 0]);
    let mut few = opened(&few, Format::Npy, &ImportOptions::new()).unwrap();
    assert_eq!(
        written(&mut *few, Format::JsonLines).unwrap(),
        b"[]\n[]\n[]\n"
    );
}

/// A writer that keeps nothing.
struct Count(u64);

impl std::io::Write for Count {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0 += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_row_of_a_million_elements_takes_the_memory_of_its_text() {
    let row = 1 << 20;
    let mut column = Column::new("value", DType::U8);
    column.row_shape = vec![row];
    let schema = Schema::table(vec![column]);
    for format in [Format::JsonLines, Format::Csv] {
        if !format.is_available() {
            continue;
        }
        let mut held = Held::new(schema.clone(), 1, vec![vec![7; row as usize]]);
        let mut count = Count(0);
        let (done, peak) = peak_of(|| export(&mut held, format, &mut count, &mut |_| ()));
        done.unwrap();
        // Each element is a digit and a comma.
        assert!(count.0 >= 2 * row, "{format}: {}", count.0);
        assert!(peak < 12 * row as usize, "{format}: {peak}");
    }
}

#[test]
fn a_npy_header_that_is_cut_is_cut_short() {
    let file = empty_npy(&[0]);
    for len in 0..file.len() {
        let refused = opened(&file[..len], Format::Npy, &ImportOptions::new());
        let category = refused.err().unwrap().category();
        assert_eq!(category, Category::CutShort, "{len}");
    }
    let other = opened(b"PK", Format::Npy, &ImportOptions::new());
    assert_eq!(other.err().unwrap().category(), Category::Unsupported);
}

/// Each would be a folder with files in it.
#[test]
fn a_line_of_commas_is_no_table() {
    if !Format::Csv.is_available() {
        testkit::idle::note("the feature csv is off");
        return;
    }
    let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
    let file = |count: usize| format!("{}\n", names(count).join(","));
    let open = |count| opened(file(count).as_bytes(), Format::Csv, &ImportOptions::new());
    assert_eq!(open(1 << 16).unwrap().schema().columns.len(), 1 << 16);
    let refused = open((1 << 16) + 1).err().unwrap();
    assert_eq!(refused.category(), Category::OverLimit, "{refused}");
}

/// A source of a schema that its batches do not have.
struct Short(Schema);

impl Source for Short {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn rows(&self) -> Option<u64> {
        Some(3)
    }

    fn next_batch(&mut self, _: usize) -> bloscpack_error::Result<Option<Batch>> {
        let columns = vec![vec![0; 11]];
        Ok(Some(Batch {
            rows: 3,
            columns,
            ..Batch::default()
        }))
    }
}

#[test]
fn a_source_whose_batches_lack_bytes_is_refused() {
    let one = Column::new("n", DType::I32);
    let two = vec![one.clone(), Column::new("m", DType::U8)];
    for columns in [vec![one], two] {
        for format in available().chain([Format::JsonLines]) {
            let mut source = Short(Schema::table(columns.clone()));
            let refused = written(&mut source, format).unwrap_err();
            assert_eq!(refused.category(), Category::Usage, "{format}: {refused}");
        }
    }
}
