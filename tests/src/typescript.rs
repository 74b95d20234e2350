//! Generates the TypeScript of the npm package from the engine's lists: options, rows and methods of every query.

use kinetoscope_core::analysis::overview::preview;
use kinetoscope_core::analysis::query::options::{Opt, camel_case};
use kinetoscope_core::analysis::query::value::ValueKind;
use kinetoscope_core::analysis::timeline::spans::Relation;
use kinetoscope_core::base::diagnostics::{Code, Severity};
use kinetoscope_core::base::error::ErrorCode;
use kinetoscope_core::base::rows::{CellType, Column, Kinds, Record, Shape};
use kinetoscope_core::base::words::Vocabulary;
use kinetoscope_core::outline;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, QUERIES, Query};
use kinetoscope_core::runs::budget;
use kinetoscope_core::runs::history::trend;
use std::fmt::Write;

const HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's lists of queries and exports.

/** How many frames of the stack a group is made by. */
export type StackGroup = `stack:${number}`;

/** A Unix time in ns as text, for `BigInt`: a number would lose digits, and JSON has no `BigInt`. */
export type UnixNs = `${bigint}`;
";

/// The maximum width of a line of words.
const WIDTH: usize = 100;

const COLUMNS_HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's list of queries.

import type { DiffRow, OutlineRow, Queries, TrendRow } from \"./queries.js\";

/** What the values of a column are: durations and times in ns, sizes in bytes, shares of 1, …. */
export type ColumnKind =
  | \"ns\"
  | \"unix_ns\"
  | \"bytes\"
  | \"int\"
  | \"amount\"
  | \"rate\"
  | \"float\"
  | \"share\"
  | \"bool\"
  | \"text\"
  | \"json\";

/** A column of an answer. */
export interface Column<Key extends string = string> {
  readonly key: Key;
  /** The title in a table; empty for a column that only JSON and CSV have. */
  readonly title: string;
  readonly kind: ColumnKind;
  /** One sentence that explains the value. */
  readonly about: string;
}

/** The keys of rows; of rows of several kinds, those of all kinds. */
type KeyOf<Row> = Row extends unknown ? keyof Row & string : never;

/** The columns of every analysis, in their order. */
export const COLUMNS: { readonly [V in keyof Queries]: readonly Column<KeyOf<Queries[V][\"row\"]>>[] } = {
";

/// Returns the text of `wasm/js/src/generated/queries.ts`.
pub fn queries_ts() -> String {
    let mut out = HEAD.to_owned();
    for vocabulary in vocabularies() {
        vocabulary_type(&mut out, vocabulary);
    }
    for record in records() {
        interface(&mut out, record.name, record.members, None);
    }
    row(&mut out, "The numbers of a trace that is still being read.", "PreviewSummary", preview::COLUMNS);
    row(&mut out, "A limit that was checked.", "BudgetRow", budget::COLUMNS);
    rows_of_kinds(
        &mut out,
        "A change of a metric, or a metric over all runs of a history",
        "Trend",
        &trend::KINDS,
    );
    row(&mut out, "A run of a history.", "TrendRun", trend::RUN_COLUMNS);
    row(&mut out, "The total of some events of a trace.", "OutlineRow", outline::COLUMNS);
    row(&mut out, "A track of an outline.", "OutlineTrack", outline::TRACK_COLUMNS);
    for query in QUERIES.iter().chain(COMPARISONS) {
        options(
            &mut out,
            &format!("Options of `{}`.", query.name),
            &pascal_case(method_name(query.name)),
            query.options,
        );
        rows(&mut out, query);
    }
    for export in EXPORTS {
        options(
            &mut out,
            &format!("Options of the export `{}`.", export.name),
            &export_name(export.name),
            export.options,
        );
    }
    answers(&mut out);
    table(&mut out);
    out
}

/// Returns the text of `wasm/js/src/generated/columns.ts`.
pub fn columns_ts() -> String {
    let mut out = COLUMNS_HEAD.to_owned();
    for query in QUERIES {
        let _ = writeln!(out, "  {}: [", key(query.name));
        columns(&mut out, "    ", &query.columns());
        out.push_str("  ],\n");
    }
    out.push_str("};\n\n/** The columns of `diff`, in their order. */\n");
    out.push_str("export const DIFF_COLUMNS: readonly Column<KeyOf<DiffRow>>[] = [\n");
    columns(&mut out, "  ", &COMPARISONS[0].columns());
    out.push_str("];\n\n/** The columns of `trend`, in their order. */\n");
    out.push_str("export const TREND_COLUMNS: readonly Column<KeyOf<TrendRow>>[] = [\n");
    columns(&mut out, "  ", &trend::KINDS.columns());
    out.push_str("];\n\n/** The columns of an outline, in their order. */\n");
    out.push_str("export const OUTLINE_COLUMNS: readonly Column<KeyOf<OutlineRow>>[] = [\n");
    columns(&mut out, "  ", outline::COLUMNS);
    out.push_str("];\n\nexport * from \"./tables.js\";\nexport * from \"./words.js\";\n");
    out
}

fn columns(out: &mut String, indent: &str, columns: &[Column]) {
    for Column { key, title, kind, about, .. } in columns {
        let kind = kind_name(*kind);
        let _ = writeln!(
            out,
            "{indent}{{ key: \"{key}\", title: {title:?}, kind: \"{kind}\", about: {about:?} }},"
        );
    }
}

/// Returns the columns of every answer.
fn all_columns() -> impl Iterator<Item = Column> {
    let queries = QUERIES.iter().chain(COMPARISONS);
    let others =
        preview::COLUMNS.iter().chain(budget::COLUMNS).chain(outline::COLUMNS).chain(outline::TRACK_COLUMNS);
    queries
        .flat_map(|query| query.columns().into_owned())
        .chain(trend::KINDS.columns())
        .chain(others.copied())
}

/// Returns the objects in the cells of every answer, each before the objects that it contains.
fn records() -> Vec<&'static Record> {
    fn add(found: &mut Vec<&'static Record>, column: &Column) {
        if let CellType::Json(Shape::Record(record) | Shape::Records(record)) = column.kind
            && !found.contains(&record)
        {
            found.push(record);
            record.members.iter().for_each(|member| add(found, member));
        }
    }
    let mut found = Vec::new();
    all_columns().for_each(|column| add(&mut found, &column));
    found
}

/// Returns the closed vocabularies of every answer, and those that the package uses elsewhere.
fn vocabularies() -> Vec<Vocabulary> {
    let mut found = vec![ErrorCode::VOCABULARY, Code::VOCABULARY, Severity::VOCABULARY, Relation::VOCABULARY];
    let members = records().into_iter().flat_map(|record| record.members).copied();
    for column in all_columns().chain(members) {
        if let CellType::Word(vocabulary) = column.kind
            && !found.contains(vocabulary)
        {
            found.push(*vocabulary);
        }
    }
    found
}

fn vocabulary_type(out: &mut String, Vocabulary { name, words, .. }: Vocabulary) {
    let _ = write!(out, "\nexport type {name} =");
    let mut width = WIDTH;
    for word in words {
        let separator = if width + word.len() + 5 > WIDTH {
            width = 0;
            "\n  | "
        } else {
            " | "
        };
        let _ = write!(out, "{separator}\"{word}\"");
        width += word.len() + 5;
    }
    out.push_str(";\n");
}

fn kind_name(kind: CellType) -> &'static str {
    match kind {
        CellType::Ns => "ns",
        CellType::UnixNs => "unix_ns",
        CellType::Bytes => "bytes",
        CellType::Int => "int",
        CellType::Amount => "amount",
        CellType::Rate => "rate",
        CellType::Float => "float",
        CellType::Share => "share",
        CellType::Bool => "bool",
        CellType::Text | CellType::Word(_) => "text",
        CellType::Json(_) | CellType::Any => "json",
    }
}

fn pascal_case(name: &str) -> String {
    let camel = camel_case(name);
    camel[..1].to_uppercase() + &camel[1..]
}

/// Returns a name as the key of an object, quoted if necessary.
fn key(name: &str) -> String {
    if name.contains('-') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The name of a query's method and of its types. `check` is the function that checks budgets; the query is about the quality of the data.
fn method_name(query: &str) -> &str {
    if query == "check" { "data-quality" } else { query }
}

fn export_name(name: &str) -> String {
    format!("Export{}", pascal_case(name))
}

fn doc(out: &mut String, indent: &str, text: &str) {
    let _ = writeln!(out, "{indent}/** {text}{} */", if text.ends_with(['.', ']']) { "" } else { "." });
}

fn options(out: &mut String, about: &str, name: &str, options: &[Opt]) {
    out.push('\n');
    doc(out, "", about);
    let _ = writeln!(out, "export interface {name}Options {{");
    for option in options {
        let unit = match option.kind {
            ValueKind::Duration | ValueKind::Times => "; numbers are in ns",
            _ => "",
        };
        doc(out, "  ", &format!("{}{unit}", option.help()));
        let _ = writeln!(out, "  {}?: {} | undefined;", camel_case(option.name), option_type(option.kind));
        if option.name == "row-limit" && is_of_trace(name) {
            doc(out, "  ", "Number of rows to leave out before those; not of a table");
            out.push_str("  offset?: number | undefined;\n");
        }
    }
    out.push_str("}\n");
}

/// Whether these are the options of a query about one trace, whose rows the package returns in parts.
fn is_of_trace(name: &str) -> bool {
    QUERIES.iter().any(|query| pascal_case(method_name(query.name)) == name && query.name != "ranks")
}

fn words(words: &[&str]) -> String {
    words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" | ")
}

fn option_type(kind: ValueKind) -> String {
    match kind {
        ValueKind::Nothing => "boolean".to_owned(),
        ValueKind::Count | ValueKind::Percent => "number".to_owned(),
        ValueKind::Text | ValueKind::File => "string".to_owned(),
        ValueKind::Word(list) => words(list.words),
        ValueKind::Attribute(list) => {
            format!(
                "{} | `${{\"\" | \"self_\"}}${{\"cuda\" | \"xpu\" | \"privateuse1\"}}_time_total`",
                words(list.words)
            )
        }
        ValueKind::Width => "number | null".to_owned(),
        ValueKind::Groups => "readonly (\"shape\" | \"overload\" | \"module\" | StackGroup)[]".to_owned(),
        ValueKind::Duration => "number | string".to_owned(),
        ValueKind::Times => "readonly [startNs: number, endNs: number] | string".to_owned(),
        ValueKind::Range => "number | readonly [first: number, last: number] | string".to_owned(),
        ValueKind::Texts => "readonly string[]".to_owned(),
        ValueKind::Numbers => "readonly number[]".to_owned(),
    }
}

fn shape_type(shape: Shape) -> String {
    match shape {
        Shape::Texts => "string[]".to_owned(),
        Shape::Numbers => "number[]".to_owned(),
        Shape::Values => "unknown[] | null".to_owned(),
        Shape::Any => "unknown".to_owned(),
        Shape::Object => "Record<string, unknown> | null".to_owned(),
        Shape::Record(record) => record.name.to_owned(),
        Shape::Records(record) => format!("{}[]", record.name),
    }
}

/// Returns the type of a column's values.
fn member_type(column: &Column) -> String {
    let plain = match column.kind {
        CellType::Ns
        | CellType::Bytes
        | CellType::Int
        | CellType::Amount
        | CellType::Rate
        | CellType::Float
        | CellType::Share => "number".to_owned(),
        CellType::UnixNs => "UnixNs".to_owned(),
        CellType::Bool => "boolean".to_owned(),
        CellType::Text => "string".to_owned(),
        CellType::Word(vocabulary) => vocabulary.name.to_owned(),
        CellType::Json(shape) => shape_type(shape),
        CellType::Any => "unknown".to_owned(),
    };
    if column.optional { format!("{plain} | null") } else { plain }
}

/// Writes the type of an object with these members, and of rows with the words of their kind.
fn interface(out: &mut String, name: &str, columns: &[Column], kinds: Option<&[&str]>) {
    if !out.ends_with("*/\n") {
        out.push('\n');
    }
    let _ = writeln!(out, "export interface {name} {{");
    if let Some(kinds) = kinds {
        let _ = writeln!(out, "  kind: {};", words(kinds));
    }
    for column in columns {
        doc(out, "  ", column.about);
        let _ = writeln!(out, "  {}: {};", column.key, member_type(column));
    }
    out.push_str("}\n");
}

fn row(out: &mut String, about: &str, name: &str, columns: &[Column]) {
    out.push('\n');
    doc(out, "", about);
    interface(out, name, columns, None);
}

/// Writes the rows of a query: one type, or one for each kind and their union.
fn rows(out: &mut String, query: &Query) {
    let name = pascal_case(method_name(query.name));
    let about = format!("A row of `{}`", query.name);
    match query.kinds {
        Some(kinds) => rows_of_kinds(out, &about, &name, kinds),
        None => row(out, &about, &format!("{name}Row"), &query.columns()),
    }
}

fn rows_of_kinds(out: &mut String, about: &str, name: &str, kinds: &Kinds) {
    for variant in kinds.variants {
        out.push('\n');
        doc(out, "", &format!("{about}; of the kind {}", variant.kinds.join(", ")));
        interface(out, &format!("{name}{}Row", variant.name), variant.columns, Some(variant.kinds));
    }
    out.push('\n');
    doc(out, "", &format!("{about}; `kind` determines which columns it has"));
    let names = kinds.variants.iter().map(|variant| format!("{name}{}Row", variant.name));
    let _ = writeln!(out, "export type {name}Row = {};", names.collect::<Vec<_>>().join(" | "));
}

/// Writes the interface with a method for every query.
fn answers(out: &mut String) {
    out.push_str("\n/** Every analysis; the same as on the command line. */\nexport interface Answers {\n");
    for query in QUERIES {
        doc(out, "  ", query.about);
        let name = pascal_case(method_name(query.name));
        let many = if query.is_one_row { "" } else { "[]" };
        let _ = writeln!(
            out,
            "  {}(options?: {name}Options): {name}Row{many};",
            camel_case(method_name(query.name))
        );
    }
    out.push_str("}\n");
}

/// Writes the options and rows of each query and export, by name, and the lists of their names as values.
fn table(out: &mut String) {
    out.push_str("\n/** Options and rows of every query. */\nexport interface Queries {\n");
    for query in QUERIES {
        let name = pascal_case(method_name(query.name));
        let _ = writeln!(out, "  {}: {{ options: {name}Options; row: {name}Row }};", key(query.name));
    }
    out.push_str("}\n\n/** Options of every export. */\nexport interface Exports {\n");
    for export in EXPORTS {
        let _ = writeln!(out, "  {}: {}Options;", key(export.name), export_name(export.name));
    }
    out.push_str("}\n\n/** Whether each query answers with one row rather than with a list. */\n");
    out.push_str("export const QUERIES: { readonly [V in keyof Queries]: boolean } = {\n");
    for query in QUERIES {
        let _ = writeln!(out, "  {}: {},", key(query.name), query.is_one_row);
    }
    out.push_str("};\n\n/** The media type of every export. */\n");
    out.push_str("export const EXPORTS: { readonly [E in keyof Exports]: string } = {\n");
    for export in EXPORTS {
        let _ = writeln!(out, "  {}: \"{}\",", key(export.name), export.media_type);
    }
    out.push_str("};\n");
}
