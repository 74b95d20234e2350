//! Generates the traces of a run of several ranks from a seed, with a known truth: who is late and why, and how the
//! clocks are shifted.
//!
//! Each rank has a host thread, a compute stream and a communication stream. A step loads data, runs a forward pass, a
//! backward pass whose gradients are reduced while it runs, and an optimizer. With pairs, each pair of ranks also reduces
//! activations in the forward pass, in a group of its own. A collective ends on all its ranks about one microsecond apart.

use crate::programs::Random;
use std::fmt::Write;

/// What is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// The data loader of a rank is slow.
    DataLoading,
    /// The kernels of the forward pass of a rank are slow.
    Forward,
    /// The kernels of the backward pass of a rank are slow.
    Backward,
    /// The kernels of the forward pass of all ranks of a machine are slow; the rank is its first.
    Node,
    /// The transfers of the group of a rank and its neighbour are slow.
    SlowLink,
}

/// A run to generate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// The number of ranks; even with pairs.
    pub ranks: usize,
    /// The number of ranks of a machine; 0 if the traces do not name machines.
    pub per_node: usize,
    /// The number of steps.
    pub steps: i64,
    /// The number of layers.
    pub layers: usize,
    /// The number of layers whose gradients are reduced together.
    pub bucket: usize,
    /// What is injected, and the rank.
    pub injected: Option<(usize, Injected)>,
    /// Whether the clocks of all ranks but the first are shifted and drift.
    pub shifted: bool,
    /// Whether collectives have sequence numbers and group names.
    pub numbered: bool,
    /// Whether pairs of ranks have a group of their own.
    pub pairs: bool,
    /// The number of collectives that are missing on some rank.
    pub missing: usize,
}

impl Plan {
    /// A run of 4 ranks and 6 steps without anything injected.
    pub fn from_seed(seed: u64) -> Plan {
        Plan {
            seed,
            ranks: 4,
            per_node: 0,
            steps: 6,
            layers: 6,
            bucket: 1,
            injected: None,
            shifted: false,
            numbered: true,
            pairs: false,
            missing: 0,
        }
    }
}

/// The offset of a clock in ns and its drift in ns per ns: what a rank writes for a time `t` of the first rank is
/// `t + offset + drift * (t - START)`.
pub type Shift = (i64, f64);

/// A generated run.
pub struct Run {
    /// The text of each rank's trace.
    pub traces: Vec<String>,
    /// The clock of each rank.
    pub clocks: Vec<Shift>,
}

/// The time of the first step, in ns since 1970.
pub const START: i64 = 1_790_000_000_000_000_000;

/// The `baseTimeNanoseconds` of the traces.
const BASE: i64 = 1_789_999_000_000_000_000;

struct Event {
    category: &'static str,
    name: String,
    /// 0 for a thread, else the stream.
    stream: u32,
    time: (i64, i64),
    args: String,
    /// The number of the collective, to leave it out.
    collective: Option<usize>,
}

#[derive(Default)]
struct Rank {
    events: Vec<Event>,
    /// The times at which the host, the compute stream and the communication stream are free.
    host: i64,
    compute: i64,
    communication: i64,
    correlation: u64,
    collectives: usize,
    /// The number of collectives in the group of all and in its pair.
    numbers: [u64; 2],
}

impl Rank {
    fn span(&mut self, category: &'static str, name: &str, time: (i64, i64)) -> &mut Event {
        let name = name.to_owned();
        self.events.push(Event { category, name, stream: 0, time, args: String::new(), collective: None });
        self.events.last_mut().expect("the event")
    }

    /// An operator that launches a kernel. Returns its correlation.
    fn launch(&mut self, operator: &str, length: i64) -> u64 {
        self.correlation += 1;
        let (start, id) = (self.host, self.correlation);
        self.span("cpu_op", operator, (start, start + length)).args = format!("\"External id\":{id}");
        let call = self.span("cuda_runtime", "cudaLaunchKernel", (start + 5_000, start + length - 5_000));
        call.args = format!("\"correlation\":{id},\"External id\":{id}");
        self.host += length + 2_000;
        id
    }

    fn kernel(&mut self, name: &str, stream: u32, time: (i64, i64), id: u64) -> &mut Event {
        let event = self.span("kernel", name, time);
        event.stream = stream;
        event.args = format!(
            "\"correlation\":{id},\"External id\":{id},\"stream\":{stream},\"device\":0,\"grid\":[8,1,1]"
        );
        event
    }

    /// An operator with a kernel on the compute stream.
    fn compute(&mut self, operator: &str, kernel: &str, length: i64) {
        let id = self.launch(operator, 40_000);
        let start = self.compute.max(self.host);
        self.kernel(kernel, 7, (start, start + length), id);
        self.compute = start + length;
    }
}

/// A length with noise: a few percent, and sometimes a third.
fn noisy(random: &mut Random, length: i64) -> i64 {
    let spread = (length / 25).max(1) as u64;
    let rare = if random.below(200) == 0 { length / 3 } else { 0 };
    length + random.below(spread) as i64 + rare
}

/// Generates a run.
pub fn generate(plan: &Plan) -> Run {
    let mut random = Random(plan.seed.wrapping_mul(0x9e37_79b9).wrapping_add(1));
    let mut ranks: Vec<Rank> = (0..plan.ranks).map(|_| Rank::default()).collect();
    for rank in &mut ranks {
        rank.host = START + random.below(200_000) as i64;
    }
    for step in 0..plan.steps {
        one_step(plan, step, &mut ranks, &mut random);
    }
    let mut lost: Vec<(usize, usize)> = Vec::new();
    for _ in 0..plan.missing {
        let rank = random.below(plan.ranks as u64) as usize;
        lost.push((rank, random.below(ranks[rank].collectives as u64) as usize));
    }
    let mut clocks = vec![(0, 0.0); plan.ranks];
    for clock in clocks.iter_mut().skip(1).filter(|_| plan.shifted) {
        let offset = random.below(40_000_000) as i64 - 20_000_000;
        *clock = (offset, (random.below(200) as f64 - 100.0) * 1e-6);
    }
    let text = |(at, rank): (usize, &Rank)| {
        let kept = |event: &&Event| event.collective.is_none_or(|number| !lost.contains(&(at, number)));
        text(plan, at, clocks[at], rank.events.iter().filter(kept))
    };
    Run { traces: ranks.iter().enumerate().map(text).collect(), clocks }
}

fn one_step(plan: &Plan, step: i64, ranks: &mut [Rank], random: &mut Random) {
    let is = |rank: usize, injected: Injected| plan.injected == Some((rank, injected));
    let node = |rank: usize| rank.checked_div(plan.per_node);
    let slow_node =
        plan.injected.filter(|(_, injected)| *injected == Injected::Node).map(|(first, _)| node(first));
    let starts: Vec<i64> = ranks.iter().map(|rank| rank.host).collect();
    let work = 1_100_000 * plan.layers as i64;
    for (at, rank) in ranks.iter_mut().enumerate() {
        let more = if is(at, Injected::DataLoading) { work / 3 } else { 0 };
        let end = rank.host + noisy(random, 200_000 + more);
        let name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        rank.span("user_annotation", name, (rank.host, end));
        rank.host = end + 10_000;
    }
    for layer in 0..plan.layers {
        for (at, rank) in ranks.iter_mut().enumerate() {
            let is_slow = is(at, Injected::Forward) || slow_node == Some(node(at));
            let more = if is_slow { 300_000 } else { 0 };
            let length = noisy(random, 400_000 + more);
            rank.compute("aten::linear", "ampere_sgemm_128x64_tn", length);
        }
        if plan.pairs && layer % 2 == 1 {
            for pair in 0..plan.ranks / 2 {
                let is_slow = is(2 * pair, Injected::SlowLink);
                let length = noisy(random, if is_slow { 250_000 } else { 80_000 });
                collective(plan, ranks, &[2 * pair, 2 * pair + 1], length, random);
            }
        }
    }
    let all: Vec<usize> = (0..plan.ranks).collect();
    for layer in 1..=plan.layers {
        for (at, rank) in ranks.iter_mut().enumerate() {
            let more = if is(at, Injected::Backward) { 350_000 } else { 0 };
            let length = noisy(random, 600_000 + more);
            rank.compute(
                "autograd::engine::evaluate_function: AddmmBackward0",
                "ampere_sgemm_64x32_nt",
                length,
            );
        }
        if layer.is_multiple_of(plan.bucket) {
            let length = noisy(random, 120_000);
            collective(plan, ranks, &all, length, random);
        }
    }
    for (at, rank) in ranks.iter_mut().enumerate() {
        let start = rank.host;
        rank.compute = rank.compute.max(rank.communication);
        let length = noisy(random, 250_000);
        rank.compute("aten::_foreach_add_", "multi_tensor_apply_kernel", length);
        rank.span("user_annotation", "Optimizer.step#SGD.step", (start, rank.host));
        let wait = (rank.host, rank.compute.max(rank.communication) + 5_000);
        rank.span("cuda_runtime", "cudaDeviceSynchronize", wait);
        rank.host = wait.1 + 10_000;
        rank.span("user_annotation", &format!("ProfilerStep#{}", step + 3), (starts[at], rank.host));
        rank.host += 3_000 + random.below(3_000) as i64;
    }
}

/// An all-reduce of these ranks. In the group of all it runs on the communication stream, in a pair the compute stream
/// waits for it.
fn collective(plan: &Plan, ranks: &mut [Rank], group: &[usize], length: i64, random: &mut Random) {
    let is_pair = group.len() < plan.ranks || plan.ranks == 2 && length < 100_000;
    let mut issued = Vec::new();
    for &at in group {
        let rank = &mut ranks[at];
        rank.numbers[usize::from(is_pair)] += 1;
        let seq = rank.numbers[usize::from(is_pair)];
        let start = rank.host;
        let args = arguments(plan, group, is_pair);
        let number = rank.collectives;
        rank.collectives += 1;
        let record = rank.span("cpu_op", "record_param_comms", (start, start + 60_000));
        record.collective = Some(number);
        if plan.numbered {
            record.args = format!("{args},\"Seq\":{seq}");
        }
        rank.host += 10_000;
        let events = rank.events.len();
        let id = rank.launch("nccl:all_reduce", 40_000);
        for event in &mut rank.events[events..] {
            event.collective = Some(number);
            if event.category == "cpu_op" {
                event.category = "user_annotation";
            }
        }
        rank.host = start + 65_000;
        let ready = if is_pair { rank.compute } else { rank.compute.max(rank.communication) };
        issued.push((ready.max(start + 50_000) + 2_000, id, number));
    }
    let last = issued.iter().map(|call| call.0).max().expect("ranks");
    for (&at, &(start, id, number)) in group.iter().zip(&issued) {
        let rank = &mut ranks[at];
        let end = last + length + random.below(2_000) as i64;
        let args = arguments(plan, group, is_pair);
        let name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        let kernel = rank.kernel(name, if is_pair { 24 } else { 20 }, (start, end), id);
        kernel.collective = Some(number);
        if plan.numbered {
            kernel.args = format!("{},{args}", kernel.args);
        }
        if is_pair {
            rank.compute = end;
        } else {
            rank.communication = end;
        }
    }
}

fn arguments(plan: &Plan, group: &[usize], is_pair: bool) -> String {
    let (name, description) = if is_pair {
        (format!("{}", group[0] / 2 + 1), "tp")
    } else {
        ("0".to_owned(), if plan.pairs { "dp" } else { "default_pg" })
    };
    let elements = if is_pair { 262_144 } else { 1_048_576 };
    format!(
        "\"Collective name\":\"allreduce\",\"Process Group Name\":\"{name}\",\"Process Group Description\":\"{description}\",\
         \"Process Group Ranks\":\"{group:?}\",\"Group size\":{},\"dtype\":\"Float\",\"In msg nelems\":{elements},\"Out msg nelems\":{elements}",
        group.len()
    )
}

/// The trace of a rank, on its own clock.
fn text<'a>(
    plan: &Plan,
    rank: usize,
    (offset, drift): Shift,
    events: impl Iterator<Item = &'a Event>,
) -> String {
    let host = rank
        .checked_div(plan.per_node)
        .map(|node| format!("\"host_name\":\"node{node}\","))
        .unwrap_or_default();
    let mut out = format!(
        "{{\"schemaVersion\":1,{host}\"distributedInfo\":{{\"backend\":\"nccl\",\"rank\":{rank},\"world_size\":{}}},\
         \"baseTimeNanoseconds\":{BASE},\"traceEvents\":[\n",
        plan.ranks
    );
    let local_time = |time: i64| time + offset + (drift * (time - START) as f64) as i64 - BASE;
    let us = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
    for (at, event) in events.enumerate() {
        let separator = if at > 0 { ",\n" } else { "" };
        let (pid, tid) = if event.stream > 0 { (0, event.stream) } else { (4000 + rank as u32, 4000) };
        let (start, end) = (local_time(event.time.0), local_time(event.time.1));
        let _ = write!(
            out,
            "{separator}{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
            event.category,
            event.name,
            us(start),
            us(end - start),
            event.args
        );
    }
    out + "\n]}\n"
}
