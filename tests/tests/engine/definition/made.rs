//! Random legal traces.

use serde_json::{Value, json};

/// A generator of random numbers (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// What a trace has more or less of.
struct Style {
    processes: u64,
    devices: u64,
    correlations: u64,
    externals: u64,
    /// The range of times; a clock that jumps has several.
    times: u64,
    /// Whether the work of a device comes from the process with its number.
    are_ranks: bool,
}

/// The events of a trace.
pub(crate) fn made(random: &mut Random) -> Vec<Value> {
    let processes = 1 + random.below(3);
    let style = Style {
        processes,
        devices: 1 + random.below(3),
        correlations: 1 + random.below(12),
        externals: 1 + random.below(6),
        times: random.pick(&[10, 200, 2000]),
        are_ranks: random.one_in(2),
    };
    let mut events = Vec::new();
    for _ in 0..random.below(12) {
        launch(random, &style, &mut events);
    }
    for _ in 0..random.below(60) {
        events.push(marked(random, &style));
    }
    for _ in 0..random.below(12) {
        events.push(operator(random, &style));
    }
    if random.one_in(2) {
        events.sort_by_key(|event| event["ts"].as_u64());
    }
    events
}

fn time(random: &mut Random, style: &Style) -> u64 {
    let jump = if random.one_in(10) { 10_000 } else { 0 };
    jump + random.below(style.times)
}

/// A launch call, often with the driver's call inside of it, and its work.
fn launch(random: &mut Random, style: &Style, events: &mut Vec<Value>) {
    let process = random.below(style.processes);
    let device = if style.are_ranks { process } else { random.below(style.devices) };
    let (correlation, external) = (random.below(style.correlations), random.below(style.externals));
    let (ts, dur) = (time(random, style), random.below(20));
    let ids = json!({"correlation": correlation, "External id": external});
    let tid = 1 + random.below(2);
    let mut call = |cat: &str, name: &str, ts: u64, dur: u64, args: &Value| {
        events.push(json!({"ph": "X", "cat": cat, "name": name, "pid": 100 + process, "tid": tid, "ts": ts,
            "dur": dur, "args": args}));
    };
    if !random.one_in(6) {
        call("cuda_runtime", "cudaLaunchKernel", ts, dur, &ids);
        if random.one_in(5) {
            call("cuda_driver", "cuLaunchKernel", ts + dur / 3, dur / 3, &ids);
        }
    }
    if random.one_in(6) {
        call("cuda_runtime", "cudaStreamSynchronize", time(random, style), 5, &ids);
    }
    for _ in 0..random.pick(&[0, 1, 1, 1, 1, 2]) {
        let begin = if random.one_in(10) { time(random, style) } else { ts + random.below(40) };
        let external = if random.one_in(3) { random.below(style.externals) } else { external };
        events.push(json!({"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": begin,
            "dur": random.below(30), "args": {"correlation": correlation, "External id": external, "device": device}}));
    }
}

/// An operator, long enough to contain calls.
fn operator(random: &mut Random, style: &Style) -> Value {
    json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 100 + random.below(style.processes),
        "tid": 1 + random.below(2), "ts": time(random, style), "dur": random.below(style.times),
        "args": {"External id": random.below(style.externals)}})
}

/// An event of any other phase.
fn marked(random: &mut Random, style: &Style) -> Value {
    const PAIRED: [&str; 9] = ["b", "e", "S", "F", "s", "t", "f", "B", "E"];
    const OTHER: [&str; 10] = ["n", "T", "p", "i", "C", "M", "P", "N", "(", ")"];
    let ph = if random.one_in(8) { random.pick(&OTHER) } else { random.pick(&PAIRED) };
    let name = random.pick(&["x", "x", "x", "y"]);
    let mut event = json!({"ph": ph, "name": name, "pid": 100 + random.below(style.processes),
        "tid": 1 + random.below(2), "ts": time(random, style), "cat": if random.one_in(8) { "d" } else { "c" }});
    let members = event.as_object_mut().expect("an object");
    if ph == "E" && random.one_in(2) {
        members.remove("name");
    }
    let number = random.below(2);
    let id = match random.below(16) {
        0 => json!(number),
        1 => json!(number.to_string()),
        _ => json!(format!("0x{number}")),
    };
    let (key, value) = match random.below(10) {
        0 => ("id2", json!({ "local": id })),
        1 => ("id2", json!({ "global": id })),
        _ => ("id", id),
    };
    if matches!(ph, "B" | "E") && random.one_in(2) {
        members.insert("bind_id".into(), json!(format!("0x{number}")));
        members.insert("flow_in".into(), json!(random.one_in(2)));
        members.insert("flow_out".into(), json!(random.one_in(2)));
    } else {
        members.insert(key.into(), value);
    }
    if random.one_in(10) {
        members.insert("scope".into(), json!(random.pick(&["p", "q"])));
    }
    event
}
