// Why devices were idle, and what the end of the trace depended on.

import { IDLE_CAUSES, PATH_PARTS } from "kinetoscope/columns";
import type { CriticalPathRow, IdleRow } from "kinetoscope/remote";
import { Await, Panel, To } from "../../components/parts";
import { Save } from "../../components/save";
import { CAUSE_COLORS, PART_COLORS } from "../../model/device";
import { rowsOf } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { TEMPLATES, TEXTS } from "../../strings";
import { Groups, periods, type Group } from "./behind";

const LABELS = TEXTS.findings;

const ofCause = (row: IdleRow): Group => ({
  ...row,
  key: row.cause,
  ...IDLE_CAUSES[row.cause],
  color: CAUSE_COLORS[row.cause],
});

const ofPart = (row: CriticalPathRow): Group => ({
  ...row,
  key: row.part,
  label: PATH_PARTS[row.part].label,
  about: `${PATH_PARTS[row.part].about} ${periods(row.count)}`,
  color: PART_COLORS[row.part] ?? "c-host-late",
});

/** The causes of the idle time of a device. */
export function IdleOf({ open, device }: { open: OpenTrace; device: string }) {
  return (
    <Await answer={rowsOf(open.trace, "idle")}>
      {(rows) => <Groups groups={rows.filter((row) => row.device === device).map(ofCause)} />}
    </Await>
  );
}

export function IdleCauses({ open }: { open: OpenTrace }) {
  return (
    <Await answer={rowsOf(open.trace, "idle")}>
      {(rows) =>
        rows.length === 0 ? null : (
          <Panel
            title={LABELS.idle}
            about={LABELS.idleHint}
            id="idle-causes"
            actions={<Save trace={open.trace} query="idle" />}
          >
            {[...new Set(rows.map((row) => row.device))].map((device) => (
              <div key={device} data-device={device}>
                <h3>{TEMPLATES.device(device)}</h3>
                <IdleOf open={open} device={device} />
              </div>
            ))}
          </Panel>
        )
      }
    </Await>
  );
}

export function CriticalPath({ open }: { open: OpenTrace }) {
  return (
    <Await answer={rowsOf(open.trace, "critical-path")}>
      {(rows) =>
        rows.length === 0 ? null : (
          <Panel
            title={LABELS.criticalPath}
            about={LABELS.criticalPathHint}
            id="critical-path"
            actions={
              <>
                <To view="timeline" with={{ path: 1 }}>
                  {LABELS.onTimeline}
                </To>
                <Save trace={open.trace} query="critical-path" />
              </>
            }
          >
            <Groups groups={rows.map(ofPart)} />
          </Panel>
        )
      }
    </Await>
  );
}
