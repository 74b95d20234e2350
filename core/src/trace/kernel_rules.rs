//! Categories of kernels, decided by their names.
//!
//! The rules are lines of `kernel_rules.csv`, which describes the patterns. Lines given by the user come before them.

use crate::base::demangle::{demangled, without_parameters};
use crate::base::error::Error;
use crate::base::without_comments::include_without_comments;
use crate::base::words::{Word, words};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "KernelCategory"
    /// What a kernel does, as far as its name shows it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum KernelCategory {
        /// Matrix products, except those of experts.
        Gemm = "gemm",
        /// Convolutions.
        Convolution = "convolution",
        /// Attention.
        Attention = "attention",
        /// Writes to, copies within and reads of a cache of keys and values, and its page indices.
        KvCache = "kv_cache",
        /// Normalization of layers, batches or groups.
        Norm = "norm",
        /// Everything that computes each element by itself.
        Elementwise = "elementwise",
        /// Reductions.
        Reduction = "reduction",
        /// Softmax, and losses that contain it.
        Softmax = "softmax",
        /// Lookups in tables of embeddings, and their gradients.
        Embedding = "embedding",
        /// Gather, scatter, index, and selection by a mask.
        Indexing = "indexing",
        /// Matrix products of the experts of a mixture.
        MoeGemm = "moe_gemm",
        /// Routing of tokens to experts.
        MoeRouting = "moe_routing",
        /// Sums of the outputs of experts.
        MoeFinalize = "moe_finalize",
        /// The exchange of tokens between devices that have different experts.
        MoeDispatch = "moe_dispatch",
        /// Choosing tokens by their probabilities.
        Sampling = "sampling",
        /// Pooling.
        Pooling = "pooling",
        /// Upsampling, resizing and sampling of grids.
        Interpolation = "interpolation",
        /// Optimizers, and other functions of lists of tensors, except copies.
        Optimizer = "optimizer",
        /// Sorting, selecting and prefix sums.
        SortScan = "sort_scan",
        /// Random numbers and dropout.
        Random = "random",
        /// Fourier transforms that are not part of a convolution.
        Fft = "fft",
        /// Conversions to and from types with a scale.
        Quantization = "quantization",
        /// Changes of layout: transposes, concatenations, padding.
        Layout = "layout",
        /// Copies, also to another data type, by the copy engine or by kernels.
        Copy = "copy",
        /// Memsets, and kernels that fill tensors with one value.
        Memset = "memset",
        /// Collectives, and kernels that exchange data with other devices.
        Communication = "communication",
        /// Kernels that only wait or signal.
        Wait = "wait",
        /// No rule matches.
        Other = "other",
    }
}

const BUILT_IN: &str = include_without_comments!("kernel_rules.csv");

impl KernelCategory {
    /// Whether kernels of the category can use tensor cores.
    pub fn has_products(self) -> bool {
        use KernelCategory::{Attention, Convolution, Gemm, MoeGemm};
        matches!(self, Gemm | Convolution | Attention | MoeGemm)
    }

    /// Whether kernels of the category exchange data with other devices.
    pub fn is_communication(self) -> bool {
        matches!(self, KernelCategory::Communication | KernelCategory::MoeDispatch)
    }
}

/// The words of the lines for kernels that use tensor cores, and for those that do not.
const TENSOR_CORES: &str = "tensor_cores";
const NO_TENSOR_CORES: &str = "no_tensor_cores";

/// The rules that the user adds to the built-in ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelRules {
    /// The lines in lower case.
    user_lines: String,
}

impl KernelRules {
    /// No own rules.
    pub(crate) const NONE: KernelRules = KernelRules { user_lines: String::new() };

    /// Reads the user's lines of `category,pattern`. They come before the built-in ones.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the number of the first line that has no pattern, or an unknown category.
    pub fn parse(text: &str) -> Result<KernelRules, Error> {
        let user_lines = text.trim_start_matches('\u{feff}').to_ascii_lowercase();
        for (at, line) in user_lines.lines().enumerate() {
            if let Line::Malformed = Line::parse(line) {
                let (number, words) = (at + 1, KernelCategory::VOCABULARY.words.join(", "));
                return Err(Error::BadOption(format!(
                    "kernel rules: line {number} is `{line:.60}`, expected category,pattern; the categories are {words}, {TENSOR_CORES}, {NO_TENSOR_CORES}"
                )));
            }
        }
        Ok(KernelRules { user_lines })
    }

    /// Returns the rules in the order of their precedence.
    pub(crate) fn patterns(&self) -> Patterns<'_> {
        let mut patterns = Patterns { categories: Vec::new(), tensor_cores: Vec::new() };
        for line in self.user_lines.lines().chain(BUILT_IN.lines()) {
            match Line::parse(line) {
                Line::Category(category, pattern) => patterns.categories.push((category, pattern)),
                Line::TensorCores(uses, pattern) => patterns.tensor_cores.push((uses, pattern)),
                Line::Empty | Line::Malformed => {}
            }
        }
        patterns
    }
}

/// A line of the rules.
enum Line<'a> {
    /// A comment or an empty line.
    Empty,
    Category(KernelCategory, &'a str),
    TensorCores(bool, &'a str),
    Malformed,
}

impl Line<'_> {
    fn parse(line: &str) -> Line<'_> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Line::Empty;
        }
        let Some((word, pattern)) = line.split_once(',') else { return Line::Malformed };
        let (word, pattern) = (word.trim(), pattern.trim());
        if pattern.trim_start_matches('^').is_empty() {
            Line::Malformed
        } else if word == TENSOR_CORES || word == NO_TENSOR_CORES {
            Line::TensorCores(word == TENSOR_CORES, pattern)
        } else {
            let category = KernelCategory::from_word(word);
            category.map_or(Line::Malformed, |category| Line::Category(category, pattern))
        }
    }
}

/// The rules, ready for use.
#[derive(Clone, Debug)]
pub(crate) struct Patterns<'a> {
    categories: Vec<(KernelCategory, &'a str)>,
    tensor_cores: Vec<(bool, &'a str)>,
}

/// What the name of a kernel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelKind {
    /// What it does.
    pub category: KernelCategory,
    /// Whether it uses tensor cores; `None` if the name does not show it.
    pub tensor_cores: Option<bool>,
}

impl KernelKind {
    /// Nothing is known of the kernel.
    pub(crate) const UNKNOWN: KernelKind = KernelKind { category: KernelCategory::Other, tensor_cores: None };
}

impl<'a> Patterns<'a> {
    /// Returns what the name of a kernel shows. The first line about tensor cores that matches decides; without one, kernels
    /// of categories that have no matrix products use none.
    pub(crate) fn classify(&self, name: &str) -> KernelKind {
        let name = Name::new(name);
        let found = self.categories.iter().find(|(_, pattern)| name.matches(pattern));
        let category = found.map_or(KernelCategory::Other, |&(category, _)| category);
        let uses = self.tensor_cores.iter().find(|(_, pattern)| name.matches(pattern)).map(|line| line.0);
        let can_use = category.has_products() || category == KernelCategory::Other;
        KernelKind { category, tensor_cores: uses.or((!can_use).then_some(false)) }
    }

    /// Words of patterns: those of a category, which a name can begin with, and those that show whether it uses tensor cores.
    pub(crate) fn words(&self, kind: KernelKind) -> (Vec<&'a str>, Vec<&'a str>) {
        let is_word = |pattern: &&str| !pattern.contains(['*', '^']);
        let rules = self.categories.iter().filter(|rule| rule.0 == kind.category);
        let words = rules.map(|rule| rule.1.trim_start_matches('^')).filter(is_word).collect();
        let lines = self.tensor_cores.iter().filter(|line| Some(line.0) == kind.tensor_cores);
        (words, lines.map(|line| line.1).filter(is_word).collect())
    }
}

/// A name in lower case, with the set of its pairs of letters: most patterns have a pair that is not in the name.
struct Name {
    text: String,
    pairs: [u64; 16],
}

fn bit(pair: &[u8]) -> (usize, u64) {
    let hash = usize::from(pair[0]) * 37 + usize::from(pair[1]);
    (hash >> 6 & 15, 1 << (hash & 63))
}

impl Name {
    fn new(name: &str) -> Name {
        let name = demangled(name);
        let text = without_parameters(name.strip_prefix("void ").unwrap_or(&name)).to_ascii_lowercase();
        let mut pairs = [0; 16];
        for (word, bit) in text.as_bytes().windows(2).map(bit) {
            pairs[word] |= bit;
        }
        Name { text, pairs }
    }

    /// Whether a pattern matches: its parts between `*` occur one after the other.
    fn matches(&self, pattern: &str) -> bool {
        let (rest, is_start) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
        let has = |pair: &[u8]| {
            let (word, bit) = bit(pair);
            pair.contains(&b'*') || self.pairs[word] & bit != 0
        };
        if !rest.as_bytes().windows(2).all(has) {
            return false;
        }
        let mut text = self.text.as_str();
        for (at, part) in rest.split('*').enumerate() {
            let found =
                if at == 0 && is_start { text.starts_with(part).then_some(0) } else { text.find(part) };
            let Some(start) = found else { return false };
            text = &text[start + part.len()..];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use KernelCategory as Is;
    use alloc::string::ToString;

    fn category(name: &str) -> KernelCategory {
        KernelRules::default().patterns().classify(name).category
    }

    fn with(lines: &str, name: &str) -> (KernelCategory, Option<bool>) {
        let kind = KernelRules::parse(lines).expect("rules").patterns().classify(name);
        (kind.category, kind.tensor_cores)
    }

    #[test]
    fn every_built_in_line_is_a_rule_in_lower_case() {
        let lines = || BUILT_IN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert!(lines().count() > 300);
        for line in lines() {
            assert!(matches!(Line::parse(line), Line::Category(..) | Line::TensorCores(..)), "{line}");
            assert_eq!(line, line.to_ascii_lowercase());
        }
    }

    /// A pattern that an earlier one contains is never used.
    #[test]
    fn no_built_in_line_is_hidden_by_an_earlier_one() {
        let rules = KernelRules::default();
        let patterns = rules.patterns();
        for (at, (_, pattern)) in patterns.categories.iter().enumerate() {
            let hides = |earlier: &&str| {
                let (anchor, text) = (earlier.strip_prefix('^'), pattern.trim_start_matches('^'));
                let begins = pattern.starts_with('^');
                !earlier.contains('*')
                    && anchor.map_or(text.contains(*earlier), |start| begins && text.starts_with(start))
            };
            let before = patterns.categories[..at].iter().map(|(_, earlier)| *earlier);
            let hidden: Vec<&str> = before.filter(|earlier| hides(earlier)).collect();
            assert!(hidden.is_empty(), "{pattern} is hidden by {hidden:?}");
        }
    }

    #[test]
    fn patterns_have_starts_and_gaps() {
        let matches = |pattern, name| Name::new(name).matches(pattern);
        assert!(matches("b*d", "abcde") && matches("b*", "ab") && matches("*", "") && matches("*b", "ab"));
        assert!(matches("^a*e", "abcde") && !matches("^b", "abcde") && matches("^*b", "ab"));
        assert!(!matches("ab*bc", "abc") && matches("ab*bc", "ababc"));
        assert!(matches("gemm", "SGEMM") && !matches("gemm", "gem m") && !matches("x", ""));
        assert!(matches("^foo", "void foo(int)") && !matches("int", "void foo(int)"));
        assert!(matches("int", "void foo<int>(float)") && matches("^bar", "_Z3bari"));
        assert!(matches("é", "é") && !matches("é", "e"));
    }

    #[test]
    fn the_lines_of_the_user_come_first() {
        assert_eq!(category("my_special_gemm"), Is::Gemm);
        let lines = "# mine\r\n\r\nAttention , My_Special*\r\ngemm,my_special\r\ntensor_cores,special\r\n";
        assert_eq!(with(lines, "MY_special_gemm"), (Is::Attention, Some(true)));
        assert_eq!(with(lines, "volta_sgemm_128x64_nn"), (Is::Gemm, Some(false)));
        assert_eq!(with("other,*", "volta_sgemm_128x64_nn"), (Is::Other, Some(false)));
        assert_eq!(with("no_tensor_cores,^nvjet", "nvjet_tst_64x64"), (Is::Gemm, Some(false)));
    }

    #[test]
    fn malformed_lines_are_refused_with_their_number() {
        for line in ["gemm", "gemm,", "gemm, ^", "gem,x", ",x", "category,pattern"] {
            let error = KernelRules::parse(&["gemm,a\n#\n", line].concat()).expect_err(line).to_string();
            assert!(error.contains("line 3") && error.contains("sort_scan"), "{error}");
        }
    }

    /// Names that almost belong to another category.
    #[test]
    fn near_misses() {
        for (name, is) in [
            ("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)", Is::Communication),
            ("void my_gemm(ncclDevComm*)", Is::Gemm),
            ("triton_poi_fused_all_reduce_add_3", Is::Elementwise),
            ("triton_red_fused_add_embedding_native_layer_norm_0", Is::Norm),
            ("triton_per_fused__softmax_1", Is::Softmax),
            ("triton_red_fused_sum_2", Is::Reduction),
            ("triton_tem_fused_mm_4", Is::Gemm),
            ("triton_tem_fused_flex_attention_0", Is::Attention),
            ("triton__0d1d2de", Is::Other),
            ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", Is::Communication),
            ("void deep_ep::intranode::dispatch<8, 768>(int4*)", Is::MoeDispatch),
            (
                "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<float>(float*)",
                Is::MoeFinalize,
            ),
            ("void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*)", Is::MoeFinalize),
            (
                "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, float, int>(float*)",
                Is::Sampling,
            ),
            (
                "void at::native::(anonymous namespace)::sampleMultinomialOnce<float, float>(long*)",
                Is::Sampling,
            ),
            ("void at::native::(anonymous namespace)::grid_sampler_2d_kernel<float>(int)", Is::Interpolation),
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, NormTwoOps<float>>>(x)",
                Is::Reduction,
            ),
            ("void cudnn::ops::convertTensor_kernel<float, float>(float)", Is::Copy),
            ("void convolve_common_engine_float_NHWC<float>()", Is::Convolution),
            ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", Is::Elementwise),
            (
                "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel<float>()",
                Is::Embedding,
            ),
            (
                "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>(long)",
                Is::Optimizer,
            ),
            ("fused_adam_cuda_kernel", Is::Optimizer),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
                Is::Memset,
            ),
            (
                "void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(int)",
                Is::Copy,
            ),
            ("void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)", Is::Layout),
            ("void cublasLt::splitKreduce_kernel<32, 16, int, float>(x)", Is::Gemm),
            ("void topkGatingSoftmax<4, 64>(float)", Is::MoeRouting),
            ("void at::native::sbtopk::gatherTopK<float>(x)", Is::SortScan),
            ("void softmax_warp_forward<float, float, float, 6, false>(float*)", Is::Softmax),
            ("at::cuda::(anonymous namespace)::spin_kernel(long)", Is::Wait),
            (
                "std::enable_if<(((8)>(0)))&&vllm::exists, void>::type vllm::fused_add_rms_norm_kernel<8>(x)",
                Is::Norm,
            ),
            ("__amd_rocclr_fillBufferAligned", Is::Memset),
            ("__amd_rocclr_copyBuffer", Is::Copy),
            ("lambda_kernel", Is::Other),
            ("", Is::Other),
        ] {
            assert_eq!(category(name), is, "{name}");
        }
    }

    #[test]
    fn tensor_cores_follow_from_instructions_and_libraries() {
        let uses = |name| KernelRules::default().patterns().classify(name).tensor_cores;
        for name in [
            "volta_fp16_s884gemm_fp16_256x128_ldg8_f2f_tn",
            "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn",
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_kernel",
            "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
            "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(x)",
            "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>(x)",
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN",
        ] {
            assert_eq!(uses(name), Some(true), "{name}");
        }
        for name in [
            "volta_sgemm_128x64_nn",
            "ampere_sgemm_128x128_tn",
            "void SubTensorOpWithScalar1d(float)",
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(x)",
            "fmha_cutlassF_f32_aligned_64x64_rf_sm80(x)",
        ] {
            assert_eq!(uses(name), Some(false), "{name}");
        }
        for name in ["_my_gemm", "attn_fwd", "a kernel", ""] {
            assert_eq!(uses(name), None, "{name}");
        }
    }
}
