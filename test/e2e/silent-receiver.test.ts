import { expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

test("with a receiver that never answers the program stops within 30 s with exit code 0, and retries after a start", async () => {
  await using mx = await startFakeMx({ slowMs: 600_000 });
  await using scene = await openScene({
    env: { SMTP_PORT: String(mx.port) },
    zone: mailDomain("example.test"),
  });
  await scene.send("slow@example.test");
  await mx.waitForMessages(1);

  const stopping = performance.now();
  expect(await scene.program.kill("SIGTERM")).toEqual([0, null]);
  expect(performance.now() - stopping).toBeLessThan(30_000);

  await scene.program.start();
  await mx.waitForMessages(2);
  expect(mx.copies.size).toBe(1);
  await scene.program.kill("SIGKILL");
});
