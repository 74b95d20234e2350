// The console: a query, the library, the tables, and the answer.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Head } from "../../components/parts";
import { libraryOf, type LibraryQuery } from "../../model/sql";
import { answer, endDatabase, type Answered } from "../../state/database";
import { param, setParams } from "../../state/route";
import { PAGE_TEXTS, TEXTS } from "../../strings";
import { AnswerRows } from "./answer-rows";
import { Schema } from "./schema";

const LABELS = TEXTS.sql;

const LIBRARY = libraryOf(
  import.meta.glob<string>("../../../../native/tables/queries/*.sql", {
    query: "?raw",
    import: "default",
    eager: true,
  }),
);

const FIRST =
  "SELECT name, COUNT(*) AS events, SUM(dur_ns) AS sum_ns\nFROM events\nGROUP BY name\nORDER BY sum_ns DESC\nLIMIT 100";

/** The text in the editor, which stays while other views are shown. */
const draft = signal<string | undefined>(undefined);

type State =
  | { is: "idle" }
  | { is: "working"; stage: string }
  | { is: "failed"; reason: string }
  | { is: "ready"; answered: Answered };

/** Runs queries, one after the other. Only the last one is shown. */
function useQueries(): { state: State; ended: number; run: (sql: string) => Promise<void>; stop: () => void } {
  const [state, setState] = useState<State>({ is: "idle" });
  const [ended, setEnded] = useState(0);
  const latest = useRef(0);
  const run = async (sql: string): Promise<void> => {
    const own = (latest.current += 1);
    const show = (next: State): void => {
      if (latest.current === own) setState(next);
    };
    try {
      show({ is: "ready", answered: await answer(sql, (stage) => show({ is: "working", stage })) });
    } catch (thrown) {
      show({ is: "failed", reason: thrown instanceof Error ? thrown.message : String(thrown) });
    }
    setEnded((count) => count + 1);
  };
  const stop = (): void => {
    latest.current += 1;
    endDatabase();
    setState({ is: "idle" });
  };
  return { state, ended, run, stop };
}

function Outcome({ state, onStop }: { state: State; onStop: () => void }) {
  switch (state.is) {
    case "idle":
      return <p class="quiet">{LABELS.before}</p>;
    case "working":
      return (
        <div class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {state.stage}{" "}
          <button type="button" onClick={onStop}>
            {PAGE_TEXTS.cancel}
          </button>
        </div>
      );
    case "failed":
      return (
        <pre class="failure sql-failure" role="alert">
          {state.reason}
        </pre>
      );
    case "ready":
      return <AnswerRows answered={state.answered} />;
  }
}

function Library({ text, onChoose }: { text: string; onChoose: (query: LibraryQuery) => void }) {
  const chosen = LIBRARY.find(({ sql }) => sql === text.trim());
  return (
    <label class="select">
      {LABELS.library}{" "}
      <select
        value={chosen?.name ?? ""}
        onChange={(event) => {
          const query = LIBRARY.find(({ name }) => name === event.currentTarget.value);
          if (query) onChoose(query);
        }}
      >
        <option value="">{LABELS.own}</option>
        {LIBRARY.map(({ name, about }) => (
          <option key={name} value={name}>
            {name} – {about}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Console() {
  const address = param("sql");
  const text = draft.value ?? address ?? FIRST;
  const setText = (next: string): void => void (draft.value = next);
  // Back, forward and a link show their query.
  useEffect(() => {
    if (address !== undefined) draft.value = address;
  }, [address]);
  const { state, ended, run, stop } = useQueries();
  const editor = useRef<HTMLTextAreaElement>(null);
  const start = (sql: string): void => {
    if (sql.trim() === "") return;
    setParams({ sql }, "step");
    void run(sql);
  };
  const insert = (name: string): void => {
    const area = editor.current;
    if (!area) return;
    area.setRangeText(name, area.selectionStart, area.selectionEnd, "end");
    setText(area.value);
    area.focus();
  };
  return (
    <>
      <Head view="sql">
        <Library
          text={text}
          onChoose={({ sql }) => {
            setText(sql);
            start(sql);
          }}
        />
      </Head>
      <div class="sql">
        <div class="sql-query" data-ended={ended}>
          <textarea
            ref={editor}
            aria-label={LABELS.query}
            spellcheck={false}
            autocomplete="off"
            rows={Math.min(18, Math.max(6, text.split("\n").length + 1))}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              if (state.is !== "working") start(text);
            }}
          />
          <div class="toolbar">
            <button
              type="button"
              class="primary"
              disabled={state.is === "working"}
              data-hint={LABELS.runHint}
              onClick={() => start(text)}
            >
              {LABELS.run}
            </button>
            <kbd>{LABELS.runKey}</kbd>
          </div>
          <Outcome state={state} onStop={stop} />
        </div>
        <Schema onName={insert} />
      </div>
    </>
  );
}
