//! Groups of device work: answers worked out by hand, sums against a naive count, and the tables of HTA and of
//! PyTorch's TensorBoard plugin.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::classes::{Class, Classes};
use kinetoscope_core::analysis::device::kernels::KernelGroup;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_tests::answers::{made, rows, rows_with};
use kinetoscope_tests::files;
use kinetoscope_tests::peers::{Peers, Tally, csv, json as json_of, without_last_step};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A span; times are in microseconds.
fn span(category: &str, name: &str, (start, end): (i64, i64), args: &Value) -> Value {
    let is_device = category == "kernel" || category.starts_with("gpu_");
    let (pid, tid) = if is_device { ("0", "7") } else { ("1", "1") };
    json!({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start, "args": args})
}

/// Adds an operator, its launch call and its kernel.
fn launched(
    events: &mut Vec<Value>,
    id: i64,
    (op, dims): (&str, Value),
    (kernel, dur): (&str, i64),
    args: Value,
) {
    let at = id * 1000;
    let mut kernel_args = args;
    kernel_args["correlation"] = id.into();
    events.extend([
        span("cpu_op", op, (at, at + 50), &json!({"External id": id, "Input Dims": dims})),
        span(
            "cuda_runtime",
            "cudaLaunchKernel",
            (at + 10, at + 15),
            &json!({"correlation": id, "External id": id}),
        ),
        span("kernel", kernel, (at + 20, at + 20 + dur), &kernel_args),
    ]);
}

const GEMM: &str = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn";

/// Three matrix products of 10, 20 and 30, a sum of 40, a copy of 5 and a collective of 7.
fn program() -> Trace {
    let mut events = vec![
        span("python_function", "nn.Module: Net_0", (900, 5900), &json!({"Python id": 1})),
        span(
            "python_function",
            "nn.Module: Linear_0",
            (950, 2900),
            &json!({"Python id": 2, "Python parent id": 1}),
        ),
    ];
    let on = |blocks: f64, occupancy: i64| json!({"blocks per SM": blocks, "est. achieved occupancy %": occupancy});
    let dims = |n: i64| json!([[n, 3], [3, 4]]);
    launched(&mut events, 1, ("aten::mm", dims(2)), (GEMM, 10), on(0.5, 20));
    launched(&mut events, 2, ("aten::mm", dims(2)), (GEMM, 20), on(2.0, 0));
    launched(&mut events, 3, ("aten::addmm", dims(5)), (GEMM, 30), on(1.5, 50));
    let grid = json!({"grid": [1, 2, 3], "block": [32, 1, 1]});
    launched(&mut events, 4, ("aten::sum", Value::Null), ("void reduce_kernel<512>(int)", 40), grid);
    launched(&mut events, 6, ("aten::copy_", Value::Null), ("void direct_copy_kernel<4>()", 5), json!({}));
    events.push(span("kernel", "multimem_all_reduce_kernel", (9000, 9007), &json!({})));
    events.push(span("gpu_memcpy", "Memcpy DtoH", (9100, 9103), &json!({"bytes": 100})));
    made(&json!(events))
}

fn by<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["short_name"] == name).unwrap_or_else(|| panic!("{name} in {rows:?}"))
}

/// The categories of 1,212 real names, and whether they use tensor cores. A third of them was set apart when the rules were written.
#[test]
fn real_names_have_their_categories() {
    let text = files::read(&files::data().join("kernel-names.csv")).expect("the names");
    let text = String::from_utf8(text).expect("UTF-8");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.splitn(4, ',').collect()).collect();
    let events: Vec<Value> = (0..).zip(&rows).map(|(at, row)| json!({"ph": "X", "cat": "kernel", "name": row[3], "pid": 0, "tid": 7, "ts": at * 10, "dur": 5})).collect();
    let trace = made(&json!(events));
    let classes = Classes::new(&trace);
    let (mut categories, mut tensor_cores) = (Vec::new(), Vec::new());
    let mut counts = BTreeMap::new();
    for (row, event) in rows.iter().zip(trace.table.rows()) {
        *counts.entry(row[0]).or_insert(0) += 1;
        let category = classes.category(event).as_str();
        if category != row[1] {
            categories.push((row[0], format!("{category}, not {}: {}", row[1], row[3])));
        }
        let uses = classes.tensor_cores(event).map_or("unknown", |uses| if uses { "yes" } else { "no" });
        if uses != row[2] {
            tensor_cores.push((row[0], format!("{uses}, not {}: {}", row[2], row[3])));
        }
    }
    let share = |faults: &[(&str, String)], set: &str| {
        faults.iter().filter(|fault| fault.0 == set).count() as f64 / f64::from(counts[set])
    };
    for (set, least) in [("rules", 0.003), ("apart", 0.03)] {
        assert!(share(&categories, set) <= least, "{set}: {categories:#?}");
        assert!(share(&tensor_cores, set) <= least, "{set}: {tensor_cores:#?}");
    }
}

/// Blocks: (0.5·10 + 2·20 + 1.5·30) / 60 = 1.5; SMs: (0.5·10 + 1·20 + 1·30) / 60; occupancy without the 0:
/// (20·10 + 50·30) / 40. The deviation of 10, 20 and 30 is 10.
#[test]
fn a_group_has_the_statistics_of_its_kernels() {
    let rows = rows(&program(), "kernels");
    let row = by(&rows, GEMM);
    let close = |key: &str, value: f64| {
        let found = row[key].as_f64().expect(key);
        assert!((found - value).abs() < 1e-9, "{key}: {found}");
    };
    assert_eq!((&row["count"], &row["sum_ns"], &row["std_ns"]), (&json!(3), &json!(60_000), &json!(10_000)));
    assert_eq!((&row["category"], &row["class"]), (&json!("gemm"), &json!("compute")));
    assert_eq!((&row["tensor_cores"], row["tensor_core_share"].as_f64()), (&json!(true), Some(1.0)));
    close("blocks_per_sm", 1.5);
    close("sm_share", 55.0 / 60.0);
    close("occupancy_percent", 1700.0 / 40.0);
    let sum = by(&rows, "reduce_kernel<512>");
    for key in ["std_ns", "blocks_per_sm", "sm_share", "occupancy_percent"] {
        assert_eq!(sum[key], Value::Null, "{key}");
    }
    assert_eq!((&sum["tensor_cores"], sum["tensor_core_share"].as_f64()), (&json!(false), Some(0.0)));
    assert_eq!(by(&rows, "multimem_all_reduce_kernel")["class"], "communication");
    let copies = ["direct_copy_kernel<4>", "Memcpy DtoH"].map(|name| by(&rows, name));
    assert_eq!(copies.map(|row| row["category"].clone()), [json!("copy"), json!("copy")]);
    assert_eq!(copies.map(|row| row["class"].clone()), [json!("compute"), json!("memcpy")]);
}

#[test]
fn groups_have_the_sums_of_what_they_are_named_after() {
    let trace = program();
    let sums = |by: &str| -> BTreeMap<String, i64> {
        let rows = rows_with(&trace, "kernels", &json!({"by": by}));
        let sum = |row: &Value| (row["name"].as_str().expect("a name").to_owned(), row["sum_ns"].as_i64());
        rows.iter().map(sum).map(|(name, sum)| (name, sum.expect("a sum") / 1000)).collect()
    };
    let expected = |sums: &[(&str, i64)]| -> BTreeMap<String, i64> {
        sums.iter().map(|&(name, sum)| (name.to_owned(), sum)).collect()
    };
    assert_eq!(
        sums("category"),
        expected(&[("gemm", 60), ("reduction", 40), ("copy", 8), ("communication", 7)])
    );
    assert_eq!(
        sums("operator"),
        expected(&[
            ("aten::mm", 30),
            ("aten::addmm", 30),
            ("aten::sum", 40),
            ("aten::copy_", 5),
            ("(no operator)", 10)
        ])
    );
    assert_eq!(sums("module"), expected(&[("Linear_0", 30), ("Net_0", 70), ("(no module)", 15)]));
    let shapes = [
        (format!("{GEMM} [[2,3],[3,4]]"), 30),
        (format!("{GEMM} [[5,3],[3,4]]"), 30),
        ("void reduce_kernel<512>(int) grid [1,2,3] block [32,1,1]".to_owned(), 40),
        ("void direct_copy_kernel<4>()".to_owned(), 5),
        ("multimem_all_reduce_kernel".to_owned(), 7),
        ("Memcpy DtoH".to_owned(), 3),
    ];
    assert_eq!(sums("shape"), shapes.into());
    let rows = rows_with(&trace, "kernels", &json!({"by": "category"}));
    assert_eq!((&by(&rows, "copy")["class"], &by(&rows, "copy")["category"]), (&Value::Null, &json!("copy")));
    let rows = rows_with(&trace, "kernels", &json!({"by": "module"}));
    let net = by(&rows, "Net_0");
    assert_eq!((&net["tensor_cores"], &net["category"]), (&json!(true), &Value::Null));
    assert_eq!(net["tensor_core_share"], 30.0 / 70.0);
    assert_eq!(by(&rows, "(no module)")["class"], Value::Null);
}

/// The kernels of a backward operator belong to the module of its forward operator.
#[test]
fn backward_kernels_belong_to_the_module_of_the_forward_operator() {
    let flow = |ph: &str, at: i64, tid: &str| json!({"ph": ph, "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": "1", "tid": tid, "ts": at, "bp": "e"});
    let mut events =
        vec![span("python_function", "nn.Module: Linear_0", (900, 1900), &json!({"Python id": 1}))];
    launched(&mut events, 1, ("aten::linear", Value::Null), (GEMM, 10), json!({}));
    launched(&mut events, 2, ("MmBackward0", Value::Null), (GEMM, 20), json!({}));
    launched(&mut events, 3, ("aten::mul", Value::Null), (GEMM, 40), json!({}));
    events.extend([flow("s", 1000, "1"), flow("f", 2000, "1")]);
    let rows = rows_with(&made(&json!(events)), "kernels", &json!({"by": "module"}));
    assert_eq!(by(&rows, "Linear_0")["sum_ns"], 30_000);
    assert_eq!(by(&rows, "(no module)")["sum_ns"], 40_000);
}

/// A rule of the user makes a kernel a collective, wherever the class is shown.
#[test]
fn the_rules_of_the_user_decide_the_class() {
    let mut trace = program();
    let communication = |trace: &Trace| {
        let analysis = Analysis::new(trace);
        let class = analysis.devices()[0].classes.iter().find(|class| class.class == Class::Communication);
        class.map_or(0, |class| class.busy_ns)
    };
    assert_eq!(communication(&trace), 7000);
    trace.kernel_rules = KernelRules::parse("communication,^reduce_kernel\nother,multimem").expect("rules");
    assert_eq!(communication(&trace), 40_000);
    let rows = rows(&trace, "kernels");
    assert_eq!(by(&rows, "reduce_kernel<512>")["class"], "communication");
    assert_eq!(by(&rows, "multimem_all_reduce_kernel")["category"], "other");
}

/// Names, operators and times at random: every grouping has the same sums, and the groups of a naive count.
#[test]
fn random_groups_equal_a_naive_count() {
    const NAMES: [(&str, &str); 6] = [
        (GEMM, "gemm"),
        ("volta_sgemm_64x64_nn", "gemm"),
        ("ncclDevKernel_AllReduce", "communication"),
        ("softmax_warp_forward", "softmax"),
        ("my_kernel", "other"),
        ("triton_poi_fused_all_gather_0", "elementwise"),
    ];
    const OPS: [&str; 4] = ["aten::mm", "aten::sum", "aten::copy_", "aten::relu"];
    let kernel = (0..NAMES.len(), 0..OPS.len(), 0i64..40, 0i64..3);
    proptest!(ProptestConfig::with_cases(200), |(kernels in proptest::collection::vec(kernel, 0..40))| {
        let mut events = vec![span("cpu_op", "first", (0, 1), &json!({}))];
        let mut expected: [BTreeMap<String, Vec<i64>>; 4] = Default::default();
        for (id, &(name, op, dur, dim)) in kernels.iter().enumerate() {
            launched(&mut events, id as i64 + 1, (OPS[op], json!([[dim]])), (NAMES[name].0, dur), json!({}));
            let keys = [NAMES[name].0.to_owned(), NAMES[name].1.to_owned(), OPS[op].to_owned(), format!("{} [[{dim}]]", NAMES[name].0)];
            for (groups, key) in expected.iter_mut().zip(keys) {
                groups.entry(key).or_default().push(dur * 1000);
            }
        }
        let trace = made(&json!(events));
        for (by, expected) in ["name", "category", "operator", "shape"].into_iter().zip(expected) {
            let rows = rows_with(&trace, "kernels", &json!({"by": by}));
            prop_assert_eq!(rows.len(), expected.len());
            for row in rows {
                let times = &expected[row["name"].as_str().expect("a name")];
                prop_assert_eq!(row["count"].as_u64(), Some(times.len() as u64));
                prop_assert_eq!(row["sum_ns"].as_i64(), Some(times.iter().sum()));
                prop_assert_eq!(row["min_ns"].as_i64(), times.iter().copied().min());
                prop_assert_eq!(row["max_ns"].as_i64(), times.iter().copied().max());
                let (n, mean) = (times.len() as f64, times.iter().sum::<i64>() as f64 / times.len() as f64);
                let squares: f64 = times.iter().map(|&time| (time as f64 - mean).powi(2)).sum();
                let std = (times.len() > 1).then(|| (squares / (n - 1.0)).sqrt().round() as i64);
                prop_assert_eq!(row["std_ns"].as_i64(), std);
            }
        }
        let module = rows_with(&trace, "kernels", &json!({"by": "module"}));
        let total: i64 = kernels.iter().map(|kernel| kernel.2 * 1000).sum();
        prop_assert_eq!(module.iter().filter_map(|row| row["sum_ns"].as_i64()).sum::<i64>(), total);
    });
}

/// The groups by the name that the trace has.
fn groups(trace: &Trace) -> BTreeMap<String, KernelGroup> {
    let name = |group: &KernelGroup| trace.table.name(group.longest).to_owned();
    Analysis::new(trace).kernel_groups().iter().map(|group| (name(group), group.clone())).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

fn is_close(ours: f64, theirs: f64, by: f64) -> bool {
    (ours - theirs).abs() <= by + ours.abs() * 1e-9
}

#[test]
fn hta_has_the_same_breakdown() {
    let Some(peers) = Peers::find() else { return };
    let (mut times, mut types) = (Tally::default(), Tally::default());
    for (set, folder) in peers.sets("hta") {
        // The default mode rounds times to microseconds; it is right where they are integers.
        let mode = if folder.join("ns").is_dir() { "ns" } else { "default" };
        let columns =
            ["rank", "name", "kernel_type", "sum (us)", "max (us)", "min (us)", "mean (us)", "stddev"];
        let mut rank = (String::new(), BTreeMap::new());
        for row in csv(&folder.join(mode).join("kernel_breakdown_all.csv"), &columns) {
            if rank.0 != row[0] {
                let Some(text) = peers.trace(&set, "hta/tracelens/oracle", &row[0]) else { break };
                rank = (row[0].clone(), groups(&without_last_step(&text)));
            }
            let (name, theirs) = (&row[1], [3, 4, 5, 6, 7].map(|at| number(&row[at])));
            let Some(ours) = rank.1.get(name) else {
                times.others.push(format!("{set} {mode} {}: no {name:.60}", row[0]));
                continue;
            };
            let us = |ns: i64| ns as f64 / 1e3;
            let mean = us(ours.sum_ns) / ours.count as f64;
            let own_times =
                [us(ours.sum_ns), us(ours.max_ns), us(ours.min_ns), mean, ours.std_ns().unwrap_or(0.0) / 1e3];
            let same = own_times.iter().zip(theirs).all(|(ours, theirs)| is_close(*ours, theirs, 0.0011));
            times
                .count(same, || format!("{set} {mode} {} {name:.60}: {own_times:?}, HTA {theirs:?}", row[0]));
            let class = match ours.class {
                Class::Communication => "COMMUNICATION",
                Class::Memcpy | Class::Memset => "MEMORY",
                _ => "COMPUTATION",
            };
            types.count(class == row[2], || format!("{set} {name:.60}: {class}, HTA {}", row[2]));
        }
    }
    // HTA counts an operator with a stream as a kernel.
    assert!(times.others.iter().all(|other| other.contains("triton_poi_fused_add_bitwise_and")));
    // HTA does not know multicast collectives.
    assert!(types.others.iter().all(|other| other.contains("multimem_all_reduce_kernel")));
    times.agrees("HTA: times of kernels by name");
    assert_eq!(types.others.len(), 1);
}

#[test]
fn the_tensorboard_plugin_has_the_same_kernel_table() {
    let Some(peers) = Peers::find() else { return };
    let (mut times, mut blocks, mut occupancies) = (Tally::default(), Tally::default(), Tally::default());
    let mut tensor_cores = Tally::default();
    for (set, folder) in peers.sets("tb_plugin") {
        for worker in [
            "worker0", "worker1", "worker2", "worker3", "worker4", "worker5", "worker6", "worker7", "host_0",
            "host_1",
        ] {
            let path = folder.join("pypi-0.4.3").join(format!("{worker}.kernel_table.json"));
            let Some(text) = peers.trace(&set, "tb_plugin", worker).filter(|_| path.exists()) else {
                continue;
            };
            let groups = groups(&Trace::read(&text).expect("a trace"));
            let table = &json_of(&path)["data"];
            let titles: Vec<&str> = table["columns"]
                .as_array()
                .expect("columns")
                .iter()
                .filter_map(|c| c["name"].as_str())
                .collect();
            for row in table["rows"].as_array().expect("rows") {
                let cell = |title: &str| Some(&row[titles.iter().position(|t| *t == title)?]);
                let value = |title: &str| cell(title).and_then(Value::as_f64);
                let name = cell("Name").and_then(Value::as_str).unwrap_or_default();
                let place = || format!("{set} {worker} {name:.70}");
                let Some(ours) = groups.get(name) else {
                    times.others.push(format!("{}: no kernel", place()));
                    continue;
                };
                let is_rounded =
                    |ns: i64, title| value(title).is_some_and(|us| is_close(ns as f64 / 1e3, us, 0.5));
                let same = value("Calls") == Some(ours.count as f64)
                    && is_rounded(ours.sum_ns, "Total Duration (us)")
                    && is_rounded(ours.max_ns, "Max Duration (us)")
                    && is_rounded(ours.min_ns, "Min Duration (us)");
                times.count(same, || {
                    format!("{}: {} calls, {} ns, plugin {row}", place(), ours.count, ours.sum_ns)
                });
                if let Some(theirs) = value("Mean Blocks Per SM") {
                    let ours = ours.blocks_per_sm().unwrap_or(0.0);
                    blocks.count(is_close(ours, theirs, 0.0051), || {
                        format!("{}: {ours} blocks, plugin {theirs}", place())
                    });
                }
                if let Some(theirs) = value("Mean Est. Achieved Occupancy (%)") {
                    let ours = ours.occupancy().unwrap_or(0.0);
                    // The plugin counts a missing occupancy as 0.
                    assert!(ours > theirs - 0.0051, "{}: {ours} %, plugin {theirs}", place());
                    occupancies.count(is_close(ours, theirs, 0.0051), String::new);
                }
                if let Some(theirs) = cell("Tensor Cores Used") {
                    let ours = if ours.uses_tensor_cores() == Some(true) { "Yes" } else { "No" };
                    // The plugin does not know WMMA, flash attention and the matrix cores of AMD.
                    assert!(theirs == ours || ours == "Yes", "{}: {ours}, plugin {theirs}", place());
                    tensor_cores.count(theirs == ours, String::new);
                }
            }
        }
    }
    times.agrees("TensorBoard plugin: calls and times of kernels");
    blocks.agrees("TensorBoard plugin: blocks per SM of kernels");
    occupancies.agrees("TensorBoard plugin: occupancy of kernels");
    tensor_cores.agrees("TensorBoard plugin: tensor cores of kernels");
}
