// The page of one file has no database, which alone would be ten times as large as the page.

/** There is no console. */
export const loadConsole: (() => Promise<typeof import("./console")>) | undefined = undefined;
