// Samples of call stacks: a flame graph and a table of functions.

import { useMemo } from "preact/hooks";
import type { RemoteTrace, SamplesRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../../components/answer-table";
import { FlameCanvas } from "../../components/flame-canvas";
import { useFocus } from "../../components/flame-focus";
import { Await, Missing } from "../../components/parts";
import { SearchBox } from "../../components/search-box";
import { boxes, sampled } from "../../model/flame";
import { share } from "../../model/format";
import { rowsOf } from "../../state/ask";
import { numberParam, param, setParams } from "../../state/route";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.sampled;

/** The places in which samples are counted. */
const PLACES = ["everywhere", "between"] as const;

/** The samples that the address selects. */
function selection() {
  const [start, end] = [numberParam("start"), numberParam("end")];
  return {
    ...(param("thread") ? { thread: param("thread") } : {}),
    ...(param("span") ? { span: param("span") } : {}),
    ...(param("where") === "between" ? { between: true } : {}),
    ...(start !== undefined && end !== undefined ? { time: [start, end] as const } : {}),
  };
}

function Controls({ threads }: { threads: readonly SamplesRow[] }) {
  const choose = (changes: Record<string, string | undefined>) => setParams({ ...changes, path: undefined });
  return (
    <>
      <label class="select">
        {LABELS.thread}{" "}
        <select
          value={param("thread") ?? ""}
          data-thread-chooser
          onChange={(event) => choose({ thread: event.currentTarget.value || undefined })}
        >
          <option value="">{LABELS.allThreads}</option>
          {threads.map((one) => (
            <option key={one.thread} value={one.thread ?? ""}>
              {TEMPLATES.threadWithSamples(one.name, one.samples)}
            </option>
          ))}
        </select>
      </label>
      <label class="select">
        {LABELS.where}{" "}
        <select
          value={param("where") ?? "everywhere"}
          onChange={(event) => choose({ where: event.currentTarget.value, span: undefined })}
        >
          {PLACES.map((place) => (
            <option key={place} value={place}>
              {LABELS[place]}
            </option>
          ))}
        </select>
      </label>
      <SearchBox name="span" label={LABELS.span} hint={LABELS.spanHint} />
      {param("start") === undefined ? null : (
        <button type="button" onClick={() => choose({ start: undefined, end: undefined })}>
          {LABELS.allTime}
        </button>
      )}
    </>
  );
}

function Graph({ rows }: { rows: readonly SamplesRow[] }) {
  const root = useMemo(() => sampled(LABELS.all, rows), [rows]);
  const { focus, matches, zoom } = useFocus(root);
  const drawn = useMemo(
    () => boxes(focus, "cpu").map((box) => ({ ...box, name: box.node.name, faded: box.depth < focus.depth })),
    [focus],
  );
  return (
    <FlameCanvas
      label={LABELS.graph}
      boxes={drawn}
      matches={matches}
      onClick={(box) => zoom(box?.node ?? root)}
      idle={TEXTS.flameMerged.zoomHint}
      tip={({ node }) => (
        <>
          <b>{node.name}</b> {TEMPLATES.samplesOf(node.total, share(node.total / root.total), node.self)}
        </>
      )}
    />
  );
}

function Functions({ trace, rows }: { trace: RemoteTrace; rows: readonly SamplesRow[] }) {
  const columns = useMemo(
    () =>
      columnsOf("samples", ["name", "own", "own_share", "samples", "share"], {
        name: { width: "minmax(260px, 3fr)" },
        own: { bar: true },
        samples: { bar: true },
      }),
    [],
  );
  return (
    <AnswerTable
      label={LABELS.functions}
      trace={trace}
      query="samples"
      options={selection()}
      rows={rows}
      columns={columns}
      keyOf={(row) => row.name}
      textOf={(row) => row.name}
      fit={14}
    />
  );
}

export function Sampled({ trace, tabs }: { trace: RemoteTrace; tabs: preact.ComponentChildren }) {
  const chosen = selection();
  return (
    <Await answer={rowsOf(trace, "samples", { by: "thread" })}>
      {(threads) =>
        threads.length === 0 ? (
          <>
            <div class="toolbar">{tabs}</div>
            <Missing of="samples" />
          </>
        ) : (
          <>
            <div class="toolbar">
              {tabs}
              <Controls threads={threads} />
            </div>
            <Await answer={rowsOf(trace, "samples", { by: "tree", ...chosen })}>
              {(rows) =>
                rows.length === 0 ? (
                  <p class="empty">{LABELS.none}</p>
                ) : (
                  <Graph key={JSON.stringify(chosen)} rows={rows} />
                )
              }
            </Await>
            <Await answer={rowsOf(trace, "samples", chosen)}>
              {(rows) => (rows.length === 0 ? null : <Functions trace={trace} rows={rows} />)}
            </Await>
          </>
        )
      }
    </Await>
  );
}
