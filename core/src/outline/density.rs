//! Density: how many events last at which times, in bounded memory.
//!
//! Time after the base is divided into parts of 2^`shift` ns, and 64 parts are a bin: one bit for each part, which is set if an event
//! lasts in it, the sum of the times that events last in the bin, and the number of events that begin in it. Parts are as short as
//! they can be with at most `most` bins from the first to the last event.
//!
//! Invariant: the density depends on the events only, not on their order and not on how they were divided before densities were added
//! up. More events never make parts shorter, and the bits and sums of longer parts follow from those of shorter ones.

use crate::base::varints::{Reader, Writer};
use alloc::vec;
use alloc::vec::Vec;

/// The number of parts of a bin as a power of two.
const BIN: u32 = 6;

/// The `shift` of the longest parts: a bin has at most all times.
const LONGEST: u32 = 63 - BIN;

/// The number of bins of a density at most.
const MOST_BINS: usize = 1024;

/// The number of bins of all tracks at most, as long as each has [`LEAST_BINS`].
const MOST_BINS_OF_ALL: usize = 1 << 16;

/// The number of bins that each track may have.
const LEAST_BINS: usize = 16;

/// The number of bins that each of some tracks may have.
pub(super) fn most_bins(tracks: usize) -> usize {
    (MOST_BINS_OF_ALL / tracks.max(1).next_power_of_two()).clamp(LEAST_BINS, MOST_BINS)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    /// The parts with events.
    parts: u64,
    /// The sum of the times that events last in the bin, in ns.
    ns: u64,
    /// The number of events that begin here.
    events: u64,
}

/// The length of the shortest event in the mean, in parts: what begins and ends at one time must be visible.
const LEAST: f64 = 0.125;

impl Bin {
    fn add(&mut self, other: Bin) {
        self.parts |= other.parts;
        self.ns = self.ns.saturating_add(other.ns);
        self.events = self.events.saturating_add(other.events);
    }

    /// The mean number of events that last in each of its parts with events, if parts have this length.
    fn mean(&self, part: f64) -> f64 {
        (self.ns as f64 / (part * f64::from(self.parts.count_ones().max(1)))).max(LEAST)
    }

    /// The first or second half of a bin whose parts are twice as long.
    fn half(self, is_second: bool) -> Bin {
        let mut parts = (self.parts | self.parts >> 1) & 0x5555_5555_5555_5555;
        for (shift, mask) in [
            (1, 0x3333_3333_3333_3333),
            (2, 0x0f0f_0f0f_0f0f_0f0f),
            (4, 0x00ff_00ff_00ff_00ff),
            (8, 0x0000_ffff_0000_ffff),
            (16, 0x0000_0000_ffff_ffff),
        ] {
            parts = (parts | parts >> shift) & mask;
        }
        Bin { parts: if is_second { parts << 32 } else { parts }, ..self }
    }
}

/// The density of some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Density {
    most: usize,
    shift: u32,
    /// The first and the last time of the events; of none if there are no bins.
    time: (i64, i64),
    bins: Vec<Bin>,
}

impl Density {
    /// No events, and at most this many bins.
    pub(super) fn new(most: usize) -> Density {
        Density { most, shift: 0, time: (0, 0), bins: Vec::new() }
    }

    /// The bin of a time.
    fn bin_of(&self, time: i64) -> i64 {
        time >> (self.shift + BIN)
    }

    /// Adds an event.
    pub(super) fn add(&mut self, (start, end): (i64, i64)) {
        let last = end.saturating_sub(1).max(start);
        self.cover((start, last));
        let (shift, first) = (self.shift, self.bin_of(self.time.0));
        let indices = self.bin_of(start)..=self.bin_of(last);
        for at in indices.clone() {
            let begin = at << (shift + BIN);
            let part_of = |time: i64| ((time >> shift) - (begin >> shift)).clamp(0, 63) as u32;
            let bin_end = begin.saturating_add(1 << (shift + BIN));
            self.bins[(at - first) as usize].add(Bin {
                parts: (u64::MAX << part_of(start)) & (u64::MAX >> (63 - part_of(last))),
                ns: end.min(bin_end).saturating_sub(start.max(begin)).max(0) as u64,
                events: u64::from(at == *indices.start()),
            });
        }
    }

    /// Adds the events of another density.
    pub(super) fn append(&mut self, other: &Density) {
        if other.bins.is_empty() {
            return;
        }
        self.cover(other.time);
        // Damaged bytes of another thread can have longer parts.
        while self.shift < other.shift {
            self.halve();
        }
        let (first, of_other) = (self.bin_of(self.time.0), other.bin_of(other.time.0));
        for (at, &bin) in (of_other..).zip(&other.bins) {
            let (mut at, mut bin) = (at, bin);
            for _ in other.shift..self.shift {
                bin = bin.half(at & 1 == 1);
                at >>= 1;
            }
            self.bins[(at - first) as usize].add(bin);
        }
    }

    /// Makes bins for a time.
    fn cover(&mut self, (start, last): (i64, i64)) {
        if self.bins.is_empty() {
            self.time = (start, start);
            self.bins.push(Bin::default());
        }
        let (first, until) = (self.time.0.min(start), self.time.1.max(last));
        while self.bin_of(until) - self.bin_of(first) >= self.most as i64 {
            self.halve();
        }
        let before = self.bin_of(self.time.0) - self.bin_of(first);
        if before > 0 {
            self.bins.splice(0..0, vec![Bin::default(); before as usize]);
        }
        self.bins.resize((self.bin_of(until) - self.bin_of(first)) as usize + 1, Bin::default());
        self.time = (first, until);
    }

    pub(super) fn encode(&self, out: &mut Writer) {
        out.unsigned(self.most as u64);
        out.unsigned(u64::from(self.shift));
        out.signed(self.time.0);
        out.signed(self.time.1);
        out.list(&self.bins, |out, bin| {
            out.unsigned(bin.parts);
            out.unsigned(bin.ns);
            out.unsigned(bin.events);
        });
    }

    /// Reads what [`Density::encode`] wrote; `None` if it is damaged.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Option<Density> {
        let most = usize::try_from(reader.unsigned()?).ok()?;
        let shift = u32::try_from(reader.unsigned()?).ok()?;
        let time = (reader.signed()?, reader.signed()?);
        let bins = reader.list(|reader| {
            let [parts, ns, events] = [reader.unsigned()?, reader.unsigned()?, reader.unsigned()?];
            Some(Bin { parts, ns, events })
        })?;
        let is_valid = (LEAST_BINS..=MOST_BINS).contains(&most) && shift <= LONGEST && bins.len() <= most;
        let density = is_valid.then_some(Density { most, shift, time, bins })?;
        let length = density.bin_of(time.1) - density.bin_of(time.0) + 1;
        (density.bins.is_empty() || length == density.bins.len() as i64).then_some(density)
    }

    /// Reduces the number of bins to this at most.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most;
        while self.bins.len() > most {
            self.halve();
        }
    }

    /// Makes parts twice as long.
    fn halve(&mut self) {
        let first = self.bin_of(self.time.0);
        let is_second = |at: usize| (first + at as i64) & 1 == 1;
        let mut halved: Vec<Bin> = Vec::with_capacity(self.bins.len() / 2 + 1);
        for (at, &bin) in self.bins.iter().enumerate() {
            let half = bin.half(is_second(at));
            match halved.last_mut() {
                Some(last) if is_second(at) => last.add(half),
                _ => halved.push(half),
            }
        }
        self.bins = halved;
        self.shift += 1;
    }

    /// The largest mean number of events that last at the same time, of all bins.
    pub(super) fn most(&self) -> f64 {
        let part = (1u64 << self.shift) as f64;
        self.bins.iter().map(|bin| bin.mean(part)).fold(0.0, f64::max)
    }

    /// The mean number of events that last in each of `pixels` equal parts of a time.
    pub(super) fn means(&self, (start, end): (i64, i64), pixels: usize) -> Vec<f32> {
        let pixel = (end as f64 - start as f64) / pixels.max(1) as f64;
        let mut means = vec![0.0f32; pixels];
        if pixel <= 0.0 {
            return means;
        }
        let part = (1u64 << self.shift) as f64;
        let mut add = |from: f64, to: f64, mean: f64| {
            let [from, to] = [from, to].map(|time| ((time - start as f64) / pixel).clamp(0.0, pixels as f64));
            let first = from as usize;
            for (at, sum) in (first..).zip(means.iter_mut().skip(first).take(to as usize + 1 - first)) {
                let covered = to.min((at + 1) as f64) - from.max(at as f64);
                *sum += (covered.max(0.0) * mean) as f32;
            }
        };
        for (at, bin) in (self.bin_of(self.time.0)..).zip(&self.bins) {
            let mut parts = bin.parts;
            while parts != 0 {
                let first = parts.trailing_zeros();
                let length = (!(parts >> first)).trailing_zeros();
                let from = ((at << BIN) + i64::from(first)) as f64 * part;
                add(from, from + f64::from(length) * part, bin.mean(part));
                parts &= u64::MAX.checked_shl(first + length).unwrap_or(0);
            }
        }
        means
    }

    /// About how many events begin within a time: those of a bin count in proportion to its part of the time.
    pub(super) fn events_within(&self, (start, end): (i64, i64)) -> f64 {
        let length = (1u64 << self.shift) as f64 * 64.0;
        let events = |(at, bin): (i64, &Bin)| {
            let from = (at as f64 * length).max(self.time.0 as f64);
            let to = ((at + 1) as f64 * length).min(self.time.1 as f64 + 1.0);
            let (start, end) = (start as f64, end as f64);
            // Late times have no exact difference.
            let share = if start <= from && to <= end {
                1.0
            } else {
                ((end.min(to) - start.max(from)) / (to - from).max(1.0)).clamp(0.0, 1.0)
            };
            bin.events as f64 * share
        };
        (self.bin_of(self.time.0)..).zip(&self.bins).map(events).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    /// Events in groups that are far from each other.
    fn events(random: &mut Random, count: u64) -> Vec<(i64, i64)> {
        let mut event = || {
            let group = random.below(4) * 1_000_000_000 - 1_500_000_000;
            let start = group + random.below(40_000_000);
            let longest = 1 << random.below(24);
            (start, start + random.below(longest))
        };
        (0..count).map(|_| event()).collect()
    }

    fn density(events: &[(i64, i64)], most: usize) -> Density {
        let mut density = Density::new(most);
        for &event in events {
            density.add(event);
        }
        density
    }

    #[test]
    fn depends_on_the_events_only() {
        let mut random = Random(5);
        for count in [0, 1, 2, 30, 300, 3000, 30_000] {
            let all = events(&mut random, count);
            let expected = density(&all, 64);
            assert!(expected.bins.len() <= 64);
            assert_eq!(expected.bins.iter().map(|bin| bin.events).sum::<u64>(), count);
            let reversed: Vec<_> = all.iter().rev().copied().collect();
            assert_eq!(density(&reversed, 64), expected);
            let mut sum = Density::new(256);
            for piece in all.chunks(7) {
                sum.append(&density(piece, 1024));
            }
            sum.limit(64);
            assert_eq!(sum, expected);
        }
    }

    /// Over whole bins, the mean is the sum of the times that events last.
    #[test]
    fn means_are_those_of_the_events() {
        let mut random = Random(9);
        let all: Vec<_> =
            events(&mut random, 50).into_iter().filter(|event| event.1 - event.0 > 1000).collect();
        let density = density(&all, 64);
        let bin = 64i64 << density.shift;
        let (from, to) = (-1_600_000_000i64.div_euclid(bin) * bin - bin, 20 * bin);
        let window = (from, to);
        let pixels = ((window.1 - window.0) / bin) as usize;
        let means = density.means(window, pixels);
        for (pixel, mean) in means.iter().enumerate() {
            let (left, right) = (from + pixel as i64 * bin, from + (pixel as i64 + 1) * bin);
            let lasts = |event: &(i64, i64)| (event.1.min(right) - event.0.max(left)).max(0) as f64;
            let expected = all.iter().map(lasts).sum::<f64>() / bin as f64;
            assert!((f64::from(*mean) - expected).abs() < 0.01 + expected * 1e-3, "{mean} {expected}");
        }
        let sum = |pixels: usize| {
            let width = (window.1 - window.0) as f64 / pixels as f64;
            density.means(window, pixels).iter().map(|&mean| f64::from(mean) * width).sum::<f64>()
        };
        for pixels in [1, 7, 1000, 4096] {
            assert!((sum(pixels) / sum(100) - 1.0).abs() < 1e-3, "{pixels}");
        }
        assert!(density.means((5, 5), 10).iter().all(|&mean| mean == 0.0));
        let highest = means.iter().fold(0.0, |most, &mean| f64::max(most, f64::from(mean)));
        assert!(highest > 0.0 && density.most() >= highest * 0.999);
    }

    /// Parts without events stay empty.
    #[test]
    fn pauses_are_empty() {
        let density = density(&[(0, 10), (1_000_000, 1_000_010)], 16);
        let means = density.means((100_000, 900_000), 100);
        assert!(means.iter().all(|&mean| mean == 0.0), "{means:?}");
    }

    #[test]
    fn counts_the_events_of_a_time() {
        let density = density(&[(0, 10), (1000, 1001), (1_000_000, 2_000_000)], 64);
        assert!((density.events_within((i64::MIN, i64::MAX)) - 3.0).abs() < 1e-9);
        assert!((density.events_within((0, 2_000_000)) - 3.0).abs() < 1e-9);
        let now = 1_790_857_026_000_000_001;
        assert!((self::density(&[(now, now)], 16).events_within((now - 5, now + 5)) - 1.0).abs() < 1e-9);
        assert!((density.events_within((-5, 900_000)) - 2.0).abs() < 1e-9);
        assert!(density.events_within((-500_000, -1)).abs() < 1e-9);
    }

    #[test]
    fn extreme_times_are_no_errors() {
        let mut density = density(&[(i64::MIN, i64::MAX), (i64::MAX - 1, i64::MAX), (0, 0)], 16);
        density.append(&Density::new(1));
        assert!(density.bins.len() <= 16);
        let means = density.means((i64::MIN, i64::MAX), 10);
        assert!(means.iter().all(|&mean| (mean - 1.0).abs() < 1e-3), "{means:?}");
    }
}
