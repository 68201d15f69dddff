//! Tests that a file of records cut anywhere is recognized as cut, and gives the records of the complete chunks
//! before the cut.

use crate::records::map::{Field, parts, u32_at};
use crate::records::samples::{Sample, concatenated, samples};
use crate::records::trickle::Trickle;
use crate::records::{by_number, in_order};
use bloscpack::blosc::ChunkDecoder;
use bloscpack::{
    Category, Options, Warning,
    records::{IndexedRecordReader, RecordReader},
    verify::verify,
};

/// Records in a chunk of a packed file: the u32 after the first eight bytes.
fn packed_count(chunk: &[u8]) -> usize {
    let mut content = vec![0; u32_at(chunk, 4) as usize];
    ChunkDecoder::new().decode(chunk, &mut content).unwrap();
    u32_at(&content, 8) as usize
}

/// Where members end, and after how many bytes of the file there are how many records.
struct Marks {
    borders: Vec<usize>,
    records: Vec<(usize, usize)>,
}

fn marks(sample: &Sample) -> Marks {
    let (map, mut total) = (parts(&sample.file), 0);
    let mut marks = Marks {
        borders: Vec::new(),
        records: vec![(0, 0)],
    };
    let members = map.chunk_by(|a, b| a.member == b.member);
    for member in members {
        let (from, end) = (member[0].at.start, member.last().unwrap().at.end);
        assert_ne!(sample.file[from + 6], 0, "all samples have digests");
        let is_packed = is_packed(&sample.file[from..end]);
        for part in member.windows(2) {
            if part[0].field == Field::Chunk {
                let chunk = &sample.file[part[0].at.clone()];
                total += if is_packed { packed_count(chunk) } else { 1 };
                marks.records.push((part[1].at.end, total));
            }
        }
        marks.borders.push(end);
    }
    assert_eq!(total, sample.records.len(), "{}", sample.name);
    marks
}

/// Whether a whole member says that it is packed.
fn is_packed(member: &[u8]) -> bool {
    let reader = IndexedRecordReader::open(member).unwrap();
    reader.packing().is_some()
}

#[test]
fn every_cut_is_told_and_all_before_it_is_delivered() {
    let mut cuts = 0;
    for sample in samples().into_iter().chain(concatenated()) {
        let marks = marks(&sample);
        for cut in testkit::effort::sample(0..sample.file.len(), 5) {
            let file = &sample.file[..cut];
            let place = format!("{}: cut at {cut}", sample.name);
            let (_, before) = marks.records.iter().rfind(|(at, _)| *at <= cut).unwrap();
            let is_border = marks.borders.contains(&cut);
            for most in [usize::MAX, 1, 7] {
                let (records, end) = in_order(Trickle::new(file, most));
                assert_eq!(records, sample.records[..*before], "{place}");
                let told = end.err().map(|error| error.category());
                let expected = (!is_border).then_some(Category::CutShort);
                assert_eq!(told, expected, "{place}");
            }
            match by_number(file) {
                Ok(told) => assert!(is_border && told.records == sample.records[..*before]),
                Err(error) if is_border => {
                    assert_eq!(error.category(), Category::Unsupported, "{place}: {error}");
                }
                Err(error) => assert_eq!(error.category(), Category::CutShort, "{place}: {error}"),
            }
            let report = verify(file, &Options::new(), |_| Ok(())).unwrap();
            assert_eq!(report.is_sound(), is_border, "{place}");
            unended(&sample, cut, *before, is_border);
            cuts += 1;
        }
    }
    println!("{cuts} cuts");
}

/// A file without only its final end mark can be read on request, with a warning.
fn unended(sample: &Sample, cut: usize, before: usize, is_border: bool) {
    let (file, place) = (&sample.file[..cut], &sample.name);
    let builder = Options::new().allow_unterminated(true);
    let mut reader = RecordReader::with_options(file, builder);
    let mut records = Vec::new();
    let end = loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert_eq!(records, sample.records[..before], "{place}: {cut}");
    let warned = matches!(reader.warnings(), [Warning::Unended(_)]);
    assert_eq!(warned, end.is_ok() && !is_border, "{place}: {cut}: {end:?}");

    let builder = Options::new().allow_unterminated(true);
    match IndexedRecordReader::with_options(file, builder) {
        Ok(reader) => {
            assert!(end.is_ok(), "{place}: {cut}: {end:?}");
            let found: Vec<_> = reader.iter().map(|one| one.unwrap().to_vec()).collect();
            assert_eq!(found, records, "{place}: {cut}");
            assert_eq!(reader.warnings().len(), usize::from(!is_border));
        }
        Err(error) => {
            let category = error.category();
            let several = category == Category::Unsupported && end.is_ok();
            assert!(
                several || category == Category::CutShort,
                "{place}: {cut}: {error}"
            );
            assert!(several || end.is_err(), "{place}: {cut}: {error}");
        }
    }
}
