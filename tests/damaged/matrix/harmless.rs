//! The fields of datasets and frames that may change without being noticed, and why.
//!
//! A field that is not listed is noticed whatever bit of it is turned. One that is listed needs to be.
//!
//! Streams, files and records have their lists in `tests/damaged/flips.rs` and `tests/codec/records/flips.rs`, bit by bit.

/// The outcomes of a flipped bit that are allowed besides an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// Nothing changes, for some bits or all.
    Same,
    /// Wrong data is read: nothing in the format could detect it.
    Wrong,
    /// The one for some bits and the other for others.
    Both,
}

/// The rule is for each of these fields in each of these containers.
pub struct Rule {
    pub containers: &'static [&'static str],
    pub fields: &'static [&'static str],
    pub may: May,
    pub why: &'static str,
}

const BCOLZ: &str = "dataset, bcolz";
const BLZ: &str = "dataset, BLZ";
const BLZ_BARE: &str = "dataset, BLZ document, no checksum";
const BLZ_GUARDED: &str = "dataset, BLZ document, checksum";
const CARRAY_BARE: &str = "dataset, carray proposal, no checksum";
const CARRAY_GUARDED: &str = "dataset, carray proposal, checksum";
const ALL_JSON: &[&str] = &[BCOLZ, BLZ, BLZ_BARE, BLZ_GUARDED];
const DOCUMENTS: &[&str] = &[BLZ_BARE, BLZ_GUARDED, CARRAY_BARE, CARRAY_GUARDED];
const CARRAYS: &[&str] = &[CARRAY_BARE, CARRAY_GUARDED];
/// Datasets whose chunks have no digests.
const BARE: &[&str] = &[BCOLZ, BLZ, BLZ_BARE, CARRAY_BARE];
const FRAMES: &[&str] = &[
    "frame, contiguous",
    "frame, sparse",
    "array in a frame",
    "array in a sparse frame",
];
const PLAIN: &[&str] = &["frame, contiguous", "frame, sparse"];
const ARRAYS: &[&str] = &["array in a frame", "array in a sparse frame"];
const SPARSE: &[&str] = &["frame, sparse", "array in a sparse frame"];

const fn rule(
    containers: &'static [&'static str],
    fields: &'static [&'static str],
    may: May,
    why: &'static str,
) -> Rule {
    Rule {
        containers,
        fields,
        may,
        why,
    }
}

pub const RULES: &[Rule] = &[
    rule(
        &[BCOLZ, BLZ],
        &["__attrs__: unit", "__attrs__: key unit"],
        May::Wrong,
        "attributes are free text without a digest",
    ),
    rule(
        DOCUMENTS,
        &["attributes: unit", "attributes: key unit"],
        May::Wrong,
        "attributes are free text without a digest",
    ),
    rule(
        ALL_JSON,
        &["sizes: shape", "storage: dflt"],
        May::Wrong,
        "no digest: fewer rows, or another default element, that what is there allows",
    ),
    rule(
        ALL_JSON,
        &[
            "sizes: nbytes",
            "sizes: key nbytes",
            "sizes: cbytes",
            "sizes: key cbytes",
            "storage: expectedlen",
        ],
        May::Same,
        "real programs count these oddly, and need not write them: nothing that is read depends on them",
    ),
    rule(
        &[BCOLZ],
        &["storage: cparams", "storage: key cparams"],
        May::Same,
        "how chunks to come are compressed; each chunk names its own",
    ),
    rule(
        &[BLZ_BARE, BLZ_GUARDED],
        &["storage: cparams", "storage: key cparams"],
        May::Same,
        "how chunks to come are compressed; each chunk names its own",
    ),
    rule(
        &[BLZ],
        &["storage: bparams", "storage: key bparams"],
        May::Same,
        "how chunks to come are compressed; each chunk names its own",
    ),
    rule(
        &[BLZ],
        &["__rootdirs__: dirs", "__rootdirs__: key dirs"],
        May::Same,
        "where columns lie is told by their names",
    ),
    rule(
        &[BLZ_GUARDED],
        &["storage: dtype"],
        May::Both,
        "no digest: columns of other names that lie where they did, or of elements of another kind and the same size",
    ),
    rule(
        &[BLZ_BARE, BLZ_GUARDED],
        &["superchunksize: "],
        May::Same,
        "a note for chunks to come: each superchunk counts its own",
    ),
    rule(
        DOCUMENTS,
        &["superchunk: Spare"],
        May::Same,
        "room behind a chunk, which holds nothing",
    ),
    rule(
        CARRAYS,
        &["shape: "],
        May::Both,
        "no digest: fewer rows that what is there allows, and spaces that mean nothing",
    ),
    rule(
        &[CARRAY_GUARDED],
        &["storage: dtype"],
        May::Wrong,
        "no digest: columns of other names",
    ),
    rule(
        CARRAYS,
        &[
            "storage: compression",
            "storage: key compression",
            "storage: key endianness",
            "storage: key order",
            "storage: key superchunksize",
            "storage: superchunksize",
        ],
        May::Same,
        "how chunks to come are written, or what is so anyway where it is not said",
    ),
    rule(
        CARRAYS,
        &["superchunk: Version"],
        May::Same,
        "the proposal leaves it open, and it is read as anything",
    ),
    rule(
        &[CARRAY_GUARDED],
        &["superchunk: Checksum"],
        May::Same,
        "a header without a digest that says none: the digests are taken for spare room",
    ),
    rule(
        BARE,
        &["chunk: data", "chunk: typesize", "chunk: flags"],
        May::Both,
        "no digest: only what cannot be decompressed is noticed, and neither another width of what was shuffled nor that \
         nothing was; of a chunk that is a copy none of that matters",
    ),
    rule(
        BARE,
        &["chunk: version"],
        May::Same,
        "2 and 3, which differ in nothing that is read",
    ),
    rule(
        &[BCOLZ, BLZ, BLZ_BARE],
        &["chunk: version of the compressor"],
        May::Same,
        "of a chunk that is a copy, which no compressor has seen",
    ),
    rule(
        &[BCOLZ, BLZ, BLZ_BARE],
        &["chunk: blocksize"],
        May::Same,
        "of a chunk that is a copy; and where all is one block",
    ),
    rule(
        &[BLZ_BARE, CARRAY_BARE],
        &["chunk: ctbytes"],
        May::Same,
        "each stream has its own length, and behind the chunk there is spare room",
    ),
    rule(
        FRAMES,
        &[
            "chunk: data",
            "chunk: filters",
            "chunk: meta of the filters",
        ],
        May::Both,
        "no digest: only what cannot be decompressed is noticed, or is filtered in a way that there is not; at the edges of \
         arrays chunks have elements that nobody sees",
    ),
    rule(
        FRAMES,
        &["chunk: typesize"],
        May::Wrong,
        "no digest: another width of what was shuffled",
    ),
    rule(
        ARRAYS,
        &["chunk: starts of blocks"],
        May::Wrong,
        "no digest: a block that begins where another one does",
    ),
    rule(
        FRAMES,
        &[
            "chunk: compressor of a user",
            "chunk: meta of the compressor",
            "index: compressor of a user",
            "index: meta of the compressor",
            "frame: compressor of a user",
        ],
        May::Same,
        "of use only where the compressor is one that a user has made",
    ),
    rule(
        FRAMES,
        &[
            "chunk: room",
            "chunk: version",
            "chunk: flags",
            "chunk: flags of Blosc2",
            "index: room",
            "index: version",
            "index: flags",
            "index: flags of Blosc2",
            "frame: room of the filters",
        ],
        May::Same,
        "bits that mean nothing yet, or something that a chunk like this has not; versions that differ in nothing that is read",
    ),
    rule(
        FRAMES,
        &[
            "index: filters",
            "index: meta of the filters",
            "index: blocksize",
        ],
        May::Same,
        "of an index that is a copy, or has places that every filter leaves as they are",
    ),
    rule(
        PLAIN,
        &["index: typesize", "index: version of the compressor"],
        May::Same,
        "of an index that is a copy",
    ),
    rule(
        ARRAYS,
        &["index: data"],
        May::Same,
        "a match that begins elsewhere and copies the same bytes",
    ),
    rule(
        FRAMES,
        &[
            "frame: compressor",
            "frame: filters",
            "frame: meta of the filters",
            "frame: split mode",
            "frame: threads",
        ],
        May::Same,
        "how chunks to come are compressed; each chunk names its own",
    ),
    rule(
        PLAIN,
        &["frame: blocksize", "chunk: blocksize"],
        May::Same,
        "for chunks to come; and of a chunk that is one block anyway",
    ),
    rule(
        FRAMES,
        &["frame: has vlmetalayers"],
        May::Same,
        "the trailer tells",
    ),
    rule(
        SPARSE,
        &["frame: section_len"],
        May::Same,
        "how long all chunks are: of no use where each has its file",
    ),
    rule(
        PLAIN,
        &["frame: typesize"],
        May::Wrong,
        "no digest: what the elements of a frame are is nowhere else",
    ),
    rule(
        FRAMES,
        &["frame: metalayers"],
        May::Wrong,
        "no digest: names and values of users, and the dtype",
    ),
    rule(
        ARRAYS,
        &["trailer: vlmetalayers"],
        May::Both,
        "no digest: names and values of users, in chunks of which parts are of no use",
    ),
];
