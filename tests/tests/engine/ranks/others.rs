//! Real runs of other people, against an independent matching and against results of other tools.

use super::{of_kind, rows, run_of};
use flate2::read::GzDecoder;
use kinetoscope_tests::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A run: its folder in `../shared/traces`, a part of the names of its files, and its name among the results of other
/// tools.
const RUNS: [(&str, &str, Option<&str>); 4] = [
    ("torchrec/trace/sst_long_a2a_optimizer_2", "", None),
    ("astra-sim/megatron-tp8", "kineto", Some("astra-megatron-tp8-8rank")),
    ("hta/trace_filter", "rank", Some("hta-trace_filter-2rank")),
    ("kineto-gaoteng/resnet50_newAPI_ddp", "worker", Some("kineto-resnet50_newAPI_ddp-2rank")),
];

/// The texts of the traces of a run, ordered by rank.
fn texts(folder: &Path, part: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            name.ends_with(".json.gz") && name.contains(part)
        })
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let mut text = Vec::new();
        GzDecoder::new(fs::File::open(path).expect("a trace")).read_to_end(&mut text).expect("gzip");
        (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
    };
    paths.iter().map(read).collect()
}

/// A communication kernel: its stream, the first letters of its kind, and its times in ns.
#[derive(Clone, Debug, PartialEq)]
struct Kernel {
    stream: String,
    kind: String,
    start: i64,
    end: i64,
}

/// The communication kernels of a trace, read from its text.
fn kernels(text: &[u8]) -> Vec<Kernel> {
    let trace: Value = serde_json::from_slice(text).expect("JSON");
    let events = trace.get("traceEvents").unwrap_or(&trace).as_array().expect("events");
    let mut kernels = Vec::new();
    for event in events {
        let name = event["name"].as_str().unwrap_or_default();
        let is_kernel =
            matches!(event["cat"].as_str(), Some("kernel" | "Kernel")) && name.starts_with("nccl");
        if !is_kernel {
            continue;
        }
        let us = |key: &str| (event[key].as_f64().expect("a time") * 1e3).round() as i64;
        let kind = name.trim_start_matches("ncclDevKernel_").trim_start_matches("ncclKernel_");
        let kind = kind.trim_start_matches("nccl").chars().take(8).collect();
        kernels.push(Kernel {
            stream: event["tid"].to_string(),
            kind,
            start: us("ts"),
            end: us("ts") + us("dur"),
        });
    }
    kernels.sort_by_key(|kernel| kernel.start);
    kernels
}

/// The most pairs of kernels of one kind in order, with the least sum of distances between their ends: every table entry
/// is tried, nothing is searched cleverly. Kernels that are more than 200 us apart cannot be one collective.
fn pairs(a: &[Kernel], b: &[Kernel]) -> Vec<(usize, usize)> {
    let fits =
        |x: &Kernel, y: &Kernel| x.kind == y.kind && x.start <= y.end + 200_000 && y.start <= x.end + 200_000;
    let width = b.len() + 1;
    let mut best = vec![(0i64, 0i64); (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let mut most = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            if fits(&a[i], &b[j]) {
                let (count, distance) = best[(i + 1) * width + j + 1];
                most = most.max((count + 1, distance - (b[j].end - a[i].end).abs()));
            }
            best[i * width + j] = most;
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if best[i * width + j] == best[(i + 1) * width + j] {
            i += 1;
        } else if best[i * width + j] == best[i * width + j + 1] {
            j += 1;
        } else {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}

/// The durations of each collective by rank, found independently, for each stream.
fn matched(ranks: &[Vec<Kernel>]) -> Vec<Vec<(i64, i64)>> {
    let mut streams: BTreeMap<&str, Vec<Vec<Kernel>>> = BTreeMap::new();
    for (rank, kernels) in ranks.iter().enumerate() {
        for kernel in kernels {
            let lists = streams.entry(&kernel.stream).or_insert_with(|| vec![Vec::new(); ranks.len()]);
            lists[rank].push(kernel.clone());
        }
    }
    let mut all = Vec::new();
    for lists in streams.values() {
        let reference =
            (0..ranks.len()).max_by_key(|&rank| (lists[rank].len(), usize::MAX - rank)).expect("ranks");
        let duration = |kernel: &Kernel| kernel.end - kernel.start;
        let mut found: Vec<Vec<(i64, i64)>> =
            lists[reference].iter().map(|kernel| vec![(reference as i64, duration(kernel))]).collect();
        for (rank, list) in lists.iter().enumerate().filter(|(rank, _)| *rank != reference) {
            // All ranks of these runs were on one machine.
            for (i, j) in pairs(&lists[reference], list) {
                found[i].push((rank as i64, duration(&list[j])));
            }
        }
        found.retain(|collective| collective.len() > 1);
        for collective in &mut found {
            collective.sort_unstable();
        }
        all.append(&mut found);
    }
    all.sort();
    all
}

/// The durations of each collective by rank, as the engine matched them.
fn answered(rows: &[Value]) -> Vec<Vec<(i64, i64)>> {
    let ints = |value: &Value| -> Vec<i64> {
        value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("an integer")).collect()
    };
    let durations = |row: &Value| -> Vec<(i64, i64)> {
        let parts = ints(&row["wait_ns"]).into_iter().zip(ints(&row["transfer_ns"]));
        ints(&row["ranks"])
            .into_iter()
            .zip(parts)
            .map(|(rank, (wait, transfer))| (rank, wait + transfer))
            .collect()
    };
    let mut all: Vec<_> = of_kind(rows, "collective").map(durations).collect();
    all.sort();
    all
}

/// The runs that are at hand, with their rows.
fn each(check: impl Fn(&str, Option<&str>, &[(String, Vec<u8>)], &[Value])) {
    let Some(shared) = files::shared("traces", "runs of others") else { return };
    for (folder, part, peers) in RUNS {
        let texts = texts(&shared.join(folder), part);
        assert!(texts.len() > 1, "{folder}");
        check(folder, peers, &texts, &rows(&run_of(texts.clone())));
    }
}

#[test]
fn matches_and_waits_equal_those_of_an_independent_search() {
    each(|folder, _, texts, rows| {
        let ranks: Vec<Vec<Kernel>> = texts.iter().map(|(_, text)| kernels(text)).collect();
        let (expected, found) = (matched(&ranks), answered(rows));
        let same = expected.iter().filter(|collective| found.binary_search(collective).is_ok()).count();
        assert_eq!(
            (same, found.len()),
            (expected.len(), expected.len()),
            "{folder}: {expected:?}\n{found:?}"
        );
        let counts: Vec<usize> = ranks.iter().map(Vec::len).collect();
        println!("{folder}: {} collectives of {counts:?} kernels", expected.len());
    });
}

#[test]
fn a_wait_is_never_longer_than_the_recording() {
    each(|folder, _, _, rows| {
        for rank in of_kind(rows, "rank") {
            let time = |key: &str| rank[key].as_i64().expect("a time");
            let work: i64 = ["data_loading_ns", "forward_ns", "backward_ns", "optimizer_ns", "other_ns"]
                .map(time)
                .iter()
                .sum();
            assert_eq!(work + time("communication_ns"), time("wall_ns"), "{folder}");
            assert_eq!(work, time("own_ns"), "{folder}");
            assert!(time("waited_ns") <= time("wall_ns"), "{folder}: {rank}");
        }
    });
}

#[test]
fn exposed_communication_equals_that_of_an_exact_recomputation() {
    let Some(goldens) = files::shared("goldens/peers/oracle", "results of other tools") else { return };
    each(|folder, peers, _, rows| {
        let Some(peers) = peers else { return };
        let text = fs::read_to_string(goldens.join(peers).join("exact.json")).expect("a result");
        let exact: Value = serde_json::from_str(&text).expect("JSON");
        for rank in of_kind(rows, "rank") {
            let exact_rank = &exact["ranks"][rank["rank"].to_string()];
            let convention = "tracelens_convention(all gpu events; memset counts as computation)";
            let expected = &exact_rank[convention]["exposed_comm(comm minus comp)"];
            // Memsets are no computation here, so what they hide differs.
            let difference = rank["exposed_communication_ns"].as_i64().expect("a time")
                - expected.as_i64().expect("a time");
            assert!((0..400_000).contains(&difference), "{folder}: {expected} {rank}");
        }
    });
}

#[test]
fn the_late_rank_of_a_real_run_is_named_with_its_range() {
    each(|folder, _, _, rows| {
        let named: Vec<String> = of_kind(rows, "straggler")
            .map(|row| format!("{} {} {}", row["rank"], row["phase"], row["message"]))
            .collect();
        if folder.starts_with("torchrec") {
            assert_eq!(named.len(), 1, "{named:?}");
            assert!(
                named[0].starts_with("2 \"forward\"") && named[0].contains("running sparse arch"),
                "{named:?}"
            );
        }
    });
}
