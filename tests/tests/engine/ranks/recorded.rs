//! Recorded runs with a known truth: `truth.json` has what was injected, the false clocks, and the times that the program
//! itself read around every collective.

use super::{of_kind, rows, run_of};
use flate2::read::GzDecoder;
use kinetoscope_tests::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A recorded run.
struct Recorded {
    name: String,
    truth: Value,
    rows: Vec<Value>,
    /// The decompressed text of each rank.
    texts: Vec<Value>,
}

/// The folders of the runs of several ranks: those of the repository, and more where they are at hand.
fn folders() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/runs");
    let mut folders = Vec::new();
    for parent in [Some(repository), files::shared("runs", "more recorded runs")].into_iter().flatten() {
        let entries = fs::read_dir(parent).expect("a folder").map(|entry| entry.expect("an entry").path());
        folders.extend(entries.filter(|folder| folder.join("truth.json").exists()));
    }
    folders.retain(|folder| !traces(folder).is_empty());
    folders.sort();
    folders
}

/// The traces of a run, ordered by rank.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let paths = (0..).map(|rank| {
        let named = |end: &str| Some(folder.join(format!("rank{rank}{end}"))).filter(|path| path.exists());
        named(".json.gz").or_else(|| named(".pt.trace.json.gz"))
    });
    paths.map_while(|path| path).collect()
}

fn recorded(folder: &Path) -> Recorded {
    let paths = traces(folder);
    let read = |path: &PathBuf| {
        let mut text = Vec::new();
        GzDecoder::new(fs::File::open(path).expect("a trace")).read_to_end(&mut text).expect("gzip");
        text
    };
    let texts: Vec<Vec<u8>> = paths.iter().map(read).collect();
    let named = texts.iter().enumerate().map(|(rank, text)| (format!("rank{rank}.json"), text.clone()));
    Recorded {
        name: folder.file_name().expect("a name").to_string_lossy().into_owned(),
        truth: serde_json::from_slice(&fs::read(folder.join("truth.json")).expect("the truth"))
            .expect("JSON"),
        rows: rows(&run_of(named)),
        texts: texts.iter().map(|text| serde_json::from_slice(text).expect("JSON")).collect(),
    }
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}

/// The steps of each rank and phase that were injected and recorded, without what all ranks did alike.
fn injected(run: &Recorded) -> BTreeMap<(i64, &'static str), Vec<i64>> {
    let mut all: BTreeMap<(i64, &'static str), Vec<i64>> = BTreeMap::new();
    for injection in run.truth["injected"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|injection| injection["recorded"] == true)
    {
        all.entry((int(&injection["rank"]), phase_of(injection))).or_default().push(int(&injection["step"]));
    }
    let first = all.values().next().cloned();
    if all.len() == run.texts.len() && all.values().all(|steps| Some(steps) == first.as_ref()) {
        all.clear();
    }
    all
}

/// What a rank was slowed down by in a phase and some steps, as the program measured it.
fn injected_ns(run: &Recorded, (rank, phase): (i64, &str), steps: &[i64]) -> i64 {
    let all = run.truth["injected"].as_array().expect("a list").iter();
    let is_meant = |injection: &&Value| {
        int(&injection["rank"]) == rank
            && phase_of(injection) == phase
            && steps.contains(&int(&injection["step"]))
    };
    all.filter(is_meant).map(|injection| int(&injection["ns"])).sum()
}

fn phase_of(injection: &Value) -> &'static str {
    match injection["where"].as_str().expect("a place") {
        "data loading" => "data_loading",
        "forward" => "forward",
        "backward" => "backward",
        _ => "other",
    }
}

#[test]
fn the_injected_ranks_phases_and_steps_are_named_and_no_others() {
    let mut named = 0;
    for folder in folders() {
        let run = recorded(&folder);
        let mut expected = injected(&run);
        for row in of_kind(&run.rows, "straggler") {
            let phase = row["phase"].as_str().expect("a phase");
            let key = expected.keys().find(|key| **key == (int(&row["rank"]), phase)).copied();
            let key = key.unwrap_or_else(|| panic!("{}: {row}", run.name));
            let steps = expected.remove(&key).expect("steps");
            let found: Vec<i64> = row["steps"].as_array().expect("steps").iter().map(int).collect();
            // A step in which other ranks were late by chance hides the injected one.
            let missed = steps.iter().filter(|step| !found.contains(step)).count();
            assert!(found.iter().all(|step| steps.contains(step)) && missed <= 1, "{}: {row}", run.name);
            let real = injected_ns(&run, key, &found) as f64;
            assert!((int(&row["cost_ns"]) as f64 / real - 1.0).abs() < 0.2, "{}: {real}: {row}", run.name);
            named += 1;
        }
        assert!(expected.is_empty(), "{}: not named: {expected:?}", run.name);
    }
    assert!(named >= 5, "{named}");
}

#[test]
fn clocks_are_recovered_within_their_errors() {
    for folder in folders() {
        let run = recorded(&folder);
        let reference = of_kind(&run.rows, "clock").find(|row| row["method"] == "reference").expect("one");
        let clock = |rank: i64| &run.truth["clock"]["ranks"][rank.to_string()];
        assert_eq!(clock(int(&reference["rank"]))["offset_ns"], 0, "{}", run.name);
        for row in of_kind(&run.rows, "clock") {
            let truth = clock(int(&row["rank"]));
            let (at, found) = (int(&row["at_ns"]), int(&row["offset_ns"]));
            let drift = truth["drift_ppm"].as_f64().expect("a drift") * 1e-6;
            let reference = truth["reference_ns"].as_i64().unwrap_or(at);
            let exact = int(&truth["offset_ns"]) + (drift * (at - reference) as f64) as i64;
            let error = int(&row["error_ns"]);
            assert!((found - exact).abs() <= error, "{}: {exact} instead of {row}", run.name);
        }
    }
}

/// A collective in the program's log: each rank's times before and after it.
struct Logged {
    group: String,
    seq: Option<i64>,
    times: BTreeMap<i64, (i64, i64)>,
}

/// The collectives of the log that all ranks of their group have within the steps that all recorded.
fn logged(run: &Recorded) -> Vec<Logged> {
    let columns = run.truth["collective_columns"].as_array().expect("columns");
    let column = |name: &str| columns.iter().position(|column| column == name).expect(name);
    let [group, index, seq, step, t0, t1, peer] =
        ["group", "index", "seq", "step", "t0_ns", "t1_ns", "peer"].map(column);
    let steps: Vec<(i64, i64)> = (run.truth["profiled_steps"].as_object().expect("steps").values())
        .map(|steps| (int(&steps[0]), int(&steps[1])))
        .collect();
    let first = steps.iter().map(|steps| steps.0).max().expect("ranks");
    let last = steps.iter().map(|steps| steps.1).min().expect("ranks");
    let mut all: BTreeMap<(String, i64), Logged> = BTreeMap::new();
    for (rank, rows) in run.truth["collectives"].as_object().expect("ranks") {
        for row in rows.as_array().expect("rows").iter().filter(|row| row[peer].is_null()) {
            let is_recorded = row[step].as_i64().is_some_and(|step| (first..=last).contains(&step));
            if !is_recorded {
                continue;
            }
            let name = row[group].as_str().expect("a group");
            let collective = all.entry((name.to_owned(), int(&row[index]))).or_insert_with(|| Logged {
                group: run.truth["groups"][name]["pg_name"].as_str().expect("a name").to_owned(),
                seq: row[seq].as_i64(),
                times: BTreeMap::new(),
            });
            collective.times.insert(rank.parse().expect("a rank"), (int(&row[t0]), int(&row[t1])));
        }
    }
    let size = |name: &str| run.truth["groups"][name]["ranks"].as_array().expect("ranks").len();
    all.into_iter()
        .filter(|((name, _), collective)| collective.times.len() == size(name))
        .map(|(_, collective)| collective)
        .collect()
}

/// The starts of the calls and the ends of the spans of collectives of a rank, read from the text of the trace, on the
/// clock of the log.
fn readings(run: &Recorded, rank: usize) -> (Vec<i64>, Vec<i64>) {
    let text = &run.texts[rank];
    let base = text["baseTimeNanoseconds"].as_i64().expect("a base");
    let clock = &run.truth["clock"]["ranks"][rank.to_string()];
    let (offset, drift) = (int(&clock["offset_ns"]), clock["drift_ppm"].as_f64().expect("a drift") * 1e-6);
    let reference = clock["reference_ns"].as_i64().unwrap_or(0);
    let local_time = |us: f64| {
        let shifted = base + (us * 1e3) as i64;
        let time = shifted - offset;
        time - (drift * (time - reference) as f64) as i64
    };
    let events = || text["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "X");
    let of = |prefix: &'static str| {
        events().filter(move |event| event["name"].as_str().is_some_and(|name| name.starts_with(prefix)))
    };
    let start = |event: &Value| event["ts"].as_f64().expect("a time");
    let starts = of("c10d::").map(|event| local_time(start(event))).collect();
    let ends = of("gloo:").map(|event| local_time(start(event) + event["dur"].as_f64().expect("a duration")));
    (starts, ends.collect())
}

/// How far apart a time of the log and one of the trace may be, in ns. The program's reading after an asynchronous
/// collective is late where another thread held Python's lock.
const READ: i64 = 100_000;

fn has_near(times: &[i64], time: i64) -> bool {
    times.iter().any(|&other| (other - time).abs() <= READ)
}

#[test]
fn waits_agree_with_the_times_that_the_program_read() {
    let (mut all, mut close, mut timely, mut agreeing, mut missing) = (0, 0, 0, 0, 0);
    for folder in folders() {
        let run = recorded(&folder);
        let readings: Vec<_> = (0..run.texts.len()).map(|rank| readings(&run, rank)).collect();
        let collectives: Vec<&Value> =
            of_kind(&run.rows, "collective").filter(|row| row["matched_by"] != "pair").collect();
        for collective in logged(&run) {
            let first = collective.times.values().map(|time| time.0).min().expect("ranks");
            let ranks: Vec<i64> = collective.times.keys().copied().collect();
            let near = collectives.iter().filter(|row| {
                row["group"] == collective.group
                    && row["ranks"].as_array().expect("ranks").iter().map(int).eq(ranks.iter().copied())
                    && (collective.seq.is_none() || row["seq"] == serde_json::json!(collective.seq))
            });
            let near = near.min_by_key(|row| (int(&row["start_ns"]) - first).abs());
            let Some(row) = near
                .filter(|row| collective.seq.is_some() || (int(&row["start_ns"]) - first).abs() < 1_000_000)
            else {
                missing += 1;
                continue;
            };
            let least = collective.times.values().map(|time| time.1 - time.0).min().expect("ranks");
            let is_timely = collective.times.iter().all(|(&rank, &(before, after))| {
                let (starts, ends) = &readings[rank as usize];
                has_near(starts, before) && has_near(ends, after)
            });
            for (&(before, after), wait) in
                collective.times.values().zip(row["wait_ns"].as_array().expect("waits"))
            {
                let expected = after - before - least;
                let is_close = (int(wait) - expected).abs() <= 300_000.max(expected / 20);
                all += 1;
                close += usize::from(is_close);
                timely += usize::from(is_timely);
                agreeing += usize::from(is_timely && is_close);
            }
        }
    }
    let counts =
        format!("{close} of {all} waits, {agreeing} of {timely} that were read in time, {missing} missing");
    assert!(all > 400 && missing * 100 <= all, "{counts}");
    assert!(close * 4 >= all * 3, "{counts}");
    // A late reading can coincide with the end of another collective.
    assert!(timely * 10 >= all && agreeing * 100 >= timely * 97, "{counts}");
}

#[test]
fn every_number_of_the_log_is_that_of_a_matched_collective() {
    let mut found = 0;
    for folder in folders() {
        let run = recorded(&folder);
        for collective in logged(&run).iter().filter(|collective| collective.seq.is_some()) {
            let ranks: Vec<i64> = collective.times.keys().copied().collect();
            let same = of_kind(&run.rows, "collective").filter(|row| {
                row["group"] == collective.group
                    && row["seq"] == serde_json::json!(collective.seq)
                    && row["ranks"].as_array().expect("ranks").iter().map(int).eq(ranks.iter().copied())
            });
            assert_eq!(
                same.count(),
                1,
                "{}: {} of group {}",
                run.name,
                collective.seq.unwrap_or(0),
                collective.group
            );
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}
