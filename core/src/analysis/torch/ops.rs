//! The query `ops`: PyTorch's key averages, its events, or their sum, as rows or as PyTorch's table.

use super::average_rows::{COLUMNS, average_rows};
use super::averages::{Average, each_event, key_averages, total_average};
use super::function_events::FunctionEvents;
use super::replayed::add_replayed;
use super::sort_by::SortBy;
use super::table_options::TableOptions;
use super::torch_table::{self, Recorded, select};
use crate::analysis::query::group_by::GroupBy;
use crate::analysis::query::options::{Fallback, Opt, Options, ROW_LIMIT, TypedOptions};
use crate::analysis::query::question::Question;
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::error::Error;
use crate::base::page::Page;
use crate::base::rows::Rows;
use crate::base::units::TimeUnit;
use crate::base::words::words;
use crate::trace::Trace;
use alloc::format;
use alloc::vec::Vec;

/// The query `ops`.
pub const OPS: Query =
    Query::new("ops", "Operators: PyTorch's `key_averages`, as PyTorch's table", COLUMNS, answer)
        .examples(&[
            "run.json --sort-by self_cpu_time_total --row-limit 10",
            "run.json --group-by shape,stack:5 --format json",
        ])
        .options::<OpsOptions>()
        .inputs(&[Input::TorchRules, Input::Captures])
        .questions(&[Question::Operators]);

words! {
    "OpsRows"
    /// What the rows of `ops` are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RowsOf {
        /// PyTorch's `key_averages`.
        #[default]
        Averages = "averages",
        /// Every event, as in the table of PyTorch's `events()`.
        Events = "events",
        /// One row with the sums over all events: PyTorch's `total_average`.
        Total = "total",
    }
}

/// Options of `ops`: those of PyTorch's `key_averages` and of its `table()`.
#[derive(Clone, Debug, PartialEq)]
pub struct OpsOptions {
    /// What the rows are.
    pub rows: RowsOf,
    /// The grouping.
    pub group_by: GroupBy,
    /// Which rows are shown, and the layout of the table.
    pub table: TableOptions,
}

impl Default for OpsOptions {
    /// Returns all rows, grouped by name only.
    fn default() -> Self {
        OpsOptions {
            rows: RowsOf::default(),
            group_by: GroupBy::default(),
            table: TableOptions { row_limit: None, ..TableOptions::default() },
        }
    }
}

const SORT_BY: Opt = Opt::new(
    "sort-by",
    "NAME",
    ValueKind::Attribute(SortBy::VOCABULARY),
    "Sort by this attribute of the rows of PyTorch's table, such as `self_cpu_time_total` [default: order of first occurrence]",
);
const OPS_ROW_LIMIT: Opt = ROW_LIMIT.or(Fallback::InTable(TableOptions::ROW_LIMIT, "all"));
const GROUP_BY: Opt = Opt::new(
    "group-by",
    "LIST",
    ValueKind::Groups,
    "Also group by any of shape, stack:N, overload, module (the innermost nn.Module)",
);
const ROWS: Opt = Opt::word::<RowsOf>(
    "rows",
    "WHAT",
    "Rows: `averages`, `events` (`events().table()`), or `total` (`total_average()`)",
);
const TOP_LEVEL_ONLY: Opt = Opt::flag("top-level-only", "Show only rows whose first event has no parent");
const PYTHON_FUNCTIONS: Opt = Opt::flag(
    "include-python-functions",
    "Also show calls of Python functions, which are events since PyTorch 2.12",
);
const TIME_UNIT: Opt =
    Opt::new("time-unit", "UNIT", ValueKind::Word(TimeUnit::VOCABULARY), "Unit of the times in the table")
        .or(Fallback::Words("chosen for each value"));
const NAME_WIDTH: Opt =
    Opt::new("max-name-width", "N", ValueKind::Width, "Maximum width of names in the table, or none")
        .or(Fallback::Number(TableOptions::NAME_WIDTH));
const SHAPES_WIDTH: Opt =
    Opt::new("max-shapes-width", "N", ValueKind::Width, "Maximum width of shapes in the table, or none")
        .or(Fallback::Number(TableOptions::SHAPES_WIDTH));
const SRC_WIDTH: Opt =
    Opt::new("max-src-width", "N", ValueKind::Width, "Maximum width of stack frames in the table, or none")
        .or(Fallback::Number(TableOptions::SRC_WIDTH));
const HEADER: Opt = Opt::text("header", "TEXT", "Print this line above the table");

impl TypedOptions for OpsOptions {
    const DECLARED: &'static [Opt] = &[
        SORT_BY,
        OPS_ROW_LIMIT,
        ROWS,
        GROUP_BY,
        TOP_LEVEL_ONLY,
        PYTHON_FUNCTIONS,
        TIME_UNIT,
        NAME_WIDTH,
        SHAPES_WIDTH,
        SRC_WIDTH,
        HEADER,
    ];

    fn from_options(options: &Options, for_reading: bool) -> Self {
        let default = if for_reading { TableOptions::default() } else { OpsOptions::default().table };
        let table = TableOptions {
            sort_by: options.word(&SORT_BY),
            row_limit: options.limit(&OPS_ROW_LIMIT, default.row_limit),
            top_level_events_only: options.flag(&TOP_LEVEL_ONLY),
            time_unit: options.word(&TIME_UNIT),
            max_name_column_width: options.width(&NAME_WIDTH, default.max_name_column_width),
            max_shapes_column_width: options.width(&SHAPES_WIDTH, default.max_shapes_column_width),
            max_src_column_width: options.width(&SRC_WIDTH, default.max_src_column_width),
            header: options.text(&HEADER),
        };
        let python_functions = options.flag(&PYTHON_FUNCTIONS);
        let rows = options.word(&ROWS).unwrap_or_default();
        OpsOptions { rows, group_by: GroupBy { python_functions, ..options.groups(&GROUP_BY) }, table }
    }
}

fn answer(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let options: OpsOptions = request.typed();
    let python_functions = options.group_by.python_functions;
    let is_grouped = options.group_by != GroupBy { python_functions, ..GroupBy::default() };
    if options.rows != RowsOf::Averages && is_grouped {
        return Err(Error::BadOption("group-by: only averages have groups".into()));
    }
    if options.rows == RowsOf::Total && options.table.top_level_events_only {
        return Err(Error::BadOption("top-level-only: a total is of all events".into()));
    }
    if let Some(by) = options.table.sort_by.filter(|by| by.is_of_events() && options.rows != RowsOf::Events) {
        let message = format!("sort-by: only events have the attribute {}; add --rows events", by.as_str());
        return Err(Error::BadOption(message));
    }
    if request.for_reading {
        return Ok(Answer::page(ops_table(trace, &options)));
    }
    Ok(ops(trace, &options).into())
}

fn averages(trace: &Trace, options: &OpsOptions) -> (Vec<Average>, Recorded) {
    let (events, table) = (FunctionEvents::new(trace), &trace.table);
    let rows = match options.rows {
        RowsOf::Averages => {
            let mut groups = key_averages(&events, table, options.group_by);
            add_replayed(&mut groups, trace, options.group_by);
            groups
        }
        RowsOf::Events => each_event(&events, table),
        RowsOf::Total => alloc::vec![total_average(&events, table)],
    };
    (rows, Recorded::new(&events))
}

/// Returns the operators: PyTorch's key averages, its events, or their sum.
pub fn ops(trace: &Trace, options: &OpsOptions) -> Rows {
    let (groups, _) = averages(trace, options);
    let (sorted, shown) = select(&groups, &options.table);
    average_rows(shown.iter().map(|&at| &sorted[at]))
}

/// Returns the operators as PyTorch's table.
pub fn ops_table(trace: &Trace, options: &OpsOptions) -> Page {
    let (groups, recorded) = averages(trace, options);
    torch_table::page(&groups, recorded, &options.table)
}
