//! `tests/data/advice/truth.json`: what an engineer found in real traces, from the raw events.

use kinetoscope::files::open;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::device_time::DeviceTime;
use kinetoscope_core::queries::query;
use kinetoscope_tests::answers::rows as answer_rows;
use kinetoscope_tests::files;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn truth() -> Value {
    let bytes = files::read(&files::data().join("advice/truth.json")).expect("the table");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn rows(truth: &Value) -> &[Value] {
    truth["traces"].as_array().expect("traces")
}

/// The file of a row; `None` if it is about several files, or about a run.
fn file(row: &Value) -> Option<PathBuf> {
    let path = files::shared("traces", "real traces")?.join(row["path"].as_str().expect("a path"));
    path.is_file().then_some(path)
}

/// Whether two times in ms are the same: the table has two decimals.
fn agree(recorded: f64, ns: i64) -> bool {
    let computed = ns as f64 / 1e6;
    (recorded - computed).abs() <= 0.02 + recorded * 0.002
}

#[test]
fn the_table_is_complete() {
    let truth = truth();
    assert!(rows(&truth).len() >= 40);
    for row in rows(&truth) {
        let path = &row["path"];
        assert!(row["bound"]["by"].is_string(), "{path}");
        for finding in row["must"].as_array().expect("findings") {
            let name = finding["finding"].as_str().expect("a name");
            assert!(truth["findings"][name].is_string(), "{path}: {name} has no definition");
            assert!(finding["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{path}: {name}");
        }
        for sentence in row["must_not"].as_array().expect("sentences") {
            assert!(sentence["sentence"].is_string() && sentence["reason"].is_string(), "{path}");
        }
    }
}

#[test]
fn the_time_of_devices_is_that_of_the_raw_events() {
    let truth = truth();
    let mut compared = 0;
    for row in rows(&truth).iter().filter(|row| row["kind"] == "gpu") {
        let (Some(path), Some(busy)) = (file(row), row["figures"]["device_busy_ms"].as_f64()) else {
            continue;
        };
        let trace = open(&path).expect("a trace");
        let analysis = Analysis::new(&trace);
        let is_meant = |device: &&DeviceTime| agree(busy, device.busy_ns);
        let device = analysis.devices().iter().find(is_meant);
        let device = device.unwrap_or_else(|| panic!("{}: no device is busy for {busy} ms", path.display()));
        if let Some(idle) = row["figures"]["idle_between_first_and_last_activity_ms"].as_f64() {
            let ns = device.window.1 - device.window.0 - device.busy_ns;
            assert!(agree(idle, ns), "{}: idle for {idle} ms or {ns} ns", path.display());
        }
        compared += 1;
    }
    assert!(compared == 0 || compared >= 50, "{compared} traces");
}

/// The codes of findings that state what a name of the table does.
const CODES: [(&str, &[&str]); 24] = [
    ("data_loader_wait", &["data_loading"]),
    ("no_caching_allocator", &["caching_allocator"]),
    ("blocking_copies", &["pageable_copies", "synchronization"]),
    ("slow_copies", &["pageable_copies"]),
    ("synchronizing_calls", &["synchronization"]),
    ("many_small_kernels", &["host_bound"]),
    ("python_overhead", &["host_bound"]),
    ("host_preprocessing", &["host_bound"]),
    ("unfused_optimizer", &["unfused_optimizer"]),
    ("eager_attention", &["eager_attention"]),
    ("elementwise_bound", &["elementwise_kernels"]),
    ("dtype_conversions", &["conversions"]),
    ("contiguous_copies", &["layout_copies"]),
    ("layout_conversions", &["layout_copies"]),
    ("fp32_matmul_no_tf32", &["no_tensor_cores"]),
    ("fp32_conv_no_tf32", &["no_tensor_cores"]),
    ("no_tensor_cores", &["no_tensor_cores"]),
    ("misaligned_gemm", &["misaligned_products"]),
    ("exposed_communication", &["exposed_communication"]),
    ("outlier_step", &["uneven_steps"]),
    ("cold_start", &["cold_start"]),
    ("slow_first_launch", &["cold_start"]),
    ("graph_capture_phase", &["graph_capture"]),
    ("unrecorded_host_time", &["gpu_idle"]),
];

/// The reasons of fitness that state what a name of the table does.
const REASONS: [(&str, &[&str]); 5] = [
    ("work_before_recording", &["before_recording"]),
    ("unlinked_kernels", &["work_without_launch", "no_operators"]),
    ("clock_offset", &["clocks"]),
    ("incomplete_recording", &["sampled", "work_without_launch", "no_device_work"]),
    ("profiler_replay_overhead", &["profiler_replay"]),
];

/// Names that the sentence about what bounds the run states.
const KERNELS: [(&str, &str); 2] = [("gemm_bound", "gemm"), ("moe_bound", "moe gemm")];

/// Names whose finding is about more than they are: their effect is not compared.
const PARTS: [&str; 2] = ["python_overhead", "host_preprocessing"];

/// The summary of a trace.
struct Advice {
    summary: Value,
}

impl Advice {
    fn read(path: &Path) -> Advice {
        let [summary] = answer_rows(&open(path).expect("a trace"), "summary").try_into().expect("a row");
        Advice { summary }
    }

    fn findings(&self) -> &[Value] {
        self.summary["findings"].as_array().expect("findings")
    }

    fn bound(&self) -> &str {
        self.summary["bound"]["by"].as_str().unwrap_or("cannot_tell")
    }

    fn sentence(&self) -> &str {
        self.summary["bound"]["message"].as_str().unwrap_or_default()
    }

    fn finding(&self, codes: &[&str]) -> Option<&Value> {
        codes.iter().find_map(|code| self.findings().iter().find(|finding| finding["code"] == *code))
    }

    fn has_reason(&self, codes: &[&str]) -> bool {
        let questions = self.summary["fitness"].as_array().expect("questions");
        let reasons = questions.iter().flat_map(|question| question["reasons"].as_array().expect("reasons"));
        reasons.filter_map(|reason| reason["code"].as_str()).any(|code| codes.contains(&code))
    }

    /// Whether the summary says what a sentence of the table forbids.
    fn says(&self, forbidden: &str) -> bool {
        let (kind, what) = forbidden.split_once(':').expect("a kind");
        let text = |finding: &Value| format!("{} {}", finding["message"], finding["advice"]).to_lowercase();
        match kind {
            "code" => self.finding(&[what]).is_some(),
            "first" => self.findings().first().is_some_and(|first| first["code"] == what),
            "bound" => self.bound() == what,
            "text" => {
                let what = what.to_lowercase();
                self.sentence().to_lowercase().contains(&what)
                    || self.findings().iter().any(|finding| text(finding).contains(&what))
            }
            _ => panic!("{forbidden}"),
        }
    }
}

/// Returns what a summary lacks of a required finding, if anything.
fn missing(advice: &Advice, required: &Value) -> Option<String> {
    let name = required["finding"].as_str().expect("a name");
    let entry = |list: &[(&str, &'static [&'static str])]| {
        list.iter().find(|known| known.0 == name).map(|known| known.1)
    };
    if let Some(reasons) = entry(&REASONS) {
        return (!advice.has_reason(reasons)).then(|| format!("no reason for {name}"));
    }
    if let Some((_, text)) = KERNELS.iter().find(|known| known.0 == name) {
        return (!advice.sentence().contains(text))
            .then(|| format!("{name} is not said: {}", advice.sentence()));
    }
    let codes = entry(&CODES)?;
    let Some(finding) = advice.finding(codes) else { return Some(format!("no finding for {name}")) };
    let expected = required["saves_ms_about"].as_f64().filter(|ms| *ms > 0.0 && !PARTS.contains(&name))?;
    let is_near = |key: &str| {
        let ms = finding[key].as_f64().unwrap_or(0.0) / 1e6;
        (1.0 / 1.5..=1.5).contains(&(ms / expected))
    };
    let known = ["saving_ns", "added_ns", "cost_ns"];
    (!known.into_iter().any(is_near)).then(|| format!("{name} of about {expected} ms: {finding}"))
}

/// What is wrong with the command of a finding: it is no query, or the query does not have the option.
fn wrong_command(command: &str) -> Option<String> {
    let mut words = command.split(' ');
    let name = words.next().unwrap_or_default();
    let Ok(query) = query(name) else { return Some(format!("{name} is no query")) };
    let options = words.filter_map(|word| word.strip_prefix("--"));
    let unknown = |option: &&str| !query.options.iter().any(|known| known.name == *option);
    options.into_iter().find(unknown).map(|option| format!("{name} has no option {option}"))
}

/// What the table requires is printed, what it forbids is not, and at least 95 % of what is printed is true.
#[test]
fn summaries_say_what_an_engineer_found() {
    let truth = truth();
    let (mut faults, mut printed, mut untrue, mut compared) = (Vec::new(), 0, Vec::new(), 0);
    for row in rows(&truth) {
        let Some(path) = file(row) else { continue };
        let (advice, name) = (Advice::read(&path), &row["path"]);
        compared += 1;
        let bound = &row["bound"];
        let others = bound["alternatives"].as_array().expect("alternatives");
        if bound["by"] != advice.bound() && !others.iter().any(|other| other == advice.bound()) {
            faults.push(format!("{name}: {}, not by {}", advice.sentence(), bound["by"]));
        }
        let required = row["must"].as_array().expect("findings");
        faults.extend(
            required
                .iter()
                .filter_map(|required| missing(&advice, required))
                .map(|fault| format!("{name}: {fault}")),
        );
        for sentence in row["must_not"].as_array().expect("sentences") {
            let forbidden = sentence["forbids"].as_array().expect("a list").iter().filter_map(Value::as_str);
            let said = forbidden.filter(|forbidden| advice.says(forbidden));
            faults.extend(said.map(|said| format!("{name}: {}, by {said}", sentence["sentence"])));
        }
        let codes =
            |name: &Value| CODES.iter().find(|known| *name == known.0).map_or(&[][..], |known| known.1);
        let mut is_true: Vec<&str> =
            required.iter().flat_map(|required| codes(&required["finding"])).copied().collect();
        is_true.extend(
            row["may"].as_array().expect("findings").iter().filter_map(|may| may["finding"].as_str()),
        );
        for finding in advice.findings() {
            if let Some(fault) = wrong_command(finding["command"].as_str().expect("a command")) {
                faults.push(format!("{name}: {fault}"));
            }
            printed += 1;
            if !is_true.contains(&finding["code"].as_str().expect("a code")) {
                untrue.push(format!("{name}: {finding}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared == 0 || compared >= 70, "{compared} traces");
    assert!(untrue.len() * 20 <= printed, "{} of {printed}:\n{}", untrue.len(), untrue.join("\n"));
}
