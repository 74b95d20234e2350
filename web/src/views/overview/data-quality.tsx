// Whether the numbers of the trace add up, and what was lost or repaired.

import { useEffect, useRef } from "preact/hooks";
import type { DataQualityRow } from "kinetoscope/remote";
import { Panel } from "../../components/parts";
import { count } from "../../model/format";
import { param } from "../../state/route";
import { HINTS, TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.overview;

export function DataQuality({ checks, isBelowAll }: { checks: readonly DataQualityRow[]; isBelowAll: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const isWanted = param("at") === "data-quality";
  useEffect(() => {
    if (isWanted && isBelowAll) place.current?.scrollIntoView({ block: "start" });
  }, [isWanted, isBelowAll]);
  const identities = checks.filter((row) => row.kind === "identity");
  const diagnostics = checks.filter((row) => row.kind !== "identity");
  const broken = identities.filter((row) => row.holds === false);
  return (
    <div ref={place}>
      <Panel title={LABELS.dataQuality} about={HINTS.dataQuality} id="data-quality">
        <p class={broken.length > 0 ? "failure" : "good"} data-identities={broken.length === 0 ? "holds" : "broken"}>
          {broken.length === 0
            ? TEMPLATES.identitiesHold(identities.length)
            : TEMPLATES.identitiesBroken(broken.length, identities.length)}
        </p>
        <details open={broken.length > 0}>
          <summary>{LABELS.identities}</summary>
          <ul class="checks">
            {identities.map((row) => (
              <li key={row.name} class={row.holds ? "" : "failure"}>
                <span aria-hidden="true">{row.holds ? "✓" : "✗"}</span> {row.name}: {count(row.left)} and{" "}
                {count(row.right)}
              </li>
            ))}
          </ul>
        </details>
        {diagnostics.length > 0 ? (
          <ul class="checks">
            {diagnostics.map((row) => (
              <li key={row.name} data-diagnostic={row.name}>
                <span class={`severity ${row.kind}`}>{row.kind}</span> {row.description} <b>{count(row.count)}×</b>
                {row.kind === "rule" || row.first_offset === null ? "" : TEMPLATES.firstOffset(count(row.first_offset))}
                {row.example ? <code>{row.example}</code> : null}
              </li>
            ))}
          </ul>
        ) : (
          <p class="good">{LABELS.noDiagnostics}</p>
        )}
      </Panel>
    </div>
  );
}
