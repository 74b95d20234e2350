// `kinetoscope view`: serves the page and the traces on a loopback address.

import { spawn } from "node:child_process";
import { request } from "node:http";
import { native } from "./files";
import { expect, sampleTrace, stepsTrace, test } from "./page";

/** Runs the command during `use`, which receives its address. */
async function serving(files: string[], use: (url: URL) => Promise<void>): Promise<void> {
  const child = spawn(native, ["view", "--no-open", ...files], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim()));
      child.once("exit", (code) => reject(new Error(`kinetoscope view exited with ${code}`)));
    });
    await use(new URL(line));
  } finally {
    child.kill();
  }
}

function status(url: URL, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => (response.resume(), resolve(response.statusCode)))
      .on("error", reject)
      .end();
  });
}

test("opens two traces and no foreign connections", async ({ page }) => {
  await serving([sampleTrace, stepsTrace], async (url) => {
    expect(url.hostname).toBe("127.0.0.1");
    const elsewhere: string[] = [];
    page.on("request", (sent) => {
      const to = sent.url();
      if (!to.startsWith(url.origin) && !/^(data|blob):/.test(to)) elsewhere.push(to);
    });
    await page.goto(url.href);
    await expect(page.locator("nav")).toBeVisible();
    await expect(page.locator(".trace-chooser option")).toHaveCount(2);
    await page.locator("nav [data-view=compare]").click();
    await expect(page.locator("[aria-label=Comparison] .row").first()).toBeVisible();
    await page.reload();
    await expect(page.locator("[aria-label=Comparison] .row").first()).toBeVisible();
    expect(elsewhere).toEqual([]);
  });
});

test("requests with another host name or without the secret are refused", async () => {
  await serving([stepsTrace], async (url) => {
    const trace = new URL(url.searchParams.get("trace") ?? "", url);
    expect(await status(trace)).toBe(200);
    expect(await status(trace, { host: "rebound.example" })).toBe(403);
    expect(await status(new URL(trace.pathname.replace(/^\/[0-9a-f]+/, "/0"), url))).toBe(404);
    expect(await status(new URL("/", url))).toBe(404);
    const foreign = await new Promise<string | undefined>((resolve, reject) => {
      request(trace, { headers: { origin: "https://elsewhere.example" } }, (response) => {
        response.resume();
        resolve(response.headers["access-control-allow-origin"]);
      })
        .on("error", reject)
        .end();
    });
    expect(foreign).toBeUndefined();
  });
});
