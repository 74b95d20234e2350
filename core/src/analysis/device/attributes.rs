//! What the arguments of device work say: kinds of copies, annotations of CUDA graphs, limits of occupancy, priorities.

use crate::table::events::{Row, Table};
use crate::table::fields::Value;
use crate::table::layout::Place;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The kinds of memory by CUPTI's codes, as Kineto names them.
const MEMORY: [&str; 8] =
    ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"];

fn argument<'a>(table: &'a Table, row: Row, key: &str) -> Option<Value<'a>> {
    table.field_named(row, Place::Args, key)
}

fn text<'a>(table: &'a Table, row: Row, key: &str) -> Option<&'a str> {
    argument(table, row, key)?.as_str()
}

/// Returns the name of a copy or memset that has its kind in its arguments, such as `Memcpy HtoD (Pageable -> Device)`.
pub(crate) fn copy_name(table: &Table, row: Row) -> Option<String> {
    match table.name(row) {
        "Memcpy" => {
            let memory = |key| text(table, row, key).map(capitalized);
            let kind = text(table, row, "copy kind")?;
            Some(match (memory("src kind"), memory("dst kind")) {
                (Some(from), Some(to)) => format!("Memcpy {kind} ({from} -> {to})"),
                _ => format!("Memcpy {kind}"),
            })
        }
        "Memset" => {
            let code = argument(table, row, "memory kind")?.as_i64()?;
            Some(format!("Memset ({})", MEMORY.get(usize::try_from(code).ok()?)?))
        }
        _ => None,
    }
}

/// `device static` as `Device Static`.
fn capitalized(kind: &str) -> String {
    let same = MEMORY.iter().find(|name| name.eq_ignore_ascii_case(kind));
    same.map_or(kind, |name| name).to_owned()
}

/// Returns the annotation that a program gave the node of a CUDA graph: names from the outermost to the innermost.
pub(crate) fn annotation(table: &Table, row: Row) -> Option<String> {
    argument(table, row, "graph node id")?;
    let Some(annotation) = text(table, row, "annotation") else {
        return text(table, row, "name").map(ToOwned::to_owned);
    };
    let Ok(serde_json::Value::Array(scopes)) = serde_json::from_str(annotation) else {
        return Some(annotation.to_owned());
    };
    let names: Vec<&str> = scopes.iter().filter_map(|scope| scope.get("name")?.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" / "))
}

/// Returns what limits the occupancy of a kernel: `WARPS`, `REGS`, `SMEM`, `BLOCKS` or `BARRIERS`, or several with `|`.
pub(crate) fn occupancy_limit(table: &Table, row: Row) -> Option<String> {
    let occupancy: serde_json::Value =
        serde_json::from_str(argument(table, row, "occupancy")?.as_json()?).ok()?;
    let limits = occupancy.get("limitingFactors")?.as_str()?;
    (limits != "none").then(|| limits.to_owned())
}
