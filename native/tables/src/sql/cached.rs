//! A trace in memory, with the tables that were opened.

use crate::arrow::RankTrace;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::queries::schema::{Data, Schema, Source};
use self_cell::self_cell;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

type BoxedSource<'t> = Box<dyn Source + 't>;

self_cell!(
    /// A trace with what its tables have in common.
    struct Analysed {
        owner: Arc<RankTrace>,
        #[covariant]
        dependent: Analysis,
    }

    impl {Debug}
);

self_cell!(
    struct Opened {
        owner: Arc<Analysed>,
        #[covariant]
        dependent: BoxedSource,
    }
);

/// A table of a trace, opened for some columns.
pub(super) struct Open {
    schema: &'static Schema,
    columns: BTreeSet<usize>,
    opened: Opened,
}

impl Debug for Open {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.schema.name, self.columns)
    }
}

impl Open {
    pub(super) fn len(&self) -> usize {
        self.opened.borrow_dependent().len()
    }

    pub(super) fn read(&self, column: usize, rows: Range<usize>) -> Data<'_> {
        self.opened.borrow_dependent().read(column, rows)
    }
}

/// A trace with the tables that were opened.
#[derive(Debug)]
pub(super) struct Cached {
    pub(super) of: Arc<RankTrace>,
    analysed: Arc<Analysed>,
    opened: Mutex<Vec<Arc<Open>>>,
}

impl Cached {
    pub(super) fn new(of: RankTrace) -> Cached {
        let of = Arc::new(of);
        let analysed = Arc::new(Analysed::new(Arc::clone(&of), |of| Analysis::new(&of.trace)));
        Cached { of, analysed, opened: Mutex::new(Vec::new()) }
    }

    /// Returns a table for these columns. It is opened at most once for the same columns.
    pub(super) fn open(&self, schema: &'static Schema, columns: &BTreeSet<usize>) -> Arc<Open> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.iter().position(|open| open.schema.name == schema.name);
        let mut columns = columns.clone();
        if let Some(known) = known {
            if columns.is_subset(&opened[known].columns) {
                return Arc::clone(&opened[known]);
            }
            // Queries that follow each other use similar columns.
            columns.extend(&opened.swap_remove(known).columns);
        }
        let wanted: Vec<usize> = columns.iter().copied().collect();
        let source = Opened::new(Arc::clone(&self.analysed), |analysed| {
            schema.open(analysed.borrow_dependent(), Some(&wanted))
        });
        let open = Arc::new(Open { schema, columns, opened: source });
        opened.push(Arc::clone(&open));
        open
    }
}
