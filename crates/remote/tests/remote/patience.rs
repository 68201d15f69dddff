//! Servers that never answer well: each ends in an error after a known number of requests, and nothing is asked for twice that
//! will not change.

use bloscpack::storage::ReadAt as _;
use bloscpack_open::Options;
use bloscpack_remote::{Remote, RemoteOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How an object is answered for.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As it should be.
    Well,
    /// The right head, some bytes one after the other, and then the connection is closed.
    Drips,
    /// The right head and some bytes, and nothing more.
    Stops,
    /// The connection is closed before anything comes.
    Closes,
    /// A status without a body, and perhaps another line of the head.
    Says(&'static str, &'static str),
    /// A range that was not asked for.
    OtherRange,
    /// The first answer is cut, and what is asked for then comes from another place.
    CutThenElsewhere,
    /// All of it.
    Whole,
}

/// What was asked for: method, path, and the first byte.
type Asked = Vec<(String, String, usize)>;

/// The length of all objects.
const LEN: usize = 1 << 20;

fn content(at: usize) -> u8 {
    (at % 251) as u8
}

/// Serves objects that are answered for in one way up to a position, and in another after it.
fn serve(first: Way, later: Way) -> (String, Arc<Mutex<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (
        listener.local_addr().unwrap(),
        Arc::<Mutex<Asked>>::default(),
    );
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let seen = Arc::clone(&seen);
            thread::spawn(move || {
                let socket = socket.unwrap();
                let mut lines = BufReader::new(&socket).lines().map_while(Result::ok);
                while let Some(line) = lines.next() {
                    let mut words = line.split(' ').map(str::to_owned);
                    let (method, path) = (words.next().unwrap(), words.next().unwrap());
                    let head = lines.by_ref().take_while(|line| !line.is_empty());
                    let range = head.map(|line| line.to_ascii_lowercase());
                    let range = range.filter_map(|line| {
                        let range = line.strip_prefix("range: bytes=")?.split_once('-')?;
                        let end = range.1.parse::<usize>().ok();
                        Some(match range.0.parse() {
                            Ok(start) => (start, end.map_or(LEN, |end| (end + 1).min(LEN))),
                            Err(_) => (LEN - end?, LEN),
                        })
                    });
                    let (start, end) = range.last().unwrap_or((0, LEN));
                    seen.lock().unwrap().push((method.clone(), path, start));
                    let way = if start < LEN / 2 { first } else { later };
                    // A client that has gone is no trouble.
                    if answer(&socket, way, &method, start, end).is_none() {
                        return;
                    }
                }
            });
        }
    });
    (format!("http://{address}"), asked)
}

/// Answers a request; `None` closes the connection.
fn answer(mut socket: &TcpStream, way: Way, method: &str, start: usize, end: usize) -> Option<()> {
    let head = |status: &str, start: usize, end: usize| {
        let last = end - 1;
        format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{last}/{LEN}\r\nETag: \"1\"\r\n\r\n",
            end - start
        )
    };
    let body = |start: usize, end: usize| (start..end).map(content).collect::<Vec<u8>>();
    let mut send = |bytes: &[u8]| socket.write_all(bytes).ok();
    let partial = "206 Partial Content";
    match way {
        _ if method == "HEAD" => send(head("200 OK", 0, LEN).as_bytes()),
        Way::Well => send(&[head(partial, start, end).as_bytes(), &body(start, end)].concat()),
        Way::Drips => {
            send(head(partial, start, end).as_bytes())?;
            for at in start..start + 3 {
                send(&body(at, at + 1))?;
                thread::sleep(Duration::from_millis(5));
            }
            None
        }
        Way::Stops => {
            send(
                &[
                    head(partial, start, end).as_bytes(),
                    &body(start, start + 3),
                ]
                .concat(),
            )?;
            // Until the client goes.
            BufReader::new(socket).lines().next();
            None
        }
        Way::Closes => None,
        Way::Says(status, line) => {
            send(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n{line}\r\n").as_bytes())
        }
        Way::OtherRange => send(
            &[
                head(partial, start + 1, end).as_bytes(),
                &body(start + 1, end),
            ]
            .concat(),
        ),
        Way::CutThenElsewhere if start == 0 => {
            send(&[head(partial, start, end).as_bytes(), &body(start, 1000)].concat())?;
            None
        }
        Way::CutThenElsewhere => {
            let (start, end) = (start + 7, end + 7);
            send(&[head(partial, start, end).as_bytes(), &body(start, end)].concat())
        }
        Way::Whole => send(&[head("200 OK", 0, LEN).as_bytes(), &body(0, LEN)].concat()),
    }
}

/// Three repetitions. The pauses of a server that is asked again, and of an operation that was given up, take no part here.
fn remote() -> Remote {
    let options = RemoteOptions::new().retries(3, Duration::from_secs(600));
    Remote::new(options.set("timeout", "1 second")).unwrap()
}

/// Opens a URL of a server like this, and returns the error and what was asked for.
fn opened(way: Way, name: &str) -> (String, Asked) {
    let (url, asked) = serve(way, way);
    let opened = remote().open(&format!("{url}/{name}"), &Options::new());
    let error = opened.map(drop).unwrap_err().to_string();
    let asked = asked.lock().unwrap().clone();
    println!("{way:?}, {name}: {error}\n{asked:?}");
    assert!(error.contains(&format!("/{name}")), "{error}");
    (error, asked)
}

#[test]
fn a_server_that_fails_is_asked_again_as_often_as_promised() {
    for way in [
        Way::Drips,
        Way::Stops,
        Way::Closes,
        Way::Says("500 Internal Server Error", ""),
        Way::Says("503 Service Unavailable", ""),
        Way::Says("429 Too Many Requests", ""),
    ] {
        for name in ["file.blp", "file", "dataset"] {
            assert_eq!(opened(way, name).1.len(), 4, "{way:?}, {name}");
        }
        // The beginning of a frame and its end, which are asked for at once.
        assert!(opened(way, "cube.b2nd").1.len() <= 8, "{way:?}");
        let (error, asked) = opened(way, "dataset/");
        // The files that datasets have, at once.
        assert!(asked.len() <= 4 * 13, "{way:?}: {error}: {}", asked.len());
    }
}

#[test]
fn an_answer_that_will_not_change_is_asked_for_once() {
    for (way, part) in [
        (Way::Says("416 Range Not Satisfiable", ""), "416"),
        (Way::Says("400 Bad Request", ""), "400"),
        (Way::Says("403 Forbidden", ""), "access is denied"),
        (Way::Says("401 Unauthorized", ""), "credentials"),
        (Way::OtherRange, "answers with another range"),
        (
            Way::Says("302 Found", "Location: file:///etc/passwd\r\n"),
            "leads to where nothing can be read",
        ),
        (
            Way::Says("302 Found", "Location: ftp://127.0.0.1/file\r\n"),
            "leads to where nothing can be read",
        ),
        (Way::Says("302 Found", ""), "without LOCATION"),
    ] {
        for name in ["file.blp", "file"] {
            let (error, asked) = opened(way, name);
            assert!(error.contains(part), "{error}");
            let gets = asked.iter().filter(|(method, ..)| method == "GET").count();
            // Whether it is empty is looked up where a range is refused.
            let is_refused = part == "416";
            // A server that forbids what is not there may have a folder of this name.
            let below = if part == "access is denied" && name == "file" {
                13
            } else {
                0
            };
            let found = (gets - below, asked.len() - below);
            assert_eq!(found, (1, 1 + usize::from(is_refused)));
        }
    }
    // Ten steps are followed.
    let (error, asked) = opened(Way::Says("302 Found", "Location: /file\r\n"), "file");
    assert!(
        error.contains("leads to where nothing can be read"),
        "{error}"
    );
    assert_eq!(asked.len(), 11);
    // There may be a folder: each of the files that datasets have is asked for, too.
    for (way, part) in [
        (Way::Says("404 Not Found", ""), "there is no such object"),
        (Way::Whole, "does not answer with ranges"),
    ] {
        let (error, mut asked) = opened(way, "file");
        assert!(error.contains(part), "{error}");
        asked.sort();
        asked.dedup();
        assert_eq!(asked.len(), 14, "{way:?}");
    }
    // Each file of a folder is then asked for whole. All are there, whatever the name: this is no folder.
    let (_, asked) = opened(Way::Whole, "file");
    assert_eq!(asked.len(), 1 + 2 * 13);
}

/// What was read stays, and each object fails for itself.
#[test]
fn a_part_that_cannot_be_read_is_not_asked_for_again_and_again() {
    for (way, requests) in [
        (Way::Drips, 4),
        (Way::Says("500 Internal Server Error", ""), 4),
        (Way::Says("403 Forbidden", ""), 1),
        (Way::OtherRange, 1),
        (
            Way::Says("302 Found", "Location: file:///etc/passwd\r\n"),
            1,
        ),
    ] {
        let (url, asked) = serve(Way::Well, way);
        let object = remote().object(&format!("{url}/file")).unwrap();
        let mut part = [0; 1000];
        object.read_exact_at(1000, &mut part).unwrap();
        assert!(
            part.iter()
                .enumerate()
                .all(|(at, byte)| *byte == content(1000 + at))
        );
        let before = asked.lock().unwrap().len();
        for _ in 0..20 {
            object.read_exact_at(LEN as u64 / 2, &mut part).unwrap_err();
            object
                .read_exact_at(LEN as u64 - 1000, &mut part)
                .unwrap_err();
        }
        object.read_exact_at(1000, &mut part).unwrap();
        let after = asked.lock().unwrap().len();
        // As much is fetched ahead at the same time.
        let found = after - before;
        assert!(
            (requests..=2 * requests).contains(&found),
            "{way:?}: {found}"
        );
    }
}

/// The rest of an answer that was cut is no other part of the object.
#[test]
fn what_is_asked_for_again_is_the_same() {
    let (url, asked) = serve(Way::CutThenElsewhere, Way::Well);
    let opened = remote().object(&format!("{url}/file"));
    let error = opened.map(drop).unwrap_err().to_string();
    assert!(error.contains("answers with another range"), "{error}");
    let starts: Vec<usize> = asked.lock().unwrap().iter().map(|asked| asked.2).collect();
    assert_eq!(starts, [0, 1000]);
}

/// A server for S3 that fails on its own is asked for an object and for a listing; otherwise only for what may be there.
#[test]
fn a_bucket_is_asked_no_more_often() {
    for (way, most) in [
        (Way::Closes, 4),
        (Way::Says("503 Slow Down", ""), 4),
        (Way::Says("500 Internal Server Error", ""), 8),
        (Way::Says("403 Forbidden", ""), 1),
        (Way::OtherRange, 2),
    ] {
        let (url, asked) = serve(way, way);
        let options = RemoteOptions::new()
            .environment(false)
            .retries(3, Duration::from_secs(600))
            .set("endpoint", url)
            .set("allow_http", "true")
            .set("access_key_id", "key")
            .set("secret_access_key", "secret");
        let remote = Remote::new(options).unwrap();
        let opened = remote.open("s3://bucket/file.blp", &Options::new());
        let error = opened.map(drop).unwrap_err();
        let count = asked.lock().unwrap().len();
        assert!(count <= most, "{way:?}: {count} requests: {error}");
    }
}

/// After the pause a server is asked again.
#[test]
fn an_object_is_not_given_up_for_ever() {
    let (url, asked) = serve(Way::Well, Way::Says("500 Internal Server Error", ""));
    let options = RemoteOptions::new().retries(0, Duration::ZERO);
    let object = Remote::new(options).unwrap().object(&format!("{url}/file"));
    let object = object.unwrap();
    for number in 1..4 {
        object
            .read_exact_at(LEN as u64 / 2, &mut [0; 10])
            .unwrap_err();
        assert_eq!(asked.lock().unwrap().len(), 1 + number);
    }
}
