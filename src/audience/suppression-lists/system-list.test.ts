import { describe, expect, it } from "vitest";
import { newId } from "#platform/ids.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { newList } from "#test/support/audience.ts";
import { suppressionService } from "#test/support/suppression.ts";
import { ensureSystemList } from "./store.ts";

const { ask, service, database, workspaceId, call, find, add, entriesOf, upload, countOf } =
  await suppressionService();

describe("the list of bounces and complaints", () => {
  it("exists from the beginning, once", async () => {
    const { key } = await service.newWorkspace();
    const theirs = apiCaller(() => service.url, key);
    const answers = await Promise.all([1, 2, 3].map(() => theirs("GET", "/suppression-lists")));
    for (const { body } of answers) {
      expect(body.data.suppression_lists).toMatchObject([
        { name: "Bounces and complaints", is_system: true, suppression_scope: "global", entry_count: 0 },
      ]);
    }
  });

  it("can be neither changed, nor deleted, nor filled from a file; its entries can", async () => {
    const id = await ensureSystemList(database, workspaceId);
    const before = await find(id);
    for (const refused of [
      await call("PUT", `/suppression-lists/${id}`, { name: "Mine" }),
      await call("PUT", `/suppression-lists/${id}`, { is_active: false }),
      await call("DELETE", `/suppression-lists/${id}`),
      await upload(id, "ada@example.com\n"),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    }
    expect(await find(id)).toEqual(before);
    expect((await add(id, "ada@example.com")).status).toBe(201);
    const [entry] = await entriesOf(id);
    expect((await call("DELETE", `/suppression-lists/${id}/entries/${entry.id}`)).status).toBe(200);
    expect(await countOf(id)).toBe(0);
  });

  it.each([
    ["bounced", "hard_bounce"],
    ["complained", "complaint"],
  ])("has everybody whose status is set to %s; setting it back takes nobody off", async (status, reason) => {
    const news = await newList(database, workspaceId);
    const email = `${status}@example.com`;
    const joined = await call("POST", `/mailing-lists/${news}/subscribers`, { email });
    const member = `/mailing-lists/${news}/subscribers/${joined.body.data.subscriber_id}`;
    const key = await service.newKey(["subscribers:write"], "The shop");
    const set = (to: string, path = "/status") => call("PUT", `${member}${path}`, { status: to }, { key });
    const id = await ensureSystemList(database, workspaceId);
    expect((await set("unsubscribed")).status).toBe(200);
    expect(await entriesOf(id, `?search=${email}`)).toBeNull();
    expect((await set(status, "")).status).toBe(200);
    expect((await set(status)).status).toBe(200);
    const entry = { normalized_value: email, reason, created_by: "The shop", source_message_id: null };
    expect(await entriesOf(id, `?search=${email}`)).toMatchObject([entry]);
    await set("active");
    expect((await ask(id, email)).data).toMatchObject({ suppressed: true, reason });
    await countOf(id);
  });

  it("gets no entry when the change of a member is refused", async () => {
    const news = await newList(database, workspaceId);
    const path = `/mailing-lists/${news}/subscribers/${newId()}/status`;
    const id = await ensureSystemList(database, workspaceId);
    const before = await countOf(id);
    expect((await call("PUT", path, { status: "complained" })).status).toBe(404);
    expect(await countOf(id)).toBe(before);
  });
});
