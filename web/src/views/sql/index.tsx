// SQL: the tables of the open traces in a database. What it needs is loaded when the view is opened, and the database itself with
// the first query.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadConsole } from "#sql";
import { Head, Panel } from "../../components/parts";
import { PAGE_TEXTS, TEXTS } from "../../strings";

const LABELS = TEXTS.sql;

type Loaded = { console: ComponentType } | { reason: string } | undefined;

function useConsole(): Loaded {
  const [loaded, setLoaded] = useState<Loaded>(undefined);
  useEffect(() => {
    loadConsole?.().then(
      ({ Console }) => setLoaded({ console: Console }),
      (thrown: unknown) => setLoaded({ reason: thrown instanceof Error ? thrown.message : String(thrown) }),
    );
  }, []);
  return loaded;
}

/** What the page of one file says, which has no database. */
function NoDatabase() {
  return (
    <Panel title={LABELS.noDatabase}>
      <p>{LABELS.oneFile}</p>
      <p>
        {LABELS.onCommandLine} <code>{LABELS.command}</code>
      </p>
    </Panel>
  );
}

export function Sql() {
  const loaded = useConsole();
  if (!loadConsole) {
    return (
      <>
        <Head view="sql" />
        <NoDatabase />
      </>
    );
  }
  if (loaded && "console" in loaded) return <loaded.console />;
  return (
    <>
      <Head view="sql" />
      {loaded ? (
        <p class="failure" role="alert">
          {loaded.reason}
        </p>
      ) : (
        <div class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {PAGE_TEXTS.computing}
        </div>
      )}
    </>
  );
}
