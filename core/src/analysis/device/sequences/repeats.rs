//! What repeats in lists of names.
//!
//! Every part of a list with a length in range is a candidate. Its occurrences are counted from the start of the list, and
//! each begins after the end of the previous one. The candidates with enough occurrences are taken in the order of their
//! saving, then of their gaps, then the longest and first ones. Occurrences that contain an activity of a sequence taken
//! before do not count; a candidate that has too few others is left out.
//!
//! Parts of length k get numbers: a part is given by the numbers of its two parts of length k - 1. A part has at most as
//! many occurrences as its own parts, so only those of parts with enough occurrences are numbered. This takes time
//! proportional to the activities times the lengths.

use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use alloc::vec;
use alloc::vec::Vec;

/// An element of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The number of the name; names are numbered from 0.
    pub(super) name: u32,
    /// Whether it is the first one of its list.
    pub(super) is_first: bool,
    /// The gap before it, in ns.
    pub(super) gap: i64,
    /// The part of the gap that is saved, in ns.
    pub(super) saving: i64,
}

/// The number of a part that does not count.
const NONE: u32 = u32::MAX;

/// A candidate: a part that occurs often enough.
struct Candidate {
    saving: i64,
    gap: i64,
    length: usize,
    /// The range of its starts in those of its length.
    starts: (u32, u32),
}

/// The parts of one length.
struct Level {
    /// The starts of each part, one part after the other.
    starts: Vec<u32>,
    candidates: Vec<Candidate>,
}

/// The occurrences of one part.
#[derive(Clone, Copy, Default)]
struct Found {
    /// The number of positions, and of those that do not overlap.
    all: u32,
    apart: u32,
    /// The end of the last one that counts.
    end: u32,
    saving: i64,
    gap: i64,
}

/// Returns the length and the starts of every sequence.
pub(super) fn find(tokens: &[Token], (min, max): (usize, usize), min_count: usize) -> Vec<(usize, Vec<u32>)> {
    let sums = Sums::new(tokens);
    let mut levels: Vec<Level> = Vec::new();
    let mut numbers: Vec<u32> = tokens.iter().map(|token| token.name).collect();
    for length in 1..=max {
        if length > 1 {
            number(tokens, &mut numbers);
        }
        let level = Level::new(&sums, &mut numbers, length, min_count);
        let is_empty = level.candidates.is_empty();
        levels.push(level);
        if is_empty {
            break;
        }
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for level in levels.iter_mut().skip(min - 1).rev() {
        candidates.append(&mut level.candidates);
    }
    sort_by_key(&mut candidates, |candidate| (descending(candidate.saving), descending(candidate.gap)));
    select(&levels, &candidates, tokens.len(), min_count)
}

/// The sums of gaps and savings before each token.
struct Sums(Vec<(i64, i64)>);

impl Sums {
    fn new(tokens: &[Token]) -> Sums {
        let mut sums = Vec::with_capacity(tokens.len());
        let (mut gap, mut saving) = (0, 0);
        for token in tokens {
            gap += token.gap;
            saving += token.saving;
            sums.push((gap, saving));
        }
        Sums(sums)
    }

    /// The gaps and savings within a part.
    fn within(&self, start: usize, length: usize) -> (i64, i64) {
        let (first, last) = (self.0[start], self.0[start + length - 1]);
        (last.0 - first.0, last.1 - first.1)
    }
}

/// Replaces the numbers of parts by those of the parts that are longer by one.
fn number(tokens: &[Token], numbers: &mut [u32]) {
    let mut index = Index::default();
    for at in 0..numbers.len() {
        let next = numbers.get(at + 1).copied().unwrap_or(NONE);
        let continues = tokens.get(at + 1).is_some_and(|token| !token.is_first);
        numbers[at] = if continues && numbers[at] != NONE && next != NONE {
            let new = index.len() as u32;
            index.get_or_insert((i64::from(numbers[at]), i64::from(next)), new)
        } else {
            NONE
        };
    }
}

impl Level {
    /// `numbers` are those of the parts at each position. Numbers of parts that are too rare become [`NONE`].
    fn new(sums: &Sums, numbers: &mut [u32], length: usize, min_count: usize) -> Level {
        let parts =
            numbers.iter().filter(|&&number| number != NONE).max().map_or(0, |&last| last as usize + 1);
        let mut found = vec![Found::default(); parts];
        for (at, &number) in numbers.iter().enumerate().filter(|(_, number)| **number != NONE) {
            let part = &mut found[number as usize];
            part.all += 1;
            if at as u32 >= part.end {
                let (gap, saving) = sums.within(at, length);
                part.apart += 1;
                part.end = (at + length) as u32;
                part.gap += gap;
                part.saving += saving;
            }
        }
        let mut candidates = Vec::new();
        let mut next = 0;
        // From here on, `end` is the place of the next start.
        for part in &mut found {
            let is_frequent = part.apart as usize >= min_count;
            (part.end, part.all) = if is_frequent { (next, part.all) } else { (NONE, 0) };
            if is_frequent {
                let starts = (next, next + part.all);
                candidates.push(Candidate { saving: part.saving, gap: part.gap, length, starts });
            }
            next += part.all;
        }
        let mut starts = vec![0; next as usize];
        for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number != NONE) {
            let place = &mut found[*number as usize].end;
            if *place == NONE {
                *number = NONE;
            } else {
                starts[*place as usize] = at as u32;
                *place += 1;
            }
        }
        Level { starts, candidates }
    }
}

fn select(
    levels: &[Level],
    candidates: &[Candidate],
    tokens: usize,
    min_count: usize,
) -> Vec<(usize, Vec<u32>)> {
    let mut taken = vec![false; tokens];
    let mut selected = Vec::new();
    for candidate in candidates {
        let length = candidate.length;
        let (from, to) = candidate.starts;
        let mut end = 0;
        let is_free = |&start: &u32| {
            let at = start as usize;
            let is_free = at >= end && !taken[at..at + length].contains(&true);
            if is_free {
                end = at + length;
            }
            is_free
        };
        let starts = &levels[length - 1].starts[from as usize..to as usize];
        let starts: Vec<u32> = starts.iter().copied().filter(is_free).collect();
        if starts.len() >= min_count {
            for &start in &starts {
                taken[start as usize..start as usize + length].fill(true);
            }
            selected.push((length, starts));
        }
    }
    selected
}
