//! PyTorch's `table()`, character for character.
//!
//! Widths count characters, as Python's do. With both stacks and FLOPs, PyTorch swaps the values of the two columns
//! under their headers; this table does the same.

use super::table_options::TableOptions;
use crate::analysis::torch::averages::Average;
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::base::escape;
use crate::base::page::Page;
use crate::base::units;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The settings of the recording that determine the columns of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// PyTorch's `use_device`.
    pub use_device: Option<&'static str>,
    /// Whether memory was recorded.
    pub profile_memory: bool,
    /// Whether FLOPs were recorded.
    pub with_flops: bool,
}

impl Recorded {
    /// Returns the settings with which the trace of these events was recorded.
    pub fn new(events: &FunctionEvents) -> Recorded {
        Recorded {
            use_device: events.use_device,
            profile_memory: events.profile_memory,
            with_flops: events.with_flops,
        }
    }
}

/// Returns the rows in the order of the options, and the indexes of those that are shown; the sort is stable.
pub fn select<'a>(rows: &'a [Average], options: &TableOptions) -> (Cow<'a, [Average]>, Vec<usize>) {
    let mut rows = Cow::Borrowed(rows);
    if let Some(by) = options.sort_by {
        by.sort(rows.to_mut());
    }
    let limit = options.row_limit.unwrap_or(usize::MAX);
    let shown = (0..rows.len()).filter(|&i| !(options.top_level_events_only && rows[i].has_parent));
    let shown: Vec<usize> = shown.take(limit).collect();
    (rows, shown)
}

const WIDTH: usize = 12;
const GAP: &str = "  ";

/// Renders the table, character for character; the text is empty if there are no rows.
pub fn render(rows: &[Average], recorded: Recorded, options: &TableOptions) -> String {
    let lines = lines(rows, recorded, options, |cell| Cow::Borrowed(cell));
    lines.into_iter().fold(String::new(), |text, line| text + &line + "\n")
}

/// Renders the table for a terminal: as [`render`], with names as [`escape::line()`] writes them.
pub fn page(rows: &[Average], recorded: Recorded, options: &TableOptions) -> Page {
    let mut page = Page::exact();
    for line in lines(rows, recorded, options, escape::line) {
        page.line(line);
    }
    page
}

fn lines(rows: &[Average], recorded: Recorded, options: &TableOptions, form: Form) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let (sorted, shown) = select(rows, options);
    let table = Layout::new(&sorted, recorded, options, form);
    let mut out = Vec::new();
    let rule = table.columns.iter().fold(String::new(), |rule, c| rule + &"-".repeat(c.width) + GAP);
    let long_rule = "=".repeat(rule.len() - GAP.len());
    let banner = options.top_level_events_only.then_some("This report only display top-level ops statistics");
    for text in [options.header.as_deref(), banner].into_iter().flatten() {
        out.push(long_rule.clone());
        out.extend(text.split('\n').map(ToString::to_string));
    }
    out.push(rule.clone());
    out.push(table.row(&table.columns.iter().map(|c| c.title.clone()).collect::<Vec<_>>()));
    out.push(rule.clone());
    for &at in &shown {
        table.average(&mut out, &sorted[at]);
    }
    out.push(rule);
    let total = |us| units::time_us(us, options.time_unit);
    out.push(format!("Self CPU time total: {}", total(table.self_cpu_us)));
    if table.has_device_time {
        out.push(format!("Self {} time total: {}", table.device, total(table.self_device_us)));
    }
    out
}

/// How a cell is written.
type Form = fn(&str) -> Cow<'_, str>;

struct Column {
    title: String,
    width: usize,
    left: bool,
}

struct Layout<'a> {
    options: &'a TableOptions,
    form: Form,
    columns: Vec<Column>,
    device: String,
    has_overloads: bool,
    has_device_time: bool,
    has_memory: bool,
    has_device_memory: bool,
    /// Whether some events ran in another process, by RPC.
    has_nodes: bool,
    shapes_width: Option<usize>,
    stack_width: Option<usize>,
    flops_scale: Option<f64>,
    self_cpu_us: f64,
    self_device_us: f64,
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn column_width(widest: usize, limit: Option<usize>) -> usize {
    limit.map_or(widest + 4, |limit| limit.min(widest + 4))
}

impl<'a> Layout<'a> {
    fn new(rows: &[Average], recorded: Recorded, options: &'a TableOptions, form: Form) -> Self {
        let widest = |text: fn(&Average) -> usize| rows.iter().map(text).max().unwrap_or(0);
        let has_shapes = rows.iter().any(|r| !matches!(r.input_shapes.as_str(), "" | "[]" | "None"));
        let frame = widest(|r| r.stack.iter().map(|f| width(f)).max().unwrap_or(0));
        let flops = rows.iter().map(|r| r.flops).filter(|&f| f > 0).min().filter(|_| recorded.with_flops);
        let mut layout = Layout {
            options,
            form,
            columns: Vec::new(),
            device: recorded.use_device.unwrap_or("None").to_ascii_uppercase(),
            has_overloads: rows.iter().any(|r| !r.overload_name.is_empty()),
            has_device_time: rows.iter().any(|r| r.self_device_time_total_ns > 0),
            has_memory: recorded.profile_memory,
            has_device_memory: recorded.use_device.is_some()
                && rows.iter().any(|r| r.self_device_memory_usage > 0),
            has_nodes: rows.iter().any(|r| r.node_id.is_some()),
            shapes_width: has_shapes
                .then(|| column_width(widest(|r| width(&r.input_shapes)), options.max_shapes_column_width)),
            stack_width: rows
                .iter()
                .any(|r| !r.stack.is_empty())
                .then(|| column_width(frame, options.max_src_column_width)),
            flops_scale: None,
            self_cpu_us: rows.iter().fold(0.0, |sum, r| sum + r.torch_us.self_cpu_time_total),
            self_device_us: rows
                .iter()
                .filter(|r| match r.device_type {
                    DeviceType::Cpu => r.is_legacy,
                    DeviceType::Cuda | DeviceType::PrivateUse1 | DeviceType::Mtia | DeviceType::Xpu => {
                        !r.is_user_annotation
                    }
                    _ => false,
                })
                .fold(0.0, |sum, r| sum + r.torch_us.self_device_time_total),
        };
        layout.add_columns(column_width(widest(|r| width(&r.key)), options.max_name_column_width));
        if let Some(smallest) = flops {
            layout.add_flops(smallest);
        }
        layout
    }

    fn add(&mut self, title: &str, width: usize) {
        self.columns.push(Column { title: title.into(), width, left: false });
    }

    fn add_columns(&mut self, name_width: usize) {
        self.add("Name", name_width);
        if self.has_overloads {
            self.add("Overload Name", name_width);
        }
        for title in ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"] {
            self.add(title, WIDTH);
        }
        let device = self.device.clone();
        if self.has_device_time {
            self.add(&format!("Self {device}"), WIDTH);
            self.add(&format!("Self {device} %"), WIDTH);
            self.add(&format!("{device} total"), WIDTH);
            self.add(&format!("{device} time avg"), WIDTH);
        }
        if self.has_memory {
            self.add("CPU Mem", WIDTH);
            self.add("Self CPU Mem", WIDTH);
            if self.has_device_memory {
                self.add(&format!("{device} Mem"), WIDTH);
                self.add(&format!("Self {device} Mem"), WIDTH);
            }
        }
        self.add("# of Calls", WIDTH);
        if self.has_nodes {
            self.add("Node ID", WIDTH);
        }
        if let Some(width) = self.shapes_width {
            self.add("Input Shapes", width);
        }
        if let Some(width) = self.stack_width {
            self.add("Source Location", width);
            if let Some(column) = self.columns.last_mut() {
                column.left = true;
            }
        }
    }

    /// Adds the FLOPs column; the unit in its header is chosen by the smallest value.
    fn add_flops(&mut self, smallest: i64) {
        const TITLES: [&str; 6] = ["FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"];
        let mut unit = 0;
        let mut scale = 1.0;
        while unit < TITLES.len() - 1 && smallest as f64 / scale >= 1e3 {
            unit += 1;
            scale *= 1e3;
        }
        self.flops_scale = Some(1.0 / scale);
        self.add(&format!("Total {}", TITLES[unit]), WIDTH);
    }

    fn row(&self, cells: &[String]) -> String {
        let mut line = String::new();
        for (cell, column) in cells.iter().zip(&self.columns) {
            let cell = (self.form)(cell);
            let padding = " ".repeat(column.width.saturating_sub(width(&cell)));
            let (before, after) = if column.left { ("", padding.as_str()) } else { (padding.as_str(), "") };
            line.extend([before, &cell, after, GAP]);
        }
        line
    }

    fn average(&self, out: &mut Vec<String>, row: &Average) {
        let mut cells = self.numbers(row);
        if let Some(width) = self.shapes_width {
            cells.push(row.input_shapes.chars().take(width).collect());
        }
        if let Some(scale) = self.flops_scale {
            cells.push(if row.flops <= 0 {
                "--".into()
            } else {
                format!("{:8.3}", row.flops as f64 * scale)
            });
        }
        let Some(src_width) = self.stack_width else { return out.push(self.row(&cells)) };
        cells.push(row.stack.first().map_or(String::new(), |frame| trim_path(frame, src_width)));
        out.push(self.row(&cells));
        for frame in row.stack.iter().skip(1) {
            let mut cells = vec![String::new(); self.columns.len() - 1];
            cells.push(trim_path(frame, src_width));
            out.push(self.row(&cells));
        }
        out.push(self.row(&vec![String::new(); self.columns.len()]));
    }

    fn numbers(&self, row: &Average) -> Vec<String> {
        let us = &row.torch_us;
        let time = |us: f64| units::time_us(us, self.options.time_unit);
        let average = |us: f64| time(us / row.count.max(1) as f64);
        let mut cells = vec![self.name(&row.key)];
        if self.has_overloads {
            cells.push(self.name(&row.overload_name));
        }
        cells.extend([
            units::share(us.self_cpu_time_total, self.self_cpu_us),
            time(us.self_cpu_time_total),
            if row.is_async { "0".into() } else { units::share(us.cpu_time_total, self.self_cpu_us) },
            time(us.cpu_time_total),
            average(us.cpu_time_total),
        ]);
        if self.has_device_time {
            cells.extend([
                time(us.self_device_time_total),
                units::share(us.self_device_time_total, self.self_device_us),
                time(us.device_time_total),
                average(us.device_time_total),
            ]);
        }
        if self.has_memory {
            cells.extend([units::bytes(row.cpu_memory_usage), units::bytes(row.self_cpu_memory_usage)]);
            if self.has_device_memory {
                cells.extend([
                    units::bytes(row.device_memory_usage),
                    units::bytes(row.self_device_memory_usage),
                ]);
            }
        }
        cells.push(row.count.to_string());
        if self.has_nodes {
            cells.push(row.node_id.unwrap_or(-1).to_string());
        }
        cells
    }

    fn name(&self, name: &str) -> String {
        match self.options.max_name_column_width {
            Some(limit) if width(name) + 3 >= limit => {
                name.chars().take(limit.saturating_sub(3)).chain("...".chars()).collect()
            }
            _ => name.into(),
        }
    }
}

/// Returns the frame, or `...` and its end if it is longer than `limit`.
fn trim_path(path: &str, limit: usize) -> String {
    let length = width(path);
    if length <= limit {
        return path.into();
    }
    let tail: String = path.chars().skip(length - limit).collect();
    if limit > 3 { format!("...{}", tail.chars().skip(3).collect::<String>()) } else { tail }
}
