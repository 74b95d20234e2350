//! Findings about what the kernels of devices compute.

use super::facts::{Facts, Kernel};
use super::{Finding, FindingCode, SHOWN, percent, share, threshold};
use crate::analysis::device::models::Device;
use crate::analysis::replay::Changes;
use crate::base::order::{descending, sort_by_key};
use crate::base::units::{counted, time_ns};
use crate::trace::kernel_rules::KernelCategory as Is;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The factor of a change that leaves nothing of some work.
const GONE: f64 = 1e6;

/// Adds the findings.
pub(super) fn work(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    if facts.kernels.is_empty() {
        return;
    }
    out.extend(tensor_cores(facts));
    out.extend(misaligned(facts));
    out.extend(attention(facts));
    out.extend(elementwise(facts));
    out.extend(conversions(facts));
    out.extend(layout(facts));
}

/// The change that makes some kernels faster.
fn faster(kernels: &[Kernel], factor: f64) -> Changes {
    Changes::faster(kernels.iter().map(|kernel| (kernel.row, factor)).collect())
}

/// The longest kernels, one of each name.
fn longest(facts: &Facts<'_>, kernels: &[Kernel]) -> Vec<Row> {
    let table = facts.table();
    let mut rows: Vec<Row> = kernels.iter().map(|kernel| kernel.row).collect();
    sort_by_key(&mut rows, |&row| (descending(table.dur(row)), i64::from(row)));
    let mut names = Vec::new();
    rows.retain(|&row| {
        let is_new = names.len() < SHOWN && !names.contains(&table.name_id(row));
        if is_new {
            names.push(table.name_id(row));
        }
        is_new
    });
    rows
}

/// Parts of the names of products in single precision that run on the plain units. Products with vectors and helpers are not
/// among them: they would be no faster.
const SINGLE: [&str; 8] = [
    "sgemm",
    "scudnn",
    "simt",
    "ffma",
    "dgrad_engine<float",
    "dgrad2d",
    "wgrad_alg",
    "convolve_common_engine_float",
];

/// The tensor cores of all devices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TensorCores {
    /// They compute TF32 and bfloat16, too.
    WithTf32,
    /// They compute half precision.
    HalfOnly,
    /// The trace does not name the devices; their kernels are made for devices with tensor cores.
    Likely,
}

impl TensorCores {
    /// `None` if a device has none, or is not of NVIDIA.
    fn of(facts: &Facts<'_>) -> Option<TensorCores> {
        let devices = &facts.devices;
        if devices.is_empty() {
            let names = &facts.table().names;
            if !names.that(|name| name.starts_with("ampere_") || name.contains("_sm80")).is_empty() {
                return Some(TensorCores::WithTf32);
            }
            return (!names.that(|name| name.starts_with("volta_")).is_empty())
                .then_some(TensorCores::Likely);
        }
        // Without a model, the compute capability does not tell: 7.5 has products with and without tensor cores.
        let has_cores = |device: &Device| match device.model {
            Some(model) => model.vendor == "nvidia" && model.has_tensor_cores,
            None => device.major.is_some_and(|major| major >= 8) && !device.name.contains("AMD"),
        };
        if !devices.iter().all(has_cores) {
            return None;
        }
        let has_tf32 = devices.iter().all(|device| device.model.is_none_or(|model| model.peak.has_tf32()));
        Some(if has_tf32 { TensorCores::WithTf32 } else { TensorCores::HalfOnly })
    }
}

/// Products in single precision on devices with tensor cores.
fn tensor_cores(facts: &Facts<'_>) -> Option<Finding> {
    let cores = TensorCores::of(facts)?;
    let names = facts.kernel_names(|name| {
        let name = name.to_ascii_lowercase();
        SINGLE.iter().any(|part| name.contains(part))
    });
    let is_single = |kernel: &&Kernel| {
        kernel.tensor_cores == Some(false)
            && kernel.category.has_products()
            && names.has(facts.table().name_id(kernel.row))
            && facts.types(kernel).find(|kind| is_float(kind)).is_none_or(|kind| kind == "float")
    };
    let kernels: Vec<Kernel> = facts.kernels.iter().filter(is_single).copied().collect();
    let ns = facts.sum_ns(kernels.iter());
    if kernels.is_empty() {
        return None;
    }
    let message = format!(
        "{} in single precision took {} ({} of all kernels) and did not use tensor cores",
        counted(kernels.len(), "product"),
        time_ns(ns, None),
        percent(ns, facts.sum_ns(facts.kernels.iter()))
    );
    let advice = match cores {
        TensorCores::WithTf32 => {
            "allow TF32 (torch.set_float32_matmul_precision(\"high\"), torch.backends.cudnn.allow_tf32 = True), or use bfloat16 with torch.autocast; the saving is that of twice the speed"
        }
        TensorCores::HalfOnly => {
            "use float16 with torch.autocast and a GradScaler: this GPU has neither TF32 nor bfloat16 in its tensor cores; the saving is that of twice the speed"
        }
        TensorCores::Likely => {
            "if the GPU has tensor cores (most from Volta on; the trace does not name it), use float16 with torch.autocast and a GradScaler; the saving is that of twice the speed"
        }
    };
    let mut finding = Finding::new(FindingCode::NoTensorCores, ns, message, advice);
    finding.changes = Some(faster(&kernels, 2.0));
    Some(finding.shown_by("kernels --by category", longest(facts, &kernels)))
}

/// Products on tensor cores whose sizes or strides allow loads of one or two elements only.
fn misaligned(facts: &Facts<'_>) -> Option<Finding> {
    let names = facts.kernel_names(|name| {
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
        ["align1", "align2"].iter().any(|part| name.split(part).skip(1).any(is_end))
    });
    let is_misaligned =
        |kernel: &&Kernel| kernel.tensor_cores == Some(true) && names.has(facts.table().name_id(kernel.row));
    let kernels: Vec<Kernel> = facts.kernels.iter().filter(is_misaligned).copied().collect();
    let ns = facts.sum_ns(kernels.iter());
    if share(ns, facts.wall_ns) < threshold::EFFECT {
        return None;
    }
    let message = format!(
        "{} on tensor cores took {} with loads of one or two elements, because sizes or strides are not multiples of 8",
        counted(kernels.len(), "product"),
        time_ns(ns, None)
    );
    let advice = "pad the dimensions of the matrices (such as the vocabulary or the number of classes) to multiples of 8, better 64";
    let finding = Finding::new(FindingCode::MisalignedProducts, ns, message, advice);
    Some(finding.shown_by("kernels", longest(facts, &kernels)))
}

/// The number of kernels between the softmax and a product of an attention that is not fused: scale, mask, dropout.
const BETWEEN: usize = 5;

/// Attention as two batched products with a softmax between them.
fn attention(facts: &Facts<'_>) -> Option<Finding> {
    let kernels = &facts.kernels;
    let is_product = |kernel: &Kernel| matches!(facts.operator(kernel), "aten::bmm" | "aten::baddbmm");
    let is_softmax =
        |kernel: &Kernel| kernel.category == Is::Softmax && facts.operator(kernel).contains("softmax");
    let (mut found, mut inner, mut count): (Vec<Kernel>, Vec<Kernel>, usize) = Default::default();
    let mut reached = 0;
    for at in (0..kernels.len()).filter(|&at| is_softmax(&kernels[at])) {
        let before =
            (at.saturating_sub(BETWEEN + 1).max(reached)..at).rev().find(|&at| is_product(&kernels[at]));
        let after = (at + 1..kernels.len().min(at + BETWEEN + 2)).find(|&at| is_product(&kernels[at]));
        if let (Some(before), Some(after)) = (before, after)
            && facts.is_attention(&kernels[at], &kernels[after])
        {
            found.extend_from_slice(&kernels[before..=after]);
            inner.extend_from_slice(&kernels[before + 1..after]);
            (count, reached) = (count + 1, after + 1);
        }
    }
    if found.is_empty() {
        return None;
    }
    let [ns, inner_ns] = [&found, &inner].map(|kernels| facts.sum_ns(kernels.iter()));
    let message = format!(
        "{} ran as two batched products with a softmax between them: {}, of it {} between the products",
        counted(count, "attention"),
        time_ns(ns, None),
        time_ns(inner_ns, None)
    );
    let advice = "use torch.nn.functional.scaled_dot_product_attention, which computes it in one kernel; the saving is the time between the products";
    let mut finding = Finding::new(FindingCode::EagerAttention, ns, message, advice);
    finding.changes = Some(faster(&inner, GONE));
    Some(finding.shown_by("kernels --by operator", longest(facts, &found)))
}

/// The share of the time of all kernels from which on those of single operations are most of the work.
const MOST: f64 = 0.4;

/// Kernels that each compute one operation on every element.
fn elementwise(facts: &Facts<'_>) -> Option<Finding> {
    let table = facts.table();
    let generated = facts.kernel_names(|name| name.starts_with("triton_"));
    let is_single = |kernel: &&Kernel| {
        matches!(kernel.category, Is::Elementwise | Is::Copy | Is::Layout | Is::Random)
            && !generated.has(table.name_id(kernel.row))
    };
    let kernels: Vec<Kernel> = facts.kernels.iter().filter(is_single).copied().collect();
    let (ns, all) = (facts.sum_ns(kernels.iter()), facts.sum_ns(facts.kernels.iter()));
    if share(ns, all) < MOST || share(facts.compute_ns(), facts.wall_ns) < 0.5 {
        return None;
    }
    let message = format!(
        "{} that compute or copy element by element took {} ({} of all kernels)",
        counted(kernels.len(), "kernel"),
        time_ns(ns, None),
        percent(ns, all)
    );
    let advice = if facts.uses.compiled {
        "they read and write memory for one operation each: fuse them, for example by having them in the compiled region"
    } else {
        "they read and write memory for one operation each: torch.compile fuses them, and so do fused modules for norms, rotary embeddings and activations"
    };
    let finding = Finding::new(FindingCode::ElementwiseKernels, ns, message, advice);
    Some(finding.shown_by("kernels --by category", longest(facts, &kernels)))
}

/// The share of the computing time from which on copies and conversions are worth a finding.
const COPIES: f64 = 0.05;

fn is_float(kind: &str) -> bool {
    matches!(kind, "float" | "double" | "c10::Half" | "c10::BFloat16") || kind.starts_with("c10::Float8")
}

/// Copies to another type of floating point numbers.
fn conversions(facts: &Facts<'_>) -> Option<Finding> {
    let converts = |kernel: &&Kernel| {
        if facts.operator(kernel) != "aten::copy_" {
            return false;
        }
        let mut types = facts.types(kernel);
        let (Some(to), Some(from)) = (types.next(), types.next()) else { return false };
        to != from && is_float(to) && is_float(from)
    };
    let kernels: Vec<Kernel> = facts.kernels.iter().filter(converts).copied().collect();
    let ns = facts.sum_ns(kernels.iter());
    if share(ns, facts.compute_ns()) < COPIES {
        return None;
    }
    let message = format!(
        "{} between types of floating point numbers took {} ({} of the computing time)",
        counted(kernels.len(), "conversion"),
        time_ns(ns, None),
        percent(ns, facts.compute_ns())
    );
    let in_norms = kernels.iter().filter(|kernel| is_in_norm(facts, kernel)).count();
    let advice = if in_norms > kernels.len() / 2 {
        "most are in normalization layers, which compute in a wider type on purpose: torch.compile or a fused layer does both in one kernel"
    } else {
        "keep weights and activations in one type: convert the model once, or use autocast around more of it"
    };
    let mut finding = Finding::new(FindingCode::Conversions, ns, message, advice);
    (finding.changes, finding.is_ideal) = (Some(faster(&kernels, GONE)), true);
    Some(finding.shown_by("kernels --by operator", longest(facts, &kernels)))
}

/// Whether the innermost module around the operator of a kernel is a normalization.
fn is_in_norm(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    let (table, tree) = (facts.table(), &facts.analysis.trace.tree);
    let open = kernel.operator.and_then(|row| tree.open_at(table, table.track_id(row), table.ts(row)));
    let around = open.into_iter().flat_map(|at| core::iter::once(at).chain(tree.ancestors(at)));
    let mut names = around.map(|at| table.name(tree.row(at)));
    names.find_map(|name| name.strip_prefix("nn.Module: ")).is_some_and(|module| module.contains("Norm"))
}

/// Kernels and copies that only change the layout of tensors.
fn layout(facts: &Facts<'_>) -> Option<Finding> {
    let (analysis, table) = (facts.analysis, facts.table());
    let mut kernels: Vec<Kernel> =
        facts.kernels.iter().filter(|kernel| kernel.category == Is::Layout).copied().collect();
    let of_convolutions = facts.kernel_names(|name| {
        let name = name.to_ascii_lowercase();
        ["nchwtonhwc", "nhwctonchw", "batched_transpose"].iter().any(|part| name.contains(part))
    });
    let convolutions: Vec<Kernel> =
        kernels.iter().filter(|kernel| of_convolutions.has(table.name_id(kernel.row))).copied().collect();
    let rows = analysis.activities().iter().flat_map(|device| device.1.iter().copied());
    let within = table.names.that(|name| name.contains("DtoD"));
    let copies =
        rows.filter(|&row| table.category(row) == Category::Memcpy && within.has(table.name_id(row)));
    kernels.extend(copies.map(|row| Kernel {
        row,
        category: Is::Copy,
        tensor_cores: Some(false),
        operator: None,
    }));
    let (ns, convolutions_ns) = (facts.sum_ns(kernels.iter()), facts.sum_ns(convolutions.iter()));
    let busy: i64 = analysis.busy_ns();
    if share(ns, busy) < COPIES {
        return None;
    }
    let message = format!(
        "{} that only move elements within a GPU took {} ({} of its busy time)",
        counted(kernels.len(), "activity"),
        time_ns(ns, None),
        percent(ns, busy)
    );
    let advice: String = if convolutions_ns > ns / 2 {
        "most are transposes around convolutions: use memory_format=torch.channels_last for the model and its inputs".into()
    } else {
        "avoid .contiguous(), .clone() and torch.cat in the loop, or write into one preallocated tensor"
            .into()
    };
    let mut finding = Finding::new(FindingCode::LayoutCopies, ns, message, &advice);
    (finding.changes, finding.is_ideal) = (Some(faster(&kernels, GONE)), true);
    Some(finding.shown_by("kernels --by category", longest(facts, &kernels)))
}
