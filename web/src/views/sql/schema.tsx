// The tables with their columns; a click inserts a name into the query.

import { TABLES } from "kinetoscope/columns";
import { columnsOf } from "../../model/sql";
import { TABLE_NAMES, VIEW_NAMES } from "../../state/database";
import { TEXTS } from "../../strings";

const LABELS = TEXTS.sql;

interface Props {
  onName: (name: string) => void;
}

function Name({ name, about, onName }: Props & { name: string; about: string }) {
  return (
    <button type="button" class="sql-name" data-hint={about} onClick={() => onName(name)}>
      {name}
    </button>
  );
}

export function Schema({ onName }: Props) {
  return (
    <aside class="sql-schema" aria-label={LABELS.tables}>
      <h2 data-hint={LABELS.tablesHint}>{LABELS.tables}</h2>
      {TABLE_NAMES.map((table) => (
        <details key={table} data-table={table}>
          <summary data-hint={TABLES[table].about}>{table}</summary>
          <ul>
            <li>
              <Name name={table} about={TABLES[table].about} onName={onName} />
            </li>
            {columnsOf(table).map(({ name, type, about }) => (
              <li key={name}>
                <Name name={name} about={about} onName={onName} /> <span class="quiet">{LABELS.types[type]}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
      <h2 data-hint={LABELS.viewsHint}>{LABELS.views}</h2>
      <p>
        {VIEW_NAMES.map((view) => (
          <Name key={view} name={view} about={LABELS.viewsHint} onName={onName} />
        ))}
      </p>
    </aside>
  );
}
