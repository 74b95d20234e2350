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

mod sections;

use super::summary::Summary;
use crate::base::error::Error;
use crate::base::order::{sort_by, sort_by_key};
use crate::base::varints::{Reader, Writer};
use alloc::boxed::Box;
use alloc::vec::{self, Vec};
use crc::{CRC_32_ISO_HDLC, Crc};

const MAGIC: &[u8; 4] = b"KSUM";

/// The version that is written. Files of versions up to this one are read: those of version 1 have blanks in words.
pub const VERSION: u8 = 2;

/// The size that the summary of a small trace may have, in bytes.
pub const SMALL: usize = 256 << 10;

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Whether a file begins like a file of summaries.
pub fn is_summary(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// How much smaller a trace is after gzip.
const RATIO: u64 = 12;

/// Returns the largest size of a summary of a trace, in bytes: 2 % of its file, or [`SMALL`] if that is larger. Of a file
/// whose name does not end in `.gz` or `.zst`, a twelfth of its size is taken, as after gzip.
pub fn limit(name: &str, file_bytes: u64) -> usize {
    let extension = name.rsplit('.').next().unwrap_or_default();
    let is_compressed = ["gz", "zst"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    let compressed = if is_compressed { file_bytes } else { file_bytes / RATIO };
    usize::try_from(compressed / 50).unwrap_or(usize::MAX).max(SMALL)
}

/// Summaries as a file has them. They take a small part of the memory of [`Summary`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summaries {
    entries: Vec<Entry>,
}

/// One summary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    rank: i64,
    start: i64,
    sections: Box<[u8]>,
}

impl Entry {
    fn new(summary: &Summary, sections: Box<[u8]>) -> Entry {
        Entry { rank: summary.rank.unwrap_or(-1), start: summary.time.0, sections }
    }
}

impl Summaries {
    /// Adds a summary.
    pub fn push(&mut self, summary: &Summary) {
        self.entries.push(Entry::new(summary, sections::encode(summary).into()));
    }

    /// Returns one summary whose file has at most `limit` bytes. To fit, long texts are cut, names with little time are left
    /// out, then the last collectives, whose number is kept, then the ranks of groups. Steps stay.
    pub fn within(mut summary: Summary, limit: usize) -> Summaries {
        loop {
            let mut summaries = Summaries::default();
            summaries.push(&summary);
            let size = summaries.to_file().len();
            if size <= limit || !summary.shrink(size, limit) {
                return summaries;
            }
        }
    }

    /// Adds the summaries in a file. Sections that this version does not know stay in them.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] if the file is damaged, of a newer version, or not a file of summaries. Nothing is added
    /// then.
    pub fn read(&mut self, file: &[u8]) -> Result<(), Error> {
        let not =
            |looks_like, hint, offset: usize| Error::NotATrace { looks_like, hint, offset: offset as u64 };
        let Some((&version, rest)) = file.strip_prefix(MAGIC).and_then(|rest| rest.split_first()) else {
            return Err(not("no file of summaries", "", 0));
        };
        if version > VERSION || version == 0 {
            return Err(not("a summary of a newer version", "use a newer kinetoscope", MAGIC.len()));
        }
        let damaged = |at: usize| not("a damaged summary", "make it again with `kinetoscope summarize`", at);
        let mut reader = Reader::new(rest);
        let mut entries = Vec::new();
        while !reader.is_empty() {
            let at = file.len() - reader.len();
            entries.push(read_entry(&mut reader).ok_or_else(|| damaged(at))?);
        }
        self.entries.append(&mut entries);
        Ok(())
    }

    /// Adds all of `other`.
    pub fn append(&mut self, mut other: Summaries) {
        self.entries.append(&mut other.entries);
    }

    /// The number of summaries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the file. Equal summaries are written once.
    pub fn to_file(&self) -> Vec<u8> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        // The sort by keys is stable, so entries with equal keys stay ordered by content.
        sort_by(&mut entries, |a, b| a.sections.cmp(&b.sections));
        sort_by_key(&mut entries, |entry| (entry.rank, entry.start));
        entries.dedup();
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.raw(&[VERSION]);
        for Entry { sections, .. } in entries {
            out.unsigned(sections.len() as u64);
            out.raw(sections);
            out.raw(&CRC.checksum(sections).to_le_bytes());
        }
        out.finish()
    }
}

impl IntoIterator for Summaries {
    type Item = Summary;
    type IntoIter = Decoded;

    fn into_iter(self) -> Decoded {
        Decoded(self.entries.into_iter())
    }
}

/// Summaries, each decoded when it is requested.
#[derive(Clone, Debug)]
pub struct Decoded(vec::IntoIter<Entry>);

impl Iterator for Decoded {
    type Item = Summary;

    fn next(&mut self) -> Option<Summary> {
        self.0.find_map(|entry| decode(&entry.sections))
    }
}

fn read_entry(reader: &mut Reader<'_>) -> Option<Entry> {
    let sections = reader.block()?;
    let crc = reader.raw(4)?;
    if CRC.checksum(sections).to_le_bytes() != crc {
        return None;
    }
    Some(Entry::new(&decode(sections)?, sections.into()))
}

fn decode(entry: &[u8]) -> Option<Summary> {
    Some(sections::decode(entry)?.bounded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use crate::runs::ranks::sketch::Sketch;
    use crate::runs::ranks::summary::Named;
    use alloc::format;
    use alloc::vec;

    fn encode(summaries: &[Summary]) -> Vec<u8> {
        let mut all = Summaries::default();
        for summary in summaries {
            all.push(summary);
        }
        all.to_file()
    }

    fn decode(file: &[u8]) -> Result<Vec<Summary>, Error> {
        let mut all = Summaries::default();
        all.read(file).map(|()| all.into_iter().collect())
    }

    fn merge<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, Error> {
        let mut all = Summaries::default();
        files.into_iter().try_for_each(|file| all.read(file))?;
        Ok(all.to_file())
    }

    fn some(random: &mut Random) -> Summary {
        let name = |at: i64| Named {
            name: format!("kernel {at}"),
            count: 3,
            self_ns: at * 7,
            durations: Sketch::from_durations(&[at, 2 * at, 900]),
        };
        Summary {
            source: format!("rank{}.json", random.below(3)),
            rank: Some(random.below(3)),
            time: (random.below(9), 100 + random.below(9)),
            kernels: (0..random.below(40)).map(name).collect(),
            calls: vec![crate::runs::ranks::calls::Call { time: (5, 9), ..Default::default() }; 30],
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
        let file = out.finish();
        assert_eq!(decode(&file), decode(&encode(&[summary])));
        // Merging keeps them.
        assert_eq!(merge([file.as_slice()]).expect("a valid file"), file);
    }

    #[test]
    fn a_summary_fits_into_its_limit() {
        let mut summary = some(&mut Random(4));
        let call = summary.calls[0];
        summary.calls =
            (0..5000).map(|at| crate::runs::ranks::calls::Call { seq: Some(at), ..call }).collect();
        for limit in [60_000, 20_000, 3_000, 500] {
            let file = Summaries::within(summary.clone(), limit).to_file();
            let back = decode(&file).expect("a valid file").remove(0);
            assert!(file.len() <= limit || back.calls.is_empty(), "{limit}: {}", file.len());
            assert_eq!(back.calls.len() as u64 + back.calls_left_out, 5000);
        }
    }

    #[test]
    fn long_texts_and_lists_of_ranks_fit_into_the_limit() {
        let mut summary = some(&mut Random(6));
        summary.host = "é".repeat(100_000);
        summary.kernels.iter_mut().for_each(|kernel| kernel.name = "x".repeat(20_000));
        let group = crate::runs::ranks::calls::Group { ranks: (0..100_000).collect(), ..Default::default() };
        summary.groups = vec![group; 3];
        let file = Summaries::within(summary.clone(), 30_000).to_file();
        assert!(file.len() <= 30_000, "{}", file.len());
        let back = decode(&file).expect("a valid file").remove(0);
        assert!(back.host.starts_with("éé") && back.groups.len() == 3);
        assert_eq!(
            (limit("a.json", 24 << 30), limit("a.json.gz", 2 << 30)),
            ((2 << 30) / 50, (2 << 30) / 50)
        );
    }
}
