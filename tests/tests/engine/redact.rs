//! Redaction: private words in every field and every spelling are removed; structure, times and public names are kept.

use crate::private_traces::{WORDS, every_text, kineto, records, results, texts};
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::classes::Classes;
use kinetoscope_core::analysis::device::idle::name_sign;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::tasks::task_rows::{self, TasksBy, TasksOptions};
use kinetoscope_core::analysis::timeline::samples::{self, SamplesOptions};
use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::output::write::redact::audit::audit;
use kinetoscope_core::queries::export;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::metadata::Source;
use kinetoscope_tests::exports::exported;
use kinetoscope_tests::files;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Names of torch, of API calls and of kernels that a redacted trace must keep.
const PUBLIC: &str = include_str!("private_traces/public_names.txt");

/// The number of letters from which a part of a word counts as a leak.
const PART: usize = 4;

fn redact(trace: &Trace, salt: &[u8]) -> String {
    String::from_utf8(exported(trace, "redact", salt)).expect("UTF-8")
}

fn read(bytes: &[u8]) -> Trace {
    Trace::read(bytes).expect("a trace")
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    (0..=word.len() - PART).map(move |at| &word[at..at + PART])
}

/// Returns every part of a private word in a text, also with digits and `_` between its letters.
fn leaks(text: &str) -> BTreeSet<&'static str> {
    let text = text.to_ascii_lowercase();
    let letters: String = text.chars().filter(|c| !c.is_ascii_digit() && *c != '_').collect();
    let found = |part: &&str| text.contains(part) || letters.contains(part);
    WORDS.iter().flat_map(|word| parts(word)).filter(found).collect()
}

/// Returns everything that redaction keeps: times, phases, nesting and links.
fn structure(trace: &Trace) -> String {
    let table = &trace.table;
    let rows: Vec<_> = table
        .rows()
        .map(|row| {
            (table.ts(row), table.dur(row), table.ph(row), table.category(row), table.name(row).is_empty())
        })
        .collect();
    let fields: Vec<usize> = table.rows().map(|row| table.all_fields(row).count()).collect();
    let (pairs, links) = (&trace.pairs, &trace.links);
    format!(
        "{rows:?} {fields:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
        trace.tree.rows(),
        trace.tree.positions().map(|at| trace.tree.parent(at)).collect::<Vec<_>>(),
        pairs.spans,
        pairs.asyncs,
        pairs.flows,
        links.launch_of,
        links.op_of,
        links.forward_of,
        table.metadata.entries.len()
    )
}

/// Checks that equal texts stay equal and different texts stay different.
fn same_names(before: &Trace, after: &Trace) -> Result<(), TestCaseError> {
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    for row in before.table.rows() {
        let key = (before.table.name(row), before.table.category(row) as u8);
        let name = after.table.name(row);
        prop_assert_eq!(*there.entry(key).or_insert(name), name);
        prop_assert_eq!(*back.entry(name).or_insert(key.0), key.0);
    }
    Ok(())
}

/// The same trace in Perfetto's format.
fn perfetto(document: &str) -> Vec<u8> {
    exported(&read(document.as_bytes()), "pftrace", b"")
}

fn check(document: impl AsRef<[u8]>) -> Result<(), TestCaseError> {
    let before = read(document.as_ref());
    let redacted = redact(&before, b"salt");
    let found = leaks(&redacted);
    prop_assert!(found.is_empty(), "{:?} leaked in\n{}", found, redacted);
    let found = leaks(&audit(&before.table).to_csv());
    prop_assert!(found.is_empty(), "{:?} leaked in the audit", found);
    let after = read(redacted.as_bytes());
    if before.table.metadata.source == after.table.metadata.source {
        prop_assert_eq!(structure(&before), structure(&after));
    }
    prop_assert_eq!(before.table.len(), after.table.len());
    same_names(&before, &after)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn private_words_are_removed(texts in texts()) {
        for document in [kineto(&texts), records(&texts), results(&texts)] {
            check(&document)?;
        }
        check(perfetto(&kineto(&texts)))?;
    }
}

#[test]
fn every_spelling_of_a_private_word_is_removed_in_every_place() {
    let texts = every_text();
    for start in (0..texts.len()).step_by(97) {
        let mut turned = texts.clone();
        turned.rotate_left(start);
        for document in [kineto(&turned), records(&turned), results(&turned)] {
            check(&document).unwrap_or_else(|e| panic!("{e}"));
        }
        check(perfetto(&kineto(&turned))).unwrap_or_else(|e| panic!("{e}"));
    }
    // Each text also as a name and as the value of each key alone, in every category.
    for cat in
        ["cpu_op", "user_annotation", "python_function", "kernel", "gpu_memcpy", "cuda_runtime", "overhead"]
    {
        let events: Vec<Value> = texts
            .iter()
            .map(|text| serde_json::json!({"ph": "X", "cat": cat, "name": text, "pid": text, "tid": text, "ts": 1, "dur": 1}))
            .collect();
        let document = Value::Array(events).to_string();
        check(perfetto(&document)).unwrap_or_else(|e| panic!("{e}"));
        check(document).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn dates_and_telephone_numbers_are_removed() {
    const NUMBERS: [&[&str]; 3] =
        [&["2024", "11", "22"], &["555", "123", "4567"], &["4111", "1111", "1111", "1111"]];
    const BETWEEN: [&str; 8] = ["", "-", "_", " ", "::", ".", "/", ":"];
    let places = "@|aten::add_@|aten::@|aten::add.@|AddBackward@|Add_@Backward0|nccl:all_reduce_@|cudaLaunch_@|gemm @|gemm@|\
        gemm(@)|gemm<int, @>|triton_@|triton_ @ call|Cijk_@|torch/@.py(1): forward|torch/_ops.py(5): at::_ops::add(@)|\
        x.py(1): at::_ops::call @|torch/_ops.py(1): f@|autograd::engine::evaluate_function: aten::add_@|ProfilerStep#@|\
        thread @|stream @|GPU @|nn.Module: Linear_@|NVIDIA @|+1 (@)";
    let mut leaks = Vec::new();
    for (number, between) in NUMBERS.iter().flat_map(|n| BETWEEN.iter().map(move |b| (n, *b))) {
        for text in places.split('|').map(|place| place.replace('@', &number.join(between))) {
            for cat in ["cpu_op", "kernel", "python_function"] {
                let event = serde_json::json!({"ph": "X", "cat": cat, "name": text, "pid": 1, "tid": 1, "ts": 1, "dur": 1,
                    "args": {"kernel": text, "Call stack": text, "name": text}});
                let document =
                    serde_json::json!({"deviceProperties": [{"name": text}], "traceEvents": [event]});
                let redacted = redacted(&document.to_string());
                let event = &redacted["traceEvents"][0];
                let args = &event["args"];
                let kept = [
                    &event["name"],
                    &args["kernel"],
                    &args["Call stack"],
                    &args["name"],
                    &redacted["deviceProperties"][0]["name"],
                ];
                for text in kept.map(|kept| kept.as_str().expect("a text")) {
                    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                    if digits.contains(&number.concat()) {
                        leaks.push(format!("{cat} {text}"));
                    }
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn no_public_text_contains_a_private_word() {
    assert_eq!(leaks(PUBLIC), BTreeSet::new());
    assert_eq!(leaks(include_str!("../../../core/src/output/write/redact/words.txt")), BTreeSet::new());
    for part in WORDS.iter().flat_map(|word| parts(word)) {
        assert!(part.bytes().any(|b| b > b'f' && b != b'x'), "a pseudonym can spell {part}");
    }
}

#[test]
fn public_names_are_kept() {
    let mut lost = Vec::new();
    for (cat, name) in PUBLIC.lines().filter_map(|line| line.split_once('\t')) {
        let event =
            serde_json::json!([{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1}]);
        let after = read(redact(&read(event.to_string().as_bytes()), b"").as_bytes());
        let (table, row) = (&after.table, Row::new(0));
        if table.name(row) != name || table.cat(row) != cat {
            lost.push(format!("{cat} {name}: {}", table.name(row)));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(PUBLIC.lines().count() > 100);
}

fn redacted(text: &str) -> Value {
    serde_json::from_str(&redact(&read(text.as_bytes()), b"salt")).expect("JSON")
}

#[test]
fn values_of_public_keys_are_kept_and_others_removed() {
    let args = r#"{"External id":7,"correlation":9,"Input Dims":[[2,3],[]],"Input type":["float","c10::Half","Falcon"],
        "Concrete Inputs":["","True","[1, 2]","1e-05","10.1.2.3","cuda:0"],"grid":[1,2,3],"Process Group Name":"0",
        "Process Group Description":"payments","bytes":"616","stream":"0x0","cuda_sync_kind":"Stream Wait Event",
        "est. achieved occupancy %":"35.5","customer":4711,"flag":true,"nothing":null,"value":12.5,"host_address":"10.1.2.3","phone":"5551234"}"#;
    let document = redacted(&format!(
        r#"{{"schemaVersion":1,"displayTimeUnit":"ms","port":8080,"deviceProperties":[{{"id":0,"name":"NVIDIA A100-SXM4-40GB","numSms":108,"slot":5}}],
        "distributedInfo":{{"backend":"nccl","rank":1,"world_size":2,"nccl_version":"2.18.1"}},
        "traceEvents":[{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":3,"args":{args}}}]}}"#
    ));
    let event = &document["traceEvents"][0];
    let args = event["args"].as_object().expect("arguments");
    for (key, kept) in [
        ("External id", "7"),
        ("correlation", "9"),
        ("Input Dims", "[[2,3],[]]"),
        ("grid", "[1,2,3]"),
        ("Process Group Name", "\"0\""),
        ("bytes", "\"616\""),
        ("est. achieved occupancy %", "\"35.5\""),
        ("cuda_sync_kind", "\"Stream Wait Event\""),
    ] {
        assert_eq!(args[key].to_string(), kept, "{key}");
    }
    let is_pseudonym = |value: &Value| {
        let text = value.as_str().unwrap_or("");
        text.len() == 17 && text.starts_with('x') && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
    };
    assert_eq!(args["Input type"][1], "c10::Half");
    assert!(is_pseudonym(&args["Input type"][2]));
    let inputs = args["Concrete Inputs"].as_array().expect("a list");
    assert_eq!(inputs[..4], ["", "True", "[1, 2]", "1e-05"].map(Value::from));
    assert!(inputs[4..].iter().all(is_pseudonym));
    for key in ["Process Group Description", "stream", "value"] {
        assert!(is_pseudonym(&args[key]), "{key}: {}", args[key]);
    }
    let hidden: Vec<&Value> =
        args.iter().filter(|(key, _)| is_pseudonym(&Value::from(key.as_str()))).map(|(_, v)| v).collect();
    assert_eq!(hidden.len(), 5);
    assert_eq!(hidden.iter().filter(|v| is_pseudonym(v)).count(), 3);
    assert_eq!(hidden.iter().filter(|v| v.is_boolean() || v.is_null()).count(), 2);
    assert_eq!(document["deviceProperties"][0]["name"], "NVIDIA A100-SXM4-40GB");
    assert_eq!(document["distributedInfo"]["nccl_version"], "2.18.1");
    assert!(document.get("port").is_none() && !document.to_string().contains("8080"));
    let device = document["deviceProperties"][0].as_object().expect("a device");
    assert!(
        device.iter().any(|(key, value)| is_pseudonym(&Value::from(key.as_str())) && is_pseudonym(value))
    );
}

#[test]
fn values_of_custom_counters_are_removed_under_every_key() {
    let text = r#"[{"ph":"C","name":"GPU 0 Utilization","pid":1,"ts":1,"args":{"used":90}},
        {"ph":"C","name":"payroll","pid":1,"ts":1,"args":{"used":81000,"size":[7000]}},
        {"ph":"X","name":"payroll","pid":1,"tid":1,"ts":1,"dur":1,"args":{"used":5}}]"#;
    let events = redacted(text);
    assert_eq!([&events[0]["args"]["used"], &events[2]["args"]["used"]], [90, 5]);
    assert!(events[1]["args"]["used"].is_string() && events[1]["args"]["size"][0].is_string());
}

#[test]
fn references_to_stack_frames_stay_valid() {
    let text = r#"{"stackFrames":{"5":{"name":"payroll","category":"falcon","parent":"4"},"4":{"name":"torch/_ops.py(1): __call__"},"payroll":{}},
        "traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"sf":5},{"ph":"X","name":"a","pid":1,"tid":1,"ts":2,"dur":1,"sf":"payroll"}]}"#;
    let document = redacted(text);
    let frames = &document["stackFrames"];
    assert_eq!((&frames["5"]["parent"], &document["traceEvents"][0]["sf"]), (&"4".into(), &5.into()));
    assert_eq!(frames["4"]["name"], "torch/_ops.py(1): __call__");
    let named = document["traceEvents"][1]["sf"].as_str().expect("a pseudonym");
    assert!(frames[named].is_object() && !document.to_string().contains("payroll"));
    assert!(!document.to_string().contains("falcon"));
}

#[test]
fn flows_of_version_2_are_kept() {
    let event = |pid: i64, ts: i64, ids: &str| {
        format!(
            r#"{{"ph":"X","name":"walrus","pid":{pid},"tid":1,"ts":{ts},"dur":5,"use_async_tts":1,{ids}}}"#
        )
    };
    let events = [
        event(1, 0, r#""bind_id":"0x7","flow_out":true"#),
        event(2, 10, r#""bind_id":"0x7","flow_in":true,"flow_out":false"#),
        event(3, 0, r#""bind_id":"walrus","flow_out":true"#),
        event(4, 10, r#""bind_id":"walrus","flow_in":true"#),
    ];
    let trace = read(format!("[{}]", events.join(",")).as_bytes());
    assert_eq!(trace.pairs.flows.len(), 2);
    let redacted = redact(&trace, b"salt");
    assert!(!redacted.contains("walrus"), "{redacted}");
    assert_eq!(read(redacted.as_bytes()).pairs.flows, trace.pairs.flows);
}

#[test]
fn a_pseudonym_depends_only_on_the_text_and_the_salt() {
    let trace = read(br#"[{"ph":"X","name":"secret","cat":"secret","pid":"secret","tid":1,"ts":1,"dur":1,"args":{"secret":"secret"}}]"#);
    let redacted = redact(&trace, b"one");
    let event = &serde_json::from_str::<Value>(&redacted).expect("JSON")[0];
    let name = event["name"].as_str().expect("a name");
    assert_eq!([&event["cat"], &event["pid"], &event["args"][name]], [name, name, name]);
    assert_eq!(redacted, redact(&trace, b"one"));
    assert_ne!(redacted, redact(&trace, b"other"));
}

#[test]
fn an_audit_lists_kept_texts_and_counts_removed_ones() {
    let text = r#"{"host_name":"vorpkludge","traceEvents":[
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":1},
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":3,"dur":1,"args":{"Bytes":4,"zyxwomp":1}},
        {"ph":"X","cat":"user_annotation","name":"Optimizer.step#Zyxwomp.step","pid":1,"tid":2,"ts":5,"dur":1},
        {"ph":"X","cat":"user_annotation","name":"zyxwomp","pid":1,"tid":2,"ts":7,"dur":1}]}"#;
    let csv = audit(&read(text.as_bytes()).table).to_csv().replace('\r', "");
    let expected = "field,kept,rule,count,text\n\
        args,false,no rule,1,\n\
        args (key),false,no rule,1,\n\
        args (key),true,known key,1,Bytes\n\
        args.Bytes,true,number,1,\n\
        category,true,category,2,cpu_op\n\
        category,true,category,2,user_annotation\n\
        metadata (key),true,known key,1,host_name\n\
        metadata.host_name,false,no rule,1,\n\
        name,false,no rule,1,\n\
        name,true,known name,1,Optimizer.step#….step\n\
        name,true,operator,2,aten::mm\n\
        pid or tid,true,number,8,\n";
    assert_eq!(csv, expected);
}

/// Returns texts of a real trace that are certainly private: metadata about people and machines, and paths.
fn private_texts(trace: &Trace) -> BTreeSet<String> {
    let about = [
        "host_name",
        "username",
        "tw_job",
        "mast_job_name",
        "logical_server_subtype",
        "traceName",
        "trace_id",
    ];
    let metadata =
        about.iter().filter_map(|key| trace.table.metadata.value(key)?.as_str().map(str::to_owned));
    let paths = trace.table.names.iter().flat_map(|(_, text)| text.split(';')).filter_map(|frame| {
        let (path, _) = frame.split_once(".py(")?;
        let is_torch = path.starts_with("torch/");
        (!is_torch && path.contains('/')).then(|| path.to_owned())
    });
    metadata.chain(paths).filter(|text| text.len() >= 6).collect()
}

#[test]
fn redacted_real_traces_keep_their_structure_without_paths_and_hosts() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let manifest = fs::read(folder.join("MANIFEST.json")).expect("a manifest");
    let rows: Vec<Value> = serde_json::from_slice(&manifest).expect("a manifest");
    let (mut checked, mut private, mut faults) = (0, 0, Vec::new());
    for row in rows.iter().filter(|r| r["kind"] == "chrome-trace" || r["kind"] == "memory-snapshot(pickle)") {
        let name = row["file"].as_str().expect("a file");
        if row["uncompressed"].as_u64().is_some_and(|bytes| bytes > 12 << 20) {
            continue;
        }
        let before = kinetoscope::open(folder.join(name)).expect(name);
        let redacted = redact(&before, b"salt");
        let after = read(redacted.as_bytes());
        checked += 1;
        if structure(&before) != structure(&after) {
            faults.push(format!("{name}: the structure changed"));
        }
        if classes(&before) != classes(&after) {
            faults.push(format!("{name}: the classes of kernels or the causes of idle time changed"));
        }
        for text in private_texts(&before) {
            private += 1;
            if redacted.contains(&text) {
                faults.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 100 && private > 200, "{checked} files, {private} texts");
}

/// What the names of kernels and of spans of the host decide.
fn classes(trace: &Trace) -> String {
    let analysis = Analysis::new(trace);
    let devices = analysis.devices().iter().map(|device| (&device.classes, device.idle_by_cause()));
    let kernels = Classes::new(trace);
    let work = trace.table.rows().filter(|&row| trace.table.category(row).is_device_work());
    let kernels: Vec<_> = work.map(|row| (kernels.category(row), kernels.tensor_cores(row))).collect();
    format!("{:?} {kernels:?}", devices.collect::<Vec<_>>())
}

#[test]
fn hidden_names_keep_what_they_show() {
    let span = |cat: &str, name: &str| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":1,"dur":2,"args":{{"device":0,"stream":7}}}}"#
        )
    };
    let names = [
        ("kernel", "acme_secret_gemm_kernel"),
        ("kernel", "acme_flash_attention_fwd"),
        ("kernel", "acme_nccl_ring"),
        ("kernel", "acme_unknown"),
        ("python_function", "acme/threading.py(12): wait"),
        ("python_function", "<built-in method acquire of _thread.lock object at 0x7fac>"),
        ("python_function", "acme/triton/compiler/compiler.py(7): acme_build"),
        ("cpu_op", "acme_compile (dynamo_timed)"),
        ("user_annotation", "Optimizer.step#AcmeFused.acme"),
        ("user_annotation", "acme"),
    ];
    let events = names.map(|(cat, name)| span(cat, name)).join(",");
    let before = read(format!("[{events}]").as_bytes());
    let redacted = redact(&before, b"salt");
    let after = read(redacted.as_bytes());
    assert!(!redacted.to_lowercase().contains("acme"), "{redacted}");
    for row in before.table.rows() {
        let class = |trace: &Trace| {
            let (classes, table) = (Classes::new(trace), &trace.table);
            let kernel = (table.category(row) == Category::Kernel).then(|| classes.category(row));
            (kernel, name_sign(table.category(row), table.name(row)))
        };
        assert_eq!(class(&before), class(&after), "{} {}", before.table.name(row), after.table.name(row));
    }
}

/// The rows without texts, which are pseudonyms after redaction.
fn numbers(rows: &Rows) -> Vec<String> {
    let number = |cell: &Cell| (!matches!(cell, Cell::Text(_))).then(|| format!("{cell:?}"));
    rows.rows.iter().map(|row| row.iter().filter_map(number).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn tasks_and_samples_are_answered_after_redaction() {
    let both = |name: &str| {
        let trace = read(&fs::read(files::data().join("healthy").join(name)).expect("a fixture"));
        let redacted = read(redact(&trace, b"salt").as_bytes());
        [trace, redacted]
    };
    let waits = |trace: &Trace| {
        let rows = task_rows::tasks(trace, &TasksOptions { by: TasksBy::Wait, ..TasksOptions::default() });
        (numbers(&rows), rows.rows.iter().filter(|row| matches!(row[1], Cell::Null)).count())
    };
    let [before, after] = both("asynchronous_tasks.json");
    assert_eq!(waits(&before), waits(&after));
    assert!(!waits(&before).0.is_empty());
    let samples = |trace: &Trace| numbers(&samples::samples(trace, &SamplesOptions::default()));
    let [before, after] = both("samples.json");
    assert_eq!(samples(&before), samples(&after));
    assert!(!samples(&before).is_empty());
}

#[test]
fn execution_traces_are_refused() {
    let folder = files::data().join("execution_traces");
    let mut refused = 0;
    for path in files::below(&folder) {
        let Ok(trace) = kinetoscope::open(&path) else { continue };
        if trace.table.metadata.source == Source::ExecutionTrace {
            let error =
                export("redact").expect("an export").begin(&trace, &Options::default(), b"salt").err();
            assert!(error.is_some(), "{}", path.display());
            refused += 1;
        }
    }
    assert!(refused > 0);
}

#[test]
fn recordings_and_snapshots_are_redacted() {
    for (file, words) in [
        (
            "healthy/recording.ktrace",
            &["tmp_fixture", "request", "still open", "worker", "cold", "reason"][..],
        ),
        (
            "snapshots/small-protocol-5.pickle",
            &["model", "train", "main", "loss", "cross_entropy", "python3"][..],
        ),
    ] {
        let before = kinetoscope::open(files::data().join(file)).expect(file);
        let redacted = redact(&before, b"salt");
        let after = read(redacted.as_bytes());
        assert_eq!(before.table.len(), after.table.len());
        for text in words {
            assert!(!redacted.contains(text), "{file}: {text}");
        }
    }
}
