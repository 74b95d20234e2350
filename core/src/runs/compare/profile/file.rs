//! A profile as bytes: `KPRF`, the version, and the values in the order of [`Profile`].
//!
//! All integers are varints. Indexes and lengths are checked on reading, and times are clamped, so that a file that is
//! damaged is refused or compared without overflows.

use super::places::{Places, ProfileNode, ROOTS, Sample};
use super::{Facts, Peaks, Profile, ProfileStep, Readings, StepKind, Sum};
use crate::analysis::device::idle::Cause;
use crate::base::error::Error;
use crate::base::names::NameId;
use crate::base::varints::{Reader, Writer};
use crate::runs::compare::kinds::{DiffPart, RowKind};
use crate::runs::ranks::file::Summaries;
use crate::runs::ranks::phases::Phase;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The first bytes.
pub(crate) const MAGIC: &[u8; 4] = b"KPRF";

const VERSION: u64 = 5;

/// The longest time that is distinguished, in ns: about 39 hours.
const LONGEST: i64 = 1 << 47;

impl Profile {
    /// Returns the profile as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.unsigned(VERSION);
        out.text(&self.source);
        write_facts(&mut out, &self.facts);
        out.list(&self.steps, |out, step| {
            out.optional(step.number);
            out.signed(step.wall_ns);
        });
        out.list(&self.kinds, |out, kind| {
            out.text(&kind.phase);
            out.optional(kind.batch);
            out.optional(kind.tokens);
        });
        write_places(&mut out, &self.places);
        for step in &self.idle {
            for &ns in step {
                out.signed(ns);
            }
        }
        for step in &self.phases {
            for &ns in step {
                out.signed(ns);
            }
        }
        out.list(&self.memory, |out, peaks| {
            out.text(&peaks.device);
            out.signed(peaks.peak);
            for &peak in &peaks.of_steps {
                out.optional(peak);
            }
        });
        out.list(&self.readings, |out, readings| {
            out.text(&readings.name);
            for &mean in &readings.of_steps {
                out.optional(mean);
            }
        });
        write_sums(&mut out, &self.sums);
        let mut summaries = Summaries::default();
        self.summary.iter().for_each(|summary| summaries.push(summary));
        out.raw(&summaries.to_file());
        out.finish()
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the bytes are no profile, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Profile, Error> {
        let wrong = |what: &str| Error::BadOption(what.to_string());
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(wrong("this is no profile")) };
        let mut from = Reader::new(rest);
        match from.unsigned() {
            Some(VERSION) => read(&mut from).ok_or_else(|| wrong("the profile is damaged")),
            Some(_) => Err(wrong("the profile has another version: make it again from the trace")),
            None => Err(wrong("the profile is damaged")),
        }
    }
}

fn write_facts(out: &mut Writer, facts: &Facts) {
    out.text(&facts.producer);
    out.list(&facts.devices, |out, name| out.text(name));
    out.list(&facts.apart, |out, what| out.text(what));
    out.unsigned(facts.used_devices as u64);
    for flag in [facts.has_python, facts.has_shapes, facts.is_partial, facts.is_summary] {
        out.unsigned(u64::from(flag));
    }
    out.optional(facts.rank);
    out.optional(facts.world_size);
    out.text(facts.schema.as_deref().unwrap_or(""));
}

fn write_places(out: &mut Writer, places: &Places) {
    out.list(&places.texts, |out, text| out.text(text));
    out.list(&places.nodes, |out, node| {
        out.unsigned(u64::from(node.parent));
        out.unsigned(node.kind as u64 * 2 + u64::from(node.is_whole));
        for id in [node.name, node.shape, node.types] {
            out.unsigned(u64::from(id.0));
        }
    });
    let mut last = 0;
    out.list(&places.samples, |out, sample| {
        out.signed(i64::from(sample.node) - last);
        last = i64::from(sample.node);
        out.unsigned(u64::from(sample.step));
        out.unsigned(u64::from(sample.count));
        out.signed(sample.ns);
        out.signed(sample.sum_ns);
    });
}

/// A time that sums of do not overflow.
fn time(from: &mut Reader<'_>) -> Option<i64> {
    Some(from.signed()?.clamp(-LONGEST, LONGEST))
}

fn index(from: &mut Reader<'_>, length: usize) -> Option<u32> {
    let index = from.unsigned()?;
    ((index as usize) < length).then_some(index as u32)
}

fn read(from: &mut Reader<'_>) -> Option<Profile> {
    let source = from.text()?;
    let facts = read_facts(from)?;
    let steps = from.list(|from| Some(ProfileStep { number: from.optional()?, wall_ns: time(from)? }))?;
    let kinds = from.list(|from| {
        Some(StepKind { phase: from.text()?, batch: from.optional()?, tokens: from.optional()? })
    })?;
    if !kinds.is_empty() && kinds.len() != steps.len() {
        return None;
    }
    let places = read_places(from, steps.len())?;
    let mut idle = Vec::new();
    let mut phases = Vec::new();
    for _ in &steps {
        let mut step = [0; Cause::ALL.len()];
        for ns in &mut step {
            *ns = time(from)?;
        }
        idle.push(step);
    }
    for _ in &steps {
        let mut step = [0; Phase::ALL.len()];
        for ns in &mut step {
            *ns = time(from)?;
        }
        phases.push(step);
    }
    let memory = from.list(|from| {
        let (device, peak) = (from.text()?, from.signed()?.clamp(0, i64::MAX / 4));
        let of_steps = steps.iter().map(|_| from.optional()).collect::<Option<_>>()?;
        Some(Peaks { device, of_steps, peak })
    })?;
    let readings = from.list(|from| {
        let name = from.text()?;
        Some(Readings { name, of_steps: steps.iter().map(|_| from.optional()).collect::<Option<_>>()? })
    })?;
    let sums = read_sums(from)?;
    let mut summaries = Summaries::default();
    summaries.read(from.raw(from.len())?).ok()?;
    let summary = summaries.into_iter().next().map(Box::new);
    let profile =
        Profile { source, facts, steps, kinds, places, idle, phases, memory, readings, sums, summary };
    (!profile.steps.is_empty()).then_some(profile)
}

fn write_sums(out: &mut Writer, sums: &[Sum]) {
    out.list(sums, |out, sum| {
        out.unsigned(sum.kind as u64);
        out.text(&sum.name);
        out.optional(sum.part.map(|part| part as i64));
        out.signed(sum.count);
        out.signed(sum.ns);
    });
}

fn read_sums(from: &mut Reader<'_>) -> Option<Vec<Sum>> {
    from.list(|from| {
        let kind = *RowKind::ALL.get(from.unsigned()? as usize)?;
        let name = from.text()?;
        let part = match from.optional()? {
            Some(part) => Some(*DiffPart::ALL.get(usize::try_from(part).ok()?)?),
            None => None,
        };
        Some(Sum { kind, name, part, count: time(from)?, ns: time(from)? })
    })
}

fn read_facts(from: &mut Reader<'_>) -> Option<Facts> {
    let producer = from.text()?;
    let devices = from.list(Reader::text)?;
    let apart = from.list(Reader::text)?;
    let used_devices = from.unsigned()? as usize;
    let mut flag = || from.unsigned().map(|flag| flag != 0);
    let (has_python, has_shapes, is_partial, is_summary) = (flag()?, flag()?, flag()?, flag()?);
    let (rank, world_size) = (from.optional()?, from.optional()?);
    let schema = Some(from.text()?).filter(|schema| !schema.is_empty());
    Some(Facts {
        producer,
        devices,
        used_devices,
        has_python,
        has_shapes,
        rank,
        world_size,
        schema,
        is_partial,
        is_summary,
        apart,
    })
}

fn read_places(from: &mut Reader<'_>, steps: usize) -> Option<Places> {
    let texts = from.list(Reader::text)?;
    let mut nodes: Vec<ProfileNode> = Vec::new();
    let count = usize::try_from(from.unsigned()?).ok()?;
    for at in 0..count {
        let parent = index(from, at.max(1))?;
        let kind = from.unsigned()?;
        let is_whole = kind % 2 == 1;
        let kind = *RowKind::ALL.get((kind / 2) as usize)?;
        let mut id = || index(from, texts.len()).map(NameId);
        let (name, shape, types) = (id()?, id()?, id()?);
        nodes.push(ProfileNode { parent, kind, name, shape, types, is_whole });
    }
    let mut last = 0i64;
    let samples = from.list(|from| {
        let node = last.checked_add(from.signed()?)?;
        last = node;
        let node = u32::try_from(node).ok().filter(|&node| (node as usize) < nodes.len())?;
        let step = index(from, steps)?;
        let count = u32::try_from(from.unsigned()?).ok()?;
        Some(Sample { node, step, count, ns: time(from)?, sum_ns: time(from)? })
    })?;
    (nodes.len() >= ROOTS.len()).then_some(Places { nodes, samples, texts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use crate::runs::compare::Comparison;
    use crate::runs::compare::query::DiffOptions;
    use crate::trace::Trace;

    fn profile() -> Profile {
        let event = |cat: &str, name: &str, tid: i64, ts: i64, dur: i64| {
            alloc::format!(
                r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur}}}"#
            )
        };
        let events = [
            event("user_annotation", "ProfilerStep#1", 1, 0, 100),
            event("cpu_op", "aten::mm", 1, 10, 40),
            event("user_annotation", "ProfilerStep#2", 1, 100, 100),
            event("cpu_op", "aten::mm", 1, 120, 45),
            event("kernel", "gemm", 7, 130, 60),
        ];
        Profile::from_trace(
            &Trace::read(alloc::format!("[{}]", events.join(",")).as_bytes()).expect("a trace"),
            "x.json",
        )
    }

    #[test]
    fn a_profile_reads_back_equal() {
        let profile = profile();
        let again = Profile::from_bytes(&profile.to_bytes()).expect("a profile");
        assert_eq!(again.to_bytes(), profile.to_bytes());
        assert_eq!((again.source(), again.len()), ("x.json", 2));
        assert!(
            Comparison::new(&profile, &again)
                .rows(&DiffOptions::default())
                .rows
                .iter()
                .all(|row| row[0] == "note".into())
        );
    }

    #[test]
    fn damage_is_refused_or_compared() {
        let profile = profile();
        let bytes = profile.to_bytes();
        for length in 0..bytes.len() {
            assert!(Profile::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        let mut random = Random(1);
        for _ in 0..20_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() as u64) as usize;
                damaged[at] = random.below(256) as u8;
            }
            if let Ok(damaged) = Profile::from_bytes(&damaged) {
                Comparison::new(&profile, &damaged).page(&DiffOptions::default());
            }
        }
    }
}
