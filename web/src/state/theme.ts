// The theme: that of the system, or a choice that the browser stores.

import { computed, effect, signal } from "@preact/signals";

export type Choice = "system" | "light" | "dark";

const KEY = "kinetoscope.theme";

function kept(): Choice {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    // A page opened from a file may have no storage.
    return "system";
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => (systemIsDark.value = dark.matches));

export const choice = signal<Choice>(kept());

/** The effective theme. */
export const theme = computed<"light" | "dark">(() => {
  if (choice.value === "system") return systemIsDark.value ? "dark" : "light";
  return choice.value;
});

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(KEY, choice.value);
  } catch {
    // As above.
  }
});

/** Cycles through system, light and dark. */
export function nextTheme(): void {
  const order: Choice[] = ["system", "light", "dark"];
  choice.value = order[(order.indexOf(choice.value) + 1) % 3] as Choice;
}

/** Whether the user prefers reduced motion. */
export const reducedMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
