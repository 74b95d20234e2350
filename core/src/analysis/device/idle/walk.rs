//! A walk through periods of threads: what they were doing in each part.

use super::cause::Cause;
use super::host::{Doing, Host, Reason, both};
use super::purposes::Capture;
use crate::analysis::intervals::Interval;
use crate::base::index::Index;
use crate::base::time;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position};
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;

impl Host<'_> {
    /// Starts a walk through the periods of the threads.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { host: self, is_alone: false, visited: Index::default(), deciding: Vec::new(), last: None }
    }

    /// Starts a walk in which only the thread itself decides.
    pub(crate) fn walk_alone(&self) -> Walk<'_> {
        Walk { is_alone: true, ..self.walk() }
    }
}

/// A walk through periods in the order of their starts.
pub(crate) struct Walk<'a> {
    host: &'a Host<'a>,
    /// Whether other threads are left out.
    is_alone: bool,
    /// What decides about each thread that was visited, by its number.
    visited: Index,
    deciding: Vec<Deciding<'a>>,
    /// The thread that was visited last, and its number.
    last: Option<(TrackId, usize)>,
}

/// What decides about a thread.
struct Deciding<'a> {
    /// The work of the profiler, without what is over.
    overhead: &'a [(Interval, Reason)],
    tracks: Vec<TrackCursor<'a>>,
}

impl<'a> Walk<'a> {
    /// Calls `each` with the parts of a period and what a thread was doing in them.
    pub(crate) fn parts(
        &mut self,
        thread: TrackId,
        period: Interval,
        each: &mut dyn FnMut(Interval, Reason),
    ) {
        if period.0 >= period.1 {
            return;
        }
        let host = self.host;
        let Deciding { overhead, tracks } = self.deciding(thread);
        let mut from = period.0;
        while from < period.1 {
            while let [((_, end), _), later @ ..] = overhead
                && *end <= from
            {
                *overhead = later;
            }
            let mut until = period.1;
            if let Some(&((start, end), reason)) = overhead.first() {
                if start <= from {
                    until = until.min(end);
                    each((from, until), reason);
                    from = until;
                    continue;
                }
                until = until.min(start);
            }
            let mut open: Option<Doing> = None;
            // The first that does something decides, unless it waits for another.
            for track in &mut *tracks {
                if open.is_some() && track.role != Role::Backward {
                    continue;
                }
                let (doing, change) = track.at(host, from);
                until = until.min(change);
                open = doing.or(open);
                if open.is_some_and(|doing| !doing.can_wait) {
                    break;
                }
            }
            let reason = open.map_or(Reason::new(Cause::Unknown, None), Doing::reason);
            each((from, until), reason);
            from = until;
        }
    }

    /// What decides about a thread: the profiler's overhead, the thread itself, the main thread, and while that waits, those that
    /// run the backward pass.
    fn deciding(&mut self, thread: TrackId) -> &mut Deciding<'a> {
        if let Some((_, at)) = self.last.filter(|last| last.0 == thread) {
            return &mut self.deciding[at];
        }
        let host = self.host;
        let key = (i64::from(thread.0), 0);
        let at = self.visited.get(key).map_or(self.deciding.len(), |at| at as usize);
        if at == self.deciding.len() {
            let mut tracks = Vec::from([TrackCursor::new(host, thread, Role::Thread)]);
            if !self.is_alone {
                let main = host.main_of(thread).filter(|&main| main != thread);
                tracks.extend(main.map(|main| TrackCursor::new(host, main, Role::Thread)));
                let others = host.backward_of(thread).iter().filter(|&&other| other != thread);
                tracks.extend(others.map(|&other| TrackCursor::new(host, other, Role::Backward)));
            }
            let overhead = if self.is_alone { &[][..] } else { &host.overhead };
            self.deciding.push(Deciding { overhead, tracks });
            self.visited.set(key, at as u32);
        }
        self.last = Some((thread, at));
        &mut self.deciding[at]
    }
}

/// Why a track decides about a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is the thread itself, or the main thread.
    Thread,
    /// It runs the backward pass that the thread can wait for.
    Backward,
}

/// What a track does, while time passes.
struct TrackCursor<'a> {
    role: Role,
    /// The captures of graphs, those that are over left out.
    captures: &'a [Capture],
    cursors: Vec<Cursor<'a>>,
    /// When the open spans of lanes change, the next first.
    changes: BinaryHeap<Reverse<(i64, usize)>>,
    /// What the innermost open span of each lane shows, by its start and its lane.
    open: BTreeMap<(i64, usize), Doing>,
    /// What the spans of all lanes show, and when that can change.
    now: (Option<Doing>, i64),
}

/// The number of lanes whose spans decide together, those that began last: more spans of a thread cannot overlap without nesting
/// in a sound trace.
const MOST_LANES: usize = 64;

/// Up to this number of lanes, all of them are looked at when one changes.
const FEW_LANES: usize = 8;

impl<'a> TrackCursor<'a> {
    fn new(host: &'a Host<'a>, track: TrackId, role: Role) -> TrackCursor<'a> {
        let lanes = host.trace.tree.lanes_of(track);
        let cursors: Vec<Cursor<'a>> = lanes.iter().map(Cursor::new).collect();
        let changes = (0..cursors.len()).map(|lane| Reverse((i64::MIN, lane))).collect();
        let captures = host.purposes.captures(track);
        TrackCursor { role, captures, cursors, changes, open: BTreeMap::new(), now: (None, i64::MIN) }
    }

    /// Returns what the track does at an instant, which never decreases, and when that can change.
    fn at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        while let [capture, later @ ..] = self.captures
            && capture.time.1 <= instant
        {
            self.captures = later;
        }
        let (doing, change) = self.spans_at(host, instant);
        match self.captures.first() {
            Some(&Capture { time, begin, .. }) if time.0 <= instant => {
                (Some(Doing::new(Cause::GraphCapture, begin, true, None)), time.1)
            }
            Some(capture) => (doing, change.min(capture.time.0)),
            None => (doing, change),
        }
    }

    /// What the spans of the track show, and when that can change.
    fn spans_at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        if self.now.1 <= instant {
            let few = self.cursors.len() <= FEW_LANES;
            self.now = if few { self.few_at(host, instant) } else { self.many_at(host, instant) };
        }
        self.now
    }

    /// The same for few lanes, which need no order.
    fn few_at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        let mut change = i64::MAX;
        for cursor in &mut self.cursors {
            if cursor.change <= instant {
                cursor.advance(host, instant);
            }
            change = change.min(cursor.change);
        }
        // Of several lanes of a track, the span that began last is inside of the other ones.
        let (mut doing, mut inner): (Option<Doing>, _) = (None, (i64::MAX, 0));
        loop {
            let open = self.cursors.iter().enumerate().map(|(lane, cursor)| (cursor.start, lane));
            let Some(at) = open.filter(|&at| at.0 != time::NONE && at < inner).max() else { break };
            let around = self.cursors[at.1].shown;
            doing = doing.zip(around).map(|(inside, enclosing)| both(enclosing, inside)).or(around);
            inner = at;
        }
        (doing, change)
    }

    /// The same for many lanes.
    fn many_at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        while let Some(&Reverse((change, lane))) = self.changes.peek()
            && change <= instant
        {
            self.changes.pop();
            let cursor = &mut self.cursors[lane];
            self.open.remove(&(cursor.start, lane));
            cursor.advance(host, instant);
            self.changes.push(Reverse((cursor.change, lane)));
            if let Some(doing) = cursor.shown {
                self.open.insert((cursor.start, lane), doing);
            }
        }
        let doing = self.open.values().rev().take(MOST_LANES);
        let change = self.changes.peek().map_or(i64::MAX, |next| next.0.0);
        (doing.copied().reduce(|inside, enclosing| both(enclosing, inside)), change)
    }
}

/// The innermost open span of a lane, while time passes.
struct Cursor<'a> {
    lane: &'a Lane,
    /// The number of spans of the lane that have begun, and the start of the next one.
    begun: usize,
    next: i64,
    /// The open span and its end.
    open: Option<Position>,
    end: i64,
    /// When the open span began, and what it shows; [`time::NONE`] if none is open that shows something.
    start: i64,
    shown: Option<Doing>,
    /// When that changes.
    change: i64,
}

impl<'a> Cursor<'a> {
    fn new(lane: &'a Lane) -> Cursor<'a> {
        Cursor {
            lane,
            begun: 0,
            next: i64::MIN,
            open: None,
            end: i64::MAX,
            start: time::NONE,
            shown: None,
            change: i64::MIN,
        }
    }

    /// Finds the span that is open at an instant, which never decreases.
    fn advance(&mut self, host: &Host<'_>, instant: i64) {
        let (table, tree) = (&host.trace.table, &host.trace.tree);
        let rows = tree.rows_of(self.lane);
        let end = |open: Option<Position>| open.map_or(i64::MAX, |at| table.end(tree.row(at)));
        if self.next <= instant {
            let start = |at: usize| rows.get(at).map_or(i64::MAX, |&row| table.ts(row));
            self.begun += usize::from(self.next != i64::MIN);
            self.next = start(self.begun);
            if self.next <= instant {
                self.begun += begun(table, &rows[self.begun..], instant);
                self.next = start(self.begun);
            }
            self.open = self.begun.checked_sub(1).map(|last| Position::new(self.lane.first() + last));
            self.end = end(self.open);
        }
        // A span that has ended is passed once: later spans are not inside of it.
        while self.end <= instant
            && let Some(ended) = self.open
        {
            self.open = tree.parent(ended);
            self.end = end(self.open);
        }
        self.change = self.next.min(self.end);
        self.shown = self.open.and_then(|at| host.doing[at.index()]);
        let open = self.open.filter(|_| self.shown.is_some());
        self.start = open.map_or(time::NONE, |at| table.ts(tree.row(at)));
    }
}

/// The number of spans that have begun at an instant; they are ordered by start. Most periods are short, so the search
/// looks at the next spans first.
fn begun(table: &Table, rows: &[Row], instant: i64) -> usize {
    let (mut known, mut step) = (0, 1);
    while known + step <= rows.len() && table.ts(rows[known + step - 1]) <= instant {
        known += step;
        step *= 2;
    }
    let last = rows.len().min(known + step);
    known + rows[known..last].partition_point(|&row| table.ts(row) <= instant)
}
