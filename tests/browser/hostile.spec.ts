// A trace whose names are HTML, SVG, addresses and marks of direction: the page shows them as texts.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, open, settled, test } from "./page";

const HOSTILE =
  `<img src=x onerror="window.hurt=1"><svg onload="window.hurt=1"><script>window.hurt=1</script>` +
  `<a href="javascript:window.hurt=1">x</a>{{constructor}}\u202e\u200b\u001b]0;x\u0007'";--`;

function trace(): string {
  const span = (
    name: string,
    cat: string,
    ts: number,
    dur: number,
    args: object = {},
    pid = 1,
    tid: string | number = 1,
  ) => ({
    ph: "X",
    cat,
    name,
    pid,
    tid,
    ts,
    dur,
    args,
  });
  const events: object[] = [
    { ph: "M", name: "process_name", pid: 1, tid: 1, args: { name: HOSTILE } },
    { ph: "M", name: "thread_name", pid: 1, tid: 1, args: { name: HOSTILE } },
    { ph: "C", name: HOSTILE, pid: 1, tid: 1, ts: 1, args: { [HOSTILE]: 5 } },
  ];
  for (let step = 0; step < 4; step++) {
    const at = 1000 * step;
    events.push(
      span(`ProfilerStep#${step}`, "user_annotation", at, 990),
      span(HOSTILE, "cpu_op", at + 2, 800, {
        "External id": step,
        "Call stack": `${HOSTILE};${HOSTILE}`,
        [HOSTILE]: HOSTILE,
      }),
      span("cudaLaunchKernel", "cuda_runtime", at + 5, 5, { correlation: step + 1, "External id": step }),
      span(HOSTILE, "kernel", at + 20, 500, { correlation: step + 1, device: 0, stream: 7 }, 0, 7),
      span(HOSTILE, "python_function", at + 2, 700, { "Python id": step, "Python parent id": null }),
      span(HOSTILE, HOSTILE, at + 3, 7, {}, 1, HOSTILE),
    );
  }
  return JSON.stringify({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: HOSTILE, computeMajor: 9, computeMinor: 0, numSms: 132 }],
    distributedInfo: { backend: HOSTILE, rank: 0, world_size: 2, pg_config: [{ pg_name: HOSTILE }] },
    [HOSTILE]: HOSTILE,
    traceEvents: events,
  });
}

test("names are texts in every view", async ({ opened: page }) => {
  const folder = mkdtempSync(join(tmpdir(), "kinetoscope-hostile-"));
  try {
    const path = join(folder, `<img src=x onerror=alert(1)>\u202e.json`);
    writeFileSync(path, trace());
    let dialogs = 0;
    page.on("dialog", (dialog) => (dialogs++, void dialog.dismiss()));
    await open(page, path);
    const views = await page
      .locator("nav [data-view]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-view")));
    expect(views.length).toBeGreaterThan(8);
    for (const name of views) {
      await page.locator(`nav [data-view="${name}"]`).click();
      await settled(page);
      const found = await page.evaluate(() => ({
        hidden: document.body.innerText.match(/[\p{Bidi_Control}\u200b\u001b\u0007]/u)?.index ?? null,
        spoken: [...document.querySelectorAll("[title], [aria-label]")].some((one) =>
          /\p{Bidi_Control}/u.test(`${one.getAttribute("title")}${one.getAttribute("aria-label")}`),
        ),
        hurt: "hurt" in window,
        // Elements and attributes that only a name could have made.
        made: document.querySelectorAll("#app img, #app script, [onerror], [onload], #app iframe").length,
        links: [...document.querySelectorAll("a[href]")].map(
          (link) => new URL((link as HTMLAnchorElement).href).protocol,
        ),
      }));
      expect(found.hidden, `${name}`).toBeNull();
      expect(found.spoken, `${name}`).toBe(false);
      expect(found.hurt, `${name}`).toBe(false);
      expect(found.made, `${name}`).toBe(0);
      for (const protocol of found.links) expect(["http:", "https:", "file:", "blob:"], `${name}`).toContain(protocol);
    }
    expect(dialogs).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
