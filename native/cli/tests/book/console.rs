//! Examples in `console` blocks: lines that begin with `$ ` are commands, and what follows is their output.

use crate::root;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The files that the examples read, and where they are in the repository.
const TRACES: [(&str, &str); 32] = [
    ("run.json.gz", "tests/data/torch/kineto/transformer_training/trace.json.gz"),
    ("steps.json.gz", "tests/data/torch/kineto/mlp_training/trace.json.gz"),
    (
        "execution_trace.json.gz",
        "tests/data/torch/2.15/kineto/execution_trace_training/execution_trace.json.gz",
    ),
    ("slow.json.gz", "tests/data/runs/data_loading/rank1.json.gz"),
    ("rank1.json.gz", "tests/data/runs/two_groups/rank1.json.gz"),
    ("slow_forward/rank0.json.gz", "tests/data/runs/slow_forward/rank0.json.gz"),
    ("slow_forward/rank1.json.gz", "tests/data/runs/slow_forward/rank1.json.gz"),
    ("slow_forward/rank2.json.gz", "tests/data/runs/slow_forward/rank2.json.gz"),
    ("slow_forward/rank3.json.gz", "tests/data/runs/slow_forward/rank3.json.gz"),
    ("plain/rank0.json.gz", "tests/data/runs/plain/rank0.json.gz"),
    ("plain/rank1.json.gz", "tests/data/runs/plain/rank1.json.gz"),
    ("plain/rank2.json.gz", "tests/data/runs/plain/rank2.json.gz"),
    ("plain/rank3.json.gz", "tests/data/runs/plain/rank3.json.gz"),
    ("base.json.gz", "tests/data/pairs/base1.json.gz"),
    ("again.json.gz", "tests/data/pairs/base2.json.gz"),
    ("sleep.json.gz", "tests/data/pairs/host_sleep1.json.gz"),
    ("larger.json.gz", "tests/data/pairs/op_slow1.json.gz"),
    ("fused.json.gz", "tests/data/pairs/fused1.json.gz"),
    ("gpu.json", "tests/data/healthy/small_gpu_trace.json"),
    ("memory.json.gz", "tests/data/torch/kineto/memory_user_scope/trace.json.gz"),
    ("stacks.json.gz", "tests/data/torch/kineto/export_stacks/trace.json.gz"),
    ("compiled.json", "docs/traces/compiled.json"),
    ("queue.json", "docs/traces/queue.json"),
    ("recompiled.json.gz", "tests/data/inductor/c/trace.json.gz"),
    ("torch_trace.log.gz", "tests/data/inductor/c/torch_trace.log.gz"),
    ("serving.json.gz", "docs/traces/serving.json.gz"),
    ("capture.json.gz", "docs/traces/serving-capture.json.gz"),
    ("cut.json.gz", "tests/data/malformed/gzip_cut_off.json.gz"),
    ("interleaved.json", "tests/data/malformed/interleaved_writers.json"),
    ("samples.json", "tests/data/healthy/samples.json"),
    ("tasks.json", "tests/data/healthy/asynchronous_tasks.json"),
    ("service.ktrace", "tests/data/healthy/recording.ktrace"),
];

const FENCE: &str = "```";

/// The page with the real output of every example.
pub(crate) fn with_outputs(page: &str) -> String {
    let mut out = String::new();
    let mut folder = None;
    let mut is_console = false;
    for line in page.lines() {
        if line.starts_with(FENCE) {
            is_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if is_console && command.is_none() && !line.starts_with(FENCE) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if let Some(command) = command {
            let folder = folder.get_or_insert_with(scratch);
            out.push_str(&run(command, folder.path()));
        }
    }
    out
}

/// A folder with the traces of the book.
fn scratch() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, path) in TRACES {
        let copy = folder.path().join(name);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(root().join(path), copy).expect(path);
    }
    folder
}

/// What a command prints, on standard output and standard error.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_kinetoscope"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env("PATH", std::env::join_paths(folders).expect("a path"))
        .env("LC_ALL", "C")
        .current_dir(folder)
        .output()
        .expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
