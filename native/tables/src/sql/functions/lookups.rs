//! Functions of an event: `ancestors`, `step_of` and `launch_of`. The event is given by its number, and with several traces by
//! run, rank and number.

use crate::sql::cached::Cached;
use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType, Field};
use datafusion::common::cast::{as_int64_array, as_string_array};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use kinetoscope_core::queries::schema::{Data, Schema};
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LookupKind {
    /// The spans around an event, from the innermost.
    Ancestors,
    /// The step of an event.
    Step,
    /// The call that launched device work.
    Launch,
}

impl LookupKind {
    fn name(self) -> &'static str {
        match self {
            LookupKind::Ancestors => "ancestors",
            LookupKind::Step => "step_of",
            LookupKind::Launch => "launch_of",
        }
    }

    /// The table, and its columns with the event and with what is looked up.
    fn place(self) -> (&'static str, [&'static str; 2]) {
        match self {
            LookupKind::Ancestors => ("events", ["event", "parent"]),
            LookupKind::Step => ("events", ["event", "step"]),
            LookupKind::Launch => ("launches", ["work", "call"]),
        }
    }
}

/// A lookup in the traces of a session.
pub(super) struct Lookup {
    kind: LookupKind,
    signature: Signature,
    traces: Arc<[Cached]>,
    /// By trace, what is found for each event.
    found: OnceLock<Vec<HashMap<i64, i64>>>,
}

/// Returns the three lookups.
pub(super) fn all(traces: &Arc<[Cached]>) -> [Lookup; 3] {
    let alone = TypeSignature::Exact(vec![DataType::Int64]);
    let of_rank = TypeSignature::Exact(vec![DataType::Utf8, DataType::Int64, DataType::Int64]);
    let signature = Signature::one_of(vec![alone, of_rank], Volatility::Immutable);
    [LookupKind::Ancestors, LookupKind::Step, LookupKind::Launch].map(|kind| Lookup {
        kind,
        signature: signature.clone(),
        traces: Arc::clone(traces),
        found: OnceLock::new(),
    })
}

impl Lookup {
    fn found(&self) -> &[HashMap<i64, i64>] {
        self.found.get_or_init(|| self.traces.iter().map(|trace| self.read(trace)).collect())
    }

    fn read(&self, trace: &Cached) -> HashMap<i64, i64> {
        let (table, names) = self.kind.place();
        let Some(schema) = Schema::named(table) else { return HashMap::new() };
        let columns = names.map(|name| schema.column(name).unwrap_or_default());
        let open = trace.open(schema, &BTreeSet::from(columns));
        match columns.map(|column| open.read(column, 0..open.len())) {
            [Data::Ints(events), Data::Ints(values)] => {
                events.into_iter().zip(values).filter_map(|(event, value)| Some((event?, value?))).collect()
            }
            _ => HashMap::new(),
        }
    }

    /// Returns the index of the trace of each row.
    fn traces(&self, args: &[ArrayRef], rows: usize) -> Result<Vec<Option<usize>>> {
        let [runs, ranks, _] = args else {
            if self.traces.len() > 1 {
                return exec_err!(
                    "{0} of several traces takes a run and a rank: {0}(run_id, rank, event)",
                    self.kind.name()
                );
            }
            return Ok(vec![Some(0); rows]);
        };
        let (runs, ranks) = (as_string_array(runs)?, as_int64_array(ranks)?);
        let places: HashMap<(&str, i64), usize> = self
            .traces
            .iter()
            .enumerate()
            .map(|(at, trace)| ((trace.of.run_id.as_str(), trace.of.rank), at))
            .collect();
        let place = |at: usize| {
            (runs.is_valid(at) && ranks.is_valid(at))
                .then(|| places.get(&(runs.value(at), ranks.value(at))).copied())
                .flatten()
        };
        Ok((0..rows).map(place).collect())
    }

    fn array(&self, events: &Int64Array, traces: &[Option<usize>]) -> ArrayRef {
        let found = self.found();
        let value = |at: usize| events.is_valid(at).then(|| events.value(at));
        let rows = traces.iter().enumerate().map(|(at, trace)| Some((&found[(*trace)?], value(at)?)));
        if self.kind != LookupKind::Ancestors {
            let values = rows.map(|row| row.and_then(|(found, event)| found.get(&event).copied()));
            return Arc::new(values.collect::<Int64Array>());
        }
        let mut lists = ListBuilder::new(Int64Builder::new());
        for row in rows {
            let Some((found, event)) = row else {
                lists.append(false);
                continue;
            };
            let mut ancestor = found.get(&event);
            while let Some(&parent) = ancestor {
                lists.values().append_value(parent);
                ancestor = found.get(&parent);
            }
            lists.append(true);
        }
        Arc::new(lists.finish())
    }
}

impl ScalarUDFImpl for Lookup {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        let item = Arc::new(Field::new_list_field(DataType::Int64, true));
        Ok(if self.kind == LookupKind::Ancestors { DataType::List(item) } else { DataType::Int64 })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let Some(events) = arrays.last() else { return exec_err!("{} takes an event", self.name()) };
        let traces = self.traces(&arrays, events.len())?;
        Ok(ColumnarValue::Array(self.array(as_int64_array(events)?, &traces)))
    }
}

impl Debug for Lookup {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())
    }
}

// A session has one function of each kind.
impl PartialEq for Lookup {
    fn eq(&self, other: &Lookup) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Lookup {}

impl Hash for Lookup {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}
