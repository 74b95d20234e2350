//! The allow-list: the public keys, and which of their values are kept.
//!
//! A key that is not listed is replaced, and so is everything below it. A number is kept if its key defines it as a
//! time, a size, a count or an id. Elsewhere it could be anything, such as a customer number, and is replaced too.

use super::grammar::{
    is_device, is_digits, is_integer, is_made_of, is_number, is_one_of, is_scalars, is_sizes,
};
use super::names::Judged;
use super::outcome::TextPart::{self, Hide, Keep};
use super::patterns::LANES;
use super::vocabulary::Vocabulary;
use crate::base::names::Names;
use alloc::vec;
use alloc::vec::Vec;

/// Which values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Only `true`, `false` and `null`.
    Nothing,
    /// Numbers, alone or in lists; strings that are a number or a list of integers.
    Numbers,
    /// Numbers only, for ids.
    Id,
    /// Strings that match one of the patterns.
    Pattern(&'static str),
    /// Data types of inputs.
    Type,
    /// Values of non-tensor inputs.
    Scalars,
    /// Frames of a stack.
    Stack,
    /// The name of a kernel.
    Kernel,
    /// The model of a device.
    Device,
    /// Communication backends, and the devices they are for.
    Backend,
    /// The number of a process group, which torch writes as a string.
    Index,
    /// Categories, separated by commas.
    Category,
    /// An object, or a list of objects, with these keys.
    Object(ObjectKind),
    /// An object whose keys are numbers, and whose values are objects with these keys.
    Numbered(ObjectKind),
}

use Rule::{
    Backend, Category, Device, Id, Index, Kernel, Numbered, Numbers, Object, Pattern, Scalars, Stack, Type,
};

/// The object that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    /// An event, or a record that is not a Chrome trace event.
    Event,
    /// `args`.
    Args,
    /// The top-level object.
    Metadata,
    Ids,
    Devices,
    Distributed,
    Group,
    Recorder,
    /// A recording of a merged trace.
    Rank,
    /// A frame of Chrome's `stackFrames`.
    Frame,
    /// A sample of Chrome's `samples`.
    Sample,
    /// The argument `data` of a part of a V8 profile.
    Profile,
    /// Its `cpuProfile`, or that in it.
    CpuProfile,
    /// A node of its call tree.
    Node,
    /// The function of a node.
    Function,
}

/// A rule and its keys, separated by newlines.
type Group = (Rule, &'static str);

const VERSION: Rule = Pattern("{part}.{part}\n{part}.{part}.{part}");
/// The versions of PyTorch with the same rules.
const RULES: Rule = Pattern(
    "{part}.{part}\n{part}.{part} and earlier\n{part}.{part} and later\n{part}.{part} to {part}.{part}\n\
     {part}.{part} and {part}.{part}",
);
const DESCRIPTION: Rule = Pattern("default_pg\nundefined");
const COPY: Rule = Pattern("pageable\npinned\ndevice\narray\nmanaged\nunknown\nHtoD\nHtoH\nDtoH\nDtoD\nPtoP");

const EVENT: &[Group] = &[
    (Category, "cat\nactivity_type"),
    (Id, "id\nbind_id"),
    (Object(ObjectKind::Ids), "id2"),
    (Pattern("e"), "bp"),
    (Pattern("g\np\nt"), "s"),
    (Pattern("{word}"), "overload_name"),
    (Pattern("push\npop\nmark\nmemory_alloc"), "kind"),
    (Pattern("CPU\nCUDA\nHIP\nXPU\nMTIA\nHPU\nMPS\nPrivateUse1\nMKLDNN\nIDEEP\nXLA"), "device_type"),
    (Scalars, "concrete_inputs"),
    (Type, "dtypes"),
    (Stack, "stack"),
    (Rule::Nothing, "args\ncname\nextra_meta\nkwinputs\nmetadata_json\nname\nph\npid\ntid\ntyped_metadata"),
    (
        Numbers,
        "correlation_id\ncpu_elapsed_us\ncpu_memory_usage\ncpu_ns\ncuda_elapsed_us\ncuda_memory_usage\ncuda_us\ndevice\n\
         device_index\ndevice_resource_id\ndur\nduration_ns\nend_ns\nend_thread_id\nesf\nexternal_id\nflops\nflow_id\nflow_in\nflow_out\n\
         flow_start\nflow_type\nfwd_thread_id\nhandle\nhas_cuda\nis_async\nis_hidden_event\nis_python_function\nis_remote\n\
         is_user_annotation\nlinked_correlation_id\nnbytes\nnode_id\nprivateuse1_elapsed_us\npython_id\npython_module_id\n\
         python_parent_id\nscope\nsequence_nr\nsf\nshapes\nstart_ns\nstart_thread_id\nstart_us\nstructured_input_shapes\n\
         structured_input_strides\ntdur\nthread_id\nts\ntts\nuse_async_tts",
    ),
];

const ARGS: &[Group] = &[
    (Stack, "Call stack"),
    (Id, "parent async id"),
    (Scalars, "Concrete Inputs"),
    (Type, "Input type\nOutput type\ndtype"),
    (Kernel, "kernel\nkernel_name"),
    (Pattern(LANES), "name\nlabels\nTrace name"),
    (Pattern("{word}"), "Collective name"),
    (DESCRIPTION, "Process Group Description"),
    (Index, "Process Group Name"),
    (Pattern("Context Sync\nEvent Sync\nStream Sync\nStream Wait Event\nUnknown"), "cuda_sync_kind"),
    (COPY, "copy kind\nsrc kind\ndst kind"),
    (Pattern("DEVICE_TO_HOST\nHOST_TO_DEVICE"), "direction"),
    (Pattern("triton\ncuda\nhip"), "kernel_backend"),
    (Pattern("ERROR\nWARN\nINFO\nDEBUG\nTRACE"), "level"),
    (Pattern("large\nsmall"), "segment_type"),
    (Pattern("user_scope"), "scope"),
    (Pattern("{hidden}:{number}"), "CallFrom"),
    (Object(ObjectKind::Profile), "data"),
    // The only series of a sampled counter.
    (Numbers, ""),
    (Pattern("active_allocated\nactive_pending_free\nactive_awaiting_free\ninactive"), "state"),
    (
        Rule::Nothing,
        "Extra arguments\nInput names\nModule Hierarchy\nOutput names\nannotation\ncuda event\ndomain\nhost fn\nhost fn addr\n\
         kernel_file\nkernel_hash\nlocation\ntarget\nvalue",
    ),
    (
        Numbers,
        "Addr\nBytes\nDevice\nDevice Id\nDevice Type\nEst. SM Efficiency\nEv Idx\nExternal id\nFwd thread id\n\
         GPU Utilization\nGlobal rank start\nGlobal rank stride\nGroup size\nIn msg nelems\nIn split size\nInput Dims\n\
         Input Strides\nInput dims\nIs asynchronized op\nOp count\nOut msg nelems\nOut split size\nOutput Dims\nOutput Strides\nOutput dims\n\
         Process Group Ranks\nProfiler Event Index\nPython id\nPython module id\nPython parent id\nPython thread\nRank\n\
         Record function id\nSeq\nSequence number\nStream Id\nTask Id\nThread Id\nTotal Allocated\nTotal Reserved\n\
         Trace iteration\nactive_size\nallocated_size\nannotated_stream\nbegun\nblock\nblocks per SM\nbytes\ncbid\nchannel\nchannel_type\ncid\n\
         cluster\ncontext\ncorrelation\ncut arguments\ndevice\nest. achieved occupancy %\nevent_id\nexternal id\nexternal ts\nfinished\n\
         flags\nflops\nfree\nfromContext\nfromDevice\ngraph id\ngraph node id\ngrid\nhost process\nhost thread\ninContext\ninDevice\nk_work_ptr\nkernels\n\
         memory\nmemory bandwidth (GB/s)\nmemory kind\nmultiprocessors\nnode_id\nnum_stages\nnum_warps\noriginal_stream\n\
         packet_ptr\npower\npriority\nqueued\nrank\nregisters per thread\nrequested_size\nreturn value\nshared memory\nsize\n\
         sort_index\nsqid\nstream\ntemperature\ntheoretical occupancy %\ntoContext\ntoDevice\nused\nwait_on_cuda_event_id\n\
         wait_on_cuda_event_record_corr_id\nwait_on_stream\nwarps per SM",
    ),
];

const RANK: &[Group] = &[
    (Object(ObjectKind::Metadata), "metadata"),
    (Rule::Nothing, "trace"),
    (Numbers, "drift_ppm\noffset_ns\nrank\nrenumbered"),
];

const METADATA: &[Group] = &[
    (Object(ObjectKind::Devices), "computeProperties\ndeviceProperties"),
    (Object(ObjectKind::Distributed), "distributedInfo"),
    (Object(ObjectKind::Rank), "ranks"),
    (RULES, "torch_rules"),
    (Object(ObjectKind::Recorder), "kinetoscope"),
    (Pattern("counter\nmonotonic"), "clock"),
    (Pattern("ms\nns"), "displayTimeUnit"),
    (Pattern("Kinetoscope {part}.{part}.{part}"), "recorder"),
    (VERSION, "roctracer_version"),
    (Numbered(ObjectKind::Frame), "stackFrames"),
    (Object(ObjectKind::Sample), "samples"),
    (Stack, "stack_table"),
    (
        Rule::Nothing,
        "ERROR\nINFO\nPT_PROFILER_JOB_ATTEMPT_INDEX\nPT_PROFILER_JOB_NAME\nPT_PROFILER_JOB_VERSION\nWARNING\nhost_name\n\
         process_name\ntraceName\ntrace_id",
    ),
    (
        Numbers,
        "baseTimeNanoseconds\ncudaGraphInlineAnnotated\ncuda_driver_version\ncuda_runtime_version\ncupti_version\nhip_driver_version\n\
         hip_runtime_version\nmemory_snapshot\nn_events\npid\nprofile_memory\nrecord_shapes\nschemaVersion\ntrace_start_ns\n\
         with_flops\nwith_modules\nwith_stack",
    ),
];

const IDS: &[Group] = &[(Id, "global\nlocal")];

const DEVICES: &[Group] = &[
    (Device, "name"),
    (
        Numbers,
        "computeMajor\ncomputeMinor\nid\nmajor\nmaxSharedMemoryPerMultiProcessor\nmaxThreadsPerBlock\n\
         maxThreadsPerMultiProcessor\nmaxThreadsPerMultiprocessor\nminor\nmultiProcessorCount\nnumSms\nregsPerBlock\n\
         regsPerMultiprocessor\nsharedMemPerBlock\nsharedMemPerBlockOptin\nsharedMemPerMultiprocessor\ntotalGlobalMem\n\
         warpSize",
    ),
];

const DISTRIBUTED: &[Group] = &[
    (Backend, "backend"),
    (VERSION, "nccl_version"),
    (Object(ObjectKind::Group), "pg_config"),
    (Numbers, "pg_count\nrank\nworld_size"),
];

const GROUP: &[Group] =
    &[(Backend, "backend_config"), (DESCRIPTION, "pg_desc"), (Index, "pg_name"), (Numbers, "pg_size\nranks")];

const RECORDER: &[Group] = &[
    (Object(ObjectKind::Recorder), "devices"),
    (
        Numbers,
        "bytes\ncut_arguments\ndisable_ns\ndropped\nenable_ns\noverhead_ns\noverhead_ns_per_span\nprepare_ns\nrecords\nshort\nunknown\n\
         untimed\nwindow_ns",
    ),
];

const FRAME: &[Group] = &[(Stack, "name"), (Rule::Nothing, "category"), (Numbers, "parent")];

const SAMPLE: &[Group] = &[(Rule::Nothing, "name"), (Numbers, "cpu\npid\nsf\ntid\nts\nweight")];

const PROFILE: &[Group] = &[
    (Object(ObjectKind::CpuProfile), "cpuProfile"),
    (Numbers, "columns\nendTime\nlines\nstartTime\ntimeDeltas"),
];

const CPU_PROFILE: &[Group] =
    &[(Object(ObjectKind::Node), "nodes"), (Numbers, "endTime\nsamples\nstartTime\ntimeDeltas")];

const NODE: &[Group] =
    &[(Object(ObjectKind::Function), "callFrame"), (Numbers, "children\nhitCount\nid\nparent")];

const FUNCTION: &[Group] = &[
    (Stack, "functionName"),
    (Rule::Nothing, "codeType\nurl"),
    (Numbers, "columnNumber\nlineNumber\nscriptId"),
];

/// The keys of each object.
const PLACES: [(ObjectKind, &[Group]); 15] = [
    (ObjectKind::Event, EVENT),
    (ObjectKind::Args, ARGS),
    (ObjectKind::Metadata, METADATA),
    (ObjectKind::Ids, IDS),
    (ObjectKind::Devices, DEVICES),
    (ObjectKind::Distributed, DISTRIBUTED),
    (ObjectKind::Group, GROUP),
    (ObjectKind::Recorder, RECORDER),
    (ObjectKind::Rank, RANK),
    (ObjectKind::Frame, FRAME),
    (ObjectKind::Sample, SAMPLE),
    (ObjectKind::Profile, PROFILE),
    (ObjectKind::CpuProfile, CPU_PROFILE),
    (ObjectKind::Node, NODE),
    (ObjectKind::Function, FUNCTION),
];

/// The public keys.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    names: Names,
    /// The rules of each name, one for each object that it is a key of.
    rules: Vec<Vec<(ObjectKind, Rule)>>,
}

impl Default for Keys {
    fn default() -> Self {
        let mut keys = Keys { names: Names::default(), rules: Vec::new() };
        for (place, groups) in PLACES {
            for &(rule, names) in groups {
                for name in names.split('\n') {
                    let at = keys.names.intern(name).0 as usize;
                    keys.rules.resize(keys.rules.len().max(at + 1), Vec::new());
                    keys.rules[at].push((place, rule));
                }
            }
        }
        keys
    }
}

impl Keys {
    /// The rule of a key in a value with a rule; `None` if the key is not public.
    pub(super) fn below(&self, rule: Rule, key: &str) -> Option<Rule> {
        match rule {
            Object(place) => self.rule(place, key),
            Numbered(place) => is_digits(key, 7).then_some(Object(place)),
            _ => None,
        }
    }

    /// The rule of a key; `None` if the key is not public.
    pub(super) fn rule(&self, place: ObjectKind, key: &str) -> Option<Rule> {
        let rules = self.rules.get(self.names.find(key)?.0 as usize)?;
        rules.iter().find(|(known, _)| *known == place).map(|(_, rule)| *rule)
    }
}

impl Rule {
    /// Whether numbers are kept.
    pub(super) fn keeps_numbers(self) -> bool {
        matches!(self, Numbers | Id | Scalars | Stack | Index) || self == VERSION
    }
}

/// Data types of inputs in the spelling of every version of torch, and of the recorder.
const TYPES: &str = "float double int long short char bool half unsigned signed Float Double Int Long Short Char Byte Bool Half \
    BFloat16 Scalar ScalarList Tensor TensorList GenericList ComplexFloat ComplexDouble __int64 c10::complex<float> \
    c10::complex<double> c10::Half c10::BFloat16 c10::bfloat16 c10::Float8_e4m3fn c10::Float8_e5m2 c10::float8_e4m3fn \
    c10::float8_e4m3fnuz float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 f16 f32 f64 bf16 u8 u32 i64";

const BACKENDS: &str = "nccl gloo mpi ucc hccl xccl rccl fake undefined cpu cuda hip mtia xpu hpu npu mps";

/// Categories of Kineto's activities in every version, of Chrome's flows, and of Kinetoscope's recordings.
const CATEGORIES: &str = "cpu_op user_annotation python_function cuda_runtime cuda_driver kernel gpu_memcpy gpu_memset \
    gpu_user_annotation cuda_sync cuda_event overhead cpu_instant_event Trace ac2g fwdbwd forward_backward fwd_bwd async_npu \
    async_gpu async_cpu_to_gpu async cpu_to_cuda flow other Operator operator Kernel Memcpy Memset Runtime runtime driver \
    mtia_runtime mtia_ccp_events xpu_runtime xpu_driver xpu_sync glow_runtime privateuse1_runtime privateuse1_driver \
    hip_runtime hpu_op collective_comm cuda_profiler_range not_recorded track_span \
    async_poll follows_from cpu_sample disabled-by-default-v8 disabled-by-default-v8.cpu_profiler \
    disabled-by-default-v8.cpu_profiler.hires";

impl Vocabulary {
    /// Redacts a text by a rule; `None` if all of it is replaced.
    pub(super) fn judge<'a>(&self, rule: Rule, text: &'a str) -> Option<Judged<'a>> {
        let (name, is_whole) = match rule {
            _ if text.is_empty() => ("empty", true),
            Rule::Nothing | Id | Object(_) | Numbered(_) => return None,
            Numbers => ("numbers", is_number(text) || is_sizes(text)),
            Type => ("type", is_made_of(text, b" ", TYPES)),
            Scalars => ("scalars", is_scalars(text)),
            Device => ("device model", is_device(text)),
            Backend => ("backend", is_made_of(text, b",:", BACKENDS)),
            Index => ("index", text.len() <= 4 && is_integer(text)),
            Pattern(patterns) => return Some(("pattern", self.pattern(patterns, text)?)),
            Kernel => return Some(("kernel", self.kernel(text)?)),
            Stack => return Some(("frames", self.stack(text))),
            Category => return Some(("category", pieces(text, ',', categories))),
        };
        is_whole.then(|| (name, vec![Keep(text)]))
    }

    /// Redacts frames, which are separated by `;`.
    fn stack<'a>(&self, text: &'a str) -> Vec<TextPart<'a>> {
        pieces(text, ';', |frame| self.frame(frame).unwrap_or_else(|| vec![Hide(frame)]))
    }
}

fn categories(text: &str) -> Vec<TextPart<'_>> {
    vec![if is_one_of(text, CATEGORIES) { Keep(text) } else { Hide(text) }]
}

/// Redacts each piece of a text separately, and keeps the separators between them.
fn pieces<'a>(
    text: &'a str,
    separator: char,
    parts: impl Fn(&'a str) -> Vec<TextPart<'a>>,
) -> Vec<TextPart<'a>> {
    let mut out = Vec::new();
    let mut end = 0;
    for piece in text.split(separator) {
        if end > 0 {
            out.push(Keep(&text[end - 1..end]));
        }
        if !piece.is_empty() {
            out.extend(parts(piece));
        }
        end += piece.len() + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_rule() {
        for (place, groups) in PLACES {
            let mut keys: Vec<&str> = groups.iter().flat_map(|(_, names)| names.split('\n')).collect();
            keys.sort_unstable();
            assert!(keys.is_sorted_by(|a, b| a < b), "{place:?}: {keys:?}");
            assert!(place == ObjectKind::Args || !keys.contains(&""), "{place:?}");
        }
        let keys = Keys::default();
        assert_eq!(keys.rule(ObjectKind::Devices, "name"), Some(Device));
        assert_eq!(keys.rule(ObjectKind::Event, "name"), Some(Rule::Nothing));
        assert_eq!(keys.rule(ObjectKind::Event, "Call stack"), None);
        assert_eq!(keys.rule(ObjectKind::Args, "falcon"), None);
    }

    #[test]
    fn versions_have_two_or_three_numbers() {
        let words = Vocabulary::default();
        assert!(words.judge(VERSION, "2.18.1").is_some() && words.judge(VERSION, "7.2").is_some());
        for text in ["10.1.2.3", "7", "2..1", "2.18.x"] {
            assert!(words.judge(VERSION, text).is_none(), "{text}");
        }
    }
}
