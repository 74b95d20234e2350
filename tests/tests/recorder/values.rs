//! Names and values of arguments: every type, hostile names, limits, and panics while they are formatted.

use crate::support::{alone, args, check, chrome, record_with, rows};
use kinetoscope::{Profiler, Recording, function_scope, instant, operator, record_function, scope};
use kinetoscope_core::base::diagnostics::Code;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::{self, Debug, Display};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn record(run: impl FnOnce()) -> Recording {
    record_with(Profiler::builder().record_shapes(true), run)
}

#[test]
fn constants_of_the_program_are_not_captured_by_the_macros() {
    let _alone = alone();
    const NAME: &str = "a name";
    const SITE: u32 = 7;
    let (state, args_, span) = (1, 2, 3);
    let recording = record(|| {
        drop(scope!("x", name = NAME, site = ?SITE, who = %NAME, state, args_, span, NAME, ?SITE));
        instant!("y", name = NAME);
    });
    let expected = json!({
        "name": "a name", "site": "7", "who": "a name", "state": 1, "args_": 2, "span": 3, "NAME": "a name", "SITE": "7",
    });
    let document = check(&recording);
    assert_eq!(args(&document, "x"), expected);
    assert_eq!(args(&document, "y"), json!({"name": "a name"}));
}

#[test]
fn every_value_type_is_exact() {
    let _alone = alone();
    let (owned, list): (String, Vec<u64>) = ("owned".into(), vec![1, u64::MAX]);
    let nested = [[Some("a"), None], [Some("b\""), Some("")]];
    let recording = record(|| {
        drop(scope!(
            "numbers",
            most = u64::MAX,
            above = u128::MAX,
            least = i128::MIN,
            edge = i64::MIN,
            byte = 255u8,
            some = NonZero::new(3u32),
            infinite = f64::INFINITY,
            least_float = f64::NEG_INFINITY,
            not = f32::NAN,
            zero = -0.0,
            tiny = 5e-324
        ));
        drop(scope!(
            "texts",
            borrowed = Cow::Borrowed("cow"),
            copied = Cow::<str>::Owned(owned.clone()),
            letter = 'é',
            boxed = Box::<str>::from("box"),
            shared = Arc::<str>::from("arc"),
            counted = Rc::new(owned.clone()),
            path = Path::new("/a b"),
            buffer = PathBuf::from("c"),
            os = std::ffi::OsString::from("os"),
            took = Duration::from_micros(1500),
            formatted = format_args!("{}-{}", 1, 2),
            none = None::<&str>
        ));
        drop(scope!(
            "lists",
            list,
            slice = &list[..1],
            empty = Vec::<String>::new(),
            nested,
            chars = ['a', '\n'],
            mixed = [1.5, f64::INFINITY],
            flags = [true, false],
            paths = [Path::new("p")]
        ));
        drop(scope!("keys", r#type = 1, "http.method" = "GET", "with \"quotes\"" = %2, "debug" = ?'c'));
    });
    let document = check(&recording);
    let text = document.to_string();
    for number in ["\"most\":18446744073709551615", "-9223372036854775808"] {
        assert!(text.contains(number), "{number}");
    }
    let raw = {
        let folder = tempfile::tempdir().expect("a folder");
        recording.export_chrome_trace(folder.path().join("t.json")).expect("a file");
        std::fs::read_to_string(folder.path().join("t.json")).expect("a file")
    };
    for number in [u128::MAX.to_string(), i128::MIN.to_string(), "18446744073709551615".into()] {
        assert!(raw.contains(&number), "{number}");
    }
    let numbers = args(&document, "numbers");
    let words = ["infinite", "least_float", "not", "some", "byte"].map(|key| numbers[key].clone());
    assert_eq!(words.to_vec(), [json!("Infinity"), json!("-Infinity"), json!("NaN"), json!(3), json!(255)]);
    assert_eq!((numbers["tiny"].as_f64(), numbers["zero"].as_f64()), (Some(5e-324), Some(-0.0)));
    let texts = json!({
        "borrowed": "cow", "copied": "owned", "letter": "é", "boxed": "box", "shared": "arc", "counted": "owned",
        "path": "/a b", "buffer": "c", "os": "os", "took": "1.5ms", "formatted": "1-2",
    });
    assert_eq!(args(&document, "texts"), texts);
    let lists = json!({
        "list": [1, u64::MAX], "slice": [1], "empty": [], "nested": [["a", null], ["b\"", ""]], "chars": ["a", "\n"],
        "mixed": [1.5, "Infinity"], "flags": [true, false], "paths": ["p"],
    });
    assert_eq!(args(&document, "lists"), lists);
    let keys = json!({"type": 1, "http.method": "GET", "with \"quotes\"": "2", "debug": "'c'"});
    assert_eq!(args(&document, "keys"), keys);
}

#[test]
fn hostile_names_and_texts_are_kept() {
    let _alone = alone();
    let names =
        ["\"", "\\", "a\nb", "\0", "\u{2028}", "</script>", "日本語", "e\u{301}", "\u{202e}rtl", "{\"a\":1}"];
    let recording = record(|| {
        for name in names {
            drop(scope!(name, text = name));
            drop(operator(name));
        }
        drop(record_function(""));
        drop(scope!(String::new(), a = 1));
    });
    let document = check(&recording);
    for name in names {
        let events = document["traceEvents"].as_array().expect("events");
        let named: Vec<&Value> = events.iter().filter(|event| event["name"] == name).collect();
        assert_eq!(named.len(), 2, "{name:?}");
        assert!(named.iter().any(|event| event["args"]["text"] == name), "{name:?}");
    }
    assert_eq!(args(&document, "record_function"), json!({}));
    assert_eq!(args(&document, "String::new()"), json!({"a": 1}));
}

#[test]
fn names_at_run_time_are_evaluated_only_while_recording() {
    let _alone = alone();
    let mut evaluated = 0;
    let mut name = |number: u32| {
        evaluated += 1;
        format!("step {number}")
    };
    drop(scope!(name(1), rows = 1));
    let recording = record(|| drop(scope!(name(2), rows = 2)));
    assert_eq!(evaluated, 1);
    assert_eq!(args(&check(&recording), "step 2"), json!({"rows": 2}));
}

mod service {
    pub(super) fn handle(request: u64) {
        let _span = super::function_scope!(request);
        let inner = || drop(super::function_scope!());
        inner();
    }
}

#[test]
fn function_scopes_have_the_path_of_the_function() {
    let _alone = alone();
    let recording = record(|| service::handle(7));
    let trace = recording.trace().expect("a trace");
    let spans = rows(trace, "recorder::values::service::handle");
    assert_eq!(spans.len(), 2, "the closure counts as the function");
    check(&recording);
}

#[test]
fn a_repeated_key_is_kept_and_counted() {
    let _alone = alone();
    let recording = record(|| drop(scope!("x", dup = 1, other = 2, dup = 3)));
    assert_eq!(recording.trace().expect("a trace").diagnostics.count(Code::DuplicateKey), 1);
    assert_eq!(args(&chrome(&recording), "x"), json!({"dup": 3, "other": 2}));
}

#[test]
fn every_cut_argument_is_counted_in_the_diagnostics() {
    let _alone = alone();
    let long = "x".repeat(100_000);
    let recording = record(|| {
        drop(scope!("one", text = long, number = 1));
        drop(scope!("two", text = long));
    });
    assert_eq!(recording.trace().expect("a trace").diagnostics.count(Code::CutArgument), 3);
    assert_eq!(recording.statistics.cut_arguments, 3);
}

struct Panicky;

impl Debug for Panicky {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::panic::resume_unwind(Box::new("while formatting"))
    }
}

impl Display for Panicky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self, f)
    }
}

impl AsRef<[usize]> for Panicky {
    fn as_ref(&self) -> &[usize] {
        std::panic::resume_unwind(Box::new("while reading a shape"))
    }
}

fn panicking() -> u8 {
    std::panic::resume_unwind(Box::new("while evaluating"))
}

#[test]
fn a_panic_in_an_argument_does_not_silence_its_thread() {
    let _alone = alone();
    let recording = record(|| {
        let panics: [fn(); 4] = [
            || drop(scope!("debug", v = ?Panicky)),
            || drop(scope!("display", v = %Panicky)),
            || drop(scope!("shapes", shapes: [Panicky])),
            || drop(scope!("value", v = panicking())),
        ];
        for run in panics {
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            // A new call site, and enough spans for a new chunk.
            for at in 0..5000 {
                drop(scope!("after", at = at));
            }
        }
        thread::spawn(|| drop(scope!("elsewhere"))).join().expect("the thread should not panic");
    });
    check(&recording);
    assert_eq!(
        [
            rows(recording.trace().expect("a trace"), "after").len(),
            rows(recording.trace().expect("a trace"), "elsewhere").len()
        ],
        [20_000, 1]
    );
    assert_eq!(recording.statistics.dropped, 0);
    let again = record(|| drop(scope!("in the next recording")));
    assert_eq!(rows(again.trace().expect("a trace"), "in the next recording").len(), 1);
}

#[test]
fn a_filter_selects_call_sites_in_one_recording() {
    let _alone = alone();
    let work = || {
        let _outer = scope!("outer");
        drop(scope!("noise"));
        drop(scope!("noise with arguments", at = 1));
        instant!("noise of an event");
        drop(record_function("named"));
        drop(scope!("inner"));
    };
    let names = |recording: &Recording| {
        let trace = recording.trace().expect("a trace");
        let rows = trace.table.rows().filter(|&row| {
            ["cpu_op", "user_annotation", "cpu_instant_event"].contains(&trace.table.cat(row))
        });
        rows.map(|row| trace.table.name(row).to_owned()).collect::<Vec<_>>()
    };
    let all = ["outer", "noise", "noise with arguments", "noise of an event", "named", "inner"];
    for round in 0..3 {
        let builder = Profiler::builder();
        let is_filtered = round == 1;
        let builder =
            if is_filtered { builder.filter(|site| !site.name.starts_with("noise")) } else { builder };
        let mut profiler = builder.start().expect("recording should start");
        work();
        let recording = profiler.stop().expect("a recording").expect("a recording");
        let expected = if is_filtered { &["outer", "named", "inner"][..] } else { &all };
        assert_eq!(names(&recording), expected, "round {round}");
        assert_eq!(recording.statistics.dropped, 0);
        check(&recording);
    }
}
