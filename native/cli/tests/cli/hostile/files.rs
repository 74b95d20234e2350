//! Outputs: a command that fails, is stopped or answers nothing leaves the file that was there, and nothing else.

use super::SMALL;
use crate::support::{data, errors, kinetoscope, program};
use kinetoscope_core::queries::{EXPORTS, ExportKind, QUERIES};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BEFORE: &str = "what was there before";

/// A folder with files of these names and this content.
fn folder(files: &[(&str, &str)]) -> (TempDir, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let root = folder.path().to_owned();
    (folder, move |name: &str| root.join(name).display().to_string())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The commands that write one file about one trace.
fn commands() -> Vec<Vec<&'static str>> {
    let exports = EXPORTS.iter().map(|export| match export.kind {
        ExportKind::Form => vec!["export", export.name],
        ExportKind::Edit => vec![export.name],
    });
    let others = [
        vec!["outline"],
        vec!["repair"],
        vec!["summarize"],
        vec!["merge"],
        vec!["ranks"],
        vec!["check", "--init"],
    ];
    QUERIES.iter().map(|query| vec![query.name]).chain(exports).chain(others).collect()
}

#[test]
fn a_command_that_cannot_read_its_trace_leaves_the_output() {
    let (folder, path) = folder(&[("bad.json", "x"), ("out.json", BEFORE)]);
    for command in commands() {
        let (bad, out) = (path("bad.json"), path("out.json"));
        let output = kinetoscope(&[&command[..], &[&bad, "-o", &out]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert_eq!(fs::read_to_string(&out).expect("a file"), BEFORE, "{command:?}");
    }
    assert_eq!(names(folder.path()), ["bad.json", "out.json"]);
}

#[test]
fn a_command_without_an_answer_leaves_the_output() {
    let (folder, path) = folder(&[("small.json", SMALL), ("out.json", BEFORE)]);
    let (small, out) = (path("small.json"), path("out.json"));
    for command in [
        &["what-if", "--free", "x"][..],
        &["slice", "--ranks", "7"],
        &["export", "snapshot"],
        &["check", "no.toml"],
    ] {
        let output = kinetoscope(&[command, &[&small, "-o", &out]].concat());
        assert_ne!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(fs::read_to_string(&out).expect("a file"), BEFORE, "{command:?}");
    }
    assert_eq!(names(folder.path()), ["out.json", "small.json"]);
}

#[test]
fn a_command_replaces_all_of_its_outputs_or_none() {
    let budgets = "[launches]\nmax = 100\n";
    let names = [("b.toml", budgets), ("out.txt", BEFORE), ("out.md", BEFORE), ("other", BEFORE)];
    let (_folder, path) = folder(&names);
    let gpu = data("healthy/small_gpu_trace.json").display().to_string();
    let (budget, out, report) = (path("b.toml"), path("out.txt"), path("out.md"));
    for (option, target) in [("--record", "other"), ("--record", "missing/x"), ("--report", "missing/x.md")] {
        let output =
            kinetoscope(&["check", &budget, &gpu, "-o", &out, "--report", &report, option, &path(target)]);
        assert_eq!(output.status.code(), Some(2), "{option} {target}: {}", errors(&output));
        for file in ["out.txt", "out.md", "other"] {
            assert_eq!(fs::read_to_string(path(file)).expect("a file"), BEFORE, "{option} {target}: {file}");
        }
    }
}

#[test]
fn an_answer_that_says_why_it_is_empty_leaves_the_output() {
    let (_folder, path) = folder(&[("empty.json", "[]"), ("out.txt", BEFORE)]);
    for command in ["ops", "nodes", "kernels", "memory", "stacks"] {
        let output = kinetoscope(&[command, &path("empty.json"), "-o", &path("out.txt")]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(errors(&output).contains("out.txt: not written: there is no answer"), "{command}");
        assert_eq!(fs::read_to_string(path("out.txt")).expect("a file"), BEFORE, "{command}");
    }
    let json = kinetoscope(&["kernels", &path("empty.json"), "--format", "json", "-o", &path("out.txt")]);
    assert!(json.status.success() && fs::read_to_string(path("out.txt")).expect("a file").starts_with('{'));
}

#[test]
fn a_file_that_is_missing_is_not_served() {
    let (_folder, path) = folder(&[]);
    let output = kinetoscope(&["view", "--no-open", &path("no.json")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("no.json"), "{}", errors(&output));
}

#[test]
fn files_that_do_not_end_are_refused() {
    let (_folder, path) = folder(&[("small.json", SMALL)]);
    let small = path("small.json");
    for command in [
        &["trend", "/dev/zero"][..],
        &["kernels", &small, "--kernel-rules", "/dev/zero"],
        &["flops", &small, "--peaks", "/dev/zero"],
        &["check", &small, "--record", "/dev/full"],
    ] {
        assert_eq!(kinetoscope(command).status.code(), Some(2), "{command:?}");
    }
}

#[test]
fn an_output_has_any_name_that_the_system_allows() {
    let (folder, path) = folder(&[("small.json", SMALL)]);
    let long = format!("{}.json", "n".repeat(250));
    let output = kinetoscope(&["info", &path("small.json"), "-o", &path(&long)]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(names(folder.path()), [&long, "small.json"]);
}

#[test]
fn standard_streams_that_are_the_same_file_are_refused() {
    let (_folder, path) = folder(&[("small.json", SMALL)]);
    let small = path("small.json");
    let shell = |line: &str| {
        let line = line.replace('K', env!("CARGO_BIN_EXE_kinetoscope")).replace("FILE", &small);
        Command::new("sh").args(["-c", &line]).output().expect("a shell")
    };
    for line in [
        "K ops - -o FILE < FILE",
        "K ops FILE >> FILE",
        "K merge FILE >> FILE",
        "K ops /dev/stdin -o FILE < FILE",
    ] {
        let output = shell(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(errors(&output).contains("would overwrite its input"), "{line}: {}", errors(&output));
        assert_eq!(fs::read_to_string(&small).expect("a file"), SMALL);
    }
}

#[test]
fn a_link_stays_a_link() {
    let (folder, path) = folder(&[("small.json", SMALL), ("old.txt", BEFORE)]);
    fs::create_dir(path("links")).expect("a folder");
    fs::set_permissions(path("old.txt"), fs::Permissions::from_mode(0o640)).expect("permissions");
    for (link, target) in [("links/old", "../old.txt"), ("links/new", "../new.txt")] {
        symlink(target, path(link)).expect("a link");
        let output = kinetoscope(&["info", &path("small.json"), "-o", &path(link)]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        assert_eq!(fs::read_link(path(link)).expect("a link"), Path::new(target));
    }
    for file in ["old.txt", "new.txt"] {
        assert_ne!(fs::read_to_string(path(file)).expect("a file"), BEFORE);
    }
    assert_eq!(fs::metadata(path("old.txt")).expect("a file").mode() & 0o777, 0o640);
    symlink("loop", path("links/loop")).expect("a link");
    assert_eq!(kinetoscope(&["info", &path("small.json"), "-o", &path("links/loop")]).status.code(), Some(2));
    assert_eq!(names(folder.path()), ["links", "new.txt", "old.txt", "small.json"]);
}

#[test]
fn a_missing_folder_is_the_error_of_the_system() {
    let (_folder, path) = folder(&[("small.json", SMALL)]);
    let output = kinetoscope(&["info", &path("small.json"), "-o", &path("missing/out.txt")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("No such file or directory"), "{}", errors(&output));
}

/// `/proc` has a link to a removed file that is open, whose text is no path.
#[test]
#[cfg(target_os = "linux")]
fn a_removed_file_that_is_open_gets_the_answer() {
    let (folder, path) = folder(&[("small.json", SMALL)]);
    let line = format!(
        "exec 7<>{0}; rm {0}; {1} info {2} -o /proc/self/fd/7; cat /proc/self/fd/7",
        path("gone"),
        env!("CARGO_BIN_EXE_kinetoscope"),
        path("small.json"),
    );
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    let answer = kinetoscope(&["info", &path("small.json")]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&answer.stdout));
    assert!(!answer.stdout.is_empty());
    assert_eq!(names(folder.path()), ["small.json"]);
}

/// Makes a folder to which all users write, as `/tmp`.
fn open_folder(path: PathBuf) -> PathBuf {
    fs::create_dir(&path).expect("a folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).expect("permissions");
    path
}

/// Needs a second user, which only root can take.
#[test]
fn a_link_that_another_user_planted_is_not_followed() {
    let (folder, path) = folder(&[("small.json", SMALL), ("victim", BEFORE)]);
    let open = open_folder(PathBuf::from(path("open")));
    let link = open.join("out.json");
    symlink(folder.path().join("victim"), &link).expect("a link");
    let output = kinetoscope(&["info", &path("small.json"), "-o", &link.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    fs::write(path("victim"), BEFORE).expect("a file");
    if std::os::unix::fs::lchown(&link, Some(OTHER_USER), Some(OTHER_USER)).is_err() {
        eprintln!("skipped: only root can give a link to another user");
        return;
    }
    let refused = kinetoscope(&["info", &path("small.json"), "-o", &link.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("a link of another user"), "{}", errors(&refused));
    assert_eq!(fs::read_to_string(path("victim")).expect("a file"), BEFORE);
    let history = open.join("history.jsonl");
    symlink(folder.path().join("new"), &history).expect("a link");
    std::os::unix::fs::lchown(&history, Some(OTHER_USER), Some(OTHER_USER)).expect("an owner");
    let gpu = data("healthy/small_gpu_trace.json").display().to_string();
    let refused = kinetoscope(&["check", &gpu, "--record", &history.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("a link of another user") && !folder.path().join("new").exists());
}

/// Needs a second user, which only root can take.
#[test]
fn a_file_that_another_user_planted_is_not_replaced() {
    let (_folder, path) = folder(&[("small.json", SMALL)]);
    let planted = open_folder(PathBuf::from(path("open"))).join("out.json");
    fs::write(&planted, BEFORE).expect("a file");
    if std::os::unix::fs::chown(&planted, Some(OTHER_USER), Some(OTHER_USER)).is_err() {
        eprintln!("skipped: only root can give a file to another user");
        return;
    }
    let refused = kinetoscope(&["info", &path("small.json"), "-o", &planted.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("a file of another user"), "{}", errors(&refused));
    assert_eq!(fs::read_to_string(&planted).expect("a file"), BEFORE);
}

const OTHER_USER: u32 = 65534;

#[test]
fn a_full_disk_leaves_the_previous_file() {
    let big = data("healthy/small_gpu_trace.json").display().to_string();
    let (folder, path) = folder(&[("out.json", BEFORE)]);
    // The largest file may have 512 bytes.
    for command in ["export chrome", "repair", "redact", "ops --format json", "summarize"] {
        let line = format!(
            "ulimit -f 1; exec {} {command} {big} -o {}",
            env!("CARGO_BIN_EXE_kinetoscope"),
            path("out.json")
        );
        let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{command}: {}", errors(&output));
        assert!(errors(&output).contains("out.json: File too large"), "{command}: {}", errors(&output));
        assert_eq!(fs::read_to_string(path("out.json")).expect("a file"), BEFORE);
        assert_eq!(names(folder.path()), ["out.json"]);
    }
    if Path::new("/dev/full").exists() {
        let output = kinetoscope(&["ops", &big, "-o", "/dev/full"]);
        assert!(output.status.code() == Some(2) && errors(&output).contains("No space left"));
    }
}

/// A trace whose export takes a while.
fn many_events() -> String {
    let mut text = "[".to_owned();
    for at in 0..20_000 {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}{{\"ph\":\"X\",\"name\":\"op {at}\",\"pid\":1,\"tid\":1,\"ts\":{at},\"dur\":1}}"
        );
    }
    text + "]"
}

#[test]
fn a_signal_leaves_the_old_or_the_new_file_and_nothing_else() {
    const WRITES: u64 = 200;
    let (folder, path) = folder(&[("trace.json", &many_events()), ("out.json", BEFORE)]);
    let start = || {
        let mut command = program();
        command.args(["export", "chrome", &path("trace.json"), "-o", &path("out.json")]);
        command.stderr(Stdio::null()).spawn().expect("a process")
    };
    let begun = Instant::now();
    assert!(start().wait().expect("an end").success());
    let takes = begun.elapsed();
    let new = fs::read(path("out.json")).expect("a file");
    let (mut random, mut counts) = (1_u64, [0, 0]);
    for at in 0..WRITES {
        fs::write(path("out.json"), BEFORE).expect("a file");
        let mut process = start();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(
            takes.mul_f64((random >> 33) as f64 / f64::from(1_u32 << 31)).max(Duration::from_millis(1)),
        );
        let signal = ["TERM", "INT", "HUP", "QUIT"][(at % 4) as usize];
        let kill = Command::new("kill")
            .args(["-s", signal, &process.id().to_string()])
            .stderr(Stdio::null())
            .status();
        assert!(kill.is_ok());
        let ended = process.wait().expect("an end");
        let left = fs::read(path("out.json")).expect("a file");
        assert!(
            left == new || left == BEFORE.as_bytes(),
            "{} bytes are neither the old nor the new file",
            left.len()
        );
        assert!(left == new || !ended.success());
        assert_eq!(names(folder.path()), ["out.json", "trace.json"], "after SIG{signal}");
        counts[usize::from(left == new)] += 1;
    }
    assert!(counts[0] > WRITES / 10, "{counts:?}: hardly a write was stopped");
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let (_folder, path) = folder(&[("trace.json", &many_events())]);
    let line = format!(
        "trap '' HUP; {} export chrome {} -o {} & kill -HUP $!; sleep 0.02; kill -HUP $!; wait $!",
        env!("CARGO_BIN_EXE_kinetoscope"),
        path("trace.json"),
        path("out.json")
    );
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    assert!(output.status.success(), "{:?} {}", output.status, errors(&output));
    assert!(Path::new(&path("out.json")).exists());
}
