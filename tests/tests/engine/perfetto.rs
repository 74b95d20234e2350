//! Perfetto's protobuf traces: those of PyTorch are compared with the Chrome traces of the same recordings, others with
//! what the format says.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::averages::{Average, key_averages};
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_tests::files;
use kinetoscope_tests::torch::{Case, Differences};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Times are rounded to floats twice before PyTorch writes them.
const ERROR_NS: i64 = 2;

/// Traces in which PyTorch shortened device work that overlaps the next work of its stream.
const SHORTENED: [&str; 4] = ["gpu_graph", "gpu_random_0", "gpu_random_2", "gpu_random_3"];

/// Returns each trace with the Chrome trace of the same recording.
fn pairs() -> Vec<(Case, Case)> {
    let folders = files::folders(&files::data().join("torch/2.15/cuspy"));
    let open = |folder: &PathBuf, file: &str| Case::open_as(folder, "cuspy", file);
    // One recording has no Chrome trace: it has no events.
    folders
        .iter()
        .filter_map(|folder| Some((open(folder, "trace.pftrace")?, open(folder, "trace_merged.json")?)))
        .collect()
}

/// Whether device work of a case is shorter than in the Chrome trace.
fn is_shortened(case: &Case) -> bool {
    SHORTENED.iter().any(|name| case.name.contains(&format!("/{name} ")))
}

/// Name, category, process, thread, start and duration of every span, in this order.
fn spans(table: &Table) -> Vec<(String, String, String, String, i64, i64)> {
    let text = |row: Row| {
        let track = table.tracks.get(table.track_id(row));
        let name = |id| table.names.get(id).to_owned();
        (
            table.name(row).to_owned(),
            table.category(row).as_str().to_owned(),
            name(track.pid),
            name(track.tid),
        )
    };
    let is_span = |row: &Row| table.is_span(*row) && table.category(*row) != Category::Window;
    let mut spans: Vec<_> = (table.rows().filter(is_span))
        .map(|row| {
            let (name, category, pid, tid) = text(row);
            (name, category, pid, tid, table.base_ns() + table.ts(row), table.dur(row))
        })
        .collect();
    spans.sort();
    spans
}

#[test]
fn spans_of_torchs_traces_equal_those_of_the_chrome_traces() {
    let mut d = Differences::default();
    for (perfetto, chrome) in pairs() {
        let (ours, theirs) = (spans(&perfetto.trace.table), spans(&chrome.trace.table));
        d.check(|| format!("{} spans", chrome.name), ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let what = |field: &str| format!("{} {} {field}", chrome.name, ours.0);
            // Synchronization of a context has no stream. The Chrome trace has the number of the context instead.
            let same_thread = ours.3 == theirs.3 || (ours.1 == "cuda_sync" && ours.3 == "-1");
            d.check(|| what("thread"), same_thread, true);
            d.check(|| what("place"), (&ours.0, &ours.1, &ours.2), (&theirs.0, &theirs.1, &theirs.2));
            d.check(|| what("start"), (ours.4 - theirs.4).abs() <= ERROR_NS, true);
            let is_shorter = is_shortened(&chrome)
                && ["kernel", "gpu_memcpy", "gpu_memset"].contains(&&*ours.1)
                && ours.5 < theirs.5;
            d.check(|| what("duration"), is_shorter || (ours.5 - theirs.5).abs() <= ERROR_NS, true);
        }
    }
    d.settle(15_000);
}

#[test]
fn averages_of_torchs_traces_equal_those_of_the_chrome_traces() {
    let mut d = Differences::default();
    for (perfetto, chrome) in pairs() {
        let rows = |trace: &Trace| -> BTreeMap<(String, bool), Average> {
            let by = GroupBy::default().with_python_functions();
            let rows = key_averages(&FunctionEvents::new(trace), &trace.table, by);
            // Instants are not written, and so no memory events.
            let rows = rows
                .into_iter()
                .filter(|row| !(row.key.starts_with("[memory]") && row.cpu_time_total_ns == 0));
            rows.map(|row| ((row.key.clone(), row.is_user_annotation), row)).collect()
        };
        let (ours, theirs) = (rows(&perfetto.trace), rows(&chrome.trace));
        d.check(|| format!("{} keys", chrome.name), ours.keys().collect::<Vec<_>>(), theirs.keys().collect());
        for (key, ours) in &ours {
            let Some(theirs) = theirs.get(key) else { continue };
            let slack = ERROR_NS * (1 + ours.count as i64) * 10;
            let near = |a: i64, b: i64| (a - b).abs() <= slack;
            let what = |field: &str| format!("{} {key:?} {field}", chrome.name);
            d.check(|| what("count"), ours.count, theirs.count);
            d.check(|| what("total"), near(ours.cpu_time_total_ns, theirs.cpu_time_total_ns), true);
            d.check(|| what("self"), near(ours.self_cpu_time_total_ns, theirs.self_cpu_time_total_ns), true);
            if !is_shortened(&chrome) {
                d.check(
                    || what("device"),
                    near(ours.device_time_total_ns, theirs.device_time_total_ns),
                    true,
                );
            }
        }
    }
    d.settle(5_000);
}

/// A field of a message: its number and its value.
enum Field<'a> {
    Number(u64),
    Text(&'a str),
    Message(Vec<u8>),
    Fixed(u64),
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn message(fields: &[(u32, Field<'_>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, field) in fields {
        let mut key = |wire: u32| varint(&mut out, u64::from(number << 3 | wire));
        match field {
            Number(value) => {
                key(0);
                varint(&mut out, *value);
            }
            Fixed(value) => {
                key(1);
                out.extend(value.to_le_bytes());
            }
            Text(text) => {
                key(2);
                varint(&mut out, text.len() as u64);
                out.extend(text.as_bytes());
            }
            Message(bytes) => {
                key(2);
                varint(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
        }
    }
    out
}

use Field::{Fixed, Message, Number, Text};

fn trace(packets: Vec<Vec<u8>>) -> Vec<u8> {
    packets.into_iter().flat_map(|packet| message(&[(1, Message(packet))])).collect()
}

fn event(ts: u64, fields: &[(u32, Field<'_>)]) -> Vec<u8> {
    message(&[(8, Number(ts)), (10, Number(1)), (11, Message(message(fields)))])
}

fn slice(begin: u64, end: u64, name: &str) -> [Vec<u8>; 2] {
    let track = || (11, Number(2));
    [event(begin, &[(9, Number(1)), track(), (23, Text(name))]), event(end, &[(9, Number(2)), track()])]
}

fn thread() -> Vec<Vec<u8>> {
    let process = message(&[(1, Number(7)), (6, Text("server"))]);
    let thread = message(&[(1, Number(7)), (2, Number(9)), (5, Text("worker"))]);
    vec![
        message(&[(60, Message(message(&[(1, Number(1)), (3, Message(process))])))]),
        message(&[(60, Message(message(&[(1, Number(2)), (5, Number(1)), (4, Message(thread))])))]),
    ]
}

/// Slices that nest, written in the order of time.
fn nested() -> Vec<u8> {
    let [outer, outer_end] = slice(1_000, 9_000, "outer");
    let [inner, inner_end] = slice(2_000, 5_000, "inner");
    let mut packets = thread();
    packets.extend([outer, inner, inner_end, outer_end]);
    trace(packets)
}

#[test]
fn slices_of_other_writers_nest() {
    let read = Trace::read(&nested()).expect("a trace");
    let found: Vec<_> = spans(&read.table).into_iter().map(|s| (s.0, s.2, s.3, s.4, s.5)).collect();
    let expected = [("inner", 2_000, 3_000), ("outer", 1_000, 8_000)]
        .map(|(name, start, length)| (name.to_owned(), "7".to_owned(), "9".to_owned(), start, length));
    assert_eq!(found, expected);
    let names: Vec<&str> =
        read.table.rows().filter(|&row| read.table.ph(row) == b'M').map(|row| read.table.name(row)).collect();
    assert_eq!(names, ["process_name", "thread_name"]);
}

#[test]
fn counters_instants_flows_and_arguments_are_read() {
    let argument = |fields: &[(u32, Field<'_>)]| (4, Message(message(fields)));
    let list = message(&[(4, Number(3))]);
    let mut packets = thread();
    packets.push(message(&[(
        60,
        Message(message(&[(1, Number(3)), (5, Number(1)), (2, Text("queue")), (8, Message(vec![]))])),
    )]));
    packets.push(event(
        10,
        &[
            (9, Number(1)),
            (11, Number(2)),
            (22, Text("net")),
            (23, Text("send")),
            (47, Fixed(5)),
            argument(&[(10, Text("size")), (4, Number(64))]),
            argument(&[(10, Text("to")), (6, Text("host \"b\""))]),
            argument(&[(10, Text("shape")), (12, Message(list))]),
            argument(&[(10, Text("ratio")), (5, Fixed(0.5f64.to_bits()))]),
        ],
    ));
    packets.push(event(20, &[(9, Number(2)), (11, Number(2))]));
    packets.push(event(30, &[(9, Number(3)), (11, Number(2)), (23, Text("mark")), (48, Fixed(5))]));
    packets.push(event(40, &[(9, Number(4)), (11, Number(3)), (30, Number(12))]));
    let read = Trace::read(&trace(packets)).expect("a trace");
    let json: Vec<serde_json::Value> = (read.table.rows())
        .map(|row| {
            let text =
                kinetoscope_core::output::write::chrome::ChromeWriter::one(&read.table, row).expect("JSON");
            serde_json::from_str(&text).expect("JSON")
        })
        .collect();
    let find = |name: &str| json.iter().find(|event| event["name"] == name).expect("an event");
    assert_eq!(
        find("send")["args"],
        serde_json::json!({"size": 64, "to": "host \"b\"", "shape": [3], "ratio": 0.5})
    );
    assert_eq!((&find("send")["cat"], &find("send")["dur"]), (&"net".into(), &serde_json::json!(0.01)));
    assert_eq!((&find("mark")["ph"], &find("mark")["s"]), (&"i".into(), &"t".into()));
    assert_eq!((&find("queue")["ph"], &find("queue")["args"]["value"]), (&"C".into(), &12.into()));
    let flows: Vec<&str> =
        json.iter().filter(|e| e["cat"] == "flow").filter_map(|e| e["ph"].as_str()).collect();
    assert_eq!(flows, ["s", "f"]);
    assert_eq!(read.pairs.flows.len(), 1);
}

/// Values that are written as JSON text are what the text says, and stay texts if it is no JSON.
#[test]
fn arguments_that_are_json_texts_are_read() {
    let texts = ["[1, {\"a\":2}]", "true", "null", "7", "1e3", "\"text\"", "{\"cut\":"];
    let arguments = texts.iter().zip(["a", "b", "c", "d", "e", "f", "g"]);
    let arguments: Vec<_> =
        arguments.map(|(json, name)| (4, Message(message(&[(10, Text(name)), (9, Text(json))])))).collect();
    let mut fields = vec![(9, Number(3)), (11, Number(2)), (23, Text("mark"))];
    fields.extend(arguments);
    let mut packets = thread();
    packets.push(event(30, &fields));
    let read = Trace::read(&trace(packets)).expect("a trace");
    let row = read.table.rows().find(|&row| read.table.name(row) == "mark").expect("the event");
    let text = kinetoscope_core::output::write::chrome::ChromeWriter::one(&read.table, row).expect("JSON");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!({
        "a": [1, {"a": 2}], "b": true, "c": null, "d": 7, "e": 1000.0, "f": "text", "g": "{\"cut\":"
    });
    assert_eq!(json["args"], expected);
}

#[test]
fn timestamps_of_other_clocks_are_converted() {
    let clock = |id: u64, timestamp: u64, incremental: bool| {
        let fields = [
            (1, Number(id)),
            (2, Number(timestamp)),
            (3, Number(incremental.into())),
            (4, Number(if incremental { 1000 } else { 1 })),
        ];
        (1, Message(message(&fields)))
    };
    let clocks = message(&[
        clock(6, 500_000, false),
        clock(1, 1_700_000_000_000_000_000, false),
        clock(3, 400_000, false),
        clock(64, 0, true),
    ]);
    let at = |ts: u64, clock: u64, name: &str| {
        let fields = message(&[(9, Number(3)), (11, Number(2)), (23, Text(name))]);
        message(&[(8, Number(ts)), (10, Number(1)), (58, Number(clock)), (11, Message(fields))])
    };
    let mut packets = vec![message(&[(10, Number(1)), (6, Message(clocks))])];
    packets.extend(thread());
    packets.extend([
        at(500_100, 6, "boot"),
        at(400_200, 3, "monotonic"),
        at(3, 64, "first"),
        at(4, 64, "second"),
    ]);
    let read = Trace::read(&trace(packets)).expect("a trace");
    let time = |name: &str| {
        let row = read.table.rows().find(|&row| read.table.name(row) == name).expect("an event");
        read.table.ts(row)
    };
    assert_eq!(read.table.base_ns(), 1_700_000_000_000_000_000);
    assert_eq!(["boot", "monotonic", "first", "second"].map(time), [100, 200, 3_000, 7_000]);
}

#[test]
fn compressed_packets_are_read() {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&nested()).expect("a buffer");
    let packed = encoder.finish().expect("a buffer");
    let read =
        Trace::read(&trace(vec![message(&[(10, Number(1)), (50, Message(packed))])])).expect("a trace");
    assert_eq!(spans(&read.table).len(), 2);
    let damaged = trace([thread(), vec![message(&[(10, Number(1)), (50, Text("no zlib data"))])]].concat());
    let read = Trace::read(&damaged).expect("a trace");
    assert_eq!(read.diagnostics.count(Code::DamagedEvent), 1);
}

#[test]
fn damage_is_counted_and_what_follows_is_read() {
    let complete = nested();
    // Every cut, and every changed byte, gives a result.
    for end in 70..complete.len() {
        let cut = Trace::read(&complete[..end]).expect("a trace");
        assert!(cut.table.len() <= 4);
    }
    for at in 2..complete.len() {
        let mut changed = complete.clone();
        changed[at] ^= 0xff;
        let _ = Trace::read(&changed);
    }
    let [lost, lost_end] = slice(20_000, 30_000, "lost");
    let [kept, kept_end] = slice(40_000, 50_000, "kept");
    let mut bytes = trace([thread(), vec![lost, lost_end]].concat());
    bytes.extend(b"these bytes are no packets");
    bytes.extend(trace(vec![kept, kept_end]));
    let read = Trace::read(&bytes).expect("a trace");
    assert_eq!(spans(&read.table).len(), 2);
    assert_eq!(read.diagnostics.count(Code::StrayBytes), 1);
}

#[test]
fn the_size_of_chunks_does_not_matter() {
    use kinetoscope_core::trace::TraceReader;
    let path = files::data().join("torch/2.15/cuspy/gpu_eager/trace.pftrace");
    let bytes = files::read(&path).expect("a trace");
    let complete = Trace::read(&bytes).expect("a trace");
    for size in [1, 7, 1000] {
        let mut reader = TraceReader::default();
        for chunk in bytes.chunks(size) {
            reader.feed(chunk).expect("a chunk");
        }
        assert_eq!(spans(&reader.finish().expect("a trace").table), spans(&complete.table));
    }
}
