//! Tests of refused input, and of the parts of a report besides the content.

use crate::recovery::cases::{JSON, counted, data, others};
use bloscpack::wire::{Hashers, Header, MetadataHeader};
use bloscpack::{
    Category, Checksum, Compressor, Encoder, Filter, FormatVersion, Limits, Metadata, Options,
    survey::Survey, verify::verify_at,
};
use std::io::{Cursor, Write};
use testkit::damages::{Recovered, damages, recover};

fn encoded(layout: FormatVersion) -> Vec<u8> {
    let mut encoder = Encoder::builder()
        .version(layout)
        .checksum(Checksum::Sha1)
        .compressor(Compressor::Zstd)
        .filter(Filter::Bit)
        .typesize(2)
        .chunk_size(1000)
        .metadata(Metadata::from_json(JSON).unwrap())
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    encoder.write_all(&data(1)).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn recovered(file: &[u8]) -> (Recovered, bloscpack::survey::Member) {
    let mut target = Cursor::new(Vec::new());
    let report = recover(file, &mut target, &Options::new()).unwrap();
    let survey = Survey::of(target.get_ref().as_slice(), &Options::new()).unwrap();
    (report, survey.members.into_iter().next().unwrap())
}

#[test]
fn settings_and_metadata_are_those_of_the_old_file() {
    for layout in [FormatVersion::V3, FormatVersion::V2] {
        let mut file = encoded(layout);
        let end = file.len();
        file[end - 30..].fill(0);
        let (report, member) = recovered(&file);
        assert_eq!(report.chunks_lost, Some(1));
        assert!(!report.metadata_lost && !report.header_lost && !report.offsets_lost);
        assert_eq!(member.metadata.unwrap().text(), JSON);
        assert_eq!(member.header.version, FormatVersion::V3);
        assert_eq!(member.header.checksum, Checksum::Sha1);
        assert_eq!(
            (member.header.typesize, member.header.chunk_size),
            (Some(2), Some(1000))
        );
        assert_eq!(member.filters, [Filter::Bit]);
        assert!(member.header.offsets);
    }
}

/// No reader accepts a file of content with such metadata.
#[test]
fn metadata_of_packed_records_is_not_kept_for_content() {
    let mut file = encoded(FormatVersion::V3);
    let packed = r#"{"packing": {"name": "lengths", "version": 1, "chunk_size": 4096}}"#;
    let packed = Metadata::from_json(packed).unwrap();
    let old = MetadataHeader::decode(file[32..].first_chunk().unwrap()).unwrap();
    let section = packed.to_section_in_place_of(&old, &Hashers::default());
    let section = section.unwrap().unwrap();
    file[32..32 + section.len()].copy_from_slice(&section);
    let found = verify_at(&file, &Options::new(), |_| Ok(())).unwrap();
    assert!(!found.is_sound(), "{found:?}");

    let mut target = Cursor::new(Vec::new());
    let report = recover(&file, &mut target, &Options::new()).unwrap();
    assert!(report.metadata_lost && !report.is_complete());
    let target = target.into_inner();
    assert!(
        verify_at(&target, &Options::new(), |_| Ok(()))
            .unwrap()
            .is_sound()
    );
    assert_eq!(bloscpack::decompress(&target).unwrap(), data(1));
}

#[test]
fn metadata_is_kept_only_if_its_digest_holds() {
    for layout in [FormatVersion::V3, FormatVersion::V2] {
        let mut file = encoded(layout);
        let text = if layout == FormatVersion::V2 { 40 } else { 70 };
        file[text] ^= 1;
        let (report, member) = recovered(&file);
        assert!(report.metadata_lost && !report.is_complete(), "{layout}");
        assert_eq!(member.metadata, None, "{layout}");
        assert_eq!(member.uncompressed, data(1).len() as u64, "{layout}");
    }
    // Metadata with its own digest survives a lost header.
    let mut file = encoded(FormatVersion::V3);
    file[..32].fill(0);
    let (report, member) = recovered(&file);
    assert!(report.header_lost && !report.metadata_lost);
    assert_eq!(member.metadata.unwrap().text(), JSON);
}

#[test]
fn a_count_without_bytes_fills_no_disk() {
    let model = &counted()[1];
    let mut file = model.file();
    // 2^40 chunks, of which the few are there.
    let header = Header {
        nchunks: Some(1 << 40),
        chunk_size: Some(1000),
        last_chunk: Some(1000),
        offsets: false,
        ..Header::new(FormatVersion::V3)
    };
    let first = model.chunks()[0].start;
    file.splice(..first, header.encode().unwrap());
    let options = Options::new().fill(true);
    let mut target = Cursor::new(Vec::new());
    let _ = recover(&file, &mut target, &options);
    assert!(target.get_ref().len() < 100 * file.len());
}

#[test]
fn a_chunk_over_a_limit_is_lost_and_said_to_be() {
    let file = encoded(FormatVersion::V3);
    let limits = Limits::new().chunk(500);
    let options = Options::new().limits(limits);
    let mut target = Cursor::new(Vec::new());
    let report = recover(&file, &mut target, &options).unwrap();
    assert_eq!((report.chunks, report.bytes), (1, 321));
    assert!(
        report
            .damages
            .iter()
            .all(|damage| damage.error.category() == Category::OverLimit)
    );
}

#[test]
fn verify_goes_on_behind_a_broken_structure() {
    let file = encoded(FormatVersion::V3);
    assert!(
        verify_at(&file, &Options::new(), |_| Ok(()))
            .unwrap()
            .is_sound()
    );
    let model = crate::recovery::model::Model::of("", &file);
    let chunks = model.chunks();
    let mut damaged = model.clone();
    for number in [2, 5, 9] {
        damaged.overwrite(chunks[number].start, &[0; 16]);
    }
    let file = damaged.file();
    let (report, found) =
        damages(|take| verify_at(&file, &Options::new().threads(2), take)).unwrap();
    let places: Vec<_> = found
        .iter()
        .map(|damage| {
            (
                damage.error.position().unwrap().chunk,
                damage.bytes.clone(),
                damage.content.clone(),
            )
        })
        .collect();
    let expected: Vec<_> = [2u64, 5, 9]
        .into_iter()
        .map(|number| {
            let chunk = &chunks[usize::try_from(number).unwrap()];
            let bytes = chunk.start as u64..chunk.end as u64;
            (
                Some(number),
                Some(bytes),
                Some(number * 1000..(number + 1) * 1000),
            )
        })
        .collect();
    assert_eq!(places, expected);
    assert_eq!(report.chunks, 13);
    assert_eq!(report.bytes, data(1).len() as u64 - 3000);
}

#[test]
fn chunks_behind_the_last_one_are_no_leftovers() {
    let first = encoded(FormatVersion::V3);
    // One byte short at its start, so that the second member is none.
    let file = [&first[..], &encoded(FormatVersion::V3)[1..]].concat();
    let (report, found) = damages(|take| verify_at(&file, &Options::new(), take)).unwrap();
    let [damage] = found.as_slice() else {
        panic!("{report:?}");
    };
    let (from, to) = (first.len() as u64, file.len() as u64);
    assert_eq!(damage.bytes, Some(from..to));
    assert_eq!(damage.error.position().unwrap().byte, from);
    assert_eq!(damage.error.category(), Category::Damaged);
    assert!(damage.error.to_string().contains("sound chunks follow"));
    assert!(report.warnings.is_empty(), "{report:?}");
    assert_eq!(report.bytes, data(1).len() as u64);

    // Nothing but bytes; and an append of ours that was not committed.
    let gap = vec![0; 128];
    let uncommitted = [&first[..], &gap, &first[1..]].concat();
    let junk = [&first[..], b"\x02\x01 what means nothing".as_slice()].concat();
    for file in [uncommitted, junk] {
        let report = verify_at(&file, &Options::new(), |_| Ok(())).unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert_eq!(report.warnings.len(), 1);
    }
    // Files with remnants of the reference's append and of others.
    for name in [
        "g_trailing_garbage.blp",
        "g_trailing_then_spill.blp",
        "z_trailing_junk.blp",
    ] {
        let path = testkit::testdata("bloscpack").join(name);
        let file = std::fs::read(path).unwrap();
        let report = verify_at(&file, &Options::new(), |_| Ok(())).unwrap();
        assert!(report.is_sound(), "{name}: {report:?}");
        assert_eq!(report.warnings.len(), 1, "{name}");
    }
}

#[test]
fn a_header_that_names_another_checksum_is_told() {
    let mut file = encoded(FormatVersion::V3);
    assert_eq!(file[6], Checksum::Sha1.id());
    file[6] = Checksum::Adler32.id();
    let (report, member) = recovered(&file);
    assert_eq!((report.chunks, report.chunks_lost), (13, Some(0)));
    assert!(report.is_complete());
    let said: Vec<_> = report
        .damages
        .iter()
        .map(|damage| damage.error.to_string())
        .collect();
    assert!(
        said.iter().any(|said| said.contains("checksum id is 1")),
        "{said:?}"
    );
    assert_eq!(member.header.checksum, Checksum::Sha1);
}

#[test]
fn an_interrupted_change_may_be_a_mixture() {
    let mut file = encoded(FormatVersion::V3);
    file[0] = b'!';
    let (report, member) = recovered(&file);
    assert_eq!(member.uncompressed, data(1).len() as u64);
    assert!(report.is_changing && !report.is_complete());
    assert!(report.lost.is_empty() && !report.header_lost);
    let [damage] = report.damages.as_slice() else {
        panic!("{:?}", report.damages);
    };
    let said = damage.error.to_string();
    assert!(said.contains("partly old and partly new"), "{said}");
    assert_eq!(damage.error.category(), Category::CutShort);
}

#[test]
fn damage_without_checksums_is_never_complete() {
    for model in others().into_iter().chain(counted()) {
        let (whole, _) = recovered(&model.file());
        assert!(whole.is_complete() && !whole.unchecked, "{}", model.name);
        let mut damaged = model.clone();
        // The first chunk's flags and the bytes after it.
        damaged.overwrite(model.chunks()[0].start, &[0xa5; 20]);
        let (report, _) = recovered(&damaged.file());
        assert_eq!(report.unchecked, !model.checked, "{}", model.name);
        assert!(!report.is_complete(), "{}", model.name);
    }
}

#[test]
fn no_chunks_are_recovered_as_such() {
    let header = Header {
        nchunks: Some(0),
        offsets: true,
        ..Header::new(FormatVersion::V3)
    };
    let header = header.encode().unwrap();
    // An append of the reference leaves at least one chunk, and one of ours begins after zeros.
    let other = [&header[..], b"something else, as long as a chunk"].concat();
    let refused = recover(&other, &mut Cursor::new(Vec::new()), &Options::new());
    assert_eq!(refused.unwrap_err().category(), Category::Damaged);
    for behind in [&[][..], &[0; 200]] {
        let file = [&header[..], behind].concat();
        let mut target = Cursor::new(Vec::new());
        let report = recover(&file, &mut target, &Options::new()).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!((report.chunks, report.bytes), (0, 0));
        assert_eq!(bloscpack::decompress(target.get_ref()).unwrap(), b"");
    }
}

/// A chunk more than there should be: one of them is not part of the content, and it is unknown which.
#[test]
fn a_chunk_that_is_there_twice_is_uncertain() {
    for model in counted() {
        let mut twice = model.clone();
        twice.duplicate(3, 3);
        let file = twice.file();
        let mut target = Cursor::new(Vec::new());
        let report = recover(&file, &mut target, &Options::new()).unwrap();
        let name = &model.name;
        assert!(report.uncounted, "{name}: {report:#?}");
        assert!(!report.is_complete() && report.content_len().is_none());
        let model = recover(&model.file(), Cursor::new(Vec::new()), &Options::new());
        assert!(model.unwrap().is_complete(), "{name}");
    }
}

/// As many sound chunks as there should be do not make a file complete: one is destroyed, and another one is there twice.
#[test]
fn a_destroyed_and_a_repeated_chunk_are_not_complete() {
    let (mut cases, mut failures) = (0, Vec::new());
    for model in counted().into_iter().chain(others()) {
        let count = model.chunks().len();
        for destroyed in [0, 3, 7, count - 1] {
            for (from, behind) in [(0, 0), (3, 3), (3, 9), (8, 2), (6, 7), (5, 11)] {
                // A chunk whose copy is destroyed has only moved.
                if destroyed == from || destroyed.max(from).max(behind) >= count {
                    continue;
                }
                let mut twice = model.clone();
                twice.duplicate(from, behind);
                let at = twice.chunks()[destroyed + usize::from(behind < destroyed)].clone();
                for byte in [0, 0x55, 0xff] {
                    let mut damaged = twice.clone();
                    damaged.overwrite(at.start, &vec![byte; at.len()]);
                    let file = damaged.file();
                    let target = Cursor::new(Vec::new());
                    let report = recover(&file, target, &Options::new());
                    let is_sound = verify_at(&file, &Options::new(), |_| Ok(()))
                        .unwrap()
                        .is_sound();
                    if is_sound || report.is_ok_and(|report| report.is_complete()) {
                        let name = &model.name;
                        failures.push(format!(
                            "{name}: {from} after {behind}, {destroyed} is {byte}"
                        ));
                    }
                    cases += 1;
                }
            }
        }
    }
    assert!(failures.is_empty() && cases > 2000, "{cases} {failures:#?}");
}

/// The chunks after one whose digest is gone are still checked by theirs.
#[test]
fn a_digest_that_is_gone_is_only_its_own() {
    for model in counted().into_iter().filter(|model| model.checked) {
        let (name, len) = (&model.name, model.file().len());
        let mut damaged = model.clone();
        let first = damaged.chunks()[0].clone();
        let header = Header::decode(&model.file()).unwrap();
        let digest = header.checksum.digest_len();
        damaged.delete(first.end - digest..first.end);
        assert_eq!(damaged.file().len(), len - digest, "{name}");
        let target = Cursor::new(Vec::new());
        let report = recover(&damaged.file(), target, &Options::new()).unwrap();
        let errors: Vec<_> = report
            .damages
            .iter()
            .map(|damage| damage.error.to_string())
            .collect();
        assert!(
            !errors.iter().any(|error| error.contains("checksum id")),
            "{name}: {errors:?}"
        );
        assert_eq!(
            report.chunks,
            model.contents.len() as u64 - 1,
            "{name}: {errors:?}"
        );
    }
}
