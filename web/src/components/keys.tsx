// Keyboard shortcuts of the page, and the dialog that lists them.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { VIEWS } from "../model/views";
import { history } from "../state/history";
import { go } from "../state/route";
import { fileRun } from "../state/run";
import { current } from "../state/session";
import { nextTheme } from "../state/theme";
import { PAGE_TEXTS, VIEW_TEXTS } from "../strings";
import { isForPage } from "./shortcut";

/** Whether the dialog is shown. */
export const keysShown = signal(false);

function handleKey(event: KeyboardEvent): void {
  if (event.key === "t") nextTheme();
  else if (event.key === "?") keysShown.value = !keysShown.value;
  else if (event.key === "o") document.querySelector<HTMLButtonElement>("[data-open]")?.click();
  if (!current.value && !fileRun.value && !history.value) return;
  const view = VIEWS.find((name) => VIEW_TEXTS[name].key === event.key);
  if (view) go(view);
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
  }
}

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next frame, so that no key is lost.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isForPage(event)) handleKey(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    if (keysShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [keysShown.value]);
  return (
    <dialog ref={dialog} class="keys" aria-label={PAGE_TEXTS.keyboard} onClose={() => (keysShown.value = false)}>
      <h2>{PAGE_TEXTS.keyboard}</h2>
      <dl>
        {PAGE_TEXTS.keyList.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (keysShown.value = false)}>
        {PAGE_TEXTS.close}
      </button>
    </dialog>
  );
}
