import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { startFakeMx } from "../support/fake-mx.ts";
import { mailDomain, openScene } from "../support/scene.ts";

test("a receiver that never answers cannot hold up a stop: 30 seconds, exit code 0, and the message stays in the queue", async () => {
  await using mx = await startFakeMx({ slowMs: 600_000 });
  await using scene = await openScene({
    env: { SMTP_PORT: String(mx.port) },
    zone: mailDomain("example.test"),
  });
  const id = await scene.send("slow@example.test");
  await mx.waitForMessages(1);

  const stopping = performance.now();
  expect(await scene.program.kill("SIGTERM")).toEqual([0, null]);
  expect(performance.now() - stopping).toBeLessThan(30_000);
  const queued = sql`select leased_by from delivery_queue where message_id = ${id}`;
  expect(await scene.database.rows(queued)).toEqual([{ leased_by: null }]);
}, 60_000);
