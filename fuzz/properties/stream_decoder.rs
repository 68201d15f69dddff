//! Any bytes give an error or data, the same from every reader.

use bloscpack::verify::{Damage, verify};
use bloscpack::{Decoder, Limits, Options, survey::Survey, wire::Section};
use std::io::{Cursor, Read};

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More data than this is not worth the time.
const ENOUGH: u64 = 8 << 20;

fn decode(builder: Options, input: &[u8]) -> (Vec<u8>, Option<String>) {
    let mut data = Vec::new();
    let decoder = Decoder::with_options(input, builder.limits(LIMITS));
    let result = decoder.take(ENOUGH).read_to_end(&mut data);
    (data, result.err().map(|error| error.to_string()))
}

pub fn check(input: &[u8]) {
    let (data, error) = decode(Options::new(), input);
    let unended = Options::new().allow_unterminated(true);
    let (more, _) = decode(unended, input);
    assert!(more == data);

    let survey = Survey::of(input, &Options::new().limits(LIMITS));
    let seeking = Survey::of_file(Cursor::new(input), &Options::new().limits(LIMITS));
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
    // Bytes can be read whatever array the metadata describes.
    let is_wrong_array = |damage: &Damage| {
        let position = damage.error.position().expect("a place");
        position.section == Section::Metadata && damage.error.to_string().contains("an array")
    };
    let mut is_sound = true;
    let report = verify(input, &Options::new().limits(LIMITS), |damage| {
        is_sound &= is_wrong_array(&damage);
        Ok(())
    });
    let report = report.expect("no reader that fails");
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
        let (some, error) = decode(Options::new().range(part.clone()), input);
        assert!(error.is_none(), "{error:?}");
        assert!(some == data[part.start as usize..part.end as usize]);
    }
    if input.len().is_multiple_of(64) {
        assert!(decode(Options::new().threads(2), input) == (data, error));
    }
}
