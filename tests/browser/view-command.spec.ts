// `kinetoscope view`: serves the page and the traces on a loopback address.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { native } from "./files";
import { expect, sampleTrace, stepsTrace, test } from "./page";

/** Starts the command. Returns it with the address that it prints. */
async function started(args: string[], env: Record<string, string> = {}): Promise<{ child: ChildProcess; entry: URL }> {
  const child = spawn(native, ["view", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim()));
    child.once("exit", (code) => reject(new Error(`kinetoscope view exited with ${code}`)));
  });
  return { child, entry: new URL(line) };
}

/** Opens an address that leads to the page once. Returns that of the page. */
async function entered(entry: URL): Promise<URL> {
  const answer = await fetch(entry, { redirect: "manual" });
  expect(answer.status).toBe(303);
  return new URL(answer.headers.get("location") ?? "", entry);
}

/** Runs the command during `use`, which receives the address of the page. */
async function serving(files: string[], use: (url: URL, entry: URL) => Promise<void>): Promise<void> {
  const { child, entry } = await started(["--no-open", ...files]);
  try {
    await use(await entered(entry), entry);
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

test("the address that is printed leads to the page once", async () => {
  await serving([stepsTrace], async (page, entry) => {
    const secret = page.pathname.split("/")[1] ?? "";
    expect(secret).toMatch(/^[0-9a-f]{32}$/);
    expect(entry.href).not.toContain(secret);
    expect(await status(entry)).toBe(410);
    expect(await status(page)).toBe(200);
  });
});

/** The secrets that a started browser shows to other users, and what they can do with them. */
test("a second user sees no secret of a browser that was started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kinetoscope-browser-"));
  try {
    // A browser that keeps its argument and reads the file, while the test looks at it.
    const browser = join(folder, "xdg-open");
    writeFileSync(browser, '#!/bin/sh\necho "$1" > "$KEEP/argument"; cp "$1" "$KEEP/page.html"; sleep 5\n');
    chmodSync(browser, 0o755);
    const { child, entry } = await started([stepsTrace], { PATH: `${folder}:${process.env["PATH"]}`, KEEP: folder });
    try {
      await expect.poll(() => existsSync(join(folder, "page.html"))).toBe(true);
      const file = readFileSync(join(folder, "argument"), "utf8").trim();
      const token = entry.pathname.slice(1);
      expect(readFileSync(join(folder, "page.html"), "utf8")).toContain(`url=${entry.href}"`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const processes = execFileSync("ps", ["axww", "-o", "args"]).toString();
      expect(processes).toContain(file);
      expect(processes).not.toContain(token);
      // Only root can take the place of another user.
      if (process.getuid?.() === 0) {
        const other = spawnSync("cat", [file, `/proc/${child.pid}/environ`], { uid: 65534, gid: 65534 });
        expect(other.stdout.toString()).toBe("");
        expect(other.stderr.toString()).toContain("Permission denied");
      }
      const page = await entered(entry);
      const used = execFileSync("ps", ["axww", "-o", "args"]).toString();
      expect(used).not.toContain(page.pathname.split("/")[1]);
      await expect.poll(() => existsSync(file)).toBe(false);
    } finally {
      child.kill();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the file for the browser is removed when the command ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kinetoscope-browser-"));
  try {
    const browser = join(folder, "xdg-open");
    writeFileSync(browser, '#!/bin/sh\necho "$1" > "$KEEP/argument"\n');
    chmodSync(browser, 0o755);
    const { child } = await started([stepsTrace], { PATH: `${folder}:${process.env["PATH"]}`, KEEP: folder });
    await expect.poll(() => existsSync(join(folder, "argument"))).toBe(true);
    const file = readFileSync(join(folder, "argument"), "utf8").trim();
    child.kill("SIGINT");
    await expect.poll(() => existsSync(file)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("answers cannot be shown, read or kept by others", async () => {
  await serving([stepsTrace], async (page) => {
    const trace = new URL(page.searchParams.get("trace") ?? "", page);
    for (const url of [page, trace, new URL("/", page)]) {
      const headers = (await fetch(url)).headers;
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe-inline");
    }
    expect(await status(trace, { origin: "https://elsewhere.example" })).toBe(403);
    expect(await status(trace, { origin: page.origin })).toBe(200);
  });
});

test("a foreign page that knows the address reads nothing", async ({ page }) => {
  await serving([stepsTrace], async (own) => {
    const trace = new URL(own.searchParams.get("trace") ?? "", own);
    const foreign = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<title>foreign</title><iframe src="${own.href}"></iframe><script src="${trace.href}"></script>`);
    });
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    try {
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      const read = await page.evaluate(async (url) => {
        const of = (options: RequestInit) =>
          fetch(url, options).then(
            (answer) => answer.type,
            (error) => error.name,
          );
        return Promise.all([of({}), of({ mode: "no-cors" }), of({ credentials: "include" })]);
      }, trace.href);
      expect(read).toEqual(["TypeError", "TypeError", "TypeError"]);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      expect(await frame?.locator("#app").count()).toBe(0);
    } finally {
      foreign.close();
    }
  });
});

test("slow clients end, and do not keep others waiting", async () => {
  test.setTimeout(60_000);
  await serving([stepsTrace], async (page) => {
    const slow = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(page.port), page.hostname, () => socket.write(text));
        let received = "";
        socket.on("data", (data) => (received += data.toString()));
        socket.on("error", () => {});
        socket.on("close", () => resolve(received));
      });
    const begun = Date.now();
    const silent = Array.from({ length: 300 }, () => slow(""));
    const head = slow(`GET ${page.pathname} HTTP/1.1\r\nHost: ${page.host}\r\n`);
    const idle = slow(`GET / HTTP/1.1\r\nHost: ${page.host}\r\n\r\n`);
    expect(await status(page)).toBe(200);
    expect(await idle).toMatch(/^HTTP\/1.1 404 /);
    expect(await head).not.toMatch(/ 200 /);
    await Promise.all(silent);
    expect(Date.now() - begun).toBeLessThan(50_000);
  });
});
