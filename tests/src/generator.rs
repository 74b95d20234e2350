//! Generates large Kineto-like traces from a seed: equal arguments give equal bytes.
//!
//! A group is what one operator produces in a real trace: a Python call, the operator with its shapes, an inner
//! operator, the launch call, the kernel, and the flow between the two. As in Kineto, the host's events come first and
//! the device's after them. Times never repeat exactly; names and shapes do, as in a training loop.

use std::io::{self, Write};

/// The number of events of one group.
pub const GROUP: u64 = 7;

const OPS: [(&str, &str); 12] = [
    ("aten::linear", "aten::addmm"),
    ("aten::conv2d", "aten::cudnn_convolution"),
    ("aten::layer_norm", "aten::native_layer_norm"),
    ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"),
    ("aten::add", "aten::add"),
    ("aten::gelu", "aten::gelu"),
    ("aten::dropout", "aten::native_dropout"),
    ("aten::matmul", "aten::bmm"),
    ("aten::softmax", "aten::_softmax"),
    ("aten::to", "aten::_to_copy"),
    ("autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0"),
    ("aten::batch_norm", "aten::cudnn_batch_norm"),
];

const KERNELS: [&str; 8] = [
    "ampere_sgemm_128x64_tn",
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*, float const*, float const*, float*, float*, float*)",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(cudnnTensorStruct, float const*, cudnnTensorStruct, float*, float const*, float const*)",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true, true>(pytorch_flash::Flash_fwd_params)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
];

/// Returns a pseudorandom number that depends only on its arguments.
fn noise(seed: u64, at: u64, salt: u64) -> u64 {
    let mut x = seed ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Displays nanoseconds as Kineto writes them, in microseconds.
struct Us(u64);

impl std::fmt::Display for Us {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Time between the starts of two groups, in ns.
const SPACING: u64 = 40_000;
const ORIGIN: u64 = 4_370_863_491_886_244;
const STEP_GROUPS: u64 = 2_000;
/// The number of streaming multiprocessors of the device.
const SMS: u32 = 108;

struct Group {
    seed: u64,
    at: u64,
}

impl Group {
    fn noise(&self, salt: u64, below: u64) -> u64 {
        noise(self.seed, self.at, salt) % below
    }

    fn start(&self) -> u64 {
        ORIGIN + self.at * SPACING + self.noise(1, 3000)
    }

    fn id(&self) -> u64 {
        self.at * 2 + 1
    }

    fn kind(&self) -> usize {
        self.noise(2, OPS.len() as u64) as usize
    }

    fn host(&self, out: &mut impl Write) -> io::Result<()> {
        let (start, id, kind) = (self.start(), self.id(), self.kind());
        if self.at.is_multiple_of(STEP_GROUPS) {
            let length = STEP_GROUPS * SPACING - 9_000;
            write!(
                out,
                ",\n  {{\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#{}\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External id\": {}, \"Record function id\": 0, \"Ev Idx\": 0\n    }}\n  }}",
                self.at / STEP_GROUPS,
                Us(start - 4000),
                Us(length),
                self.at + 1_000_000_000,
            )?;
        }
        let line = self.noise(3, 90) + 10;
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"model/layers.py({line}): forward\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"Python id\": {}, \"Python parent id\": {}, \"Python thread\": 0, \"Ev Idx\": {}\n    }}\n  }}",
            Us(start - 1000),
            Us(30_000 + self.noise(4, 3000)),
            self.at + 1,
            self.at / 40,
            self.at * 3,
        )?;
        let rows = 1 << (4 + self.noise(5, 6));
        let columns = 1 << (5 + self.noise(6, 5));
        for (level, name) in [OPS[kind].0, OPS[kind].1].into_iter().enumerate() {
            let inset = level as u64 * 2_500;
            write!(
                out,
                ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External id\": {},\"Record function id\": 0, \"Sequence number\": {}, \"Fwd thread id\": 0, \"Input type\": [\"float\", \"float\", \"\"], \"Input Dims\": [[{rows}, {columns}], [{columns}, {rows}], []], \"Ev Idx\": {}\n    }}\n  }}",
                Us(start + inset),
                Us(24_000 - 2 * inset + self.noise(7 + level as u64, 900)),
                id + level as u64,
                self.at,
                self.at * 3 + 1 + level as u64,
            )?;
        }
        Ok(())
    }

    fn device(&self, out: &mut impl Write) -> io::Result<()> {
        let (id, correlation) = (self.id() + 1, self.at + 100);
        let call = self.start() + 6_000 + self.noise(9, 1500);
        let length = 4_000 + self.noise(10, 2500);
        let kernel = KERNELS[self.noise(2, KERNELS.len() as u64) as usize];
        let run = self.start() + 14_000 + self.noise(11, 3000);
        let duration = 8_000 + self.noise(12, 20_000);
        let (blocks, threads) = (1 << self.noise(19, 14), 32 << self.noise(20, 6));
        let blocks_per_sm = blocks as f32 / SMS as f32;
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External id\": {id}, \"cbid\": 211, \"correlation\": {correlation}\n    }}\n  }},\n  {{\n    \"ph\": \"s\", \"id\": {correlation}, \"pid\": 4242, \"tid\": 4242, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{kernel}\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External id\": {id}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {correlation},\n      \"registers per thread\": {}, \"shared memory\": {}, \"blocks per SM\": {}, \"warps per SM\": {}, \"grid\": [{blocks}, 1, 1], \"block\": [{threads}, 1, 1], \"est. achieved occupancy %\": {}\n    }}\n  }},\n  {{\n    \"ph\": \"f\", \"id\": {correlation}, \"pid\": 0, \"tid\": 7, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }}",
            Us(call),
            Us(length),
            Us(call),
            Us(run),
            Us(duration),
            16 + self.noise(13, 200),
            self.noise(14, 48) * 1024,
            blocks_per_sm,
            blocks_per_sm * (threads / 32) as f32,
            self.noise(21, 101),
            Us(run),
        )
    }
}

/// Writes a trace of about `events` events.
///
/// # Errors
/// Returns the errors of the output.
pub fn generate(out: &mut impl Write, events: u64, seed: u64) -> io::Result<()> {
    let groups = events / GROUP;
    write!(
        out,
        "{{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {{\"id\": 0, \"name\": \"Generated GPU\", \"totalGlobalMem\": 85899345920, \"computeMajor\": 8, \"computeMinor\": 0, \"numSms\": {SMS}}}\n  ],\n  \"record_shapes\": 1,\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n  {{\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": 4242, \"tid\": 0, \"args\": {{ \"name\": \"python\" }}\n  }}"
    )?;
    for at in 0..groups {
        Group { seed, at }.host(out)?;
    }
    for at in 0..groups {
        Group { seed, at }.device(out)?;
    }
    write!(out, "\n  ],\n  \"traceName\": \"generated.json\"\n}}\n")
}
