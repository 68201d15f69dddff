//! The parser's events for any bytes do not depend on how these are cut. The last byte seeds the cuts.

use bloscpack::Limits;
use bloscpack::wire::{Ending, Event, Hashers, ParseError, Parser};

type Told = (Vec<String>, Vec<u8>, Result<Ending, ParseError>);

fn told(mut rest: &[u8], mut cut: impl FnMut() -> usize) -> Told {
    let limits = Limits::new().metadata(1 << 16).offsets(1 << 20);
    let mut parser = Parser::new(limits, Hashers::default());
    let (mut events, mut data) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let mut piece;
        (piece, rest) = rest.split_at(cut().min(rest.len()));
        loop {
            match parser.parse(&mut piece) {
                Ok(Event::NeedInput) => break,
                Ok(Event::ChunkData(bytes)) => data.extend_from_slice(bytes),
                Ok(event) => {
                    events.push(format!("{event:?} {} {:?}", data.len(), parser.position()))
                }
                Err(error) => return (events, data, Err(error)),
            }
        }
        assert!(piece.is_empty());
    }
    let result = parser.finish();
    (events, data, result)
}

pub fn check(input: &[u8]) {
    let Some((seed, input)) = input.split_last() else {
        return;
    };
    let whole = told(input, || usize::MAX);
    assert_eq!(told(input, || 1), whole);
    let mut state = u32::from(*seed);
    let random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 26) as usize + 1
    };
    assert_eq!(told(input, random), whole);
}
