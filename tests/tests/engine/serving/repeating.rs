//! Servers whose ranges name nothing: a model of several layers that is launched kernel by kernel, as one graph, or as a graph
//! for each layer, with prefills, batches that change, drafts and two streams.

use kinetoscope_tests::programs::Random;
use serde_json::{Value, json};

/// A launch: its call and its work.
struct Launch {
    start: i64,
    end: i64,
    names: Vec<String>,
    stream: i64,
    is_graph: bool,
}

pub(super) struct Server {
    launches: Vec<Launch>,
    /// The start of the first call of each iteration, in microseconds.
    pub(super) starts: Vec<i64>,
    now: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Eager,
    Graph,
    Piecewise,
}

fn below(random: &mut Random, limit: u64) -> i64 {
    i64::try_from(random.below(limit)).expect("a small number")
}

impl Server {
    pub(super) fn new(seed: u64) -> Server {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut server = Server { launches: Vec::new(), starts: Vec::new(), now: 100 };
        let layers = 2 + below(&mut random, 20);
        let kernels: Vec<i64> = (0..4 + below(&mut random, 8)).map(|_| below(&mut random, 9)).collect();
        let mode = [Mode::Eager, Mode::Graph, Mode::Piecewise][random.below(3) as usize];
        let (has_draft, has_copy) = (random.below(4) == 0, random.below(2) == 0);
        let prefills = random.below(3);
        for at in 0..10 + below(&mut random, 40) {
            server.starts.push(server.now);
            let is_prefill = at == 0 || (prefills > 0 && random.below(12) < prefills);
            // The tile of a product depends on the number of tokens.
            let size = if is_prefill { 100 + below(&mut random, 40) } else { below(&mut random, 3) };
            if has_copy {
                server.launch(vec!["gather_tokens".into()], 7, false, &mut random);
            }
            if has_draft && !is_prefill {
                for _ in 0..3 {
                    server.launch(vec!["draft_a".into(), "draft_b".into()], 7, true, &mut random);
                }
            }
            let mode = if is_prefill { Mode::Eager } else { mode };
            server.forward(mode, layers, &kernels, size, &mut random);
            server.launch(vec!["argmax".into()], 7, false, &mut random);
            server.now += 60 + below(&mut random, 60);
        }
        server
    }

    /// Launches of one of many kernels each.
    pub(super) fn random(seed: u64) -> Server {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut server = Server { launches: Vec::new(), starts: Vec::new(), now: 100 };
        for _ in 0..300 {
            let name = format!("kernel_{}", random.below(12));
            server.launch(vec![name], 7, false, &mut random);
            server.now += below(&mut random, 30);
        }
        server
    }

    fn forward(&mut self, mode: Mode, layers: i64, kernels: &[i64], size: i64, random: &mut Random) {
        let layer = || {
            kernels
                .iter()
                .map(move |kernel| format!("layer_{kernel}_{}", if *kernel == 0 { size } else { 0 }))
        };
        match mode {
            Mode::Graph => {
                let names = (0..layers).flat_map(|_| layer()).collect();
                self.launch(names, 7, true, random);
            }
            Mode::Piecewise => (0..layers).for_each(|_| self.launch(layer().collect(), 7, true, random)),
            Mode::Eager => {
                for _ in 0..layers {
                    for (at, name) in layer().enumerate() {
                        self.launch(vec![name], if at % 5 == 4 { 9 } else { 7 }, false, random);
                    }
                }
            }
        }
    }

    fn launch(&mut self, names: Vec<String>, stream: i64, is_graph: bool, random: &mut Random) {
        let start = self.now;
        let end = start + 3 + below(random, 3);
        self.launches.push(Launch { start, end, names, stream, is_graph });
        self.now = end + 1 + below(random, 3);
    }

    pub(super) fn events(&self) -> Vec<Value> {
        let mut events = Vec::new();
        let mut device = 0;
        for (id, launch) in self.launches.iter().enumerate() {
            let name = if launch.is_graph { "cudaGraphLaunch" } else { "cudaLaunchKernel" };
            events.push(
                json!({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": launch.start,
                "dur": launch.end - launch.start, "args": {"correlation": id + 1}}),
            );
            device = device.max(launch.end);
            for name in &launch.names {
                events.push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": launch.stream, "ts": device,
                    "dur": 2, "args": {"correlation": id + 1, "device": 0, "stream": launch.stream}}));
                device += 2;
            }
        }
        events
    }
}
