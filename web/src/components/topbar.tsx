// The header: what is open, which of several traces is shown, the theme, the keyboard sheet.

import { rankOf } from "../model/ranks";
import { openFiles } from "../state/opening";
import { choose, current, relation, traces } from "../state/session";
import { choice, nextTheme } from "../state/theme";
import { T, SAY } from "../strings";
import { keysShown } from "./keys";
import { FileButton } from "./opening";

function Chooser() {
  const open = current.value;
  if (!open) return null;
  if (traces.value.length === 1) return <span class="trace-name">{open.name}</span>;
  const label = (at: number): string => {
    const { name, info } = traces.value[at] as (typeof traces.value)[number];
    const rank = rankOf({ name, rank: info.rank, worldSize: info.world_size });
    return relation.value === "ranks" && rank !== undefined ? SAY.rank(rank, name) : name;
  };
  return (
    <label class="trace-chooser">
      <span class="visually-hidden">{T.trace}</span>
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
      <a class="brand" href="#view=overview" aria-label={T.title}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="var(--accent)" />
          <rect x="6" y="8" width="20" height="4" rx="1" fill="#fff" />
          <rect x="6" y="14" width="11" height="4" rx="1" fill="#fff" />
          <rect x="12" y="20" width="8" height="4" rx="1" fill="#fff" />
        </svg>
        <span>{T.title}</span>
      </a>
      <Chooser />
      <span class="spring" />
      {current.value ? (
        <span data-hint={T.openMoreHint} class="open-more">
          <FileButton hasKey label={T.openMore} onFiles={(files) => void openFiles(files)} />
        </span>
      ) : null}
      <button
        type="button"
        class="quiet-button"
        aria-label={`${T.theme}: ${T.themes[choice.value]}`}
        data-hint={`${T.theme}: ${T.themes[choice.value]}`}
        data-theme-button
        onClick={nextTheme}
      >
        {{ system: "◐", light: "☀", dark: "☾" }[choice.value]}
      </button>
      <button
        type="button"
        class="quiet-button"
        aria-label={T.help}
        data-hint={T.help}
        onClick={() => (keysShown.value = true)}
      >
        ?
      </button>
    </header>
  );
}
