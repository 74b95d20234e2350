// An input for text or a regular expression, kept in a parameter of the address.

import { search } from "../model/search";
import { param, setParams } from "../state/route";
import { PAGE_TEXTS } from "../strings";

export interface SearchBoxProps {
  /** The name of the parameter. */
  name: string;
  label: string;
  /** The tooltip; the syntax of searches by default. */
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
