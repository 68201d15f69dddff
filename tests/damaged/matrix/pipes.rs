//! Tests of files cut by the pipe or the socket that transports them.

use crate::matrix::golden::{Recipe, parts};
use bloscpack::{Category, Checksum, Decoder, Error};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// The result of reading when the other side sends these bytes and closes the connection.
fn through<R: Read>(
    bytes: &[u8],
    (reader, mut writer): (R, impl Write),
) -> (Vec<u8>, Option<Error>) {
    // All of it fits into what the system keeps.
    writer.write_all(bytes).unwrap();
    drop(writer);
    let mut data = Vec::new();
    let result = Decoder::new(reader).read_to_end(&mut data);
    (data, result.err().map(Error::from))
}

fn tcp(listener: &TcpListener) -> (TcpStream, TcpStream) {
    let writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener.accept().unwrap().0, writer)
}

#[test]
fn what_a_pipe_or_a_socket_cuts_is_told_as_cut() {
    let file = Recipe {
        metadata: true,
        ..Recipe::new(Checksum::Crc32)
    };
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..Recipe::new(Checksum::Adler32)
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for recipe in [file, stream] {
        let (bytes, data) = (recipe.make(), recipe.data());
        assert!(parts(&bytes).len() > 5);
        for cut in 0..=bytes.len() {
            let given = &bytes[..cut];
            let unix = std::os::unix::net::UnixStream::pair().unwrap();
            let found = [
                through(given, std::io::pipe().unwrap()),
                through(given, unix),
                through(given, tcp(&listener)),
            ];
            for (read, error) in found {
                assert!(data.starts_with(&read), "cut at {cut}");
                let told = error.as_ref().map(Error::category);
                let expected = (cut < bytes.len()).then_some(Category::CutShort);
                assert_eq!(told, expected, "cut at {cut}: {error:?}");
                assert!(error.is_none_or(|error| error.position().is_some()));
                assert!(expected.is_some() || read == data);
            }
        }
    }
}
