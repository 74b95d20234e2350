// The bar below the header while a recording is followed: its state, and the commands to the program.

import { time } from "../model/format";
import { command, isPaused, live, looksAtPart, togglePause, completeAddress, type Program } from "../state/live";
import { TEMPLATES, TEXTS } from "../strings";
import { hint } from "./hints";

const LABELS = TEXTS.live;

function Commands({ program }: { program: Program }) {
  if (program.gone)
    return (
      <span class="failure" role="alert">
        {TEMPLATES.programIsGone(program.error ?? "")}
      </span>
    );
  const what = program.recording ? "stop" : "start";
  return (
    <>
      {program.error ? (
        <span class="failure" role="alert">
          {program.error}
        </span>
      ) : null}
      <span class="quiet">{TEMPLATES.programWithId(program.name ?? "", program.pid ?? 0)}</span>
      <button type="button" class="primary" data-command={what} onClick={() => void command(what)}>
        {LABELS[what]}
      </button>
    </>
  );
}

export function LiveBar() {
  const state = live.value;
  if (!state) return null;
  const isHeld = isPaused.value || looksAtPart.value;
  const shown = isHeld && state.state === "recording" ? "paused" : state.state;
  return (
    <div class="live-bar" role="status" data-live={shown}>
      <span class="live-dot" aria-hidden="true" />
      <b>{LABELS.states[shown]}</b>
      {state.file ? (
        <>
          <span class="live-file">{state.file}</span>
          <span class="quiet" {...hint(LABELS.lastHint)}>
            {TEMPLATES.lastTime(time(state.keep_ns))}
          </span>
          <button type="button" aria-pressed={isHeld} {...hint(LABELS.pauseHint)} onClick={togglePause}>
            {isHeld ? LABELS.resume : LABELS.pause}
          </button>
          <a href={completeAddress(state.file)} target="_blank" rel="noopener" {...hint(LABELS.completeHint)}>
            {LABELS.complete}
          </a>
        </>
      ) : null}
      <span class="spring" />
      {state.error ? (
        <span class="failure" role="alert">
          {state.error}
        </span>
      ) : null}
      {state.program ? <Commands program={state.program} /> : null}
    </div>
  );
}

/** What is shown before something was recorded. */
export function LiveWaiting() {
  return (
    <div class="missing" data-live-waiting>
      <p class="missing-what">{LABELS.nothingYet}</p>
      <p>{live.value?.program ? LABELS.startIt : LABELS.startProgram}</p>
    </div>
  );
}
