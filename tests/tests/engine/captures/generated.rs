//! Models whose layers are captured as graphs, for several sizes of a batch, and traces that replay them.

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::made;
use kinetoscope_tests::programs::Random;
use serde_json::{Value, json};

/// An operator of a layer: its name, the kernels that it launches, and the shapes of its inputs.
struct Operator {
    name: &'static str,
    kernels: &'static [&'static str],
}

const OPERATORS: [Operator; 6] = [
    Operator { name: "aten::mm", kernels: &["Cijk_Alik_Bljk_BBS_BH_MT64x32x256"] },
    Operator { name: "aten::_fused_rms_norm", kernels: &["_ZN5norms4normIfEEvPT_"] },
    Operator { name: "vllm::attention", kernels: &["paged_attention_mfma16", "paged_attention_reduce"] },
    Operator { name: "aten::copy_", kernels: &["Memcpy"] },
    Operator { name: "aten::add", kernels: &["vectorized_elementwise_kernel<4, add>"] },
    Operator { name: "aten::mm", kernels: &["Cijk_Alik_Bljk_BBS_BH_MT256x128x64", "splitk_reduce"] },
];

/// A call of a layer.
#[derive(Clone, Copy)]
struct Call {
    layer: usize,
    operator: usize,
    kernel: usize,
}

pub(super) struct Model {
    seed: u64,
    /// The calls of each piece that is a graph of its own.
    pieces: Vec<Vec<Call>>,
    /// The sizes that are captured, the largest first.
    sizes: Vec<i64>,
    /// The batches of the iterations.
    batches: Vec<i64>,
    has_branches: bool,
}

fn below(random: &mut Random, limit: u64) -> usize {
    usize::try_from(random.below(limit)).expect("a small number")
}

impl Model {
    pub(super) fn new(seed: u64) -> Model {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let layers = 2 + below(&mut random, 6);
        let order: Vec<usize> =
            (0..4 + below(&mut random, 10)).map(|_| below(&mut random, 6)).chain([0]).collect();
        let calls_of = |layer: usize| -> Vec<Call> {
            let kernels = |&operator: &usize| {
                (0..OPERATORS[operator].kernels.len()).map(move |kernel| Call { layer, operator, kernel })
            };
            order.iter().flat_map(kernels).collect()
        };
        // A model is captured as one graph, or as one for each layer.
        let is_piecewise = seed % 2 == 1;
        let layers: Vec<Vec<Call>> = (0..layers).map(calls_of).collect();
        let pieces = if is_piecewise { layers } else { vec![layers.concat()] };
        let sizes = [32, 16, 8, 4][below(&mut random, 3)..].to_vec();
        let batches = (0..3 + below(&mut random, 5))
            .map(|_| {
                1 + i64::try_from(below(&mut random, u64::try_from(sizes[0]).expect("a size")))
                    .expect("a number")
            })
            .collect();
        Model { seed, pieces, sizes, batches, has_branches: seed.is_multiple_of(3) }
    }

    pub(super) fn launches(&self) -> usize {
        self.pieces.len() * self.batches.len()
    }

    /// The name of an operator shows its layer and the size of its graph, so that each kernel has one right answer.
    fn operator(call: Call, size: i64) -> String {
        format!("{} {} of {size}", OPERATORS[call.operator].name, call.layer)
    }

    /// The smallest size that a batch fits into.
    fn size_for(&self, batch: i64) -> i64 {
        *self.sizes.iter().rev().find(|size| **size >= batch).expect("a size")
    }

    /// A trace for the captures of each size.
    pub(super) fn captures(&self) -> Vec<Trace> {
        self.sizes.iter().map(|&size| self.captured(&[size], 1.0)).collect()
    }

    /// The trace of the captures, in which about this share of the calls has the name of the kernel.
    pub(super) fn capture(&self, share: f64) -> Trace {
        self.captured(&self.sizes, share)
    }

    fn captured(&self, sizes: &[i64], share: f64) -> Trace {
        let mut random = Random(self.seed | 1);
        let mut events = Vec::new();
        let (mut now, mut id) = (1000, 0);
        let span = |cat: &str, name: &str, ts: i64, dur: i64, args: Value| json!({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": args});
        for &size in sizes {
            let start = now;
            for piece in &self.pieces {
                events.push(span(
                    "python_function",
                    "capture.py(1): run",
                    now,
                    10 + 10 * piece.len() as i64,
                    json!({"Python id": id}),
                ));
                events.push(span("cuda_runtime", "hipStreamBeginCapture", now + 1, 1, json!({})));
                now += 5;
                for &call in piece {
                    id += 1;
                    let name = OPERATORS[call.operator].kernels[call.kernel];
                    let is_other = random.below(1000) >= (share * 1000.0) as u64;
                    let kernel = if is_other { "another kernel" } else { name };
                    let (runtime, args) = if name == "Memcpy" && !is_other {
                        ("hipMemcpyAsync", json!({"correlation": id}))
                    } else {
                        ("hipModuleLaunchKernel", json!({"correlation": id, "kernel": kernel}))
                    };
                    events.push(span(
                        "python_function",
                        &format!("nn.Module: Layer_{}", call.layer),
                        now,
                        9,
                        json!({"Python id": id + 10_000}),
                    ));
                    let dims = json!([[size, 64], [64, 32]]);
                    events.push(span(
                        "cpu_op",
                        &Model::operator(call, size),
                        now + 1,
                        7,
                        json!({"External id": id, "Input Dims": dims, "Input type": ["float", "float"]}),
                    ));
                    events.push(span(
                        "cpu_op",
                        "aten::inner",
                        now + 2,
                        1,
                        json!({"External id": id + 50_000}),
                    ));
                    events.push(span("cuda_runtime", runtime, now + 4, 2, args));
                    now += 10;
                }
                events.push(span("cuda_runtime", "hipStreamEndCapture", now, 1, json!({})));
                now += 10;
            }
            events.push(span(
                "user_annotation",
                &format!("capture_{size}_DECODE"),
                start - 2,
                now - start,
                json!({}),
            ));
        }
        made(&Value::Array(events))
    }

    /// The trace that replays the graphs.
    pub(super) fn trace(&self) -> Trace {
        let events = self.events().into_iter().map(|event| event.0).collect();
        made(&Value::Array(events))
    }

    /// The number of events of the first launch, and of the first iteration.
    pub(super) fn events_of_first_launch(&self) -> usize {
        1 + self.pieces[0].len()
    }

    pub(super) fn events_of_first_iteration(&self) -> usize {
        self.pieces.iter().map(|piece| 1 + piece.len()).sum::<usize>() + 1
    }

    /// The same trace without the first launch and its work.
    pub(super) fn trace_without_first_launch(&self) -> Trace {
        let events = self.events().into_iter().skip(self.events_of_first_launch()).map(|event| event.0);
        made(&Value::Array(events.collect()))
    }

    /// The kernels of replays by their event, with the right operator.
    pub(super) fn truth(&self) -> Vec<(usize, String)> {
        let events = self.events();
        events.iter().enumerate().filter_map(|(at, event)| Some((at, event.1.clone()?))).collect()
    }

    fn events(&self) -> Vec<(Value, Option<String>)> {
        let mut random = Random(self.seed.wrapping_add(99) | 1);
        let mut events = Vec::new();
        let (mut now, mut id, mut device) = (1_000_000, 0, 1_000_100);
        for &batch in &self.batches {
            let size = self.size_for(batch);
            let start = now;
            for piece in &self.pieces {
                id += 1;
                let call = json!({"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 1, "tid": 1, "ts": now, "dur": 3, "args": {"correlation": id}});
                events.push((call, None));
                device = device.max(now + 5);
                let mut streams = [device, device];
                for &call in piece {
                    let name = OPERATORS[call.operator].kernels[call.kernel];
                    let category = if name == "Memcpy" { "gpu_memcpy" } else { "kernel" };
                    // Branches run at the same time, so that starts are in another order than calls.
                    let stream = usize::from(self.has_branches && call.operator % 2 == 1);
                    let ts = streams[stream] + random.below(3) as i64;
                    let dur = 2 + random.below(20) as i64;
                    streams[stream] = ts + dur;
                    events.push((
                        json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
                            "args": {"correlation": id, "device": 0, "stream": stream}}),
                        Some(Model::operator(call, size)),
                    ));
                }
                device = streams[0].max(streams[1]) + 1;
                now += 8;
            }
            let range = json!({"ph": "X", "cat": "user_annotation", "name": format!("step[DECODE bs={batch}]"), "pid": 1, "tid": 1,
                "ts": start - 2, "dur": now - start + 4, "args": {}});
            events.push((range, None));
            now = device + 20;
        }
        events
    }
}
