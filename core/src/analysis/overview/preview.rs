//! A preview of a trace while it is being read.
//!
//! The preview sums the complete events read so far by name. Nothing is paired, nested or linked yet, so the time of a
//! name includes its callees. The complete answer is [`summary`](super::summary).

use crate::base::handle::run;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, Shape, columns, record};
use crate::base::time;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;
use serde_json::Value;

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(preview: &Preview, table: &Table) {
        let count = |sums: &[Sum]| sums.iter().map(|sum| sum.count as i64).sum::<i64>();
    } [
        Column::int("events", "Events", "The number of objects of traceEvents read so far.") => table.len(),
        Column::int("operators", "Operators", "The number of events of the category cpu_op so far.") =>
            count(&preview.operators),
        Column::int("kernels", "Kernels", "The number of kernels, memcpys and memsets so far.") =>
            count(&preview.device),
        Column::ns("wall_ns", "Wall", "The time from the start of the first event to the end of the last one so far.") =>
            preview.wall.map_or(0, |wall| wall.1.saturating_sub(wall.0)),
        Column::ns("device_sum_ns", "Device", "Sum of the durations of kernels, memcpys and memsets so far.") =>
            preview.device.iter().fold(0, |ns: i64, sum| ns.saturating_add(sum.ns)),
        Column::json("top_operators", "", Shape::Records(&TOP_NAME), "Operators by total time so far, including callees.") =>
            top(&preview.operators, table),
        Column::json("top_kernels", "", Shape::Records(&TOP_NAME), "Kernels, memcpys and memsets by time so far.") =>
            top(&preview.device, table),
    ]
}

record! {
    static TOP_NAME = "PreviewTop": fn top_name(name: &str, sum: &Sum) [
        Column::text("name", "", "The name.") => name,
        Column::int("count", "", "The number of events so far.") => sum.count as i64,
        Column::ns("sum_ns", "", "Sum of their durations.") => sum.ns,
    ]
}

/// The number of names in each list.
const TOP: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    ns: i64,
}

/// The sums over the events read so far.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The number of rows that were added.
    taken: usize,
    operators: Vec<Sum>,
    device: Vec<Sum>,
    wall: Option<(i64, i64)>,
}

impl Preview {
    /// Adds the events that were read since the previous call.
    pub fn update(&mut self, table: &Table) {
        for row in run::<Row>(self.taken..table.len()) {
            let (ph, ts) = (table.ph(row), table.ts(row));
            if ph == b'M' || ts == time::NONE {
                continue;
            }
            let span = (ts, table.end(row));
            self.wall = Some(self.wall.map_or(span, |w| (w.0.min(span.0), w.1.max(span.1))));
            let category = table.category(row);
            if category == Category::CpuOp {
                add(&mut self.operators, table.name_id(row), table.dur(row));
            } else if category.is_device_work() {
                add(&mut self.device, table.name_id(row), table.dur(row));
            }
        }
        self.taken = table.len();
    }

    /// Returns the numbers so far, as one row.
    pub fn rows(&self, table: &Table) -> Rows {
        let mut rows = Rows::new(COLUMNS);
        rows.push(row(self, table));
        rows
    }
}

fn add(sums: &mut Vec<Sum>, name: NameId, duration: i64) {
    let at = name.0 as usize;
    if at >= sums.len() {
        sums.resize(at + 1, Sum::default());
    }
    sums[at].count += 1;
    sums[at].ns = sums[at].ns.saturating_add(duration.max(0));
}

fn top(sums: &[Sum], table: &Table) -> Value {
    let mut order: Vec<usize> = (0..sums.len()).filter(|&at| sums[at].count > 0).collect();
    sort_by_key(&mut order, |&at| (descending(sums[at].ns), 0));
    order.truncate(TOP);
    let entry = |at: usize| top_name(table.names.get(NameId(at as u32)), &sums[at]);
    order.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Cell;
    use crate::trace::Trace;
    use serde_json::json;

    #[test]
    fn repeated_updates_count_each_event_once() {
        let text = br#"[{"ph":"X","cat":"cpu_op","name":"a","ts":0,"dur":10},
            {"ph":"X","cat":"cpu_op","name":"b","ts":1,"dur":2},{"ph":"X","cat":"cpu_op","name":"b","ts":5,"dur":2},
            {"ph":"X","cat":"kernel","name":"k","ts":20,"dur":5}]"#;
        let table = Trace::read(text).expect("a trace").table;
        let mut preview = Preview::default();
        preview.update(&table);
        preview.update(&table);
        let row = &preview.rows(&table).rows[0];
        assert_eq!(row[..5], [Cell::Int(4), Cell::Int(3), Cell::Int(1), Cell::Ns(25_000), Cell::Ns(5_000)]);
        assert_eq!(
            row[5],
            Cell::Json(
                json!([{"name": "a", "count": 1, "sum_ns": 10_000}, {"name": "b", "count": 2, "sum_ns": 4_000}])
            )
        );
    }
}
