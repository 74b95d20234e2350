// A button that copies text, and says that it did.

import { useState } from "preact/hooks";
import { PAGE_TEXTS } from "../strings";
import { copy } from "./download";

export function CopyButton({ hint, text }: { hint: string; text: () => string }) {
  const [status, setStatus] = useState("");
  const copyText = async (): Promise<void> => {
    await copy(text());
    setStatus(PAGE_TEXTS.copied);
    setTimeout(() => setStatus(""), 1500);
  };
  return (
    <>
      <span class="copy-status" role="status">
        {status}
      </span>
      <button type="button" data-hint={hint} onClick={() => void copyText()}>
        {PAGE_TEXTS.copy}
      </button>
    </>
  );
}
