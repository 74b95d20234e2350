// The server of the page, which all test workers share.

import { own, root } from "./files";
import { host } from "./server";

/** The served folder. */
export const dist = `${root}web/dist`;

/** The environment variable with the server's address. */
const SITE = "KINETOSCOPE_TEST_SITE";

/** Returns the server's address, with a trailing slash. */
export function siteUrl(): string {
  const url = process.env[SITE];
  if (url === undefined) throw new Error("the server was not started");
  return url;
}

/** Starts the server before the first test. Playwright calls the returned function after the last one. */
export default async function start(): Promise<() => Promise<void>> {
  const site = await host(dist, {
    extra: { "/given/trace.json.gz": own("torch/kineto/mlp_training/trace.json.gz") },
  });
  process.env[SITE] = site.url;
  return () => site.close();
}
