//! Generates traces of one program with a known change: a slower kernel, an operator that is called twice, and so on.
//!
//! A step loads data, runs layers of operators that launch a kernel each, reduces a gradient on another stream while the
//! backward kernels run, and waits for the device. The stream runs one kernel after the other.

use crate::programs::Random;
use std::fmt::Write;

/// What is changed in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Nothing.
    Nothing,
    /// A kernel takes 1.3 times as long.
    SlowKernel,
    /// An operator is called twice.
    CalledTwice,
    /// A kernel has another name, and takes 1.1 times as long.
    RenamedKernel,
    /// Three operators with a kernel each are one with one kernel, which takes half of their time.
    FusedOperators,
    /// The reduction of the gradient begins after the backward kernels instead of during them.
    LostOverlap,
    /// The host does something else in each step.
    HostDelay,
    /// The inputs of an operator are larger, and its kernel takes twice as long.
    LargerInput,
    /// The inputs of an operator have another type, and its kernel takes half of its time.
    OtherType,
}

impl Changed {
    /// Every change, the first of which is none.
    pub const ALL: [Changed; 9] = [
        Changed::Nothing,
        Changed::SlowKernel,
        Changed::CalledTwice,
        Changed::RenamedKernel,
        Changed::FusedOperators,
        Changed::LostOverlap,
        Changed::HostDelay,
        Changed::LargerInput,
        Changed::OtherType,
    ];
}

/// A program to generate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What is changed.
    pub changed: Changed,
    /// The number of steps.
    pub steps: usize,
    /// The standard deviation of each duration in percent.
    pub noise: u64,
    /// The seed of the noise.
    pub seed: u64,
}

/// The operators of a layer, each with its kernel: names, and the duration of the kernel in ns.
const LAYER: [(&str, &str, i64); 10] = [
    ("aten::layer_norm", "vectorized_layer_norm_kernel", 31_000),
    ("aten::linear", "ampere_sgemm_128x64_tn", 210_000),
    ("aten::bmm", "ampere_sgemm_64x64_nn", 90_000),
    ("aten::softmax", "softmax_warp_forward", 45_000),
    ("aten::dropout", "fused_dropout_kernel", 28_000),
    ("aten::mul", "elementwise_mul_kernel", 24_000),
    ("aten::add", "elementwise_add_kernel", 26_000),
    ("aten::relu", "elementwise_relu_kernel", 22_000),
    ("aten::mean", "reduce_mean_kernel", 37_000),
    ("aten::gelu", "elementwise_gelu_kernel", 52_000),
];

/// The operator that is changed.
pub const OPERATOR: &str = "aten::linear";
/// Its kernel.
pub const KERNEL: &str = "ampere_sgemm_128x64_tn";
/// The new name of its kernel.
pub const RENAMED: &str = "sm90_xmma_gemm_f32f32_tn";
/// The range of the host that is new.
pub const DELAY: &str = "log_metrics";
/// The kernel of the reduction.
pub const REDUCTION: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
/// The number of layers.
pub const LAYERS: i64 = 4;

const BACKWARD: [(&str, &str, i64); 2] = [
    ("autograd::engine::evaluate_function: AddmmBackward0", "ampere_sgemm_32x128_nt", 260_000),
    ("autograd::engine::evaluate_function: GeluBackward0", "gelu_backward_kernel", 64_000),
];

const REDUCED: i64 = 700_000;
const LAUNCH: i64 = 6_000;
const CALL: i64 = 14_000;
const LOADING: i64 = 180_000;
/// What the host does in a new range, in ns.
pub const DELAYED: i64 = 400_000;

/// A program that is running.
struct Program {
    plan: Plan,
    random: Random,
    out: String,
    host: i64,
    compute: i64,
    correlation: u64,
}

/// Returns the text of a trace.
pub fn generate(plan: &Plan) -> String {
    let mut program = Program {
        plan: *plan,
        random: Random(plan.seed.wrapping_mul(0x9e37_79b9).wrapping_add(7)),
        out: String::from(
            "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"A100\"}], \"traceEvents\": [\n",
        ),
        host: 1_000_000,
        compute: 0,
        correlation: 1,
    };
    for step in 0..plan.steps {
        program.step(step);
    }
    let length = program.out.trim_end_matches([',', '\n']).len();
    program.out.truncate(length);
    program.out + "\n]}\n"
}

impl Program {
    /// A duration with noise: the sum of twelve uniform numbers is nearly normal.
    fn noisy(&mut self, length: i64) -> i64 {
        let sum: i64 = (0..12).map(|_| self.random.below(10_001) as i64 - 5_000).sum();
        (length + length * sum / 10_000 * self.plan.noise as i64 / 100).max(1)
    }

    fn is(&self, changed: Changed) -> bool {
        self.plan.changed == changed
    }

    fn event(&mut self, category: &str, name: &str, track: (u32, u32), (start, end): (i64, i64), args: &str) {
        let us = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
        let _ = writeln!(
            self.out,
            "{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": {{{args}}}}},",
            track.0,
            track.1,
            us(start),
            us(end - start)
        );
    }

    fn host_span(&mut self, category: &str, name: &str, time: (i64, i64), args: &str) {
        self.event(category, name, (4000, 4000), time, args);
    }

    /// An operator that launches a kernel on the compute stream. Returns the end of the kernel.
    fn operator(&mut self, operator: &str, kernel: &str, length: i64, inputs: &str) -> i64 {
        let start = self.host;
        let (call, length) = (self.noisy(CALL), self.noisy(length));
        let launch = (start + call / 2, start + call / 2 + LAUNCH);
        let id = self.launch(launch);
        let begin = self.compute.max(launch.1 + 2_000);
        let time = (begin, begin + length);
        self.event(
            "kernel",
            kernel,
            (0, 7),
            time,
            &format!("\"stream\": 7, \"device\": 0, \"correlation\": {id}"),
        );
        self.compute = time.1;
        self.host = launch.1 + call / 2;
        self.host_span("cpu_op", operator, (start, self.host), inputs);
        self.host += 1_000;
        self.compute
    }

    fn launch(&mut self, time: (i64, i64)) -> u64 {
        let id = self.correlation;
        self.correlation += 1;
        self.host_span("cuda_runtime", "cudaLaunchKernel", time, &format!("\"correlation\": {id}"));
        id
    }

    fn layer(&mut self, layer: i64) {
        for (at, &(operator, kernel, length)) in LAYER.iter().enumerate() {
            let is_fused = self.is(Changed::FusedOperators) && (5..8).contains(&at);
            let is_changed = operator == OPERATOR;
            let mut inputs =
                "\"Input Dims\": [[64, 512], [512, 512]], \"Input type\": [\"float\", \"float\"]".to_owned();
            let (mut kernel, mut length) = (kernel, length);
            if is_fused {
                if at == 5 {
                    let sum: i64 = LAYER[5..8].iter().map(|part| part.2).sum();
                    self.operator(
                        "triton_poi_fused_add_mul_relu_0",
                        "triton_poi_fused_add_mul_relu_0",
                        sum / 2,
                        &inputs,
                    );
                }
                continue;
            }
            match self.plan.changed {
                Changed::SlowKernel if is_changed => length = length * 13 / 10,
                Changed::RenamedKernel if is_changed => (kernel, length) = (RENAMED, length * 11 / 10),
                Changed::LargerInput if is_changed => {
                    length *= 2;
                    inputs = inputs.replace("[64, 512]", "[128, 512]");
                }
                Changed::OtherType if is_changed => {
                    length /= 2;
                    inputs = inputs.replace("float", "c10::BFloat16");
                }
                Changed::CalledTwice if is_changed && layer == 0 => {
                    self.operator(operator, kernel, length, &inputs);
                }
                _ => {}
            }
            self.operator(operator, kernel, length, &inputs);
        }
    }

    fn step(&mut self, number: usize) {
        let start = self.host;
        let loading = self.noisy(LOADING);
        let name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        self.host_span("user_annotation", name, (start, start + loading), "");
        self.host += loading + 2_000;
        for layer in 0..LAYERS {
            self.layer(layer);
        }
        for _ in 0..LAYERS {
            for (operator, kernel, length) in BACKWARD {
                self.operator(operator, kernel, length, "");
            }
        }
        let end = self.reduce();
        let wait = (self.host, self.compute.max(end) + 3_000);
        self.host_span("cuda_runtime", "cudaDeviceSynchronize", wait, "");
        self.host = wait.1 + 5_000;
        if self.is(Changed::HostDelay) {
            let end = self.host + self.noisy(DELAYED);
            self.host_span("user_annotation", DELAY, (self.host, end), "");
            self.host = end;
        }
        self.host_span("user_annotation", &format!("ProfilerStep#{}", number + 5), (start, self.host), "");
        self.compute = self.host;
        self.host += 1_000;
    }

    /// The reduction of the gradient: it ends with the backward kernels, or begins after them.
    fn reduce(&mut self) -> i64 {
        let time = (self.host, self.host + LAUNCH);
        let id = self.launch(time);
        self.host = time.1 + 1_000;
        let length = REDUCED;
        let begin = if self.is(Changed::LostOverlap) { self.compute } else { self.compute - length };
        let args = format!("\"stream\": 20, \"device\": 0, \"correlation\": {id}");
        self.event("kernel", REDUCTION, (0, 20), (begin, begin + length), &args);
        begin + length
    }
}

/// The change of the time of a step on the device, or of the host, in ns without noise.
pub fn truth(changed: Changed) -> i64 {
    let length = |name: &str| LAYER.iter().find(|part| part.0 == name).map_or(0, |part| part.2);
    let linear = length(OPERATOR);
    match changed {
        Changed::Nothing => 0,
        Changed::SlowKernel => linear * 3 / 10 * LAYERS,
        Changed::CalledTwice => linear,
        Changed::RenamedKernel => linear / 10 * LAYERS,
        Changed::FusedOperators => -(LAYER[5..8].iter().map(|part| part.2).sum::<i64>() / 2) * LAYERS,
        Changed::LostOverlap => REDUCED,
        Changed::HostDelay => DELAYED,
        Changed::LargerInput => linear * LAYERS,
        Changed::OtherType => -(linear / 2) * LAYERS,
    }
}
