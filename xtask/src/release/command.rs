//! Installs the command line from its package, runs it, and checks that it serves the page.

use super::crates::Package;
use super::{Row, projects};
use crate::shell::{Failure, cargo, root, run};
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "kinetoscope-cli";

const TRACE: &str = "tests/data/healthy/small_gpu_trace.json";

/// The read timeout for a response of the page's server.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Installs the package, and runs the command on a trace of the tests and on the recording of the recorder's project.
pub(super) fn install(place: &Path, packages: &[Package]) -> Result<Row, Failure> {
    let package =
        packages.iter().find(|package| package.name == NAME).ok_or("kinetoscope-cli was not packaged")?;
    let mut install = cargo(&["install", "--quiet", "--debug", "--no-track", "--path"]);
    install.arg(&package.folder).arg("--root").arg(place.join("installed"));
    install.arg("--target-dir").arg(place.join("build").join(NAME));
    let start = Instant::now();
    run(&mut install)?;
    let seconds = start.elapsed().as_secs_f64();
    let program = place.join("installed/bin").join(format!("kinetoscope{EXE_SUFFIX}"));
    let trace = root().join(TRACE);
    expect_names(&program, &trace, "aten::")?;
    expect_names(&program, &projects::recording(place), "work")?;
    view(&program, &trace, &package.folder.join("page/kinetoscope.html"))?;
    let dependencies = projects::dependencies(&package.folder, NAME)?.len();
    Ok(Row { name: NAME.to_owned(), files: package.files, bytes: package.bytes, dependencies, seconds })
}

fn expect_names(program: &Path, trace: &Path, expected: &str) -> Result<(), Failure> {
    let output = Command::new(program).arg("names").arg(trace).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains(expected) {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("kinetoscope names {}: no `{expected}` in {text}{error}", trace.display()))
}

/// Compares the page and the trace that `kinetoscope view` serves with the files, byte by byte.
fn view(program: &Path, trace: &Path, page: &Path) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.args(["view", "--no-open"]).arg(trace).stdout(Stdio::piped());
    let mut server = command.spawn().map_err(|e| format!("{command:?}: {e}"))?;
    let result = fetch_both(&mut server, trace, page);
    let _ = server.kill();
    let _ = server.wait();
    result
}

fn fetch_both(server: &mut Child, trace: &Path, page: &Path) -> Result<(), Failure> {
    let mut line = String::new();
    let output = server.stdout.take().ok_or("the server has no output")?;
    BufReader::new(output).read_line(&mut line).map_err(|e| e.to_string())?;
    let url =
        line.trim().strip_prefix("http://").ok_or_else(|| format!("kinetoscope view printed `{line}`"))?;
    let (host, path) = url.split_once('/').ok_or("no path in the address")?;
    let (folder, query) = path.split_once("?trace=").ok_or("no trace in the address")?;
    for (path, file) in [(folder.to_owned(), page), (format!("{folder}{query}"), trace)] {
        let body = fetch(host, &path).map_err(|e| format!("http://{host}/{path}: {e}"))?;
        let expected = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        if body != expected {
            return Err(format!("kinetoscope view serves other content than {}", file.display()));
        }
    }
    Ok(())
}

/// Returns the body of a response.
fn fetch(host: &str, path: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    Ok(end.map_or_else(Vec::new, |end| response.split_off(end + 4)))
}
