// Files that are joined to a trace: traces of the captures of graphs, and what says where kernels come from.

import { isCandidate, type PlacedFile } from "./files";

/** The files that are joined to a trace. */
export interface Joined {
  captures: readonly File[];
  provenance: readonly File[];
}

export const NOTHING_JOINED: Joined = { captures: [], provenance: [] };

/** The names of files that PyTorch writes about compiled graphs, except logs. */
const OF_COMPILE = [
  "inductor_provenance_tracking_node_mappings.json",
  "output_code.py",
  "fx_graph_transformed.py",
  "kernel_information.json",
];

const LOG = "dedicated_log_torch_trace_";

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const unpacked = (path: string): string => baseName(path).replace(/\.gz$/, "");

/** Whether PyTorch writes files with this name about compiled graphs. */
export function isOfCompile(path: string): boolean {
  const name = unpacked(path);
  return name.startsWith(LOG) || OF_COMPILE.includes(name);
}

/** Whether a file is of the process with this rank: all are, except logs that state another one. */
export function isOfRank(path: string, rank: number | null): boolean {
  const stated = /^dedicated_log_torch_trace_rank_(\d+)_/.exec(`${unpacked(path)}_`)?.[1];
  return rank === null || stated === undefined || Number(stated) === rank;
}

/** Whether a file in a folder or an archive is opened, by its path. */
export function isOpened(path: string): boolean {
  return isOfCompile(path) || (isCandidate(baseName(path)) && !/(^|\/)torch_compile_debug\//.test(path));
}

/** The files that are opened, by what they are. */
export interface Sorted {
  traces: PlacedFile[];
  joined: Joined;
}

/** Returns a file whose name is its path: files of different graphs have the same name, in different folders. */
function named({ file, path }: PlacedFile): File {
  return path === file.name ? file : new File([file], path);
}

/** Sorts files by what their names and folders say. Captures without another trace are traces. */
export function sortFiles(placed: readonly PlacedFile[]): Sorted {
  const provenance = placed.filter(({ path }) => isOfCompile(path));
  const others = placed.filter((one) => !provenance.includes(one));
  const captures = others.filter(({ path }) => /(^|\/)capture_traces\//.test(path));
  const traces = others.filter((one) => !captures.includes(one));
  const areTraces = traces.length === 0;
  return {
    traces: areTraces ? captures : traces,
    joined: { captures: areTraces ? [] : captures.map(named), provenance: provenance.map(named) },
  };
}

/** The beginning of a file, decompressed. */
async function headOf(file: File): Promise<string> {
  const head = file.slice(0, 4096);
  if (!file.name.endsWith(".gz")) return head.text();
  const reader = head.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** The beginning of a dictionary of the nodes of CUDA graphs, whose keys are numbers. */
const NODES = /^\s*\{\s*"\d+"\s*:/;

/** Sorts files that are added to a trace, which can have any name: by their names, and JSON by its beginning. */
export async function sortAdded(placed: readonly PlacedFile[]): Promise<Joined> {
  const isProvenance = async ({ file, path }: PlacedFile): Promise<boolean> =>
    isOfCompile(path) || /\.(log|py|pickle|pkl)(\.gz)?$/.test(path) || NODES.test(await headOf(file).catch(() => ""));
  const are = await Promise.all(placed.map(isProvenance));
  return {
    captures: placed.filter((_, at) => !are[at]).map(named),
    provenance: placed.filter((_, at) => are[at]).map(named),
  };
}

/** Returns the files of both. A file with a name that is there replaces it. */
export function withAdded(joined: Joined, added: Joined): Joined {
  const both = (before: readonly File[], after: readonly File[]): File[] => [
    ...before.filter((one) => !after.some((other) => other.name === one.name)),
    ...after,
  ];
  return {
    captures: both(joined.captures, added.captures),
    provenance: both(joined.provenance, added.provenance),
  };
}
