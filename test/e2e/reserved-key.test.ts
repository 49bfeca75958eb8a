/** An Idempotency-Key is free again when the process of its request is dead. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";

const KNOWN_DEAD_MS = 15_000;

test("a request whose process was killed does not block its Idempotency-Key", async () => {
  await using scene = await openScene({ env: { MAIL_MODE: "capture" } });
  const { program, database } = scene;
  const email = { to: "ada@example.test", subject: "Once", body: "<p>Hello</p>" };
  const ask = () => program.call("POST", "/emails/send", email, { headers: { "Idempotency-Key": "once" } });
  const held = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const locking = database.transaction(async (tx) => {
    await tx.run(sql`lock table messages in access exclusive mode`);
    held.resolve();
    await letGo.promise;
  });
  await held.promise;
  await using _unlocked = {
    async [Symbol.asyncDispose]() {
      letGo.resolve();
      await locking;
    },
  };
  const cutOff = ask().catch(() => "cut off");
  await eventually("the key to be reserved", () =>
    database.row(sql`select from idempotency_keys where key = 'once'`),
  );
  await program.kill("SIGKILL");
  expect(await cutOff).toBe("cut off");
  letGo.resolve();
  await locking;
  await program.start();
  const answer = await eventually(
    "the key to be free",
    async () => {
      const { status, body } = await ask();
      return status !== 409 && { status, body };
    },
    KNOWN_DEAD_MS,
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const stored = await database.rows(sql`select from messages where subject = 'Once'`);
  expect(stored).toHaveLength(1);
});
