//! The table `kernels`: the work of devices.

use super::Schema;
use super::arguments::{REGISTERS, SHARED, WARPS, dimensions};
use super::column::{Column, Wanted, device, fields, number, opened, since, stream};
use super::distinct::{Distinct, address};
use crate::analysis::context::Analysis;
use crate::analysis::device::attributes::{annotation, occupancy_limit};
use crate::analysis::device::classes::{Class, Classes};
use crate::analysis::device::kernel_keys::{KernelsBy, Keys, activity_name};
use crate::analysis::device::kernel_work::KernelWork;
use crate::analysis::device::names::short_name;
use crate::analysis::device::ranges::StepFinder;
use crate::analysis::torch::source::{Source, Sources};
use crate::trace::Trace;
use crate::trace::kernel_rules::KernelCategory;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::tree::sorted_by_track;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "kernels",
    about: "A row is a kernel, copy or memset on a device.",
    sorted_by: &["track", "ts_ns"],
    fields: || fields(Kernels::COLUMNS),
    source: |analysis, wanted| opened(Kernels::new(analysis, wanted), |all| all.rows.len(), Kernels::COLUMNS),
};

/// What an activity is, mostly by the rules for names.
struct Rules {
    class: Class,
    category: KernelCategory,
    tensor_cores: Option<bool>,
}

/// The name of an activity.
struct Name {
    full: String,
    short: String,
}

/// The dimensions of a kernel, in x, y and z.
struct Shape {
    grid: Option<[i64; 3]>,
    block: Option<[i64; 3]>,
}

struct Kernels<'t> {
    trace: &'t Trace,
    rows: Vec<Row>,
    names: Distinct<Name>,
    shapes: Distinct<Shape>,
    rules: Vec<Rules>,
    steps: &'t StepFinder,
    /// Modules, if they are requested.
    modules: Option<Keys<'t>>,
    /// Sources, if they are requested.
    sources: Option<Sources<'t>>,
    /// Floating point operations; empty unless requested.
    flops: Vec<Option<i64>>,
}

impl<'t> Kernels<'t> {
    fn new(analysis: &'t Analysis<'t>, wanted: &Wanted) -> Kernels<'t> {
        let (trace, table) = (analysis.trace, &analysis.trace.table);
        let is_work = |row: Row| table.category(row).is_device_work() && table.is_span(row);
        let rows = sorted_by_track(table, is_work).0;
        let (classes, mut work) = (Classes::new(trace), KernelWork::new(trace));
        let rules = rows.iter().map(|&row| Rules {
            class: classes.class(row),
            category: classes.category(row),
            tensor_cores: work.tensor_cores(&classes, row),
        });
        let rules = rules.collect();
        let flops = rows.iter().filter(|_| wanted.any(&["flops"])).map(|&row| work.flops(row)).collect();
        let (names, shapes) = (names(trace, &rows), shapes(table, &rows));
        let modules = wanted.any(&["module"]).then(|| Keys::new(trace, KernelsBy::Module));
        let sources = wanted.any(&["source", "source_by"]).then(|| Sources::new(trace));
        Kernels { trace, names, shapes, rules, steps: analysis.step_finder(), modules, sources, flops, rows }
    }

    fn table(&self) -> &'t Table {
        &self.trace.table
    }

    fn source(&self, at: usize) -> Option<Source> {
        self.sources.as_ref()?.of(self.rows[at])
    }

    fn number(&self, at: usize, key: Key) -> Option<f64> {
        self.table().field(self.rows[at], key)?.as_f64()
    }

    fn argument(&self, at: usize, key: &str) -> Option<i64> {
        self.table().field_named(self.rows[at], FieldPlace::Args, key)?.as_i64()
    }
}

fn names(trace: &Trace, rows: &[Row]) -> Distinct<Name> {
    let mut keys = Keys::new(trace, KernelsBy::Name);
    let name = |row| {
        let full = activity_name(trace, row);
        Name { short: short_name(&full), full }
    };
    Distinct::new(rows.iter().copied(), |row| (i64::from(keys.name_key(row)), 0), name)
}

fn shapes(table: &Table, rows: &[Row]) -> Distinct<Shape> {
    let text = |row, key| address(table.field(row, key).and_then(|value| value.as_json()));
    let of = |row, key| dimensions(table.field(row, key)?);
    let shape = |row| Shape { grid: of(row, Key::Grid), block: of(row, Key::Block) };
    Distinct::new(rows.iter().copied(), |row| (text(row, Key::Grid), text(row, Key::Block)), shape)
}

/// A column of the table.
type Of<'t> = Column<Kernels<'t>>;

impl<'t> Kernels<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("event", "Its number in `events`.", |all, at| Some(number(all.rows[at]))),
        Of::label("name", "The name, demangled; of a copy or memset, with its kind.", |all, at| {
            Some(all.names.get(at).full.as_str().into())
        }),
        Of::label("short_name", "The name without namespaces and parameters.", |all, at| {
            Some(all.names.get(at).short.as_str().into())
        }),
        Of::label("class", "`compute`, `communication`, `memcpy` or `memset`.", |all, at| {
            Some(all.rules[at].class.as_str().into())
        }),
        Of::label("category", "What it does, by the rules for names.", |all, at| {
            Some(all.rules[at].category.as_str().into())
        }),
        Of::bool("tensor_cores", "Whether it uses tensor cores, by its name or its rate; null if neither shows it.", |all, at| {
            all.rules[at].tensor_cores
        })
        .optional(),
        Of::int("track", "The track: its number in `tracks`.", |all, at| {
            Some(i64::from(all.table().track_id(all.rows[at]).0))
        }),
        Of::int("device", "The device.", |all, at| device(all.table(), all.table().track(all.rows[at])))
            .optional(),
        Of::int("stream", "The stream.", |all, at| stream(all.table(), all.table().track(all.rows[at])))
            .optional(),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.table().ts(all.rows[at]))),
        Of::int("dur_ns", "The duration.", |all, at| Some(all.table().dur(all.rows[at]).max(0))),
        Of::int("step", "The profiler step in which it was launched.", |all, at| {
            all.steps.number(all.trace, all.rows[at])
        })
        .optional(),
        Of::int("correlation", "The id that the call and the work share.", |all, at| {
            all.table().int(all.rows[at], Key::Correlation)
        })
        .optional(),
        Of::int("call", "The call that launched it: its number in `events`.", |all, at| {
            all.trace.links.launch(all.rows[at]).map(number)
        })
        .optional(),
        Of::int("op", "The operator that launched it: its number in `events`.", |all, at| {
            all.trace.links.op(all.rows[at]).map(number)
        })
        .optional(),
        Of::label("operator", "The name of its operator: that of the launch, or of the capture of its graph.", |all, at| {
            all.trace.operator_name(all.rows[at]).map(Cow::Borrowed)
        })
        .optional(),
        Of::label("module", "The innermost module around its operator.", |all, at| {
            all.modules.as_ref()?.module_name(all.rows[at]).map(Cow::Borrowed)
        })
        .optional(),
        Of::label("operator_source", "What shows the operator: `launch`, `capture`, or `kernel_name` if the files of torch.compile have a kernel with this name.", |all, at| {
            all.trace.owner(all.rows[at]).map(|owner| owner.source.as_str().into())
        })
        .optional(),
        Of::float("operator_confidence", "The share of the graph's nodes that agree with the capture; 1 for a launch.", |all, at| {
            all.trace.owner(all.rows[at]).map(|owner| owner.confidence)
        })
        .optional(),
        Of::label("source", "Where it comes from: FILE:LINE, a frame as FILE(LINE): FUNCTION with the first line of the function, or a generated file.", |all, at| {
            all.source(at).map(|source| source.text.into())
        })
        .optional(),
        Of::label("source_by", "What shows the source: `inductor`, `kernel_name`, `graph_node`, `stack` or `generated_file`.", |all, at| {
            all.source(at).map(|source| source.by.as_str().into())
        })
        .optional(),
        Of::label("annotation", "The annotation of the CUDA graph's node that ran it.", |all, at| {
            annotation(all.trace, all.rows[at]).map(Cow::Owned)
        })
        .optional(),
        Of::int("bytes", "Bytes copied or set.", |all, at| {
            Some(all.table().bytes(all.rows[at], Key::MemcpyBytes)).filter(|&bytes| bytes > 0)
        })
        .optional(),
        Of::int(
            "flops",
            "Floating point operations of its operator, if it is the only kernel of an operator with a FLOP formula.",
            |all, at| all.flops[at],
        )
        .optional(),
        Of::int("grid_x", "Blocks of the grid in the first dimension.", |all, at| {
            Some(all.shapes.get(at).grid?[0])
        })
        .optional(),
        Of::int("grid_y", "Blocks of the grid in the second dimension.", |all, at| {
            Some(all.shapes.get(at).grid?[1])
        })
        .optional(),
        Of::int("grid_z", "Blocks of the grid in the third dimension.", |all, at| {
            Some(all.shapes.get(at).grid?[2])
        })
        .optional(),
        Of::int("block_x", "Threads of a block in the first dimension.", |all, at| {
            Some(all.shapes.get(at).block?[0])
        })
        .optional(),
        Of::int("block_y", "Threads of a block in the second dimension.", |all, at| {
            Some(all.shapes.get(at).block?[1])
        })
        .optional(),
        Of::int("block_z", "Threads of a block in the third dimension.", |all, at| {
            Some(all.shapes.get(at).block?[2])
        })
        .optional(),
        Of::int("registers", "Registers per thread.", |all, at| all.argument(at, REGISTERS))
            .optional(),
        Of::int("shared_bytes", "Shared memory of a block.", |all, at| all.argument(at, SHARED))
            .optional(),
        Of::float(
            "occupancy_percent",
            "Estimated achieved occupancy. Kineto reports 0 wrongly for kernels with more than 48 KiB of shared memory.",
            |all, at| all.number(at, Key::Occupancy),
        )
        .optional(),
        Of::label(
            "occupancy_limit",
            "What limits the occupancy: WARPS, REGS, SMEM, BLOCKS or BARRIERS.",
            |all, at| occupancy_limit(all.table(), all.rows[at]).map(Cow::Owned),
        )
        .optional(),
        Of::float("blocks_per_sm", "Thread blocks for each SM.", |all, at| {
            all.number(at, Key::BlocksPerSm)
        })
        .optional(),
        Of::float("warps_per_sm", "Warps for each SM.", |all, at| {
            all.table().field_named(all.rows[at], FieldPlace::Args, WARPS)?.as_f64()
        })
        .optional(),
    ];
}
