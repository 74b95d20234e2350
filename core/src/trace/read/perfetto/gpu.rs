//! Work and counters of GPUs, with the categories and field names of Kineto's traces.

use super::arguments::{Content, quoted, with};
use super::sequence::{Interned, Sequence, counter_specs};
use super::tracks::track;
use super::wire::{Damaged, Value, fields};
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Table;
use crate::trace::table::layout::FieldPlace::Args;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The stages that PyTorch writes, and their categories.
const STAGES: [(&str, &str); 6] = [
    ("Kernel", "kernel"),
    ("Memcpy", "gpu_memcpy"),
    ("Memset", "gpu_memset"),
    ("Annotation", "gpu_user_annotation"),
    ("EventRecord", "graph_event_node"),
    ("HostNode", "graph_host_node"),
];
/// The category of other stages.
const OTHER_STAGE: &str = "gpu_render_stage";

/// The spelling of Kineto for arguments that have another one.
const SPELLINGS: [(&str, &str); 5] = [
    ("device id", "device"),
    ("context id", "context"),
    ("stream id", "stream"),
    ("registers_per_thread", "registers per thread"),
    ("name", "annotation"),
];
/// Kineto's spelling of an argument.
fn spelling(key: &str) -> &str {
    SPELLINGS.iter().find(|spelling| spelling.0 == key).map_or(key, |spelling| spelling.1)
}

/// The parts of Kineto's `shared memory`.
const SHARED: [&str; 2] = ["shared_mem_static", "shared_mem_dynamic"];

/// Work on a GPU.
#[derive(Default)]
struct Stage<'a> {
    duration: i64,
    gpu: i64,
    queue: u64,
    stage: u64,
    name: Option<NameId>,
    own_name: Option<Cow<'a, str>>,
    extra: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    launch: &'a [u8],
}

/// The numbers of a kernel's launch.
#[derive(Default)]
struct Launch {
    grid: Option<[u64; 3]>,
    block: Option<[u64; 3]>,
    numbers: Vec<(String, i64)>,
}

/// The processes and streams that were named already.
#[derive(Clone, Debug, Default)]
pub(super) struct Named(Index);

fn read_stage<'a>(message: &'a [u8], sequence: &Sequence) -> Result<Stage<'a>, Damaged> {
    let mut read = Stage::default();
    for field in fields(message) {
        match field? {
            (2, duration) => read.duration = duration.int().max(0),
            (6, extra) => read.extra.push(pair(extra)?),
            (11, gpu) => read.gpu = gpu.int(),
            (13, queue) => read.queue = queue.number(),
            (14, stage) => read.stage = stage.number(),
            (17, name) => read.own_name = Some(name.text()),
            (19, id) => read.name = read.name.or(sequence.text(Interned::Kernel, id.number())),
            (20, id) => read.name = sequence.text(Interned::Name, id.number()).or(read.name),
            (21, launch) => read.launch = launch.bytes(),
            _ => {}
        }
    }
    Ok(read)
}

fn pair(message: Value<'_>) -> Result<(Cow<'_, str>, Cow<'_, str>), Damaged> {
    let (mut name, mut value) = (Cow::Borrowed(""), Cow::Borrowed(""));
    for field in fields(message.bytes()) {
        match field? {
            (1, text) => name = text.text(),
            (2, text) => value = text.text(),
            _ => {}
        }
    }
    Ok((name, value))
}

fn read_launch(message: &[u8], sequence: &Sequence, names: &Names) -> Result<Launch, Damaged> {
    let mut launch = Launch::default();
    for field in fields(message) {
        match field? {
            (1, size) => launch.grid = Some(dimensions(size)?),
            (2, size) => launch.block = Some(dimensions(size)?),
            (3, argument) => {
                let (mut name, mut number) = (None, 0);
                for field in fields(argument.bytes()) {
                    match field? {
                        (1, id) => name = sequence.text(Interned::KernelArgument, id.number()),
                        (_, value @ Value::Number(_)) => number = value.int(),
                        _ => {}
                    }
                }
                if let Some(name) = name {
                    launch.numbers.push((names.get(name).to_string(), number));
                }
            }
            _ => {}
        }
    }
    Ok(launch)
}

fn dimensions(message: Value<'_>) -> Result<[u64; 3], Damaged> {
    let mut size = [1; 3];
    for field in fields(message.bytes()) {
        if let (axis @ 1..=3, length) = field? {
            size[axis as usize - 1] = length.number();
        }
    }
    Ok(size)
}

/// The number in `[7] stream 7`, the name of a queue; PyTorch places work of captured graphs on such a lane.
fn lane(queue: &str) -> Option<i64> {
    queue.strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// Reads the work of a GPU that began at `ts`.
pub(super) fn stage(
    message: &[u8],
    ts: i64,
    (sequence, named): (&Sequence, &mut Named),
    table: &mut Table,
) -> Result<(), Damaged> {
    let read = read_stage(message, sequence)?;
    let launch = read_launch(read.launch, sequence, &table.names)?;
    let label = |id: u64| sequence.text(Interned::GpuLabel, id).map_or("", |name| table.names.get(name));
    let stage_name = String::from(label(read.stage));
    let queue = String::from(label(read.queue));
    let category = STAGES.iter().find(|stage| stage.0 == stage_name).map_or(OTHER_STAGE, |stage| stage.1);
    let extra = |key: &str| read.extra.iter().find(|pair| pair.0 == key).map(|pair| &*pair.1);
    let name = match (&read.own_name, read.name, extra("host fn")) {
        (Some(name), ..) => name.to_string(),
        (None, Some(name), _) => table.names.get(name).to_string(),
        (None, None, Some(function)) => format!("{stage_name}: {function}"),
        // A kernel without a name keeps the empty name that it has in Kineto's traces.
        (None, None, None) if category == "kernel" => String::new(),
        (None, None, None) => stage_name,
    };
    let stream: Option<i64> = extra("stream id").and_then(|text| text.parse().ok());
    let lane = lane(&queue).or(stream);
    let queue_number = i64::try_from(read.queue).unwrap_or(i64::MAX);
    let tid = lane.unwrap_or(queue_number);
    name_stream(table, named, (read.gpu, tid), &queue);
    let track = track(table, &read.gpu.to_string(), &tid.to_string(), true);
    let name = table.names.intern(&name);
    let mut row = RowBuilder::new(table, b'X', category);
    for (key, text) in &read.extra {
        let key = spelling(key);
        let text = if key == "stream" {
            lane.map_or(text.to_string(), |lane| lane.to_string())
        } else {
            text.to_string()
        };
        row = with(row, key, text.parse().map_or(Content::Text(Cow::Owned(text)), Content::Int));
    }
    if let (Some(stream), Some(lane)) = (stream, lane)
        && stream != lane
    {
        row = row.int(Args, "original_stream", stream);
    }
    row = with_launch(row, &launch);
    row.finish_on(name, (ts, read.duration), track);
    Ok(())
}

fn with_launch<'a>(mut row: RowBuilder<'a>, launch: &Launch) -> RowBuilder<'a> {
    for (key, size) in [("grid", launch.grid), ("block", launch.block)] {
        if let Some([x, y, z]) = size {
            row = row.json(Args, key, &format!("[{x}, {y}, {z}]"));
        }
    }
    let is_shared = |key: &str| SHARED.contains(&key);
    for (key, number) in launch.numbers.iter().filter(|number| !is_shared(&number.0)) {
        row = row.int(Args, spelling(key), *number);
    }
    if launch.grid.is_some() {
        let shared = launch.numbers.iter().filter(|number| is_shared(&number.0)).map(|number| number.1).sum();
        row = row.int(Args, "shared memory", shared);
    }
    row
}

/// Adds the names of a device and its stream, once.
fn name_stream(table: &mut Table, named: &mut Named, (gpu, tid): (i64, i64), queue: &str) {
    let (pid, thread) = (gpu.to_string(), tid.to_string());
    if named.0.insert((gpu, i64::MIN)) {
        let label = format!("GPU {gpu}");
        RowBuilder::new(table, b'M', "").text(Args, "labels", &label).finish(
            "process_labels",
            time::NONE,
            (&pid, "0"),
        );
    }
    if named.0.insert((gpu, tid)) {
        let name = queue.split_once("] ").map_or(queue, |(_, name)| name);
        RowBuilder::new(table, b'M', "").text(Args, "name", name).finish(
            "thread_name",
            time::NONE,
            (&pid, &thread),
        );
    }
}

/// Reads the values of a GPU's counters at `ts`.
pub(super) fn counters(
    message: &[u8],
    ts: i64,
    sequence: &Sequence,
    table: &mut Table,
) -> Result<(), Damaged> {
    let (mut gpu, mut descriptor) = (0, 0);
    let mut specs = Vec::new();
    let mut values = Vec::new();
    for field in fields(message) {
        match field? {
            (1, descriptor) => specs = counter_specs(descriptor.bytes())?,
            (2, counter) => values.push(counter),
            (3, number) => gpu = number.int(),
            (4, id) => descriptor = id.number(),
            _ => {}
        }
    }
    let pid = quoted(&format!("GPU {gpu} Counters"));
    for counter in values {
        let (mut id, mut value) = (0, Content::Int(0));
        for field in fields(counter.bytes()) {
            match field? {
                (1, number) => id = number.number(),
                (2, number) => value = Content::Int(number.int()),
                (3, number) => value = Content::Double(number.double()),
                _ => {}
            }
        }
        let declared = specs.iter().find(|spec| spec.0 == id).map(|spec| spec.1.text().into_owned());
        let interned = || Some(table.names.get(sequence.counter(descriptor, id)?).to_string());
        let name = declared.or_else(interned).unwrap_or_else(|| format!("counter {id}"));
        with(RowBuilder::new(table, b'C', ""), "", value).finish(&name, ts, (&pid, "0"));
    }
    Ok(())
}
