//! The file format of summaries (`.ksum`).
//!
//! ```text
//! file    = "KSUM" version:u8 entry*
//! entry   = length:varint section* crc32:u32le        (the CRC covers the sections)
//! section = tag:u8 length:varint payload
//! ```
//!
//! An entry is the summary of one recording of one rank. The entries of a file are ordered by rank, start and content, and
//! no two are equal. Merging files is the union of their entries, so it is associative, commutative and idempotent: any
//! order gives the same bytes. Integers are LEB128 varints, signed ones zigzag-coded. A reader skips sections that it does
//! not know and fills in sections that are missing; it rejects files of a newer version.

mod bytes;
mod sections;

use self::bytes::{Reader, Writer};
use super::summary::Summary;
use crate::error::Error;
use crate::order::sort_by_key;
use alloc::vec::Vec;
use crc::{CRC_32_ISO_HDLC, Crc};

const MAGIC: &[u8; 4] = b"KSUM";

/// The version that is written. Files of versions up to this one are read.
pub const VERSION: u8 = 1;

/// The size that the summary of a small trace may have, in bytes.
pub const SMALL: usize = 256 << 10;

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Whether a file begins like a file of summaries.
pub fn is_summary(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Returns the largest size of a summary of a trace whose compressed file has this size, in bytes: 2 % of it, or
/// [`SMALL`] if that is larger.
pub fn limit(file_bytes: u64) -> usize {
    usize::try_from(file_bytes / 50).unwrap_or(usize::MAX).max(SMALL)
}

/// Writes summaries as one file. Equal ones are written once.
pub fn encode(summaries: &[Summary]) -> Vec<u8> {
    let mut entries: Vec<((i64, i64), Vec<u8>)> =
        summaries.iter().map(|one| ((one.rank.unwrap_or(-1), one.time.0), sections::encode(one))).collect();
    // The sort is stable, so entries with equal keys stay ordered by content.
    entries.sort_by(|a, b| a.1.cmp(&b.1));
    sort_by_key(&mut entries, |entry| entry.0);
    entries.dedup();
    let mut out = Writer::default();
    out.raw(MAGIC);
    out.raw(&[VERSION]);
    for (_, entry) in &entries {
        out.unsigned(entry.len() as u64);
        out.raw(entry);
        out.raw(&CRC.checksum(entry).to_le_bytes());
    }
    out.finish()
}

/// Writes one summary as a file of at most `limit` bytes. To fit, it leaves out names with little time, then the last
/// collectives, whose number it keeps.
pub fn encode_within(mut summary: Summary, limit: usize) -> Vec<u8> {
    /// The number of names that stay.
    const FEWEST: usize = 16;
    loop {
        let file = encode(core::slice::from_ref(&summary));
        if file.len() <= limit {
            return file;
        }
        let names = summary.operators.len().max(summary.kernels.len());
        if names > FEWEST {
            summary.operators.truncate(names / 2);
            summary.kernels.truncate(names / 2);
        } else if summary.calls.is_empty() {
            return file;
        } else {
            let excess = (file.len() - limit) as u64;
            let share = summary.calls.len() as u64 * excess / file.len() as u64;
            let kept = summary.calls.len() - (share as usize + 1).min(summary.calls.len());
            summary.calls_left_out += (summary.calls.len() - kept) as u64;
            summary.calls.truncate(kept);
        }
    }
}

/// Reads a file of summaries.
///
/// # Errors
/// Returns [`Error::NotATrace`] if it is damaged, of a newer version, or not a file of summaries.
pub fn decode(file: &[u8]) -> Result<Vec<Summary>, Error> {
    let not = |looks_like, hint, offset: usize| Error::NotATrace { looks_like, hint, offset: offset as u64 };
    let Some((&version, rest)) = file.strip_prefix(MAGIC).and_then(|rest| rest.split_first()) else {
        return Err(not("no file of summaries", "", 0));
    };
    if version > VERSION || version == 0 {
        return Err(not("a summary of a newer version", "use a newer kinetoscope", MAGIC.len()));
    }
    let damaged = |at: usize| not("a damaged summary", "make it again with `kinetoscope summarize`", at);
    let mut reader = Reader::new(rest);
    let mut summaries = Vec::new();
    while !reader.is_empty() {
        let at = file.len() - reader.len();
        let entry = reader.block().ok_or_else(|| damaged(at))?;
        let crc = reader.raw(4).ok_or_else(|| damaged(at))?;
        if CRC.checksum(entry).to_le_bytes() != crc {
            return Err(damaged(at));
        }
        summaries.push(sections::decode(entry).ok_or_else(|| damaged(at))?.bounded());
    }
    Ok(summaries)
}

/// Merges files of summaries into one.
///
/// # Errors
/// The errors of [`decode`].
pub fn merge<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    for file in files {
        all.append(&mut decode(file)?);
    }
    Ok(encode(&all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::ranks::sketch::Sketch;
    use crate::ranks::summary::Named;
    use alloc::format;
    use alloc::vec;

    fn some(random: &mut Random) -> Summary {
        let name = |at: i64| Named {
            name: format!("kernel {at}"),
            count: 3,
            self_ns: at * 7,
            durations: Sketch::of(&[at, 2 * at, 900]),
        };
        Summary {
            source: format!("rank{}.json", random.below(3)),
            rank: Some(random.below(3)),
            time: (random.below(9), 100 + random.below(9)),
            kernels: (0..random.below(40)).map(name).collect(),
            calls: vec![crate::ranks::calls::Call { time: (5, 9), ..Default::default() }; 30],
            ..Summary::default()
        }
    }

    #[test]
    fn merging_gives_the_same_bytes_in_any_order_and_tree() {
        let mut random = Random(1);
        for _ in 0..50 {
            let files: Vec<Vec<u8>> = (0..=random.below(7)).map(|_| encode(&[some(&mut random)])).collect();
            let all = merge(files.iter().map(Vec::as_slice)).expect("valid files");
            let mut left = files.clone();
            while left.len() > 1 {
                let a = left.swap_remove(random.below(left.len() as u64) as usize);
                let b = left.swap_remove(random.below(left.len() as u64) as usize);
                left.push(merge([a.as_slice(), b.as_slice(), a.as_slice()]).expect("valid files"));
            }
            assert_eq!(merge([left[0].as_slice()]).expect("a valid file"), all);
        }
    }

    #[test]
    fn every_damage_is_an_error() {
        let file = encode(&[some(&mut Random(2)), some(&mut Random(3))]);
        for cut in 1..file.len() {
            let is_end_of_entry = decode(&file[..cut]).is_ok_and(|all| all.len() < 2);
            assert!(decode(&file[..cut]).is_err() || is_end_of_entry, "{cut}");
        }
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 0x55;
            assert!(decode(&other).is_err(), "{at}");
        }
        assert!(decode(b"KSUM\x09").is_err_and(|error| format!("{error}").contains("newer")));
    }

    #[test]
    fn sections_of_newer_writers_are_skipped() {
        let summary = some(&mut Random(5));
        let mut entry = sections::encode(&summary);
        entry.extend([99, 2, 7, 7]);
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.raw(&[VERSION]);
        out.unsigned(entry.len() as u64);
        out.raw(&entry);
        out.raw(&CRC.checksum(&entry).to_le_bytes());
        assert_eq!(decode(&out.finish()), decode(&encode(&[summary])));
    }

    #[test]
    fn a_summary_fits_into_its_limit() {
        let mut summary = some(&mut Random(4));
        let call = summary.calls[0];
        summary.calls = (0..5000).map(|at| crate::ranks::calls::Call { seq: Some(at), ..call }).collect();
        for limit in [60_000, 20_000, 3_000, 500] {
            let file = encode_within(summary.clone(), limit);
            let back = decode(&file).expect("a valid file").remove(0);
            assert!(file.len() <= limit || back.calls.is_empty(), "{limit}: {}", file.len());
            assert_eq!(back.calls.len() as u64 + back.calls_left_out, 5000);
        }
    }
}
