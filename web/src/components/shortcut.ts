// Keys of the page.

/** Whether a key is meant for the page: not typed into something, and no combination of the browser's. */
export function isForPage(event: KeyboardEvent): boolean {
  const typed = event.target instanceof Element && event.target.closest("input, textarea, select");
  return !typed && !event.ctrlKey && !event.metaKey && !event.altKey;
}
