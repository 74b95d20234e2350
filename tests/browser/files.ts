// The traces of the tests, and the native binary as a reference.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Cargo's target directory. */
export const target = resolve(root, process.env["CARGO_TARGET_DIR"] ?? "target");

export const native = `${target}/debug/kinetoscope`;

/** Returns the path of a trace in `tests/data`. */
export const own = (path: string): string => `${root}tests/data/${path}`;

/** Real traces from other projects, next to the repository. */
const corpus = `${root}../shared/traces/`;

export interface Real {
  /** What was traced. */
  of: string;
  files: string[];
}

/** Why a test of real traces is skipped. */
export const NO_CORPUS = "the real traces are not in ../shared/traces";

/** Returns one real trace of each kind; an empty list if there are none. */
export function realTraces(): Real[] {
  if (!existsSync(corpus)) return [];
  const real = (of: string, ...files: string[]): Real => ({ of, files: files.map((file) => corpus + file) });
  return [
    real("CPU only", "kineto-gaoteng/bert_newAPI_cpu/worker0_round1.pt.trace.json.gz"),
    real("CUDA training", "kineto-samples/samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"),
    real("ROCm training", "tracelens/mi300/ddp_resnet18_no_pool/train_resnet18.json.gz"),
    real("inference", "tracelens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz"),
    real("memory", "tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz"),
    real("ranks", ...[0, 1].map((rank) => `kineto-gaoteng/resnet50_newAPI_ddp/worker${rank}_span1.pt.trace.json.gz`)),
  ];
}

interface Document<Row> {
  rows: Row[];
}

/** Returns the rows that the command line prints as JSON. */
export function rowsOf<Row = Record<string, unknown>>(query: string, file: string, ...options: string[]): Row[] {
  const text = execFileSync(native, [query, file, "--format", "json", ...options], {
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return (JSON.parse(text.toString()) as Document<Row>).rows;
}

/** Returns the same, or `undefined` if the command line refuses to answer. */
export function tryRowsOf<Row>(...of: Parameters<typeof rowsOf>): Row[] | undefined {
  try {
    return rowsOf<Row>(...of);
  } catch {
    return undefined;
  }
}

/** Returns the path of an example of the recorder. */
export const example = (name: string): string => `${target}/debug/examples/${name}`;
