/** Uploaded pictures in a real browser: it shows them in a preview that loads nothing from other hosts. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeWebp } from "#sending/media/picture/webp.ts";
import { isChromiumInstalled, launchChromium } from "#test/support/launch-chromium.ts";
import { gif, halves, jpg, png } from "#test/support/pictures.ts";
import { startService, type TestService } from "#test/support/service.ts";

// Skipped where neither Chromium nor Chrome is installed; .ci/run installs one.
describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let browser: Browser;
  let service: TestService;
  beforeAll(async () => {
    [browser, service] = await Promise.all([launchChromium(), startService()]);
  });
  afterAll(() => browser.close());

  test("a preview that blocks other hosts shows pictures of every kind, and none of another host", async () => {
    const { call, url } = service;
    const pixels = { width: 40, height: 20, data: new Uint8ClampedArray(halves(40, 20)) };
    const webp = Buffer.from(await encodeWebp(pixels, { file: Buffer.alloc(0), isLossless: true }));
    const sources: string[] = [];
    for (const file of [png(40, 20), jpg(40, 20), gif(40, 20, 3), webp]) {
      const form = new FormData();
      form.append("file", new Blob([new Uint8Array(file)]), "picture");
      sources.push((await call("POST", "/media", form)).body.data.url);
    }
    const foreign = sources[0]?.replace(url, url.replace("127.0.0.1", "evil.example")) ?? "";
    const html_content = [...sources, foreign].map((source) => `<img src="${source}" alt="">`).join("");
    const { preview } = (await call("POST", "/render", { subject: "Pictures", html_content })).body.data;
    const page = await browser.newPage();
    const answered: string[] = [];
    page.on("response", (response) => void answered.push(new URL(response.url()).hostname));
    await page.goto(`${preview.url}?remote=blocked`, { waitUntil: "load" });
    // A picture that is not shown has no width.
    const widths = await page
      .locator("img")
      .evaluateAll((images) => images.map((image) => Number(Reflect.get(image, "naturalWidth"))));
    expect(widths).toEqual([40, 40, 40, 40, 0]);
    expect(new Set(answered)).toEqual(new Set(["127.0.0.1"]));
  });
});
