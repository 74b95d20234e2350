//! The sections of an entry.

use crate::analysis::device::idle::Cause;
use crate::analysis::device::operation::Operation;
use crate::analysis::overview::fitness::Verdict;
use crate::analysis::query::question::Question;
use crate::base::varints::{Reader, Writer};
use crate::base::words::Word;
use crate::runs::ranks::calls::{Call, Group};
use crate::runs::ranks::phases::Times;
use crate::runs::ranks::sketch::Sketch;
use crate::runs::ranks::summary::{DeviceSum, Fitness, MemoryPeak, Named, StepTimes, Summary};
use alloc::string::String;
use alloc::vec::Vec;

/// The tags of sections. A new field gets a new section, so that older files stay readable.
mod tag {
    pub(super) const IDENTITY: u8 = 1;
    pub(super) const STEPS: u8 = 2;
    pub(super) const DEVICES: u8 = 3;
    pub(super) const IDLE: u8 = 4;
    pub(super) const MEMORY: u8 = 5;
    pub(super) const FITNESS: u8 = 6;
    pub(super) const GROUPS: u8 = 7;
    pub(super) const CALLS: u8 = 8;
    pub(super) const OPERATORS: u8 = 9;
    pub(super) const KERNELS: u8 = 10;
    pub(super) const SCHEMA: u8 = 11;
    pub(super) const GAPS: u8 = 12;
}

/// Writes a summary.
pub(super) fn encode(summary: &Summary) -> Vec<u8> {
    let mut out = Writer::default();
    let mut section = |tag: u8, write: &dyn Fn(&mut Writer)| {
        let mut payload = Writer::default();
        write(&mut payload);
        let payload = payload.finish();
        out.raw(&[tag]);
        out.unsigned(payload.len() as u64);
        out.raw(&payload);
    };
    let start = summary.time.0;
    section(tag::IDENTITY, &|w| identity(w, summary));
    section(tag::STEPS, &|w| w.list(&summary.steps, |w, step| write_step(w, step, start)));
    section(tag::DEVICES, &|w| w.list(&summary.devices, write_device));
    section(tag::IDLE, &|w| {
        w.list(&summary.idle, |w, &(cause, ns)| {
            w.text(cause.as_str());
            w.signed(ns);
        });
    });
    section(tag::MEMORY, &|w| {
        w.list(&summary.memory, |w, memory| {
            w.text(&memory.name);
            w.signed(memory.peak_bytes);
        });
    });
    section(tag::FITNESS, &|w| {
        w.list(&summary.fitness, |w, fitness| {
            w.text(fitness.question.as_str());
            w.text(fitness.verdict.as_str());
            w.text(&fitness.because);
        });
    });
    section(tag::GROUPS, &|w| {
        w.list(&summary.groups, |w, group| {
            w.text(&group.name);
            w.text(&group.description);
            w.unsigned(u64::from(group.is_named));
            w.list(&group.ranks, |w, &rank| w.signed(rank));
        });
    });
    section(tag::CALLS, &|w| write_calls(w, summary));
    section(tag::OPERATORS, &|w| w.list(&summary.operators, write_named));
    section(tag::KERNELS, &|w| w.list(&summary.kernels, write_named));
    section(tag::SCHEMA, &|w| w.optional(summary.schema));
    section(tag::GAPS, &|w| w.list(&summary.gaps, write_named));
    out.finish()
}

/// Reads a summary; `None` if it is damaged.
pub(super) fn decode(entry: &[u8]) -> Option<Summary> {
    let mut summary = Summary::default();
    let mut reader = Reader::new(entry);
    while !reader.is_empty() {
        let tag = reader.byte()?;
        let mut r = Reader::new(reader.block()?);
        let start = summary.time.0;
        match tag {
            tag::IDENTITY => read_identity(&mut r, &mut summary)?,
            tag::STEPS => summary.steps = r.list(|r| read_step(r, start))?,
            tag::DEVICES => summary.devices = r.list(read_device)?,
            tag::IDLE => {
                let idle = r.list(|r| Some((r.text()?, r.signed()?)))?;
                let known = |(word, ns): (String, i64)| Some((Cause::from_word(&word)?, ns));
                summary.idle = idle.into_iter().filter_map(known).collect();
            }
            tag::MEMORY => {
                summary.memory = r.list(|r| Some(MemoryPeak { name: r.text()?, peak_bytes: r.signed()? }))?;
            }
            tag::FITNESS => {
                let all = r.list(|r| Some((r.text()?, r.text()?, r.text()?)))?;
                summary.fitness = all.into_iter().filter_map(fitness).collect();
            }
            tag::GROUPS => summary.groups = r.list(read_group)?,
            tag::CALLS => read_calls(&mut r, &mut summary)?,
            tag::OPERATORS => summary.operators = r.list(read_named)?,
            tag::KERNELS => summary.kernels = r.list(read_named)?,
            tag::SCHEMA => summary.schema = r.optional()?,
            tag::GAPS => summary.gaps = r.list(read_named)?,
            _ => {}
        }
    }
    Some(summary)
}

fn identity(w: &mut Writer, summary: &Summary) {
    w.text(&summary.source);
    w.text(&summary.producer);
    w.optional(summary.rank);
    w.optional(summary.world_size);
    w.text(&summary.host);
    w.signed(summary.time.0);
    w.signed(summary.time.1);
    w.unsigned(summary.events);
    let flags = [summary.is_partial, summary.has_device, summary.is_merged].map(u64::from);
    w.unsigned(flags[0] | flags[1] << 1 | flags[2] << 2);
    write_times(w, &summary.phases);
}

fn read_identity(r: &mut Reader<'_>, summary: &mut Summary) -> Option<()> {
    summary.source = r.text()?;
    summary.producer = r.text()?;
    summary.rank = r.optional()?;
    summary.world_size = r.optional()?;
    summary.host = r.text()?;
    summary.time = (r.signed()?, r.signed()?);
    summary.events = r.unsigned()?;
    let flags = r.unsigned()?;
    (summary.is_partial, summary.has_device, summary.is_merged) =
        (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    summary.phases = read_times(r)?;
    Some(())
}

fn write_times(w: &mut Writer, times: &Times) {
    for &ns in times {
        w.signed(ns);
    }
}

fn read_times(r: &mut Reader<'_>) -> Option<Times> {
    let mut times = Times::default();
    for ns in &mut times {
        *ns = r.signed()?;
    }
    Some(times)
}

/// A period relative to a start.
fn write_period(w: &mut Writer, (from, until): (i64, i64), start: i64) {
    w.signed(from.wrapping_sub(start));
    w.signed(until.wrapping_sub(from));
}

fn read_period(r: &mut Reader<'_>, start: i64) -> Option<(i64, i64)> {
    let from = start.wrapping_add(r.signed()?);
    Some((from, from.wrapping_add(r.signed()?)))
}

fn write_step(w: &mut Writer, step: &StepTimes, start: i64) {
    w.signed(step.number);
    write_period(w, step.time, start);
    write_times(w, &step.phases);
}

fn read_step(r: &mut Reader<'_>, start: i64) -> Option<StepTimes> {
    let (number, time) = (r.signed()?, read_period(r, start)?);
    Some(StepTimes { number, cycle: 0, time, phases: read_times(r)? })
}

fn write_device(w: &mut Writer, device: &DeviceSum) {
    w.text(&device.name);
    let DeviceSum { wall_ns, compute_ns, exposed_communication_ns, exposed_copy_ns, idle_ns, .. } = *device;
    let all =
        [wall_ns, compute_ns, exposed_communication_ns, exposed_copy_ns, idle_ns, device.communication_ns];
    for &ns in &all {
        w.signed(ns);
    }
}

fn read_device(r: &mut Reader<'_>) -> Option<DeviceSum> {
    Some(DeviceSum {
        name: r.text()?,
        wall_ns: r.signed()?,
        compute_ns: r.signed()?,
        exposed_communication_ns: r.signed()?,
        exposed_copy_ns: r.signed()?,
        idle_ns: r.signed()?,
        communication_ns: r.signed()?,
    })
}

fn fitness((question, verdict, because): (String, String, String)) -> Option<Fitness> {
    Some(Fitness {
        // Entries of version 1 have blanks in words, also after they were merged.
        question: Question::from_word(&question.replace(' ', "_"))?,
        verdict: Verdict::from_word(&verdict)?,
        because,
    })
}

fn read_group(r: &mut Reader<'_>) -> Option<Group> {
    let (name, description, is_named) = (r.text()?, r.text()?, r.unsigned()? != 0);
    Some(Group { name, description, is_named, ranks: r.list(Reader::signed)? })
}

/// Calls, each relative to the one before.
fn write_calls(w: &mut Writer, summary: &Summary) {
    w.unsigned(summary.calls_left_out);
    let mut before = Call { time: (summary.time.0, 0), ..Call::default() };
    w.list(&summary.calls, |w, call| {
        w.unsigned(u64::from(call.group));
        w.unsigned(call.operation() as u64);
        write_after(w, call.seq, before.seq);
        write_after(w, call.comms_id, before.comms_id);
        w.optional(call.bytes);
        w.optional(call.peer);
        write_period(w, call.time, before.time.0);
        write_doing(w, &call.doing);
        before = *call;
    });
}

fn read_calls(r: &mut Reader<'_>, summary: &mut Summary) -> Option<()> {
    summary.calls_left_out = r.unsigned()?;
    let mut before = Call { time: (summary.time.0, 0), ..Call::default() };
    summary.calls = r.list(|r| {
        let group = u32::try_from(r.unsigned()?).ok()?;
        let operation = Some(Operation::from_index(usize::try_from(r.unsigned()?).ok()?));
        before = Call {
            group,
            operation,
            seq: read_after(r, before.seq)?,
            comms_id: read_after(r, before.comms_id)?,
            bytes: r.optional()?,
            peer: r.optional()?,
            time: read_period(r, before.time.0)?,
            doing: read_doing(r)?,
        };
        Some(before)
    })?;
    let groups = summary.groups.len();
    summary.calls.iter().all(|call| (call.group as usize) < groups.max(1)).then_some(())
}

/// A value relative to the one before.
fn write_after(w: &mut Writer, value: Option<i64>, before: Option<i64>) {
    w.optional(value.map(|value| value.wrapping_sub(before.unwrap_or(0))));
}

#[expect(clippy::option_option, reason = "damage and absence differ")]
fn read_after(r: &mut Reader<'_>, before: Option<i64>) -> Option<Option<i64>> {
    Some(r.optional()?.map(|difference| difference.wrapping_add(before.unwrap_or(0))))
}

/// The phases that are not 0, as a bit each, then their times.
fn write_doing(w: &mut Writer, doing: &Times) {
    let bits = doing.iter().enumerate().fold(0, |bits, (at, &ns)| bits | u64::from(ns != 0) << at);
    w.unsigned(bits);
    doing.iter().filter(|&&ns| ns != 0).for_each(|&ns| w.signed(ns));
}

fn read_doing(r: &mut Reader<'_>) -> Option<Times> {
    let bits = r.unsigned()?;
    let mut doing = Times::default();
    for (at, ns) in doing.iter_mut().enumerate() {
        if bits >> at & 1 != 0 {
            *ns = r.signed()?;
        }
    }
    Some(doing)
}

fn write_named(w: &mut Writer, named: &Named) {
    w.text(&named.name);
    w.unsigned(named.count);
    w.signed(named.self_ns);
    let mut before = 0;
    w.list(named.durations.bins(), |w, &(bin, count)| {
        w.signed(i64::from(bin) - before);
        w.unsigned(count);
        before = i64::from(bin);
    });
}

fn read_named(r: &mut Reader<'_>) -> Option<Named> {
    let (name, count, self_ns) = (r.text()?, r.unsigned()?, r.signed()?);
    let mut before = 0i64;
    let bins = r.list(|r| {
        before = before.checked_add(r.signed()?)?;
        Some((i32::try_from(before).ok()?, r.unsigned()?))
    })?;
    Some(Named { name, count, self_ns, durations: Sketch::from_bins(bins) })
}
