//! The TypeScript of the npm package that follows from the engine's lists: options, rows and methods of every verb.

use kinetoscope_core::analysis::overview::{early, summary};
use kinetoscope_core::diagnostics::Code;
use kinetoscope_core::report::table_options::SortBy;
use kinetoscope_core::rows::{CellType, Column};
use kinetoscope_core::verbs::options::{Opt, Takes, camel_case};
use kinetoscope_core::verbs::{EXPORTS, VERBS};
use std::fmt::Write;

const HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test typescript` from the engine's lists of verbs and exports.

/** How many frames of the stack a group is made by. */
export type StackGroup = `stack:${number}`;
";

const COLUMNS_HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test typescript` from the engine's list of verbs.

import type { Verbs } from \"./verbs.js\";

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

/** The columns of every analysis, in their order. */
export const COLUMNS: { readonly [V in keyof Verbs]: readonly Column<keyof Verbs[V][\"row\"] & string>[] } = {
";

/// The text of `wasm/js/src/verbs.ts`.
pub fn verbs_ts() -> String {
    let mut out = HEAD.to_owned();
    for (name, members) in summary::SHAPES.iter().chain(early::SHAPES) {
        let _ = writeln!(out, "\nexport interface {name} {{");
        for member in members.split("; ") {
            let _ = writeln!(out, "  {member};");
        }
        out.push_str("}\n");
    }
    row(&mut out, "The numbers of a trace that is still being read.", "EarlySummary", early::COLUMNS);
    for verb in VERBS {
        options(&mut out, &format!("Options of `{}`.", verb.name), &pascal_case(verb.name), verb.options);
        let about = format!("A row of `{}`.", verb.name);
        row(&mut out, &about, &format!("{}Row", pascal_case(verb.name)), verb.columns);
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
    codes(&mut out);
    out
}

/// The text of `wasm/js/src/columns.ts`.
pub fn columns_ts() -> String {
    let mut out = COLUMNS_HEAD.to_owned();
    for verb in VERBS {
        let _ = writeln!(out, "  {}: [", key(verb.name));
        for Column { key, title, kind, about, .. } in verb.columns {
            let kind = kind_name(*kind);
            let _ = writeln!(
                out,
                "    {{ key: \"{key}\", title: {title:?}, kind: \"{kind}\", about: {about:?} }},"
            );
        }
        out.push_str("  ],\n");
    }
    out.push_str("};\n");
    out
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
        CellType::Text => "text",
        CellType::Json(_) | CellType::Any => "json",
    }
}

fn pascal_case(name: &str) -> String {
    let camel = camel_case(name);
    camel[..1].to_uppercase() + &camel[1..]
}

/// A name as the key of an object.
fn key(name: &str) -> String {
    if name.contains('-') { format!("\"{name}\"") } else { name.to_owned() }
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
        doc(out, "  ", &option.help());
        let _ = writeln!(out, "  {}?: {} | undefined;", camel_case(option.name), option_type(option.takes));
    }
    out.push_str("}\n");
}

fn words(words: &[&str]) -> String {
    words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" | ")
}

fn option_type(takes: Takes) -> String {
    match takes {
        Takes::Nothing => "boolean".to_owned(),
        Takes::Count | Takes::Percent => "number".to_owned(),
        Takes::Text | Takes::File => "string".to_owned(),
        Takes::Word(list) => words(list.words),
        Takes::SortBy => {
            format!(
                "{} | `${{\"\" | \"self_\"}}${{\"cuda\" | \"xpu\" | \"privateuse1\"}}_time_total`",
                words(SortBy::VOCABULARY.words)
            )
        }
        Takes::Width => "number | null".to_owned(),
        Takes::Groups => "readonly (\"shape\" | \"overload\" | \"module\" | StackGroup)[]".to_owned(),
        Takes::Duration => "number | string".to_owned(),
        Takes::Times => "readonly [startNs: number, endNs: number] | string".to_owned(),
        Takes::Range => "number | readonly [first: number, last: number] | string".to_owned(),
        Takes::Texts => "readonly string[]".to_owned(),
        Takes::Numbers => "readonly number[]".to_owned(),
    }
}

fn row(out: &mut String, about: &str, name: &str, columns: &[Column]) {
    out.push('\n');
    doc(out, "", about);
    let _ = writeln!(out, "export interface {name} {{");
    for column in columns {
        doc(out, "  ", column.about);
        let kind = match column.kind {
            CellType::Ns
            | CellType::Bytes
            | CellType::Int
            | CellType::Amount
            | CellType::Rate
            | CellType::Float
            | CellType::Share => "number",
            CellType::UnixNs => "bigint",
            CellType::Bool => "boolean",
            CellType::Text => "string",
            CellType::Json(shape) => shape,
            CellType::Any => "unknown",
        };
        let _ = writeln!(out, "  {}: {kind}{};", column.key, if column.optional { " | null" } else { "" });
    }
    out.push_str("}\n");
}

/// The interface of all verbs, as methods.
fn answers(out: &mut String) {
    out.push_str("\n/** Every analysis, as the command line has it. */\nexport interface Answers {\n");
    for verb in VERBS {
        doc(out, "  ", verb.about);
        let name = pascal_case(verb.name);
        let many = if verb.is_one_row { "" } else { "[]" };
        let _ = writeln!(out, "  {}(options?: {name}Options): {name}Row{many};", camel_case(verb.name));
    }
    out.push_str("}\n");
}

/// What each verb and export takes and gives, by name, and the same as values.
fn table(out: &mut String) {
    out.push_str("\n/** Options and rows of every verb. */\nexport interface Verbs {\n");
    for verb in VERBS {
        let name = pascal_case(verb.name);
        let _ = writeln!(out, "  {}: {{ options: {name}Options; row: {name}Row }};", key(verb.name));
    }
    out.push_str("}\n\n/** Options of every export. */\nexport interface Exports {\n");
    for export in EXPORTS {
        let _ = writeln!(out, "  {}: {}Options;", key(export.name), export_name(export.name));
    }
    out.push_str("}\n\n/** Whether each verb answers with one row rather than with a list. */\n");
    out.push_str("export const VERBS: { readonly [V in keyof Verbs]: boolean } = {\n");
    for verb in VERBS {
        let _ = writeln!(out, "  {}: {},", key(verb.name), verb.is_one_row);
    }
    out.push_str("};\n\n/** The media type of every export. */\n");
    out.push_str("export const EXPORTS: { readonly [E in keyof Exports]: string } = {\n");
    for export in EXPORTS {
        let _ = writeln!(out, "  {}: \"{}\",", key(export.name), export.media_type);
    }
    out.push_str("};\n");
}

fn codes(out: &mut String) {
    out.push_str("\n/** What kind of oddity was met. */\nexport type DiagnosticCode =\n");
    for (at, code) in Code::ALL.iter().enumerate() {
        let end = if at + 1 == Code::ALL.len() { ";" } else { "" };
        let _ = writeln!(out, "  | \"{}\"{end}", code.as_str());
    }
}
