//! The collector for a build without the feature `cuda`: it cannot be created.

use crate::activity::unavailable::Unavailable;
use crate::json::Members;
use crate::options::Options;

/// A type without values.
pub(crate) enum Collector {}

impl Collector {
    pub(crate) fn start(_: &Options) -> Result<Collector, Unavailable> {
        Err(Unavailable::NotCompiled)
    }

    pub(crate) fn toggle(&mut self, _: bool) -> Result<(), Unavailable> {
        match *self {}
    }

    pub(crate) fn synchronize(&self) {
        match *self {}
    }

    pub(crate) fn flush(&self) {
        match *self {}
    }

    pub(crate) fn stop(&mut self) {
        match *self {}
    }

    pub(crate) fn take(&mut self) -> (&[u64], u64) {
        match *self {}
    }

    pub(crate) fn time(&self) -> Option<u64> {
        match *self {}
    }

    pub(crate) fn members(&self) -> Members {
        match *self {}
    }

    pub(crate) fn statistics(&self) -> Members {
        match *self {}
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        match *self {}
    }
}
