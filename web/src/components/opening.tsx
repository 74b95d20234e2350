// The start page: ways to open a trace, progress while reading, and failures.

import { useRef, useState } from "preact/hooks";
import type { OutlineRow, PreviewSummary, PreviewTop, RunProgress } from "kinetoscope/remote";
import { ACCEPTED } from "../engine/files";
import { bytes, count, time } from "../model/format";
import { addressFailure, goToAddress, isFromFile, lostName, openFiles, openSample } from "../state/opening";
import { cancelRun, leftOut, runFailure, runProgress } from "../state/run";
import { cancel, dismissFailures, dismissNotJoined, loading, notJoined, type Loading } from "../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../strings";

const SHARED = TEXTS.shared;

interface FileButtonProps {
  label: string;
  onFiles: (files: File[]) => void;
  class?: string;
  /** Whether the key `o` clicks this button. */
  hasKey?: boolean;
  /** The ends of the names of the files; by default, those of all that can be opened. */
  accept?: string;
}

export function FileButton(props: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={props.class} data-open={props.hasKey} onClick={() => input.current?.click()}>
        {props.label}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={props.accept ?? ACCEPTED}
        onChange={(event) => {
          props.onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

function AddressForm() {
  const [text, setText] = useState("");
  if (isFromFile) return <p class="quiet">{PAGE_TEXTS.noAddressInFile}</p>;
  return (
    <form
      class="address"
      onSubmit={(event) => {
        event.preventDefault();
        if (text) goToAddress(text);
      }}
    >
      <input
        type="text"
        aria-label={PAGE_TEXTS.address}
        placeholder={PAGE_TEXTS.address}
        data-hint={PAGE_TEXTS.addressHint}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">{PAGE_TEXTS.openAddress}</button>
    </form>
  );
}

function Choices() {
  return (
    <div class="choices">
      <h1>{PAGE_TEXTS.tagline}</h1>
      <p class="privacy">{PAGE_TEXTS.privacy}</p>
      {lostName.value ? (
        <p class="lost-name" role="status">
          {PAGE_TEXTS.reopenHint(lostName.value)}
        </p>
      ) : null}
      <div class="drop-target">
        <svg viewBox="0 0 64 40" width="128" aria-hidden="true">
          <rect class="c1" x="2" y="4" width="60" height="8" rx="2" />
          <rect class="c2" x="2" y="15" width="27" height="8" rx="2" />
          <rect class="c3" x="32" y="15" width="22" height="8" rx="2" />
          <rect class="c4" x="12" y="26" width="17" height="8" rx="2" />
          <rect class="c5" x="40" y="26" width="20" height="8" rx="2" />
        </svg>
        <FileButton class="primary" hasKey label={PAGE_TEXTS.chooseFiles} onFiles={(files) => void openFiles(files)} />
        <p class="quiet">{PAGE_TEXTS.formats}</p>
      </div>
      <div class="other-ways">
        <button type="button" data-hint={PAGE_TEXTS.sampleHint} onClick={() => void openSample()}>
          {PAGE_TEXTS.sample}
        </button>
        <AddressForm />
      </div>
      {addressFailure.value || runFailure.value ? (
        <p class="failure" role="alert">
          {addressFailure.value || runFailure.value}
        </p>
      ) : null}
      <LeftOutList />
    </div>
  );
}

function PreviewList({ title, rows }: { title: string; rows: readonly PreviewTop[] }) {
  if (rows.length === 0) return null;
  return (
    <table class="preview">
      <caption>{title}</caption>
      <tbody>
        {rows.slice(0, 5).map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            <td>{count(row.count)}</td>
            <td>{time(row.sum_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The largest totals so far of a trace that is larger than memory. */
function Totals({ rows }: { rows: readonly OutlineRow[] }) {
  const top = (kind: "category" | "name"): PreviewTop[] =>
    rows
      .filter((row) => row.kind === kind && row.spans > 0)
      .map((row) => ({ name: row.name || row.category, count: row.events, sum_ns: row.sum_ns }));
  return (
    <div class="preview-lists">
      <PreviewList title={TEXTS.totals.kinds.category.label} rows={top("category")} />
      <PreviewList title={TEXTS.totals.kinds.name.label} rows={top("name")} />
    </div>
  );
}

function Preview({ preview }: { preview: PreviewSummary }) {
  return (
    <div class="preview-lists">
      <p class="preview-wall">
        {PAGE_TEXTS.soFar}: <b data-preview="wall">{time(preview.wall_ns)}</b>,{" "}
        {TEMPLATES.preview(count(preview.operators), count(preview.kernels), time(preview.device_sum_ns))}
      </p>
      <PreviewList title={SHARED.operators} rows={preview.top_operators} />
      <PreviewList title={SHARED.kernels} rows={preview.top_kernels} />
    </div>
  );
}

function Reading({ entry }: { entry: Loading }) {
  const { progress, totalBytes, startedAt } = entry;
  const seconds = (performance.now() - startedAt) / 1000;
  const done = progress?.bytes ?? 0;
  const share = totalBytes ? Math.min(1, done / totalBytes) : undefined;
  const left = share && share > 0.02 ? (seconds / share) * (1 - share) : undefined;
  const rate = seconds > 0.2 ? `${bytes(done / seconds)}/s` : "";
  const parts = [
    totalBytes ? `${bytes(done)} ${PAGE_TEXTS.of} ${bytes(totalBytes)}` : bytes(done),
    `${count(progress?.events ?? 0)} ${PAGE_TEXTS.events}`,
    rate,
    share === 1
      ? PAGE_TEXTS.finishing
      : left === undefined
        ? ""
        : TEMPLATES.secondsLeft(left < 1 ? "< 1" : String(Math.round(left))),
  ];
  return (
    <div class="reading" data-reading={entry.name}>
      <p class="reading-name">
        {entry.part ? PAGE_TEXTS.readingPart[entry.part] : PAGE_TEXTS.reading} <b>{entry.name}</b>
      </p>
      <progress
        aria-label={`${PAGE_TEXTS.reading} ${entry.name}`}
        max={1}
        {...(share === undefined ? {} : { value: share })}
      />
      <p class="reading-parts">{parts.filter((part) => part !== "").join(" · ")}</p>
      {entry.part ? <p class="quiet">{PAGE_TEXTS.largerThanMemory}</p> : null}
      {progress?.totals ? <Totals rows={progress.totals} /> : null}
      {progress?.preview ? <Preview preview={progress.preview} /> : null}
    </div>
  );
}

/** Lists the files that could not be opened, with reasons. */
export function FailureList() {
  const failed = loading.value.filter((entry) => entry.failure);
  if (failed.length === 0) return null;
  return (
    <div class="failures" role="alert">
      {failed.map(({ name, failure }) => (
        <p key={name} class="failure" data-failure={failure?.code}>
          <b>{name}</b> {PAGE_TEXTS.openFailed}: {failure?.message}
          {failure?.byteOffset === undefined ? "" : ` (${PAGE_TEXTS.openFailedAt(count(failure.byteOffset))})`}
        </p>
      ))}
      <button type="button" onClick={dismissFailures}>
        {PAGE_TEXTS.close}
      </button>
    </div>
  );
}

/** Lists the files that were given with a trace and are not joined to it, with reasons. */
export function NotJoinedList() {
  if (notJoined.value.length === 0) return null;
  return (
    <div class="banner warning not-joined" role="status">
      <ul>
        {notJoined.value.map(({ code, names, reason }) => (
          <li key={code} data-not-joined={code}>
            {PAGE_TEXTS.notJoined[code]}: {TEMPLATES.someNames(names)}
            {reason === undefined ? "" : ` (${reason})`}
          </li>
        ))}
      </ul>
      <button type="button" onClick={dismissNotJoined}>
        {PAGE_TEXTS.close}
      </button>
    </div>
  );
}

/** Lists the files that were left out. */
export function LeftOutList() {
  const all = leftOut.value;
  if (all.length === 0) return null;
  return (
    <details class="left-out">
      <summary>{TEMPLATES.leftOut(all.length)}</summary>
      <ul>
        {all.map(({ code, message }) => (
          <li key={message} data-left-out={code}>
            {message}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The progress of a run: of reading its traces, unpacking an archive, or merging. */
function RunReading({ progress }: { progress: RunProgress }) {
  const { done, total, bytes: read, events } = progress;
  const parts =
    total === 0 ? [] : [TEMPLATES.tracesRead(done, total), bytes(read), `${count(events)} ${PAGE_TEXTS.events}`];
  return (
    <div class="readings">
      <div class="reading" data-reading="run">
        <p class="reading-name">{total === 0 ? PAGE_TEXTS.preparing : PAGE_TEXTS.readingRun}</p>
        <progress aria-label={PAGE_TEXTS.readingRun} max={1} {...(total === 0 ? {} : { value: done / total })} />
        <p class="reading-parts">{parts.join(" · ")}</p>
      </div>
      <button type="button" onClick={cancelRun}>
        {PAGE_TEXTS.cancel}
      </button>
    </div>
  );
}

export function Opening() {
  const reading = loading.value.filter((entry) => !entry.failure);
  if (runProgress.value) return <RunReading progress={runProgress.value} />;
  if (reading.length === 0) {
    return (
      <>
        <FailureList />
        <Choices />
      </>
    );
  }
  return (
    <div class="readings">
      {reading.map((entry) => (
        <Reading key={entry.name} entry={entry} />
      ))}
      <button type="button" onClick={cancel}>
        {PAGE_TEXTS.cancel}
      </button>
    </div>
  );
}
