//! Tests decoding of files that real tools wrote, with all that is known of them: those in `testdata`, and the whole
//! corpus if it is unpacked.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

use testkit::damages::damages;
use testkit::manifest;
use testkit::trickle;

use bloscpack::wire::Offsets;
use bloscpack::{
    Decoder, FormatVersion, Options, Warning,
    survey::{Member, State, Survey},
    verify::verify,
    wire::{Header, MetadataPlace},
};
use manifest::{Expected, Manifest, WHOLE_CORPUS};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;
use trickle::Trickle;

/// Problems found with one file; empty if there are none.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.0
                .push(format!("{what}: {found:?}, expected {expected:?}"));
        }
    }

    fn ok<T>(&mut self, what: &str, result: bloscpack::Result<T>) -> Option<T> {
        result
            .map_err(|error| self.0.push(format!("{what}: {error}")))
            .ok()
    }
}

#[test]
fn chosen_files_decode_to_what_their_tools_packed() {
    let folder = testkit::testdata("bloscpack");
    let manifest = Manifest::read(&folder);
    assert!(manifest.files.len() > 200, "manifest cut short");
    walk(&folder, &manifest);
}

#[test]
fn whole_corpus_decodes_to_what_its_tools_packed() {
    let Some(corpus) = testkit::corpus::parts(["bloscpack"]) else {
        return;
    };
    let folder = corpus.join("bloscpack");
    let manifest = Manifest::read(&folder);
    assert_eq!(manifest.files.len(), WHOLE_CORPUS);
    walk(&folder, &manifest);
}

fn walk(folder: &Path, manifest: &Manifest) {
    let mut wrong = Vec::new();
    for expected in &manifest.files {
        let bytes = std::fs::read(folder.join(&expected.file)).unwrap();
        assert_eq!(hex(&bytes), expected.file_sha256, "{}", expected.file);
        let mut findings = Findings::default();
        decoded(&bytes, expected, &mut findings);
        surveyed(&bytes, expected, &mut findings);
        verified(&bytes, expected, &mut findings);
        wrong.extend(
            findings
                .0
                .iter()
                .map(|found| format!("{}: {found}", expected.file)),
        );
    }
    println!("{} files, {} findings", manifest.files.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Content, header and metadata through [`Decoder`]: in small pieces on one thread, as a whole
/// on two.
fn decoded(bytes: &[u8], expected: &Expected, findings: &mut Findings) {
    let mut content = Vec::new();
    let mut one = Decoder::with_options(Trickle::new(bytes, 37), Options::new().threads(1));
    let read = one.read_to_end(&mut content).map_err(Into::into);
    findings.ok("one thread", read);
    same_content("one thread", &content, expected, findings);
    findings.equal(
        "bytes read",
        one.total_in(),
        u64::try_from(bytes.len()).unwrap(),
    );
    findings.equal("members", one.members(), 1);
    same_warnings("one thread", one.warnings(), expected, findings);

    let mut two = Decoder::with_options(bytes, Options::new().threads(2));
    if let Some(header) = findings.ok("header", two.read_header()) {
        same_header(header, expected, findings);
    }
    if let Some(metadata) = findings.ok("metadata", two.read_metadata()) {
        findings.equal(
            "metadata",
            metadata.map(|metadata| metadata.value().clone()),
            expected.metadata.clone(),
        );
        if let (Some(metadata), Some(text)) = (metadata, &expected.metadata_text) {
            findings.equal("metadata text", metadata.text(), text);
        }
    }
    let mut content = Vec::new();
    findings.ok("two threads", two.copy_to(&mut content));
    same_content("two threads", &content, expected, findings);
    same_warnings("two threads", two.warnings(), expected, findings);
}

fn same_content(how: &str, content: &[u8], expected: &Expected, findings: &mut Findings) {
    findings.equal(&format!("{how}: length"), content.len(), expected.raw_len);
    findings.equal(
        &format!("{how}: sha256"),
        hex(content),
        expected.raw_sha256.clone(),
    );
}

/// The only warning that a sound file may cause is about trailing bytes.
fn same_warnings(how: &str, warnings: &[Warning], expected: &Expected, findings: &mut Findings) {
    let trailing = |warning: &Warning| match warning {
        Warning::Trailing(trailing) => Some(trailing.len),
        _ => None,
    };
    let expected_warnings: Vec<_> = (expected.trailing_bytes > 0)
        .then_some(Some(expected.trailing_bytes))
        .into_iter()
        .collect();
    findings.equal(
        &format!("{how}: trailing bytes warned of"),
        warnings.iter().map(trailing).collect(),
        expected_warnings,
    );
}

fn same_header(header: &Header, expected: &Expected, findings: &mut Findings) {
    let wanted = &expected.header;
    findings.equal("layout", header.version, wanted.layout);
    findings.equal("offsets", header.offsets, wanted.offsets);
    findings.equal("varlen", header.varlen, false);
    findings.equal("seal", header.seal, None);
    findings.equal("checksum", header.checksum, wanted.checksum);
    findings.equal("typesize", header.typesize, wanted.typesize);
    findings.equal("chunk size", header.chunk_size, wanted.chunk_size);
    findings.equal("last chunk", header.last_chunk, wanted.last_chunk);
    findings.equal("number of chunks", header.nchunks, wanted.nchunks);
    findings.equal(
        "max append chunks",
        header.max_app_chunks,
        wanted.max_app_chunks,
    );
    let place = match (header.version, wanted.metadata) {
        (_, false) => MetadataPlace::Absent,
        (FormatVersion::V3, true) => MetadataPlace::Section,
        (_, true) => MetadataPlace::Raw {
            len: wanted.meta_size,
            zlib: wanted.metadata_zlib,
        },
    };
    findings.equal("metadata place", header.metadata, place);
    // The other two are only read.
    if matches!(
        header.version,
        FormatVersion::V1 | FormatVersion::V2 | FormatVersion::V3
    ) {
        let encoded = header.encode().map(|bytes| hex_of(&bytes));
        findings.equal(
            "header encoded again",
            encoded.unwrap_or_else(|error| error.to_string()),
            expected.header_hex.clone(),
        );
    }
}

/// Positions, offsets and the metadata section through [`Survey`].
fn surveyed(bytes: &[u8], expected: &Expected, findings: &mut Findings) {
    let survey = Survey::of(bytes, &Options::new());
    let Some(survey) = findings.ok("survey", survey) else {
        return;
    };
    findings.equal("members surveyed", survey.members.len(), 1);
    same_warnings("survey", &survey.warnings, expected, findings);
    let member = &survey.members[0];
    same_header(&member.header, expected, findings);
    findings.equal(
        "uncompressed bytes",
        member.uncompressed,
        u64::try_from(expected.raw_len).unwrap(),
    );
    findings.equal("chunks", member.chunks, expected.nchunks);
    findings.equal(
        "first chunk",
        member.first_chunk_at,
        (expected.nchunks > 0).then_some(expected.first_chunk_at),
    );
    findings.equal(
        "metadata section",
        member.metadata_header.map(manifest::Section::from),
        expected.section.clone(),
    );
    same_offsets(member, expected, findings);
}

fn same_offsets(member: &Member, expected: &Expected, findings: &mut Findings) {
    let unfilled = expected.offsets.contains(&None);
    let state = if unfilled {
        State::Unindexed
    } else {
        State::Complete
    };
    findings.equal("state", member.state, state);
    if unfilled {
        findings.equal("offsets", &member.offsets, &Offsets::Unfilled);
        return;
    }
    let found = match &member.offsets {
        Offsets::Filled(table) => expected.elide(table),
        _ => Vec::new(),
    };
    findings.equal("offsets", found, expected.offsets.clone());
}

fn verified(bytes: &[u8], expected: &Expected, findings: &mut Findings) {
    let report = damages(|take| verify(bytes, &Options::new().threads(2), take));
    if let Some((report, damages)) = findings.ok("verify", report) {
        let damages: Vec<_> = damages.iter().map(|d| d.error.to_string()).collect();
        // Its metadata is that of 5,000 numbers, its content is 1,000 bytes.
        let is_odd = expected.file == "d_meta_numpyish.blp";
        findings.equal("damages", damages.len(), usize::from(is_odd));
        for damage in damages {
            if !is_odd || !damage.contains("an array of shape [5000] has 40000 bytes") {
                findings.0.push(damage);
            }
        }
        findings.equal("chunks verified", report.chunks, expected.nchunks);
        findings.equal(
            "bytes verified",
            report.bytes,
            u64::try_from(expected.raw_len).unwrap(),
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    hex_of(&Sha256::digest(bytes))
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
