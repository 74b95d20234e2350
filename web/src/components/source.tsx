// The source of device work: a text that can be copied, with links to an editor where it is a line of an absolute path.

import { useState } from "preact/hooks";
import type { SourceBy } from "kinetoscope/remote";
import { shortPart, sourceParts } from "../model/source";
import { PAGE_TEXTS, SOURCES, TEMPLATES } from "../strings";
import { copy } from "./download";

/** A path that breaks into lines after its slashes. */
function Path({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=[/\\])/).map((part, at) => (
        <>
          {at === 0 ? "" : <wbr />}
          {part}
        </>
      ))}
    </>
  );
}

/** Keeps a click from opening the row around. */
const stop = (event: Event): void => event.stopPropagation();

function CopySource({ source, about }: { source: string; about: string }) {
  const [isCopied, setCopied] = useState(false);
  const copyText = async (): Promise<void> => {
    await copy(source);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const label = isCopied ? PAGE_TEXTS.copied : TEMPLATES.copySource(source);
  return (
    <button
      type="button"
      class="copy-source"
      aria-label={label}
      data-hint={`${label}${about}`}
      onClick={(event) => (stop(event), void copyText())}
    >
      <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
        {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M5.5 5.5h8v8h-8z M10.5 5.5v-3h-8v8h3" />}
      </svg>
    </button>
  );
}

/** `short` shows files without their folders; the hint and the copy have all. */
export function SourceText({ source, by, short }: { source: string; by: SourceBy | null; short?: boolean }) {
  const about = by === null ? "" : TEMPLATES.shownBy(SOURCES[by]);
  return (
    <span class="source" data-source={source}>
      <CopySource source={source} about={about} />
      <span data-hint={`${source}${about}`}>
        {sourceParts(source).map(({ text, address }, at) => (
          <>
            {at === 0 ? "" : ", "}
            {address === undefined ? (
              <Path text={short ? shortPart(text) : text} />
            ) : (
              <a href={address} rel="noreferrer" data-hint={`${TEMPLATES.openInEditor(text)}${about}`} onClick={stop}>
                <Path text={short ? shortPart(text) : text} />
              </a>
            )}
          </>
        ))}
      </span>
    </span>
  );
}
