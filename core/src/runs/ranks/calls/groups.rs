//! The process groups of one rank.

use crate::analysis::device::collectives::rank_texts;
use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::table::events::Table;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// A process group, as far as a trace states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// The name; of a group that the trace does not name, the stream of its kernels.
    pub(crate) name: String,
    pub(crate) description: String,
    /// The ranks, if they are known.
    pub(crate) ranks: Vec<i64>,
    /// Whether the trace names it.
    pub(crate) is_named: bool,
}

/// The groups that calls refer to, in the order of their first use; those of `distributedInfo` come first.
pub(super) struct Groups {
    all: GroupList,
    /// The number of groups in `distributedInfo`.
    declared: usize,
}

impl Groups {
    pub(super) fn new(table: &Table) -> Groups {
        let info = table.metadata.value("distributedInfo");
        let listed = info.as_ref().and_then(|info| info.get("pg_config")?.as_array());
        let mut all = GroupList::default();
        let world = info.as_ref().and_then(|info| info.get("world_size")?.as_i64());
        for mut group in listed.into_iter().flatten().filter_map(declared) {
            // PyTorch leaves out the ranks of the group of all.
            if group.ranks.is_empty() && group.description == "default_pg" {
                group.ranks = (0..world.unwrap_or(0).clamp(0, 1 << 20)).collect();
            }
            all.index(group);
        }
        Groups { declared: all.as_slice().len(), all }
    }

    /// The groups in `distributedInfo`.
    pub(super) fn declared(&self) -> &[Group] {
        &self.all.as_slice()[..self.declared]
    }

    pub(super) fn get(&self, at: u32) -> &Group {
        &self.all.as_slice()[at as usize]
    }

    /// Returns the index of a group.
    pub(super) fn index(&mut self, group: Group) -> u32 {
        self.all.index(group)
    }

    pub(super) fn finish(self) -> Vec<Group> {
        self.all.into_groups()
    }
}

/// Process groups, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupList {
    all: Vec<Group>,
    texts: Names,
    /// The first group of each name, and of each name with the same ranks.
    first: Index,
    same: Index,
}

impl GroupList {
    /// Returns the index of a group; a new one is added. Groups of one name with different ranks are different. What is not known
    /// of a group is filled in.
    pub(crate) fn index(&mut self, group: Group) -> u32 {
        let next = self.all.len() as u32;
        let name = (i64::from(self.texts.intern(&group.name).0), i64::from(group.is_named));
        let first = self.first.get_or_insert(name, next);
        let known = self.all.get(first as usize).map(|known| &known.ranks);
        let is_first =
            known.is_none_or(|ranks| ranks.is_empty() || group.ranks.is_empty() || *ranks == group.ranks);
        let at = if is_first {
            first
        } else {
            let ranks = self.texts.intern(&format!("{:?}", group.ranks));
            self.same.get_or_insert((name.0 << 1 | name.1, i64::from(ranks.0)), next)
        };
        if at == next {
            self.all.push(group);
            return at;
        }
        let known = &mut self.all[at as usize];
        if known.ranks.is_empty() {
            known.ranks = group.ranks;
        }
        if known.description.is_empty() {
            known.description = group.description;
        }
        at
    }

    pub(crate) fn as_slice(&self) -> &[Group] {
        &self.all
    }

    pub(crate) fn into_groups(self) -> Vec<Group> {
        self.all
    }
}

fn declared(entry: &Value) -> Option<Group> {
    let text = |key: &str| match entry.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let ranks = match entry.get("ranks") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_i64).collect(),
        Some(Value::String(text)) => ranks_in(text),
        _ => Vec::new(),
    };
    entry.get("pg_name")?;
    Some(Group { name: text("pg_name"), description: text("pg_desc"), ranks, is_named: true })
}

/// The ranks in a text such as `[0, 1, 2]`; none if it is shortened.
pub(super) fn ranks_in(text: &str) -> Vec<i64> {
    let ranks = rank_texts(text).and_then(|ranks| ranks.map(|rank| rank.parse().ok()).collect());
    ranks.unwrap_or_default()
}
