//! Runs the steps of a plan, several at a time where their load permits. Each step is a separate process with its
//! output in a file. It starts after the steps that it needs.

use crate::shell::{Failure, root, target};
use crate::tally::{Tally, is_skip, skip_line};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// One step of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The name on the command line.
    pub(crate) name: &'static str,
    pub(crate) run: fn() -> Result<Tally, Failure>,
    /// The steps that must have passed before it starts, if they are in the plan.
    pub(crate) needs: &'static [&'static str],
    pub(crate) load: Load,
}

/// How a step uses the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Waits most of the time, for a network or a disk.
    Waits,
    /// Runs at the same time as others.
    Shares,
    /// Like `Shares`, and compiles into `target/debug`, which only one cargo command can do at a time.
    Debug,
    /// Keeps every core busy, or measures times; runs alone.
    Alone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Passed,
    Failed,
}

/// The steps of a plan and their states.
struct Progress<'a> {
    steps: &'a [Step],
    states: Vec<State>,
    sum: Tally,
    skips: Vec<String>,
}

/// Runs the steps, prints the time and the result of each, lists what was skipped, and prints the sum.
pub(crate) fn run(steps: &[Step]) -> Result<(), Failure> {
    let logs = target().join("xtask/logs");
    fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let begun = Instant::now();
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let mut progress = Progress::new(steps);
    let (sender, ended) = mpsc::channel();
    loop {
        progress.skip_dependents_of_failed();
        while let Some(at) = progress.next(cores) {
            progress.states[at] = State::Running;
            let name = steps[at].name;
            eprintln!("── {name} …");
            let (sender, log) = (sender.clone(), logs.join(name));
            thread::spawn(move || {
                let start = Instant::now();
                let passed = run_one(name, &log);
                let _ = sender.send((at, log, start.elapsed().as_secs_f64(), passed));
            });
        }
        if !progress.states.contains(&State::Running) {
            break;
        }
        let (at, log, seconds, passed) = ended.recv().map_err(|e| e.to_string())?;
        let text = fs::read(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        progress.end(at, seconds, passed, &String::from_utf8_lossy(&text));
    }
    for skip in &progress.skips {
        println!("{skip}");
    }
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    println!("{}", progress.sum);
    if progress.sum.failed == 0 { Ok(()) } else { Err("some steps failed, see above".to_owned()) }
}

/// Runs this program for one step and writes its output to a file.
fn run_one(name: &str, log: &Path) -> Result<bool, Failure> {
    let failure = |error: std::io::Error| format!("{}: {error}", log.display());
    let out = fs::File::create(log).map_err(failure)?;
    let errors = out.try_clone().map_err(failure)?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut step = Command::new(program);
    let status = step.args(["test", name]).current_dir(root()).stdout(out).stderr(errors).status();
    status.map(|status| status.success()).map_err(|e| format!("{name}: {e}"))
}

impl<'a> Progress<'a> {
    fn new(steps: &'a [Step]) -> Progress<'a> {
        let states = vec![State::Waiting; steps.len()];
        Progress { steps, states, sum: Tally::default(), skips: Vec::new() }
    }

    fn state(&self, name: &str) -> Option<State> {
        self.steps.iter().position(|step| step.name == name).map(|at| self.states[at])
    }

    /// Returns the first step that may start now.
    fn next(&self, cores: usize) -> Option<usize> {
        let running = |is_meant: &dyn Fn(Load) -> bool| {
            let states = self.steps.iter().zip(&self.states);
            states.filter(|(step, state)| **state == State::Running && is_meant(step.load)).count()
        };
        let busy = running(&|load| load != Load::Waits);
        let has_room = busy < cores && running(&|load| load == Load::Alone) == 0;
        let fits = |load: Load| match load {
            Load::Waits => true,
            Load::Shares => has_room,
            Load::Debug => has_room && running(&|load| load == Load::Debug) == 0,
            Load::Alone => busy == 0,
        };
        self.steps.iter().zip(&self.states).position(|(step, state)| {
            let has_needs =
                || step.needs.iter().all(|name| self.state(name).is_none_or(|state| state == State::Passed));
            *state == State::Waiting && fits(step.load) && has_needs()
        })
    }

    /// Skips the steps that need a failed step, and the steps that need those in turn.
    fn skip_dependents_of_failed(&mut self) {
        let lost = |progress: &Progress| {
            progress.steps.iter().enumerate().find_map(|(at, step)| {
                let failed = |name: &&&str| progress.state(name) == Some(State::Failed);
                let need =
                    step.needs.iter().find(failed).filter(|_| progress.states[at] == State::Waiting)?;
                Some((at, *need))
            })
        };
        while let Some((at, need)) = lost(self) {
            self.states[at] = State::Failed;
            self.sum.add(Tally::SKIPPED);
            self.skips.push(skip_line(self.steps[at].name, &format!("it needs {need}, which failed")));
        }
    }

    /// Counts a step that ended, collects its skips, and prints its output if it failed.
    fn end(&mut self, at: usize, seconds: f64, passed: Result<bool, Failure>, text: &str) {
        let name = self.steps[at].name;
        self.skips.extend(text.lines().filter(|line| is_skip(line)).map(str::to_owned));
        let tally = text.lines().filter_map(Tally::parse).next_back();
        if let (Ok(true), Some(tally)) = (&passed, tally) {
            eprintln!("── {name}: {seconds:.1} s, {tally}");
            self.states[at] = State::Passed;
            self.sum.add(tally);
            return;
        }
        let why = passed.err().unwrap_or_default();
        eprintln!("{text}── {name} FAILED after {seconds:.1} s {why}");
        self.states[at] = State::Failed;
        self.sum.add(tally.filter(|tally| tally.failed > 0).unwrap_or(Tally::FAILED));
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, Progress, State, Step};
    use crate::tally::Tally;

    const fn step(name: &'static str, load: Load, needs: &'static [&'static str]) -> Step {
        Step { name, load, needs, run: || Ok(Tally::PASSED) }
    }

    const STEPS: [Step; 6] = [
        step("alone", Load::Alone, &[]),
        step("network", Load::Waits, &[]),
        step("build", Load::Debug, &[]),
        step("lints", Load::Debug, &[]),
        step("page", Load::Shares, &["network"]),
        step("pictures", Load::Shares, &["page"]),
    ];

    fn next(progress: &Progress, cores: usize) -> Option<&'static str> {
        progress.next(cores).map(|at| STEPS[at].name)
    }

    #[test]
    fn a_step_starts_when_cores_are_free_and_its_needs_have_passed() {
        let mut progress = Progress::new(&STEPS);
        assert_eq!(next(&progress, 2), Some("alone"));
        progress.states[0] = State::Running;
        assert_eq!(next(&progress, 2), Some("network"));
        progress.states[1] = State::Running;
        assert_eq!(next(&progress, 2), None, "a step that runs alone is running");
        progress.end(0, 1.0, Ok(true), "1 passed, 0 failed, 0 skipped");
        progress.states[2] = State::Running;
        assert_eq!(next(&progress, 2), None, "a build is running, and `page` needs `network`");
        progress.end(1, 1.0, Ok(true), "1 passed, 0 failed, 0 skipped");
        assert_eq!((next(&progress, 1), next(&progress, 2)), (None, Some("page")));
    }

    #[test]
    fn steps_that_need_a_failed_step_are_skipped() {
        let mut progress = Progress::new(&STEPS);
        progress.end(1, 1.0, Ok(false), "SKIPPED a: b\n2 passed, 3 failed, 1 skipped\n");
        progress.skip_dependents_of_failed();
        assert_eq!(progress.sum, Tally { passed: 2, failed: 3, skipped: 3 });
        assert_eq!(progress.skips[0], "SKIPPED a: b");
        assert_eq!(progress.skips[1], "SKIPPED page: it needs network, which failed");
        assert_eq!(progress.skips[2], "SKIPPED pictures: it needs page, which failed");
        progress.end(2, 1.0, Ok(true), "no count");
        assert_eq!(progress.sum.failed, 4);
    }
}
