//! Servers on the loopback interface: S3 by `s3s-fs`, and plain HTTP with ranges.

use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

pub const KEY: &str = "someaccesskey";
pub const SECRET: &str = "some-very-secret-key";

/// Serves the folders in `root` as buckets, and returns the endpoint. It runs until the process ends.
pub fn s3(root: &Path) -> String {
    let (send, receive) = mpsc::channel();
    let files = s3s_fs::FileSystem::new(root).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let mut builder = S3ServiceBuilder::new(files);
            builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
            let service = builder.build();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let io = hyper_util::rt::TokioIo::new(socket);
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection.serve_connection(io, service).await;
                });
            }
        });
    });
    format!("http://{}", receive.recv().unwrap())
}

/// A fault of an answer of a web server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// 500.
    Broken,
    /// 503, with the request to come again at once.
    Busy,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The body comes in two parts, with a pause.
    Slow,
    /// The tag of another version, with other bytes of the same length.
    Changed,
    /// Fewer bytes than were asked for, and a range that says so.
    ShortRange,
    /// A length of the object that is not that of the others.
    OtherLength,
    /// The connection is closed before anything comes.
    Silent,
}

pub const WRONG: [Wrong; 8] = [
    Wrong::Broken,
    Wrong::Busy,
    Wrong::Cut,
    Wrong::Slow,
    Wrong::Changed,
    Wrong::ShortRange,
    Wrong::OtherLength,
    Wrong::Silent,
];

/// The requests that a web server has had, and which of them is answered wrongly, perhaps with all that follow.
#[derive(Debug, Default)]
pub struct Requests {
    pub count: usize,
    pub wrong: Option<(usize, bool, Wrong)>,
    /// Whether it says of what is not there that this is forbidden, as public buckets do.
    pub forbids_missing: bool,
    /// Whether it sends all of a file, whatever range is asked for, as the simplest servers do.
    pub has_no_ranges: bool,
}

/// Serves the files in `root`, without listings, and returns the URL. It runs until the process ends.
pub fn http(root: &Path) -> String {
    http_with(root, Arc::default())
}

/// The same, with answers that are wrong.
pub fn http_with(root: &Path, requests: Arc<Mutex<Requests>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let root = root.to_owned();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (root, requests) = (root.clone(), Arc::clone(&requests));
            // A client that has gone is no trouble.
            thread::spawn(move || serve(&socket.unwrap(), &root, &requests));
        }
    });
    format!("http://{address}")
}

/// The lines of a request; nothing at the end of the connection.
fn request(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(1..) => {}
            _ => return None,
        }
        match line.trim_end() {
            "" => return Some(lines),
            line => lines.push(line.to_owned()),
        }
    }
}

/// Answers the requests of a connection.
fn serve(mut socket: &TcpStream, root: &Path, requests: &Mutex<Requests>) -> Option<()> {
    let mut reader = BufReader::new(socket);
    loop {
        let lines = request(&mut reader)?;
        let mut words = lines[0].split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let header = |name: &str| {
            let found = lines.iter().filter_map(|line| line.split_once(": "));
            let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.to_owned())
        };
        let (missing, has_ranges) = {
            let requests = requests.lock().unwrap();
            let missing = match requests.forbids_missing {
                true => "403 Forbidden",
                false => "404 Not Found",
            };
            (missing, !requests.has_no_ranges)
        };
        let wrong = {
            let mut requests = requests.lock().unwrap();
            let number = requests.count;
            requests.count += 1;
            let wrong = requests.wrong;
            wrong
                .filter(|(at, goes_on, _)| *at == number || (*goes_on && *at < number))
                .map(|(.., wrong)| wrong)
        };
        let file = file_of(root, path);
        let range = header("range").filter(|_| has_ranges);
        let answer = answer(&file, range, header("if-match"), wrong);
        let (status, fields, body) = answer.unwrap_or((missing, String::new(), Vec::new()));
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n",
            body.len()
        );
        let body = if method == "HEAD" {
            &[]
        } else {
            body.as_slice()
        };
        let (first, rest) = body.split_at(body.len() / 2);
        match wrong {
            Some(Wrong::Silent) => return None,
            Some(Wrong::Cut) => {
                socket.write_all(&[head.as_bytes(), first].concat()).ok()?;
                return None;
            }
            Some(Wrong::Slow) => {
                socket.write_all(&[head.as_bytes(), first].concat()).ok()?;
                thread::sleep(Duration::from_millis(100));
                socket.write_all(rest).ok()?;
            }
            _ => socket.write_all(&[head.as_bytes(), body].concat()).ok()?,
        }
    }
}

/// Percents and all.
fn file_of(root: &Path, path: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, after @ ..] = rest {
        match (first, after) {
            (b'%', [a, b, after @ ..]) => {
                let text = [*a, *b];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&text).unwrap(), 16).unwrap());
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let path = String::from_utf8(bytes).unwrap();
    root.join(path.split('?').next().unwrap().trim_start_matches('/'))
}

type Answer = (&'static str, String, Vec<u8>);

fn answer(
    file: &Path,
    range: Option<String>,
    if_match: Option<String>,
    wrong: Option<Wrong>,
) -> Option<Answer> {
    match wrong {
        Some(Wrong::Broken) => {
            return Some(("500 Internal Server Error", String::new(), Vec::new()));
        }
        Some(Wrong::Busy) => {
            return Some((
                "503 Service Unavailable",
                "Retry-After: 0\r\n".to_owned(),
                Vec::new(),
            ));
        }
        _ => {}
    }
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
    let tag = match wrong {
        Some(Wrong::Changed) => "\"another\"".to_owned(),
        _ => format!("\"{}-{:?}\"", metadata.len(), metadata.modified().unwrap()),
    };
    let tag = tag.replace(' ', "");
    let time = "Tue, 24 Nov 2026 08:00:00 GMT";
    let fields = format!("ETag: {tag}\r\nAccept-Ranges: bytes\r\nLast-Modified: {time}\r\n");
    if wrong != Some(Wrong::Changed) && if_match.is_some_and(|wanted| wanted != tag) {
        return Some(("412 Precondition Failed", fields, Vec::new()));
    }
    let mut body = std::fs::read(file).unwrap();
    if wrong == Some(Wrong::Changed) {
        body.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let Some(range) = range else {
        return Some(("200 OK", fields, body));
    };
    let (from, to) = range
        .strip_prefix("bytes=")
        .unwrap()
        .split_once('-')
        .unwrap();
    let all = body.len();
    let (from, to) = match from {
        "" => (all.saturating_sub(to.parse().unwrap()), ""),
        from => (from.parse().unwrap(), to),
    };
    if from >= all {
        let fields = format!("{fields}Content-Range: bytes */{all}\r\n");
        return Some(("416 Range Not Satisfiable", fields, Vec::new()));
    }
    let mut to = to.parse().map_or(all, |to: usize| (to + 1).min(all));
    if wrong == Some(Wrong::ShortRange) {
        to = from + (to - from).div_ceil(2);
    }
    let all = if wrong == Some(Wrong::OtherLength) {
        all + 1
    } else {
        all
    };
    let fields = format!("{fields}Content-Range: bytes {from}-{}/{all}\r\n", to - 1);
    Some(("206 Partial Content", fields, body[from..to].to_vec()))
}
