/** Suppressed recipients get no mail: entries of users and entries written by bounces. */
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port) },
  zone: { ...mailDomain("example.test"), "no-mail.test": { MX: [[0, "."]] } },
});
const { program } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const systemEntries = async () => {
  const { suppression_lists: lists } = (await program.call("GET", "/suppression-lists")).body.data;
  const { id } = lists.find(({ is_system }: { is_system: boolean }) => is_system);
  return (await program.call("GET", `/suppression-lists/${id}/entries`)).body.data ?? [];
};
const commandsTo = (recipient: string) =>
  mx.commands.filter((line) => line.startsWith("RCPT") && line.includes(`<${recipient}>`));

test("a message to a suppressed address is accepted, ends as suppressed, and reaches no mail server", async () => {
  const { id } = (await program.call("POST", "/suppression-lists", { name: "Former customers" })).body.data;
  await program.call("POST", `/suppression-lists/${id}/entries`, { entries: "Ada@EXAMPLE.test" });
  const suppressed = await scene.messageWhen("suppressed", await scene.send("ada@example.test"));
  expect(suppressed).toMatchObject({
    attempts: 0,
    error_message: "Suppressed (manual): on the list Former customers",
    timeline: [{ type: "queued" }, { type: "suppressed" }],
  });
  await scene.messageWhen("delivered", await scene.send("bob@example.test"));
  expect(commandsTo("ada@example.test")).toEqual([]);
});

test.each([
  ["550 5.1.1", "unknown@example.test"],
  ["550 5.2.1", "disabled@example.test"],
  ["a domain that takes no mail", "ada@no-mail.test"],
])("%s adds the address to the bounce list, and a second message is not sent", async (_reply, to) => {
  const first = await scene.send(to);
  await scene.messageWhen("bounced", first);
  expect(await systemEntries()).toContainEqual(
    expect.objectContaining({
      normalized_value: to,
      reason: "hard_bounce",
      source_message_id: first,
      created_by: "system",
    }),
  );
  const talks = commandsTo(to).length;
  await scene.messageWhen("suppressed", await scene.send(to));
  expect(commandsTo(to)).toHaveLength(talks);
});

test.each([
  ["554 5.7.1 at RCPT: the sending IP is block-listed", "blocked@example.test"],
  ["554 5.7.1 after DATA: the content is rejected", "reject-at-dot@example.test"],
  ["552 5.2.2: the mailbox is full", "mailbox-full@example.test"],
])("%s does not suppress the recipient", async (_reply, to) => {
  await scene.messageWhen("bounced", await scene.send(to));
  await scene.messageWhen("bounced", await scene.send(to));
  expect(
    (await systemEntries()).map((entry: { normalized_value: string }) => entry.normalized_value),
  ).not.toContain(to);
});

test("an entry added while a message waits for its next attempt suppresses that message", async () => {
  const to = "greylist@example.test";
  const id = await scene.send(to);
  await scene.messageWhen("deferred", id);
  const { id: list } = (await program.call("POST", "/suppression-lists", { name: "Late" })).body.data;
  await program.call("POST", `/suppression-lists/${list}/entries`, { entries: to });
  await scene.database.run(sql`update delivery_queue set due_at = now() where message_id = ${id}`);
  await scene.messageWhen("suppressed", id);
  expect(mx.messages.filter(({ rcptTo }) => rcptTo === to)).toEqual([]);
});
