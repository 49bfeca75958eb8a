/** The demo on a new installation prints the figures of the API. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { apiCaller } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import { launcherOf } from "#test/support/release.ts";

const DEMO_MS = 120_000;
/** The demo must not use the configured database or send mail. */
const settings = { MAIL_MODE: "direct", DATABASE_URL: "postgresql://nobody@127.0.0.1:1/nothing" };

test("the demo sends to a thousand people, prints the figures of the API, and leaves no process running", async () => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-demo-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const demo = spawn(process.execPath, [launcherOf(), "demo", "--stay", "--data-dir", join(folder, "data")], {
    env: { PATH: process.env.PATH, ...settings },
  });
  const ended = once(demo, "exit");
  onTestFinished(async () => {
    demo.kill("SIGKILL");
    await ended;
  });
  let printed = "";
  for (const output of [demo.stdout, demo.stderr]) output.on("data", (chunk) => (printed += chunk));
  const isOver = async () => demo.exitCode !== null || printed.includes("until you press Ctrl-C");
  await eventually("the demo to end", isOver, DEMO_MS);

  const [, key = "", url = ""] = /KEY=(\S+) URL=(\S+)/.exec(printed) ?? [];
  const [, id] = /campaigns\/([\w-]+)"/.exec(printed) ?? [];
  const figure = (name: string) => Number(new RegExp(`^ +${name} +(\\d+)$`, "m").exec(printed)?.[1]);
  const call = apiCaller(() => url, key);
  const { body } = await call("GET", `/campaigns/${id}`);
  expect(body.data, printed).toMatchObject({
    status: "sent",
    total_recipients: figure("recipients"),
    delivered_count: figure("delivered"),
    bounce_count: figure("bounced"),
    unique_open_count: figure("opened"),
    click_count: figure("clicks"),
    unique_click_count: figure("clicked"),
    unsubscribe_count: figure("unsubscribed"),
  });
  expect(body.data).toMatchObject({ total_recipients: 1_000, delivered_count: 957, bounce_count: 35 });
  const later = await call("GET", `/campaigns/${id}/messages?status=deferred`);
  expect(later.body.data.pagination.total).toBe(8);
  for (const [, path = ""] of printed.matchAll(/"\$URL\/api\/v1(\S+)"/g)) {
    expect((await call("GET", path)).status, path).toBe(200);
  }

  demo.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
  await expect(fetch(url)).rejects.toThrow();
}, 150_000);
