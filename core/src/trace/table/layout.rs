//! Layouts: the fields of an event besides its fixed columns, as a trie of keys that all events share.
//!
//! A trace of millions of events has a few dozen layouts. Each event stores the id of its [`Layout`] and, in
//! [`fields`](super::fields), only the values. Every node of the trie stores which child came last.
//!
//! Changes together with: `fields` (the packed form of each `FieldType`), `read::event` (the writer).

use super::category::Category;
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

/// The position of a field in the event object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldPlace {
    /// At the top level, next to `ph` and `ts`.
    Top,
    /// Inside `args`.
    Args,
}

/// The type and packed form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FieldType {
    /// `null`; no bytes.
    Null,
    /// `true`; no bytes.
    True,
    /// `false`; no bytes.
    False,
    /// An integer within `i64`: one zigzag varint.
    Int,
    /// A decimal within 18 digits: zigzag varint of its digits, varint of its decimals.
    Decimal,
    /// Any other number: varint of the [`NameId`] of its text.
    Number,
    /// A string: varint of its [`NameId`].
    Text,
    /// An array or object: varint of the [`NameId`] of its JSON text.
    Json,
}

impl FieldType {
    /// Every type, in the order of their numbers.
    pub(super) const ALL: [FieldType; 8] = [
        FieldType::Null,
        FieldType::True,
        FieldType::False,
        FieldType::Int,
        FieldType::Decimal,
        FieldType::Number,
        FieldType::Text,
        FieldType::Json,
    ];

    /// The number of varints of the packed value.
    pub(crate) fn varints(self) -> u32 {
        match self {
            FieldType::Null | FieldType::True | FieldType::False => 0,
            FieldType::Decimal => 2,
            _ => 1,
        }
    }
}

macro_rules! known_keys {
    ($($variant:ident $first:literal $(| $other:literal)*;)*) => {
        /// The fields that the engine itself uses, in the spelling of any dialect.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Key { $(#[doc = concat!("`", $first, "`")] $variant,)* }

        const KEYS: usize = [$(Key::$variant),*].len();

        impl Key {
            /// The known key with this spelling.
            pub fn from_name(text: &str) -> Option<Key> {
                match text { $($first $(| $other)* => Some(Key::$variant),)* _ => None }
            }

            /// Kineto's current spelling.
            pub fn as_str(self) -> &'static str {
                match self { $(Key::$variant => $first,)* }
            }
        }
    };
}

known_keys! {
    ExternalId "External id" | "external id";
    Correlation "correlation";
    EvIdx "Ev Idx" | "Profiler Event Index";
    SequenceNumber "Sequence number";
    FwdThreadId "Fwd thread id";
    InputDims "Input Dims" | "Input dims";
    InputType "Input type";
    InputStrides "Input Strides";
    ConcreteInputs "Concrete Inputs";
    CallStack "Call stack";
    PythonId "Python id";
    CallFrom "CallFrom";
    RecordFunctionId "Record function id";
    Finished "finished";
    ModuleHierarchy "Module Hierarchy";
    Bytes "Bytes";
    DeviceType "Device Type";
    DeviceId "Device Id";
    Addr "Addr";
    TotalAllocated "Total Allocated";
    TotalReserved "Total Reserved";
    Device "device" | "device_index";
    Stream "stream";
    MemcpyBytes "bytes";
    Grid "grid";
    Block "block";
    Occupancy "est. achieved occupancy %";
    BlocksPerSm "blocks per SM";
    Name "name";
    Labels "labels";
    Id "id";
    Id2 "id2";
    Scope "scope";
    Kind "kind";
    NodeId "node_id";
    Flops "flops";
    OverloadName "overload_name";
    IsAsync "is_async";
    IsRemote "is_remote";
    IsUserAnnotation "is_user_annotation";
    StartThreadId "start_thread_id";
    EndThreadId "end_thread_id";
    CudaMemoryUsage "cuda_memory_usage";
    CudaElapsed "cuda_elapsed_us";
    PrivateUse1Elapsed "privateuse1_elapsed_us";
    CudaTime "cuda_us";
    CpuTime "cpu_ns";
    LinkedId "linked_correlation_id";
    HasCuda "has_cuda";
    IsHiddenEvent "is_hidden_event";
    DeviceResourceId "device_resource_id";
}

impl Key {
    /// Whether the key has its meaning only at the top level: an argument `id` is not the id of the event.
    fn is_top_level(self) -> bool {
        matches!(self, Key::Id | Key::Id2)
    }
}

/// One field of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub key: NameId,
    /// The position in the event object.
    pub place: FieldPlace,
    /// The type of its value.
    pub(crate) field_type: FieldType,
    /// The number of varints of the event before its value.
    pub(crate) skip: u32,
}

/// Whether a character is a phase of Chrome's format. `(` and `)` enter and leave a context.
pub(crate) fn is_phase(ph: u8) -> bool {
    ph.is_ascii_alphanumeric() || matches!(ph, b'(' | b')')
}

/// Whether events of this phase begin spans that other events end. Their durations follow from pairing.
#[inline]
pub(crate) fn is_begin(ph: u8) -> bool {
    ph == b'B' || is_async_begin(ph)
}

/// Whether events of this phase begin asynchronous spans.
#[inline]
pub(crate) fn is_async_begin(ph: u8) -> bool {
    matches!(ph, b'b' | b'S')
}

/// The phase, category and fields that events of a layout have in common.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The phase, such as `b'X'`; 0 if the event has none.
    pub ph: u8,
    /// The text of `cat`, if there is one.
    pub cat: Option<NameId>,
    /// The category.
    pub category: Category,
    /// The fields in the order of the text.
    pub fields: Vec<Field>,
    known: [u16; KEYS],
    /// Whether one of the fields is a size in bytes.
    has_size: bool,
}

/// The fields that are sizes in bytes.
pub(super) const SIZES: [Key; 3] = [Key::Bytes, Key::MemcpyBytes, Key::CudaMemoryUsage];

impl Layout {
    /// The field with this key. If a key occurs twice, the last one is returned.
    pub fn find(&self, key: Key) -> Option<&Field> {
        match self.known[key as usize] {
            u16::MAX => None,
            at => self.fields.get(at as usize),
        }
    }

    /// The number of varints of an event.
    pub(super) fn varints(&self) -> u32 {
        self.fields.last().map_or(0, |last| last.skip + last.field_type.varints())
    }

    /// Whether one of the fields is a size in bytes.
    #[inline]
    pub fn has_size(&self) -> bool {
        self.has_size
    }

    fn find_sizes(&mut self) {
        self.has_size = SIZES.iter().any(|&key| self.find(key).is_some());
    }
}

/// The index of a [`Layout`] in its [`Layouts`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LayoutId(pub u32);

/// A node of the trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(u32);

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct FieldNode {
    parent: u32,
    root: u32,
    key: NameId,
    place: FieldPlace,
    field_type: FieldType,
    repeats: bool,
    layout: u32,
    likely: u32,
}

/// Every layout of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layouts {
    nodes: Vec<FieldNode>,
    edges: Index,
    roots: Index,
    kinds: Vec<(u32, u8, Option<NameId>)>,
    layouts: Vec<Layout>,
    reclassified: Index,
    path_keys: PathKeys,
}

/// The keys on the path to the node that was searched last, if the path is long.
#[derive(Clone, Debug)]
struct PathKeys {
    end: u32,
    keys: Index,
}

impl Default for PathKeys {
    fn default() -> Self {
        PathKeys { end: NONE, keys: Index::default() }
    }
}

impl PathKeys {
    fn path_key(key: NameId, place: FieldPlace) -> (i64, i64) {
        (i64::from(key.0), i64::from(place as u8))
    }
}

/// The length of a path up to which a search is faster than an index.
const SHORT: usize = 32;

impl Layouts {
    /// The trie's root for events of this phase and category.
    pub(crate) fn root(&mut self, ph: u8, cat: Option<NameId>) -> NodeId {
        let key = (i64::from(ph), cat.map_or(-1, |cat| i64::from(cat.0)));
        if let Some(node) = self.roots.get(key) {
            return NodeId(node);
        }
        let node = self.push(NONE, NameId::EMPTY, FieldPlace::Top, FieldType::Null, false);
        self.roots.set(key, node);
        self.kinds.push((node, ph, cat));
        NodeId(node)
    }

    fn push(
        &mut self,
        parent: u32,
        key: NameId,
        place: FieldPlace,
        field_type: FieldType,
        repeats: bool,
    ) -> u32 {
        let id = self.nodes.len() as u32;
        let root = self.nodes.get(parent as usize).map_or(id, |n| n.root);
        self.nodes.push(FieldNode {
            parent,
            root,
            key,
            place,
            field_type,
            repeats,
            layout: NONE,
            likely: NONE,
        });
        id
    }

    /// The node after one more field.
    #[inline]
    pub(crate) fn step(
        &mut self,
        node: NodeId,
        key: NameId,
        place: FieldPlace,
        field_type: FieldType,
    ) -> NodeId {
        let likely = self.nodes[node.0 as usize].likely;
        if let Some(child) = self.nodes.get(likely as usize)
            && child.key == key
            && child.field_type == field_type
            && child.place == place
        {
            return NodeId(likely);
        }
        self.step_slow(node, key, place, field_type)
    }

    fn step_slow(&mut self, node: NodeId, key: NameId, place: FieldPlace, field_type: FieldType) -> NodeId {
        let kind = i64::from(place as u8) << 8 | i64::from(field_type as u8);
        let edge = (i64::from(node.0) << 32 | i64::from(key.0), kind);
        let child = if let Some(child) = self.edges.get(edge) {
            child
        } else {
            let repeats = self.nodes[node.0 as usize].repeats || self.path_has(node, key, place);
            let child = self.push(node.0, key, place, field_type, repeats);
            self.edges.set(edge, child);
            child
        };
        self.nodes[node.0 as usize].likely = child;
        NodeId(child)
    }

    /// Whether a key is on the path to `node`.
    fn path_has(&mut self, node: NodeId, key: NameId, place: FieldPlace) -> bool {
        let mut at = node.0;
        for _ in 0..SHORT {
            let n = &self.nodes[at as usize];
            if n.parent == NONE || n.key == key && n.place == place {
                return n.parent != NONE;
            }
            at = n.parent;
        }
        let known = &mut self.path_keys;
        let mut added = Vec::new();
        let mut at = node.0;
        while at != known.end {
            let n = &self.nodes[at as usize];
            if n.parent == NONE {
                known.keys = Index::default();
                break;
            }
            added.push((n.key, n.place));
            at = n.parent;
        }
        known.end = node.0;
        for (key, place) in added {
            known.keys.insert(PathKeys::path_key(key, place));
        }
        known.keys.get(PathKeys::path_key(key, place)).is_some()
    }

    /// Whether a key occurs twice on the path to `node`.
    pub(crate) fn repeats(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].repeats
    }

    /// The node with the fields of `node` under `root`.
    #[inline]
    pub(crate) fn rebase(&mut self, node: NodeId, root: NodeId) -> NodeId {
        if self.nodes[node.0 as usize].root == root.0 { node } else { self.rebase_slow(node, root) }
    }

    fn rebase_slow(&mut self, node: NodeId, root: NodeId) -> NodeId {
        let mut at = root;
        for (key, place, field_type) in self.path(node) {
            at = self.step(at, key, place, field_type);
        }
        at
    }

    fn path(&self, node: NodeId) -> Vec<(NameId, FieldPlace, FieldType)> {
        let mut path = Vec::new();
        let mut n = &self.nodes[node.0 as usize];
        while n.parent != NONE {
            path.push((n.key, n.place, n.field_type));
            n = &self.nodes[n.parent as usize];
        }
        path.reverse();
        path
    }

    /// The layout of an event whose fields end at `node`.
    #[inline]
    pub(crate) fn finish(&mut self, node: NodeId, names: &Names) -> LayoutId {
        match self.nodes[node.0 as usize].layout {
            NONE => self.finish_slow(node, names),
            layout => LayoutId(layout),
        }
    }

    fn finish_slow(&mut self, node: NodeId, names: &Names) -> LayoutId {
        let root = self.nodes[node.0 as usize].root;
        let at = self.kinds.binary_search_by_key(&root, |k| k.0).unwrap_or(0);
        let (_, ph, cat) = self.kinds[at];
        let mut layout = Layout {
            ph,
            cat,
            category: cat.map_or(Category::Other, |cat| Category::from_name(names.get(cat))),
            fields: Vec::new(),
            known: [u16::MAX; KEYS],
            has_size: false,
        };
        let mut skip = 0;
        for (key, place, field_type) in self.path(node) {
            let at = layout.fields.len();
            layout.fields.push(Field { key, place, field_type, skip });
            skip += field_type.varints();
            let known = Key::from_name(names.get(key))
                .filter(|known| place == FieldPlace::Top || !known.is_top_level());
            if let (Some(known), true) = (known, at < u16::MAX as usize) {
                layout.known[known as usize] = at as u16;
            }
        }
        layout.find_sizes();
        let id = self.layouts.len() as u32;
        self.layouts.push(layout);
        self.nodes[node.0 as usize].layout = id;
        LayoutId(id)
    }

    /// Returns a copy of a layout with another phase and category, and with fields mapped to known keys. Calls with the
    /// same phase and category must pass the same keys.
    pub(super) fn with_meaning(
        &mut self,
        id: LayoutId,
        (ph, category): (u8, Category),
        keys: &[(&str, Key)],
        names: &Names,
    ) -> LayoutId {
        let next = self.layouts.len() as u32;
        let meaning = i64::from(ph) << 8 | i64::from(category as u8);
        let copy = self.reclassified.get_or_insert((i64::from(id.0), meaning), next);
        if copy == next {
            let mut layout = Layout { ph, category, ..self.get(id).clone() };
            for (at, field) in layout.fields.iter().enumerate() {
                let text = names.get(field.key);
                for &(_, known) in keys.iter().filter(|k| k.0 == text) {
                    layout.known[known as usize] = at as u16;
                }
            }
            layout.find_sizes();
            self.layouts.push(layout);
        }
        LayoutId(copy)
    }

    /// The layout with this id.
    #[inline]
    pub(crate) fn get(&self, id: LayoutId) -> &Layout {
        &self.layouts[id.0 as usize]
    }

    /// Whether any layout has a category.
    pub(crate) fn has(&self, category: Category) -> bool {
        self.has_any(|known| known == category)
    }

    /// Whether any layout has a category that fits.
    pub(crate) fn has_any(&self, fits: impl Fn(Category) -> bool) -> bool {
        self.layouts.iter().any(|layout| fits(layout.category))
    }

    /// Every layout, in the order of first appearance.
    pub(crate) fn all(&self) -> &[Layout] {
        &self.layouts
    }
}
