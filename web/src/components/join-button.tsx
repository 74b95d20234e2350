// A button that joins captures and files of torch.compile to the open trace.

import { canJoin, joinFiles } from "../state/opening";
import { PAGE_TEXTS } from "../strings";
import { FileButton } from "./opening";

const ACCEPTED = ".json,.gz,.zst,.log,.py,.pickle,.pkl";

export function JoinButton() {
  if (!canJoin()) return null;
  return (
    <span data-hint={PAGE_TEXTS.joinHint} data-join>
      <FileButton label={PAGE_TEXTS.join} accept={ACCEPTED} onFiles={(files) => void joinFiles(files)} />
    </span>
  );
}
