//! Pairs, nests and averages many legacy records: `pair-records COUNT [typical|one-name|deep]`.
//!
//! Prints the seconds of each step and the peak memory per record: the peak of the process, less its use before.

use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::averages::key_averages;
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::trace::records::{Record, RecordKind, Records};
use std::error::Error;
use std::time::Instant;

/// Returns the peak memory of the process, in bytes.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    let kib: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kib << 10)
}

/// Generates ranges nested `depth` deep, repeatedly, with an allocation in every tenth.
fn records(count: usize, names: usize, depth: usize) -> Records {
    let mut records = Records::default();
    let names: Vec<_> = (0..names).map(|n| records.name(&format!("aten::op_{n}"))).collect();
    let start = records.name("__start_profile");
    records.push(&Record { name: start, thread_id: 1, ..Record::new(RecordKind::Mark) });
    let (mut handle, mut time) = (0, 0);
    while records.len() < count {
        for level in 0..depth {
            handle += 1;
            time += 700;
            // A range with the name of its parent would be merged.
            let name = names[(handle as usize + level) % names.len()];
            let node_id = (level % 2) as i64 - 1;
            let node_id = if names.len() > 1 { -1 } else { node_id };
            let push =
                Record { name, handle, node_id, thread_id: 1, cpu_ns: time, ..Record::new(RecordKind::Push) };
            records.push(&push);
            if handle % 10 == 0 {
                let usage = Record { thread_id: 1, cpu_memory_usage: 64, cpu_ns: time, ..push };
                records.push(&Record { kind: RecordKind::MemoryAlloc, handle: 0, node_id: -1, ..usage });
            }
        }
        for level in 0..depth {
            time += 300;
            let inner = (depth - level - 1) % 2;
            let node_id = if names.len() > 1 { -1 } else { inner as i64 - 1 };
            let handle = handle - level as i64;
            records.push(&Record {
                handle,
                node_id,
                thread_id: 1,
                cpu_ns: time,
                ..Record::new(RecordKind::Pop)
            });
        }
    }
    records
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let count: usize = arguments.get(1).ok_or("usage: pair-records COUNT [SHAPE]")?.parse()?;
    let (names, depth) = match arguments.get(2).map(String::as_str) {
        Some("one-name") => (1, 4),
        Some("deep") => (100, 10_000),
        _ => (100, 6),
    };
    let before = peak()?;
    let records = records(count, names, depth);
    let length = records.len();
    let begun = Instant::now();
    let trace = records.finish();
    let paired = begun.elapsed();
    let events = FunctionEvents::new(&trace);
    let nested = begun.elapsed();
    let groups = key_averages(&events, &trace.table, GroupBy::default());
    let done = begun.elapsed();
    println!(
        "{length} records, {} events, {} groups: {:.2} s (paired {:.2}, nested {:.2}, averaged {:.2}), {:.0} bytes a record",
        events.len(),
        groups.len(),
        done.as_secs_f64(),
        paired.as_secs_f64(),
        nested.as_secs_f64() - paired.as_secs_f64(),
        done.as_secs_f64() - nested.as_secs_f64(),
        (peak()? - before) as f64 / length as f64
    );
    Ok(())
}
