//! The files that say where kernels come from, by their contents.

use super::ProvenanceFile;
use super::code::{Code, graph_name};
use super::frames::{Break, CompiledFrame};
use super::graphs::{CompiledGraph, Parts};
use super::kind::CompiledKind;
use super::log::{Log, is_log};
use super::nodes::{self, GraphNodes};
use super::text::{base_name, before, cut, cut_last, folder, member, names};
use crate::base::diagnostics::Diagnostics;
use crate::base::error::Error;
use crate::trace::read::pickle::Pickle;
use crate::trace::read::snapshot::is_pickle;
use crate::trace::read::unpack::Unpacker;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// What files contain.
#[derive(Default)]
pub(super) struct Files<'a> {
    graphs: Vec<CompiledGraph>,
    pub(super) frames: Vec<CompiledFrame>,
    pub(super) breaks: Vec<Break>,
    pub(super) nodes: GraphNodes,
    /// What is wrong with compressed files.
    pub(super) diagnostics: Diagnostics,
    /// The graphs whose files are in folders.
    folders: Vec<(&'a str, Parts)>,
}

/// Whether a file is used, or why not.
type Used = Result<(), &'static str>;

const UNKNOWN: &str = "neither a file of torch.compile nor annotations of CUDA graphs";

/// The most bytes of a pickle's values.
const PICKLE_BYTES: usize = 1 << 30;

impl<'a> Files<'a> {
    /// The compiled graphs of all files.
    pub(super) fn take_graphs(&mut self) -> Vec<CompiledGraph> {
        let folders = core::mem::take(&mut self.folders);
        self.graphs.extend(folders.into_iter().map(|(_, parts)| parts.finish()));
        core::mem::take(&mut self.graphs)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns why it cannot be used.
    pub(super) fn read(&mut self, file: &ProvenanceFile<'a>) -> Used {
        let bytes = self.unpacked(file.bytes);
        if is_pickle(&bytes) {
            let pickle = Pickle::read(&bytes, PICKLE_BYTES).map_err(|fault| fault.what)?;
            let is_read = nodes::from_pickle(&pickle).is_some_and(|json| nodes::read(&mut self.nodes, &json));
            return if is_read { Ok(()) } else { Err(UNKNOWN) };
        }
        let text = String::from_utf8_lossy(&bytes);
        if is_log(&text) {
            let log = Log::read(&text);
            self.graphs.extend(log.graphs.into_iter().map(Parts::finish));
            self.frames.extend(log.frames);
            self.breaks.extend(log.breaks);
            return Ok(());
        }
        match serde_json::from_str::<Json>(&text) {
            Ok(json) if nodes::read(&mut self.nodes, &json) => Ok(()),
            Ok(json) => self.read_json(file.path, json),
            Err(_) => self.read_text(file.path, &text),
        }
    }

    /// The decompressed bytes; of damaged ones, those before the damage.
    fn unpacked(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sink = |piece: &[u8]| -> Result<(), Error> {
            out.extend_from_slice(piece);
            Ok(())
        };
        let mut unpacker = Unpacker::default();
        if unpacker.feed(bytes, &mut sink).is_ok()
            && let Ok(diagnostics) = unpacker.finish(&mut sink)
        {
            self.diagnostics.append(&diagnostics);
        }
        out
    }

    fn read_json(&mut self, path: &'a str, json: Json) -> Used {
        if member(&json, "cppCodeToPost").is_some() {
            return put(&mut self.of_folder(path).mappings, json);
        }
        let keys = names(&json);
        let is_kernel = |key: &&str| {
            member(&json, key).is_some_and(|one| {
                member(one, "post_grad_nodes").is_some() || member(one, "stack_traces").is_some()
            })
        };
        if keys.iter().all(is_kernel) && !keys.is_empty() {
            return put(&mut self.of_folder(path).information, json);
        }
        // Kernels of each region and direction, in the form of the text of a tuple: `('Torch-Compiled Region: 0/0', False)`.
        let graphs = self.graphs.len();
        for key in keys {
            let Some(region) = key.strip_prefix("('Torch-Compiled Region: ") else { continue };
            let kind = key.ends_with("True)").then_some(CompiledKind::Backward);
            let compile_id = Some(before(region, "'").into());
            let parts =
                Parts { compile_id, kind, information: member(&json, key).cloned(), ..Parts::default() };
            self.graphs.push(parts.finish());
        }
        if self.graphs.len() > graphs { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Generated code or the text of a graph, of a debug folder.
    fn read_text(&mut self, path: &'a str, text: &str) -> Used {
        let code = Code::read(text);
        if code.number.is_some() || !code.handles.is_empty() {
            let parts = self.of_folder(path);
            // In a debug folder all files of code have one name; in the cache it identifies the code.
            let name = base_name(path);
            parts.file = (name != "output_code.py").then(|| name.into());
            return put(&mut parts.code, code);
        }
        if cut(text, "class GraphModule(").or_else(|| cut(text, "class <lambda>(")).is_some() {
            return put(&mut self.of_folder(path).graph, text.into());
        }
        Err(UNKNOWN)
    }

    /// The graph that the files of one folder are of. Its name can be `model__0_forward_1.0`.
    fn of_folder(&mut self, path: &'a str) -> &mut Parts {
        let (folders, folder) = (&mut self.folders, folder(path));
        let at = folders.iter().position(|known| known.0 == folder).unwrap_or_else(|| {
            let name = base_name(folder.trim_end_matches(['/', '\\']));
            let graph = name.strip_prefix("model__").and_then(|rest| cut_last(rest, b'_'));
            let (number, kind) = graph.map_or((None, None), |(graph, _)| graph_name(graph));
            folders.push((folder, Parts { kind, number, ..Parts::default() }));
            folders.len() - 1
        });
        &mut folders[at].1
    }
}

/// Keeps a file of a graph. Which graph a second one of the same kind is of is not known.
fn put<T>(place: &mut Option<T>, file: T) -> Used {
    if place.is_some() {
        return Err(
            "another file of this kind is in the same folder, so that it is not known which graph they are of",
        );
    }
    *place = Some(file);
    Ok(())
}
