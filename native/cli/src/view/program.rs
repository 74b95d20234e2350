//! A client of the programs that `kinetoscope attach` controls. `kinetoscope::control` documents the protocol.

use kinetoscope::control::own_default_folder;
use serde_json::Value;
use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a program may take to answer. The end of a recording waits for its file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The variable with the secret of a port.
const SECRET: &str = "KINETOSCOPE_SECRET";

/// The longest answer, in bytes.
const LONGEST: u64 = 64 << 10;

/// What a program is requested to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Status,
    Start,
    Stop,
}

impl Command {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Command::Status => "status",
            Command::Start => "start",
            Command::Stop => "stop",
        }
    }
}

/// The address of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Socket(PathBuf),
    Port(SocketAddr, String),
}

/// The answer of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) pid: u64,
    pub(crate) program: String,
    pub(crate) is_recording: bool,
    pub(crate) file: Option<PathBuf>,
    pub(crate) error: Option<String>,
}

impl Program {
    /// Parses an address: a process id, the path of a socket, the path of a file with a port and its secret, `-` for such a
    /// line on standard input, or a port of a loopback address, whose secret is in the environment.
    pub(crate) fn at(address: &str) -> Result<Program, String> {
        if let Ok(pid) = address.parse::<u32>() {
            let folder = own_default_folder().map_err(|error| error.to_string())?;
            let place = |ending| folder.join(format!("{pid}.{ending}"));
            let [socket, port] = [place("sock"), place("port")];
            return if port.exists() && !socket.exists() {
                from_file(&port)
            } else {
                Ok(Program::Socket(socket))
            };
        }
        if address == "-" {
            return from_line(&mut io::stdin(), "standard input");
        }
        let path = PathBuf::from(address);
        if !path.exists()
            && let Some(program) = at_port(address)?
        {
            return Ok(program);
        }
        if path.is_file() { from_file(&path) } else { Ok(Program::Socket(path)) }
    }

    /// Sends a command and returns the answer. The error has the address, without the secret.
    pub(crate) fn send(&self, command: Command) -> Result<State, String> {
        match self {
            Program::Socket(path) => {
                let error = |error: &dyn Display| format!("{}: {error}", path.display());
                let missing = "; no program listens there: it needs `kinetoscope::control`, and may have a folder of its own";
                let stream = connect(path).map_err(|e| error(&e) + missing)?;
                exchange(stream, "-", command).map_err(|e| error(&e))
            }
            Program::Port(place, secret) => {
                let error = |error: &dyn Display| format!("{place}: {error}");
                let stream = TcpStream::connect_timeout(place, PATIENCE).map_err(|e| error(&e))?;
                let timed = stream.set_read_timeout(Some(PATIENCE));
                timed.map_err(|e| error(&e))?;
                exchange(stream, secret, command).map_err(|e| error(&e))
            }
        }
    }
}

/// The program at a port of a loopback address, if that is what an address is.
fn at_port(address: &str) -> Result<Option<Program>, String> {
    let (place, secret) = address.split_once('/').unwrap_or((address, ""));
    let Some(place) = loopback(place)? else { return Ok(None) };
    if !secret.is_empty() {
        return Err(format!(
            "other users see the arguments of a process: name the file {place} is written in, or put its secret into {SECRET}"
        ));
    }
    let secret = env::var(SECRET).ok().filter(|secret| !secret.is_empty());
    secret.map(|secret| Some(Program::Port(place, secret))).ok_or_else(|| {
        format!("{place} needs its secret: name the file of the program that ends in .port, or set {SECRET}")
    })
}

/// The program whose port and secret are in a file.
fn from_file(path: &Path) -> Result<Program, String> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    from_line(&mut file, &name)
}

/// The program of a line `ADDRESS:PORT/SECRET`.
fn from_line(from: &mut dyn Read, name: &str) -> Result<Program, String> {
    let mut line = String::new();
    from.take(LONGEST).read_to_string(&mut line).map_err(|error| format!("{name}: {error}"))?;
    let wrong = || format!("{name}: a line such as 127.0.0.1:4040/SECRET was expected");
    let (place, secret) = line.trim().split_once('/').ok_or_else(wrong)?;
    Ok(Program::Port(loopback(place)?.ok_or_else(wrong)?, secret.to_owned()))
}

/// The address and the port, if a text is a host with a port.
fn loopback(place: &str) -> Result<Option<SocketAddr>, String> {
    let Some((host, port)) = place.rsplit_once(':') else { return Ok(None) };
    if port.parse::<u16>().is_err() {
        return Ok(None);
    }
    let host = if host.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { host };
    let address = format!("{host}:{port}").parse::<SocketAddr>().ok();
    address
        .filter(|address| address.ip().is_loopback())
        .map(Some)
        .ok_or_else(|| format!("{place}: only loopback addresses are allowed, such as 127.0.0.1:4040"))
}

#[cfg(unix)]
fn connect(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[cfg(not(unix))]
fn connect(_: &Path) -> io::Result<TcpStream> {
    let text = "not an address: a file that ends in .port is needed on this system";
    Err(io::Error::new(ErrorKind::Unsupported, text))
}

fn exchange(mut stream: impl Read + Write, secret: &str, command: Command) -> Result<State, String> {
    if secret.contains(['\n', '\r', ' ']) {
        return Err("the secret is wrong".to_owned());
    }
    stream
        .write_all(format!("{secret} {}\n", command.word()).as_bytes())
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    let answer = Until { stream, end: Instant::now() + PATIENCE };
    BufReader::new(answer.take(LONGEST)).read_line(&mut line).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer within {} s", PATIENCE.as_secs()),
        _ => error.to_string(),
    })?;
    State::parse(&line).ok_or_else(|| "not a program with the control of Kinetoscope".to_owned())
}

/// A stream that can be read until a time.
struct Until<S> {
    stream: S,
    end: Instant,
}

impl<S: Read> Read for Until<S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.end { Err(ErrorKind::TimedOut.into()) } else { self.stream.read(bytes) }
    }
}

impl State {
    fn parse(line: &str) -> Option<State> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let error = text("error");
        if value.get("pid").is_none() && error.is_none() {
            return None;
        }
        Some(State {
            pid: value.get("pid").and_then(Value::as_u64).unwrap_or(0),
            program: text("program").unwrap_or_default(),
            is_recording: value.get("state").and_then(Value::as_str) == Some("recording"),
            file: text("file").map(PathBuf::from),
            error,
        })
    }

    /// One line for a person.
    pub(crate) fn line(&self) -> String {
        let what = if self.is_recording { "recording" } else { "not recording" };
        let file = self.file.as_ref().map(|file| format!(": {}", file.display())).unwrap_or_default();
        format!("{} ({}) is {what}{file}", self.program, self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, Program, State, Until, from_line};
    use std::io::{self, ErrorKind, Read};
    use std::path::PathBuf;
    use std::time::Instant;

    #[test]
    fn addresses_are_sockets_ports_and_process_ids() {
        let port = |text: &str, secret: &str| Program::Port(text.parse().expect("an address"), secret.into());
        let line = |text: &str| from_line(&mut text.as_bytes(), "f");
        assert_eq!(line("127.0.0.1:80/ab\n"), Ok(port("127.0.0.1:80", "ab")));
        assert_eq!(line("localhost:80/ab"), Ok(port("127.0.0.1:80", "ab")));
        assert_eq!(line("[::1]:80/ab"), Ok(port("[::1]:80", "ab")));
        assert!(line("127.0.0.1:80").is_err() && line("").is_err() && line("10.0.0.1:80/ab").is_err());
        assert!(
            Program::at("127.0.0.1:80/ab")
                .is_err_and(|error| error.contains("other users") && !error.contains("ab"))
        );
        for place in ["LOCALHOST:80", "192.168.0.1:80", "example.org:80", "[::2]:80"] {
            let error = Program::at(&format!("{place}/ab")).expect_err("an error");
            assert!(!error.contains("/ab") && !error.contains("listens"), "{error}");
            assert_eq!(error.contains("loopback"), place != "LOCALHOST:80", "{error}");
        }
        assert_eq!(Program::at("/tmp/a.sock"), Ok(Program::Socket(PathBuf::from("/tmp/a.sock"))));
        let Ok(Program::Socket(path)) = Program::at("17") else { panic!("a socket") };
        assert!(path.ends_with("17.sock"));
    }

    #[test]
    fn an_answer_has_a_time_limit_as_a_whole() {
        let late =
            |end| Until { stream: io::repeat(b'x'), end }.read(&mut [0; 8]).map_err(|error| error.kind());
        assert_eq!(late(Instant::now() + PATIENCE), Ok(8));
        assert_eq!(late(Instant::now()), Err(ErrorKind::TimedOut));
    }

    #[test]
    fn answers_of_other_programs_are_refused() {
        assert!(State::parse("HTTP/1.1 400 Bad Request").is_none());
        assert!(State::parse("{}").is_none());
        let state = State::parse(r#"{"pid": 7, "program": "p", "state": "recording", "file": "/f"}"#)
            .expect("a state");
        assert_eq!(state.line(), "p (7) is recording: /f");
    }
}
