//! The typed options of every query, and their defaults.
//!
//! This is one file because queries share options, and a new query is compared with those that are there.

use super::options::{Fallback, Opt, Options, Takes, Typed};
use crate::analysis::device::breakdown::BreakdownBy;
use crate::analysis::device::idle_rows::IdleBy;
use crate::analysis::device::kernel_keys::KernelsBy;
use crate::analysis::device::launches::LaunchesBy;
use crate::analysis::device::sequences::Search;
use crate::analysis::overview::fitness::Question;
use crate::analysis::tasks::task_rows::TasksBy;
use crate::analysis::timeline::samples::{SampleFilter, SamplesBy};
use crate::analysis::torch::averages::GroupBy;
use crate::base::error::Error;
use crate::base::units::TimeUnit;
use crate::base::words::words;
use crate::output::report::sort_by::SortBy;
use crate::output::report::table_options::TableOptions;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) const ROW_LIMIT: Opt =
    Opt::new("row-limit", "N", Takes::Count, "Maximum number of rows, -1 for all");

/// Options of the queries whose only option is the row limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl Typed for ListOptions {
    const DECLARED: &'static [Opt] = &[ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        ListOptions { row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

/// Options of `stacks`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StacksOptions {
    /// Use the lines of calls instead of the lines of function definitions.
    pub call_sites: bool,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

pub(super) const CALL_SITES: Opt = Opt::new(
    "call-sites",
    "",
    Takes::Nothing,
    "Lines of calls, if known, instead of function definitions (PyTorch 2.14 and later)",
);

impl Typed for StacksOptions {
    const DECLARED: &'static [Opt] = &[CALL_SITES, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        StacksOptions { call_sites: given.flag(&CALL_SITES), row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

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
    Takes::SortBy,
    "Sort by this attribute of the rows of PyTorch's table, such as `self_cpu_time_total` [default: order of first occurrence]",
);
const OPS_ROW_LIMIT: Opt = ROW_LIMIT.or(Fallback::InTable(TableOptions::ROW_LIMIT, "all"));
const GROUP_BY: Opt = Opt::new(
    "group-by",
    "LIST",
    Takes::Groups,
    "Also group by any of shape, stack:N, overload, module (the innermost nn.Module)",
);
const ROWS: Opt = Opt::new(
    "rows",
    "WHAT",
    Takes::Word(RowsOf::VOCABULARY),
    "Rows: `averages`, `events` (`events().table()`), or `total` (`total_average()`)",
)
.or(Fallback::Words(RowsOf::Averages.as_str()));
const TOP_LEVEL_ONLY: Opt =
    Opt::new("top-level-only", "", Takes::Nothing, "Show only rows whose first event has no parent");
const PYTHON_FUNCTIONS: Opt = Opt::new(
    "include-python-functions",
    "",
    Takes::Nothing,
    "Also show calls of Python functions, which are events since PyTorch 2.12",
);
const TIME_UNIT: Opt =
    Opt::new("time-unit", "UNIT", Takes::Word(TimeUnit::VOCABULARY), "Unit of the times in the table")
        .or(Fallback::Words("chosen for each value"));
const NAME_WIDTH: Opt =
    Opt::new("max-name-width", "N", Takes::Width, "Maximum width of names in the table, or none")
        .or(Fallback::Number(TableOptions::NAME_WIDTH));
const SHAPES_WIDTH: Opt =
    Opt::new("max-shapes-width", "N", Takes::Width, "Maximum width of shapes in the table, or none")
        .or(Fallback::Number(TableOptions::SHAPES_WIDTH));
const SRC_WIDTH: Opt =
    Opt::new("max-src-width", "N", Takes::Width, "Maximum width of stack frames in the table, or none")
        .or(Fallback::Number(TableOptions::SRC_WIDTH));
const HEADER: Opt = Opt::new("header", "TEXT", Takes::Text, "Print this line above the table");

impl Typed for OpsOptions {
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
        let python_functions = given.flag(&PYTHON_FUNCTIONS);
        let rows = given.word(&ROWS, &RowsOf::ALL).unwrap_or_default();
        OpsOptions { rows, group_by: GroupBy { python_functions, ..given.groups(&GROUP_BY) }, table }
    }
}

/// Options of `fitness`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitnessOptions {
    /// The questions that have to be answered; if empty, those that the trace has events for.
    pub require: Vec<String>,
}

const REQUIRE: Opt = Opt::new(
    "require",
    "LIST",
    Takes::Texts,
    "Return exit code 1 unless these questions can be answered [default: those with events in the trace]",
);

impl Typed for FitnessOptions {
    const DECLARED: &'static [Opt] = &[REQUIRE];

    fn of(given: &Options, _: bool) -> Self {
        FitnessOptions { require: given.texts(&REQUIRE) }
    }
}

impl FitnessOptions {
    /// Returns the questions.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the first that is none.
    pub(super) fn questions(&self) -> Result<Vec<Question>, Error> {
        let question = |text: &String| {
            let word = text.replace(['-', '_'], " ");
            let found = Question::ALL.into_iter().find(|question| question.as_str() == word);
            found.ok_or_else(|| {
                let words = Question::VOCABULARY.words.join(", ");
                Error::BadOption(format!("require: {text:?} is none of {words}"))
            })
        };
        self.require.iter().map(question).collect()
    }
}

/// Options of `breakdown`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakdownOptions {
    /// What the rows are about.
    pub by: BreakdownBy,
}

const BREAKDOWN_BY: Opt =
    Opt::new("by", "WHAT", Takes::Word(BreakdownBy::VOCABULARY), "Rows of each `device`, or of each `step`")
        .or(Fallback::Words(BreakdownBy::Device.as_str()));

impl Typed for BreakdownOptions {
    const DECLARED: &'static [Opt] = &[BREAKDOWN_BY];

    fn of(given: &Options, _: bool) -> Self {
        BreakdownOptions { by: given.word(&BREAKDOWN_BY, &BreakdownBy::ALL).unwrap_or_default() }
    }
}

/// Options of `idle`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdleOptions {
    /// What the rows are about.
    pub by: IdleBy,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const BY: Opt =
    Opt::new("by", "WHAT", Takes::Word(IdleBy::VOCABULARY), "Rows of each `device`, `stream` or `step`")
        .or(Fallback::Words(IdleBy::Device.as_str()));

impl Typed for IdleOptions {
    const DECLARED: &'static [Opt] = &[BY, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        IdleOptions {
            by: given.word(&BY, &IdleBy::ALL).unwrap_or_default(),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `launches`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchesOptions {
    /// What the rows are about.
    pub by: LaunchesBy,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const LAUNCHES_BY: Opt = Opt::new(
    "by",
    "WHAT",
    Takes::Word(LaunchesBy::VOCABULARY),
    "Rows of each `stream`, `call`, `kernel`, or `launch`",
)
.or(Fallback::Words(LaunchesBy::Stream.as_str()));

impl Typed for LaunchesOptions {
    const DECLARED: &'static [Opt] = &[LAUNCHES_BY, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        LaunchesOptions {
            by: given.word(&LAUNCHES_BY, &LaunchesBy::ALL).unwrap_or_default(),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `samples`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplesOptions {
    /// What the rows are about.
    pub by: SamplesBy,
    /// Which samples are counted.
    pub filter: SampleFilter,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const SAMPLES_BY: Opt = Opt::new(
    "by",
    "WHAT",
    Takes::Word(SamplesBy::VOCABULARY),
    "Rows of each `function`, a `tree` of them, or each `thread`",
)
.or(Fallback::Words(SamplesBy::Function.as_str()));
const SPAN: Opt = Opt::new("span", "NAME", Takes::Text, "Only samples inside of spans with this name");
const BETWEEN: Opt = Opt::new("between", "", Takes::Nothing, "Only samples outside of all spans");
const THREAD: Opt = Opt::new("thread", "ID", Takes::Text, "Only samples of this thread");

impl Typed for SamplesOptions {
    const DECLARED: &'static [Opt] = &[SAMPLES_BY, SPAN, BETWEEN, THREAD, TIME, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        SamplesOptions {
            by: given.word(&SAMPLES_BY, &SamplesBy::ALL).unwrap_or_default(),
            filter: SampleFilter {
                span: given.text(&SPAN),
                between: given.flag(&BETWEEN),
                thread: given.text(&THREAD),
                time: given.pair(&TIME),
            },
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `tasks`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TasksOptions {
    /// What the rows are about.
    pub by: TasksBy,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const TASKS_BY: Opt =
    Opt::new("by", "WHAT", Takes::Word(TasksBy::VOCABULARY), "Rows of each `name`, `task`, or `wait`")
        .or(Fallback::Words(TasksBy::Name.as_str()));

impl Typed for TasksOptions {
    const DECLARED: &'static [Opt] = &[TASKS_BY, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        TasksOptions {
            by: given.word(&TASKS_BY, &TasksBy::ALL).unwrap_or_default(),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `kernels`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelsOptions {
    /// What the rows are.
    pub by: KernelsBy,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const KERNELS_BY: Opt = Opt::new(
    "by",
    "WHAT",
    Takes::Word(KernelsBy::VOCABULARY),
    "What the rows are; `shape` is the name with the inputs",
)
.or(Fallback::Words(KernelsBy::Name.as_str()));

impl Typed for KernelsOptions {
    const DECLARED: &'static [Opt] = &[KERNELS_BY, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        KernelsOptions {
            by: given.word(&KERNELS_BY, &KernelsBy::ALL).unwrap_or_default(),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `sequences`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequencesOptions {
    /// Which sequences are searched.
    pub search: Search,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const MIN_LENGTH: Opt =
    Opt::new("min-length", "N", Takes::Count, "Minimum number of kernels").or(Fallback::Number(2));
const MAX_LENGTH: Opt = Opt::new(
    "max-length",
    "N",
    Takes::Count,
    "Maximum number of kernels, at most 32 [default: 8, with --operator any]",
);
const MIN_COUNT: Opt =
    Opt::new("min-count", "N", Takes::Count, "Minimum number of occurrences").or(Fallback::Number(3));
const OPERATOR: Opt = Opt::new(
    "operator",
    "NAME",
    Takes::Text,
    "Only what calls of operators or ranges with this text in the name launch",
);

impl Typed for SequencesOptions {
    const DECLARED: &'static [Opt] = &[MIN_LENGTH, MAX_LENGTH, MIN_COUNT, OPERATOR, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        let default = Search::default();
        let number = |option, default| given.limit(option, Some(default)).unwrap_or(default);
        SequencesOptions {
            search: Search {
                min_length: number(&MIN_LENGTH, default.min_length),
                max_length: given.limit(&MAX_LENGTH, default.max_length),
                min_count: number(&MIN_COUNT, default.min_count),
                operator: given.text(&OPERATOR),
            },
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `flops`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlopsOptions {
    /// Peak figures of devices, which override the built-in ones: lines of name,fp64,fp32,tf32,half,int8,memory.
    pub peaks: Option<String>,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const PEAKS: Opt = Opt::new(
    "peaks",
    "FILE",
    Takes::File,
    "Peak figures of devices for the roofline: lines of name,fp64,fp32,tf32,half,int8,memory in TFLOP/s and GB/s",
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
    /// Find events whose names have a match of this regular expression, instead of anti-patterns.
    pub name: Option<String>,
    /// Print PyTorch's report instead of a table with advice; the rows are the same.
    pub report: bool,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const NAME: Opt = Opt::new(
    "name",
    "REGEX",
    Takes::Text,
    "Find events whose names match a regular expression, instead of anti-patterns",
);
const REPORT: Opt = Opt::new(
    "report",
    "",
    Takes::Nothing,
    "Print the report in the format of PyTorch's `report_all_anti_patterns`",
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
    /// Invert the tree: show the callers below each name instead of the callees.
    pub bottom_up: bool,
    /// The maximum number of levels; `None` for all.
    pub depth: Option<usize>,
    /// Leave out nodes with less than this share of the time of their lane; 1 is all of it.
    pub min_share: f64,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl TreeOptions {
    const DEPTH: usize = 8;
    /// The default minimum share in a table, in percent.
    const TABLE_PERCENT: usize = 1;
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions { bottom_up: false, depth: Some(TreeOptions::DEPTH), min_share: 0.0, row_limit: None }
    }
}

const BOTTOM_UP: Opt =
    Opt::new("bottom-up", "", Takes::Nothing, "Show the callers below each name instead of the callees");
const DEPTH: Opt = Opt::new("depth", "N", Takes::Count, "Maximum number of levels, -1 for all")
    .or(Fallback::Number(TreeOptions::DEPTH));
const MIN_SHARE: Opt = Opt::new(
    "min-share",
    "PERCENT",
    Takes::Percent,
    "Leave out nodes with less than this percentage of the time of their lane",
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
    /// Start and end in ns after the start of the recording; `None` for the complete recording.
    pub time: Option<(i64, i64)>,
    /// The numbers of the tracks; empty for all of them.
    pub tracks: Vec<i64>,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

pub(super) const TIME: Opt = Opt::new(
    "time",
    "RANGE",
    Takes::Times,
    "Only this range of time after the start of the recording, such as 1.5ms..20ms",
);
const TRACKS: Opt =
    Opt::new("tracks", "LIST", Takes::Numbers, "Only these tracks, by their numbers in `tracks`");

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
