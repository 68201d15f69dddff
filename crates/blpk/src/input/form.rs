//! Looks at what the chunks of an input contain, before it is decided how to read it.

use std::io::{self, Read};

use bloscpack::{
    Limits,
    wire::{Event, Form, Hashers, MetadataPlace, Parser},
};

/// Bytes of one read. Header and metadata are seldom longer.
const PIECE_LEN: usize = 4096;

/// Reads up to and including the metadata, and returns what was read with what it says.
///
/// Damaged or truncated input has no form; the code that reads all of it reports why.
pub fn look(input: &mut impl Read, limits: &Limits) -> io::Result<(Vec<u8>, Option<Form>)> {
    let mut parser = Parser::new(*limits, Hashers::default());
    let (mut read, mut used) = (Vec::new(), 0);
    let form = loop {
        let mut unused = &read[used..];
        match parser.parse(&mut unused) {
            Ok(Event::NeedInput) => {
                used = read.len();
                if fill(input, &mut read)? == 0 {
                    break None;
                }
                continue;
            }
            // The metadata does not matter for content.
            Ok(Event::Header(header)) if !header.varlen => break Some(Form::Content),
            Ok(Event::Header(header)) if header.metadata == MetadataPlace::Absent => {
                break Form::of(&header, None).ok();
            }
            Ok(Event::Header(_)) => {}
            Ok(Event::Metadata(metadata, _)) => {
                break Form::of(parser.header(), Some(&metadata)).ok();
            }
            Ok(_) | Err(_) => break None,
        }
        used = read.len() - unused.len();
    };
    Ok((read, form))
}

/// Reads once.
fn fill(input: &mut impl Read, into: &mut Vec<u8>) -> io::Result<usize> {
    let len = into.len();
    into.resize(len + PIECE_LEN, 0);
    let done = input.read(&mut into[len..]);
    into.truncate(len + done.as_ref().unwrap_or(&0));
    done
}
