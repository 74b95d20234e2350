// Tooltips: an element with `data-hint` shows its text on hover and on focus.

import { useLayoutEffect, useState } from "preact/hooks";

interface Shown {
  text: string;
  x: number;
  y: number;
  above: boolean;
}

/** Returns the attributes of an element with a tooltip that can be reached by keyboard. */
export function hint(text: string): { "data-hint": string; tabIndex: number } {
  return { "data-hint": text, tabIndex: 0 };
}

function place(target: Element, text: string): Shown {
  const box = target.getBoundingClientRect();
  const above = box.bottom > innerHeight - 120;
  const x = Math.min(Math.max(box.left + box.width / 2, 160), innerWidth - 160);
  return { text, x, y: above ? box.top - 6 : box.bottom + 6, above };
}

/** Shows the tooltip of the element under the pointer or with the focus. */
export function Hints() {
  const [shown, setShown] = useState<Shown | undefined>();
  useLayoutEffect(() => {
    const show = (event: Event): void => {
      const target = event.target instanceof Element ? event.target.closest("[data-hint]") : null;
      const text = target?.getAttribute("data-hint");
      // A click also sets the focus; only keyboard focus shows the tooltip.
      const explains = target && text && (event.type !== "focusin" || target.matches(":focus-visible"));
      setShown(explains ? place(target, text) : undefined);
    };
    const hide = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || event.key === "Escape") setShown(undefined);
    };
    document.addEventListener("pointerover", show);
    document.addEventListener("focusin", show);
    document.addEventListener("scroll", hide, true);
    document.addEventListener("keydown", hide);
    return () => {
      document.removeEventListener("pointerover", show);
      document.removeEventListener("focusin", show);
      document.removeEventListener("scroll", hide, true);
      document.removeEventListener("keydown", hide);
    };
  }, []);
  if (!shown) return null;
  const style = { left: `${shown.x}px`, top: `${shown.y}px` };
  return (
    <div class={`hint ${shown.above ? "hint-above" : ""}`} role="tooltip" style={style}>
      {shown.text}
    </div>
  );
}
