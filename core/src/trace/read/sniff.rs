//! Identifies the format of inputs that are not traces, for error messages.

use crate::base::error::Error;
use crate::trace::table::metadata::Metadata;
use alloc::string::String;

fn refusal(looks_like: &'static str, hint: &'static str) -> Error {
    Error::NotATrace { looks_like, hint, offset: 0 }
}

const SNAPSHOT_HINT: &str = "pass the pickle that torch.cuda.memory._dump_snapshot wrote";

/// The error for an input that does not begin like a JSON document. `head` is its first bytes.
pub(super) fn binary(head: &[u8]) -> Error {
    let text = head.trim_ascii_start();
    match head {
        [] => Error::Empty,
        [0x89, b'P', b'N', b'G', ..] => refusal("a PNG image", ""),
        [0xff, 0xd8, 0xff, ..] => refusal("a JPEG image", ""),
        [b'G', b'I', b'F', b'8', ..] => refusal("a GIF image", ""),
        [b'%', b'P', b'D', b'F', ..] => refusal("a PDF document", ""),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => refusal("a zip archive", "unpack it and pass the trace inside"),
        [b'K', b'S', b'U', b'M', ..] => refusal("a summary of ranks", "pass it to `kinetoscope ranks`"),
        [0x7f, b'E', b'L', b'F', ..] => refusal("an ELF program", ""),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => refusal("an xz archive", "decompress it first"),
        [b'B', b'Z', b'h', ..] => refusal("a bzip2 archive", "decompress it first"),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => {
            refusal("an SQLite database (possibly of Nsight Systems)", "export it as a Chrome trace")
        }
        _ if is_tar(head) => refusal("a tar archive", "unpack it and pass the trace inside"),
        _ if text.is_empty() => Error::Empty,
        _ if text.starts_with(b"<") => refusal("an HTML or XML page", ""),
        _ if text.starts_with(b"# tracer:") => refusal("a Linux ftrace log", ""),
        _ if text.starts_with(b"(d") || text.starts_with(b"(l") => refusal("a Python pickle", ""),
        _ if head.iter().all(|&b| b >= 0x20 || b.is_ascii_whitespace()) => refusal("plain text", ""),
        _ => refusal("binary data of an unknown kind", ""),
    }
}

/// The error for a protobuf without the packets of a Perfetto trace. `head` is its first bytes.
pub(super) fn protobuf(head: &[u8]) -> Error {
    // The name of the first plane of an XSpace.
    const PLANES: [&[u8]; 3] = [b"/host:", b"/device:", b"Task Environment"];
    if PLANES.iter().any(|name| head.windows(name.len()).any(|part| part == *name)) {
        return refusal("an XSpace profile (.xplane.pb)", "pass the .trace.json.gz of the same folder");
    }
    refusal("a protobuf without an event of a Perfetto trace", "")
}

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The error for a JSON object without `traceEvents`.
pub(super) fn object(metadata: &Metadata, seen: &[String]) -> Error {
    let has = |key: &str| seen.iter().any(|k| k == key) || metadata.text(key).is_some();
    if has("nodes") && has("schema") {
        refusal("a PyTorch execution trace", "its schema must precede its nodes")
    } else if has("segments") && has("device_traces") {
        refusal("a PyTorch memory snapshot", SNAPSHOT_HINT)
    } else if has("shared") && has("profiles") {
        refusal("a speedscope profile", "")
    } else if has("nodes") && has("samples") {
        refusal("a V8 CPU profile", "")
    } else if has("meta") && has("threads") {
        refusal("a Firefox profile", "")
    } else if has("nbformat") {
        refusal("a Jupyter notebook", "")
    } else {
        refusal("a JSON object without traceEvents", "")
    }
}

/// The error for lines without an event.
pub(super) fn lines() -> Error {
    refusal("JSON Lines of objects that are not events", "")
}

/// The error for a JSON array without events. `first` is the text of its first element.
pub(super) fn array(first: &[u8]) -> Error {
    match first {
        [b'[', ..] => refusal("a PyTorch memory timeline", "export the Chrome trace of the same run instead"),
        [b'{', ..] => refusal("a JSON array of objects that are not events", ""),
        _ => refusal("a JSON array of plain values", ""),
    }
}
