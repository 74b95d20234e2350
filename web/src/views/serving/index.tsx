// Serving: the iterations of inference engines by phase and batch.

import { useMemo } from "preact/hooks";
import type { ServingRow } from "kinetoscope/remote";
import { Await, Head, Missing } from "../../components/parts";
import { phaseColors } from "../../model/phases";
import { servingOf, type Serving as Rows } from "../../model/serving";
import { rowsOf } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { BySize, InTime } from "./charts";
import { Groups } from "./groups";
import { Latency } from "./latency";
import { Details, Phases } from "./tables";
import { Cards, Inferred } from "./totals";

function All({ open, serving }: { open: OpenTrace; serving: Rows }) {
  const colors = useMemo(() => phaseColors(serving.phases.map((row) => row.phase ?? "")), [serving]);
  const of = { serving, colors };
  return (
    <>
      <Inferred confidence={serving.total.confidence} />
      <Cards serving={serving} />
      <Phases {...of} />
      <InTime {...of} />
      <div class="columns">
        <BySize {...of} />
        <Groups {...of} />
      </div>
      <Latency {...of} />
      <Details open={open} {...of} />
    </>
  );
}

function Found({ open, rows }: { open: OpenTrace; rows: readonly ServingRow[] }) {
  const serving = useMemo(() => servingOf(rows), [rows]);
  return serving ? <All open={open} serving={serving} /> : <Missing of="serving" />;
}

export function Serving({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="serving" />
      <Await answer={rowsOf(open.trace, "serving")}>{(rows) => <Found open={open} rows={rows} />}</Await>
    </>
  );
}
