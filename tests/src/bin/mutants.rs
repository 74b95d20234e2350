//! Changes small inputs of every kind at random and runs every query, export and operation on the result: no panic, nothing that takes
//! longer than [`SLOW`], and no identity that a readable mutant violates.
//!
//! `mutants [MUTANTS] [SEED] [KIND]` tries so many mutants of each kind, or of one.

use flate2::read::MultiGzDecoder;
use kinetoscope::files::RunFiles;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{EXPORTS, QUERIES, Request, Started, query};
use kinetoscope_core::runs::ranks::file::{Summaries, is_summary};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::clock::nanoseconds;
use kinetoscope_tests::files::{below, data};
use kinetoscope_tests::operations::{OPERATIONS, parse};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How much processor time a mutant may take with a command.
const SLOW: Duration = Duration::from_secs(5);

/// The number of commands that each mutant passes through; others follow with the next one.
const COMMANDS: usize = 10;

/// The inputs of each kind. Larger ones would only take longer.
const KINDS: [(&str, &[&str]); 10] = [
    ("chrome", &["healthy", "malformed"]),
    ("recording", &["gpu"]),
    ("snapshot", &["snapshots"]),
    ("torch", &["torch/kineto", "torch/cuda", "torch/patterns"]),
    ("legacy", &["torch/legacy", "torch/synthetic"]),
    ("execution trace", &["execution_traces"]),
    ("summary", &["runs/summaries"]),
    ("perfetto", &["torch/2.15/cuspy"]),
    (ARCHIVES, &["healthy", "malformed"]),
    ("hostile", &["hostile"]),
];

/// The kind whose inputs are packed: each mutant is an archive of some of them.
const ARCHIVES: &str = "archive";

/// The largest input, in bytes.
const LARGEST: usize = 48 << 10;

/// A small generator of random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let (count, seed, only) = (number(0, 20_000), number(1, 1), arguments.get(2));
    std::panic::set_hook(Box::new(|_| {}));
    let faults: Mutex<Vec<String>> = Mutex::new(Vec::new());
    for (kind, folders) in KINDS.into_iter().filter(|(kind, _)| only.is_none_or(|only| only == kind)) {
        let mut inputs: Vec<Vec<u8>> =
            folders.iter().flat_map(|folder| files(&data().join(folder))).collect();
        if kind == ARCHIVES {
            inputs = inputs.chunks(3).flat_map(|files| [zip(files), tar(files)]).collect();
        }
        let (begun, next, read) = (Instant::now(), AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count as usize {
                    return;
                }
                let mut random = Random(seed ^ (at as u64) << 20);
                let bytes = mutant(&inputs, &mut random);
                match try_one(kind, &bytes, at) {
                    Ok(is_read) => drop(read.fetch_add(usize::from(is_read), Ordering::Relaxed)),
                    Err(fault) => {
                        let place =
                            std::env::temp_dir().join(format!("kinetoscope-mutant-{kind}-{seed}-{at}"));
                        let _ = fs::write(&place, &bytes);
                        let mut faults = faults.lock().expect("no panic");
                        faults.push(format!("{kind} {at}: {fault}: {}", place.display()));
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            (0..threads).for_each(|_| drop(scope.spawn(work)));
        });
        println!(
            "{kind:<16} {} inputs, {count} mutants, {} read, {:.0} s",
            inputs.len(),
            read.into_inner(),
            begun.elapsed().as_secs_f64()
        );
    }
    let faults = faults.into_inner().expect("no panic");
    faults.iter().take(20).for_each(|fault| println!("{fault}"));
    println!("{} faults", faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The small files in a folder and its subfolders; those that are sound are decompressed.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let plain = |path| {
        let bytes = fs::read(path).expect("a file");
        let mut text = Vec::new();
        let is_sound = MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text).is_ok();
        if is_sound { text } else { bytes }
    };
    let all = below(folder).into_iter().map(plain);
    all.filter(|bytes| !bytes.is_empty() && bytes.len() <= LARGEST).collect()
}

/// An input with some changes.
fn mutant(inputs: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    const NUMBERS: [&[u8]; 8] = [
        b"0",
        b"-1",
        b"1e308",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"0.0000001",
        b"NaN",
        b"18446744073709551616",
    ];
    let mut bytes = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(4) {
        let (at, length) = (random.below(bytes.len()), random.below(32));
        let end = bytes.len().min(at + length);
        match random.below(8) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next() as u8),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len());
                let piece = other[from..other.len().min(from + length)].to_vec();
                bytes.splice(at..end, piece);
            }
            5 => bytes.truncate(at.max(1)),
            _ => {
                // A number of the text becomes another one.
                let Some(start) = (at..bytes.len()).find(|&at| bytes[at].is_ascii_digit()) else { continue };
                let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = NUMBERS[random.below(NUMBERS.len())];
                bytes.splice(start..start + digits, number.iter().copied());
            }
        }
    }
    bytes
}

fn zip(files: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (at, file) in files.iter().enumerate() {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(format!("{at}.json"), options).expect("a file");
        writer.write_all(file).expect("memory");
    }
    writer.finish().expect("an archive").into_inner()
}

fn tar(files: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = tar::Builder::new(Vec::new());
    for (at, file) in files.iter().enumerate() {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        writer.append_data(&mut header, format!("{at}.json"), file.as_slice()).expect("memory");
    }
    writer.into_inner().expect("an archive")
}

/// Reads an archive as the traces of a run. Returns whether a file of it could be read.
fn unpack(bytes: &[u8], number: usize) -> Result<bool, String> {
    let ending = if bytes.starts_with(b"PK") { "zip" } else { "tar" };
    let path =
        std::env::temp_dir().join(format!("kinetoscope-archive-{}-{number}.{ending}", std::process::id()));
    fs::write(&path, bytes).map_err(|error| error.to_string())?;
    let mut is_read = false;
    if let Ok(files) = RunFiles::find(std::slice::from_ref(&path)) {
        files.read(&mut |_| {}, &mut |found| is_read |= !found.is_other_file());
    }
    let _ = fs::remove_file(path);
    Ok(is_read)
}

/// Reads a mutant and runs commands on it. Returns whether it could be read.
fn try_one(kind: &str, bytes: &[u8], number: usize) -> Result<bool, String> {
    let mut what = "reading".to_owned();
    let run = catch_unwind(AssertUnwindSafe(|| match kind {
        ARCHIVES => unpack(bytes, number),
        _ => run(bytes, number, &mut what),
    }));
    run.unwrap_or_else(|_| Err("panic".to_owned())).map_err(|fault| format!("{what}: {fault}"))
}

/// The processor time of this thread, which does not depend on what else the machine does.
fn processor_time() -> Duration {
    Duration::from_nanos(nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn run(bytes: &[u8], number: usize, what: &mut String) -> Result<bool, String> {
    let mut begun = processor_time();
    let mut in_time = |what: &str| {
        let now = processor_time();
        let took = now.saturating_sub(begun);
        begun = now;
        if took > SLOW { Err(format!("{what} took {took:?}")) } else { Ok(()) }
    };
    parse(bytes)?;
    in_time("parsing")?;
    if is_summary(bytes) {
        return Ok(Summaries::default().read(bytes).is_ok());
    }
    let Ok(trace) = Trace::read(bytes) else { return in_time("reading").map(|()| false) };
    in_time("reading")?;
    for at in 0..COMMANDS {
        let options = Options::default();
        let place = (number * COMMANDS + at) % (QUERIES.len() + EXPORTS.len() + OPERATIONS.len());
        if let Some(query) = QUERIES.get(place) {
            query.name.clone_into(what);
            let _ = query.answer(&trace, Request::new(&options).for_reading(number.is_multiple_of(2)));
        } else if let Some((name, operation)) = OPERATIONS.get(place - QUERIES.len()) {
            (*name).clone_into(what);
            operation(&trace)?;
        } else {
            let export = &EXPORTS[place - QUERIES.len() - OPERATIONS.len()];
            export.name.clone_into(what);
            if let Ok(Started::Writing(mut writing)) = export.begin(&trace, &options, b"salt") {
                let mut out = Vec::new();
                while writing.next(&trace, &mut out) {
                    out.clear();
                }
            }
        }
        in_time(what)?;
    }
    "check".clone_into(what);
    let check = query("check").map_err(|error| error.to_string())?;
    let checked =
        check.answer(&trace, Request::new(&Options::default())).map_err(|error| error.to_string())?;
    in_time(what)?;
    if checked.failed { Err("an identity does not hold".to_owned()) } else { Ok(true) }
}
