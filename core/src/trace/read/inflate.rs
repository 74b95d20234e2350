//! Inflates gzip members (RFC 1952) without std: header, deflate stream, checksum and length.

use super::gzip::{GzipMember, GzipProgress, MemberState};
use alloc::boxed::Box;
use alloc::vec::Vec;
use crc::{CRC_32_ISO_HDLC, Crc, Digest};
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

/// The CRC with one table of 1 KB. Faster variants have tables of 16 KB, which do not compress in the WebAssembly
/// module.
static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

enum Phase {
    Header,
    Body,
    Trailer,
}

/// The engine's implementation of [`GzipMember`], with `miniz_oxide`.
pub(crate) struct PortableMember {
    phase: Phase,
    bytes: Vec<u8>,
    state: Box<InflateState>,
    crc: Digest<'static, u32>,
    length: u32,
}

impl Default for PortableMember {
    fn default() -> Self {
        PortableMember {
            phase: Phase::Header,
            bytes: Vec::new(),
            state: InflateState::new_boxed(DataFormat::Raw),
            crc: CRC.digest(),
            length: 0,
        }
    }
}

/// The length of the gzip header at the start of `bytes`: `Ok(None)` if more bytes are needed, `Err` if it is not a
/// header.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, ()> {
    let known = [0x1f, 0x8b, 8];
    if bytes.iter().zip(known).any(|(&a, b)| a != b) {
        return Err(());
    }
    let Some(&flags) = bytes.get(3) else { return Ok(None) };
    let mut at = 10;
    if flags & 4 != 0 {
        let Some(size) = bytes.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([size[0], size[1]]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let Some(end) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == 0)) else {
                return Ok(None);
            };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    Ok((bytes.len() >= at).then_some(at))
}

impl GzipMember for PortableMember {
    fn reset(&mut self) {
        self.phase = Phase::Header;
        self.bytes.clear();
        self.state.reset(DataFormat::Raw);
        self.crc = CRC.digest();
        self.length = 0;
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> GzipProgress {
        let step = |consumed, produced, state| GzipProgress { consumed, produced, state };
        match self.phase {
            Phase::Header => {
                let before = self.bytes.len();
                self.bytes.extend_from_slice(input);
                match header_length(&self.bytes) {
                    Err(()) => step(0, 0, MemberState::Damaged),
                    Ok(None) => step(input.len(), 0, MemberState::Running),
                    Ok(Some(length)) => {
                        self.bytes.clear();
                        self.phase = Phase::Body;
                        step(length - before, 0, MemberState::Running)
                    }
                }
            }
            Phase::Body => {
                let result = inflate(&mut self.state, input, output, MZFlush::None);
                let (consumed, produced) = (result.bytes_consumed, result.bytes_written);
                self.crc.update(&output[..produced]);
                self.length = self.length.wrapping_add(produced as u32);
                match result.status {
                    Ok(MZStatus::StreamEnd) => self.phase = Phase::Trailer,
                    Ok(_) | Err(MZError::Buf) => {}
                    Err(_) => return step(consumed, produced, MemberState::Damaged),
                }
                step(consumed, produced, MemberState::Running)
            }
            Phase::Trailer => {
                let take = input.len().min(8 - self.bytes.len());
                self.bytes.extend_from_slice(&input[..take]);
                let state = match <[u8; 8]>::try_from(self.bytes.as_slice()) {
                    Err(_) => MemberState::Running,
                    Ok(trailer) => {
                        let trailer = u64::from_le_bytes(trailer);
                        let (crc, length) = (trailer as u32, (trailer >> 32) as u32);
                        let right = crc == self.crc.clone().finalize() && length == self.length;
                        if right { MemberState::Ended } else { MemberState::Damaged }
                    }
                };
                step(take, 0, state)
            }
        }
    }
}
