// The console as separate files that are fetched.

/** Loads the console. */
export const loadConsole: (() => Promise<typeof import("./console")>) | undefined = () => import("./console");
