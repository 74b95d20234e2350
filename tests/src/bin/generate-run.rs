//! `generate-run FOLDER RANKS EVENTS` writes the traces of a run of several ranks, as `rank<N>.json.gz`, with about this
//! many events each. Eight ranks are generated; more have the same events under other numbers.

use flate2::Compression;
use flate2::write::GzEncoder;
use kinetoscope_tests::runs::{Plan, generate};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The number of different ranks.
const DIFFERENT: usize = 8;

/// The number of events of a layer in a step: two operators with their calls and kernels.
const LAYER: u64 = 6;

/// The number of layers whose gradients are reduced together.
const BUCKET: usize = 40;

const STEPS: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, ranks, events] = &arguments[..] else {
        return Err("usage: generate-run FOLDER RANKS EVENTS".into());
    };
    let (folder, ranks, events) = (Path::new(folder), ranks.parse::<usize>()?, events.parse::<u64>()?);
    let different = ranks.min(DIFFERENT);
    let layers = (events / STEPS / LAYER).max(1) as usize;
    let run = generate(&Plan {
        ranks: different,
        steps: STEPS as i64,
        layers,
        bucket: BUCKET,
        ..Plan::from_seed(1)
    });
    std::fs::create_dir_all(folder)?;
    for rank in 0..ranks {
        let text = &run.traces[rank % different];
        let head = text.find('\n').unwrap_or(0);
        let header = text[..head]
            .replace(&format!("\"rank\":{}", rank % different), &format!("\"rank\":{rank}"))
            .replace(&format!("\"world_size\":{different}"), &format!("\"world_size\":{ranks}"));
        let file = File::create(folder.join(format!("rank{rank}.json.gz")))?;
        let mut out = GzEncoder::new(file, Compression::fast());
        out.write_all(header.as_bytes())?;
        out.write_all(&text.as_bytes()[head..])?;
        out.finish()?;
    }
    Ok(())
}
