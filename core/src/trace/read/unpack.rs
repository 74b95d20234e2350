//! Decompression in chunks of any size: gzip with one or more members, zstd with one or more frames.
//!
//! This module has the rules for members, trailing bytes, cuts and damage. Inflating a member is behind the trait
//! [`GzipMember`], so that a native caller can supply a faster implementation.

use super::gzip::{GzipMember, MemberState};
use super::inflate::PortableMember;
use crate::base::diagnostics::{Code, Diagnostics};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

enum Form {
    Unknown,
    Plain,
    Gzip {
        open: bool,
    },
    Zstd(Box<Zstd>),
    /// After the end of the compressed stream, or after damage.
    Done,
}

#[derive(Default)]
struct Zstd {
    frames: FrameDecoder,
    pending: Vec<u8>,
    open: bool,
    skip: u64,
}

/// Decompresses input in the format that its first bytes identify.
pub struct Unpacker {
    form: Form,
    head: Vec<u8>,
    member: Box<dyn GzipMember + Send>,
    buffer: Vec<u8>,
    /// The number of decompressed bytes passed on, which is the offset of diagnostics.
    written: u64,
    diagnostics: Diagnostics,
}

const BUFFER: usize = 256 << 10;

impl Default for Unpacker {
    fn default() -> Self {
        Unpacker::new(Box::<PortableMember>::default())
    }
}

impl Unpacker {
    /// Creates an unpacker that inflates gzip members with `member`.
    pub fn new(member: Box<dyn GzipMember + Send>) -> Self {
        Unpacker {
            form: Form::Unknown,
            head: Vec::new(),
            member,
            buffer: Vec::new(),
            written: 0,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Whether the input is not compressed; false before its first 4 bytes.
    pub fn is_plain(&self) -> bool {
        matches!(self.form, Form::Plain)
    }

    /// Whether the input is compressed; false before its first 4 bytes.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.form, Form::Unknown | Form::Plain)
    }

    /// Passes the decompressed bytes of `chunk` to `sink`, in pieces.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub fn feed<E>(&mut self, chunk: &[u8], sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self.form {
            Form::Unknown => {
                self.head.extend_from_slice(chunk);
                if self.head.len() < 4 {
                    return Ok(());
                }
                self.choose();
                let head = core::mem::take(&mut self.head);
                self.feed(&head, sink)
            }
            Form::Plain => sink(chunk),
            Form::Gzip { .. } => self.gzip(chunk, sink),
            Form::Zstd(_) => self.zstd(chunk, sink),
            Form::Done => Ok(()),
        }
    }

    /// Passes on the pending bytes and returns the diagnostics.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub fn finish<E>(mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<Diagnostics, E> {
        if matches!(self.form, Form::Unknown) {
            self.choose();
            let head = core::mem::take(&mut self.head);
            self.feed(&head, sink)?;
        }
        let cut = match &self.form {
            Form::Gzip { open } => *open,
            Form::Zstd(zstd) => zstd.open || !zstd.pending.is_empty() || zstd.skip > 0,
            _ => false,
        };
        self.zstd_rest(sink)?;
        if cut {
            self.note(Code::CompressedCut);
        }
        Ok(self.diagnostics)
    }

    fn choose(&mut self) {
        self.form = match self.head.as_slice() {
            [0x1f, 0x8b, ..] => Form::Gzip { open: false },
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Form::Zstd(Box::default()),
            _ => Form::Plain,
        };
        self.buffer = vec![0; if matches!(self.form, Form::Plain) { 0 } else { BUFFER }];
    }

    fn note(&mut self, code: Code) {
        self.diagnostics.record(code, Some(self.written), b"");
    }

    fn gzip<E>(&mut self, mut input: &[u8], sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        while !input.is_empty() {
            let Form::Gzip { open } = &mut self.form else { return Ok(()) };
            if !*open {
                match input[0] {
                    // Padding between or after members.
                    0 => {
                        input = &input[1..];
                        continue;
                    }
                    0x1f => {
                        self.member.reset();
                        *open = true;
                    }
                    _ => {
                        self.form = Form::Done;
                        self.note(Code::CompressedTrailing);
                        return Ok(());
                    }
                }
            }
            let step = self.member.step(input, &mut self.buffer);
            input = &input[step.consumed..];
            self.written += step.produced as u64;
            sink(&self.buffer[..step.produced])?;
            match step.state {
                MemberState::Running if step.consumed == 0 && step.produced == 0 => return Ok(()),
                MemberState::Running => {}
                MemberState::Ended => self.form = Form::Gzip { open: false },
                MemberState::Damaged => {
                    self.form = Form::Done;
                    self.note(Code::CompressedDamaged);
                }
            }
        }
        self.gzip_rest(sink)
    }

    /// Passes on what the inflater still holds after its input is consumed.
    fn gzip_rest<E>(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        while matches!(self.form, Form::Gzip { open: true }) {
            let step = self.member.step(&[], &mut self.buffer);
            self.written += step.produced as u64;
            sink(&self.buffer[..step.produced])?;
            match step.state {
                MemberState::Ended => self.form = Form::Gzip { open: false },
                MemberState::Damaged => {
                    self.form = Form::Done;
                    self.note(Code::CompressedDamaged);
                }
                MemberState::Running if step.produced == 0 => break,
                MemberState::Running => {}
            }
        }
        Ok(())
    }

    fn zstd<E>(&mut self, chunk: &[u8], sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Form::Zstd(zstd) = &mut self.form else { return Ok(()) };
        zstd.pending.extend_from_slice(chunk);
        let mut used = 0;
        let end = loop {
            let input = &zstd.pending[used..];
            if zstd.skip > 0 {
                let now = zstd.skip.min(input.len() as u64);
                zstd.skip -= now;
                used += now as usize;
                if zstd.skip > 0 {
                    break None;
                }
                continue;
            }
            if !zstd.open {
                // The longest frame header has 18 bytes.
                if input.is_empty() || (input.len() < 18 && !is_whole_header(input)) {
                    break None;
                }
                let mut rest = input;
                match zstd.frames.reset(&mut rest) {
                    Ok(()) => {
                        used += input.len() - rest.len();
                        zstd.open = true;
                    }
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length,
                        ..
                    })) => zstd.skip = 8 + u64::from(length),
                    Err(_) if used == 0 && self.written == 0 => {
                        break Some(Code::CompressedDamaged);
                    }
                    Err(_) => break Some(Code::CompressedTrailing),
                }
                continue;
            }
            match zstd.frames.decode_from_to(input, &mut self.buffer) {
                Err(_) => break Some(Code::CompressedDamaged),
                // The decoder needs a checksum that has not arrived yet.
                Ok((read, _)) if read > input.len() => break None,
                Ok((read, written)) => {
                    used += read;
                    self.written += written as u64;
                    sink(&self.buffer[..written])?;
                    if zstd.frames.is_finished() && zstd.frames.can_collect() == 0 {
                        zstd.open = false;
                        let stored = zstd.frames.get_checksum_from_data();
                        if stored.is_some() && stored != zstd.frames.get_calculated_checksum() {
                            break Some(Code::CompressedDamaged);
                        }
                    } else if read == 0 && written == 0 {
                        break None;
                    }
                }
            }
        };
        zstd.pending.drain(..used);
        if let Some(code) = end {
            self.zstd_rest(sink)?;
            self.form = Form::Done;
            self.note(code);
        }
        Ok(())
    }

    /// Passes on what the decoder keeps for later blocks of an open frame, after the input was cut or is damaged. It gives that away
    /// only after the last block, so it is given an empty one, with a checksum that nothing compares.
    fn zstd_rest<E>(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Form::Zstd(zstd) = &mut self.form else { return Ok(()) };
        let mut end: &[u8] = &[1, 0, 0, 0, 0, 0, 0];
        while zstd.open {
            let (read, written) = zstd.frames.decode_from_to(end, &mut self.buffer).unwrap_or_default();
            end = end.get(read..).unwrap_or_default();
            self.written += written as u64;
            sink(&self.buffer[..written])?;
            zstd.open = read > 0 || written > 0;
        }
        Ok(())
    }
}

/// Whether `input`, which has fewer than 18 bytes, contains a complete frame header.
fn is_whole_header(input: &[u8]) -> bool {
    let Some(&descriptor) = input.get(4) else { return false };
    if input[1..4] == [0x2a, 0x4d, 0x18] {
        return input.len() >= 8;
    }
    let single_segment = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        n => 1 << n,
    };
    input.len() >= 5 + usize::from(!single_segment) + dictionary + size
}
