//! Both ends of a connection: TCP on this machine, or a pair of Unix sockets.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Only what hangs takes so long.
const PATIENCE: Duration = testkit::stopwatch::HANG;

#[derive(Debug)]
pub enum Wire {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Wire {
    /// Ours and the peer's.
    pub fn pair(is_unix: bool) -> (Self, Self) {
        let (near, far) = if is_unix {
            let (near, far) = UnixStream::pair().unwrap();
            (Self::Unix(near), Self::Unix(far))
        } else {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (far, _) = listener.accept().unwrap();
            // Each write of the peer is on its way at once.
            far.set_nodelay(true).unwrap();
            (Self::Tcp(near), Self::Tcp(far))
        };
        near.set_patience(Some(PATIENCE));
        far.set_patience(Some(PATIENCE));
        (near, far)
    }

    /// How long a read or a write may take.
    pub fn set_patience(&self, patience: Option<Duration>) {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(patience).unwrap();
                stream.set_write_timeout(patience).unwrap();
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(patience).unwrap();
                stream.set_write_timeout(patience).unwrap();
            }
        }
    }

    /// The other end may have gone already.
    pub fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
