// The one server of the page, which every worker of the tests uses.

import { own, root } from "./files";
import { host } from "./server";

/** The folder that is served. */
export const dist = `${root}web/dist`;

/** The variable with the server's address. */
const SITE = "KINETOSCOPE_TEST_SITE";

/** The server's address, with a slash at its end. */
export function siteUrl(): string {
  const url = process.env[SITE];
  if (url === undefined) throw new Error("the server was not started");
  return url;
}

/** Starts it before the first test; Playwright calls what is given back after the last. */
export default async function start(): Promise<() => Promise<void>> {
  const site = await host(dist, {
    extra: { "/given/trace.json.gz": own("torch/kineto/mlp_training/trace.json.gz") },
  });
  process.env[SITE] = site.url;
  return () => site.close();
}
