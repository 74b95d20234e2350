// torch.compile: the graphs that were called, their kernels, and graph breaks.

import { useMemo } from "preact/hooks";
import type { CompiledRow } from "kinetoscope/remote";
import { JoinButton } from "../../components/join-button";
import { Await, Head, Missing } from "../../components/parts";
import { ofKind } from "../../model/kinds";
import { rowsOf } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { TEXTS } from "../../strings";
import { Breaks, Graphs, Kernels } from "./tables";

/** What to add, if no files say where the kernels come from. */
function WithoutFiles({ open }: { open: OpenTrace }) {
  if (open.joined.provenance.length > 0) return null;
  return (
    <div class="banner" data-without-files>
      <span>{TEXTS.compiled.withoutFiles}</span>
      <JoinButton />
    </div>
  );
}

function Found({ open, rows }: { open: OpenTrace; rows: readonly CompiledRow[] }) {
  const [graphs, kernels, breaks] = useMemo(
    () => [ofKind(rows, "graph"), ofKind(rows, "kernel"), ofKind(rows, "break")],
    [rows],
  );
  if (graphs.length === 0) return <Missing of="compiled" />;
  return (
    <>
      <WithoutFiles open={open} />
      <Graphs graphs={graphs} />
      <Kernels open={open} graphs={graphs} kernels={kernels} />
      <Breaks breaks={breaks} hasFiles={open.joined.provenance.length > 0} />
    </>
  );
}

export function Compiled({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="compiled" />
      <Await answer={rowsOf(open.trace, "compiled")}>{(rows) => <Found open={open} rows={rows} />}</Await>
    </>
  );
}
