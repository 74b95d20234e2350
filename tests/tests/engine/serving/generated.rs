//! Programs of inference engines with known iterations: graphs, batches that change, chunked prefill, speculative decoding, two
//! streams, and hosts that run ahead of the device.

use kinetoscope_tests::programs::Random;
use serde_json::{Value, json};

/// Whose names the ranges have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Vllm,
    VllmDetailed,
    Sglang,
    TensorRt,
    Atom,
}

impl Engine {
    pub(super) const ALL: [Engine; 5] =
        [Engine::Vllm, Engine::VllmDetailed, Engine::Sglang, Engine::TensorRt, Engine::Atom];
}

/// What an iteration computes.
#[derive(Clone, Debug)]
pub(super) struct Iterated {
    pub(super) phase: &'static str,
    pub(super) batch: Option<i64>,
    pub(super) tokens: Option<i64>,
    pub(super) generated: Option<i64>,
    pub(super) is_graph: bool,
    name: String,
}

/// Work of the device. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Worked {
    pub(super) launch: (i64, i64),
    pub(super) time: (i64, i64),
    /// The index of the part.
    pub(super) part: usize,
    /// The iteration that it belongs to.
    owner: Option<usize>,
    correlation: i64,
    name: &'static str,
    stream: i64,
}

pub(super) struct Program {
    pub(super) iterations: Vec<Iterated>,
    pub(super) ranges: Vec<(i64, i64)>,
    pub(super) calls: Vec<(i64, i64)>,
    pub(super) work: Vec<Worked>,
    graph_calls: Vec<(i64, (i64, i64))>,
    plain_calls: Vec<(i64, (i64, i64))>,
    now: i64,
    /// The end of the work of each stream.
    streams: [i64; 2],
    ids: i64,
}

/// Kernels with their parts.
const KERNELS: [(&str, usize); 12] = [
    ("void vllm::paged_attention_v2_kernel<float>(float*)", 0),
    ("void vllm::reshape_and_cache_flash_kernel<float>(float*)", 1),
    ("nvjet_tst_64x64", 2),
    ("ampere_sgemm_128x64_tn", 2),
    ("fused_moe_kernel", 3),
    ("void vllm::moe::topkGating<float>(float*)", 4),
    ("void vllm::moe::moe_sum_kernel<float, 2>(float*)", 5),
    ("void flashinfer::sampling::TopKTopPSamplingFromProbKernel<float>(float*)", 6),
    ("void vllm::act_and_mul_kernel<float>(float*)", 7),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 8),
    ("void deep_ep::internode_ll::dispatch<false, 8>(int4*)", 9),
    ("Memcpy HtoD (Pinned -> Device)", 10),
];

impl Program {
    pub(super) fn new(seed: u64, engine: Engine) -> Program {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut program = Program {
            iterations: Vec::new(),
            ranges: Vec::new(),
            calls: Vec::new(),
            work: Vec::new(),
            graph_calls: Vec::new(),
            plain_calls: Vec::new(),
            now: 100,
            streams: [0; 2],
            ids: 0,
        };
        let runs_ahead = random.below(2) == 0;
        for _ in 0..4 + random.below(10) {
            program.iterate(engine, runs_ahead, &mut random);
        }
        program
    }

    fn iterate(&mut self, engine: Engine, runs_ahead: bool, random: &mut Random) {
        let iteration = iteration(engine, random);
        let at = self.ranges.len();
        let start = self.now;
        self.now += 1 + number(random, 20);
        if iteration.is_graph {
            let kernels = 2 + random.below(6);
            self.launch(true, kernels, Some(at), random);
        } else {
            for _ in 0..random.below(8) {
                self.launch(false, 1, Some(at), random);
            }
        }
        self.now += number(random, 10);
        if !runs_ahead {
            self.now = self.now.max(self.streams[0]).max(self.streams[1]) + 1;
        }
        self.ranges.push((start, self.now));
        self.iterations.push(iteration);
        // What samples is launched soon after the range, and the next range begins much later.
        self.now += 1;
        if random.below(3) == 0 {
            self.launch(false, 1, None, random);
        }
        self.now += 30 + number(random, 200) * number(random, 2);
    }

    /// Launches work by one call.
    fn launch(&mut self, is_graph: bool, kernels: u64, owner: Option<usize>, random: &mut Random) {
        self.ids += 1;
        let call = (self.now, self.now + 1 + number(random, 5));
        let is_inside = owner.is_some();
        let owner = owner.or_else(|| self.ranges.len().checked_sub(1));
        for _ in 0..kernels {
            let (name, part) = KERNELS[random.below(KERNELS.len() as u64) as usize];
            let stream = usize::from(random.below(5) == 0);
            let start = self.streams[stream].max(call.1) + number(random, 4);
            let end = start + 1 + number(random, 30);
            self.streams[stream] = end;
            self.work.push(Worked {
                launch: call,
                time: (start, end),
                part,
                owner,
                correlation: self.ids,
                name,
                stream: [7, 9][stream],
            });
        }
        let calls = if is_graph { &mut self.graph_calls } else { &mut self.plain_calls };
        calls.push((self.ids, call));
        if is_inside {
            self.calls.push(call);
        }
        self.now = call.1 + number(random, 3);
    }

    /// The time of each iteration: from the end of the one before to the end of its range and of its work.
    pub(super) fn times(&self) -> Vec<(i64, i64)> {
        let mut reached = self.ranges[0].0;
        let last = self.ranges.len() - 1;
        let ended = |at: usize| {
            // Work after the last range belongs to it if it is as near as to the others on average.
            let gaps = self.ranges.windows(2).map(|pair| pair[1].0 - pair[0].1);
            let count = i64::try_from(gaps.len()).expect("a small number");
            let limit = gaps.sum::<i64>() / count.max(1) / 2;
            let is_of = |work: &&Worked| {
                work.owner == Some(at) && (at < last || work.launch.0 <= self.ranges[at].1 + limit)
            };
            self.work.iter().filter(is_of).map(|work| work.time.1).max()
        };
        (0..self.ranges.len())
            .map(|at| {
                let end = ended(at).unwrap_or(0).max(self.ranges[at].1).max(reached);
                let time = (reached, end);
                reached = end;
                time
            })
            .collect()
    }

    pub(super) fn events(&self) -> Vec<Value> {
        let span = |cat: &str, name: &str, (pid, tid): (i64, i64), (start, end): (i64, i64), args: Value| json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start, "args": args});
        let mut events = Vec::new();
        for (iteration, &range) in self.iterations.iter().zip(&self.ranges) {
            events.push(span("user_annotation", &iteration.name, (1, 1), range, json!({})));
        }
        for (name, calls) in [("cudaGraphLaunch", &self.graph_calls), ("cudaLaunchKernel", &self.plain_calls)]
        {
            for &(id, call) in calls {
                events.push(span("cuda_runtime", name, (1, 1), call, json!({"correlation": id})));
            }
        }
        for work in &self.work {
            let category = if work.part == 10 { "gpu_memcpy" } else { "kernel" };
            let args = json!({"correlation": work.correlation, "device": 0, "stream": work.stream});
            events.push(span(category, work.name, (0, work.stream), work.time, args));
        }
        events
    }
}

fn number(random: &mut Random, limit: u64) -> i64 {
    i64::try_from(random.below(limit)).expect("a small number")
}

/// An iteration of any phase that the engine can name.
fn iteration(engine: Engine, random: &mut Random) -> Iterated {
    let mut below = |limit: u64| number(random, limit);
    let (prompts, prompt_tokens, generating) = match below(4) {
        0 => (1 + below(4), 100 + below(8000), 0),
        1 => (1 + below(3), 100 + below(2000), 1 + below(60)),
        _ => (0, 0, 1 + below(60)),
    };
    let is_verify = engine == Engine::Sglang && prompts == 0 && below(4) == 0;
    // Each request that generates can have several tokens: those of a draft.
    let drafts = if engine == Engine::Vllm { 1 + below(3) } else { 1 };
    let tokens = prompt_tokens + generating * drafts;
    let batch = prompts + generating;
    let is_graph = prompts == 0;
    let phase = match (prompts > 0, generating > 0) {
        _ if is_verify => "verify",
        (true, true) => "mixed",
        (true, false) => "prefill",
        _ => "decode",
    };
    let counts = (Some(batch), Some(tokens), Some(generating * drafts));
    let (name, (batch, tokens, generated)) = match engine {
        Engine::Vllm => (
            format!(
                "execute_context_{prompts}({prompt_tokens})_generation_{generating}({})",
                generating * drafts
            ),
            counts,
        ),
        Engine::VllmDetailed => (
            format!(
                "execute_{tokens}_context_{prompts}(sq{prompt_tokens}sk{}sqsq7sqsk9)_generation_{generating}(sq{generating}sk99sqsq1sqsk8)",
                prompt_tokens + 3
            ),
            counts,
        ),
        Engine::Sglang => match phase {
            "verify" => (format!("step[TARGET_VERIFY bs={batch}]"), (counts.0, None, None)),
            "prefill" => (
                format!("step[EXTEND bs={batch} toks={prompt_tokens}]"),
                (counts.0, Some(prompt_tokens), None),
            ),
            "mixed" => (format!("step[MIXED bs={batch}]"), (counts.0, None, None)),
            _ => (format!("step[DECODE bs={batch}]"), counts),
        },
        Engine::TensorRt => (
            format!(
                "[Executor] _forward_step {}: {prompts} ctx reqs, {prompt_tokens} ctx tokens, {generating} gen reqs",
                below(100_000)
            ),
            counts,
        ),
        Engine::Atom if prompts == 0 => (format!("decode[bs={batch} tok={tokens}]"), counts),
        Engine::Atom => (format!("prefill[bs={batch} tok={tokens}]"), (counts.0, counts.1, None)),
    };
    let phase = if engine == Engine::Atom && prompts > 0 { "prefill" } else { phase };
    Iterated { phase, batch, tokens, generated, is_graph, name }
}
