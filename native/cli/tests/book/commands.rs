//! The pages of the commands: help, columns and an example each.

use crate::{check, source};
use kinetoscope_core::base::rows::{CellType, Column};
use kinetoscope_core::outline::COLUMNS;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, ExportKind, QUERIES};
use std::fmt::Write;
use std::process::Command;

/// The example of each command.
const EXAMPLES: [(&str, &str); 57] = [
    ("summary", "kinetoscope summary run.json.gz"),
    ("fitness", "kinetoscope fitness gpu.json"),
    ("ops", "kinetoscope ops steps.json.gz --sort-by self_cpu_time_total --row-limit 3"),
    ("kernels", "kinetoscope kernels gpu.json"),
    ("sequences", "kinetoscope sequences gpu.json --min-count 1"),
    ("breakdown", "kinetoscope breakdown gpu.json"),
    ("idle", "kinetoscope idle gpu.json"),
    ("launches", "kinetoscope launches gpu.json"),
    ("tasks", "kinetoscope tasks tasks.json"),
    ("critical-path", "kinetoscope critical-path gpu.json"),
    ("what-if", "kinetoscope what-if gpu.json"),
    ("collectives", "kinetoscope collectives rank1.json.gz --row-limit 4"),
    ("diff", "kinetoscope diff base.json.gz fused.json.gz"),
    ("diff-tree", "kinetoscope diff-tree base.json.gz fused.json.gz --min-share 6"),
    (
        "trend",
        "for t in base base base base base base again again again again again again; do kinetoscope check $t.json.gz --record h.jsonl > /dev/null; done; kinetoscope trend h.jsonl",
    ),
    ("ranks", "kinetoscope ranks slow_forward/"),
    ("summarize", "kinetoscope summarize slow_forward/ -o run.ksum; kinetoscope ranks run.ksum | head -n 1"),
    ("merge", "kinetoscope merge slow_forward/ -o all.json; kinetoscope info all.json | head -n 4"),
    ("flops", "kinetoscope flops gpu.json"),
    ("compiled", "kinetoscope compiled recompiled.json.gz --provenance torch_trace.log.gz"),
    ("coverage", "kinetoscope coverage compiled.json"),
    ("patterns", "kinetoscope patterns steps.json.gz"),
    ("evaluation", "kinetoscope evaluation queue.json"),
    ("memory", "kinetoscope memory memory.json.gz --row-limit 6"),
    ("tree", "kinetoscope tree steps.json.gz --depth 4 --min-share 10"),
    ("samples", "kinetoscope samples samples.json"),
    ("modules", "kinetoscope modules run.json.gz"),
    ("stacks", "kinetoscope stacks stacks.json.gz --row-limit 3"),
    ("steps", "kinetoscope steps gpu.json"),
    ("serving", "kinetoscope serving serving.json.gz --capture capture.json.gz"),
    ("events", "kinetoscope events gpu.json --row-limit 4"),
    ("event-tree", "kinetoscope event-tree steps.json.gz --row-limit 6"),
    ("nodes", "kinetoscope nodes execution_trace.json.gz --row-limit 6"),
    ("names", "kinetoscope names gpu.json --row-limit 4"),
    ("counters", "kinetoscope counters gpu.json"),
    ("tracks", "kinetoscope tracks gpu.json"),
    ("info", "kinetoscope info gpu.json"),
    ("outline", "kinetoscope outline steps.json.gz --row-limit 3"),
    ("sql", ""),
    ("check", "kinetoscope check interleaved.json"),
    (
        "export chrome",
        "kinetoscope export chrome service.ktrace -o service.json; kinetoscope info service.json | head -n 4",
    ),
    (
        "export pftrace",
        "kinetoscope export pftrace steps.json.gz -o steps.pftrace; kinetoscope info steps.pftrace | head -n 4",
    ),
    // They are features that the tests do not build.
    ("export parquet", ""),
    ("export arrow", ""),
    ("export folded", "kinetoscope export folded stacks.json.gz | head -n 2"),
    ("export csv", "kinetoscope export csv gpu.json | head -n 3"),
    ("export eventlist", "kinetoscope export eventlist gpu.json | cut -c 1-90 | head -n 1"),
    ("export execution-trace", "kinetoscope export execution-trace steps.json.gz | cut -c 1-90 | head -n 4"),
    ("export memory-timeline", "kinetoscope export memory-timeline memory.json.gz | cut -c 1-90"),
    ("repair", "kinetoscope repair interleaved.json -o clean.json"),
    ("slice", "kinetoscope slice steps.json.gz --steps 1 -o one.json; kinetoscope info one.json | head -n 4"),
    ("shrink", "kinetoscope shrink run.json.gz --min-duration 100us -o small.json"),
    ("redact", "kinetoscope redact steps.json.gz --audit | tail -n 6"),
    ("view", ""),
    ("attach", ""),
    ("completions", "kinetoscope completions bash | head -n 1"),
    ("man", "kinetoscope man | head -n 4"),
];

/// Checks the page of every command, and the list of them.
pub(crate) fn check_pages() {
    let folder = source().join("reference/commands");
    let mut list = String::new();
    for (name, example) in EXAMPLES {
        let (file, about) = (name.replace(' ', "-") + ".md", about(name));
        check(&folder.join(&file), &page(name, &about, example));
        let _ = writeln!(list, "| [`{name}`](commands/{file}) | {about} |");
    }
    let known = QUERIES.iter().chain(COMPARISONS).map(|query| query.name.to_owned()).chain(
        EXPORTS.iter().map(|export| {
            let prefix = if export.kind == ExportKind::Form { "export " } else { "" };
            format!("{prefix}{}", export.name)
        }),
    );
    for name in known {
        assert!(EXAMPLES.iter().any(|(example, _)| *example == name), "{name} has no page");
    }
    check(&source().join("reference/commands.md"), &format!("{}{list}", include_str!("commands.md")));
}

/// The first paragraph of a command's help.
fn about(name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinetoscope"));
    let output = command.args(name.split(' ')).arg("-h").output().expect("a process");
    assert!(output.status.success(), "{name}");
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    help.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn page(name: &str, about: &str, example: &str) -> String {
    let mut out = format!("# kinetoscope {name}\n\n{}.\n\n", about.trim_end_matches('.'));
    let _ = writeln!(out, "```console\n$ kinetoscope {name} -h\n```");
    if !example.is_empty() {
        let _ = writeln!(out, "\n## Example\n\n```console\n$ {example}\n```");
    }
    if let Some(query) = QUERIES.iter().chain(COMPARISONS).find(|query| query.name == name) {
        let what = if query.is_one_row { "one row" } else { "rows" };
        let _ = writeln!(out, "\n## Columns\n\nThe JSON form has {what} with these keys:");
        match query.kinds {
            None => columns(&mut out, &query.columns()),
            Some(kinds) => {
                columns(&mut out, &[kinds.column]);
                for variant in kinds.variants {
                    let words: Vec<String> = variant.kinds.iter().map(|kind| format!("`{kind}`")).collect();
                    let _ = writeln!(out, "\nRows of the kind {}:", words.join(", "));
                    columns(&mut out, variant.columns);
                }
            }
        }
    }
    if name == "outline" {
        out.push_str("\n## Columns\n\nThe JSON form has rows with these keys:\n");
        columns(&mut out, COLUMNS);
    }
    crate::console::with_outputs(&out)
}

fn columns(out: &mut String, columns: &[Column]) {
    out.push_str("\n| key | title | type | |\n|---|---|---|---|\n");
    for column in columns {
        let null = if column.optional { ", or null" } else { "" };
        let about = column.about.replace('|', "\\|");
        let _ =
            writeln!(out, "| `{}` | {} | {}{null} | {about} |", column.key, column.title, unit(column.kind));
    }
}

/// The unit of a column's values, or the words that they can be.
fn unit(kind: CellType) -> String {
    match kind {
        CellType::Ns => "ns".to_owned(),
        CellType::UnixNs => "ns since 1970".to_owned(),
        CellType::Bytes => "bytes".to_owned(),
        CellType::Int | CellType::Amount => "count".to_owned(),
        CellType::Rate => "per second".to_owned(),
        CellType::Float => "number".to_owned(),
        CellType::Share => "share".to_owned(),
        CellType::Bool => "true or false".to_owned(),
        CellType::Text => "text".to_owned(),
        CellType::Word(vocabulary) => {
            vocabulary.words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        CellType::Json(_) => "JSON".to_owned(),
        CellType::Any => "text or number".to_owned(),
    }
}
