// Compare: what changed from one run to another, whether it is noise, and why.

import type { DiffRow } from "kinetoscope/remote";
import { FileButton } from "../../components/opening";
import { Await, Head, Panel } from "../../components/parts";
import { changesOf, notesOf, speedsOf, totalsOf } from "../../model/compare";
import { share } from "../../model/format";
import { comparisonOf } from "../../state/comparison";
import { addFiles } from "../../state/opening";
import { numberParam, param, setParams } from "../../state/route";
import { traces, type OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { Changes } from "./changes";
import { DiffFlame } from "./flame";
import { Matrix } from "./matrix";
import { Timelines } from "./timelines";
import { Totals } from "./totals";
import { Waterfall } from "./waterfall";

const LABELS = TEXTS.compare;

function Chooser({ name, label, at }: { name: "a" | "b"; label: string; at: number }) {
  return (
    <label class="select">
      {label}{" "}
      <select value={at} data-side={name} onChange={(event) => setParams({ [name]: event.currentTarget.value })}>
        {traces.value.map((trace, position) => (
          <option key={position} value={position}>
            {trace.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Two({ rows, a, b }: { rows: readonly DiffRow[]; a: OpenTrace; b: OpenTrace }) {
  const totals = totalsOf(rows);
  const total = totals.find((one) => one.name === param("of")) ?? totals[0];
  const changed = changesOf(rows);
  const significant = changed.filter((row) => row.significant === true).length;
  const undecided = changed.some((row) => row.significant === null);
  if (!total) return <p data-verdict="equal">{LABELS.equal}</p>;
  return (
    <>
      <p class="compare-verdict" data-verdict={undecided ? "unknown" : significant}>
        {undecided ? LABELS.undecided : TEMPLATES.significantChanges(significant)}
        {speedsOf(rows).map((speed) => (
          <span key={speed.name}> {TEMPLATES.sameWork(speed.name, speed.factor.toFixed(2), share(speed.spread))}</span>
        ))}
      </p>
      {notesOf(rows).map((note) => (
        <p class="note" key={note}>
          {note}.
        </p>
      ))}
      <Totals rows={rows} />
      <Panel title={LABELS.waterfall} about={LABELS.waterfallHint} id="waterfall">
        {totals.length > 1 ? (
          <div class="tabs" role="tablist">
            {totals.map(({ name }) => (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={name === total.name}
                onClick={() => setParams({ of: name })}
              >
                {LABELS.totals[name as keyof typeof LABELS.totals]}
              </button>
            ))}
          </div>
        ) : null}
        <Waterfall rows={rows} total={total} />
      </Panel>
      <DiffFlame a={a} b={b} />
      <Timelines a={a} b={b} />
      <Changes rows={changed} />
    </>
  );
}

export function Compare(_: { open: OpenTrace }) {
  // An address can be of a page with more traces.
  const placeOf = (name: "a" | "b", fallback: number): number => {
    const at = numberParam(name) ?? fallback;
    return traces.value[at] ? at : fallback;
  };
  const [atA, atB] = [placeOf("a", 0), placeOf("b", 1)];
  const [a, b] = [traces.value[atA], traces.value[atB]];
  return (
    <>
      <Head view="compare">
        {traces.value.length > 1 ? (
          <>
            <Chooser name="a" label="A" at={atA} />
            <Chooser name="b" label="B" at={atB} />
            <button type="button" onClick={() => setParams({ a: String(atB), b: String(atA) })}>
              {LABELS.exchange}
            </button>
          </>
        ) : null}
        <FileButton label={PAGE_TEXTS.compareWith} onFiles={(files) => void addFiles(files)} />
      </Head>
      {traces.value.length > 2 ? <Matrix /> : null}
      {a && b ? (
        <Await key={`${atA} ${atB}`} answer={comparisonOf(a.trace, b.trace)}>
          {(rows) => <Two rows={rows} a={a} b={b} />}
        </Await>
      ) : (
        <Panel title={LABELS.oneTraceOpen}>
          <p>
            {PAGE_TEXTS.compareWith}. It is opened in addition to <b>{traces.value[0]?.name}</b>. You can also drop two
            files at once.
          </p>
        </Panel>
      )}
    </>
  );
}
