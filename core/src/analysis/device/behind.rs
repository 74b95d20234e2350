//! What stood behind times: sums by group and by name.

use crate::base::index::Keyed;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, record};
use crate::trace::table::events::{Row, Table};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The maximum number of names behind a group.
const MOST: usize = 10;

record! {
    pub(crate) static BEHIND = "Behind": fn behind(table: &Table, row: Row, ns: i64) [
        Column::text("name", "", "The name of the operator, range, function, call or activity.") =>
            table.name(row),
        Column::text("kind", "", "Its category.") => table.category(row).as_str(),
        Column::ns("time_ns", "", "The time that it stood behind.") => ns,
        Column::int("event", "", "The index of the event with most of that time.") => row.index(),
    ]
}

/// The time behind a name.
#[derive(Clone, Copy, Debug, Default)]
struct Name {
    group: usize,
    time_ns: i64,
    longest: (i64, Option<Row>),
}

/// Times by group and by name.
pub(crate) struct Behind<'a> {
    table: &'a Table,
    /// The time and the number of periods of each group.
    groups: Vec<(i64, usize)>,
    names: Keyed<Name>,
}

/// A group with its time, the number of its periods, and what stood behind it: the first name, and all.
pub(crate) struct Group<'a> {
    pub(crate) index: usize,
    pub(crate) time_ns: i64,
    pub(crate) count: usize,
    pub(crate) mostly: Option<&'a str>,
    pub(crate) behind: Value,
}

impl<'a> Behind<'a> {
    pub(crate) fn new(table: &'a Table, groups: usize) -> Behind<'a> {
        Behind { table, groups: vec![(0, 0); groups], names: Keyed::default() }
    }

    /// Adds a period to a group.
    pub(crate) fn add(&mut self, group: usize, row: Option<Row>, ns: i64) {
        self.groups[group].0 += ns;
        self.groups[group].1 += 1;
        let Some(row) = row else { return };
        let kind = i64::from(self.table.category(row) as u8) << 8 | group as i64;
        let name = self.names.entry((i64::from(self.table.name_id(row).0), kind));
        name.group = group;
        name.time_ns += ns;
        if ns > name.longest.0 {
            name.longest = (ns, Some(row));
        }
    }

    /// Returns the sum of all times.
    pub(crate) fn total_ns(&self) -> i64 {
        self.groups.iter().map(|group| group.0).sum()
    }

    /// Returns the groups with time, the longest first.
    pub(crate) fn groups(self) -> Vec<Group<'a>> {
        let mut names: Vec<Name> = self.names.entries().iter().map(|&(_, name)| name).collect();
        sort_by_key(&mut names, |name| (descending(name.time_ns), 0));
        let mut found: Vec<Group<'_>> = Vec::new();
        for (index, &(time_ns, count)) in self.groups.iter().enumerate().filter(|(_, group)| group.0 > 0) {
            let members = names.iter().filter(|name| name.group == index);
            let members = members.filter_map(|name| Some((name.time_ns, name.longest.1?)));
            let mostly = members.clone().next().map(|(_, row)| self.table.name(row));
            let behind = members.take(MOST).map(|(ns, row)| behind(self.table, row, ns)).collect();
            found.push(Group { index, time_ns, count, mostly, behind });
        }
        sort_by_key(&mut found, |group| (descending(group.time_ns), 0));
        found
    }
}
