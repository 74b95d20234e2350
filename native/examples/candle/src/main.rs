//! Trains a candle model: `cargo run --release` in this folder. With `--features cuda`, which needs the CUDA toolkit,
//! it trains on a CUDA device, and the trace also contains the device's work.
//!
//! Functions are instrumented with `tracing`, as candle's own models are; modules and operators are instrumented with
//! kinetoscope's spans. The trace is the sample trace of the web page.

use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::loss::cross_entropy;
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use kinetoscope::Module;
use kinetoscope::Profiler;
use kinetoscope::memory::ProfilingAllocator;
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::scope;
use kinetoscope::spans::named::{data_loader, optimizer_step};
use kinetoscope::tracing_layer::layer;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::sort_by::SortBy;
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use std::path::PathBuf;
use tracing::instrument;
use tracing_subscriber::layer::SubscriberExt;

#[global_allocator]
static ALLOCATOR: ProfilingAllocator = ProfilingAllocator::system();

const CLASSES: usize = 4;
const BATCH: usize = 64;

struct Linear {
    weight: Var,
    bias: Var,
    module: Module,
}

impl Linear {
    fn new(inputs: usize, outputs: usize, name: &str, device: &Device) -> Result<Linear> {
        let bound = 1.0 / (inputs as f32).sqrt();
        Ok(Linear {
            weight: Var::rand(-bound, bound, (outputs, inputs), device)?,
            bias: Var::zeros(outputs, DType::F32, device)?,
            module: Module::new("Linear", name),
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let _call = self.module.scope();
        let product = {
            let (a, b) = (x.dims(), self.weight.dims());
            let _span = scope!("matmul", shapes: [a, b], dtype: "float", flops: 2 * a[0] * a[1] * b[0]);
            x.matmul(&self.weight.t()?)?
        };
        let _span = scope!("broadcast_add", shapes: [product.dims(), self.bias.dims()], dtype: "float");
        product.broadcast_add(&self.bias)
    }
}

/// An attention layer, followed by two linear layers.
struct Net {
    query: Linear,
    key: Linear,
    value: Linear,
    hidden: Linear,
    out: Linear,
    module: Module,
    attention: Module,
}

impl Net {
    fn new(width: usize, device: &Device) -> Result<Net> {
        Ok(Net {
            query: Linear::new(width, width, "query", device)?,
            key: Linear::new(width, width, "key", device)?,
            value: Linear::new(width, width, "value", device)?,
            hidden: Linear::new(width, 4 * width, "hidden", device)?,
            out: Linear::new(4 * width, CLASSES, "out", device)?,
            module: Module::new("Net", "net"),
            attention: Module::new("Attention", "attention"),
        })
    }

    fn variables(&self) -> Vec<Var> {
        let layers = [&self.query, &self.key, &self.value, &self.hidden, &self.out];
        layers.iter().flat_map(|layer| [layer.weight.clone(), layer.bias.clone()]).collect()
    }

    #[instrument(skip_all)]
    fn attend(&self, x: &Tensor) -> Result<Tensor> {
        let _call = self.attention.scope();
        let (query, key, value) = (self.query.forward(x)?, self.key.forward(x)?, self.value.forward(x)?);
        let scores = {
            let _span = scope!("matmul", shapes: [query.dims(), key.dims()], dtype: "float",
                flops: 2 * query.dim(0)? * query.dim(1)? * key.dim(0)?);
            (query.matmul(&key.t()?)? / (query.dim(1)? as f64).sqrt())?
        };
        let weights = {
            let _span = scope!("softmax", shapes: [scores.dims()], dtype: "float");
            candle_nn::ops::softmax(&scores, D::Minus1)?
        };
        let _span = scope!("matmul", shapes: [weights.dims(), value.dims()], dtype: "float",
            flops: 2 * weights.dim(0)? * weights.dim(1)? * value.dim(1)?);
        weights.matmul(&value)
    }

    #[instrument(skip_all)]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let _call = self.module.scope();
        let hidden = self.hidden.forward(&(x + self.attend(x)?)?)?;
        let hidden = {
            let _span = scope!("relu", shapes: [hidden.dims()], dtype: "float");
            hidden.relu()?
        };
        self.out.forward(&hidden)
    }
}

/// Returns a batch of points around the centre of each class, and the classes.
#[instrument(skip(device))]
fn batch(width: usize, number: usize, device: &Device) -> Result<(Tensor, Tensor)> {
    let classes: Vec<u32> = (0..BATCH).map(|at| ((at * 7 + number) % CLASSES) as u32).collect();
    let centres: Vec<f32> = classes
        .iter()
        .flat_map(|&class| (0..width).map(move |at| if at % CLASSES == class as usize { 1.5 } else { 0.0 }))
        .collect();
    let centres = Tensor::from_vec(centres, (BATCH, width), device)?;
    let noise = Tensor::randn(0f32, 1.0, (BATCH, width), device)?;
    Ok(((centres + noise)?, Tensor::from_vec(classes, BATCH, device)?))
}

#[instrument(skip_all)]
fn train(net: &Net, optimizer: &mut AdamW, (x, classes): (Tensor, Tensor)) -> Result<f32> {
    let logits = net.forward(&x)?;
    let loss = {
        let _span = scope!("cross_entropy", shapes: [logits.dims(), classes.dims()]);
        cross_entropy(&logits, &classes)?
    };
    let gradients = {
        let _span = scope!("backward");
        loss.backward()?
    };
    let _range = optimizer_step("AdamW");
    optimizer.step(&gradients)?;
    loss.to_scalar()
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("candle_training.pt.trace.json.gz"), PathBuf::from);
    let width = 64;
    let device = Device::cuda_if_available(0)?;
    let net = Net::new(width, &device)?;
    let mut optimizer = AdamW::new(net.variables(), ParamsAdamW { lr: 0.01, ..ParamsAdamW::default() })?;
    let schedule =
        Schedule::new(ScheduleArgs { wait: 2, warmup: 1, active: 2, repeat: 1, ..ScheduleArgs::default() })?;
    let builder = Profiler::builder()
        .record_shapes(true)
        .profile_memory(true)
        .with_flops(true)
        .with_modules(true)
        .schedule(schedule)
        .metadata("model", "attention and two layers, by candle");
    let (layer, mut guard) = layer(builder)?;
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;
    let batches = (0..6).map(|number| batch(width, number, &device));
    for (number, batch) in data_loader("Batches", batches).enumerate() {
        let loss = train(&net, &mut optimizer, batch?)?;
        println!("step {number}: loss {loss:.3}");
        guard.profiler().step()?;
    }
    let Some(recording) = guard.finish()? else { return Ok(()) };
    let options = TableOptions::default().with_sort_by(SortBy::SelfCpuTimeTotal).with_row_limit(Some(12));
    println!("{}", recording.table_with(GroupBy::default(), &options)?);
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}: `kinetoscope modules` and `kinetoscope view` show it.", path.display());
    Ok(())
}
