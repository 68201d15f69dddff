//! Any bytes give an error or data, the same from every reader.

use bloscpack::verify::{Damage, verify};
use bloscpack::{Decoder, DecoderBuilder, Limits, survey::Survey, wire::Section};
use std::io::{Cursor, Read};

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More data than this is not worth the time.
const ENOUGH: u64 = 8 << 20;

fn decode(builder: DecoderBuilder, input: &[u8]) -> (Vec<u8>, Option<String>) {
    let mut data = Vec::new();
    let decoder = builder.limits(LIMITS).read_from(input);
    let result = decoder.take(ENOUGH).read_to_end(&mut data);
    (data, result.err().map(|error| error.to_string()))
}

pub fn check(input: &[u8]) {
    let (data, error) = decode(Decoder::builder(), input);
    let unended = Decoder::builder().allow_unterminated(true);
    let (more, _) = decode(unended, input);
    assert!(more == data);

    let survey = Survey::of(input, &LIMITS);
    let seeking = Survey::of_file(Cursor::new(input), &LIMITS);
    assert_eq!(survey.is_ok(), seeking.is_ok());
    if data.len() as u64 == ENOUGH {
        return;
    }
    // Sound, but read in another way.
    if error
        .as_deref()
        .is_some_and(|error| error.contains("read as records"))
    {
        return;
    }
    let report = verify(input, LIMITS, 1).expect("no reader that fails");
    // Bytes can be read whatever array the metadata describes.
    let is_wrong_array = |damage: &Damage| {
        let position = damage.error.position().expect("a place");
        position.section == Section::Metadata && damage.error.to_string().contains("an array")
    };
    let is_sound = report.damages.iter().all(is_wrong_array);
    assert_eq!(is_sound, error.is_none(), "{error:?}, {report:?}");
    if error.is_none() {
        let survey = survey.expect("as sound as its chunks");
        let counted: u64 = survey
            .members
            .iter()
            .map(|member| member.uncompressed)
            .sum();
        assert_eq!(counted, data.len() as u64);
        let part = data.len() as u64 / 3..data.len() as u64 / 2;
        let (some, error) = decode(Decoder::builder().range(part.clone()), input);
        assert!(error.is_none(), "{error:?}");
        assert!(some == data[part.start as usize..part.end as usize]);
    }
    if input.len().is_multiple_of(64) {
        assert!(decode(Decoder::builder().threads(2), input) == (data, error));
    }
}
