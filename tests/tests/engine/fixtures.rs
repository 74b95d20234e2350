//! Every fixture equals its golden, is recognised in every compression, is equal after a round trip, and does not
//! depend on how it is split into chunks.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::diagnostics::{Code, Diagnostics};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::write::chrome;
use kinetoscope_core::queries::{QUERIES, Request};
use kinetoscope_core::trace::read::unpack::Unpacker;
use kinetoscope_core::trace::{Trace, TraceReader};
use kinetoscope_tests::{dump, files};
use std::convert::Infallible;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(files::data().join(folder)).expect("fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{folder}: only {} fixtures", paths.len());
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn read(bytes: &[u8]) -> String {
    match Trace::read(bytes) {
        Ok(trace) => dump::complete(&trace),
        Err(error) => format!("refused: {error}\n"),
    }
}

fn read_in_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut reader = TraceReader::default();
    let fed: Result<(), Error> = chunks.into_iter().try_for_each(|chunk| reader.feed(chunk));
    match fed.and_then(|()| reader.finish()) {
        Ok(trace) => dump::complete(&trace),
        Err(error) => format!("refused: {error}\n"),
    }
}

/// A missing golden is a failure; `BLESS=1` writes all goldens.
#[test]
fn fixtures_equal_their_goldens() {
    let mut differences = Vec::new();
    for folder in ["healthy", "malformed", "refused"] {
        for path in fixtures(folder) {
            let ours = read(&fs::read(&path).expect("a fixture"));
            assert_eq!(ours.starts_with("refused"), folder == "refused", "{}: {ours}", name(&path));
            let golden = files::data().join("expected").join(format!("{}.txt", name(&path)));
            if std::env::var_os("BLESS").is_some() {
                fs::create_dir_all(golden.parent().expect("a folder")).expect("a folder");
                fs::write(&golden, &ours).expect("a golden");
            }
            let theirs = fs::read_to_string(&golden).unwrap_or_else(|e| panic!("{}: {e}", golden.display()));
            if ours != theirs {
                differences.push(format!("{}:\n{ours}--- differs from\n{theirs}", name(&path)));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_defect_has_a_diagnostic() {
    for path in fixtures("malformed") {
        let dump = read(&fs::read(&path).expect("a fixture"));
        assert!(dump.contains("\ndiagnostic "), "{}: {dump}", name(&path));
    }
}

#[test]
fn the_result_does_not_depend_on_chunks() {
    for folder in ["healthy", "malformed", "refused"] {
        for path in fixtures(folder) {
            let bytes = fs::read(&path).expect("a fixture");
            let expected = read(&bytes);
            for at in 0..=bytes.len() {
                let cut = read_in_chunks([&bytes[..at], &bytes[at..]]);
                assert_eq!(cut, expected, "{} cut at {at}", name(&path));
            }
            assert_eq!(read_in_chunks(bytes.chunks(1)), expected, "{} in chunks of 1", name(&path));
            assert_eq!(read_in_chunks(bytes.chunks(7)), expected, "{} in chunks of 7", name(&path));
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn every_compression_is_recognised() {
    for folder in ["healthy", "malformed"] {
        for path in fixtures(folder).iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
            let bytes = fs::read(path).expect("a fixture");
            let expected = read(&bytes);
            for compressed in [gzip(&bytes), zstd(&bytes)] {
                assert_eq!(read(&compressed), expected, "{}", name(path));
                assert_eq!(read_in_chunks(compressed.chunks(3)), expected, "{} in chunks of 3", name(path));
            }
            let (a, b) = bytes.split_at(bytes.len() / 2);
            assert_eq!(read(&[gzip(a), gzip(b)].concat()), expected, "{} in two members", name(path));
            assert_eq!(read(&[zstd(a), zstd(b)].concat()), expected, "{} in two frames", name(path));
        }
    }
}

fn unpacked(bytes: &[u8], length: usize) -> (Vec<u8>, Diagnostics) {
    let (mut unpacker, mut out) = (Unpacker::default(), Vec::new());
    let mut sink = |piece: &[u8]| {
        out.extend_from_slice(piece);
        Ok::<(), Infallible>(())
    };
    for chunk in bytes.chunks(length) {
        let Ok(()) = unpacker.feed(chunk, &mut sink);
    }
    let Ok(diagnostics) = unpacker.finish(&mut sink);
    (out, diagnostics)
}

/// The longest block of zstd, in bytes.
const BLOCK: usize = 128 << 10;

#[test]
fn all_blocks_of_a_cut_or_damaged_zstd_frame_are_read() {
    let event = |at: u32| {
        let ts = at.wrapping_mul(2_654_435_761) >> 12;
        format!("{{\"ph\":\"X\",\"name\":\"op {}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":1}},\n", ts % 97)
    };
    let text = format!("[\n{}", (0..20_000).map(event).collect::<String>());
    let packed = zstd(text.as_bytes());
    for tenth in 1..=10 {
        let cut = packed.len() * tenth / 10 - 1;
        let mut damaged = packed.clone();
        damaged[cut..].fill(0xff);
        for (bytes, code) in [(&packed[..cut], Code::CompressedCut), (&damaged[..], Code::CompressedDamaged)]
        {
            let (out, diagnostics) = unpacked(bytes, 1000);
            assert_eq!(diagnostics.findings().iter().map(|f| f.code).collect::<Vec<_>>(), [code], "{tenth}");
            for length in [77, bytes.len()] {
                assert!(
                    unpacked(bytes, length) == (out.clone(), diagnostics.clone()),
                    "{tenth} by {length} bytes"
                );
            }
            let equal = text.bytes().zip(&out).take_while(|(a, b)| a == *b).count();
            assert!(equal + BLOCK > text.len() * tenth / 10, "{tenth}: {equal} of {}", text.len());
        }
    }
}

#[test]
fn exported_traces_read_back_equal() {
    for folder in ["healthy", "malformed"] {
        for path in fixtures(folder) {
            let trace = Trace::read(&fs::read(&path).expect("a fixture")).expect("a trace");
            let text = chrome::write(&trace.table, String::new(), |_| true).expect("memory");
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
            assert!(parsed.is_ok(), "{}: {:?}\n{text}", name(&path), parsed.err());
            let again = Trace::read(text.as_bytes()).expect("a trace");
            assert_eq!(dump::structure(&again), dump::structure(&trace), "{}\n{text}", name(&path));
            let twice = chrome::write(&again.table, String::new(), |_| true).expect("memory");
            assert_eq!(twice, text, "{}", name(&path));
        }
    }
}

/// Inputs found by fuzzing, each named after the defect that it caused.
#[test]
fn results_of_fuzzed_inputs_do_not_depend_on_chunks() {
    let entries = fs::read_dir(files::data().join("fuzz")).expect("fuzzed inputs");
    for path in entries.map(|e| e.expect("an entry").path()) {
        let bytes = fs::read(&path).expect("a fixture");
        let expected = read(&bytes);
        for at in 0..=bytes.len() {
            let cut = read_in_chunks([&bytes[..at], &bytes[at..]]);
            assert_eq!(cut, expected, "{} cut at {at}", name(&path));
        }
        for size in [1, 2, 3, 5, 7, 31] {
            assert_eq!(read_in_chunks(bytes.chunks(size)), expected, "{} by {size}", name(&path));
        }
        if let Ok(trace) = Trace::read(&bytes) {
            for query in QUERIES {
                let options = Options::default();
                let request = Request::new(&options).about("fuzzed").for_reading(true);
                let answer = query.answer(&trace, request);
                assert!(matches!(answer, Ok(_) | Err(Error::Unfit(_))), "{} of {}", query.name, name(&path));
            }
            let text = chrome::write(&trace.table, String::new(), |_| true).expect("memory");
            if !trace.table.is_empty() {
                let again = Trace::read(text.as_bytes()).expect("a trace");
                assert_eq!(dump::structure(&again), dump::structure(&trace), "{}\n{text}", name(&path));
                let twice = chrome::write(&again.table, String::new(), |_| true).expect("memory");
                assert_eq!(twice, text, "{}", name(&path));
            }
        }
    }
}
