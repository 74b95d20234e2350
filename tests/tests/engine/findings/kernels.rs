//! Findings about what the kernels of devices compute.

use super::{finding, launch, span};
use kinetoscope_tests::answers::{made, rows};
use serde_json::{Value, json};

/// The finding with a code in a trace of launches, each of a kernel with a name and the inputs of its operator.
fn in_kernels(kernels: &[(&str, &str)], properties: &Value, code: &str) -> Option<Value> {
    let mut events = Vec::new();
    for (id, (name, types)) in (1..).zip(kernels) {
        let mut operator = span("cpu_op", "aten::mm", (100, 1), (id * 100 - 1, id * 100 + 6), id);
        operator["args"]["Input type"] = json!([types, types]);
        events.push(operator);
        events.extend(launch(id, 0, name));
    }
    finding(&events, properties, code)
}

const SINGLE: (&str, &str) = ("ampere_sgemm_128x64_nn", "float");

fn device(name: &str, major: i64) -> Value {
    json!([{"id": 0, "name": name, "computeMajor": major}])
}

/// A matrix product of 50 us in single precision, and what almost is one: on another device, with other inputs, with TF32.
#[test]
fn devices_with_tensor_cores_should_use_them() {
    let products = |kernel, properties: &Value| in_kernels(&[kernel], properties, "no_tensor_cores");
    let (a100, v100) = (device("NVIDIA A100-SXM4-80GB", 8), device("Tesla V100-SXM2-16GB", 7));
    let found = products(SINGLE, &a100).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["events"]), (&json!(50_000), &json!([2])));
    // The replay with products that take 25 us is 25 us shorter.
    assert_eq!(found["saving_ns"], json!(25_000));
    assert!(found["advice"].as_str().expect("a text").contains("allow TF32"), "{found}");
    let found = products(SINGLE, &v100).expect("a finding");
    assert!(found["advice"].as_str().expect("a text").contains("neither TF32 nor bfloat16"), "{found}");
    for properties in
        [device("Tesla P100", 6), device("NVIDIA GeForce GTX 1650", 7), device("AMD Instinct MI210", 9)]
    {
        assert_eq!(products(SINGLE, &properties), None, "{properties}");
    }
    // Half precision that does not use them has another reason; so have products in double precision.
    assert_eq!(products(("ampere_fp16_sgemm_fp16_32x128_nn", "c10::Half"), &a100), None);
    assert_eq!(products(("ampere_sgemm_128x64_nn", "double"), &a100), None);
    for name in [
        "ampere_fp16_s16816gemm_fp16_128x64",
        "attn_fwd",
        "cutlass_80_tensorop_s1688gemm_64x64_nn_align4",
        "gemv2T_kernel_val",
    ] {
        assert_eq!(products((name, "float"), &a100), None, "{name}");
    }
    // Lists come before the tensors of some operators.
    let mut listed = span("cpu_op", "aten::cudnn_convolution_backward_input", (100, 1), (99, 106), 1);
    listed["args"]["Input type"] = json!(["GenericList", "float", "float"]);
    let events = [[listed].as_slice(), &launch(1, 0, "volta_scudnn_128x64_stridedB_interior_nn_v1")].concat();
    assert!(finding(&events, &v100, "no_tensor_cores").is_some());
    // One convolution on tensor cores does not hide the rest.
    let both = [SINGLE, ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", "float")];
    assert!(in_kernels(&both, &a100, "no_tensor_cores").is_some());
    // PyTorch's pattern is in `patterns`, and never among the findings.
    let mut half = span("cpu_op", "aten::mm", (100, 1), (99, 106), 1);
    half["args"]["Input type"] = json!(["c10::BFloat16", "c10::BFloat16"]);
    let events = [[half].as_slice(), &launch(1, 0, "gemm")].concat();
    let trace = made(&json!({"traceEvents": events, "deviceProperties": a100, "record_shapes": 1}));
    assert_eq!(rows(&trace, "patterns").len(), 1);
    assert_eq!(
        rows(&trace, "summary")[0]["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .filter(|finding| finding["code"] == "anti_pattern")
            .count(),
        0
    );
}

/// Two batched products with a softmax of the same elements between them, or of others.
#[test]
fn attention_that_is_not_fused_has_the_shapes_of_attention() {
    let attention = |softmax: Value| {
        let kernels = [
            ("aten::bmm", "gemm", json!([[8, 64, 32], [8, 32, 64]])),
            ("aten::_softmax", "softmax_warp_forward", softmax),
            ("aten::bmm", "gemm", json!([[8, 64, 64], [8, 64, 32]])),
        ];
        let mut events = Vec::new();
        for (id, (name, kernel, dims)) in (1..).zip(kernels) {
            let mut operator = span("cpu_op", name, (100, 1), (id * 100 - 1, id * 100 + 6), id);
            operator["args"]["Input Dims"] = dims;
            events.push(operator);
            events.extend(launch(id, 0, kernel));
        }
        finding(&events, &json!([]), "eager_attention")
    };
    let found = attention(json!([[1, 8, 64, 64]])).expect("a finding");
    assert_eq!(found["cost_ns"], json!(150_000));
    assert!(found["message"].as_str().expect("a text").contains("of it 50.000us"), "{found}");
    // The softmax of a router over experts.
    assert_eq!(attention(json!([[8, 64, 16]])), None);
    assert_eq!(attention(json!([[64, 64]])), None);
}

/// Kernels that load one element at a time, with tensor cores or without.
#[test]
fn misaligned_products_use_tensor_cores() {
    let found = |name| in_kernels(&[(name, "c10::Half")], &json!([]), "misaligned_products").is_some();
    assert!(found("cutlass_80_tensorop_f16_s16816gemm_f16_256x128_32x3_nn_align1"));
    assert!(found("cutlass_80_tensorop_f16_s16816gemm_f16_256x128_32x3_nn_align2>"));
    assert!(!found("cutlass_80_tensorop_f16_s16816gemm_f16_256x128_32x3_nn_align16"));
    assert!(!found("cutlass_80_simt_sgemm_128x32_8x5_nn_align1"));
}

/// Two of five kernels compute element by element, or one of five; and two of five that a compiler generated.
#[test]
fn elementwise_kernels_are_most_of_the_work() {
    let found = |single: &str, count: usize| {
        let mut kernels = vec![("gemm", "c10::Half"); 5];
        kernels[..count].fill((single, "c10::Half"));
        // Without idle time.
        let events: Vec<Value> = (0..)
            .zip(&kernels)
            .map(|(at, kernel)| span("kernel", kernel.0, (0, 7), (at * 50, at * 50 + 50), 0))
            .collect();
        finding(&events, &json!([]), "elementwise_kernels").map(|found| found["cost_ns"].clone())
    };
    assert_eq!(found("vectorized_elementwise_kernel", 2), Some(json!(100_000)));
    assert_eq!(found("vectorized_elementwise_kernel", 1), None);
    assert_eq!(found("triton_poi_fused_add_0", 2), None);
}

/// A copy of 50 us between two types, or within one.
#[test]
fn conversions_are_copies_to_another_type() {
    let found = |to: &str, from: &str| {
        let mut operator = span("cpu_op", "aten::copy_", (100, 1), (99, 106), 1);
        operator["args"]["Input type"] = json!([to, from, "Scalar"]);
        let events = [[operator].as_slice(), &launch(1, 0, "direct_copy_kernel")].concat();
        finding(&events, &json!([]), "conversions").is_some()
    };
    assert!(found("float", "c10::BFloat16"));
    assert!(!found("c10::BFloat16", "c10::BFloat16"));
    assert!(!found("long int", "float"));
}

/// A normalization converts on purpose; a module around it does not count.
#[test]
fn conversions_of_normalizations_are_to_be_fused() {
    let advice = |modules: [&str; 2]| {
        let mut operator = span("cpu_op", "aten::copy_", (100, 1), (99, 106), 1);
        operator["args"]["Input type"] = json!(["float", "c10::BFloat16", "Scalar"]);
        let module = |name: &str, time: (i64, i64)| {
            span("python_function", &format!("nn.Module: {name}"), (100, 1), time, 0)
        };
        let events = [
            vec![module(modules[0], (80, 130)), module(modules[1], (90, 120)), operator],
            launch(1, 0, "direct_copy_kernel").into(),
        ];
        let found = finding(&events.concat(), &json!([]), "conversions").expect("a finding");
        found["advice"].as_str().expect("a text").to_owned()
    };
    assert!(advice(["Block_0", "RMSNorm_0"]).contains("normalization layers"));
    assert!(advice(["RMSNorm_0", "Linear_0"]).starts_with("keep weights and activations in one type"));
}

/// Of 1000 us, transposes take 60 or 40.
#[test]
fn layout_copies_take_five_percent() {
    let found = |ns: i64| {
        let events = [
            span("kernel", "gemm", (0, 7), (0, 1000 - ns), 0),
            span("kernel", "nchwToNhwcKernel", (0, 7), (1000 - ns, 1000), 0),
        ];
        finding(&events, &json!([]), "layout_copies")
    };
    assert!(found(60).expect("a finding")["advice"].as_str().expect("a text").contains("channels_last"));
    assert_eq!(found(40), None);
}
