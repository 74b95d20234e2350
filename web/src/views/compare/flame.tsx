// The call tree of a step of two runs as a flame graph with the widths of one and the colours of the change.

import { useMemo } from "preact/hooks";
import { FlameCanvas } from "../../components/flame-canvas";
import { useFocus } from "../../components/flame-focus";
import { Await, Panel } from "../../components/parts";
import { Tabs } from "../../components/tabs";
import { SHADES } from "../../drawing/palette";
import { diffBoxes, type DiffMetric, type DiffNode, type Side } from "../../model/diff-flame";
import { time } from "../../model/format";
import { diffTreeOf } from "../../state/comparison";
import { param, setParams } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { TEMPLATES, TEXTS } from "../../strings";
import { signedTime } from "./change";

const LABELS = TEXTS.compare;

function Tip({ node, metric }: { node: DiffNode; metric: DiffMetric }) {
  const { a, b } = node[metric];
  const share = a > 0 ? ` (${b > a ? "+" : ""}${((100 * (b - a)) / a).toFixed(1)}%)` : "";
  return (
    <>
      <b>{node.name}</b> {time(a)} → {time(b)}, {signedTime(b - a)}
      {share}
      {node.significant === false ? ` · ${LABELS.certainty.noise}` : null}
    </>
  );
}

/** The meaning of the colours. */
function Shades() {
  return (
    <span class="shades">
      {LABELS.shorter}
      {Array.from({ length: SHADES }, (_, at) => (
        <i key={at} style={{ background: `var(--shade-${at})` }} aria-hidden="true" />
      ))}
      {LABELS.longer}
    </span>
  );
}

function Graph({ root }: { root: DiffNode }) {
  const hasDevice = root.device.a > 0 || root.device.b > 0;
  const metric: DiffMetric = hasDevice && param("metric") === "device" ? "device" : "host";
  const side: Side = param("widths") === "a" ? "a" : "b";
  const { focus, matches, zoom } = useFocus(root);
  const boxes = useMemo(() => diffBoxes(focus, metric, side), [focus, metric, side]);
  return (
    <>
      <div class="toolbar">
        {hasDevice ? (
          <Tabs
            label={TEXTS.shared.time}
            of={LABELS.metrics}
            value={metric}
            onChange={(next) => setParams({ metric: next })}
          />
        ) : null}
        <Tabs
          label={LABELS.widths}
          of={LABELS.widthsOf}
          value={side}
          onChange={(next) => setParams({ widths: next })}
        />
        <span class="spring" />
        <Shades />
      </div>
      {boxes.length === 0 ? (
        <p class="empty">{LABELS.noTree}</p>
      ) : (
        <FlameCanvas
          label={TEMPLATES.diffFlameOf(time(root[metric].a), time(root[metric].b))}
          boxes={boxes}
          matches={matches}
          onClick={(box) => zoom(box?.node ?? root)}
          idle={TEXTS.flameMerged.zoomHint}
          tip={({ node }) => <Tip node={node} metric={metric} />}
        />
      )}
    </>
  );
}

export function DiffFlame({ a, b }: { a: OpenTrace; b: OpenTrace }) {
  return (
    <Panel title={LABELS.flame} about={LABELS.flameHint} id="diff-flame">
      <Await answer={diffTreeOf(a.trace, b.trace)}>{(root) => (root ? <Graph root={root} /> : null)}</Await>
    </Panel>
  );
}
