// The bar about a trace that is larger than memory: which part of it the views show.

import { count, time } from "../model/format";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEMPLATES } from "../strings";
import { To } from "./parts";

export function WindowBar({ open }: { open: OpenTrace }) {
  const { large } = open;
  if (!large) return null;
  const { window, outline } = large;
  return (
    <div class="banner" role="status" data-window={`${Math.round(window.start)},${Math.round(window.end)}`}>
      {TEMPLATES.windowShown(count(outline.length), count(open.info.events), time(window.start), time(window.end))}
      <To view="overview">{PAGE_TEXTS.totalsOfAll}</To>
      <To view="timeline" hint={PAGE_TEXTS.otherPartHint}>
        {PAGE_TEXTS.otherPart}
      </To>
    </div>
  );
}
