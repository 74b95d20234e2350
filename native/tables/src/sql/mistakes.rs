//! Explains why a query was refused, with the names that resemble an unknown one.

use super::views::VIEWS;
use crate::error::Error;
use datafusion::common::{DataFusionError, SchemaError, TableReference};
use kinetoscope_core::queries::schema::Schema;
use strsim::levenshtein;

/// Returns the reason in one line.
pub(super) fn explain(error: &DataFusionError, names: &[String]) -> Error {
    let message = match error.find_root() {
        DataFusionError::SchemaError(schema, _) => match &**schema {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let valid: Vec<String> = valid_fields.iter().map(|column| column.name.clone()).collect();
                let is_there = |relation: &TableReference| {
                    valid_fields
                        .iter()
                        .filter_map(|column| column.relation.as_ref())
                        .any(|known| known == relation)
                };
                match &field.relation {
                    Some(relation) if !is_there(relation) => {
                        format!("the query has no table {:?}", relation.table())
                    }
                    _ => format!("there is no column {:?}{}", field.name, suggestion(&field.name, &valid)),
                }
            }
            other => other.to_string(),
        },
        DataFusionError::Plan(message) => match unknown_table(error) {
            Some(table) if is_known(table) => {
                format!(
                    "there is no table {table:?}: the data set was exported without it, or without a table that it needs"
                )
            }
            Some(table) => format!("there is no table {table:?}{}", suggestion(table, names)),
            None if OF_TRACES.iter().any(|name| message.contains(&format!("'{name}'"))) => {
                format!("{}: functions about events need traces, not a data set", first_sentence(message))
            }
            None => without_signatures(message),
        },
        DataFusionError::SQL(error, _) => error.to_string(),
        DataFusionError::ResourcesExhausted(message) => {
            format!("the query needs more memory than it was given: {message}")
        }
        other => other.strip_backtrace(),
    };
    Error::Query(message.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The functions that a data set does not have.
const OF_TRACES: [&str; 3] = ["ancestors", "launch_of", "step_of"];

fn is_known(table: &str) -> bool {
    Schema::named(table).is_some() || VIEWS.iter().any(|view| view.0 == table)
}

/// Leaves out why each signature of a function does not match.
fn without_signatures(message: &str) -> String {
    match message.split_once("No function matches") {
        Some((_, rest)) => format!("no function matches{}", first_sentence(rest)),
        None => message.to_owned(),
    }
}

fn first_sentence(message: &str) -> &str {
    message.split(['.', '\n']).next().unwrap_or(message)
}

/// The table in a message such as `table 'datafusion.public.evnts' not found`.
pub(super) fn unknown_table(error: &DataFusionError) -> Option<&str> {
    let DataFusionError::Plan(message) = error.find_root() else { return None };
    message.strip_prefix("table '")?.strip_suffix("' not found")?.rsplit('.').next()
}

/// Returns the names that are nearest to one, as a question; empty if none is near.
fn suggestion(name: &str, names: &[String]) -> String {
    let limit = name.chars().count().div_ceil(3).max(2);
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|known| (levenshtein(&name.to_lowercase(), &known.to_lowercase()), known.as_str()))
        .filter(|&(distance, known)| distance <= limit || known.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<String> = near.iter().take(3).map(|(_, known)| format!("`{known}`")).collect();
    match near.as_slice() {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [most @ .., last] => format!("; did you mean {} or {last}?", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let names = ["dur_ns", "ts_ns", "name", "events"].map(str::to_owned);
        assert_eq!(suggestion("dur", &names), "; did you mean `dur_ns`?");
        assert_eq!(suggestion("duration_ns", &names), "");
        assert_eq!(suggestion("evnts", &names), "; did you mean `events`?");
        assert_eq!(suggestion("zzzzzz", &names), "");
    }
}
