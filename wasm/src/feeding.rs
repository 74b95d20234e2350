//! Feeding a reader of text with the bytes of a file.

use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::trace::TextReader;
use kinetoscope_core::trace::read::unpack::Unpacker;
use kinetoscope_core::trace::table::events::Table;

/// What reads decompressed text.
pub(crate) trait ReadsText {
    /// What becomes of the text.
    type Read;

    fn feed(&mut self, text: &[u8]) -> Result<(), Error>;

    fn finish(self) -> Result<(Self::Read, Diagnostics), Error>;
}

impl ReadsText for TextReader {
    type Read = Table;

    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        self.feed(text)
    }

    fn finish(self) -> Result<(Table, Diagnostics), Error> {
        self.finish()
    }
}

/// A reader and what it was fed with.
#[derive(Default)]
pub(crate) struct Feeding<R> {
    pub(crate) reader: R,
    pub(crate) unpacker: Unpacker,
    /// The number of bytes of text that the reader has.
    pub(crate) bytes: u64,
    /// The number of bytes of text that were read already and are skipped.
    pub(crate) skip: u64,
}

impl<R: ReadsText> Feeding<R> {
    pub(crate) fn new(reader: R) -> Feeding<R> {
        Feeding { reader, unpacker: Unpacker::default(), bytes: 0, skip: 0 }
    }

    /// Reads the next chunk of the file.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        let Feeding { reader, unpacker, bytes, skip } = self;
        unpacker.feed(chunk, &mut |text: &[u8]| feed_after(reader, text, bytes, skip))
    }

    /// Reads the next chunk of decompressed text.
    pub(crate) fn feed_text(&mut self, text: &[u8]) -> Result<(), Error> {
        feed_after(&mut self.reader, text, &mut self.bytes, &mut self.skip)
    }

    /// Prepares for the file to be passed again from its first byte.
    pub(crate) fn start_over(&mut self) {
        self.unpacker = Unpacker::default();
        self.skip = self.bytes;
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> Result<(R::Read, Diagnostics), Error> {
        let Feeding { mut reader, unpacker, mut bytes, mut skip } = self;
        let unpacking =
            unpacker.finish(&mut |text: &[u8]| feed_after(&mut reader, text, &mut bytes, &mut skip))?;
        let (read, mut diagnostics) = reader.finish()?;
        diagnostics.append(&unpacking);
        Ok((read, diagnostics))
    }
}

/// Feeds a reader with text, after the bytes that are skipped.
fn feed_after(
    reader: &mut impl ReadsText,
    text: &[u8],
    bytes: &mut u64,
    skip: &mut u64,
) -> Result<(), Error> {
    let skipped = (*skip).min(text.len() as u64);
    *skip -= skipped;
    let text = &text[skipped as usize..];
    *bytes += text.len() as u64;
    reader.feed(text)
}

/// The methods of the classes that are fed with a file, which have a member `feeding`.
macro_rules! feeding_methods {
    ($class:ident) => {
        #[wasm_bindgen]
        impl $class {
            /// Reads the next chunk of the file.
            ///
            /// # Errors
            /// Returns an error if the bytes cannot become a trace.
            pub fn feed(&mut self, chunk: &[u8]) -> Result<(), JsValue> {
                self.feeding.feed(chunk).map_err(|e| failure(&e))
            }

            /// Reads the next chunk of decompressed text.
            ///
            /// # Errors
            /// Returns an error if the bytes cannot become a trace.
            pub fn feed_text(&mut self, text: &[u8]) -> Result<(), JsValue> {
                self.feeding.feed_text(text).map_err(|e| failure(&e))
            }

            /// Prepares for the file to be passed again from its first byte. The text that was read already is skipped.
            pub fn start_over(&mut self) {
                self.feeding.start_over();
            }

            /// The number of bytes of text read so far.
            pub fn text_bytes(&self) -> f64 {
                self.feeding.bytes as f64
            }
        }
    };
}

pub(crate) use feeding_methods;
