//! The call sites of `tracing` as call sites of the recorder.

use crate::hot::local::unrecorded;
use crate::hot::registry::{Site, registry};
#[cfg(unix)]
use crate::output::fork;
use kinetoscope_stream::record::{SpanKind, key};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use tracing_core::Metadata;
use tracing_core::callsite::Identifier;
use tracing_core::field::Field;

/// A call site of `tracing`.
pub(super) struct Callsite {
    pub(super) site: Site,
    /// The numbers of its fields' names in the registry.
    keys: Vec<u32>,
    /// Whether its events are records of the crate `log`, whose target is a field.
    pub(super) is_of_log: bool,
}

impl Callsite {
    pub(super) fn key(&self, field: &Field) -> u32 {
        self.keys.get(field.index()).copied().unwrap_or(key::VALUE)
    }
}

static CALLSITES: RwLock<Option<HashMap<Identifier, &'static Callsite>>> = RwLock::new(None);

/// Keeps the list of call sites consistent in a child that is forked while another thread adds one.
#[cfg(unix)]
pub(super) fn register_lock() {
    fork::register_lock(|| Box::new(CALLSITES.write().unwrap_or_else(PoisonError::into_inner)));
}

pub(super) fn callsite(metadata: &'static Metadata<'static>) -> &'static Callsite {
    let id = metadata.callsite();
    let known = CALLSITES.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().and_then(|known| known.get(&id)) {
        return known;
    }
    drop(known);
    unrecorded(|| {
        let is_event = metadata.is_event();
        let is_of_log = is_event && metadata.target() == "log" && metadata.name() == "log event";
        let key = |field: Field| match field.name() {
            "message" if is_event => key::NAME,
            "log.target" if is_of_log => key::TARGET,
            name => registry().name(name),
        };
        let keys = metadata.fields().iter().map(key).collect();
        let (file, line) = (metadata.file().unwrap_or(""), metadata.line().unwrap_or(0));
        let kind = if metadata.is_span() { SpanKind::Op } else { SpanKind::Other };
        let site = Site::new(metadata.name(), kind, file, line).with_level(metadata.level().as_str());
        let made = Callsite { site, keys, is_of_log };
        let mut callsites = CALLSITES.write().unwrap_or_else(PoisonError::into_inner);
        // Leaked: call sites are static, and their number is limited by the program's source.
        *callsites.get_or_insert_default().entry(id).or_insert_with(|| Box::leak(Box::new(made)))
    })
}
