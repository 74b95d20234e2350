//! The state of a sequence of packets: interned strings and defaults.

use super::common::Common;
use super::wire::{Damaged, Value, fields};
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

/// What an interned string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interned {
    Category,
    Name,
    ArgumentName,
    ArgumentText,
    /// A queue or stage of a GPU.
    GpuLabel,
    Kernel,
    KernelArgument,
}

/// The kinds of interned strings: the field of `InternedData`, and that of the text in an entry. The id is field 1.
const KINDS: [(u32, Interned, u32); 7] = [
    (1, Interned::Category, 2),
    (2, Interned::Name, 2),
    (3, Interned::ArgumentName, 2),
    (24, Interned::GpuLabel, 2),
    (29, Interned::ArgumentText, 2),
    (1000, Interned::Kernel, 3),
    (1001, Interned::KernelArgument, 2),
];
const COUNTER_DESCRIPTORS: u32 = 47;
/// Ids below this are always small.
const NEAR: usize = 4096;

/// The interned strings of one kind.
#[derive(Clone, Debug, Default)]
struct Texts {
    /// Those with small ids: the id of the name plus one; 0 for none.
    near: Vec<u32>,
    far: Index,
    count: usize,
}

impl Texts {
    fn set(&mut self, id: u64, name: NameId) {
        self.count += 1;
        // Ids are not trusted: a large one must not take memory for all those below it.
        match usize::try_from(id) {
            Ok(at) if at < NEAR + 4 * self.count => {
                if self.near.len() <= at {
                    self.near.resize(at + 1, 0);
                }
                self.near[at] = name.0 + 1;
            }
            _ => self.far.set((id.cast_signed(), 0), name.0),
        }
    }

    #[inline]
    fn get(&self, id: u64) -> Option<NameId> {
        let near = usize::try_from(id).ok().and_then(|at| self.near.get(at)).copied().unwrap_or(0);
        near.checked_sub(1).or_else(|| self.far.get((id.cast_signed(), 0))).map(NameId)
    }
}

/// The state of a sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    texts: [Texts; KINDS.len()],
    /// The names of counters by the id of their descriptor and their own.
    counters: Index,
    /// The clock of timestamps, if it is not the boot time.
    pub(super) clock: Option<u32>,
    /// The track of events that name none.
    pub(super) track: Option<u64>,
    /// What the rows have in common, if Kinetoscope wrote the sequence.
    pub(super) common: Option<Common>,
}

impl Sequence {
    /// The interned string with this id.
    pub(super) fn text(&self, kind: Interned, id: u64) -> Option<NameId> {
        self.texts[kind as usize].get(id)
    }

    /// The name of a counter of an interned descriptor.
    pub(super) fn counter(&self, descriptor: u64, counter: u64) -> Option<NameId> {
        self.counters.get((descriptor as i64, counter as i64)).map(NameId)
    }

    /// Reads the defaults of packets.
    pub(super) fn set_defaults(&mut self, message: &[u8]) -> Result<(), Damaged> {
        for field in fields(message) {
            match field? {
                (58, clock) => self.clock = Some(clock.number() as u32),
                (11, defaults) => {
                    for field in fields(defaults.bytes()) {
                        if let (11, track) = field? {
                            self.track = Some(track.number());
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads interned data.
    pub(super) fn intern(&mut self, message: &[u8], names: &mut Names) -> Result<(), Damaged> {
        for field in fields(message) {
            let (number, entry) = field?;
            if let Some(&(_, kind, text)) = KINDS.iter().find(|kind| kind.0 == number) {
                let (id, text) = entry_of(entry, text)?;
                let name = names.intern(&text.text());
                self.texts[kind as usize].set(id, name);
            } else if number == COUNTER_DESCRIPTORS {
                let (id, descriptor) = entry_of(entry, 2)?;
                for (counter, name) in counter_specs(descriptor.bytes())? {
                    self.counters.set((id as i64, counter as i64), names.intern(&name.text()).0);
                }
            }
        }
        Ok(())
    }
}

/// Returns the id of an interned entry and the value of another field.
fn entry_of(entry: Value<'_>, number: u32) -> Result<(u64, Value<'_>), Damaged> {
    let (mut id, mut found) = (0, Value::Bytes(&[]));
    for field in fields(entry.bytes()) {
        match field? {
            (1, value) => id = value.number(),
            (other, value) if other == number => found = value,
            _ => {}
        }
    }
    Ok((id, found))
}

/// Returns the ids and names of the counters of a descriptor.
pub(super) fn counter_specs(descriptor: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Damaged> {
    let mut specs = Vec::new();
    for field in fields(descriptor) {
        if let (1, spec) = field? {
            specs.push(entry_of(spec, 2)?);
        }
    }
    Ok(specs)
}
