/** Pictures of the workspace as attachments of POST /emails and of batches. */
import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { png } from "#test/support/pictures.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
beforeAll(() => verifyShop(database, workspaceId));

async function upload(key = service.key) {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(png(20, 10))]), "Logo.png");
  const { data } = (await call("POST", "/media", form, { key })).body;
  return { ...data, content: Buffer.from(await (await fetch(data.url)).arrayBuffer()).toString("base64") };
}

/** A picture of many megabytes, as far as its row tells. */
async function largePicture(megabytes: number): Promise<string> {
  const id = newId();
  await database.run(sql`
    insert into media (workspace_id, id, name, alt_text, kind, width, height, frames, bytes, source_sha256, sha256,
      content, created_at, updated_at)
    values (${workspaceId}, ${id}, 'Large', '', 'png', 1, 1, 1, ${megabytes * 1024 ** 2}, ${Buffer.from(id)}, '', '',
      now(), now())`);
  return id;
}

const mail = (attachments: unknown, change: object = {}) => ({
  to: ["ada@example.com"],
  subject: "Your order",
  html: '<p>Hi <img src="cid:logo"></p>',
  from_email: "news@shop.test",
  attachments,
  ...change,
});

async function storedFiles(messageId: string) {
  const row = await database.row<{ attachments: unknown }>(sql`
    select attachments from message_contents where message_id = ${messageId}`);
  return row?.attachments;
}

test("a picture is attached by its id, with a name of its own or as an image in the HTML", async () => {
  const { id, content } = await upload();
  const text = { filename: "a.txt", content: "QUJD", content_type: "text/plain" };
  const { status, body } = await call(
    "POST",
    "/emails",
    mail([
      { media_id: id },
      { media_id: id.toUpperCase(), filename: "Bild.png", content_id: "logo" },
      { media_id: id, content_id: "listed", disposition: "attachment" },
      text,
    ]),
  );
  expect([status, body.error]).toEqual([201, undefined]);
  const picture = { content, content_type: "image/png" };
  expect(await storedFiles(body.data.id)).toEqual([
    { ...picture, filename: "logo.png", disposition: "attachment", content_id: null },
    { ...picture, filename: "Bild.png", disposition: "inline", content_id: "logo" },
    { ...picture, filename: "logo.png", disposition: "attachment", content_id: "listed" },
    { ...text, disposition: "attachment", content_id: null },
  ]);
});

test("an accepted mail keeps the picture when it is deleted", async () => {
  const { id, content } = await upload();
  const { body } = await call("POST", "/emails", mail([{ media_id: id }]));
  expect((await call("DELETE", `/media/${id}`)).status).toBe(200);
  expect(await storedFiles(body.data.id)).toMatchObject([{ content }]);
});

test.each([
  ["an unknown picture", { media_id: newId() }, "media_id", /is no picture of this workspace/],
  ["no id", { media_id: "logo" }, "media_id", /UUID/i],
  ["an id and a content", { media_id: newId(), content: "QUJD" }, "media_id", /excludes content/],
  ["neither", { filename: "a.png" }, "content", /is required, unless the attachment has a media_id/],
  ["no type", { filename: "a.png", content: "QUJD" }, "content_type", /is required, unless/],
  [
    "a content without a name",
    { content: "QUJD", content_type: "image/png" },
    "filename",
    /is required, unless/,
  ],
])("an attachment with %s is refused", async (_what, attachment, field, sentence) => {
  const { status, body } = await call("POST", "/emails", mail([attachment]));
  expect([status, body.details?.[0].field]).toEqual([400, `attachments[0].${field}`]);
  expect(body.error).toMatch(sentence);
});

test("a picture of another workspace, and a program by its name, are refused", async () => {
  const theirs = await upload((await service.newWorkspace()).key);
  const own = await upload();
  for (const attachment of [{ media_id: theirs.id }, { media_id: own.id, filename: "setup.exe" }]) {
    expect((await call("POST", "/emails", mail([attachment]))).status).toBe(400);
  }
});

test("a batch judges each of its mails by its own pictures", async () => {
  const { id } = await upload();
  const emails = [mail([{ media_id: id }]), mail([{ media_id: newId() }]), mail([{ media_id: 5 }]), mail([])];
  const { status, body } = await call("POST", "/emails/batch", { emails });
  expect([status, body.data.results.map(({ success }: { success: boolean }) => success)]).toEqual([
    200,
    [true, false, false, true],
  ]);
  expect(await storedFiles(body.data.results[0].data.id)).toMatchObject([{ filename: "logo.png" }]);
});

test("pictures of a request are limited together, however often it names them, before they are read", async () => {
  const id = await largePicture(7);
  const attachments = [1, 2, 3].map(() => ({ media_id: id }));
  const one = await call("POST", "/emails", mail(attachments));
  expect([one.status, one.body.error]).toEqual([
    400,
    "attachments may have at most 20 MB of pictures by media_id in all: attach fewer, or send several requests",
  ]);
  const emails = attachments.map((attachment) => mail([attachment]));
  const several = await call("POST", "/emails/batch", { emails });
  expect([several.status, several.body.details[0].field]).toEqual([400, "emails"]);
  const many = Array.from({ length: 6 }, () =>
    mail(Array.from({ length: 100 }, () => ({ media_id: newId() }))),
  );
  const batch = await call("POST", "/emails/batch", { emails: many });
  expect(batch.body.error).toMatch(/at most 500 different pictures/);
});

test("a mail with more than 100 attachments is refused alone, and its pictures are not read", async () => {
  const { id } = await upload();
  const emails = [mail(Array.from({ length: 501 }, () => ({ media_id: newId() }))), mail([{ media_id: id }])];
  const { status, body } = await call("POST", "/emails/batch", { emails });
  expect([status, body.data.results.map(({ success }: { success: boolean }) => success)]).toEqual([
    200,
    [false, true],
  ]);
  expect((await call("POST", "/emails", emails[0])).body.error).toBe(
    "attachments may hold at most 100 files",
  );
});
