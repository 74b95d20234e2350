// Files that are joined to a trace: by their names, folders and contents. Links to an editor, and origins of activities.

import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ColumnBuffers } from "kinetoscope/remote";
import { isOfRank, isOpened, NOTHING_JOINED, sortAdded, sortFiles, withAdded } from "../src/engine/joined";
import { originOf } from "../src/model/origin";
import { editorAddress, shortPart, sourceParts } from "../src/model/source";

const placed = (path: string, content: string | Uint8Array = "") => ({
  path,
  file: new File([content as string], path.slice(path.lastIndexOf("/") + 1)),
});

const sorted = (...paths: string[]) => {
  const { traces, joined } = sortFiles(paths.map((path) => placed(path)));
  const { captures, provenance } = joined;
  return {
    traces: traces.map(({ path }) => path),
    captures: captures.map(({ name }) => name),
    provenance: provenance.map(({ name }) => name),
  };
};

describe("files that are opened together", () => {
  test("files of torch.compile are known by their names", () => {
    const names = [
      "dedicated_log_torch_trace_abc.log",
      "dedicated_log_torch_trace_rank_3_abc.log.gz",
      "kernel_information.json",
      "inductor_provenance_tracking_node_mappings.json",
      "output_code.py",
      "fx_graph_transformed.py.gz",
    ];
    expect(sorted("run.json", ...names)).toEqual({ traces: ["run.json"], captures: [], provenance: names });
  });

  test("other names are those of traces", () => {
    const names = [
      "dedicated_log.log",
      "my_dedicated_log_torch_trace_abc.log",
      "torch_trace.log.gz",
      "kernel_information.json.zst",
      "output_code.py.json",
      "capture_traces.json",
      "my_capture_traces/one.json",
    ];
    expect(sorted(...names)).toEqual({ traces: names, captures: [], provenance: [] });
  });

  test("files in a folder capture_traces are captures, at any depth", () => {
    expect(sorted("run/trace.json", "run/capture_traces/8.json", "run/capture_traces/inner/16.json.gz")).toEqual({
      traces: ["run/trace.json"],
      captures: ["run/capture_traces/8.json", "run/capture_traces/inner/16.json.gz"],
      provenance: [],
    });
    expect(sorted("capture_traces/8.json", "trace.json").captures).toEqual(["capture_traces/8.json"]);
    expect(sorted("capture_traces/output_code.py", "trace.json").provenance).toEqual(["capture_traces/output_code.py"]);
  });

  test("captures without another trace are traces", () => {
    expect(sorted("capture_traces/8.json", "capture_traces/16.json", "kernel_information.json")).toEqual({
      traces: ["capture_traces/8.json", "capture_traces/16.json"],
      captures: [],
      provenance: ["kernel_information.json"],
    });
    expect(sorted()).toEqual({ traces: [], captures: [], provenance: [] });
  });

  test("files of one name in several folders keep their folders", async () => {
    const paths = ["d/model__0_forward_1.0/output_code.py", "d/model__0_backward_2.1/output_code.py"];
    const { provenance } = sortFiles([placed("d/t.json"), ...paths.map((path) => placed(path, path))]).joined;
    expect(provenance.map(({ name }) => name)).toEqual(paths);
    expect(await Promise.all(provenance.map((file) => file.text()))).toEqual(paths);
  });

  test("of a folder of torch.compile, only its known files are opened", () => {
    expect(isOpened("run/trace.json")).toBe(true);
    expect(isOpened("run/output_code.py")).toBe(true);
    expect(isOpened("run/model.py")).toBe(false);
    expect(isOpened("run/torch_compile_debug/run_1/torchinductor/model__0_forward_1.0/output_code.py")).toBe(true);
    expect(isOpened("torch_compile_debug/run_1/other.json")).toBe(false);
    expect(isOpened("run/trace.tar.gz")).toBe(false);
  });

  test("logs of other ranks are known by their names", () => {
    const name = "dedicated_log_torch_trace_rank_3_abc.log.gz";
    expect([isOfRank(name, 3), isOfRank(name, 4), isOfRank(name, null)]).toEqual([true, false, true]);
    expect(isOfRank("dedicated_log_torch_trace_abc_12.log", 4)).toBe(true);
    expect(isOfRank("dedicated_log_torch_trace_rank_3.log", 4)).toBe(true);
    expect(isOfRank("folder/kernel_information.json", 4)).toBe(true);
  });
});

describe("files that are added", () => {
  test("logs, code, pickles and dictionaries of nodes are provenance, others are captures", async () => {
    const nodes = '{"21474836481": "a.py:1:f"}';
    const joined = await sortAdded([
      placed("torch_trace.log.gz"),
      placed("code.py"),
      placed("annotations.pkl"),
      placed("kernel_information.json", "{}"),
      placed("stacks.json.gz", new Uint8Array(gzipSync(nodes))),
      placed("annotations.json", ` ${nodes}`),
      placed("8.json", '{"schemaVersion": 1, "traceEvents": []}'),
      placed("16.json.gz", new Uint8Array(gzipSync('{"traceEvents": []}'))),
      placed("damaged.json.gz", "no"),
    ]);
    expect(joined.captures.map(({ name }) => name)).toEqual(["8.json", "16.json.gz", "damaged.json.gz"]);
    expect(joined.provenance.length).toBe(6);
  });

  test("they add to those that are joined, and replace those of the same name", () => {
    const [first, second, other] = [new File(["1"], "a.log"), new File(["22"], "a.log"), new File([""], "b.log")];
    const joined = withAdded(
      { ...NOTHING_JOINED, provenance: [first, other] },
      { captures: [other], provenance: [second] },
    );
    expect(joined).toEqual({ captures: [other], provenance: [other, second] });
    expect(joined.provenance[1]?.size).toBe(2);
  });
});

describe("links to an editor", () => {
  const addressesOf = (source: string) => sourceParts(source).map(({ address }) => address);

  test("a line of an absolute path has one", () => {
    expect(addressesOf("/a/b.py:12")).toEqual(["vscode://file/a/b.py:12"]);
    expect(addressesOf("C:\\a\\b c.py:3")).toEqual(["vscode://file/C:/a/b%20c.py:3"]);
    expect(addressesOf("/a/b.py(12): forward")).toEqual(["vscode://file/a/b.py:12"]);
    expect(addressesOf("/a/b.py:12, 14, c.py:3, 4")).toEqual([
      "vscode://file/a/b.py:12",
      "vscode://file/a/b.py:14",
      undefined,
      undefined,
    ]);
  });

  test("the address has no other parts than the path and the line", () => {
    expect(editorAddress("/a/b?c#d%2e:7.py", "1")).toBe("vscode://file/a/b%3Fc%23d%252e%3A7.py:1");
    expect(editorAddress('/a/"><script>.py', "1")).toBe("vscode://file/a/%22%3E%3Cscript%3E.py:1");
  });

  test("nothing else has one", () => {
    for (const source of [
      "case_c.py:11",
      "./a.py:1",
      "/a/b.py",
      "//host/share/a.py:1",
      "/\\host/a.py:1",
      "\\\\host\\share\\a.py:1",
      "C:a.py:1",
      "C:\\\\host\\a.py:1",
      "https://a/b.py:1",
      "javascript:alert(1):1",
      "vscode://file/a.py:1",
      "/a/\u202eb.py:1",
      "/a\n/b.py:1",
      "/a/\ud800.py:1",
      "/a, b.py:12",
      "12",
      "(no source)",
      "",
    ])
      expect(
        addressesOf(source).every((address) => address === undefined),
        source,
      ).toBe(true);
  });

  test("the parts are the text", () => {
    for (const source of ["/a/b.py:12, 14, c.py:3", "/a, b.py:12", "/a/b.py(12): f, g", ""])
      expect(
        sourceParts(source)
          .map(({ text }) => text)
          .join(", "),
      ).toBe(source);
  });
});

test("in tables, sources are without folders and the middle of hashes", () => {
  const hash = `c2xrgg3w${"a2b3c".repeat(8)}wxyz`;
  expect(hash.length).toBe(52);
  const parts = [
    "/a/b.py:12",
    "C:\\a\\b.py:3",
    "14",
    "/a/b.py(12): f/g",
    `/tmp/2x/${hash}.py`,
    `${hash}.py:7`,
    `${hash}a.py`,
  ];
  expect(parts.map(shortPart)).toEqual([
    "b.py:12",
    "b.py:3",
    "14",
    "b.py(12): f/g",
    "c2xrgg3w…wxyz.py",
    "c2xrgg3w…wxyz.py:7",
    `${hash}a.py`,
  ]);
});

describe("origins of activities", () => {
  const text = (...values: (string | null)[]): ColumnBuffers => {
    const bytes = values.map((value) => new TextEncoder().encode(value ?? ""));
    const offsets = [0];
    for (const one of bytes) offsets.push((offsets.at(-1) as number) + one.length);
    const present = values.reduce((bits, value, at) => bits | (value === null ? 0 : 1 << at), 0);
    const all = Uint8Array.from(bytes.flatMap((one) => [...one]));
    return {
      kind: "text",
      optional: true,
      present: Uint8Array.of(present),
      offsets: Int32Array.from(offsets),
      bytes: all,
    };
  };

  test("are those of the row of the event", () => {
    const columns: Record<string, ColumnBuffers> = {
      event: { kind: "int", optional: false, present: null, values: BigInt64Array.of(7n, 9n) },
      operator: text("aten::mm", null),
      operator_source: text("capture", null),
      source: text("é.py:1", "b.py:2"),
      source_by: {
        kind: "name",
        optional: true,
        present: null,
        codes: Uint32Array.of(0, 1),
        names: ["stack", "inductor"],
      },
      annotation: text(null, ""),
    };
    expect(originOf({ columns }, 7)).toEqual({
      operator: "aten::mm",
      operatorBy: "capture",
      source: "é.py:1",
      sourceBy: "stack",
      annotation: null,
    });
    expect(originOf({ columns }, 9)).toMatchObject({ operator: null, source: "b.py:2", sourceBy: "inductor" });
    expect(originOf({ columns }, 9)?.annotation).toBe("");
    expect(originOf({ columns }, 8)).toBeUndefined();
  });
});
