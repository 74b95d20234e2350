//! Traces in which every field of the format contains private words, in places where an incorrect rule would keep them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Words of no public vocabulary. None of their parts of four letters is public either, and no pseudonym can spell one.
pub(crate) const WORDS: [&str; 6] =
    ["vorpkludge", "zyxwomp", "jibblewhizz", "fnordquux", "wuzzlegrob", "oblomovka"];

/// Templates of texts; `@` is replaced by a private word.
const PLACES: &str = "@|@.py|/home/@/model.py|aten::@|aten::add_@|aten::@_backward|aten::add.@|autograd::@|\
    autograd::engine::evaluate_function: @|autograd::engine::evaluate_function: @Backward0|@Backward0|Add@Backward0|at::@|\
    at::native::@|c10d::@|prims::@|profiler::@|nn.Module: @_0|nn.Module: Linear_@|process_@|thread_@|thread_name @|\
    process_data.py(12): @;/home/@/x.py(40): main;|ProfilerStep#@|ProfilerStep#3 @|@ ProfilerStep#3|Optimizer.step#@.step|\
    Optimizer.step#SGD.step.@.step|enumerate(DataLoader)#@.__next__|enumerate(DataLoader)#@|cuda@|Cuda@|cudaLaunch@|\
    cudaLaunchKernel_@|cu@|hip@Kernel|@LaunchKernel|void at::native::elementwise_kernel<@>(int)|void @::kernel<float>(float*)|\
    void at::native::vectorized_elementwise_kernel<4, at::native::@<float> >(int, @*)|void @<int>(int)|kernel<@>|@::kernel|\
    triton_poi_fused_add_@_0|triton_@|triton_poi_fused_@_add_0|Cijk_Ailk_@_MT64x64|Cijk_@|ampere_sgemm_128x64_@|\
    ncclDevKernel_@|ncclKernel_AllReduce_@|Memcpy @|Memcpy HtoD (@ -> Device)|Memset (@)|nccl:@|nccl:all_@|gloo:@|GPU @|\
    GPU 0 @|stream @|stream 7 @|stream 7@|thread 12 (@)|thread 12 (python) @|python3.@|10.1.@.3|10.@.2.3|@10.1.2.3|2.18.@|\
    host-17.@.example.com|torch/@.py(3): forward|torch/nn/modules/module.py(10): @|torch/nn/@/module.py(1): forward|\
    /opt/@/site-packages/torch/_ops.py(1): __call__|torch/_ops.py(@): f|a.py(1): f;@.py(2): g;|;@;|@;aten::add|aten::add;@|\
    x.py(1): at::_ops::@::call(int)|Iteration Start: @|## Call CompiledFxGraph @ ##|Torch-Compiled Region: @|\
    Torch-Compiled Region: 0/@|[1, @]|[[2], [@]]|[@]|['float', '@']|float @|c10::@|c10::complex<@>|_ZN2at@E|{\"a\": \"@\"}|\
    {\"@\": 1}|NVIDIA @|NVIDIA A100-@|nccl,@|cpu:@|cpu_op,@|@,cpu_op|default_pg @|Kinetoscope @|Kinetoscope 0.1.@|\
    PyTorch Profiler (@)|PyTorch Profiler @|<built-in method @ of type object at 0x7f>|line\\n@\\tend|@.out-dtype_Float|\
    True, @|1e@|-@|0x@|#@|@#1|[memory]@|ac2g @| @ |é@ß|__@__|TOP(@)::forward.@(@)::forward.";

/// Spells a word in one of several ways: `wordWORD`, between digits, in pieces.
fn spell(word: &str, how: u8) -> String {
    let upper = word.to_uppercase();
    let alternating =
        || word.chars().enumerate().map(|(at, c)| if at % 2 == 0 { c.to_ascii_uppercase() } else { c });
    match how {
        0 => upper,
        1 => upper[..1].to_owned() + &word[1..],
        2 => alternating().collect(),
        3 => format!("7{word}9"),
        4 => format!("_{word}_"),
        5 => format!("{}1{}", &word[..4], &word[4..]),
        6 => format!("{}_{}", &word[..4], &word[4..]),
        7 => format!("Add{}{}Mul", &upper[..1], &word[1..]),
        8 => format!("{word}{word}"),
        9 => format!("{}.{}", &word[..4], &word[4..]),
        10 => between(word, "1"),
        11 => between(word, "7_"),
        _ => word.to_owned(),
    }
}

/// Returns a word with `behind` after each letter.
fn between(word: &str, behind: &str) -> String {
    word.chars().flat_map(|letter| [letter.to_string(), behind.to_owned()]).collect()
}

/// Private texts, in the order in which they are inserted.
pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    let places: Vec<&str> = PLACES.split('|').collect();
    let text = (prop::sample::select(places), prop::sample::select(WORDS.to_vec()), 0..16u8).prop_map(
        |(place, word, how)| place.replace('@', &spell(word, how)).replace("\\n", "\n").replace("\\t", "\t"),
    );
    prop::collection::vec(text, 40..120)
}

/// Returns every template with a word in it, for a test that covers all of them.
pub(crate) fn every_text() -> Vec<String> {
    PLACES
        .split('|')
        .flat_map(|place| (0..13).map(move |how| place.replace('@', &spell(WORDS[0], how))))
        .collect()
}

/// Returns the private texts one after the other, repeatedly.
pub(crate) struct PrivateTexts<'a> {
    texts: &'a [String],
    next: usize,
}

impl<'a> PrivateTexts<'a> {
    pub(crate) fn new(texts: &'a [String]) -> PrivateTexts<'a> {
        PrivateTexts { texts, next: 0 }
    }

    fn text(&mut self) -> String {
        self.next += 1;
        self.texts[(self.next - 1) % self.texts.len()].clone()
    }

    /// Returns, in turn, a string, a list, an object, and a number with a string.
    fn value(&mut self) -> Value {
        match self.next % 5 {
            0 => json!([self.text(), [self.text(), 7, true]]),
            1 => {
                let inner = Map::from_iter([(self.text(), json!(self.text()))]);
                let object = Map::from_iter([
                    (self.text(), Value::Object(inner)),
                    (self.text(), json!([self.text()])),
                ]);
                Value::Object(object)
            }
            _ => json!(self.text()),
        }
    }

    fn keyed(&mut self, keys: &str) -> Map<String, Value> {
        let mut object: Map<String, Value> =
            keys.split('|').map(|key| (key.to_owned(), self.value())).collect();
        for _ in 0..3 {
            object.insert(self.text(), self.value());
        }
        object
    }
}

const CATEGORIES: &str = "cpu_op|user_annotation|python_function|cuda_runtime|cuda_driver|kernel|gpu_memcpy|gpu_memset|\
    gpu_user_annotation|cuda_sync|cuda_event|overhead|cpu_instant_event|Trace|mtia_ccp_events|Operator|Kernel";

/// Keys of arguments that profilers and this tool write; each gets a private text.
const ARGS: &str = "Call stack|Module Hierarchy|Input Dims|Input type|Input Strides|Concrete Inputs|Output type|Input names|\
    Collective name|Process Group Name|Process Group Description|Process Group Ranks|In split size|dtype|kernel|kernel_name|\
    kernel_file|kernel_hash|kernel_backend|kernel_kwargs|name|labels|Trace name|cuda_sync_kind|copy kind|src kind|direction|\
    stream|device|bytes|Bytes|Addr|External id|correlation|grid|block|value|level|target|location|domain|annotation|state|\
    segment_type|CallFrom|id|kind|Device Type|Total Allocated|Sequence number|finished|queued|size|priority|flops|Trace iteration";

const TOP: &str = "cname|scope|id|id2|bp|s|stack|sf|tts|overload_name|device_type|kind|shapes|dtypes|concrete_inputs|kwinputs|\
    metadata_json|activity_type|flow_id|comment";

const METADATA: &str = "host_name|process_name|traceName|trace_id|displayTimeUnit|recorder|clock|INFO|WARNING|ERROR|username|\
    with_stack|record_shapes|cupti_version|roctracer_version|stack_table|PT_PROFILER_JOB_NAME|clientInfo|stackFrames|samples|pid";

/// Returns a Kineto trace: spans of every category, every phase of Chrome, and metadata, nested and flat.
pub(crate) fn kineto(texts: &[String]) -> String {
    let mut private = PrivateTexts::new(texts);
    let mut events = Vec::new();
    for (at, cat) in CATEGORIES.split('|').enumerate() {
        for (start, length) in [(0, 90), (10, 30), (15, 10), (50, 20)] {
            let mut args = private.keyed("Call stack|name");
            args.extend([
                ("External id".to_owned(), json!(at + start)),
                ("correlation".to_owned(), json!(at * 7 + 1)),
            ]);
            args.extend([("Bytes".to_owned(), json!(4096)), ("grid".to_owned(), json!([2, 3, 1]))]);
            events.push(json!({"ph": "X", "cat": cat, "name": private.text(), "pid": 1, "tid": at % 5, "ts": start * 10, "dur": length * 10, "args": args}));
        }
    }
    events.push(json!({"ph": "X", "cat": "cpu_op", "name": private.text(), "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": private.keyed(ARGS)}));
    let mut top = private.keyed(TOP);
    top.extend(
        [("ph", json!("X")), ("name", json!(private.text())), ("ts", json!(3)), ("dur", json!(4))]
            .map(|(k, v)| (k.to_owned(), v)),
    );
    events.push(Value::Object(top));
    for ph in [
        "B", "E", "i", "I", "C", "b", "n", "e", "s", "t", "f", "M", "P", "N", "O", "D", "R", "S", "T", "F",
        "?", "ab",
    ] {
        let lane = private.text();
        events.push(json!({"ph": ph, "cat": private.text(), "name": private.text(), "pid": lane, "tid": private.value(),
            "id": private.text(), "scope": private.text(), "ts": 100, "args": private.keyed("value|snapshot|data")}));
    }
    for name in ["process_name", "thread_name", "process_labels", "thread_sort_index"] {
        events.push(json!({"ph": "M", "name": name, "pid": 1, "tid": 1, "args": private.keyed("name|labels|sort_index")}));
    }
    for (ph, row) in [("s", 10), ("f", 50)] {
        events.push(json!({"ph": ph, "cat": "ac2g", "name": "ac2g", "id": 3, "pid": 1, "tid": 0, "ts": row * 10, "bp": "e"}));
    }
    let mut document = private.keyed(METADATA);
    let device = private.keyed("name|id|numSms");
    let group = private.keyed("pg_name|pg_desc|backend_config|ranks");
    let mut distributed = private.keyed("backend|nccl_version|rank|pg_count");
    distributed.insert("pg_config".into(), json!([group, private.text()]));
    document.insert("deviceProperties".into(), json!([device, private.text()]));
    document.insert("distributedInfo".into(), Value::Object(distributed));
    document.insert("kinetoscope".into(), Value::Object(private.keyed("bytes|devices")));
    document.insert("traceEvents".into(), Value::Array(events));
    Value::Object(document).to_string()
}

/// Returns records of PyTorch's legacy profiler.
pub(crate) fn records(texts: &[String]) -> String {
    let mut private = PrivateTexts::new(texts);
    let mut record = |kind: &str, name: String, ns: i64| {
        let mut record = private.keyed("shapes|stack|scope|concrete_inputs|extra");
        let fixed =
            json!({"name": name, "kind": kind, "handle": ns, "node_id": -1, "thread_id": 1, "cpu_ns": ns});
        record.extend(fixed.as_object().cloned().unwrap_or_default());
        Value::Object(record)
    };
    let (first, second, kind) = (texts[0].clone(), texts[1].clone(), texts[2].clone());
    let list = json!([
        record("mark", "__start_profile".into(), 0),
        record("push", first, 1000),
        record("push", second, 2000),
        record("memory_alloc", String::new(), 2500),
        record("pop", String::new(), 3000),
        record("pop", String::new(), 4000),
        record(&kind, texts[3].clone(), 5000),
    ]);
    let mut document = PrivateTexts::new(texts).keyed("what|use_device");
    document.insert("threads".into(), json!([list]));
    Value::Object(document).to_string()
}

/// Returns the events of a profiling result.
pub(crate) fn results(texts: &[String]) -> String {
    let mut private = PrivateTexts::new(texts);
    let mut events = Vec::new();
    for at in 0..6i64 {
        let mut event = private
            .keyed("stack|shapes|dtypes|concrete_inputs|kwinputs|metadata_json|overload_name|activity_type");
        let fixed = json!({"name": private.text(), "start_ns": 1_000_000 + at * 100, "end_ns": 1_000_050 + at * 100, "correlation_id": at,
            "linked_correlation_id": 0, "start_thread_id": 1, "end_thread_id": 1, "device_type": "CPU", "device_index": 0});
        event.extend(fixed.as_object().cloned().unwrap_or_default());
        events.push(Value::Object(event));
    }
    let stacks = json!([private.text(), private.text()]);
    let events = Value::Array(events);
    // The start is first, because the reader recognizes the format by it.
    format!(r#"{{"trace_start_ns": 1000000, "n_events": 6, "stack_table": {stacks}, "events": {events}}}"#)
}
