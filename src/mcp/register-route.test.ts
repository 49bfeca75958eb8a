/** The Model Context Protocol over HTTP, with the official client and the real service. */
import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { callTool, connectMcp, toolNames } from "#test/support/mcp.ts";
import { startService } from "#test/support/service.ts";
import { answerMcp } from "./mcp-server.ts";
import { Toolset } from "./toolset.ts";

const service = await startService();
const { database, workspaceId, url } = service;
let list: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [{ email: "ada@shop.test", first_name: "Ada" }]);
});

const connect = async (permissions: readonly string[], query = "") =>
  connectMcp(url, await service.newKey(permissions), query);

const draft = () => ({
  name: "June",
  subject: "Hi {{ first_name }}",
  from_email: "news@shop.test",
  mailing_list_id: list,
  html_content: '<p>Our summer sale.</p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
});

/** A request as a client without the SDK makes it. */
const post = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  fetch(`${url}/mcp${query}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${service.key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const request = (method: string, params: object = {}, id = 1) => ({ jsonrpc: "2.0", id, method, params });

describe("the tools", () => {
  test("of a key that reads reports are those that read reports, and those that any key may call", async () => {
    const client = await connect(["reports:read"]);
    expect(client.getServerVersion()).toMatchObject({ name: "posthaste" });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain("getMessage");
    expect(names).toContain("searchOperations");
    expect(names).not.toContain("listCampaigns");
    expect(names).not.toContain("changeOperation");
    const reading = tools.find(({ name }) => name === "listMessages");
    expect(reading?.annotations).toMatchObject({ readOnlyHint: true });
    expect(reading?.inputSchema.properties).toMatchObject({ status: {}, limit: { maximum: 200 } });
  });

  test("of `*:*` do not send, and of `mcp:send` alone there are none that send either", async () => {
    const [everything, alone, both] = await Promise.all([
      connect(["*:*"]),
      connect(["mcp:send"]),
      connect(["*:*", "mcp:send"]),
    ]);
    const guarded = ["sendCampaign", "testCampaign", "sendOperation"];
    const offered = async (client: typeof both) =>
      (await toolNames(client)).filter((name) => guarded.includes(name));
    expect(await offered(everything)).toEqual([]);
    expect(await offered(alone)).toEqual([]);
    expect(await offered(both)).toEqual(guarded);
    expect(everything.getInstructions()).toContain("This key cannot send");
    expect(both.getInstructions()).toContain("This key may send");
  });

  test("of a selection are exactly its own; an unknown name is refused", async () => {
    const some = await toolNames(await connect(["*:*"], "?tools=dkims,getMessage"));
    expect(some.toSorted()).toEqual([
      "createDkimKey",
      "deleteDkimKey",
      "getMessage",
      "listDkimKeys",
      "verifyDkimKeyDns",
    ]);
    const all = await toolNames(await connect(["*:*"], "?tools=all"));
    expect(all.length).toBeGreaterThan(120);
    expect(all).not.toContain("searchOperations");
    expect(await toolNames(await connect(["*:*"], "?tools=all,dkims"))).toEqual(all);
    for (const selection of ["dkims,cats", "all,cats"]) {
      const answer = await post(request("tools/list"), {}, `?tools=${selection}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: expect.stringContaining('unknown names "cats". Use'),
      });
    }
    const misspelt = await post(request("tools/list"), {}, "?tool=all");
    expect(misspelt.status).toBe(400);
    expect(await misspelt.json()).toMatchObject({
      error: "tool is not a known query parameter: did you mean tools?",
    });
  });

  test("of creations are additive, unless they reach people or cost money", async () => {
    const { tools } = await (await connect(["*:*", "mcp:send"], "?tools=all")).listTools();
    const additive = tools.filter(({ annotations }) => annotations?.destructiveHint === false);
    const names = additive.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["createApiKey", "createCampaign"]));
    for (const name of ["sendEmail", "deleteApiKey", "createTopUp"]) expect(names).not.toContain(name);
  });

  test("never are those of people, nor those with files or streams", async () => {
    const all = await toolNames(await connect(["*:*", "mcp:send"], "?tools=all"));
    for (const name of [
      "signIn",
      "getMe",
      "suspendWorkspace",
      "importSubscribers",
      "exportAuditEvents",
      "streamEvents",
    ]) {
      expect(all).not.toContain(name);
    }
  });
});

test("an assistant finds a message, and reads its answer as structured content", async () => {
  const { body } = await service.call("POST", "/emails/send", {
    from_email: "news@shop.test",
    to: "ada@shop.test",
    subject: "Your bicycle",
    body: "<p>Here it is</p>",
  });
  const client = await connect(["*:read"]);
  const found = await callTool(client, "listMessages", { search: "ada@shop.test", limit: 5 });
  expect(found.isError).toBe(false);
  expect(found.content.data.messages).toMatchObject([{ id: body.data.id }]);
  expect(JSON.parse(found.text)).toEqual(found.content);
  const one = await callTool(client, "getMessage", { id: body.data.id });
  expect(one.content.data).toMatchObject({ id: body.data.id, subject: "Your bicycle" });
});

test("an error of the API is an error of the tool, with its sentence and its fields", async () => {
  const client = await connect(["*:*"]);
  const unknown = await callTool(client, "getMessage", { id: "00000000-0000-7000-8000-000000000000" });
  expect(unknown).toMatchObject({ isError: true, text: "NOT_FOUND: Message not found" });
  const wrong = await callTool(client, "listMessages", { status: "lost" });
  expect(wrong.content).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "status" }] });
  const without = await callTool(client, "getMessage");
  expect(without).toMatchObject({ isError: true, text: "VALIDATION_ERROR: id is required (id)" });
  const absent = await callTool(client, "makeCoffee");
  expect(absent.text).toContain("There is no operation");
});

describe("a campaign", () => {
  test("is prepared, checked and not sent without mcp:send, whatever the tool", async () => {
    const client = await connect(["*:*"]);
    const made = await callTool(client, "createCampaign", draft());
    const { id } = made.content.data;
    const changed = await callTool(client, "updateCampaign", {
      id,
      subject: "Sale",
      if_match: made.content.etag,
    });
    expect(changed.content.data.subject).toBe("Sale");
    const stale = await callTool(client, "updateCampaign", {
      id,
      subject: "No",
      if_match: made.content.etag,
    });
    expect(stale.content.code).toBe("PRECONDITION_FAILED");
    const shown = await callTool(client, "renderContent", { campaign_id: id });
    expect(JSON.stringify(shown.content.data)).toContain("Our summer sale");
    const checked = await callTool(client, "checkCampaign", { id });
    expect(checked.isError, checked.text).toBe(false);
    expect(checked.content.data.audience).toMatchObject({ will_send: 1 });
    for (const [tool, input] of [
      ["sendCampaign", { id }],
      ["sendOperation", { operation: "sendCampaign", input: { id } }],
    ] as const) {
      const refused = await callTool(client, tool, input);
      expect(refused.isError).toBe(true);
      expect(refused.content).toMatchObject({ code: "INSUFFICIENT_SCOPE", required_scopes: ["mcp:send"] });
    }
    const other = await callTool(client, "changeOperation", { operation: "sendCampaign", input: { id } });
    expect(other.text).toContain("Call sendCampaign with sendOperation");
    expect((await service.call("GET", `/campaigns/${id}`)).body.data.status).toBe("draft");
  });

  test("is sent with mcp:send, and the audit log says that it came by MCP", async () => {
    const client = await connect(["campaigns:*", "mcp:send"]);
    const { id } = (await callTool(client, "createCampaign", draft())).content.data;
    const sent = await callTool(client, "sendCampaign", { id, idempotency_key: "june" });
    expect(sent.isError, sent.text).toBe(false);
    expect(sent.content.data.status).not.toBe("draft");
    const again = await callTool(client, "sendCampaign", { id, idempotency_key: "june" });
    expect(again.isError, again.text).toBe(false);
    const { body } = await service.call("GET", "/audit-events?operation=sendCampaign");
    expect(body.data).toMatchObject([
      { operation: "sendCampaign", actor: { kind: "key" }, agent: "MCP an assistant" },
    ]);
  });
});

test("an id such as `..` does not turn a call into another one that needs mcp:send", async () => {
  const client = await connect(["*:*"], "?tools=all");
  const victim = await newList(database, workspaceId, "Kept");
  const hook = { url: "https://hooks.example/in", events: ["message.delivered"] };
  const webhook = (await service.call("POST", "/webhooks", hook)).body.data.id;
  for (const [tool, id, below] of [
    ["removeMember", victim, "subscriber_id"],
    ["deleteSegment", victim, "segment_id"],
    ["deleteCustomField", victim, "field_id"],
    ["replayWebhookDelivery", webhook, "delivery_id"],
  ] as const) {
    for (const bad of ["..", "."]) {
      const refused = await callTool(client, tool, { id, [below]: bad });
      expect(refused.text, tool).toBe(`VALIDATION_ERROR: ${below} must be a UUID (${below})`);
    }
  }
  expect((await service.call("GET", `/mailing-lists/${victim}`)).status).toBe(200);
});

test("a monitor, whose runs cost money, is neither made nor resumed without mcp:send", async () => {
  const client = await connect(["*:*"]);
  const { id } = (await service.call("POST", "/blacklist/monitors", { target: "watched.example" })).body.data;
  for (const [operation, input] of [
    ["createBlacklistMonitor", { target: "other.example" }],
    ["updateBlacklistMonitor", { id, frequency_minutes: 60 }],
  ] as const) {
    const refused = await callTool(client, "changeOperation", { operation, input });
    expect(refused.isError, operation).toBe(true);
    const called = await callTool(client, "sendOperation", { operation, input });
    expect(called.content.required_scopes, operation).toEqual(["mcp:send"]);
  }
  const monitors = await callTool(client, "readOperation", { operation: "listBlacklistMonitors" });
  expect(monitors.content.data).toHaveLength(1);
});

test("a key without mcp:send cannot give it to itself or to another key", async () => {
  const secret = await service.newKey(["*:*"], "Assistant");
  const client = await connectMcp(url, secret);
  const keys = await callTool(client, "readOperation", { operation: "listApiKeys" });
  const own = keys.content.data.find(({ name }: { name: string }) => name === "Assistant");
  for (const [operation, input] of [
    ["updateApiKey", { id: own.id, permissions: ["*:*", "mcp:send"] }],
    ["createApiKey", { name: "Other", permissions: ["mcp:send"] }],
    ["createRole", { name: "Other", permissions: ["mcp:send"] }],
  ] as const) {
    const refused = await callTool(client, "sendOperation", { operation, input });
    expect(refused.content.required_scopes).toEqual(["mcp:send"]);
  }
});

test("the owner of a workspace may give mcp:send to a key, which `*:*` holds only to give", async () => {
  const made = await service.call("POST", "/api-keys", {
    name: "Bot",
    permissions: ["reports:read", "mcp:send"],
  });
  expect(made.status, made.body.error).toBe(201);
  const narrow = await service.newKey(["api_keys:write", "emails:send"]);
  const refused = await service.call(
    "POST",
    "/api-keys",
    { name: "No", permissions: ["mcp:send"] },
    { key: narrow },
  );
  expect(refused.body).toMatchObject({ code: "INSUFFICIENT_SCOPE", required_scopes: ["mcp:send"] });
});

test("operations that are no tools of their own are found by words, and called", async () => {
  const client = await connect(["*:*"]);
  const found = await callTool(client, "searchOperations", { query: "create suppression list" });
  const [first] = found.content.operations;
  expect(first).toMatchObject({ operation: "createSuppressionList", call_with: "changeOperation" });
  expect(first.input.required).toContain("name");
  const made = await callTool(client, "changeOperation", {
    operation: first.operation,
    input: { name: "Rivals" },
  });
  expect(made.content.data.name).toBe("Rivals");
  const listed = await callTool(client, "readOperation", { operation: "listSuppressionLists" });
  expect(listed.text).toContain("Rivals");
  const { operations } = (await callTool(client, "searchOperations")).content;
  expect(operations).toContain("getBillingUsage");
  expect(operations).not.toContain("createTopUp");
});

test("the tools that find and call operations refuse names that they do not know", async () => {
  const client = await connect(["*:*"]);
  const refusals = [
    [
      "searchOperations",
      { words: "template" },
      "words is not a known field: searchOperations takes query and limit",
    ],
    [
      "readOperation",
      { operation: "getTemplate", arguments: { id: newId() } },
      "arguments is not a known field: readOperation takes operation and input",
    ],
    [
      "changeOperation",
      { operation: "createSuppressionList", name: "Rivals" },
      "name is not a known field: changeOperation takes operation and input",
    ],
  ] as const;
  for (const [tool, input, sentence] of refusals) {
    expect((await callTool(client, tool, input)).text).toContain(`VALIDATION_ERROR: ${sentence}`);
  }
});

test("a large answer is shortened, and says how to get the rest", async () => {
  const addresses = Array.from({ length: 2_000 }, (_, at) => ({ email: `person-${at}@example.com` }));
  await addPeople(database, workspaceId, await newList(database, workspaceId, "Many"), addresses);
  const client = await connect(["*:read"]);
  const { content, text } = await callTool(client, "listSubscribers", { limit: 200 });
  expect(text.length).toBeLessThan(70_000);
  expect(content.shortened).toMatch(/`data\.subscribers` has only the first \d+ of 200 rows/);
  expect(content.data.pagination.next_cursor).toBeUndefined();
  const kept = content.data.subscribers.length;
  const page = await callTool(client, "listSubscribers", { limit: kept });
  expect(page.content.shortened).toBeUndefined();
  const rest = await callTool(client, "listSubscribers", {
    limit: kept,
    after: page.content.data.pagination.next_cursor,
  });
  expect(rest.content.data.subscribers[0].id).not.toBe(page.content.data.subscribers[0].id);
});

test("an answer of more than 4 MiB is refused in one sentence", async () => {
  // Three octets each.
  const html_content = `<p>${"€".repeat(1_500_000)}</p>`;
  const { body } = await service.call("POST", "/campaigns", { ...draft(), html_content });
  const { id } = body.data;
  const { content } = await callTool(await connect(["*:read"]), "getCampaign", { id });
  expect(content).toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    error: expect.stringContaining("The answer has more than 4 MiB"),
  });
});

test("a fault is logged, and its text is not told to the assistant", async () => {
  const fault = new Error("select secret from keys");
  const faults: unknown[] = [];
  const asked = new Request(`${url}/mcp`, {
    method: "POST",
    headers: { Accept: "application/json, text/event-stream", "Content-Type": "application/json" },
  });
  const permissions = ["*:read"];
  const answer = await answerMcp(asked, request("tools/call", { name: "listCampaigns" }), {
    tools: new Toolset(endpointsForDocs()).offer(permissions, undefined),
    permissions,
    send: () => Promise.reject(fault),
    onFault: (one) => faults.push(one),
  });
  const { result } = (await answer.json()) as { readonly result: object };
  expect(result).toMatchObject({ isError: true, structuredContent: { code: "INTERNAL_ERROR" } });
  expect(JSON.stringify(result)).not.toContain("secret");
  expect(faults).toEqual([fault]);
});

describe("a request is refused", () => {
  test("without a key, with a wrong one, and with one that was deactivated", async () => {
    const none = await post(request("tools/list"), { Authorization: "" });
    expect(none.status).toBe(401);
    expect(none.headers.get("www-authenticate")).toContain("Bearer");
    expect(
      (await post(request("tools/list"), { Authorization: "Bearer efk_00000000000000000000" })).status,
    ).toBe(401);
  });

  test("from a page of another site, also when its name points to this machine", async () => {
    const foreign = await post(request("tools/list"), { Origin: "http://rebound.example:8080" });
    expect(foreign.status).toBe(403);
    expect((await post(request("tools/list"), { Origin: url })).status).toBe(200);
  });

  test("with a body above the limit, or that is no message", async () => {
    const large = await post(
      request("tools/call", { name: "getMessage", arguments: { id: "x".repeat(1_100_000) } }),
    );
    expect(large.status).toBe(413);
    expect((await post("{")).status).toBe(400);
    expect((await post({ cats: 1 })).status).toBe(400);
  });

  test("with parameters of a wrong shape, as a fault of the caller and in words, also in a batch", async () => {
    const code = -32602;
    const one = await post(request("tools/call", { name: "getMessage", arguments: [] }));
    expect(await one.json()).toMatchObject({
      error: { code, message: expect.stringMatching(/^Invalid params. params.arguments: [^{]*$/) },
    });
    const two = await post([request("tools/list", { cursor: 7 }, 1), request("ping", {}, 2)]);
    expect(await two.json()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, error: expect.objectContaining({ code }) }),
        expect.objectContaining({ id: 2, result: {} }),
      ]),
    );
  });

  test("with another method: there are no sessions to open or to close", async () => {
    for (const method of ["GET", "DELETE"]) expect((await fetch(`${url}/mcp`, { method })).status).toBe(405);
  });

  test("with more calls in one batch than a key may have under way; others of the key are answered", async () => {
    const many = Array.from({ length: limits.assistantCalls.most + 1 }, (_, id) => request("ping", {}, id));
    const refused = await post(many);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: expect.stringContaining("AI assistants") });
    const some = await post(many.slice(1));
    expect(await some.json()).toHaveLength(limits.assistantCalls.most);
  });
});

test("a suspended workspace reads and does not change", async () => {
  const other = await service.newWorkspace();
  await database.run(sql`update workspaces set is_suspended = true where id = ${other.workspaceId}`);
  const client = await connectMcp(url, other.key);
  expect((await callTool(client, "listCampaigns")).isError).toBe(false);
  expect((await callTool(client, "createCampaign", draft())).content.code).toBe("SERVICE_SUSPENDED");
});
