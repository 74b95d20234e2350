//! The options of every query, typed: what can be given, and what holds where nothing is.

use super::options::{Fallback, Opt, Options, Takes, Typed};
use crate::analysis::torch::averages::GroupBy;
use crate::report::table_options::{SortBy, TableOptions};
use crate::units::TimeUnit;
use alloc::string::String;
use alloc::vec::Vec;

const ROW_LIMIT: Opt = Opt::new("row-limit", "N", Takes::Count, "At most this many rows, -1 for all");

/// Options of the queries that have no others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl Typed for ListOptions {
    const DECLARED: &'static [Opt] = &[ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        ListOptions { row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

/// Options of `ops`: those of torch's `key_averages` and of its table.
#[derive(Clone, Debug, PartialEq)]
pub struct OpsOptions {
    /// What to group by.
    pub group_by: GroupBy,
    /// Which rows, and how a table shows them.
    pub table: TableOptions,
}

impl Default for OpsOptions {
    /// All rows, without grouping.
    fn default() -> Self {
        OpsOptions {
            group_by: GroupBy::default(),
            table: TableOptions { row_limit: None, ..TableOptions::default() },
        }
    }
}

const SORT_BY: Opt = Opt::new(
    "sort-by",
    "NAME",
    Takes::SortBy,
    "A column of torch's table, such as `self_cpu_time_total`; rows stay in order of first use without it",
);
const OPS_ROW_LIMIT: Opt = ROW_LIMIT.or(Fallback::InTable(TableOptions::ROW_LIMIT, "all"));
const GROUP_BY: Opt = Opt::new(
    "group-by",
    "LIST",
    Takes::Groups,
    "Any of shape, stack:N, overload, module (the innermost nn.Module, as the stack)",
);
const TOP_LEVEL_ONLY: Opt =
    Opt::new("top-level-only", "", Takes::Nothing, "Only rows whose first event has no parent");
const TIME_UNIT: Opt =
    Opt::new("time-unit", "UNIT", Takes::Word(TimeUnit::VOCABULARY), "The unit of the table's times")
        .or(Fallback::Words("what suits each value"));
const NAME_WIDTH: Opt = Opt::new("max-name-width", "N", Takes::Width, "Longest name in the table, or none")
    .or(Fallback::Number(TableOptions::NAME_WIDTH));
const SHAPES_WIDTH: Opt =
    Opt::new("max-shapes-width", "N", Takes::Width, "Longest shapes in the table, or none")
        .or(Fallback::Number(TableOptions::SHAPES_WIDTH));
const SRC_WIDTH: Opt =
    Opt::new("max-src-width", "N", Takes::Width, "Longest stack frame in the table, or none")
        .or(Fallback::Number(TableOptions::SRC_WIDTH));
const HEADER: Opt = Opt::new("header", "TEXT", Takes::Text, "A line above the table");

impl Typed for OpsOptions {
    const DECLARED: &'static [Opt] = &[
        SORT_BY,
        OPS_ROW_LIMIT,
        GROUP_BY,
        TOP_LEVEL_ONLY,
        TIME_UNIT,
        NAME_WIDTH,
        SHAPES_WIDTH,
        SRC_WIDTH,
        HEADER,
    ];

    fn of(given: &Options, for_reading: bool) -> Self {
        let default = if for_reading { TableOptions::default() } else { OpsOptions::default().table };
        let table = TableOptions {
            sort_by: given.word(&SORT_BY, &SortBy::ALL),
            row_limit: given.limit(&OPS_ROW_LIMIT, default.row_limit),
            top_level_events_only: given.flag(&TOP_LEVEL_ONLY),
            time_unit: given.word(&TIME_UNIT, &TimeUnit::ALL),
            max_name_column_width: given.width(&NAME_WIDTH, default.max_name_column_width),
            max_shapes_column_width: given.width(&SHAPES_WIDTH, default.max_shapes_column_width),
            max_src_column_width: given.width(&SRC_WIDTH, default.max_src_column_width),
            header: given.text(&HEADER),
        };
        OpsOptions { group_by: given.groups(&GROUP_BY), table }
    }
}

/// Options of `flops`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlopsOptions {
    /// Figures of devices, which go before the known ones: lines of name,fp64,fp32,tf32,half,int8,memory.
    pub peaks: Option<String>,
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
}

const PEAKS: Opt = Opt::new(
    "peaks",
    "FILE",
    Takes::File,
    "Figures of devices for the roofline: lines of name,fp64,fp32,tf32,half,int8,memory in TFLOP/s and GB/s",
);

impl Typed for FlopsOptions {
    const DECLARED: &'static [Opt] = &[PEAKS, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        FlopsOptions { peaks: given.text(&PEAKS), row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

/// Options of `patterns`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternsOptions {
    /// Look for events whose names contain this text instead.
    pub name: Option<String>,
    /// Print torch's report rather than advice; rows are the same.
    pub report: bool,
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
}

const NAME: Opt =
    Opt::new("name", "TEXT", Takes::Text, "Look for events whose names contain this text instead");
const REPORT: Opt = Opt::new(
    "report",
    "",
    Takes::Nothing,
    "Print the report in the form of torch's `report_all_anti_patterns`",
);

impl Typed for PatternsOptions {
    const DECLARED: &'static [Opt] = &[NAME, REPORT, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        PatternsOptions {
            name: given.text(&NAME),
            report: given.flag(&REPORT),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `tree`.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeOptions {
    /// The callers below each name rather than what it called.
    pub bottom_up: bool,
    /// How many levels; `None` for all.
    pub depth: Option<usize>,
    /// Leave out what takes less than this share of its lane, of 1.
    pub min_share: f64,
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl TreeOptions {
    const DEPTH: usize = 8;
    /// What a table leaves out, in percent.
    const TABLE_PERCENT: usize = 1;
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions { bottom_up: false, depth: Some(TreeOptions::DEPTH), min_share: 0.0, row_limit: None }
    }
}

const BOTTOM_UP: Opt =
    Opt::new("bottom-up", "", Takes::Nothing, "The callers below each name rather than what it called");
const DEPTH: Opt = Opt::new("depth", "N", Takes::Count, "How many levels, -1 for all")
    .or(Fallback::Number(TreeOptions::DEPTH));
const MIN_SHARE: Opt = Opt::new(
    "min-share",
    "PERCENT",
    Takes::Percent,
    "Leave out what takes less than this percentage of its lane",
)
.or(Fallback::InTable(TreeOptions::TABLE_PERCENT, "0"));

impl Typed for TreeOptions {
    const DECLARED: &'static [Opt] = &[BOTTOM_UP, DEPTH, MIN_SHARE, ROW_LIMIT];

    fn of(given: &Options, for_reading: bool) -> Self {
        let default = TreeOptions::default();
        let in_table = TreeOptions::TABLE_PERCENT as f64 / 100.0;
        TreeOptions {
            bottom_up: given.flag(&BOTTOM_UP),
            depth: given.limit(&DEPTH, default.depth),
            min_share: given.share(&MIN_SHARE).unwrap_or(if for_reading {
                in_table
            } else {
                default.min_share
            }),
            row_limit: given.limit(&ROW_LIMIT, default.row_limit),
        }
    }
}

/// Options of `names`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamesOptions {
    /// Start and end in ns after the start of the recording; `None` for all of it.
    pub time: Option<(i64, i64)>,
    /// The numbers of the tracks; none for all of them.
    pub tracks: Vec<i64>,
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
}

const TIME: Opt =
    Opt::new("time", "RANGE", Takes::Times, "Only this time after the start of the recording: 1.5ms..20ms");
const TRACKS: Opt = Opt::new("tracks", "LIST", Takes::Numbers, "Only these rows of `tracks`, by number");

impl Typed for NamesOptions {
    const DECLARED: &'static [Opt] = &[TIME, TRACKS, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        NamesOptions {
            time: given.pair(&TIME),
            tracks: given.numbers(&TRACKS),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}
