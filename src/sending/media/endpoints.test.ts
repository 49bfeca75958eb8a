/** Pictures over HTTP: uploaded, listed, changed, served and deleted. */
import { hash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { PNG } from "pngjs";
import sql, { raw } from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { shareOfThisThread } from "#test/support/cost.ts";
import { gif, jpg, png } from "#test/support/pictures.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let list: string;
beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
});

/** Each size makes another file. */
let size = 20;
function newPng(): Buffer {
  size += 1;
  return png(size, 10);
}

function form(
  file: Buffer,
  fields: Readonly<Record<string, string>> = {},
  fileName = "Sömmer Sale.png",
): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("file", new Blob([new Uint8Array(file)]), fileName);
  return body;
}

async function upload(file = newPng(), fields: Readonly<Record<string, string>> = {}, key = service.key) {
  const answer = await call("POST", "/media", form(file, fields), { key });
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
}

describe("an upload", () => {
  test("answers with the picture and its address, named after the file", async () => {
    const picture = await upload(gif(12, 10, 3), { alt_text: " A sale\n begins " });
    expect(picture).toMatchObject({
      name: "Sömmer Sale.png",
      alt_text: "A sale begins",
      kind: "gif",
      width: 12,
      height: 10,
      frames: 3,
      is_duplicate: false,
      used_by: { total: 0, prevents_deletion: false, users: [] },
    });
    expect(picture.url).toMatch(new RegExp(`^${service.url}/media/[\\w-]{43}/sommer-sale\\.gif$`));
    const { is_duplicate: _, ...shown } = picture;
    expect((await call("GET", `/media/${picture.id}`)).body.data).toEqual(shown);
  });

  test("of the same file again is the same picture in a workspace, and another one in another", async () => {
    const file = newPng();
    const first = await upload(file, { name: "Logo" });
    const again = await call("POST", "/media", form(file, { name: "Other" }));
    expect([again.status, again.body.message]).toEqual([201, "The picture was uploaded before"]);
    expect(again.body.data).toEqual({ ...first, is_duplicate: true });
    const { key } = await service.newWorkspace();
    expect((await upload(file, {}, key)).id).not.toBe(first.id);
  });

  test("of the same file at the same time stores one picture", async () => {
    const file = newPng();
    const pictures = await Promise.all(Array.from({ length: 4 }, () => upload(file)));
    expect(new Set(pictures.map(({ id }) => id)).size).toBe(1);
    expect(pictures.filter(({ is_duplicate }) => !is_duplicate)).toHaveLength(1);
  });

  test("of a file that another request stores and deletes meanwhile is stored", async () => {
    const { key, workspaceId: other } = await service.newWorkspace();
    const file = newPng();
    // The triggers are the other request: they act once, before and after the upload's statement.
    await database.run(
      sql`create table other_uploads as select ${hash("sha256", file, "buffer")}::bytea as digest`,
    );
    await database.run(sql`
      create function store_other() returns trigger language plpgsql as $$ begin
        insert into media select ${raw(`'${other}'`)}, gen_random_uuid(), 'Other', '', 'png', 1, 1, 1, 1, digest, digest, '',
          now(), now() from other_uploads;
        return null; end $$`);
    await database.run(sql`
      create function delete_other() returns trigger language plpgsql as $$ begin
        delete from media where name = 'Other'; delete from other_uploads; return null; end $$`);
    await database.run(sql`
      create trigger store_other before insert on media when (pg_trigger_depth() = 0) execute function store_other()`);
    await database.run(sql`
      create trigger delete_other after insert on media when (pg_trigger_depth() = 0) execute function delete_other()`);
    const { is_duplicate, id } = await upload(file, {}, key);
    await database.run(sql`drop trigger store_other on media`);
    await database.run(sql`drop trigger delete_other on media`);
    expect(await database.rows(sql`select from other_uploads`)).toEqual([]);
    expect([is_duplicate, (await call("GET", `/media/${id}`, undefined, { key })).status]).toEqual([
      false,
      200,
    ]);
  });

  test.each([
    ["text", Buffer.from("hello"), {}, 400, "file", /no PNG, JPEG, GIF or WebP/],
    ["half a file", jpg(40, 40).subarray(0, 300), {}, 400, "file", /not complete/],
    ["a file whose decoder fails", png(40, 40).fill(7, 60, 70), {}, 400, "file", /damaged/],
    ["a name of blanks", png(5, 5), { name: "  " }, 400, "name", /must not be blank/],
    ["a name with a line break", png(5, 5), { name: "a\nb" }, 400, "name", /line breaks/],
    ["a long text", png(5, 5), { alt_text: "x".repeat(501) }, 400, "alt_text", /500/],
  ])("of %s is refused, and nothing is stored", async (_what, file, fields, status, field, sentence) => {
    const before = (await call("GET", "/media")).body.data.pagination.total;
    const answer = await call("POST", "/media", form(file, fields));
    expect([answer.status, answer.body.details[0].field]).toEqual([status, field]);
    expect(answer.body.error).toMatch(sentence);
    expect((await call("GET", "/media")).body.data.pagination.total).toBe(before);
  });

  test("of more than 10 MB is refused before it has arrived", async () => {
    const answer = await call("POST", "/media", form(Buffer.alloc(10 * 1024 ** 2 + 1)));
    expect([answer.status, answer.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  test("beyond the storage of the plan is refused", async () => {
    const { key, workspaceId: other } = await service.newWorkspace();
    await database.run(sql`update workspaces set plan = 'free' where id = ${other}`);
    await database.run(sql`
      insert into content_days (workspace_id, day, bytes) values (${other}, '2026-01-01', ${10 ** 12})`);
    const answer = await call("POST", "/media", form(newPng()), { key });
    expect([answer.status, answer.body.code], answer.body.error).toEqual([402, "PLAN_LIMIT_REACHED"]);
  });

  test("counts in the storage of the workspace", async () => {
    const { key } = await service.newWorkspace();
    const used = async () =>
      (await call("GET", "/billing/overview", undefined, { key })).body.data.storage.bytes.used;
    const before = await used();
    const { bytes } = await upload(newPng(), {}, key);
    expect((await used()) - before).toBe(bytes);
  });

  test("of a large picture leaves other requests their answers", async () => {
    const file = png(2_500, 2_500);
    expect(await shareOfThisThread(() => upload(file))).toBeLessThan(0.5);
  });
});

test("pictures are listed newest first, page by page, by name and kind", async () => {
  const { key } = await service.newWorkspace();
  const files = [newPng(), jpg(30, 30), newPng()];
  const names = ["Logo ÄRZTE", "Photo", "logo small"];
  const ids: string[] = [];
  for (const [at, file] of files.entries())
    ids.unshift((await upload(file, { name: names[at] ?? "" }, key)).id);
  const listed = async (query: string) => {
    const { data } = (await call("GET", `/media?${query}`, undefined, { key })).body;
    return { ids: data.media.map(({ id }: { id: string }) => id), ...data.pagination };
  };
  expect(await listed("")).toMatchObject({ ids, total: 3 });
  const first = await listed("limit=2");
  expect(first.ids).toEqual(ids.slice(0, 2));
  expect((await listed(`limit=2&after=${first.next_cursor}`)).ids).toEqual(ids.slice(2));
  expect((await listed("search=logo")).ids).toEqual([ids[0], ids[2]]);
  expect((await listed(`search=${encodeURIComponent("ärzte")}`)).ids).toEqual([ids[2]]);
  expect((await listed("search=%25")).ids).toEqual([]);
  expect((await listed("kind=jpeg")).ids).toEqual([ids[1]]);
  expect((await call("GET", "/media?kind=svg", undefined, { key })).status).toBe(400);
});

test("name and alternative text can be changed, and old addresses work", async () => {
  const picture = await upload();
  const path = `/media/${picture.id}`;
  const { body } = await call("PATCH", path, { name: " Spring ", alt_text: "Flowers" });
  expect(body.data).toMatchObject({ id: picture.id, name: "Spring", alt_text: "Flowers" });
  expect(body.data.url).toMatch(/\/spring\.png$/);
  for (const url of [picture.url, body.data.url]) expect((await fetch(url)).status).toBe(200);
  expect((await call("PATCH", path, { alt_text: "" })).body.data).toMatchObject({
    name: "Spring",
    alt_text: "",
  });
  for (const wrong of [{ name: "" }, { name: null }, { name: "a\u0000" }, { alt_text: 5 }]) {
    expect((await call("PATCH", path, wrong)).status).toBe(400);
  }
});

describe("the address of a picture", () => {
  test("serves it to anyone as what it is, for ever, and as nothing that runs", async () => {
    const { url, bytes } = await upload(jpg(33, 33));
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-length": String(bytes),
      "content-disposition": "inline",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect((await answer.arrayBuffer()).byteLength).toBe(bytes);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(bytes)]);
    const etag = answer.headers.get("etag") ?? "";
    for (const [known, status] of [
      [etag, 304],
      [`"x", W/${etag}`, 304],
      ['"x"', 200],
    ] as const) {
      const asked = await fetch(url, { headers: { "If-None-Match": known } });
      expect([asked.status, (await asked.arrayBuffer()).byteLength]).toEqual([
        status,
        status === 304 ? 0 : bytes,
      ]);
    }
  });

  test("serves a picture of several parts whole", async () => {
    const noise = randomBytes(600 * 400 * 4);
    const { url } = await upload(png(600, 400, {}, (at) => noise[at] ?? 0));
    const file = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(file.length).toBeGreaterThan(2 * 256 * 1024);
    expect(PNG.sync.read(file)).toMatchObject({ width: 600, height: 400 });
  });

  test("is unknown if it is wrong in any part, or its picture or workspace is not there", async () => {
    const { url, id } = await upload();
    const token = url.split("/").at(-2) ?? "";
    const wrong = [
      url.replace(token, `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`),
      url.replace(token, token.slice(1)),
      url.replace(token, "%00"),
      `${url}/more`,
      // mediaIn would not find it in HTML.
      url.slice(0, url.lastIndexOf("/")),
      `${service.url}/media/`,
      `${service.url}/media/${"A".repeat(43)}/x.png`,
    ];
    for (const address of wrong) expect([address, (await fetch(address)).status]).toEqual([address, 404]);
    const other = await service.newWorkspace();
    const theirs = await upload(newPng(), {}, other.key);
    await database.run(sql`update workspaces set is_suspended = true where id = ${other.workspaceId}`);
    expect((await fetch(theirs.url)).status).toBe(404);
    await call("DELETE", `/media/${id}`);
    const gone = await fetch(url);
    expect([gone.status, gone.headers.get("cache-control")?.includes("immutable") ?? false]).toEqual([
      404,
      false,
    ]);
  });

  test("begins with the tracking domain of the workspace, which serves it and nothing of the API", async () => {
    const { key, workspaceId: other } = await service.newWorkspace();
    const first = await upload(newPng(), {}, key);
    await database.run(sql`
      insert into tracking_domains (workspace_id, id, domain, is_verified, created_at)
      values (${other}, gen_random_uuid(), 'links.media.example', true, now())`);
    const { url } = (await call("GET", `/media/${first.id}`, undefined, { key })).body.data;
    expect(url).toBe(first.url.replace(service.url, "https://links.media.example"));
    const statusAt = (path: string) => {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const headers = { host: "links.media.example", "x-api-key": key };
      request(service.url + path, { headers }, (answer) => resolve(answer.resume().statusCode)).end();
      return promise;
    };
    expect(await statusAt(new URL(url).pathname)).toBe(200);
    expect(await statusAt("/api/v1/media")).toBe(404);
  });
});

test("a picture is the logo of its own workspace only, and not deleted as long as it is", async () => {
  const { id, url } = await upload();
  const { key } = await service.newWorkspace();
  const foreign = await call("PATCH", "/brand", { logo_media_id: id, display_name: "Other" }, { key });
  expect([foreign.status, foreign.body.details[0].field]).toEqual([400, "logo_media_id"]);
  expect((await call("GET", "/brand", undefined, { key })).body.data.display_name).toBeNull();
  const set = await call("PATCH", "/brand", { logo_media_id: id });
  expect([set.status, set.body.data.logo_url]).toEqual([200, url]);
  const [used] = (await call("GET", `/media/${id}`)).body.data.used_by.users;
  expect(used).toMatchObject({ kind: "brand", id: workspaceId, prevents_deletion: true });
  expect((await call("DELETE", `/media/${id}`)).status).toBe(409);
  await call("PATCH", "/brand", { display_name: "Shop" });
  expect((await call("GET", "/brand")).body.data.logo_media_id).toBe(id);
  await call("PATCH", "/brand", { logo_media_id: null });
  expect((await call("DELETE", `/media/${id}`)).status).toBe(200);
});

test("a design shows the brand: accent, text colour where it is readable, footer and, once, the logo", async () => {
  const { key, workspaceId: other } = await service.newWorkspace();
  const { id, url } = await upload(newPng(), {}, key);
  const brand = {
    logo_media_id: id,
    accent_color: "#7a1fa2",
    text_color: "#ffffff",
    background_color: "#101a2b",
    footer_text: "Ada & friends",
    postal_address: "1 Long Street\nLondon",
  };
  const branded = await call("PATCH", "/brand", brand, { key });
  expect(branded.status, branded.body.error).toBe(200);
  const html = async (body: object) => {
    const answer = await call("POST", "/templates", { name: "Letter", ...body }, { key });
    expect(answer.status, answer.body.error).toBe(201);
    return [answer.body.data.compiled_html as string, answer.body.data.id as string] as const;
  };
  const blocks = [
    { type: "text", html: "Hi" },
    { type: "button", text: "Go", url: "https://x.test" },
    { type: "footer" },
  ];
  const [letter] = await html({ subject: "Hi", design: { version: 1, blocks } });
  expect(letter).toContain(`src="${url}"`);
  expect(letter).toContain("#101a2b");
  expect(letter).toMatch(/background:#7a1fa2/);
  expect(letter).toContain("Ada &amp; friends");
  expect(letter).toContain("1 Long Street<br>London");
  // White on white would not be read.
  expect(letter).toContain("color:#222222");
  const [dark] = await html({
    subject: "Hi",
    design: { version: 1, settings: { content_color: "#101a2b" }, blocks },
  });
  expect(dark).not.toContain("color:#222222");
  const place = { type: "html", html: "{{ content }}" };
  const [, layout_id] = await html({ kind: "layout", design: { version: 1, blocks: [place] } });
  const [wrapped] = await html({ subject: "Hi", layout_id, design: { version: 1, blocks } });
  expect(wrapped.split(url)).toHaveLength(2);
  await verifyShop(database, other);
  const draft = { name: "June", subject: "Hi", from_email: "news@shop.test", design: { version: 1, blocks } };
  const campaign = await call("POST", "/campaigns", draft, { key });
  expect(campaign.body.data?.html_content, campaign.body.error).toContain("1 Long Street<br>London");
});

test("a design that is saved again unchanged, or whose layout is, shows the new brand in a new version", async () => {
  const { key } = await service.newWorkspace();
  const design = { version: 1, blocks: [{ type: "text", html: "Hi" }, { type: "footer" }] };
  const made = async (body: object) =>
    (await call("POST", "/templates", { name: "T", ...body }, { key })).body.data;
  const save = async (id: string, change: object) =>
    (await call("PATCH", `/templates/${id}`, change, { key })).body.data;
  const { id } = await made({ subject: "Hi", design });
  await call("PATCH", "/brand", { footer_text: "New" }, { key });
  expect((await save(id, { name: "Other" })).version).toBe(1);
  expect(await save(id, { design })).toMatchObject({
    version: 2,
    compiled_html: expect.stringContaining("New"),
  });
  expect((await save(id, { design })).version).toBe(2);
  const place = { design: { version: 1, blocks: [{ type: "html", html: "{{ content }}" }] } };
  const layout = await made({ kind: "layout", ...place });
  const inside = await made({ subject: "Hi", design, layout_id: layout.id });
  await call("PATCH", "/brand", { footer_text: "Newest" }, { key });
  await save(layout.id, place);
  const { version, compiled_html } = (await call("GET", `/templates/${inside.id}`, undefined, { key })).body
    .data;
  expect([version, compiled_html.includes("Newest")]).toEqual([2, true]);
});

describe("a picture in use", () => {
  const image = ({ url }: { url: string }) => `<p>Hi <img src="${url}" alt=""></p>`;
  const campaignWith = async (html_content: string, name = "June") => {
    const body = { name, subject: "Hi", from_email: "news@shop.test", mailing_list_id: list, html_content };
    return (await call("POST", "/campaigns", body)).body.data.id as string;
  };

  test("names its campaigns, is kept by them, and is free when they do not show it", async () => {
    const picture = await upload();
    const path = `/media/${picture.id}`;
    const [june, july, other] = [
      await campaignWith(image(picture)),
      await campaignWith(image({ url: picture.url.replace(service.url, "https://old.example") }), "July"),
      await campaignWith("<p>Hi</p>", "Without"),
    ];
    const usedBy = async () => (await call("GET", path)).body.data.used_by;
    expect(await usedBy()).toMatchObject({
      total: 2,
      prevents_deletion: true,
      users: [{ id: july }, { id: june }],
    });
    const refused = await call("DELETE", path);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'Campaigns use this picture: "July", "June"; change or delete them first',
    ]);
    await call("PATCH", `/campaigns/${july}`, { subject: "Still shown" });
    expect((await usedBy()).total).toBe(2);
    await call("PATCH", `/campaigns/${july}`, { html_content: "<p>Hi</p>" });
    await call("PATCH", `/campaigns/${other}`, { html_content: image(picture) });
    await call("POST", `/campaigns/${other}/duplicate`);
    expect((await usedBy()).users.map(({ kind }: { kind: string }) => kind)).toEqual([
      "campaign",
      "campaign",
      "campaign",
    ]);
    for (const { id } of (await usedBy()).users) await call("DELETE", `/campaigns/${id}`);
    expect((await call("DELETE", path)).status).toBe(200);
    expect((await call("GET", path)).status).toBe(404);
  });

  test("names autoresponders that show it in a present step", async () => {
    const picture = await upload();
    const body = (html_content: string) => ({
      name: "Welcome",
      mailing_list_id: list,
      from_email: "news@shop.test",
      trigger: { type: "subscribed" },
      steps: [0, 1].map((days) => ({ delay: { days }, subject: "Hi", html_content })),
    });
    const { id } = (await call("POST", "/autoresponders", body(image(picture)))).body.data;
    const { used_by } = (await call("GET", "/media")).body.data.media.find(
      (one: { id: string }) => one.id === picture.id,
    );
    expect(used_by).toMatchObject({ total: 1, users: [{ kind: "autoresponder", id, name: "Welcome" }] });
    expect((await call("DELETE", `/media/${picture.id}`)).body.error).toBe(
      'Autoresponders use this picture: "Welcome"; change their steps first',
    );
    await call("PUT", `/autoresponders/${id}`, body("<p>Hi</p>"));
    expect((await call("DELETE", `/media/${picture.id}`)).status).toBe(200);
  });

  test("names templates whose present version shows it, also in their layout, and is kept by them", async () => {
    const [own, around] = [await upload(), await upload()];
    const template = async (body: object) =>
      (await call("POST", "/templates", { name: "Letter", ...body })).body.data.id as string;
    const layout = await template({
      kind: "layout",
      name: "Frame",
      html_content: `${image(around)}{{ content }}`,
    });
    const letter = await template({ subject: "Hi", layout_id: layout, html_content: image(own) });
    const usersOf = async ({ id }: { id: string }) =>
      (await call("GET", `/media/${id}`)).body.data.used_by.users.map((user: { id: string }) => user.id);
    expect(await usersOf(own)).toEqual([letter]);
    expect(await usersOf(around)).toEqual([layout, letter]);
    const refused = await call("DELETE", `/media/${own.id}`);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'Templates use this picture: "Letter"; change or delete them first',
    ]);
    await call("PATCH", `/templates/${layout}`, { html_content: "<p>Frame</p>{{ content }}" });
    expect((await call("DELETE", `/media/${around.id}`)).status).toBe(200);
    await call("PATCH", `/templates/${letter}`, { html_content: "<p>Hi</p>" });
    expect((await call("DELETE", `/media/${own.id}`)).status).toBe(200);
  });

  test("of another workspace is not kept by its address here", async () => {
    const { key } = await service.newWorkspace();
    const theirs = await upload(newPng(), {}, key);
    await campaignWith(image(theirs), "Foreign");
    expect((await call("DELETE", `/media/${theirs.id}`, undefined, { key })).status).toBe(200);
  });
});
