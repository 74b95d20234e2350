//! The forms that a trace can be written in, written a piece at a time, so that nobody holds the whole text.

use super::entry::{Begun, Export, Kind, examples};
use super::options::{Opt, Options, Takes};
use super::writing::{PIECE, Pieces, Whole, Writing};
use crate::analysis::device::memory::Memory;
use crate::analysis::timeline::call_tree;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::analysis::torch::stacks::{self, Metric};
use crate::error::Error;
use crate::rows::help;
use crate::table::events::Row;
use crate::trace::Trace;
use crate::write::chrome::{ChromeWriter, Keep, Rewrite};
use crate::write::csv;
use crate::write::event_list::EventListWriter;
use crate::write::execution_trace::ExecutionTraceWriter;
use crate::write::memory_timeline::MemoryTimeline;
use crate::write::redact::Redact;
use crate::write::select::{Selection, select};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Every form, in the order of a help text.
pub(super) const EXPORTS: &[Export] = &[
    Export {
        name: "chrome",
        kind: Kind::Form,
        about: help("A Chrome trace; what is written reads back equal"),
        examples: examples(&["run.json.zst -o run.json.gz"]),
        options: &[],
        extension: None,
        media_type: "application/json",
        begin: |_, _, _| Ok(chrome(Keep, None)),
    },
    Export {
        name: "folded",
        kind: Kind::Form,
        about: help("Folded stacks for flame graphs, in the form of torch's `export_stacks`"),
        examples: examples(&["run.json -o run.folded", "run.json --lanes -o run.folded"]),
        options: &[
            Opt {
                name: "metric",
                value: "NAME",
                takes: Takes::Word(&["self_cpu_time_total", "self_cuda_time_total"]),
                about: help("`self_cpu_time_total` unless given, or `self_cuda_time_total`"),
            },
            Opt {
                name: "lanes",
                value: "",
                takes: Takes::Nothing,
                about: help("Fold the spans of every lane instead of the recorded Python stacks"),
            },
        ],
        extension: Some("folded"),
        media_type: "text/plain",
        begin: folded,
    },
    Export {
        name: "eventlist",
        kind: Kind::Form,
        about: help(
            "Function events as a Chrome trace, as torch's `EventList.export_chrome_trace` writes them",
        ),
        examples: examples(&["records.json -o events.json"]),
        options: &[],
        extension: None,
        media_type: "application/json",
        begin: |trace, _, _| {
            let writer = EventListWriter::new(FunctionEvents::new(trace));
            Ok(Begun::Writing(Writing::new(writer)))
        },
    },
    Export {
        name: "execution-trace",
        kind: Kind::Form,
        about: help("Operators and their inputs for replay, as torch's `ExecutionTraceObserver` writes them"),
        examples: examples(&["run.json -o run.et.json"]),
        options: &[],
        extension: Some("et.json"),
        media_type: "application/json",
        begin: |trace, _, _| Ok(Begun::Writing(Writing::new(ExecutionTraceWriter::new(trace)))),
    },
    Export {
        name: "memory-timeline",
        kind: Kind::Form,
        about: help("Allocated memory over time, in the forms of torch's `export_memory_timeline`"),
        examples: examples(&[
            "run.json -o memory.html --form html",
            "snapshot.pickle --device cuda:0 --form raw -o memory.raw.json.gz",
        ]),
        options: &[
            Opt {
                name: "form",
                value: "FORM",
                takes: Takes::Word(&["json", "raw", "html"]),
                about: help(
                    "`json` (times and sizes) unless given, `raw` (every allocation), or `html` (a plot)",
                ),
            },
            Opt {
                name: "device",
                value: "NAME",
                takes: Takes::Text,
                about: help("Such as cpu or cuda:0 [default: the device that allocated most]"),
            },
        ],
        extension: Some("memory.json"),
        media_type: "application/json",
        begin: memory_timeline,
    },
    Export {
        name: "csv",
        kind: Kind::Form,
        about: help("Every event as a line of CSV"),
        examples: examples(&["run.json -o run.csv"]),
        options: &[],
        extension: Some("csv"),
        media_type: "text/csv",
        begin: |_, _, _| Ok(Begun::Writing(Writing::new(Lines(0)))),
    },
    Export {
        name: "slice",
        kind: Kind::Edit,
        about: help("The part of a trace that some steps, times or ranks cover"),
        examples: examples(&[
            "run.json --steps 3-4 -o two-steps.json",
            "run.json --time 1.5ms..20ms -o part.json.gz",
            "ranks/ --ranks 0,3 -o out/",
        ]),
        options: &[
            Opt {
                name: "steps",
                value: "A-B",
                takes: Takes::Range,
                about: help("A step or a range of steps: 3 or 3-5"),
            },
            Opt {
                name: "time",
                value: "START..END",
                takes: Takes::Times,
                about: help("A time after the start of the recording: 1.5ms..20ms"),
            },
            Opt {
                name: "ranks",
                value: "LIST",
                takes: Takes::Numbers,
                about: help("Only the traces of these ranks"),
            },
        ],
        extension: None,
        media_type: "application/json",
        begin: slice,
    },
    Export {
        name: "shrink",
        kind: Kind::Edit,
        about: help("A trace without short spans or without some categories"),
        examples: examples(&["run.json --min-duration 10us --drop python_function -o small.json.gz"]),
        options: &[
            Opt {
                name: "min-duration",
                value: "TIME",
                takes: Takes::Duration,
                about: help("Leave out host spans that are shorter, such as 10us"),
            },
            Opt { name: "drop", value: "LIST", takes: Takes::Texts, about: "Leave out these categories" },
        ],
        extension: None,
        media_type: "application/json",
        begin: shrink,
    },
    Export {
        name: "redact",
        kind: Kind::Edit,
        about: help("A trace without names, paths and hosts; structure and times are kept"),
        examples: examples(&["run.json -o public.json.gz"]),
        options: &[Opt {
            name: "salt",
            value: "TEXT",
            takes: Takes::Text,
            about: help(
                "Give the same stand-ins to the same names in several files [default: a random one for each file]",
            ),
        }],
        extension: None,
        media_type: "application/json",
        begin: |_, options, salt| {
            Ok(chrome(Redact::new(options.text("salt").map_or(salt, str::as_bytes)), None))
        },
    },
];

struct Chrome<R> {
    writer: Option<ChromeWriter<String, R>>,
    keep: Option<Vec<bool>>,
    next: Row,
}

impl<R: Rewrite> Pieces for Chrome<R> {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        let Some(mut writer) = self.writer.take() else { return false };
        let table = &trace.table;
        while (self.next as usize) < table.len() && writer.output().len() < PIECE {
            if self.keep.as_ref().is_none_or(|keep| keep[self.next as usize]) {
                // A String takes every text.
                let _ = writer.event(table, self.next);
            }
            self.next += 1;
        }
        if (self.next as usize) < table.len() {
            out.push_str(writer.output());
            writer.output().clear();
            self.writer = Some(writer);
            return true;
        }
        out.push_str(&writer.finish(table).unwrap_or_default());
        false
    }
}

fn chrome(rewrite: impl Rewrite + 'static, keep: Option<Vec<bool>>) -> Begun {
    let kept = keep.as_ref().map(|keep| keep.iter().filter(|&&k| k).count());
    let writer = ChromeWriter::with_rewrite(String::new(), rewrite);
    Begun::Writing(Writing::new(Chrome { writer: Some(writer), keep, next: 0 }).keeping(kept))
}

impl Pieces for EventListWriter {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        EventListWriter::next(self, &trace.table, out, PIECE)
    }
}

impl Pieces for ExecutionTraceWriter {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        ExecutionTraceWriter::next(self, trace, out, PIECE)
    }
}

struct Lines(Row);

impl Pieces for Lines {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        let table = &trace.table;
        if self.0 == 0 {
            out.push_str(csv::HEADER);
        }
        let start = out.len();
        while (self.0 as usize) < table.len() && out.len() - start < PIECE {
            csv::event(table, self.0, out);
            self.0 += 1;
        }
        (self.0 as usize) < table.len()
    }
}

fn folded(trace: &Trace, options: &Options, _: &[u8]) -> Result<Begun, Error> {
    let text = if options.is_given("lanes") {
        call_tree::folded(trace)
    } else {
        let metric = options.text("metric").and_then(Metric::of).unwrap_or(Metric::SelfCpuTime);
        let events = FunctionEvents::new(trace);
        if events.stacks.is_empty() {
            let message = "no stacks in this trace; the option `lanes` folds its spans instead";
            return Err(Error::BadOption(message.to_owned()));
        }
        stacks::export(&events, &trace.table, metric)
    };
    Ok(Begun::Writing(Writing::new(Whole::new(text))))
}

fn memory_timeline(trace: &Trace, options: &Options, _: &[u8]) -> Result<Begun, Error> {
    let memory = Memory::new(trace);
    let timeline = MemoryTimeline::new(trace, &memory, options.text("device"))?;
    let text = match options.text("form") {
        Some("raw") => timeline.raw(),
        Some("html") => timeline.html(),
        _ => timeline.json(),
    };
    Ok(Begun::Writing(Writing::new(Whole::new(text))))
}

fn need(options: &Options, names: &[&str]) -> Result<(), Error> {
    if names.iter().any(|name| options.is_given(name)) {
        return Ok(());
    }
    Err(Error::BadOption(format!("give one of {}", names.join(", "))))
}

fn slice(trace: &Trace, options: &Options, _: &[u8]) -> Result<Begun, Error> {
    need(options, &["steps", "time", "ranks"])?;
    let ranks = options.numbers("ranks");
    if !ranks.is_empty() && trace.table.metadata.rank().is_none_or(|rank| !ranks.contains(&rank)) {
        return Ok(Begun::LeftOut);
    }
    let selection =
        Selection { steps: options.pair("steps"), time: options.pair("time"), ..Selection::default() };
    Ok(chrome(Keep, Some(select(trace, &selection)?)))
}

fn shrink(trace: &Trace, options: &Options, _: &[u8]) -> Result<Begun, Error> {
    need(options, &["min-duration", "drop"])?;
    let selection = Selection {
        min_duration_ns: options.number("min-duration").unwrap_or(0),
        drop_categories: options.texts("drop").to_vec(),
        ..Selection::default()
    };
    Ok(chrome(Keep, Some(select(trace, &selection)?)))
}
