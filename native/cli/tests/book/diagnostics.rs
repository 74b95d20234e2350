//! The page of the diagnostics: one entry for each code, with an example from the fixtures.

use crate::{check, files, root, source};
use kinetoscope::files::open;
use kinetoscope_core::base::diagnostics::Code;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const FOLDERS: [&str; 8] = [
    "malformed",
    "healthy",
    "fuzz",
    "snapshots",
    "torch/legacy",
    "torch/synthetic",
    "torch/kineto",
    "torch/2.15/cuspy",
];

/// What is too large for a fixture, or needs a program that records.
const WITHOUT_FIXTURE: [(Code, &str); 8] = [
    (
        Code::MemoryLimit,
        "The npm package and the page have a limit of 3 GiB unless another one is given. The command line has one with `--memory-limit`.",
    ),
    (
        Code::OutsideWindow,
        "Only windows of larger traces have it: `--window` of the command line, `window` of the npm package, and the open part of such a trace in the page.",
    ),
    (
        Code::RepeatedValues,
        "PyTorch writes such a snapshot for no program; `pickle-shared-blocks.pickle` in `tests/data/hostile` is one.",
    ),
    (Code::EventTooLarge, "The limit is 16 MiB."),
    (Code::NameTooLong, "The limit is 4 MiB."),
    (Code::DurationShortened, "All durations of a trace can add up to 146 years."),
    (
        Code::DroppedRecord,
        "The buffers of a recording have a size limit, 64 MiB unless the program chooses another.",
    ),
    (Code::CutArgument, "The arguments of a span or event take at most 64 KiB in a recording."),
];

struct Example {
    file: String,
    text: String,
    offset: Option<u64>,
}

/// Checks the page.
pub(crate) fn check_page() {
    let mut examples: BTreeMap<Code, Example> = BTreeMap::new();
    for path in FOLDERS.iter().flat_map(|folder| files(&root().join("tests/data").join(folder))) {
        let Ok(trace) = open(&path) else { continue };
        for finding in trace.diagnostics.findings() {
            examples.entry(finding.code).or_insert_with(|| Example {
                file: name(&path),
                text: finding.example.clone(),
                offset: finding.first_offset,
            });
        }
    }
    let mut out = include_str!("diagnostics.md").to_owned();
    for &code in Code::ALL {
        entry(&mut out, code, examples.get(&code));
    }
    check(&source().join("reference/diagnostics.md"), &out);
}

fn entry(out: &mut String, code: Code, example: Option<&Example>) {
    let _ = writeln!(
        out,
        "\n## {}\n\n{} Severity: {}.",
        code.as_str(),
        code.description(),
        code.severity().as_str()
    );
    let Some(Example { file, text, offset }) = example else {
        let reason = WITHOUT_FIXTURE.iter().find(|(without, _)| *without == code).map(|(_, reason)| reason);
        let reason = reason.unwrap_or_else(|| panic!("{} has no example", code.as_str()));
        let _ = writeln!(out, "\n{reason}");
        return;
    };
    let place = offset.map_or(String::new(), |offset| format!(", byte {offset}"));
    if text.is_empty() {
        let _ = writeln!(out, "\nExample: `{file}`{place}.");
    } else {
        let printable = text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
        let _ = writeln!(out, "\nExample, `{file}`{place}:\n\n```text\n{printable}\n```");
    }
}

fn name(path: &Path) -> String {
    let data = root().join("tests/data");
    path.strip_prefix(data).expect("a fixture").display().to_string()
}
