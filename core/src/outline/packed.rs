//! Parts of outlines as bytes, for other threads that do not share memory.

use super::density::Density;
use super::total::Total;
use super::{OfTrack, Outline, OutlinePart};
use crate::base::diagnostics::Diagnostics;
use crate::base::names::{NameId, Names};
use crate::base::varints::{Reader, Writer};
use crate::trace::table::tracks::Track;
use alloc::vec::Vec;

impl OutlinePart {
    /// The part as bytes, for [`OutlinePart::decode`] in another thread. Their form may change with every release.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.unsigned(self.range.start as u64);
        out.unsigned(self.range.end as u64);
        self.diagnostics.encode(&mut out);
        self.outline.encode(&mut out);
        out.finish()
    }

    /// Returns the part of which [`OutlinePart::encode`] returned the bytes; `None` if they do not have its form.
    pub fn decode(bytes: &[u8]) -> Option<OutlinePart> {
        let mut reader = Reader::new(bytes);
        let [start, end] = [size(&mut reader)?, size(&mut reader)?];
        let diagnostics = Diagnostics::decode(&mut reader)?;
        let outline = Outline::decode(&mut reader)?;
        (start < end && reader.is_empty()).then_some(OutlinePart { outline, range: start..end, diagnostics })
    }
}

fn size(reader: &mut Reader<'_>) -> Option<usize> {
    usize::try_from(reader.unsigned()?).ok()
}

/// A name of an outline with this many names.
fn name(reader: &mut Reader<'_>, names: usize) -> Option<NameId> {
    let id = reader.unsigned()?;
    (id < names as u64).then_some(NameId(id as u32))
}

impl Outline {
    /// Writes the outline of a part, which has no blocks.
    fn encode(&self, out: &mut Writer) {
        let names: Vec<&str> = self.names.iter().map(|(_, text)| text).collect();
        out.list(&names, |out, text| out.text(text));
        self.all.encode(out);
        let groups: Vec<_> = self.groups.iter().collect();
        out.list(&groups, |out, (category, name, total)| {
            out.unsigned(u64::from(category.0));
            out.unsigned(u64::from(name.0));
            total.encode(out);
        });
        let tracks: Vec<_> = self.tracks.all().iter().zip(&self.by_track).collect();
        out.list(&tracks, |out, (track, of_track)| {
            out.unsigned(u64::from(track.pid.0));
            out.unsigned(u64::from(track.tid.0));
            out.unsigned(u64::from(track.on_device));
            of_track.total.encode(out);
            out.unsigned(of_track.begun);
            of_track.density.encode(out);
        });
        out.list(self.metadata_names.entries(), |out, ((process, thread), name)| {
            out.signed(*process);
            out.signed(*thread);
            out.unsigned(u64::from(name.0));
        });
        out.optional(self.marked);
        out.optional(self.samples);
        out.unsigned(u64::from(self.has_common));
    }

    /// Reads what [`Outline::encode`] wrote; `None` if it is damaged.
    fn decode(reader: &mut Reader<'_>) -> Option<Outline> {
        let mut names = Names::default();
        for text in reader.list(Reader::text)? {
            names.intern(&text);
        }
        let count = names.len();
        let mut outline = Outline { names, all: Total::decode(reader)?, ..Outline::default() };
        for _ in 0..reader.unsigned()? {
            let group = (name(reader, count)?, Some(name(reader, count)?));
            outline.groups.add(group, &Total::decode(reader)?);
        }
        for _ in 0..reader.unsigned()? {
            let [pid, tid] = [name(reader, count)?, name(reader, count)?];
            let at = outline.track(Track { pid, tid, on_device: reader.unsigned()? != 0 });
            outline.by_track[at] = OfTrack {
                total: Total::decode(reader)?,
                begun: reader.unsigned()?,
                density: Density::decode(reader)?,
            };
        }
        for _ in 0..reader.unsigned()? {
            let (process, thread) = (reader.signed()?, reader.signed()?);
            let is_known = |id: i64| id < count as i64;
            if process < 0 || !is_known(process) || !is_known(thread) {
                return None;
            }
            *outline.metadata_names.entry((process, thread)) = name(reader, count)?;
        }
        outline.marked = reader.optional()?;
        outline.samples = reader.optional()?;
        outline.has_common = reader.unsigned()? != 0;
        Some(outline)
    }
}

impl Total {
    fn encode(&self, out: &mut Writer) {
        out.unsigned(self.events);
        out.unsigned(self.spans);
        out.signed(self.sum_ns);
        out.signed(self.longest_ns);
        out.optional(self.time.map(|time| time.0));
        out.signed(self.time.map_or(0, |time| time.1));
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Total> {
        Some(Total {
            events: reader.unsigned()?,
            spans: reader.unsigned()?,
            sum_ns: reader.signed()?,
            longest_ns: reader.signed()?,
            time: {
                let (start, end) = (reader.optional()?, reader.signed()?);
                start.map(|start| (start, end))
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::read::limits::Limits;
    use alloc::format;
    use alloc::string::String;

    fn part() -> (String, OutlinePart) {
        let event = |at: i64| {
            format!(
                "{{\"ph\":\"X\",\"cat\":\"c{}\",\"name\":\"n{at}\",\"pid\":{},\"tid\":1,\"ts\":{at},\"dur\":{}}}",
                at % 3,
                at % 4,
                at % 7
            )
        };
        let named =
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"main\"}}";
        let events: Vec<String> = (-5..9).map(event).collect();
        let text = format!("{named},{},{{\"ph\":\"X\",\"ts\":\"x\"}},", events.join(","));
        let part = OutlinePart::parse(text.as_bytes(), Limits::default()).expect("events");
        (text, part)
    }

    #[test]
    fn parts_are_the_same_after_decoding() {
        let (_, part) = part();
        let decoded = OutlinePart::decode(&part.encode()).expect("the bytes of a part");
        assert_eq!((decoded.range, &decoded.diagnostics), (part.range.clone(), &part.diagnostics));
        assert_eq!(format!("{:?}", decoded.outline), format!("{:?}", part.outline));
        assert_eq!(decoded.outline.events(), 16);
    }

    /// Damage gives `None` or other values.
    #[test]
    fn damaged_bytes_are_no_errors() {
        let bytes = part().1.encode();
        for at in 0..bytes.len() {
            assert!(OutlinePart::decode(&bytes[..at]).is_none());
            for wrong in [0, 1, 0x7f, 0xff] {
                let mut copy = bytes.clone();
                copy[at] = wrong;
                if let Some(part) = OutlinePart::decode(&copy) {
                    let mut outline = Outline::default();
                    outline.append(&part.outline);
                    outline.append(&part.outline);
                    drop((outline.rows(None), outline.track_rows()));
                }
            }
        }
    }
}
