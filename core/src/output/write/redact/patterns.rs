//! Patterns of public texts. A placeholder in braces varies, and its kind decides whether it is kept. The rest is
//! literal.
//!
//! `{number}` and `{part}` match digits only, the latter fewer of them. The other kinds match any text. They keep
//! PyTorch's optimizers, modules and loaders, operators, words of the vocabulary and known lanes, and hide everything
//! else.

use super::grammar::{is_digits, is_one_of};
use super::outcome::TextPart::{self, Hide, Keep};
use super::vocabulary::Vocabulary;
use alloc::vec::Vec;

const OPTIMIZERS: &str =
    "SGD Adam AdamW Adagrad Adadelta Adamax NAdam RAdam RMSprop Rprop LBFGS ASGD SparseAdam Adafactor Muon";

const LOADERS: &str = "_SingleProcessDataLoaderIter _MultiProcessingDataLoaderIter";

/// PyTorch's own modules.
const MODULES: &str = "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d AvgPool1d AvgPool2d AvgPool3d BatchNorm1d \
    BatchNorm2d BatchNorm3d Bilinear BCELoss BCEWithLogitsLoss ConstantPad2d Conv1d Conv2d Conv3d ConvTranspose1d \
    ConvTranspose2d ConvTranspose3d CrossEntropyLoss CTCLoss DataParallel DistributedDataParallel Dropout Dropout1d Dropout2d \
    Dropout3d ELU Embedding EmbeddingBag Flatten Fold GELU GLU GroupNorm GRU GRUCell Hardsigmoid Hardswish Hardtanh Identity \
    InstanceNorm1d InstanceNorm2d KLDivLoss L1Loss LayerNorm LeakyReLU Linear LogSoftmax LSTM LSTMCell MaxPool1d MaxPool2d \
    MaxPool3d Mish Module ModuleDict ModuleList MSELoss MultiheadAttention NLLLoss OptimizedModule ParameterList PixelShuffle \
    PReLU ReLU ReLU6 RMSNorm RNN RNNCell SELU Sequential Sigmoid SiLU SmoothL1Loss Softmax Softplus SyncBatchNorm Tanh \
    Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer Unflatten Unfold Upsample \
    ZeroPad2d";

/// Event names of torch, CUPTI, the allocator and Kinetoscope.
pub(super) const EVENTS: &str = "[memory]
[OutOfMemory]
detach
detach_
ac2g
fwdbwd
async_gpu
torch_to_npu
Context Sync
Event Sync
Stream Sync
Stream Wait Event
Activity Buffer Request
Buffer Flush
Command Buffer Full
Lazy Function Loading
Runtime Triggered Module Loading
Instrumentation
Record Window End
recording
[outputs]
Python GC
Profile
ProfileChunk
CpuProfile
not recorded: CPU
not recorded: CUDA
record_param_comms
DistributedDataParallel.forward
TorchDynamo Cache Lookup
TORCHDYNAMO
Torch-Compiled Region
Pregraph bytecode
CompiledFunction
CompiledFunctionBackward
AOTDispatcher Runtime Wrapper Prologue
process_name
process_labels
process_sort_index
thread_name
thread_sort_index
segment
block
alloc
free_requested
free_completed
segment_alloc
segment_free
segment_map
segment_unmap
snapshot
oom
__start_profile
__stop_profile
__cuda_start_event
MEMCPY_ASYNC
EventRecord
ProfilerStep#{number}
autograd::engine::evaluate_function: {operator}
Optimizer.step#{optimizer}.step
Optimizer.zero_grad#{optimizer}.zero_grad
enumerate(DataLoader)#{loader}.__next__
nccl:{word}
gloo:{word}
## Call CompiledFxGraph {hidden} ##
Torch-Compiled Region: {number}/{number}
PyTorch Profiler ({number})
Kinetoscope ({number})
Iteration Start: {lane}
GPU {number} Utilization
GPU {number} Est. SM Efficiency
GPU {number} memory (bytes)
GPU {number} utilization (%)
GPU {number} clocks (MHz)
GPU {number} power (mW)
GPU {number} temperature (C)
Power (W)
Temperature (C)
SM Clock (MHz)
Memory Clock (MHz)
Fan Speed (%)
SM Active
HBM BW (%)
Cycles (Current Kernel)";

/// Names of processes and threads, and ids that are strings.
pub(super) const LANES: &str = "python
python3
pt_main_thread
kinetoscope
kinetoscope-gpu
CPU
CUDA
CPU functions
CUDA functions
Spans
Traces
PyTorch Profiler
Trace PyTorch Profiler
Kinetoscope
Trace Kinetoscope
__cupti_profiler__
Trace __cupti_profiler__
__MTIA_CCP_events__
Trace __MTIA_CCP_events__
CUPTI Overhead
Ascend Hardware
CANN
Communication
Overlap Analysis
stream {number}\x20
stream {number}
thread {number}
thread {number} ({lane})
rank {number}: {lane}
rank {number}: device {number}
rank {number}: {number}
GPU {number}
GPU {number} Counters
Device {number}
pt_autograd_{number}
python3.{part}";

/// The maximum number of digits of a number: enough for a thread id, and fewer than a date has.
const DIGITS: usize = 7;

/// The maximum number of digits of a part of a version.
const PART_DIGITS: usize = 3;

impl Vocabulary {
    /// Redacts a text that matches one of the patterns, which are separated by newlines.
    pub(super) fn pattern<'a>(&self, patterns: &str, text: &'a str) -> Option<Vec<TextPart<'a>>> {
        patterns.split('\n').find_map(|pattern| {
            let mut parts = Vec::new();
            self.fits(pattern, text, &mut parts).then_some(parts)
        })
    }

    fn fits<'a>(&self, pattern: &str, text: &'a str, parts: &mut Vec<TextPart<'a>>) -> bool {
        let (literal, rest) = pattern.split_once('{').unwrap_or((pattern, ""));
        if !text.starts_with(literal) || rest.is_empty() && text.len() > literal.len() {
            return false;
        }
        let (before, text) = text.split_at(literal.len());
        parts.push(Keep(before));
        let Some((kind, rest)) = rest.split_once('}') else { return true };
        let next = rest.split('{').next().unwrap_or(rest);
        let last = next.is_empty().then_some(text.len());
        // The next literal may occur in the text more than once: `Model_2_0`.
        let ends = text.match_indices(next).map(|(at, _)| at).filter(|_| last.is_none());
        let begun = parts.len();
        last.into_iter().chain(ends).any(|end| {
            let (inside, tail) = text.split_at(end);
            parts.truncate(begun);
            match self.is_kept(kind, inside) {
                Some(is_kept) => {
                    parts.push(if is_kept { Keep(inside) } else { Hide(inside) });
                    self.fits(rest, tail, parts)
                }
                None => false,
            }
        })
    }

    /// Whether a text in the position of a placeholder is kept; `None` if it does not match the placeholder.
    fn is_kept(&self, kind: &str, inside: &str) -> Option<bool> {
        match kind {
            "number" => is_digits(inside, DIGITS).then_some(true),
            "part" => is_digits(inside, PART_DIGITS).then_some(true),
            "optimizer" => Some(is_one_of(inside, OPTIMIZERS)),
            "loader" => Some(is_one_of(inside, LOADERS)),
            "module" => Some(is_one_of(inside, MODULES)),
            "operator" => Some(self.is_operator(inside)),
            "word" => Some(self.is_public(inside)),
            "lane" => Some(LANES.split('\n').any(|lane| lane == inside)),
            _ => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hide, Keep, Vocabulary};
    use alloc::vec;

    #[test]
    fn a_module_name_may_contain_the_separator_of_its_number() {
        let fit = |text| Vocabulary::default().pattern("nn.Module: {module}_{number}", text);
        let parts = vec![Keep("nn.Module: "), Hide("Qwen2_5_VLModel"), Keep("_"), Keep("0"), Keep("")];
        assert_eq!(fit("nn.Module: Qwen2_5_VLModel_0"), Some(parts));
        assert_eq!(
            fit("nn.Module: Linear_1").and_then(|parts| parts.into_iter().nth(1)),
            Some(Keep("Linear"))
        );
        assert_eq!(fit("nn.Module: my_net"), None);
    }
}
