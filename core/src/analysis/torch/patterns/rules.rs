//! PyTorch's patterns, each with PyTorch's rule.

use super::pattern::Pattern;
use super::scene::{Needs, Scene};
use crate::analysis::torch::event_tree::EventNode;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The address of a section of PyTorch's tuning guide.
macro_rules! tuning {
    ($anchor:literal) => {
        concat!("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html", $anchor)
    };
}

/// `ExtraCUDACopyPattern`: a tensor is filled on the host and copied to the device immediately afterwards.
pub struct ExtraCudaCopy;

impl Pattern for ExtraCudaCopy {
    fn name(&self) -> &'static str {
        "Extra CUDA Copy Pattern"
    }

    fn description(&self) -> &'static str {
        "A tensor is filled on the CPU and immediately copied to the GPU: create it on the GPU, with device='cuda'."
    }

    fn url(&self) -> &'static str {
        tuning!("#create-tensors-directly-on-the-target-device")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: true }
    }

    fn fits(&self, name: &str) -> bool {
        name == "aten::to"
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        extra_copy(scene, node).is_some()
    }

    /// Returns the duration of the copy and of the operator that fills the tensor.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        let filling = extra_copy(scene, node)?;
        Some(scene.duration_ns(node).saturating_add(scene.duration_ns(filling)))
    }
}

/// Returns the operator that filled the tensor that `node` copies.
fn extra_copy(scene: &Scene<'_>, node: EventNode) -> Option<EventNode> {
    const FILLING: [&str; 4] = ["aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_"];
    let last = |node: EventNode| scene.tree.children.get(node).last().copied();
    let copy = last(node).filter(|&n| scene.name(n) == "aten::_to_copy").and_then(last)?;
    let types = scene.input_types(copy);
    let same = types.len() >= 2 && types[0].is_some() && types[0] == types[1];
    if scene.name(copy) != "aten::copy_" || !same {
        return None;
    }
    // The operator before the function that copies, if it has no children, or the last of its descendants.
    let before = scene.siblings(scene.tree.parent(node)?).0.last().copied();
    let is_inside = |n: EventNode| Some(n) != before || last(n).is_none();
    core::iter::successors(before, |&n| last(n)).find(|&n| is_inside(n) && FILLING.contains(&scene.name(n)))
}

/// `ForLoopIndexingPattern`: a loop indexes a tensor element by element.
pub struct ForLoopIndexing;

/// The minimum number of iterations for a match, as in PyTorch.
const ROUNDS: usize = 10;

impl Pattern for ForLoopIndexing {
    fn name(&self) -> &'static str {
        "For Loop Indexing Pattern"
    }

    fn description(&self) -> &'static str {
        "A loop indexes a tensor element by element: process the complete tensor in one operation."
    }

    fn fits(&self, name: &str) -> bool {
        name == "aten::select"
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        rounds(scene, node).len() >= ROUNDS
    }

    fn matches(&self, scene: &Scene<'_>) -> Vec<EventNode> {
        let mut seen = alloc::vec![false; scene.tree.len()];
        let mut found = Vec::new();
        for node in scene.tree.children.breadth_first() {
            if !self.fits(scene.name(node)) || seen[node.index()] {
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

    /// Returns the duration of all iterations except the first.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        let rounds = rounds(scene, node);
        let (first, last) = (*rounds.get(1)?, *rounds.last()?);
        Some((scene.start_ns(last) - scene.start_ns(first)).saturating_add(scene.duration_ns(last)))
    }
}

/// Returns the first operator of every iteration of the loop that begins with `node`. An iteration is a group of
/// siblings from one `aten::select` to the next; it ends the loop if its names differ from those of the first.
fn rounds(scene: &Scene<'_>, node: EventNode) -> Vec<EventNode> {
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

/// `FP32MatMulPattern`: matrix products in FP32 on devices that support TF32.
pub struct Fp32MatMul;

impl Pattern for Fp32MatMul {
    fn name(&self) -> &'static str {
        "FP32 MatMul Pattern"
    }

    fn description(&self) -> &'static str {
        "Matrices are multiplied in FP32 on a GPU with TF32: set torch.backends.cuda.matmul.allow_tf32 = True."
    }

    fn url(&self) -> &'static str {
        "https://pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-devices"
    }

    fn reports_place(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: false }
    }

    fn fits(&self, name: &str) -> bool {
        name == "aten::mm"
    }

    /// A trace does not contain whether TF32 was enabled; it counts as disabled, which is PyTorch's default. As in
    /// PyTorch, a trace without a device can match.
    fn is_match(&self, scene: &Scene<'_>, _: EventNode) -> bool {
        supports_tf32(scene)
    }

    /// TF32 has at most eight times the throughput; products of other types gain nothing.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        let types = scene.input_types(node);
        let is_single = types.first().and_then(Option::as_deref) == Some("float");
        Some(scene.device_ns(node) / 8 * 7).filter(|&ns| is_single && ns > 0)
    }
}

/// Returns whether every device of the trace has compute capability 8.0 or more; true for a trace without a device.
fn supports_tf32(scene: &Scene<'_>) -> bool {
    let devices = scene.trace.table.metadata.value("deviceProperties");
    let devices = devices.as_ref().and_then(|d| d.as_array()).map_or(&[][..], Vec::as_slice);
    devices.iter().filter_map(|device| device["computeMajor"].as_i64()).all(|major| major >= 8)
}

/// `OptimizerSingleTensorPattern`: an optimizer updates parameters one by one.
pub struct OptimizerSingleTensor;

impl Pattern for OptimizerSingleTensor {
    fn name(&self) -> &'static str {
        "Optimizer Single Tensor Pattern"
    }

    fn description(&self) -> &'static str {
        "The optimizer updates its parameters one by one: pass foreach=True (or fused=True) to it."
    }

    fn fits(&self, name: &str) -> bool {
        ["adam", "sgd", "adamw"].iter().any(|optimizer| {
            name.strip_suffix(optimizer).is_some_and(|rest| rest.ends_with("_single_tensor_"))
        })
    }

    fn is_match(&self, _: &Scene<'_>, _: EventNode) -> bool {
        true
    }

    /// Returns the duration of the update.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        Some(scene.duration_ns(node))
    }
}

/// `SynchronizedDataLoaderPattern`: the training process loads data itself.
pub struct SynchronizedDataLoader;

impl Pattern for SynchronizedDataLoader {
    fn name(&self) -> &'static str {
        "Synchronized DataLoader Pattern"
    }

    fn description(&self) -> &'static str {
        "The training process loads the batches itself: use DataLoader workers, with num_workers > 0."
    }

    fn url(&self) -> &'static str {
        tuning!("#enable-async-data-loading-and-augmentation")
    }

    fn fits(&self, name: &str) -> bool {
        is_loader(name, "__iter__")
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        let first = |node: EventNode| scene.tree.children.get(node).first().copied();
        let check = first(node).filter(|&n| is_loader(scene.name(n), "_get_iterator")).and_then(first);
        check.is_some_and(|n| !is_loader(scene.name(n), "check_worker_number_rationality"))
    }

    /// Returns the loading time up to the next loop over a loader.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        let track = scene.trace.table.track_id(scene.row(node));
        let later = (node.index() + 1..scene.tree.len())
            .map(EventNode::new)
            .filter(|&n| scene.trace.table.track_id(scene.row(n)) == track)
            .take_while(|&n| !is_loader(scene.name(n), "__iter__"));
        let loading = later.filter(|&n| is_loader(scene.name(n), "__next__"));
        Some(loading.fold(0i64, |sum, n| sum.saturating_add(scene.duration_ns(n)))).filter(|&ns| ns > 0)
    }
}

fn is_loader(name: &str, function: &str) -> bool {
    name.starts_with("torch/utils/data/dataloader.py") && name.ends_with(function)
}

/// `GradNotSetToNonePattern`: gradients are overwritten with zeros.
pub struct GradNotSetToNone;

impl Pattern for GradNotSetToNone {
    fn name(&self) -> &'static str {
        "Gradient Set To Zero Instead of None Pattern"
    }

    fn description(&self) -> &'static str {
        "Gradients are filled with zeros before each step: release them instead, with zero_grad(set_to_none=True)."
    }

    fn url(&self) -> &'static str {
        tuning!("#disable-gradient-calculation-for-validation-or-inference")
    }

    fn fits(&self, name: &str) -> bool {
        name.ends_with(": zero_grad")
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        fillings(scene, node).next().is_some()
    }

    /// Returns the time of filling the gradients.
    fn saving_ns(&self, scene: &Scene<'_>, node: EventNode) -> Option<i64> {
        Some(fillings(scene, node).fold(0i64, |sum, n| sum.saturating_add(scene.duration_ns(n))))
    }
}

fn fillings<'a>(scene: &'a Scene<'_>, node: EventNode) -> impl Iterator<Item = EventNode> + use<'a> {
    let is_filling = |&n: &EventNode| {
        let parent = scene.tree.parent(n).map(|parent| scene.name(parent));
        scene.name(n) == "aten::zero_" && parent != Some("aten::zeros")
    };
    scene.tree.children.below(node).filter(is_filling)
}

/// `Conv2dBiasFollowedByBatchNorm2dPattern`: a bias that the next layer cancels.
pub struct Conv2dBiasFollowedByBatchNorm2d;

impl Pattern for Conv2dBiasFollowedByBatchNorm2d {
    fn name(&self) -> &'static str {
        "Enabling Bias in Conv2d Followed By BatchNorm Pattern"
    }

    fn description(&self) -> &'static str {
        "A Conv2d adds a bias that the following BatchNorm2d cancels: create the Conv2d with bias=False."
    }

    fn url(&self) -> &'static str {
        tuning!("#disable-bias-for-convolutions-directly-followed-by-a-batch-norm")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: false }
    }

    fn fits(&self, name: &str) -> bool {
        name == "aten::conv2d"
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        if scene.input_types(node).get(2).is_none_or(Option::is_none) {
            return false;
        }
        let is_module = |&n: &EventNode| scene.name(n).starts_with("nn.Module: Conv2d");
        let outermost = scene.tree.and_above(node).last().unwrap_or(node);
        let module = scene.tree.and_above(node).find(is_module).unwrap_or(outermost);
        let next = scene.siblings(module).1.first();
        next.is_some_and(|&n| scene.name(n).starts_with("nn.Module: BatchNorm2d"))
    }
}

/// `MatMulDimInFP16Pattern`: products in half precision whose sizes are not aligned for tensor cores.
pub struct MatMulDimInFp16;

impl Pattern for MatMulDimInFp16 {
    fn name(&self) -> &'static str {
        "Matrix Multiplication Dimension Not Aligned Pattern"
    }

    fn description(&self) -> &'static str {
        "Matrices in half precision have sizes that are not multiples of 8, as tensor cores require: pad them."
    }

    fn url(&self) -> &'static str {
        tuning!("#use-mixed-precision-and-amp")
    }

    fn needs(&self) -> Needs {
        Needs { shapes: true, stack: true }
    }

    fn fits(&self, name: &str) -> bool {
        matches!(name, "aten::mm" | "aten::bmm" | "aten::addmm")
    }

    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool {
        let types = scene.input_types(node);
        let first = types.first().and_then(Option::as_deref);
        let is_half = matches!(first, Some("c10::BFloat16" | "c10::Half"));
        let aligned = |sizes: &Vec<i64>| sizes.iter().rev().take(2).all(|size| size % 8 == 0);
        let tensors = || scene.input_dims(node).into_iter().zip(&types).filter(|(_, t)| t.is_some());
        is_half && !tensors().all(|(sizes, _)| aligned(&sizes))
    }
}

/// `NamePattern`: events whose names meet a condition; finds where something is called.
pub struct NamePattern {
    name: String,
    description: String,
    fits: Box<dyn Fn(&str) -> bool>,
}

impl NamePattern {
    /// Returns a pattern for events whose names `fits` accepts; `name` is the name of the condition.
    pub fn new(name: &str, fits: impl Fn(&str) -> bool + 'static) -> NamePattern {
        let description = alloc::format!("Matched Name Event: {name}");
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

    fn fits(&self, name: &str) -> bool {
        (self.fits)(name)
    }

    fn is_match(&self, _: &Scene<'_>, _: EventNode) -> bool {
        true
    }
}
