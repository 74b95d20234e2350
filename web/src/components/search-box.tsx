// A box for a text or a regular expression, kept in a parameter of the address.

import { search } from "../model/search";
import { param, setParams } from "../state/route";
import { PAGE_TEXTS } from "../strings";

export interface SearchBoxProps {
  /** The parameter. */
  name: string;
  label: string;
  /** What is explained; how to search, unless given. */
  hint?: string;
  class?: string;
  onEnter?: (shift: boolean) => void;
}

export function SearchBox({ name, label, hint = PAGE_TEXTS.filterHint, onEnter, class: kind = "" }: SearchBoxProps) {
  const text = param(name) ?? "";
  const { error } = search(text);
  return (
    <input
      type="search"
      class={`filter ${kind} ${error ? "invalid" : ""}`}
      aria-label={label}
      aria-invalid={error !== undefined}
      placeholder={label}
      data-hint={error ?? hint}
      value={text}
      onInput={(event) => setParams({ [name]: event.currentTarget.value })}
      onKeyDown={(event) => event.key === "Enter" && onEnter?.(event.shiftKey)}
    />
  );
}
