// A merged call tree as a flame graph and a table.

import { useMemo } from "preact/hooks";
import { FlameCanvas } from "../../components/flame-canvas";
import { useFocus } from "../../components/flame-focus";
import { boxes, metricOf, type FlameLane, type Metric } from "../../model/flame";
import { count, share, time } from "../../model/format";
import { param } from "../../state/route";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { TreeTable } from "./tree-table";

const LABELS = TEXTS.flameMerged;

export function Merged({ lane, metric }: { lane: FlameLane; metric: Metric }) {
  const path = param("path");
  const { focus, matches, zoom } = useFocus(lane.root);
  const drawn = useMemo(
    () => boxes(focus, metric).map((box) => ({ ...box, name: box.node.name, faded: box.depth < focus.depth })),
    [focus, metric],
  );
  const whole = metricOf(lane.root, metric);
  if (whole === 0)
    return (
      <p class="empty">{metric === "device" ? "No device work was launched on this track." : PAGE_TEXTS.nothing}</p>
    );
  return (
    <>
      <FlameCanvas
        label={TEMPLATES.flameGraphOf(lane.name)}
        boxes={drawn}
        matches={matches}
        onClick={(box) => zoom(box?.node ?? lane.root)}
        idle={LABELS.zoomHint}
        tip={({ node }) => (
          <>
            <b>{node.name}</b> {time(metricOf(node, metric))}, {share(metricOf(node, metric) / whole)} · self{" "}
            {time(metric === "cpu" ? node.self : node.deviceSelf)} · {count(node.count)} calls
          </>
        )}
      />
      <TreeTable key={`${path} ${metric}`} focus={focus} metric={metric} whole={whole} />
    </>
  );
}
