//! A folder to work in, a run of the command, and its result.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use assert_cmd::Command;
use tempfile::TempDir;

/// The binary under test.
pub const BLPK: &str = env!("CARGO_BIN_EXE_blpk");

/// A folder of its own for each test.
pub struct Folder {
    dir: TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// All names in the folder: litter shows here.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The command, in this folder, with nothing of the environment that matters to it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(BLPK);
        command.current_dir(self.dir.path());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs it with an empty standard input.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        self.run_with(args, [])
    }

    /// Runs it with `input` through a pipe as standard input.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: impl AsRef<[u8]>,
    ) -> Ran {
        let mut command = self.command();
        command.args(args).write_stdin(input.as_ref());
        command.output().unwrap().into()
    }

    /// Compresses `plain` and gives the file's bytes; the folder stays as it was.
    pub fn compressed(&self, options: &[&str], plain: &[u8]) -> Vec<u8> {
        let inner = Self::new();
        inner.write("plain", plain);
        let args = [&["compress", "plain"], options].concat();
        inner.run(&args).succeeded();
        inner.read("plain.blp")
    }

    /// The same with metadata out of a file of this folder.
    pub fn compressed_with_metadata(&self, metadata: &str, plain: &[u8]) -> Vec<u8> {
        let path = self.path(metadata);
        self.compressed(&["-m", path.to_str().unwrap()], plain)
    }
}

/// The status as a shell reports it: a process that a signal ended has none of its own.
pub fn shell_status(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap()
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            status: shell_status(output.status),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Status 0 and not a word on standard error.
    #[track_caller]
    pub fn succeeded(self) -> Vec<u8> {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""));
        self.stdout
    }

    /// A certain status, and an error message that contains `words`.
    #[track_caller]
    pub fn failed(self, status: i32, words: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.stderr);
        let stderr = &self.stderr;
        assert!(stderr.contains("error: "), "{stderr}");
        assert!(stderr.contains(words), "{words} is not in: {stderr}");
        self
    }

    /// A certain status.
    #[track_caller]
    pub fn status_is(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}", self.stderr);
        self
    }

    /// Status 0, and a warning that contains `words`.
    #[track_caller]
    pub fn warned(self, words: &str) -> Vec<u8> {
        assert_eq!(self.status, 0, "{}", self.stderr);
        let stderr = &self.stderr;
        assert!(stderr.contains("blpk: warning: "), "{stderr}");
        assert!(stderr.contains(words), "{words} is not in: {stderr}");
        self.stdout
    }

    /// Status 0, and a note that contains `words`.
    #[track_caller]
    pub fn noted(self, words: &str) -> Vec<u8> {
        assert_eq!(self.status, 0, "{}", self.stderr);
        let stderr = &self.stderr;
        assert!(stderr.starts_with("blpk: "), "{stderr}");
        assert!(stderr.contains(words), "{words} is not in: {stderr}");
        self.stdout
    }

    pub fn text_lossy(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }
}

/// Numbers that compress well: `len` bytes.
pub fn ramp(len: usize) -> Vec<u8> {
    let numbers = (0_u64..).flat_map(|n| (n * 3).to_le_bytes());
    numbers.take(len).collect()
}

/// Bytes that do not compress (xorshift).
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let numbers = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    numbers.flatten().take(len).collect()
}

/// The fields of a header of layout V2 or V3, by the byte positions of the format.
#[derive(Debug, PartialEq, Eq)]
pub struct Fields {
    pub version: u8,
    pub options: u8,
    pub checksum: u8,
    pub typesize: u8,
    pub chunk_size: i32,
    pub last_chunk: i32,
    pub nchunks: i64,
    pub max_app_chunks: i64,
}

/// Takes the first 32 bytes apart.
pub fn fields(file: &[u8]) -> Fields {
    assert_eq!(&file[..4], b"blpk");
    Fields {
        version: file[4],
        options: file[5],
        checksum: file[6],
        typesize: file[7],
        chunk_size: i32::from_le_bytes(file[8..12].try_into().unwrap()),
        last_chunk: i32::from_le_bytes(file[12..16].try_into().unwrap()),
        nchunks: i64::from_le_bytes(file[16..24].try_into().unwrap()),
        max_app_chunks: i64::from_le_bytes(file[24..32].try_into().unwrap()),
    }
}

/// The headers of all chunks of a V3 file without metadata, whose digests have this length.
pub fn chunk_headers(file: &[u8], digest_len: usize) -> Vec<[u8; 16]> {
    let header = fields(file);
    let entries = match header.options & OFFSETS {
        0 => 0,
        _ => header.nchunks + header.max_app_chunks,
    };
    let mut at = 32 + 8 * usize::try_from(entries).unwrap();
    let mut headers = Vec::new();
    for _ in 0..header.nchunks {
        let chunk: [u8; 16] = file[at..at + 16].try_into().unwrap();
        let len = u32::from_le_bytes(chunk[12..16].try_into().unwrap());
        headers.push(chunk);
        at += usize::try_from(len).unwrap() + digest_len;
    }
    assert_eq!(at, file.len());
    headers
}

/// The offset bit of the options.
pub const OFFSETS: u8 = 1;

/// The program with SIGINT, SIGTERM and SIGHUP as a terminal starts it: the tests may have begun with these ignored, as under
/// `nohup` or in the background of a script, and a program inherits that.
#[cfg(unix)]
pub fn with_default_signals(program: &str) -> std::process::Command {
    if cfg!(not(target_os = "linux")) {
        return std::process::Command::new(program);
    }
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// Polls until there is an answer, for two minutes: that long only something that hangs takes.
#[cfg(unix)]
pub fn wait_for<T>(mut answer: impl FnMut() -> Option<T>) -> T {
    for _ in 0..12_000 {
        if let Some(answer) = answer() {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited in vain");
}
