// Tabs, each with a hint.

export function Tabs<Key extends string>(props: {
  label: string;
  of: Record<Key, { label: string; about: string }>;
  value: Key;
  onChange: (key: Key) => void;
}) {
  return (
    <div class="tabs" role="tablist" aria-label={props.label}>
      {(Object.keys(props.of) as Key[]).map((key) => (
        <button
          key={key}
          type="button"
          role="tab"
          aria-selected={key === props.value}
          data-hint={props.of[key].about}
          data-tab={key}
          onClick={() => props.onChange(key)}
        >
          {props.of[key].label}
        </button>
      ))}
    </div>
  );
}
