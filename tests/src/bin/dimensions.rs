//! Measures how processor time and memory of every command grow with traces that are legal and unkind: each scenario of
//! `tests/dimensions/generate.py` with N and 2 N.
//!
//! `dimensions PROGRAM [N] [SCENARIO…]` prints a line for each command that takes longer than [`SHORT`] with 2 N, and fails if one
//! takes more than [`MOST`] times as much as with N. The commands come from the engine's lists of queries and exports, and from the
//! help of the program: a new one is measured without a change here.

use kinetoscope_core::analysis::query::options::Opt;
use kinetoscope_core::analysis::query::value::ValueKind;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, ExportKind, QUERIES};
use std::io::{Error, Result};
use std::mem::zeroed;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Growth at most, for twice the input. Linear is 2.
const MOST: f64 = 2.3;

/// Processor time, in s, and memory, in MiB, below which growth is not judged.
const SHORT: f64 = 0.2;
const SMALL: f64 = 64.0;

/// The number of events of a trace, times a small number.
const N: usize = 12_000;

/// How often a growth that is too large is measured again: other programs disturb.
const AGAIN: usize = 4;

/// Limits of a process: processor time in s, and memory in bytes.
const LIMITS: [(libc::__rlimit_resource_t, u64); 2] = [(libc::RLIMIT_CPU, 120), (libc::RLIMIT_AS, 10 << 30)];

/// The commands that read no single trace, or do not end.
const OTHERS: [&str; 9] = ["attach", "completions", "export", "help", "man", "sql", "trend", "view", "check"];

/// What is known to grow faster than its input: an answer of each step that adds up what all the steps around it share.
const KNOWN: [(&str, &str); 1] = [("steps_overlap", "idle --by step")];

/// What a process took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    mebibytes: f64,
    /// The exit code; below 0 the signal that ended it.
    code: i32,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().expect("the path of the program");
    let mut wanted: Vec<String> = arguments.collect();
    let n = wanted.first().and_then(|first| first.parse().ok());
    if n.is_some() {
        wanted.remove(0);
    }
    let folder = std::env::temp_dir().join(format!("kinetoscope-dimensions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let bench = Bench { program, folder: folder.clone(), n: n.unwrap_or(N) };
    let failed = bench.run(&wanted);
    let _ = std::fs::remove_dir_all(folder);
    match failed {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("{failed} commands grow more than {MOST} times");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Bench {
    program: String,
    folder: PathBuf,
    n: usize,
}

/// How many times as much time and memory a command takes with the larger trace.
fn growth([small, large]: [Cost; 2]) -> [f64; 2] {
    [large.seconds / small.seconds, large.mebibytes / small.mebibytes]
}

fn grows_little(costs: [Cost; 2]) -> bool {
    let [time, memory] = growth(costs);
    let large = costs[1];
    (large.seconds < SHORT || time <= MOST) && (large.mebibytes < SMALL || memory <= MOST) && large.code >= 0
}

fn report(scenario: &str, command: &[String], costs: [Cost; 2], verdict: &str) {
    let ([small, large], [time, memory]) = (costs, growth(costs));
    let signal = if large.code < 0 { format!(", ended by signal {}", -large.code) } else { String::new() };
    println!(
        "{scenario:<18} {:<44} {:>8.2} {:>8.2} {time:>6.1} {:>8.0} {:>8.0} {memory:>6.1}{verdict}{signal}",
        command.join(" "),
        small.seconds,
        large.seconds,
        small.mebibytes,
        large.mebibytes,
    );
}

impl Bench {
    /// Measures the scenarios, or those that are wanted. Returns the number of commands that grow too much.
    fn run(&self, wanted: &[String]) -> Result<usize> {
        let commands = self.commands()?;
        let scenarios = scenarios()?;
        let is_wanted = |name: &&String| wanted.is_empty() || wanted.contains(name);
        println!("{} scenarios, {} commands, N = {}", scenarios.len(), commands.len(), self.n);
        println!(
            "{:<18} {:<44} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6}",
            "Scenario", "Command", "s", "s, 2 N", "ratio", "MiB", "MiB, 2 N", "ratio"
        );
        let mut failed = 0;
        for scenario in scenarios.iter().filter(is_wanted) {
            let [small, large] = [self.n, 2 * self.n].map(|n| self.generate(scenario, n));
            let (small, large) = (small?, large?);
            for command in &commands {
                failed += usize::from(!self.measure(scenario, command, [&small, &large])?);
            }
            std::fs::remove_file(small)?;
            std::fs::remove_file(large)?;
        }
        Ok(failed)
    }

    /// Measures a command with two sizes. Returns whether it grows little enough. What begins at a size, such as further
    /// threads, is not growth: a command also passes if it grows little from 2 N to 4 N.
    fn measure(&self, scenario: &str, command: &[String], [small, large]: [&Path; 2]) -> Result<bool> {
        let with_large = self.cost(command, large)?;
        if with_large.seconds < SHORT && with_large.mebibytes < SMALL && with_large.code >= 0 {
            return Ok(true);
        }
        let costs = self.pair(command, [small, large])?;
        if grows_little(costs) {
            report(scenario, command, costs, "");
            return Ok(true);
        }
        let is_known = KNOWN.contains(&(scenario, &command.join(" "))) && costs[1].code >= 0;
        report(scenario, command, costs, if is_known { "  known" } else { "  measured with more" });
        if is_known || costs[1].code < 0 {
            return Ok(is_known);
        }
        let larger = self.generate(scenario, 4 * self.n)?;
        let costs = self.pair(command, [large, &larger])?;
        std::fs::remove_file(larger)?;
        let passes = grows_little(costs);
        report(scenario, command, costs, if passes { "  of 2 N and 4 N" } else { "  TOO MUCH" });
        Ok(passes)
    }

    /// The costs with two sizes; the smallest growth of several measurements.
    fn pair(&self, command: &[String], [small, large]: [&Path; 2]) -> Result<[Cost; 2]> {
        let mut costs = [self.cost(command, small)?, self.cost(command, large)?];
        for _ in 0..AGAIN {
            if grows_little(costs) {
                break;
            }
            costs[0].seconds = costs[0].seconds.max(self.cost(command, small)?.seconds);
            costs[1].seconds = costs[1].seconds.min(self.cost(command, large)?.seconds);
        }
        Ok(costs)
    }

    fn generate(&self, scenario: &str, n: usize) -> Result<PathBuf> {
        let path = self.folder.join(format!("{scenario}-{n}.json"));
        let mut python = Command::new("python3");
        let status = python.arg(generator()).args([scenario, &n.to_string()]).arg(&path).status()?;
        if status.success() { Ok(path) } else { Err(Error::other(format!("{scenario}: no trace"))) }
    }

    /// The arguments of every command without its trace; of a comparison, of both traces.
    fn commands(&self) -> Result<Vec<Vec<String>>> {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut add = |name: &[&str], options: &[Opt]| {
            all.extend(
                variants(options)
                    .into_iter()
                    .map(|options| name.iter().map(ToString::to_string).chain(options).collect()),
            );
        };
        for query in QUERIES.iter().chain(COMPARISONS) {
            add(&[query.name], query.options);
        }
        for export in EXPORTS {
            let name: &[&str] =
                if export.kind == ExportKind::Form { &["export", export.name] } else { &[export.name] };
            add(name, export.options);
        }
        add(&["check", "--init"], &[]);
        let help = Command::new(&self.program).arg("--help").output()?.stdout;
        let help = String::from_utf8_lossy(&help).into_owned();
        let is_known = |name: &str| {
            QUERIES.iter().chain(COMPARISONS).any(|query| query.name == name)
                || EXPORTS.iter().any(|export| export.name == name)
        };
        // A line of a command: two blanks, its name, and what it does.
        let names =
            help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).map(|(name, _)| name);
        for name in names
            .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !name.starts_with('-'))
        {
            if !is_known(name) && !OTHERS.contains(&name) {
                add(&[name], &[]);
            }
        }
        Ok(all)
    }

    /// Runs a command. Its output is thrown away.
    fn cost(&self, command: &[String], trace: &Path) -> Result<Cost> {
        let mut process = Command::new(&self.program);
        process.args(command).arg(trace).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if COMPARISONS.iter().any(|query| command[0] == query.name) && command[0] != "ranks" {
            process.arg(trace);
        }
        if command[0] == "summarize" {
            process.arg("-o").arg(self.folder.join("run.ksum"));
        }
        let limit = || {
            for (resource, most) in LIMITS {
                let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
                // SAFETY: the limit is a local value.
                if unsafe { libc::setrlimit(resource, &raw const limit) } != 0 {
                    return Err(Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: `setrlimit` may be called between fork and exec.
        unsafe { process.pre_exec(limit) };
        let id = process.spawn()?.id() as libc::pid_t;
        // SAFETY: the process is a child that nothing else waits for; the results are local values.
        let (status, usage) = unsafe {
            let (mut status, mut usage) = (0, zeroed::<libc::rusage>());
            if libc::wait4(id, &raw mut status, 0, &raw mut usage) != id {
                return Err(Error::last_os_error());
            }
            (status, usage)
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let code =
            if libc::WIFSIGNALED(status) { -libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
        Ok(Cost {
            seconds: (seconds(usage.ru_utime) + seconds(usage.ru_stime)).max(0.001),
            mebibytes: usage.ru_maxrss as f64 / 1024.0,
            code,
        })
    }
}

/// The values of options: none, then each flag and each word by itself.
fn variants(options: &[Opt]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for option in options {
        let name = format!("--{}", option.name);
        match option.kind {
            ValueKind::Nothing => all.push(vec![name]),
            ValueKind::Word(words) => {
                all.extend(words.words.iter().map(|word| vec![name.clone(), (*word).to_owned()]));
            }
            ValueKind::Groups => all.push(vec![name, "shape,stack:5".to_owned()]),
            ValueKind::Duration => all.push(vec![name, "1us".to_owned()]),
            _ => {}
        }
    }
    all
}

fn generator() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dimensions/generate.py")
}

/// The scenarios: the functions of the generator that are marked as such.
fn scenarios() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(generator())?;
    let marked = text.lines().zip(text.lines().skip(1)).filter(|(mark, _)| *mark == "@sc");
    Ok(marked
        .filter_map(|(_, line)| line.strip_prefix("def ")?.split_once('('))
        .map(|(name, _)| name.to_owned())
        .collect())
}
