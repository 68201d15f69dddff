//! Mistakes of users: each error names the URL without secrets, and what to do.

use crate::servers;
use bloscpack_remote::{Remote, RemoteOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

fn s3_options(endpoint: &str) -> RemoteOptions {
    let options = RemoteOptions::new()
        .environment(false)
        .retries(1, std::time::Duration::from_secs(5));
    options
        .set("endpoint", endpoint)
        .set("allow_http", "true")
        .set("access_key_id", servers::KEY)
        .set("secret_access_key", servers::SECRET)
}

/// The error of opening a URL.
fn error(options: RemoteOptions, url: &str) -> String {
    let remote = Remote::new(options).unwrap();
    let error = remote.find(url).unwrap_err().to_string();
    println!("{error}");
    for secret in [servers::SECRET, "X-Amz-Signature=", "pa55word"] {
        assert!(!error.contains(secret), "{error}");
    }
    error
}

/// A server that gives every request this answer.
fn answering(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn of_a_bucket() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bucket")).unwrap();
    std::fs::write(
        folder.path().join("bucket/file.blp"),
        bloscpack::compress(b"content").unwrap(),
    )
    .unwrap();
    let endpoint = servers::s3(folder.path());
    let right = || s3_options(&endpoint);
    assert!(
        Remote::new(right())
            .unwrap()
            .find("s3://bucket/file.blp")
            .is_ok()
    );
    for (options, url, parts) in [
        (
            right(),
            "s3://bucket/nothing.blp",
            [
                "s3://bucket/nothing.blp: there is no such object",
                "check the path",
            ],
        ),
        (
            right(),
            "s3://bucket/none/",
            [
                "s3://bucket/none/: there is no such object",
                "check the path",
            ],
        ),
        (
            right(),
            "s3://wrong/file.blp",
            ["s3://wrong/file.blp: there is no such", "check its name"],
        ),
        (
            right().set("access_key_id", "another"),
            "s3://bucket/file.blp",
            ["s3://bucket/file.blp", "AWS_ACCESS_KEY_ID"],
        ),
        (
            right().set("secret_access_key", "wrong-pa55word"),
            "s3://bucket/file.blp",
            ["s3://bucket/file.blp", "AWS_SECRET_ACCESS_KEY"],
        ),
        (
            right().set("allow_http", "false"),
            "s3://bucket/file.blp",
            ["s3://bucket/file.blp", "allow_http=true"],
        ),
        (
            right().set("regoin", "x"),
            "s3://bucket/file.blp",
            ["there is no such option", "regoin"],
        ),
        (
            right().set("endpoint", "http://127.0.0.1:1"),
            "s3://bucket/file.blp",
            ["no server answers", "check host"],
        ),
        (
            right().set("endpoint", endpoint.replace("http://", "https://")),
            "s3://bucket/file.blp",
            ["does not speak https", "http://"],
        ),
    ] {
        let error = error(options, url);
        assert!(
            parts.iter().all(|part| error.contains(part)),
            "{error}: {parts:?}"
        );
    }
    let error = error(
        RemoteOptions::new().environment(false),
        "s3://bucket/file.blp",
    );
    assert!(
        error.contains("no credentials") && error.contains("AWS_ACCESS_KEY_ID"),
        "{error}"
    );
}

#[test]
fn of_answers() {
    const DENIED: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 82\r\nConnection: close\r\n\r\n\
        <Error><Code>AccessDenied</Code><Message>not for you: pa55wor</Message></Error>  \n";
    const EXPIRED: &str = "HTTP/1.1 400 Bad Request\r\nContent-Length: 64\r\nConnection: close\r\n\r\n\
        <Error><Code>ExpiredToken</Code><Message>late</Message></Error> ";
    const ELSEWHERE: &str =
        "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\ncontent";
    const BROKEN: &str =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (answer, part) in [
        (DENIED, "the permission to get and to list"),
        (EXPIRED, "the credentials have expired"),
        (ELSEWHERE, "set region="),
        (BROKEN, "try again"),
    ] {
        let error = error(s3_options(&answering(answer)), "s3://bucket/file.blp");
        assert!(
            error.contains("s3://bucket/file.blp") && error.contains(part),
            "{error}"
        );
    }
    let options = || RemoteOptions::new().retries(0, std::time::Duration::from_secs(1));
    let url = answering(WHOLE).replace("http://", "http://me:pa55word@");
    let error = error(options(), &format!("{url}/file.blp?X-Amz-Signature=abcdef"));
    assert!(
        error.contains("does not answer with ranges") && error.contains("download"),
        "{error}"
    );
}
