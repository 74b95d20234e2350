// The header: the open traces, the theme, the keyboard shortcuts.

import type { RemoteRun } from "kinetoscope/remote";
import { count } from "../model/format";
import { rankOf } from "../model/ranks";
import { ofKind } from "../model/kinds";
import { valueOf } from "../state/ask";
import { history } from "../state/history";
import { openFiles } from "../state/opening";
import { go } from "../state/route";
import { factsOf, fileRun, placeOf, showRank } from "../state/run";
import { choose, current, relation, traces } from "../state/session";
import { choice, nextTheme } from "../state/theme";
import { PAGE_TEXTS, TEMPLATES } from "../strings";
import { keysShown } from "./keys";
import { FileButton } from "./opening";

/** Chooses a rank of a run whose traces are not kept open. */
function RankChooser({ run }: { run: RemoteRun }) {
  const rows = valueOf(factsOf(run).value) ?? [];
  const ranks = ofKind(rows, "rank");
  const open = current.value;
  const shown = ranks.find((row) => row.trace === open?.name);
  return (
    <label class="trace-chooser">
      <span class="visually-hidden">{PAGE_TEXTS.trace}</span>
      <select
        value={shown?.trace ?? ""}
        onChange={({ currentTarget: { value } }) => (value ? void showRank(value) : go("ranks"))}
      >
        <option value="">{open && !shown ? open.name : TEMPLATES.allRanks(count(run.length))}</option>
        {ranks
          .filter((row) => placeOf(row.trace) !== undefined)
          .map((row) => (
            <option key={row.rank} value={row.trace}>
              {TEMPLATES.rank(row.rank, row.trace)}
            </option>
          ))}
      </select>
    </label>
  );
}

function Chooser() {
  const open = current.value;
  if (fileRun.value) return <RankChooser run={fileRun.value.run} />;
  if (!open) return history.value ? <span class="trace-name">{history.value.name}</span> : null;
  if (traces.value.length === 1) return <span class="trace-name">{open.name}</span>;
  const label = (at: number): string => {
    const { name, info } = traces.value[at] as (typeof traces.value)[number];
    const rank = rankOf({ name, rank: info.rank, worldSize: info.world_size });
    return relation.value === "ranks" && rank !== undefined ? TEMPLATES.rank(rank, name) : name;
  };
  return (
    <label class="trace-chooser">
      <span class="visually-hidden">{PAGE_TEXTS.trace}</span>
      <select value={traces.value.indexOf(open)} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {traces.value.map((trace, at) => (
          <option key={trace.name + at} value={at}>
            {label(at)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Topbar() {
  return (
    <header class="topbar">
      <a class="brand" href="#view=overview" aria-label={PAGE_TEXTS.title}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="var(--accent)" />
          <rect x="6" y="8" width="20" height="4" rx="1" fill="#fff" />
          <rect x="6" y="14" width="11" height="4" rx="1" fill="#fff" />
          <rect x="12" y="20" width="8" height="4" rx="1" fill="#fff" />
        </svg>
        <span>{PAGE_TEXTS.title}</span>
      </a>
      <Chooser />
      <span class="spring" />
      {current.value || fileRun.value || history.value ? (
        <span data-hint={PAGE_TEXTS.openOtherHint} class="open-more">
          <FileButton hasKey label={PAGE_TEXTS.openOther} onFiles={(files) => void openFiles(files)} />
        </span>
      ) : null}
      <button
        type="button"
        class="quiet-button"
        aria-label={`${PAGE_TEXTS.theme}: ${PAGE_TEXTS.themes[choice.value]}`}
        data-hint={`${PAGE_TEXTS.theme}: ${PAGE_TEXTS.themes[choice.value]}`}
        data-theme-button
        onClick={nextTheme}
      >
        {{ system: "◐", light: "☀", dark: "☾" }[choice.value]}
      </button>
      <button
        type="button"
        class="quiet-button"
        aria-label={PAGE_TEXTS.keyboard}
        data-hint={PAGE_TEXTS.keyboard}
        onClick={() => (keysShown.value = true)}
      >
        ?
      </button>
    </header>
  );
}
