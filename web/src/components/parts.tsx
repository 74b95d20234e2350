// Small components that the views share.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { ReadonlySignal } from "@preact/signals";
import type { RemoteTrace } from "kinetoscope/remote";
import { rowsOf, valueOf, type Answer } from "../state/ask";
import type { View } from "../model/views";
import { keepsShown } from "../state/live";
import { addressOf } from "../state/route";
import { MISSING, PAGE_TEXTS, TEMPLATES, VIEW_TEXTS } from "../strings";
import { hint } from "./hints";

/** The head of a view: its title and the question that it answers. */
export function Head({ view, children }: { view: View; children?: ComponentChildren }) {
  const { title, question } = VIEW_TEXTS[view];
  return (
    <header class="view-head">
      <div>
        <h1>{title}</h1>
        <p class="question">{question}</p>
      </div>
      <div class="actions">{children}</div>
    </header>
  );
}

/** A number with its description. */
export function Card(props: {
  label: string;
  value: string;
  exact?: string;
  about: string;
  note?: ComponentChildren;
  id?: string;
}) {
  const about = props.exact ? TEMPLATES.withExactValue(props.about, props.exact) : props.about;
  return (
    <div class="card" data-card={props.id}>
      <span class="card-label">{props.label}</span>
      <span class="card-value" {...hint(about)} data-exact={props.exact}>
        {props.value}
      </span>
      {props.note ? <span class="card-note">{props.note}</span> : null}
    </div>
  );
}

/** A section of a view with a title. */
export function Panel(props: {
  title: string;
  about?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  id?: string;
}) {
  return (
    <section class={`panel ${props.class ?? ""}`} data-panel={props.id}>
      <div class="panel-head">
        <h2 {...(props.about ? hint(props.about) : {})}>{props.title}</h2>
        {props.actions}
      </div>
      {props.children}
    </section>
  );
}

/** Describes how to record the data that this trace lacks. */
export function Missing({ of }: { of: keyof typeof MISSING }) {
  const { what, torch, rust, where } = MISSING[of];
  return (
    <div class="missing" data-missing={of}>
      <p class="missing-what">{what}</p>
      {torch ? (
        <p>
          {PAGE_TEXTS.recordWith} <code>{torch}</code>
        </p>
      ) : null}
      {rust ? (
        <p>
          {PAGE_TEXTS.recordInRust} <code>{rust}</code>
        </p>
      ) : null}
      {where ? <p>{where}</p> : null}
    </div>
  );
}

/** Shows an answer once it is ready. While a recording is followed, what was shown before stays until then. */
export function Await<Value>(props: {
  answer: ReadonlySignal<Answer<Value>>;
  children: (value: Value) => ComponentChildren;
}) {
  const shown = useRef<ComponentChildren>(undefined);
  const answer = props.answer.value;
  if (answer.state === "waiting") {
    if (keepsShown.value && shown.current !== undefined) return <>{shown.current}</>;
    return (
      <div class="waiting" role="status">
        <span class="spinner" aria-hidden="true" /> {PAGE_TEXTS.computing}
      </div>
    );
  }
  if (answer.state === "failed")
    return (
      <p class="failure" role="alert">
        {answer.reason}
      </p>
    );
  shown.current = props.children(answer.value);
  return <>{shown.current}</>;
}

/** A link to a view. */
export function To(props: {
  view: View;
  with?: Record<string, string | number | undefined>;
  children: ComponentChildren;
  class?: string;
  hint?: string;
}) {
  return (
    <a class={props.class} href={addressOf(props.view, props.with)} data-hint={props.hint}>
      {props.children}
    </a>
  );
}

/** A link to the samples of call stacks in a time range, if the trace has samples. */
export function ToSamples(props: { trace: RemoteTrace; start: number; end: number; thread?: string | undefined }) {
  const threads = valueOf(rowsOf(props.trace, "samples", { by: "thread" }).value) ?? [];
  if (threads.length === 0) return null;
  const { start, end, thread } = props;
  return (
    <>
      {" · "}
      <To view="flame" with={{ order: "samples", start: Math.floor(start), end: Math.ceil(end), thread }}>
        {PAGE_TEXTS.inSamples}
      </To>
    </>
  );
}

export interface Part {
  label: string;
  value: number;
  /** The CSS class of its colour. */
  color: string;
  about: string;
  text: string;
}

/** A stacked bar with a legend that names and describes each part. */
export function Bar({ parts, label }: { parts: readonly Part[]; label: string }) {
  const whole = parts.reduce((sum, part) => sum + part.value, 0);
  const shown = parts.filter((part) => part.value > 0);
  return (
    <div class="bar-with-legend">
      <div
        class="bar"
        role="img"
        aria-label={`${label}: ${shown.map((part) => `${part.label} ${part.text}`).join(", ")}`}
      >
        {shown.map((part) => (
          <span
            class={`bar-part ${part.color}`}
            style={{ flexGrow: part.value / whole }}
            data-hint={`${part.label}: ${part.text}. ${part.about}`}
          />
        ))}
      </div>
      <ul class="legend">
        {shown.map((part) => (
          <li {...hint(part.about)}>
            <span class={`swatch ${part.color}`} /> {part.label} <b>{part.text}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
