// Light or dark: by the system, or by choice, which this browser keeps.

import { computed, effect, signal } from "@preact/signals";

export type Choice = "system" | "light" | "dark";

const KEY = "kinetoscope.theme";

function kept(): Choice {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    // A page from a file may have no storage.
    return "system";
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => (systemIsDark.value = dark.matches));

export const choice = signal<Choice>(kept());

/** What is shown. */
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

/** System, light, dark, and again. */
export function nextTheme(): void {
  const order: Choice[] = ["system", "light", "dark"];
  choice.value = order[(order.indexOf(choice.value) + 1) % 3] as Choice;
}

/** Whether movement is to be avoided. */
export const reducedMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
