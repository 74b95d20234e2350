//! Generates the description of the schema in the npm package.

use kinetoscope_core::queries::schema::{self, FieldType, Schema};
use std::fmt::Write;

const HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's schema.

/** The type of a column of a table: a 64-bit integer, a number, a boolean, a text of which few are distinct, another text, texts by key. */
export type FieldType = \"int\" | \"float\" | \"bool\" | \"name\" | \"text\" | \"map\";

/** A column of a table of the schema. */
export interface Field {
  /** The name; its end is the unit: `_ns`, `_bytes`. */
  readonly name: string;
  readonly type: FieldType;
  /** Whether rows can be without a value. */
  readonly optional: boolean;
  /** One sentence that explains the value. */
  readonly about: string;
}

/** A table of the schema: what SQL is about. */
export interface TableInfo {
  /** What a row is. */
  readonly about: string;
  /** The columns by which the rows are sorted. */
  readonly sortedBy: readonly string[];
  /** The columns, after `run_id` and `rank`, which every table begins with. */
  readonly columns: readonly Field[];
}
";

/// Returns the text of `wasm/js/src/generated/tables.ts`.
pub fn tables_ts() -> String {
    let mut out = HEAD.to_owned();
    let names: Vec<String> = schema::TABLES.iter().map(|table| format!("{:?}", table.name)).collect();
    let _ = writeln!(out, "\n/** The name of a table. */\nexport type TableName = {};", names.join(" | "));
    let _ = writeln!(
        out,
        "\n/** The version of the schema. */\nexport const SCHEMA_VERSION = {};\n\n\
         /** The tables of the schema. */\nexport const TABLES: {{ readonly [T in TableName]: TableInfo }} = {{",
        schema::VERSION
    );
    for table in schema::TABLES {
        table_ts(&mut out, table);
    }
    out.push_str("};\n");
    out
}

fn table_ts(out: &mut String, table: &Schema) {
    let Schema { name, about, sorted_by, .. } = table;
    let _ =
        writeln!(out, "  {name}: {{\n    about: {about:?},\n    sortedBy: {sorted_by:?},\n    columns: [");
    for field in table.fields() {
        let kind = field_type(field.kind);
        let _ = writeln!(
            out,
            "      {{ name: {:?}, type: \"{kind}\", optional: {}, about: {:?} }},",
            field.name, field.optional, field.about
        );
    }
    out.push_str("    ],\n  },\n");
}

fn field_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Int => "int",
        FieldType::Float => "float",
        FieldType::Bool => "bool",
        FieldType::Name => "name",
        FieldType::Map => "map",
        _ => "text",
    }
}
