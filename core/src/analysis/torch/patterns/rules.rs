//! The patterns that torch knows, each by torch's rule.

use super::pattern::Pattern;
use super::scene::{Needs, Scene};
use crate::analysis::torch::event_tree::Node;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A place in torch's tuning guide.
macro_rules! tuning {
    ($anchor:literal) => {
        concat!("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html", $anchor)
    };
}

/// `ExtraCUDACopyPattern`: a tensor is filled on the host and moved to the device right away.
pub struct ExtraCudaCopy;

impl Pattern for ExtraCudaCopy {
    fn name(&self) -> &'static str {
        "Extra CUDA Copy Pattern"
    }

    fn description(&self) -> &'static str {
        "A tensor is filled on the CPU and copied to the GPU at once: create it there, with device='cuda'."
    }

    fn url(&self) -> &'static str {
        tuning!("#create-tensors-directly-on-the-target-device")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: true }
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        extra_copy(scene, node).is_some()
    }

    /// The copy and the filling before it.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        let filling = extra_copy(scene, node)?;
        Some(scene.duration_ns(node).saturating_add(scene.duration_ns(filling)))
    }
}

/// The operator that filled the tensor which `node` copies.
fn extra_copy(scene: &Scene<'_>, node: Node) -> Option<Node> {
    const FILLING: [&str; 4] = ["aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_"];
    if scene.name(node) != "aten::to" {
        return None;
    }
    let last = |node: Node| scene.tree.children.of(node).last().copied();
    let copy = last(node).filter(|&n| scene.name(n) == "aten::_to_copy").and_then(last)?;
    let types = scene.input_types(copy);
    let same = types.len() >= 2 && types[0].is_some() && types[0] == types[1];
    if scene.name(copy) != "aten::copy_" || !same {
        return None;
    }
    // What came before the function that copies: a call without calls of its own, or the last of those in it.
    let before = scene.siblings(scene.tree.parent(node)?).0.last().copied();
    let is_inside = |n: Node| Some(n) != before || last(n).is_none();
    core::iter::successors(before, |&n| last(n)).find(|&n| is_inside(n) && FILLING.contains(&scene.name(n)))
}

/// `ForLoopIndexingPattern`: a tensor is indexed element by element, in a loop.
pub struct ForLoopIndexing;

/// How many rounds of a loop torch wants to see.
const ROUNDS: usize = 10;

impl Pattern for ForLoopIndexing {
    fn name(&self) -> &'static str {
        "For Loop Indexing Pattern"
    }

    fn description(&self) -> &'static str {
        "A loop takes a tensor apart, one index after the other: do the same to the whole tensor in one operation."
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        rounds(scene, node).len() >= ROUNDS
    }

    fn matches(&self, scene: &Scene<'_>) -> Vec<Node> {
        let mut seen = alloc::vec![false; scene.tree.len()];
        let mut found = Vec::new();
        for node in scene.tree.children.breadth_first() {
            if scene.name(node) != "aten::select" || seen[node.index()] {
                continue;
            }
            let rounds = rounds(scene, node);
            rounds.iter().skip(1).for_each(|&n| seen[n.index()] = true);
            if rounds.len() >= ROUNDS {
                found.push(node);
            }
        }
        found
    }

    /// All rounds but one.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        let rounds = rounds(scene, node);
        let (first, last) = (*rounds.get(1)?, *rounds.last()?);
        Some((scene.start_ns(last) - scene.start_ns(first)).saturating_add(scene.duration_ns(last)))
    }
}

/// The first operator of every round of the loop that begins with `node`: a group of siblings from one `aten::select` to
/// the next, that repeats.
fn rounds(scene: &Scene<'_>, node: Node) -> Vec<Node> {
    let after = scene.siblings(node).1;
    let next = after.iter().position(|&n| scene.name(n) == "aten::select");
    let mut rounds = alloc::vec![node];
    let Some(length) = next.map(|at| at + 1).filter(|_| after.len() > 1) else { return rounds };
    let group = || core::iter::once(node).chain(after[..length - 1].iter().copied());
    for round in after[length - 1..].chunks(length) {
        if round.len() < length || !round.iter().zip(group()).all(|(&a, b)| scene.name(a) == scene.name(b)) {
            break;
        }
        rounds.push(round[0]);
    }
    rounds
}

/// `FP32MatMulPattern`: products of matrices in full precision, on devices that know TF32.
pub struct Fp32MatMul;

impl Pattern for Fp32MatMul {
    fn name(&self) -> &'static str {
        "FP32 MatMul Pattern"
    }

    fn description(&self) -> &'static str {
        "Matrices are multiplied in full FP32 where the GPU has TF32: set torch.backends.cuda.matmul.allow_tf32 = True."
    }

    fn url(&self) -> &'static str {
        "https://pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-devices"
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: false }
    }

    /// A trace does not tell whether TF32 was on; like torch's default, it counts as off. As in torch a trace without a
    /// device is not exempt.
    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        scene.name(node) == "aten::mm" && knows_tf32(scene)
    }

    /// TF32 does eight times as much at best; products of other types gain nothing.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        let types = scene.input_types(node);
        let is_single = types.first().and_then(Option::as_deref) == Some("float");
        Some(scene.device_ns(node) / 8 * 7).filter(|&ns| is_single && ns > 0)
    }
}

/// Every device of the trace has compute capability 8.0 or more; none is named in a trace without a device.
fn knows_tf32(scene: &Scene<'_>) -> bool {
    let devices = scene.trace.table.metadata.value("deviceProperties");
    let devices = devices.as_ref().and_then(|d| d.as_array()).map_or(&[][..], Vec::as_slice);
    devices.iter().filter_map(|device| device["computeMajor"].as_i64()).all(|major| major >= 8)
}

/// `OptimizerSingleTensorPattern`: an optimizer that updates parameters one by one.
pub struct OptimizerSingleTensor;

impl Pattern for OptimizerSingleTensor {
    fn name(&self) -> &'static str {
        "Optimizer Single Tensor Pattern"
    }

    fn description(&self) -> &'static str {
        "The optimizer updates its parameters one by one: pass foreach=True (or fused=True) to it."
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        let name = scene.name(node);
        ["adam", "sgd", "adamw"].iter().any(|optimizer| {
            name.strip_suffix(optimizer).is_some_and(|rest| rest.ends_with("_single_tensor_"))
        })
    }

    /// All of the update.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        Some(scene.duration_ns(node))
    }
}

/// `SynchronizedDataLoaderPattern`: data is loaded by the training process itself.
pub struct SynchronizedDataLoader;

impl Pattern for SynchronizedDataLoader {
    fn name(&self) -> &'static str {
        "Synchronized DataLoader Pattern"
    }

    fn description(&self) -> &'static str {
        "Batches are loaded by the process that trains: give the DataLoader workers, with num_workers > 0."
    }

    fn url(&self) -> &'static str {
        tuning!("#enable-async-data-loading-and-augmentation")
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        let first = |node: Node| scene.tree.children.of(node).first().copied();
        let check = first(node).filter(|&n| is_loader(scene, n, "_get_iterator")).and_then(first);
        is_loader(scene, node, "__iter__")
            && check.is_some_and(|n| !is_loader(scene, n, "check_worker_number_rationality"))
    }

    /// The loading up to the next loop over a loader.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        let track = scene.trace.table.track_id(scene.row(node));
        let later = (node.index() + 1..scene.tree.len())
            .map(Node::new)
            .filter(|&n| scene.trace.table.track_id(scene.row(n)) == track)
            .take_while(|&n| !is_loader(scene, n, "__iter__"));
        let loading = later.filter(|&n| is_loader(scene, n, "__next__"));
        Some(loading.fold(0i64, |sum, n| sum.saturating_add(scene.duration_ns(n)))).filter(|&ns| ns > 0)
    }
}

fn is_loader(scene: &Scene<'_>, node: Node, function: &str) -> bool {
    let name = scene.name(node);
    name.starts_with("torch/utils/data/dataloader.py") && name.ends_with(function)
}

/// `GradNotSetToNonePattern`: gradients are overwritten with zeros.
pub struct GradNotSetToNone;

impl Pattern for GradNotSetToNone {
    fn name(&self) -> &'static str {
        "Gradient Set To Zero Instead of None Pattern"
    }

    fn description(&self) -> &'static str {
        "Gradients are filled with zeros before each step: drop them instead, with zero_grad(set_to_none=True)."
    }

    fn url(&self) -> &'static str {
        tuning!("#disable-gradient-calculation-for-validation-or-inference")
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        scene.name(node).ends_with(": zero_grad") && fillings(scene, node).next().is_some()
    }

    /// The filling.
    fn saving_ns(&self, scene: &Scene<'_>, node: Node) -> Option<i64> {
        Some(fillings(scene, node).fold(0i64, |sum, n| sum.saturating_add(scene.duration_ns(n))))
    }
}

fn fillings<'a>(scene: &'a Scene<'_>, node: Node) -> impl Iterator<Item = Node> + use<'a> {
    let is_filling = |&n: &Node| {
        let parent = scene.tree.parent(n).map(|parent| scene.name(parent));
        scene.name(n) == "aten::zero_" && parent != Some("aten::zeros")
    };
    scene.tree.children.below(node).filter(is_filling)
}

/// `Conv2dBiasFollowedByBatchNorm2dPattern`: a bias that the next layer takes away again.
pub struct Conv2dBiasFollowedByBatchNorm2d;

impl Pattern for Conv2dBiasFollowedByBatchNorm2d {
    fn name(&self) -> &'static str {
        "Enabling Bias in Conv2d Followed By BatchNorm Pattern"
    }

    fn description(&self) -> &'static str {
        "A Conv2d adds a bias that the BatchNorm2d behind it takes away again: make the Conv2d with bias=False."
    }

    fn url(&self) -> &'static str {
        tuning!("#disable-bias-for-convolutions-directly-followed-by-a-batch-norm")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: false }
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        if scene.name(node) != "aten::conv2d" || scene.input_types(node).get(2).is_none_or(Option::is_none) {
            return false;
        }
        let is_module = |&n: &Node| scene.name(n).starts_with("nn.Module: Conv2d");
        let outermost = scene.tree.and_above(node).last().unwrap_or(node);
        let module = scene.tree.and_above(node).find(is_module).unwrap_or(outermost);
        let next = scene.siblings(module).1.first();
        next.is_some_and(|&n| scene.name(n).starts_with("nn.Module: BatchNorm2d"))
    }
}

/// `MatMulDimInFP16Pattern`: products in half precision whose sizes do not suit the tensor cores.
pub struct MatMulDimInFp16;

impl Pattern for MatMulDimInFp16 {
    fn name(&self) -> &'static str {
        "Matrix Multiplication Dimension Not Aligned Pattern"
    }

    fn description(&self) -> &'static str {
        "Matrices in half precision have sizes that are no multiples of 8, which tensor cores want: pad them."
    }

    fn url(&self) -> &'static str {
        tuning!("#use-mixed-precision-and-amp")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: true }
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        if !matches!(scene.name(node), "aten::mm" | "aten::bmm" | "aten::addmm") {
            return false;
        }
        let types = scene.input_types(node);
        let first = types.first().and_then(Option::as_deref);
        let is_half = matches!(first, Some("c10::BFloat16" | "c10::Half"));
        let aligned = |sizes: &Vec<i64>| sizes.iter().rev().take(2).all(|size| size % 8 == 0);
        let tensors = || scene.input_dims(node).into_iter().zip(&types).filter(|(_, t)| t.is_some());
        is_half && !tensors().all(|(sizes, _)| aligned(&sizes))
    }
}

/// `NamePattern`: events whose names a condition fits; for a look at where something is called.
pub struct NamePattern {
    name: String,
    description: String,
    fits: Box<dyn Fn(&str) -> bool>,
}

impl NamePattern {
    /// Events whose names `fits` says yes to; `name` is what the condition is called.
    pub fn new(name: &str, fits: impl Fn(&str) -> bool + 'static) -> NamePattern {
        let description = alloc::format!("The name of the event fits {name}.");
        NamePattern { name: name.into(), description, fits: Box::new(fits) }
    }
}

impl Pattern for NamePattern {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool {
        (self.fits)(scene.name(node))
    }
}
