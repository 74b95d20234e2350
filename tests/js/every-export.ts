// A program that uses every export of the package. It is type-checked, but never run.

import {
  EXPORTS,
  KinetoscopeError,
  QUERIES,
  check,
  diff,
  mediaType,
  memoryBytes,
  merge,
  open,
  openRun,
  outline,
  repair,
  summarize,
  trend,
  type Answers,
  type BudgetResult,
  type Budgets,
  type Check,
  type CheckOptions,
  type CompareOptions,
  type Comparison,
  type Diff,
  type DiffRow,
  type Limits,
  type ChromeEvent,
  type Columns,
  type Diagnostic,
  type DiagnosticCode,
  type PreviewSummary,
  type ErrorCode,
  type Exports,
  type Client,
  type InfoRow,
  type MemoryKind,
  type MemoryRow,
  type MergeOptions,
  type OpenOptions,
  type OpsOptions,
  type OpsRow,
  type Outline,
  type OutlineOptions,
  type OutlineProgress,
  type OutlineRow,
  type Outlines,
  type OutlineTrack,
  type Progress,
  type Ranks,
  type RanksRow,
  type ReadCounts,
  type Run,
  type RunOptions,
  type RunProgress,
  type RunRanksOptions,
  type Source,
  type SourceNote,
  type SummarizeOptions,
  type RankSummaryOptions,
  type SummaryOptions,
  type SummaryRow,
  type Curve,
  type CurveOptions,
  type Related,
  type Relation,
  type Severity,
  type Spans,
  type StreamOptions,
  type UnixNs,
  type TextColumn,
  type Trend,
  type TrendOptions,
  type TrendResult,
  type TrendRow,
  type TrendRun,
  type Tiles,
  type TilesOptions,
  type Trace,
  type Queries,
  type WasmInput,
  type WindowOptions,
} from "kinetoscope";
import { COLUMNS, OUTLINE_COLUMNS, type Column, type ColumnKind } from "kinetoscope/columns";
import { serveParseWorker } from "kinetoscope/parse-worker";
import { init, open as openSupplied, type InitOptions } from "kinetoscope/init";
import { open as openInline } from "kinetoscope/inline";
import { open as openLite, type LiteClient, type LiteOptions, type LiteQuery, type LiteTrace } from "kinetoscope/lite";
import { createRemoteClient, type Reply, type Request as Message, type Spawn, type Thread } from "kinetoscope/remote";
import { serve } from "kinetoscope/serve";
import {
  check as checkRemote,
  createPool,
  diff as diffRemote,
  open as openRemote,
  openRun as openRemoteRun,
  mediaType as mediaTypeRemote,
  memoryBytes as memoryBytesRemote,
  merge as mergeRemote,
  outline as outlineRemote,
  repair as repairRemote,
  summarize as summarizeRemote,
  trend as trendRemote,
  type Abortable,
  type PoolOptions,
  type RemoteAnswers,
  type RemoteCalls,
  type RemoteClient,
  type RemoteComparison,
  type RemoteDiff,
  type RemoteOutline,
  type RemoteOutlines,
  type RemotePool,
  type RemoteRanks,
  type RemoteRepair,
  type RemoteRun,
  type RemoteTrace,
} from "kinetoscope/worker";

const sources: Source[] = [
  new Blob([]),
  new Uint8Array(),
  new DataView(new ArrayBuffer(1)),
  new ArrayBuffer(0),
  new URL("https://a.example/t.json"),
  "t.json",
];

export async function main(file: File, response: Response, stream: ReadableStream<Uint8Array>): Promise<void> {
  const controller = new AbortController();
  const onProgress = ({ bytes, totalBytes, textBytes, events, preview }: Progress): void => {
    const first: PreviewSummary = preview;
    console.log(bytes, totalBytes ?? "?", textBytes, events, first.top_kernels[0]?.sum_ns);
  };
  const options: OpenOptions = { signal: controller.signal, onProgress, memoryLimit: 2 ** 30, threads: 3 };
  using trace: Trace = await open(file, options);
  const several: Trace[] = await open([response, stream]);
  for (const one of [...several, ...(await open(sources))]) one.dispose();

  const summary: SummaryRow = trace.summary();
  const grouped: OpsOptions = { groupBy: ["shape", "stack:5"], sortBy: "self_device_time_total", rowLimit: 10 };
  const ops: OpsRow[] = trace.ops(grouped);
  const info: InfoRow = trace.info();
  const start: bigint = trace.startNs;
  const begun: UnixNs = info.start_ns;
  console.log(summary.wall_ns, ops[0]?.self_cpu_time_total_ns, BigInt(begun) === start, trace.name, trace.length);
  console.log(trace.kernels().length, trace.tree({ depth: 3 }).length, trace.stacks().length, trace.steps().length);
  console.log(trace.events({ rowLimit: 5 }).length, trace.tracks().length, trace.dataQuality().length);
  const answers: Answers = trace;
  console.log(answers.ops().length, trace.rows("kernels")[0]?.class);

  for (const row of trace.memory()) {
    const kind: MemoryKind = row.kind;
    if (row.kind === "device") console.log(row.peak_bytes.toFixed(), row.reserved_bytes?.toFixed());
    // @ts-expect-error: unreleased memory has no share of a peak.
    if (row.kind === "kept") console.log(row.name.length, row.share);
    // @ts-expect-error: not every kind of row has a peak.
    console.log(kind, row.peak_bytes.toFixed());
  }
  for (const row of trace.dataQuality()) {
    // @ts-expect-error: an identity is not counted.
    if (row.kind === "identity") console.log(row.left - row.right, row.count);
    else if (row.kind === "rule") console.log(row.holds satisfies boolean, row.example.length);
    else console.log(row.kind satisfies Severity, row.count.toFixed());
  }
  // @ts-expect-error: the class does not exist.
  console.log(trace.kernels().filter((row) => row.class === "sleep"));
  const memory: Columns<MemoryRow> = trace.columns("memory");
  const peaks: Float64Array = memory.columns.peak_bytes;
  const owners: TextColumn = memory.columns.name;
  console.log(peaks[0], owners.codes[0]);
  const columns: Columns<OpsRow> = trace.columns("ops");
  const names: TextColumn = columns.columns.name;
  const times: Float64Array = columns.columns.self_cpu_time_total_ns;
  const flags: Uint8Array = columns.columns.is_async;
  console.log(names.dictionary[names.codes[0] ?? 0], times[0], flags[0]);

  const window: TilesOptions = { track: 0, startNs: 0, endNs: 1e6, pixels: 800 };
  const tiles: Tiles = trace.tiles(window);
  const event: ChromeEvent = trace.event(tiles.event[0] ?? 0);
  const spans: Spans = trace.find(["aten::mm"], { deviceWorkOnly: false });
  const instances: Spans = trace.instances(0, { groupBy: ["module"] });
  const related: Related = trace.related(spans.event[0] ?? 0);
  const relation: Relation | undefined = related.relation[0];
  const curveOptions: CurveOptions = { counter: 0, startNs: 0, endNs: 1e6, pixels: 800 };
  const curve: Curve = trace.curve(curveOptions);
  const column: Column | undefined = COLUMNS.ops[0];
  const kind: ColumnKind | undefined = column?.kind;
  console.log(instances.length, relation, curve.mean[0], column?.about, kind);
  const diagnostics: Diagnostic[] = trace.diagnostics();
  const code: DiagnosticCode | undefined = diagnostics[0]?.code;
  console.log(
    event["name"],
    code,
    trace.table("ops", grouped),
    trace.json("ops"),
    trace.csv("ops"),
    trace.markdown("ops"),
  );
  for (const query of Object.keys(QUERIES) as (keyof Queries)[]) console.log(trace.json(query));
  const streaming: StreamOptions = { format: "csv" };
  console.log(trace.stream("ops", { offset: 5, rowLimit: 5, ...streaming }), trace.ops({ offset: 5 }));
  for (const name of Object.keys(EXPORTS) as (keyof Exports)[]) console.log(mediaType(name));
  const clean: ReadableStream<Uint8Array> = await repair(file, { signal: controller.signal });
  console.log(
    clean,
    trace.export("slice", { steps: [1, 2] }),
    trace.export("redact", { salt: "pepper" }),
    memoryBytes(),
  );

  const wasm: WasmInput = new URL("https://a.example/kinetoscope.wasm");
  const supplied: InitOptions = { parseWorker: () => new Worker("parse-worker.js", { type: "module" }) };
  await init(wasm, supplied);
  serveParseWorker();
  (await openSupplied(file)).dispose();
  (await openInline(file)).dispose();

  const remote: RemoteTrace = await openRemote(file, options);
  const same: RemoteAnswers = remote;
  const rows: OpsRow[] = await same.ops(grouped);
  console.log(rows.length, (await remote.summary()).steps, (await remote.columns("ops")).length);
  console.log(
    (await remote.related(0)).length,
    (await remote.curve(curveOptions)).length,
    (await remote.find(["a"])).length,
  );
  console.log((await remote.instances(0)).length, remote.stream("events", streaming));
  const stoppable: Abortable = { signal: controller.signal };
  console.log(await remote.ops({ rowLimit: 5, ...stoppable }), await remote.diagnostics(stoppable));
  remote.dispose();
  const spawn: Spawn = (onReply) => {
    const worker: Thread & Worker = new Worker("worker.js");
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    return worker;
  };
  (await createRemoteClient(spawn).open(file)).dispose();
  const handle: (message: Message) => Promise<void> = serve(
    { postMessage: () => undefined },
    { open: openSupplied, repair, openRun, summarize, merge, diff, check, trend, outline },
  );
  console.log(handle);

  try {
    await open(new Blob([]));
  } catch (error) {
    if (error instanceof KinetoscopeError) {
      const why: ErrorCode = error.code;
      console.log(why, error.byteOffset, error.source, error.reason, error.cause.code);
    }
  }
}

export async function compared(file: File): Promise<void> {
  const reading: CompareOptions = { memoryLimit: 1e9 };
  const comparison: Comparison = await diff(file, [file], reading);
  const rows: DiffRow[] = comparison.rows({ rowLimit: 5 });
  for (const row of rows) if (row.kind === "kernel") console.log(row.part_of, row.contribution_ns, row.names_a);
  console.log(comparison.columns().length, comparison.table(), comparison.json());
  const remote: RemoteComparison = await diffRemote(file, file);
  console.log((await remote.rows()).length, (await remote.columns()).length, await remote.table(), await remote.json());
  remote.dispose();
  const limits: Limits = { max: "25 ms", max_increase: "3 %", optional: true };
  const budgets: Budgets = { step: limits, kernel: { "gemm*": limits }, findings: { forbid: ["gpu_idle"] } };
  const options: CheckOptions<Source> = { base: [file] };
  const result: BudgetResult = await check(file, budgets, options);
  console.log(result.outcome, result.rows[0]?.message, result.markdown, result.junit, result.table, result.json);
}

export const comparisons: [Diff<Source>, Check<Source>, RemoteDiff] = [{ diff }, { check }, { diff: diffRemote }];

export const checks: [Check<Source>, RemoteRepair] = [{ check: checkRemote }, { repair: repairRemote }];

export async function pooled(file: File): Promise<void> {
  const options: PoolOptions = { workers: 4 };
  using pool: RemotePool = createPool(options);
  const calls: RemoteCalls = pool;
  const trace: RemoteTrace = await calls.open(file);
  const bytes: number = (await pool.memoryBytes()) + (await memoryBytesRemote());
  console.log(trace.length, bytes, mediaTypeRemote("chrome"));
}

export async function history(file: File, options: TrendOptions): Promise<void> {
  const { rows, runs, json, table }: TrendResult = await trend(file, options);
  const first: TrendRow | undefined = rows.find((row) => row.kind === "change" && row.unit === "ns");
  const run: TrendRun | undefined = runs.find(({ run }) => run === first?.run);
  console.log(first?.before, first?.change ?? "–", run?.commit, run?.time_s, json.length, table);
}

export const trends: [Trend<Source>, Trend<Source>] = [{ trend }, { trend: trendRemote }];

export async function large(file: File): Promise<void> {
  const onProgress = ({ events, totals }: OutlineProgress): void => console.log(events, totals[0]?.sum_ns);
  const options: OutlineOptions = { onProgress, threads: 1 };
  using whole: Outline = await outline(file, options);
  const row: OutlineRow | undefined = whole.rows(5)[0];
  const track: OutlineTrack | undefined = whole.tracks()[0];
  const drawn: TilesOptions = { track: track?.track ?? 0, startNs: whole.time[0], endNs: whole.time[1], pixels: 800 };
  console.log(whole.name, whole.length, row?.kind, track?.most_open, whole.density(drawn)[0], whole.json());
  const counts = ({ bytes }: ReadCounts): void => console.log(bytes, whole.eventsWithin(0, 1e9), whole.diagnostics());
  const reading: WindowOptions = { onProgress: counts, memoryLimit: 1e9 };
  (await whole.window(0, 1e9, reading)).dispose();
  const remote: RemoteOutline = await outlineRemote(file, options);
  const part: RemoteTrace = await remote.window(0, 1e9);
  console.log(await remote.rows(), await remote.density(drawn), part.name, OUTLINE_COLUMNS[0]?.title);
}

export const outlines: [Outlines<Source>, RemoteOutlines] = [{ outline }, { outline: outlineRemote }];

export const ranks: [Ranks<Source>, RemoteRanks] = [
  { openRun, summarize, merge },
  { openRun: openRemoteRun, summarize: summarizeRemote, merge: mergeRemote },
];

export const clients: [Client<Source>, RemoteClient] = [
  { open, repair, ...ranks[0], ...comparisons[0], ...comparisons[1], ...trends[0], ...outlines[0] },
  {
    open: openRemote,
    ...ranks[1],
    ...comparisons[2],
    ...checks[0],
    ...checks[1],
    ...trends[1],
    ...outlines[1],
    memoryBytes: memoryBytesRemote,
    createPool,
  },
];

export async function several(files: readonly File[], trace: Trace): Promise<void> {
  const notes: SourceNote[] = [{ code: "skipped", message: "readme.txt" }];
  const onProgress = ({ done, total, bytes, events }: RunProgress): void => console.log(done, total, bytes, events);
  const options: RunOptions = { notes, onProgress, workers: 2 };
  using run: Run = await openRun(files, options);
  using remote: RemoteRun = await openRemoteRun(files, options);
  const wanted: RunRanksOptions = { kinds: ["straggler"], rank: 2 };
  for (const row of run.ranks(wanted)) {
    const one: RanksRow = row;
    if (one.kind === "straggler") console.log(one.rank.toFixed(), one.phase, one.cost_ns.toFixed());
  }
  console.log(run.notes[0]?.code, run.table(), run.json(), run.rankSummaries(), run.columns().length, run.length);
  console.log(remote.notes, await remote.table(), await remote.ranks(wanted), await remote.rankSummaries());
  const kept: RankSummaryOptions = { name: "rank0", complete: true };
  const options1: SummarizeOptions = { ...kept, memoryLimit: 2 ** 30 };
  console.log(trace.rankSummary(kept), await summarize("a.json", options1), await summarizeRemote("a.json"));
  const chosen: MergeOptions = { ranks: [0, 1] };
  const merged: ReadableStream<Uint8Array> = await merge(files, chosen);
  console.log(merged, await mergeRemote(files));
}

export const small: LiteClient<Source> = { open: openLite };

export async function lite(file: File, options: LiteOptions): Promise<void> {
  using trace: LiteTrace = await openLite(file, options);
  const query: LiteQuery = "ops";
  const tiles: Tiles = trace.tiles({ track: 0, startNs: 0, endNs: 1, pixels: 1 });
  console.log(trace.summary().wall_ns, trace.ops({ rowLimit: 1 }), trace.tracks(), trace.table(query), tiles.length);
  // @ts-expect-error: the small engine has no such query.
  console.log(trace.rows("kernels"));
  // @ts-expect-error: nor its method.
  console.log(trace.kernels());
}

// @ts-expect-error: the option does not exist.
export const wrong: OpsOptions = { colour: "red" };
