//! What the counters of clocks, power and temperature say about a change of speed.

use super::measure::Measures;
use super::profile::is_clock;
use super::verdict::Factor;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The smallest change that is noted, as a share.
const SMALLEST: f64 = 0.02;

/// The smallest part of a common factor that a change of a clock explains, of their logarithms.
const EXPLAINS: f64 = 0.5;

/// A counter with its means on both sides.
struct Reading<'a> {
    name: &'a str,
    means: [f64; 2],
}

impl Reading<'_> {
    fn is_of_host(&self) -> bool {
        self.name.to_ascii_lowercase().contains("cpu")
    }

    /// The logarithm of the ratio of the second side to the first.
    fn log(&self) -> f64 {
        libm::log(self.means[1] / self.means[0])
    }

    fn text(&self) -> String {
        let [a, b] =
            self.means.map(|mean| if mean < 100.0 { format!("{mean:.1}") } else { format!("{mean:.0}") });
        format!("{}: {a} became {b}", self.name)
    }
}

/// The counters that both sides have.
fn readings(measures: &Measures) -> impl Iterator<Item = Reading<'_>> {
    measures.readings.entries().iter().filter_map(|(name, sides)| {
        let means = sides.map(|(sum, count)| sum as f64 / count as f64 / 1000.0);
        let is_known = sides.iter().all(|side| side.1 > 0) && means.iter().all(|&mean| mean > 0.0);
        is_known.then(|| Reading { name: measures.texts.get(*name), means })
    })
}

/// Returns a note about each counter that changed, without a period.
pub(super) fn notes(measures: &Measures) -> Vec<String> {
    readings(measures)
        .filter(|reading| reading.log().abs() >= SMALLEST)
        .map(|reading| reading.text())
        .collect()
}

/// Returns the clocks whose change explains the common factor of the host, or else of the devices.
pub(super) fn clocks(measures: &Measures, is_host: bool, factor: &Factor) -> Option<String> {
    if factor.log.abs() < SMALLEST {
        return None;
    }
    let explains = |reading: &Reading<'_>| {
        let log = -reading.log();
        is_clock(reading.name)
            && reading.is_of_host() == is_host
            && log * factor.log > 0.0
            && log.abs() >= factor.log.abs() * EXPLAINS
    };
    let texts: Vec<String> = readings(measures).filter(explains).map(|reading| reading.text()).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
