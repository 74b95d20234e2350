//! Texts that somebody else wrote, in every format of every command: nothing in them is obeyed, and no line is theirs.

use crate::support::{data, errors, kinetoscope};
use kinetoscope_core::queries::QUERIES;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A text with everything that an output could obey.
const HOSTILE: &str = "=1+1\n::error::x\r\u{1b}]0;PWNED\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}|\\|`<b>![t](https://evil.example/p)\
    ##[error]y;z";

/// A text of as many characters as there are after the escapes, so that tables have the same lines.
const PLAIN: &str = "plain;z";

/// A trace in which every text is `text` with a number: names, categories, keys, devices, threads, stacks.
fn trace(text: &str, rank: i64) -> String {
    let of = |n: usize| format!("{text}{n}");
    let span = |name: &str, cat: &str, ts: i64, dur: i64, args: Value| json!({"ph":"X","cat":cat,"name":name,"pid":1,"tid":1,"ts":ts,"dur":dur,"args":args});
    let mut events = vec![
        json!({"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":of(1)}}),
        json!({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":of(2)}}),
        json!({"ph":"C","name":of(3),"pid":1,"tid":1,"ts":1,"args":{of(4):5}}),
        json!({"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":3,"args":{"Addr":1,"Bytes":512,"Device Type":0,"Device Id":-1,"Total Allocated":512}}),
        json!({"ph":"b","id":of(5),"cat":of(6),"name":of(6),"pid":1,"tid":1,"ts":1}),
        json!({"ph":"e","id":of(5),"cat":of(6),"name":of(6),"pid":1,"tid":1,"ts":9}),
        json!({"ph":"X","cat":of(7),"name":of(7),"pid":of(1),"tid":of(2),"ts":1,"dur":2}),
    ];
    for step in 0..4 {
        let at = 1000 * step;
        events.push(span(&format!("ProfilerStep#{step}"), "user_annotation", at, 990, json!({})));
        events.push(span(&of(8), "user_annotation", at + 1, 900, json!({})));
        events.push(span(
            &of(9),
            "cpu_op",
            at + 2,
            800,
            json!({"External id":step,"Call stack":format!("{0};{0}", of(10)),"Input Dims":[[1]],"Input type":[of(11)]}),
        ));
        events.push(span(
            "cudaLaunchKernel",
            "cuda_runtime",
            at + 5,
            5,
            json!({"correlation":step + 1,"External id":step}),
        ));
        let args = json!({"correlation":step + 1,"device":0,"stream":7,"External id":step,"Collective name":"allreduce","Process Group Name":of(13)});
        events.push(json!({"ph":"X","cat":"kernel","name":format!("ncclDevKernel_{}", of(12)),"pid":0,"tid":7,"ts":at + 20,"dur":500,"args":args}));
        events.push(span(
            &of(14),
            "python_function",
            at + 2,
            700,
            json!({"Python id":step,"Python parent id":null}),
        ));
    }
    let devices = json!([{"id":0,"name":of(15),"computeMajor":9,"computeMinor":0,"numSms":132}]);
    let distributed = json!({"backend":of(16),"rank":rank,"world_size":2,"pg_config":[{"pg_name":of(13)}]});
    json!({"schemaVersion":1,"deviceProperties":devices,"distributedInfo":distributed,"traceName":of(17),of(18):of(19),
        "displayTimeUnit":of(20),"traceEvents":events})
    .to_string()
}

/// What no line of an output has.
fn obeyed(text: &str) -> Option<String> {
    let is_hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let is_obeyed =
        |line: &&str| line.trim_start().starts_with("::") || line.contains("##[") || line.contains(is_hidden);
    text.replace("\r\n", "\n").lines().find(is_obeyed).map(str::to_owned)
}

/// A folder with a hostile and a plain file of the same name.
fn files() -> (tempfile::TempDir, [String; 4]) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [("hostile", HOSTILE, 0), ("hostile", HOSTILE, 1), ("plain", PLAIN, 0), ("plain", PLAIN, 1)];
    let paths = paths.map(|(place, text, rank)| {
        let path = folder.path().join(place).join(format!("rank{rank}.json"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, trace(text, rank)).expect("a file");
        path.display().to_string()
    });
    (folder, paths)
}

fn output(arguments: &[&str]) -> String {
    let output = kinetoscope(arguments);
    assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {}", errors(&output));
    assert_eq!(obeyed(&errors(&output)), None, "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The arguments of every command that answers in a format, with the hostile or the plain files.
fn commands([rank0, rank1]: [&String; 2]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> =
        QUERIES.iter().map(|query| vec![query.name.to_owned(), rank0.clone()]).collect();
    let others: [&[&str]; 8] = [
        &["outline", rank0],
        &["ranks", rank0, rank1],
        &["diff", rank0, rank1],
        &["diff-tree", rank0, rank1],
        &["summary", rank0, rank1],
        &["redact", "--audit", rank0],
        &["patterns", "--report", rank0],
        &["ops", "--group-by", "shape,stack:3", rank0],
    ];
    all.extend(others.into_iter().map(|command| command.iter().map(|part| (*part).to_owned()).collect()));
    all
}

#[test]
fn no_format_of_a_command_obeys_a_text_of_a_trace() {
    let (_folder, [hostile0, hostile1, plain0, plain1]) = files();
    let pairs = commands([&hostile0, &hostile1]).into_iter().zip(commands([&plain0, &plain1]));
    for (hostile, plain) in pairs {
        for format in ["table", "csv", "md"] {
            let of = |command: &[String]| {
                let command: Vec<&str> =
                    command.iter().map(String::as_str).chain(["--format", format]).collect();
                output(&command)
            };
            let (ours, other) = (of(&hostile), of(&plain));
            assert_eq!(obeyed(&ours), None, "{hostile:?} {format}");
            assert_eq!(ours.lines().count(), other.lines().count(), "{hostile:?} {format}:\n{ours}\n{other}");
            match format {
                "csv" => assert!(!has_formula(&ours), "{hostile:?}: {ours}"),
                "md" => check_markdown(&ours),
                _ => {}
            }
        }
    }
}

/// The fields of CSV (RFC 4180).
fn fields(csv: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut rest = csv.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => {
                fields.push(std::mem::take(&mut field).trim_end_matches('\r').to_owned());
            }
            c => field.push(c),
        }
    }
    fields
}

#[test]
fn inputs_of_a_breaker_are_shown_and_not_obeyed() {
    for file in ["terminal-and-formula.json", "workflow-command.json", "markdown.json"] {
        let path = data("hostile").join(file).display().to_string();
        for query in QUERIES {
            for format in ["table", "csv", "md"] {
                let answer = kinetoscope(&[query.name, &path, "--format", format]);
                let text = String::from_utf8(answer.stdout.clone()).expect("UTF-8");
                assert_eq!(obeyed(&text), None, "{} {file} {format}", query.name);
                assert_eq!(obeyed(&errors(&answer)), None, "{} {file} {format}", query.name);
                match format {
                    "csv" => assert!(!has_formula(&text), "{} {file}: {text}", query.name),
                    "md" => check_markdown(&text),
                    _ => {}
                }
            }
        }
    }
    let markdown = data("hostile").join("markdown.json").display().to_string();
    let table = output(&["names", &markdown, "--format", "md"]);
    assert_eq!(table.lines().count(), 3, "{table}");
}

/// Whether a field begins a formula.
fn has_formula(csv: &str) -> bool {
    fields(csv).into_iter().any(|field| {
        field.trim_start().starts_with(['=', '+', '-', '@'])
            && !field.parse::<f64>().is_ok_and(f64::is_finite)
    })
}

fn check_markdown(text: &str) {
    for line in text.lines().filter(|line| line.starts_with('|')) {
        // A pipe ends a cell unless an odd number of backslashes is before it.
        let bytes = line.as_bytes();
        let is_end =
            |at: &usize| bytes[..*at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0;
        let cells = (0..bytes.len()).filter(|at| bytes[*at] == b'|').filter(is_end).count();
        let head = text.lines().find(|line| line.starts_with('|')).expect("a head");
        assert_eq!(cells, head.matches('|').count(), "{line}");
        assert!(!line.contains("<b>") && !line.contains("![t](") && !line.contains("https://"), "{line}");
    }
}

#[test]
fn json_and_exact_csv_have_the_texts_as_they_are() {
    let (_folder, [hostile, ..]) = files();
    let name = format!("{HOSTILE}9");
    let document: Value =
        serde_json::from_str(&output(&["ops", &hostile, "--format", "json"])).expect("JSON");
    let rows = document["traces"][0]["rows"].as_array().or(document["rows"].as_array()).expect("rows");
    assert!(
        rows.iter()
            .any(|row| row.as_object().is_some_and(|row| row.values().any(|value| *value == json!(name))))
    );
    let quoted = format!("\"{name}\"");
    assert!(output(&["ops", &hostile, "--format", "csv-exact"]).contains(&quoted));
    assert!(!output(&["ops", &hostile, "--format", "csv"]).contains(&quoted));
    assert!(output(&["export", "csv", &hostile, "--exact"]).contains(&quoted));
    let safe = output(&["export", "csv", &hostile]);
    assert!(obeyed(&safe).is_none() && !has_formula(&safe), "{safe}");
}

#[test]
fn blanks_before_a_command_or_a_formula_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let names = [
        "::error::a",
        "  ::error::b",
        "\u{a0}::error::c",
        "\u{3000}=1+1",
        " =HYPERLINK(1)",
        "-inf",
        "\n::error::d",
    ];
    let span = |(at, name): (usize, &&str)| json!({"ph":"X","cat":"cpu_op","name":name,"pid":1,"tid":1,"ts":10 * at,"dur":5});
    let mut events: Vec<Value> = names.iter().enumerate().map(span).collect();
    events.extend([
        json!({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"\n ::error::thread"}}),
        json!({"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"\n ::error::process"}}),
    ]);
    let files = ["m.json", "::error::f.json", "+ p.json", "1. x.json", "---.json", "    code.json"];
    for name in files {
        fs::write(path(name), json!({ "traceEvents": events }).to_string()).expect("a file");
    }
    let several = files.map(path);
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    for command in [&["export", "csv"][..], &["export", "folded", "--lanes"]] {
        let text = output(&[command, &several[..1]].concat());
        assert_eq!(obeyed(&text), None, "{command:?}: {text}");
    }
    for command in [&["ops"][..], &["names"], &["tree"], &["ops", "--rows", "events"]] {
        for format in ["table", "csv", "md"] {
            let text = output(&[command, &several, &["--format", format]].concat());
            assert_eq!(obeyed(&text), None, "{command:?} {format}: {text}");
            assert!(format != "csv" || !has_formula(&text), "{text}");
            let begins = |line: &str| line.is_empty() || line.starts_with('|') || line.starts_with("### ");
            assert!(format != "md" || text.lines().all(begins), "{text}");
        }
    }
}

#[test]
fn wrong_arguments_are_not_obeyed() {
    for command in [
        &["ops", "--sort-by", "x\n::error::boom", "m.json"][..],
        &["ops", "--sort-by", "\u{202e}##[error]x", "m.json"],
        &["ops", "--torch-version", "a\u{2028}\n  ::error::b", "m.json"],
        &["export", "x\n::error::y"],
        &["ops", "--\u{1b}[31m"],
    ] {
        let refused = kinetoscope(command);
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert_eq!(obeyed(&errors(&refused)), None, "{command:?}");
    }
}

#[test]
fn folded_stacks_have_a_line_for_each_stack() {
    let (_folder, [hostile, _, plain, _]) = files();
    for command in [&["export", "folded"][..], &["export", "folded", "--lanes"]] {
        let [ours, other] = [&hostile, &plain].map(|path| output(&[command, &[path]].concat()));
        assert_eq!(obeyed(&ours), None);
        assert_eq!(ours.lines().count(), other.lines().count(), "{command:?}\n{ours}\n{other}");
        assert!(ours.lines().all(|line| line.split(' ').count() == 2), "{ours}");
    }
}

#[test]
fn files_with_hostile_names_are_reported_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let names =
        ["a\n::error::x\u{1b}[31m.json", "-o.json", "=1+1,x.json", "[x](y)|z\\.json", "\u{202e}b.json"];
    let good = fs::read(data("healthy/small_gpu_trace.json")).expect("a file");
    for name in names {
        fs::write(folder.path().join(name), &good).expect("a file");
        fs::write(folder.path().join(format!("bad {name}")), "x").expect("a file");
    }
    let folder = folder.path().display().to_string();
    for format in ["table", "csv", "md"] {
        for command in ["summary", "steps", "outline", "ranks"] {
            let answer = kinetoscope(&[command, &folder, "--format", format]);
            assert_eq!(obeyed(&errors(&answer)), None, "{command}");
            let text = String::from_utf8_lossy(&answer.stdout).into_owned();
            assert_eq!(obeyed(&text), None, "{command} {format}");
            assert!(format != "csv" || !has_formula(&text), "{text}");
        }
    }
    assert!(!Path::new("o.json").exists());
}

#[test]
fn reports_of_budgets_have_no_text_that_is_obeyed() {
    let (folder, [hostile, ..]) = files();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let budgets = output(&["check", "--init", &hostile]);
    assert_eq!(obeyed(&budgets), None, "{budgets}");
    let tight = |line: &str| match line.strip_prefix("max = ") {
        Some(value) if value.starts_with('"') => "max = \"0.001 us\"\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let tight: String = budgets.lines().map(tight).collect();
    assert!(tight.contains("[operator."), "{tight}");
    fs::write(path("b [1](x).toml"), tight).expect("a file");
    let reports = ["md", "xml", "sarif", "csv", "json"].map(|end| path(&format!("r.{end}")));
    let mut command = vec!["check".to_owned(), path("b [1](x).toml"), hostile];
    command.extend(reports.iter().flat_map(|report| ["--report".to_owned(), report.clone()]));
    let checked = kinetoscope(&command.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(checked.status.code(), Some(1), "{}", errors(&checked));
    assert_eq!(obeyed(&String::from_utf8_lossy(&checked.stdout)), None);
    let [md, xml, sarif, csv, _] = reports.map(|path| fs::read_to_string(path).expect("a report"));
    for text in [&md, &xml, &csv] {
        assert_eq!(obeyed(text), None, "{text}");
    }
    check_markdown(&md);
    assert!(!has_formula(&csv));
    assert!(!xml.contains("<b>") && xml.lines().all(|line| line.trim_start().starts_with('<')), "{xml}");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    let message = sarif["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|entry| entry["message"]["text"].as_str().expect("a text"));
    assert!(
        message.clone().any(|text| text.contains("!\\[t\\]("))
            && message.clone().all(|text| obeyed(text).is_none())
    );
    let uri =
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("an address");
    assert!(uri.ends_with("b%20%5B1%5D%28x%29.toml"), "{uri}");
}
