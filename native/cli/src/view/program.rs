//! A client of the programs that `kinetoscope attach` controls. `kinetoscope::control` documents the protocol.

use kinetoscope::control::default_folder;
use serde_json::Value;
use std::fmt::Display;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// How long a program may take to answer. The end of a recording waits for its file.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Parses an address: a process id, the path of a socket, or `ADDRESS:PORT/SECRET` with a loopback address.
    pub(crate) fn at(address: &str) -> Result<Program, String> {
        if address.parse::<SocketAddr>().is_ok() {
            return Err(format!("{address} lacks the secret: the address is {address}/SECRET"));
        }
        if let Ok(pid) = address.parse::<u32>() {
            return Ok(Program::Socket(default_folder().join(format!("{pid}.sock"))));
        }
        if let Some((place, secret)) = address.split_once('/')
            && let Ok(place) = place.replace("localhost", "127.0.0.1").parse::<SocketAddr>()
        {
            let is_local = place.ip().is_loopback();
            return if is_local {
                Ok(Program::Port(place, secret.to_owned()))
            } else {
                Err(format!("{place} is not on this machine: only loopback addresses are allowed"))
            };
        }
        Ok(Program::Socket(PathBuf::from(address)))
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

#[cfg(unix)]
fn connect(path: &std::path::Path) -> std::io::Result<std::os::unix::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[cfg(not(unix))]
fn connect(_: &std::path::Path) -> std::io::Result<TcpStream> {
    let text = "not an address: 127.0.0.1:PORT/SECRET is needed on this system";
    Err(std::io::Error::new(ErrorKind::Unsupported, text))
}

fn exchange(mut stream: impl Read + Write, secret: &str, command: Command) -> Result<State, String> {
    if secret.contains(['\n', '\r', ' ']) {
        return Err("the secret is wrong".to_owned());
    }
    stream
        .write_all(format!("{secret} {}\n", command.word()).as_bytes())
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer within {} s", PATIENCE.as_secs()),
        _ => error.to_string(),
    })?;
    State::parse(&line).ok_or_else(|| "not a program with the control of Kinetoscope".to_owned())
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
    use super::{Program, State};
    use std::path::PathBuf;

    #[test]
    fn addresses_are_sockets_ports_and_process_ids() {
        let port = |text: &str, secret: &str| Program::Port(text.parse().expect("an address"), secret.into());
        assert_eq!(Program::at("127.0.0.1:80/ab"), Ok(port("127.0.0.1:80", "ab")));
        assert_eq!(Program::at("localhost:80/ab"), Ok(port("127.0.0.1:80", "ab")));
        assert_eq!(Program::at("[::1]:80/ab"), Ok(port("[::1]:80", "ab")));
        assert!(Program::at("192.168.0.1:80/ab").is_err_and(|error| error.contains("loopback")));
        assert_eq!(Program::at("/tmp/a.sock"), Ok(Program::Socket(PathBuf::from("/tmp/a.sock"))));
        let Ok(Program::Socket(path)) = Program::at("17") else { panic!("a socket") };
        assert!(path.ends_with("17.sock"));
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
