import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { insertCaptured } from "#delivery/capture/store.ts";
import { eraseRecipient } from "#messages/erase-recipient-store.ts";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft } from "#test/support/drafts.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const service = await startService();
const { call, database, workspaceId, clock } = service;
const pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

async function insert(change: Parameters<typeof draft>[2], to = "ada@people.test"): Promise<string> {
  const one = draft(workspaceId, to, { createdAt: clock.now(), ...change });
  await insertDrafts(database, [one]);
  return one.message.id;
}

const contentOf = (id: string) => call("GET", `/messages/${id}/content`);
const source = async (id: string, key = service.key) => {
  const answer = await fetch(`${service.url}/api/v1/messages/${id}/source`, {
    headers: { "X-API-Key": key },
  });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
};

test("a message is shown as its recipient got it: parts, headers, files, signature", async () => {
  const id = await insert({
    subject: "Grüße",
    html: '<p>Hello <img src="cid:logo"></p>',
    attachments: [
      {
        filename: "logo.gif",
        content: pixel,
        content_type: "image/gif",
        disposition: "inline",
        content_id: "logo",
      },
    ],
  });
  const { status, body } = await contentOf(id);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.data).toMatchObject({
    id,
    is_rebuilt: true,
    text: expect.stringContaining("Hello"),
    attachments: [{ filename: "logo.gif", content_type: "image/gif", content_id: "logo", size: 42 }],
    authentication: { return_path: expect.stringContaining("@"), dkim_aligned: false },
    expires_at: expect.stringMatching(/Z$/),
  });
  expect(body.data.html).toContain('<img src="cid:logo">');
  expect(body.data.headers).toContainEqual({ name: "Message-ID", value: `<${id}@sender.test>` });
  const file = await source(id);
  expect([file.status, file.type]).toEqual([200, "message/rfc822"]);
  expect(file.text).toContain(`Message-ID: <${id}@sender.test>\r\n`);
  expect(file.text.length).toBeGreaterThan(500);
});

test("a domain's own key signs the message that is shown", async () => {
  await insertVerifiedDomain(database, createSecrets(SECRET_KEY), workspaceId, "signed.example");
  const id = await insert({ fromEmail: "shop@signed.example" });
  const { body } = await contentOf(id);
  expect(body.data.authentication).toMatchObject({ dkim_domain: "signed.example", dkim_aligned: true });
});

test("what capture mode stored is shown octet by octet", async () => {
  const id = await insert({});
  const raw = Buffer.from("From: a@sender.test\r\nSubject: Kept\r\n\r\nas it was\r\n");
  const row = {
    workspaceId,
    messageId: id,
    fromEmail: "a@sender.test",
    mailFrom: "b@bounce.test",
    rcptTo: "c@d.test",
  };
  await insertCaptured(database, [{ ...row, subject: "Kept", raw }]);
  const { body } = await contentOf(id);
  expect(body.data).toMatchObject({ is_rebuilt: false, text: "as it was\n", html: null, size: raw.length });
  expect((await source(id)).text).toBe(raw.toString());
});

test("a campaign's mail has the recipient's values, tracked links and the headers of bulk mail", async () => {
  const { mails } = await sentCampaign(database, workspaceId, {
    base: service.url,
    html: '<p>For {{ email }} <a href="https://shop.example/">Shop</a></p>',
    deliveredAt: clock.now(),
  });
  // As in a real campaign: only its template is stored.
  await database.run(sql`delete from message_contents where message_id = ${mails[0]?.messageId}`);
  const { status, body } = await contentOf(mails[0]?.messageId ?? "");
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.data.html).toContain(`For ${mails[0]?.email}`);
  expect(body.data.html).toContain("/c/");
  expect(body.data.html).not.toContain('href="https://shop.example/"');
  expect(body.data.headers).toContainEqual({ name: "Precedence", value: "bulk" });
});

test("a submitted message keeps its own octets below the headers that are added", async () => {
  const raw = Buffer.from("From: shop@sender.test\r\nX-Own: 1\r\nSubject: Mine\r\n\r\nMy body\r\n");
  const id = await insert({ html: null, source: "smtp", submission: { id: newId(), raw } });
  expect((await source(id)).text.endsWith(raw.toString())).toBe(true);
  expect((await contentOf(id)).body.data.text.trim()).toBe("My body");
});

test("a large message is composed and parsed without holding up others", async () => {
  const id = await insert({ html: `<p>${"word ".repeat(60_000)}</p>` });
  const { body } = await contentOf(id);
  expect(body.data.html.length).toBeGreaterThan(300_000);
});

test("a content is gone after its days, and the answer names the setting", async () => {
  const days = 30;
  const id = await insert({ createdAt: new Date(clock.now().getTime() - days * 86_400_000 - 1) });
  const { status, body } = await contentOf(id);
  expect([status, body.code]).toEqual([410, "GONE"]);
  expect(body.error).toContain("MESSAGE_CONTENT_DAYS");
  expect((await source(id)).status).toBe(410);
  const last = await insert({ createdAt: new Date(clock.now().getTime() - days * 86_400_000 + 60_000) });
  expect((await contentOf(last)).status).toBe(200);
});

test("mail of the service itself is never shown: its links are for its recipient", async () => {
  const id = await insert({ source: "platform" });
  const { status, body } = await contentOf(id);
  expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
  expect((await source(id)).status).toBe(403);
});

test("the right to read reports is not the right to read contents", async () => {
  const id = await insert({});
  const key = await service.newKey(["reports:read"]);
  expect((await call("GET", `/messages/${id}/content`, undefined, { key })).status).toBe(403);
  expect((await source(id, key)).status).toBe(403);
  const reader = await service.newKey(["message_content:read"]);
  expect((await source(id, reader)).status).toBe(200);
});

test("another workspace's message is not found", async () => {
  const id = await insert({});
  const { key } = await service.newWorkspace();
  expect((await call("GET", `/messages/${id}/content`, undefined, { key })).status).toBe(404);
  expect((await source(id, key)).status).toBe(404);
});

test("a suppressed message was never composed, and the answer says so", async () => {
  const id = await insert({});
  await database.run(
    sql`update messages set status = 'suppressed' where workspace_id = ${workspaceId} and id = ${id}`,
  );
  await database.run(
    sql`delete from message_contents where workspace_id = ${workspaceId} and message_id = ${id}`,
  );
  const { status, body } = await contentOf(id);
  expect([status, body.code]).toEqual([409, "CONFLICT"]);
});

test("the content of an erased recipient is gone, and the answer does not blame its age", async () => {
  const id = await insert({});
  await database.run(sql`delete from delivery_queue where message_id = ${id}`);
  await database.transaction((tx) => eraseRecipient(tx, workspaceId, [id]));
  const { status, body } = await contentOf(id);
  expect([status, body.error]).toEqual([
    410,
    "The content of this message was erased with the data of its recipient",
  ]);
});

test("a workspace that reads more contents at a time than wait in its line is refused, and others are not", async () => {
  const id = await insert({});
  const other = await service.newWorkspace();
  const { promise: isFull, resolve: fill } = Promise.withResolvers<void>();
  const { reads, answer } = await database.transaction(async (tx) => {
    await tx.run(sql`lock table message_contents in access exclusive mode`);
    const reads = Array.from({ length: 22 }, async () => {
      const { status, body } = await contentOf(id);
      if (status === 429) fill();
      return [status, body.code];
    });
    await isFull;
    const key = other.key;
    const answer = await call("GET", `/messages/${newId()}`, undefined, { key });
    return { reads, answer };
  });
  expect(answer.status).toBe(404);
  const answers = await Promise.all(reads);
  expect(answers.filter(([status]) => status === 200)).toHaveLength(21);
  expect(answers.filter(([, code]) => code === "RATE_LIMIT_EXCEEDED")).toHaveLength(1);
});
