//! The page in a browser: `kinetoscope view` for traces and for a recording that is being written, `kinetoscope attach` for a
//! running program.

mod live;
mod program;
mod server;

use crate::args;
use crate::failure::{Failure, report};
use clap::ArgMatches;
use kinetoscope::files::{Source, sources};
use kinetoscope_core::base::escape;
use live::Live;
use program::{Command, Program};
use server::{Content, require_page, serve};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// `kinetoscope view`.
pub(crate) fn view(matches: &ArgMatches) -> Result<u8, Failure> {
    let content = if matches.get_flag("follow") {
        let file = one_file(&args::traces_of(matches))?;
        Content::Live(Live::from_file(&file, keep(matches)?)?.shared())
    } else {
        let sources = sources(&args::traces_of(matches))?;
        for source in &sources {
            if let Source::File(path) = source {
                fs::metadata(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
            }
        }
        Content::Traces(sources)
    };
    show(&content, matches)
}

/// `kinetoscope attach`.
pub(crate) fn attach(matches: &ArgMatches) -> Result<u8, Failure> {
    let address = matches.get_one::<String>("address").map_or("", String::as_str);
    let program = Program::at(address).map_err(Failure::usage)?;
    let command = [Command::Status, Command::Start, Command::Stop]
        .into_iter()
        .find(|command| matches.get_flag(command.word()));
    let state = program.send(command.unwrap_or(Command::Status)).map_err(Failure::usage)?;
    if command.is_some() {
        if let Some(error) = state.error {
            return Err(Failure::usage(error));
        }
        println!("{}", escape::whole_line(&state.line()));
        return Ok(0);
    }
    show(&Content::Live(Live::from_program(program, keep(matches)?).shared()), matches)
}

fn show(content: &Content, matches: &ArgMatches) -> Result<u8, Failure> {
    require_page()?;
    let port = matches.get_one::<u16>("port").copied().unwrap_or(0);
    serve(content, port, !matches.get_flag("no-open"))?;
    Ok(0)
}

fn keep(matches: &ArgMatches) -> Result<Duration, Failure> {
    let seconds = matches.get_one::<f64>("keep").copied().unwrap_or(10.0);
    let keep = Duration::try_from_secs_f64(seconds).ok().filter(|keep| !keep.is_zero());
    keep.ok_or_else(|| Failure::usage("--keep needs a number of seconds above 0"))
}

/// The one recording to follow, which need not exist yet.
fn one_file(paths: &[PathBuf]) -> Result<PathBuf, Failure> {
    match paths {
        [path] if path.as_os_str() != "-" => {
            if !path.exists() {
                report(format!("{} does not exist yet: waiting for it", path.display()));
            }
            Ok(path.clone())
        }
        _ => Err(Failure::usage("--follow needs one file")),
    }
}
