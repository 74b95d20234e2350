//! Runs a check in a process of its own.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A check that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a check, prints its outcome, and returns whether it passed.
pub(crate) fn passes(name: &str, folder: &Path) -> bool {
    let start = Instant::now();
    let (passed, text) = match run(name, folder) {
        Ok(outcome) => outcome,
        Err(error) => (false, format!("the check cannot run: {error}")),
    };
    let mark = if passed { "ok    " } else { "FAILED" };
    println!("{mark}  {name} ({:.1} s): {}", start.elapsed().as_secs_f64(), text.trim());
    passed
}

fn run(name: &str, folder: &Path) -> io::Result<(bool, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg(folder).arg(name).stdout(Stdio::piped()).spawn()?;
    let Some(success) = wait(&mut child)? else {
        child.kill()?;
        child.wait()?;
        return Ok((false, format!("it did not end within {} s", LIMIT.as_secs())));
    };
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text)?;
    }
    Ok((success, text))
}

/// Waits until the process ends; `None` if it runs into the limit. What a check prints fits into the pipe.
fn wait(child: &mut Child) -> io::Result<Option<bool>> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(None)
}
