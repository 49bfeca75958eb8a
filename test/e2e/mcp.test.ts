/** `posthaste mcp` as an assistant starts it, with the official client: explaining a bounce of the real program. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { callTool, toolNames } from "#test/support/mcp.ts";
import { launcherOf } from "#test/support/release.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({ env: { SMTP_PORT: String(mx.port) }, zone: mailDomain("example.test") });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

async function newKey(permissions: readonly string[]): Promise<string> {
  const { body } = await scene.program.call("POST", "/api-keys", { name: "Assistant", permissions });
  return body.data.key;
}

/** Starts the command until the end of the test. */
async function startAssistant(key: string, words: readonly string[] = []): Promise<Client> {
  const { PATH = "" } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [launcherOf(), "mcp", ...words],
    env: { PATH, POSTHASTE_URL: scene.program.url, POSTHASTE_KEY: key },
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

test("an assistant finds a bounced message and reads what the mail server said", async () => {
  const id = await scene.send("unknown@example.test");
  await scene.messageWhen("bounced", id);
  const client = await startAssistant(await newKey(["*:read"]));
  const found = await callTool(client, "listMessages", { status: "bounced", search: "unknown@example.test" });
  expect(found.content.data.messages).toMatchObject([{ id }]);
  const { content } = await callTool(client, "getMessage", { id });
  expect(content.data.error_message).toBe("550 5.1.1 No such user here");
  const { conversation } = content.data.timeline.at(-1);
  const said = conversation.map(({ from, text }: { from: string; text: string }) => `${from}: ${text}`);
  expect(said).toContain("client: RCPT TO:<unknown@example.test>");
  expect(said).toContain("server: 550 5.1.1 No such user here");
});

test("an email is sent only with mcp:send; the tools are those of the selection", async () => {
  const email = { to: "ann@example.test", subject: "Hello", body: "<p>Hello</p>" };
  const [careful, trusted] = await Promise.all([
    newKey(["emails:send"]).then((key) => startAssistant(key)),
    newKey(["emails:send", "mcp:send"]).then((key) => startAssistant(key, ["--tools", "emails"])),
  ]);
  const refused = await callTool(careful, "sendOperation", { operation: "sendEmail", input: email });
  expect(refused).toMatchObject({ isError: true, content: { required_scopes: ["mcp:send"] } });
  expect(await toolNames(trusted)).toEqual(["sendEmail", "createEmail", "createEmailBatch", "cancelEmail"]);
  const sent = await callTool(trusted, "sendEmail", { ...email, idempotency_key: "hello" });
  expect(sent.isError, sent.text).toBe(false);
  await scene.messageWhen("delivered", sent.content.data.id);
  expect(mx.messages.filter(({ rcptTo }) => rcptTo === "ann@example.test")).toHaveLength(1);
});

test("a key that does not work ends the connection with the sentence of the API", async () => {
  await expect(startAssistant("efk_00000000000000000000")).rejects.toThrow("The API key is not valid");
});
