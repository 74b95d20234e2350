// Keyboard shortcuts.

/** Whether a key is a shortcut of the page: not typed into a field, and without Ctrl, Meta or Alt. */
export function isForPage(event: KeyboardEvent): boolean {
  const typed = event.target instanceof Element && event.target.closest("input, textarea, select");
  return !typed && !event.ctrlKey && !event.metaKey && !event.altKey;
}
