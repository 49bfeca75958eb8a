/** The operator's commands while the service runs. */
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";

const scene = await openScene({ env: { MAIL_MODE: "capture" } });
const { program } = scene;
afterAll(() => scene[Symbol.asyncDispose]());

const email = { to: "ada@example.test", subject: "Hello", body: "Hello" };

test("workspace create gives a key that works at once and reads no data of other workspaces", async () => {
  const foreign = await scene.send("bob@example.test");
  const printed = await program.command(
    "workspace",
    "create",
    "--name",
    "Second",
    "--plan",
    "enterprise",
    "--json",
  );
  const { id, key } = JSON.parse(printed);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const sent = await program.call("POST", "/emails/send", email, { key });
  expect(sent.status).toBe(201);
  const { body } = await program.call("GET", "/messages", undefined, { key });
  expect(body.data.messages.map((message: { id: string }) => message.id)).toEqual([sent.body.data.id]);
  expect((await program.call("GET", `/messages/${foreign}`, undefined, { key })).status).toBe(404);
});

test("key create gives a key with exactly the given permissions", async () => {
  const workspace = JSON.parse(await program.command("workspace", "create", "--name", "Third", "--json"));
  const options = ["--workspace", workspace.id, "--name", "Sender", "--permissions", "emails:send", "--json"];
  const { key } = JSON.parse(await program.command("key", "create", ...options));
  expect((await program.call("POST", "/emails/send", email, { key })).status).toBe(201);
  const refused = await program.call("GET", "/messages", undefined, { key });
  expect(refused.status).toBe(403);
  expect(refused.body.required_scopes).toEqual(["reports:read"]);
});

test("workspace suspend stops sending in the running service, and workspace resume starts it again", async () => {
  const { id, key } = JSON.parse(await program.command("workspace", "create", "--name", "Fourth", "--json"));
  const untilAnsweredWith = (status: number) =>
    eventually(`a message to be answered with ${status}`, async () => {
      return (await program.call("POST", "/emails/send", email, { key })).status === status;
    });
  await untilAnsweredWith(201);
  await program.command("workspace", "suspend", "--workspace", id);
  await untilAnsweredWith(403);
  await program.command("workspace", "resume", "--workspace", id);
  await untilAnsweredWith(201);
});
