//! Every file that a command reads or writes, by its arguments. An output that is an input, or another output, is refused before
//! anything is read.

use crate::failure::Failure;
use clap::ArgMatches;
use file_id::{FileId, get_file_id};
use kinetoscope::files::{RunFiles, Source, folder_of, sources};
use kinetoscope_core::analysis::query::options::Opt;
use kinetoscope_core::analysis::query::value::ValueKind;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, QUERIES};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How a command uses the files that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Files, and all traces in folders.
    Traces,
    /// Files, patterns, and all files in folders.
    Run,
    /// One file.
    Input,
    /// A file that is written, or appended to.
    Output,
}

/// The arguments that name files, except the options of queries.
const ARGUMENTS: [(&str, Use); 13] = [
    ("traces", Use::Traces),
    ("base", Use::Traces),
    ("run", Use::Run),
    ("new", Use::Run),
    ("history", Use::Input),
    ("kernel-rules", Use::Input),
    ("step-rules", Use::Input),
    ("execution-trace", Use::Input),
    ("capture", Use::Input),
    ("provenance", Use::Run),
    ("output", Use::Output),
    ("reports", Use::Output),
    ("record", Use::Output),
];

/// How a command uses the files of an argument; `None` for one that names no file.
pub(crate) fn use_of(argument: &str) -> Option<Use> {
    let known = ARGUMENTS.iter().find(|(name, _)| *name == argument).map(|(_, use_)| *use_);
    known.or_else(|| {
        options()
            .any(|option| option.name == argument && option.kind == ValueKind::File)
            .then_some(Use::Input)
    })
}

fn options() -> impl Iterator<Item = &'static Opt> {
    let of_queries = QUERIES.iter().chain(COMPARISONS).flat_map(|query| query.options);
    of_queries.chain(EXPORTS.iter().flat_map(|export| export.options))
}

/// The files that a command reads, which it does not overwrite.
#[derive(Default)]
pub(crate) struct Inputs(HashSet<FileId>);

impl Inputs {
    /// The files that the arguments name, and those in folders that they name.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Inputs {
        let mut inputs = Inputs::default();
        for (path, use_) in named(matches) {
            let path = [path];
            // What cannot be listed cannot be read either; the command reports it.
            match use_ {
                Use::Traces => inputs.add(sources(&path).unwrap_or_default().iter()),
                Use::Run => inputs.add(RunFiles::find(&path).unwrap_or_default().sources()),
                Use::Input => inputs.0.extend(id(&path[0], "/dev/stdin")),
                Use::Output => {}
            }
        }
        inputs
    }

    fn add<'a>(&mut self, sources: impl Iterator<Item = &'a Source>) {
        self.0.extend(sources.filter_map(|source| match source {
            Source::Stdin => id(Path::new("-"), "/dev/stdin"),
            Source::File(path) => id(path, "/dev/stdin"),
        }));
    }

    /// Refuses an output that is the same file as an input, also through a link.
    pub(crate) fn refuse(&self, output: &Path) -> Result<(), Failure> {
        match existing(output) {
            Some(id) if self.0.contains(&id) => {
                Err(Failure::usage(format!("{} would overwrite its input", shown(output))))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a command that would overwrite a file that it reads, or write to a file twice.
pub(crate) fn refuse_overlaps(matches: &ArgMatches) -> Result<(), Failure> {
    let mut outputs: Vec<PathBuf> =
        named(matches).filter(|(_, use_)| *use_ == Use::Output).map(|(path, _)| path).collect();
    if outputs.iter().any(|output| existing(output).is_some()) || existing(Path::new("-")).is_some() {
        let inputs = Inputs::from_matches(matches);
        outputs.iter().try_for_each(|output| inputs.refuse(output))?;
        inputs.refuse(Path::new("-"))?;
    }
    outputs.retain(|output| output.as_os_str() != "-" && (output.is_file() || !output.exists()));
    let mut taken: HashSet<PathBuf> =
        existing(Path::new("-")).map(|_| resolved(Path::new("/dev/stdout"))).into_iter().collect();
    match outputs.iter().find(|output| !taken.insert(resolved(output))) {
        Some(twice) => Err(Failure::usage(format!("two outputs would be written to {}", twice.display()))),
        None => Ok(()),
    }
}

/// The paths in the arguments of a command.
fn named(matches: &ArgMatches) -> impl Iterator<Item = (PathBuf, Use)> {
    let with_use = |id: &'_ clap::Id| Some((id.to_string(), use_of(id.as_str())?));
    matches.ids().filter_map(with_use).flat_map(|(id, use_)| {
        // A default is no path.
        let values = matches.get_raw(&id).into_iter().flatten();
        values.map(move |path: &OsStr| (PathBuf::from(path), use_)).collect::<Vec<_>>()
    })
}

/// The id of a file; `-` is `standard`.
fn id(path: &Path, standard: &str) -> Option<FileId> {
    get_file_id(if path.as_os_str() == "-" { Path::new(standard) } else { path }).ok()
}

/// The id of an output that is a file; `-` is standard output. Writing to a device, such as `/dev/null`, loses nothing.
fn existing(output: &Path) -> Option<FileId> {
    let path = if output.as_os_str() == "-" { Path::new("/dev/stdout") } else { output };
    path.is_file().then(|| id(path, "")).flatten()
}

fn shown(output: &Path) -> String {
    if output.as_os_str() == "-" { "standard output".to_owned() } else { output.display().to_string() }
}

/// The path with all links resolved that exist.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    if let Ok(canonical) = path.canonicalize() {
        return canonical;
    }
    let folder = folder_of(path);
    let folder = if folder == path { folder.to_path_buf() } else { resolved(folder) };
    // A link whose target does not exist.
    let name = path.read_link().ok().or_else(|| path.file_name().map(PathBuf::from));
    folder.join(name.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;
    use clap::{Arg, Command};
    use std::fs;

    /// A command with its name, such as `export folded`.
    fn leaves(command: &Command, name: &[String], all: &mut Vec<(Vec<String>, Command)>) {
        if command.get_subcommands().next().is_none() || name.is_empty() {
            all.push((name.to_vec(), command.clone()));
        }
        for inner in command.get_subcommands() {
            leaves(inner, &[name, &[inner.get_name().to_owned()]].concat(), all);
        }
    }

    /// The values of an argument on the command line.
    fn command_line(argument: &Arg, value: &Path) -> Vec<String> {
        let value = value.display().to_string();
        argument.get_long().map_or_else(|| vec![value.clone()], |long| vec![format!("--{long}={value}")])
    }

    fn uses(command: &Command, wanted: fn(Use) -> bool) -> Vec<Arg> {
        let arguments = command.get_arguments();
        arguments.filter(|argument| use_of(argument.get_id().as_str()).is_some_and(wanted)).cloned().collect()
    }

    /// Runs a command with the same file for two of its arguments, and another file for those that are required.
    fn refused(name: &[String], command: &Command, [a, b]: [(&Arg, &Path); 2], spare: &Path) -> String {
        let chosen = [a.0.get_id(), b.0.get_id()];
        let required =
            command.get_arguments().filter(|arg| arg.is_required_set() && !chosen.contains(&arg.get_id()));
        let mut line: Vec<String> =
            ["kinetoscope".to_owned()].into_iter().chain(name.iter().cloned()).collect();
        // Positional arguments in their order: `diff BASE NEW`.
        let mut arguments: Vec<(&Arg, &Path)> = required.map(|arg| (arg, spare)).chain([a, b]).collect();
        arguments.sort_by_key(|(arg, _)| (arg.is_positional(), arg.get_id() == "new"));
        line.extend(arguments.into_iter().flat_map(|(arg, path)| command_line(arg, path)));
        let matches = super::super::args::command()
            .try_get_matches_from(&line)
            .unwrap_or_else(|error| panic!("{line:?}: {error}"));
        match crate::run(&matches) {
            Err(failure) if failure.code == crate::failure::UNREADABLE => failure.message,
            Err(failure) => panic!("{line:?}: exit code {}", failure.code),
            Ok(code) => panic!("{line:?}: not refused, exit code {code}"),
        }
    }

    #[test]
    fn every_argument_that_is_a_path_has_a_use() {
        let mut all = Vec::new();
        leaves(&command(), &[], &mut all);
        for (name, command) in &all {
            for arg in command.get_arguments() {
                let value = arg
                    .get_value_names()
                    .map(|names| names.iter().map(clap::builder::Str::as_str).collect::<String>());
                let is_path = value.is_some_and(|value| {
                    ["FILE", "FOLDER", "TRACE", "BASE", "NEW"].iter().any(|word| value.contains(word))
                });
                assert_eq!(is_path, use_of(arg.get_id().as_str()).is_some(), "{name:?} {}", arg.get_id());
            }
        }
    }

    #[test]
    fn no_command_writes_to_a_file_that_it_reads_or_writes_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let [shared, spare, link, hard] =
            ["shared.json", "spare.json", "link.json", "hard.json"].map(|name| folder.path().join(name));
        // Rules of kernels are read with the arguments.
        let text = "gemm,gemm";
        fs::write(&shared, text).expect("a file");
        fs::write(&spare, text).expect("a file");
        fs::hard_link(&shared, &hard).expect("a link");
        #[cfg(unix)]
        std::os::unix::fs::symlink("shared.json", &link).expect("a link");
        #[cfg(not(unix))]
        fs::hard_link(&shared, &link).expect("a link");
        let mut all = Vec::new();
        leaves(&command(), &[], &mut all);
        let mut pairs = 0;
        for (name, command) in &all {
            let outputs = uses(command, |use_| use_ == Use::Output);
            for (at, output) in outputs.iter().enumerate() {
                for input in uses(command, |use_| use_ != Use::Output) {
                    for path in [&shared, &link, &hard] {
                        let message = refused(name, command, [(&input, &shared), (output, path)], &spare);
                        assert!(message.ends_with("would overwrite its input"), "{name:?}: {message}");
                        pairs += 1;
                    }
                }
                for other in &outputs[..at] {
                    let message = refused(name, command, [(output, &link), (other, &shared)], &spare);
                    assert!(message.starts_with("two outputs would be written to"), "{name:?}: {message}");
                    pairs += 1;
                }
            }
        }
        assert_eq!(fs::read_to_string(&shared).expect("the file"), text);
        assert!(link.exists() && pairs > 200, "{pairs} pairs");
    }
}
