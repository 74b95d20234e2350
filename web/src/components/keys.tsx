// The sheet of keys, and the keys that go to views.

import { useEffect, useRef } from "preact/hooks";
import { VIEWS } from "../model/views";
import { go } from "../state/route";
import { current } from "../state/session";
import { T, VIEW_TEXTS } from "../strings";
import { keysShown } from "./topbar";

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !current.value) return;
      const view = VIEWS.find((name) => VIEW_TEXTS[name].key === event.key);
      if (view) go(view);
      if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
      }
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  useEffect(() => {
    if (keysShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [keysShown.value]);
  return (
    <dialog ref={dialog} class="keys" aria-label={T.help} onClose={() => (keysShown.value = false)}>
      <h2>{T.help}</h2>
      <dl>
        {T.keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (keysShown.value = false)}>
        {T.close}
      </button>
    </dialog>
  );
}
