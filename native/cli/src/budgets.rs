//! The command `check` with a file of budgets, and files of budgets from measured traces.

use crate::answer::{self, add_csv};
use crate::args::{self, Files, Format};
use crate::failure::{CHECK_FAILED, Failure, UNFIT, report};
use crate::print::{print, print_all};
use crate::reading::read_or_report;
use crate::terminal;
use crate::trend;
use clap::ArgMatches;
use kinetoscope::files::sources;
use kinetoscope_core::output::document;
use kinetoscope_core::runs::budget::formats::{junit, markdown, sarif};
use kinetoscope_core::runs::budget::starting_point::starting_point;
use kinetoscope_core::runs::budget::subject::Subject;
use kinetoscope_core::runs::budget::{self, Budgets, Checked, Leaf, Outcome, Wrong};
use serde_json::Value;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Checks the identities of traces, or the budgets that are named first; or prints budgets.
pub(crate) fn check(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::from_matches(matches);
    let base: Vec<PathBuf> = matches.get_many("base").map(|t| t.cloned().collect()).unwrap_or_default();
    if matches.get_flag("init") {
        return init(&files);
    }
    let reports: Vec<PathBuf> = matches.get_many("reports").map(|t| t.cloned().collect()).unwrap_or_default();
    let reports = reports.iter().map(|path| report_format(path)).collect::<Result<Vec<_>, _>>()?;
    if matches.get_one::<PathBuf>("record").is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("--record appends to a history, which is a file: `-` is none"));
    }
    if let Some(record) = matches.get_one::<PathBuf>("record") {
        trend::check_target(record)?;
    }
    let outputs = Outputs { reports, record: matches.get_one::<PathBuf>("record").cloned() };
    let is_budget = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if files.traces.first().is_some_and(is_budget) {
        return check_budgets(&files, &base, args::format(matches), &outputs);
    }
    let needs_budgets = !base.is_empty()
        || !outputs.reports.is_empty()
        || matches!(args::format(matches), Format::Junit | Format::Sarif);
    if needs_budgets {
        let what = "--base, --report, junit and sarif need a file of budgets (.toml) as the first argument";
        return Err(Failure::usage(what));
    }
    let Some(record) = &outputs.record else { return answer::answer("check", matches) };
    let mut subjects = Vec::new();
    let code = answer::answer_with("check", matches, &mut |trace, name| {
        subjects.push(Subject::from_trace(trace, name));
    })?;
    trend::record(record, &subjects)?;
    Ok(code)
}

/// The files that are written in addition to the answer.
struct Outputs {
    reports: Vec<(PathBuf, Format)>,
    record: Option<PathBuf>,
}

/// A report with the format of its extension.
fn report_format(path: &Path) -> Result<(PathBuf, Format), Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let format = match extension {
        "md" => Format::Md,
        "xml" => Format::Junit,
        "sarif" => Format::Sarif,
        "json" => Format::Json,
        "csv" => Format::Csv,
        _ => {
            return Err(Failure::usage(format!(
                "{}: a report is .md, .xml, .sarif, .json or .csv",
                path.display()
            )));
        }
    };
    Ok((path.to_owned(), format))
}

/// A file of budgets, with the line of each leaf.
struct BudgetFile {
    path: PathBuf,
    budgets: Budgets,
    lines: Vec<(Vec<String>, usize)>,
}

impl BudgetFile {
    fn read(path: &Path) -> Result<BudgetFile, Failure> {
        let text = args::read(path)?;
        let at = |line: usize, message: &str| Failure::usage(format!("{}:{line}: {message}", path.display()));
        let line_of = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
        let table = DeTable::parse(&text)
            .map_err(|error| at(error.span().map_or(1, |span| line_of(span.start)), error.message()))?;
        let mut leaves: Vec<(usize, Leaf)> = Vec::new();
        collect(table.get_ref(), &mut Vec::new(), &mut leaves);
        leaves.sort_by_key(|leaf| leaf.0);
        let lines: Vec<(Vec<String>, usize)> =
            leaves.iter().map(|(offset, leaf)| (leaf.0.clone(), line_of(*offset))).collect();
        let file = |budgets| BudgetFile { path: path.to_owned(), budgets, lines };
        let budgets = Budgets::new(leaves.into_iter().map(|leaf| leaf.1));
        match budgets {
            Ok(budgets) if budgets.is_empty() => Err(at(1, "there are no budgets in this file")),
            Ok(budgets) => Ok(file(budgets)),
            Err(wrong) => Err(file(Budgets::default()).failure(&wrong)),
        }
    }

    /// The line of the first leaf below these keys.
    fn line(&self, path: &[String]) -> usize {
        self.lines.iter().find(|line| line.0.starts_with(path)).map_or(1, |line| line.1)
    }

    fn failure(&self, wrong: &Wrong) -> Failure {
        Failure::usage(format!("{}:{}: {wrong}", self.path.display(), self.line(&wrong.path)))
    }
}

/// Collects the values of a table with their positions. A table without values is one with no value.
fn collect(table: &DeTable<'_>, path: &mut Vec<String>, leaves: &mut Vec<(usize, Leaf)>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => collect(inner, path, leaves),
            _ => leaves.push((key.span().start, (path.clone(), json(value)))),
        }
        path.pop();
    }
}

fn json(value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => {
            number.as_str().parse::<i64>().map_or(number.as_str().into(), Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(number.as_str().into(), Value::from),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(json).collect(),
        DeValue::Table(_) => Value::Null,
    }
}

/// Reads traces, and reduces each before the next one is read.
fn subjects(paths: &[PathBuf], files: &Files, code: &mut u8) -> Result<Vec<Subject>, Failure> {
    let sources = sources(paths)?;
    let several = sources.len() > 1;
    let mut subjects = Vec::new();
    for source in &sources {
        let Some(trace) = read_or_report(source, &files.reading, code) else { continue };
        subjects.push(Subject::from_trace(&trace, &if several { source.path() } else { source.name() }));
    }
    Ok(subjects)
}

fn init(files: &Files) -> Result<u8, Failure> {
    let mut code = 0;
    let subjects = subjects(&files.traces, files, &mut code)?;
    if subjects.is_empty() {
        return Err(Failure::usage("no trace could be read"));
    }
    if let Some(partial) = subjects.iter().find(|subject| subject.is_partial()) {
        let why = "a part could not be read, so it cannot be measured";
        return Err(Failure::usage(format!("{}: {why}", partial.source())));
    }
    if let Some(empty) = subjects.iter().find(|subject| !subject.has_events()) {
        return Err(Failure::usage(format!(
            "{}: the trace has no events, so it cannot be measured",
            empty.source()
        )));
    }
    print(&starting_point(&subjects), files.output.as_deref())?;
    Ok(code)
}

fn check_budgets(files: &Files, base: &[PathBuf], format: Format, outputs: &Outputs) -> Result<u8, Failure> {
    let (budget, traces) = files.traces.split_first().ok_or_else(|| Failure::usage("no file of budgets"))?;
    let budget = BudgetFile::read(budget)?;
    if traces.is_empty() {
        return Err(Failure::usage("no trace given after the file of budgets"));
    }
    if budget.budgets.need_base() && base.is_empty() {
        return Err(Failure::usage("the file of budgets has limits on changes: name traces with --base"));
    }
    let mut code = 0;
    let base = subjects(base, files, &mut code)?;
    let mut checked: Vec<Checked> = Vec::new();
    let subjects = subjects(traces, files, &mut code)?;
    for subject in &subjects {
        checked.push(budget.budgets.check(subject, &base).map_err(|wrong| budget.failure(&wrong))?);
    }
    if checked.is_empty() {
        return Err(Failure::usage("no trace could be read"));
    }
    let of = |path, format| (text(&checked, &budget, format, terminal::width(path)), path);
    let reports = outputs.reports.iter().map(|(path, format)| of(Some(path.as_path()), *format));
    let texts: Vec<_> = reports.chain([of(files.output.as_deref(), format)]).collect();
    let texts: Vec<_> = texts.iter().map(|(text, path)| (text.as_str(), *path)).collect();
    print_all(&texts)?;
    if let Some(record) = &outputs.record {
        trend::record(record, &subjects)?;
    }
    Ok(code.max(outcome(&checked)))
}

/// The exit code of the limits. A trace that cannot decide one does not pass.
fn outcome(checked: &[Checked]) -> u8 {
    match Checked::outcome(checked) {
        Outcome::Pass => 0,
        Outcome::Breach => CHECK_FAILED,
        Outcome::Unfit => {
            report("a limit cannot be decided: see its row");
            UNFIT
        }
    }
}

fn text(checked: &[Checked], budget: &BudgetFile, format: Format, width: Option<usize>) -> String {
    let mut text = String::new();
    match format {
        Format::Json => text = document::budgets(checked),
        Format::Csv | Format::ExactCsv => add_csv(&mut text, "", budget::rows(checked), format, false),
        Format::Md => text = markdown(checked),
        Format::Table => text = budget::rows(checked).to_text_fitting(width),
        Format::Junit => text = junit(checked),
        Format::Sarif => text = sarif(checked, &budget.path.display().to_string(), &|path| budget.line(path)),
    }
    text
}
