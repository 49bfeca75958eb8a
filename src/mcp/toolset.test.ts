import { expect, test } from "vitest";
import { isGuarded, outwardOf } from "#platform/http/assistant-permission.ts";
import { nilId } from "#platform/ids.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { requestOf } from "./api-call.ts";
import { idsIn } from "./input-schemas.ts";
import { isForAssistants } from "./operation-tool.ts";
import { Toolset } from "./toolset.ts";

const endpoints = endpointsForDocs();
const toolset = new Toolset(endpoints);
const { definitions } = toolset.offer(["*:*", "mcp:send"], "all");

test("every tool has a name, a description and an input that is a plain object without references", () => {
  for (const { name, description, inputSchema } of definitions) {
    expect(name).toMatch(/^[a-zA-Z]{1,64}$/);
    expect(description, name).toMatch(/\w{3}.*\./s);
    expect(inputSchema.type, name).toBe("object");
    expect(JSON.stringify(inputSchema), name).not.toMatch(/"\$ref"|"\$id"|"x-/);
  }
});

test("the everyday tools fit into the context of a model", () => {
  const everyday = toolset.offer(["*:*", "mcp:send"], undefined).definitions;
  expect(everyday.length).toBeLessThan(35);
  expect(JSON.stringify(everyday).length).toBeLessThan(80_000);
});

test("descriptions name other operations, not their paths", () => {
  const created = definitions.find(({ name }) => name === "createCampaign");
  expect(created?.description).toContain("sendCampaign sends it");
});

test("no id of a path leads to another path", () => {
  const withIds = endpoints.filter((one) => isForAssistants(one) && idsIn(one.path).length > 0);
  expect(withIds.length).toBeGreaterThan(70);
  for (const endpoint of withIds) {
    const names = idsIn(endpoint.path);
    const good = Object.fromEntries(names.map((name) => [name, nilId]));
    const [path] = requestOf(endpoint, good).path.split("?");
    expect(new URL(`http://x${path}`).pathname).toBe(endpoint.path.replaceAll(/\{\w+\}/g, nilId));
    for (const name of names) {
      for (const bad of [".", "..", "%2e%2e", "", "/", `${nilId}/..`, `${nilId}?`, 7, null, [nilId]]) {
        const call = () => requestOf(endpoint, { ...good, [name]: bad });
        expect(call, `${endpoint.id} ${name} ${JSON.stringify(bad)}`).toThrow(
          expect.objectContaining({
            code: "VALIDATION_ERROR",
            details: [expect.objectContaining({ field: name })],
          }),
        );
      }
    }
  }
});

test("everything that sends, spends or must be confirmed needs mcp:send", () => {
  const guarded = endpoints.filter((one) => isForAssistants(one) && isGuarded(one));
  const of = (kind: string) => guarded.filter((one) => outwardOf(one) === kind).map(({ id }) => id);
  expect(of("sends").toSorted()).toEqual(
    [
      "activateAutoresponder",
      "addMember",
      "createShareLink",
      "createEmail",
      "createEmailBatch",
      "inviteTeammate",
      "replaceAutoresponder",
      "resendInvitation",
      "resendVerifiedSenderLink",
      "resumeCampaign",
      "retryMessage",
      "runBulkAction",
      "sendCampaign",
      "sendEmail",
      "setMemberStatus",
      "testAutoresponder",
      "testCampaign",
      "createWebhook",
      "testTemplate",
      "updateWebhook",
      "updateCampaignLink",
      "createVerifiedSender",
      "updateMember",
    ].toSorted(),
  );
  expect(of("spends").toSorted()).toEqual([
    "checkBlacklists",
    "createBlacklistMonitor",
    "createTopUp",
    "subscribe",
    "updateBlacklistMonitor",
    "validateEmail",
  ]);
  expect(of("nothing").every((id) => endpoints.find((one) => one.id === id)?.confirmed)).toBe(true);
  expect(of("nothing")).toContain("createApiKey");
});

test("no operation with `send` in its permission is free for assistants, except those that end sending", () => {
  const free = endpoints.filter(
    (one) => typeof one.needs !== "string" && one.needs.action === "send" && !isGuarded(one),
  );
  expect(free.map(({ id }) => id).toSorted()).toEqual([
    "cancelCampaign",
    "cancelEmail",
    "cancelMessage",
    "deactivateAutoresponder",
    "pauseCampaign",
    "unscheduleCampaign",
  ]);
});
