import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startFakeMx } from "../support/fake-mx.ts";
import { mailDomain, openScene } from "../support/scene.ts";

test("SIGTERM to every process, again and again, lets a conversation that is under way come to its end", async () => {
  await using mx = await startFakeMx({ slowMs: 3_000 });
  await using scene = await openScene({
    env: { SMTP_PORT: String(mx.port) },
    zone: mailDomain("example.test"),
  });
  const id = await scene.send("slow@example.test");
  await mx.waitForMessages(1);

  const { pid } = scene.program;
  const everybody = setInterval(() => process.kill(-pid, "SIGTERM"), 200);
  const ended = await scene.program.kill("SIGTERM");
  clearInterval(everybody);
  expect(ended).toEqual([0, null]);
  expect(await scene.database.row(sql`select status from messages where id = ${id}`)).toEqual({
    status: "delivered",
  });
  expect(await scene.database.rows(sql`select from delivery_queue`)).toEqual([]);
  await eventually("all of them to be gone", async () => !isThere(-pid));
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
