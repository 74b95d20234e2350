//! The inflater for gzip input: flate2 with zlib-rs. The engine handles the gzip format around it.

use flate2::{Decompress, FlushDecompress, Status};
use kinetoscope_core::trace::read::gzip::{GzipMember, GzipProgress, MemberState};
use kinetoscope_core::trace::read::unpack::Unpacker;

/// Returns an unpacker that inflates with [`ZlibMember`].
pub fn unpacker() -> Unpacker {
    Unpacker::new(Box::<ZlibMember>::default())
}

/// One gzip member, inflated by zlib-rs.
pub struct ZlibMember(Decompress);

impl Default for ZlibMember {
    fn default() -> Self {
        ZlibMember(Decompress::new_gzip(15))
    }
}

impl GzipMember for ZlibMember {
    fn reset(&mut self) {
        self.0 = Decompress::new_gzip(15);
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> GzipProgress {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, output, FlushDecompress::None);
        GzipProgress {
            consumed: (self.0.total_in() - before.0) as usize,
            produced: (self.0.total_out() - before.1) as usize,
            state: match status {
                Ok(Status::StreamEnd) => MemberState::Ended,
                Ok(_) => MemberState::Running,
                Err(_) => MemberState::Damaged,
            },
        }
    }
}
