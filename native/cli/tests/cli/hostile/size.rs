//! Small inputs that expand: time and memory are bounded by what was read and by the memory limit.

use crate::support::{data, errors};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::process::{Command, Output};

/// Runs a command that may take so many seconds of processor time, and so much memory in MiB.
fn within(seconds: u32, mebibytes: u32, command: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_kinetoscope");
    let limits = format!("ulimit -t {seconds}; ulimit -v {}; exec {program} {command}", mebibytes * 1024);
    Command::new("sh").args(["-c", &limits]).output().expect("a shell")
}

fn path(name: &str) -> String {
    data("hostile").join(name).display().to_string()
}

#[test]
fn values_that_a_snapshot_shares_do_not_expand_without_bound() {
    for file in ["pickle-shared-blocks.pickle", "pickle-shared-frames.pickle"] {
        for command in ["summary --memory-limit 500MB", "memory", "info", "check --strict"] {
            let output = within(10, 1024, &format!("{command} {}", path(file)));
            assert!(
                output.status.code().is_some(),
                "{command} {file}: {:?} {}",
                output.status,
                errors(&output)
            );
        }
    }
    let checked = within(10, 1024, &format!("check {}", path("pickle-shared-blocks.pickle")));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("repeated_values"));
    let limited =
        within(10, 1024, &format!("check --memory-limit 20MB {}", path("pickle-shared-blocks.pickle")));
    assert!(String::from_utf8_lossy(&limited.stdout).contains("memory_limit"));
}

#[test]
fn a_damaged_event_that_repeats_is_read_in_linear_time() {
    for command in ["info", "outline", "repair"] {
        let output =
            within(10, 1024, &format!("{command} {} -o /dev/null", path("repair-quadratic.json.gz")));
        assert_eq!(output.status.code(), Some(0), "{command}: {:?} {}", output.status, errors(&output));
    }
}

#[test]
fn brackets_without_an_end_are_within_the_memory_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("brackets.json.gz");
    let mut packed = GzEncoder::new(std::fs::File::create(&path).expect("a file"), Compression::fast());
    packed.write_all(b"{\"a\":[").expect("a member");
    let brackets = vec![b'['; 1 << 20];
    (0..200).for_each(|_| packed.write_all(&brackets).expect("brackets"));
    packed.finish().expect("a file");
    for command in ["summary --memory-limit 50MB", "repair"] {
        let output = within(60, 600, &format!("{command} {}", path.display()));
        assert_eq!(output.status.code(), Some(2), "{command}: {:?} {}", output.status, errors(&output));
    }
}

#[test]
fn the_headers_of_an_archive_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.tar.gz");
    let mut archive = GzEncoder::new(std::fs::File::create(&path).expect("a file"), Compression::fast());
    // A path of 256 MiB.
    let length = 256_u64 << 20;
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(length);
    header.set_path("././@LongLink").expect("a path");
    header.set_cksum();
    archive.write_all(header.as_bytes()).expect("a header");
    let block = vec![b'a'; 1 << 20];
    (0..length >> 20).for_each(|_| archive.write_all(&block).expect("a block"));
    archive.finish().expect("a file");
    let output = within(20, 200, &format!("ranks {}", path.display()));
    assert_eq!(output.status.code(), Some(2), "{:?} {}", output.status, errors(&output));
    assert!(
        errors(&output).contains("a header in the archive is 268435456 bytes long"),
        "{}",
        errors(&output)
    );
}

#[test]
fn long_paths_in_archives_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = std::fs::read(data("healthy/small_gpu_trace.json")).expect("a file");
    for is_pax in [false, true] {
        let path = folder.path().join("run.tar");
        let mut archive = tar::Builder::new(std::fs::File::create(&path).expect("a file"));
        let name = format!("{}/rank0.json", "folder".repeat(30));
        let mut header = tar::Header::new_ustar();
        header.set_size(trace.len() as u64);
        header.set_mode(0o644);
        if is_pax {
            archive.append_pax_extensions([("path", name.as_bytes())]).expect("extensions");
            header.set_path("short.json").expect("a path");
            header.set_cksum();
            archive.append(&header, trace.as_slice()).expect("a file");
        } else {
            let mut header = tar::Header::new_gnu();
            header.set_size(trace.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, &name, trace.as_slice()).expect("a file");
        }
        archive.finish().expect("an archive");
        let output = within(10, 1024, &format!("ranks --format json {}", path.display()));
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("folderfolder"), "{is_pax}");
    }
}
