import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { version } from "#platform/version.ts";
import type { Role } from "#processes/roles.ts";
import { newList } from "#test/support/audience.ts";
import { newDatabase } from "#test/support/database.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { subscribe } from "#workspace/billing/subscribe.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { runCli } from "./program.ts";

const service = await startService();
const served: (readonly Role[])[] = [];

/** Runs a command line (split at blanks) beside the running service, unless the environment says otherwise. */
async function run(
  line: string,
  environment: Record<string, string> = { DATABASE_URL: service.database.url },
) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const code = await runCli(line === "" ? [] : line.split(" "), {
    stdout: output("stdout"),
    stderr: output("stderr"),
    environment,
    endpoints: () => service.api.endpoints,
    serve: async (roles) => void served.push(roles),
  });
  return { code, ...written };
}

/** The JSON that a command answers. */
async function answer(line: string, environment?: Record<string, string>) {
  const { code, stdout, stderr } = await run(`${line} --json`, environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const make = (more = "") => answer(`workspace create --name Acme${more}`);
const keysOf = (key: string) => service.call("GET", "/api-keys", undefined, { key });

test("a workspace is made while the service runs, and its key works", async () => {
  const made = await make(" --plan scale --timezone Europe/Paris");
  expect(made).toMatchObject({ name: "Acme", plan: "scale", timezone: "Europe/Paris", is_suspended: false });
  const { status, body } = await keysOf(made.key);
  expect(status).toBe(200);
  expect(body.data).toMatchObject([{ permissions: ["*:*"] }]);
  expect((await run("workspace list")).stdout).toContain(`${made.id}  Acme`);
});

test("without --json the workspace is a table and the key is printed once", async () => {
  const { stdout } = await run("workspace create --name Plain");
  expect(stdout).toMatch(/^ID +NAME +PLAN +PLAN SET +TIMEZONE/);
  expect(stdout.match(/efk_[0-9A-Za-z]{40}/g)).toHaveLength(1);
  expect((await run("workspace list")).stdout).not.toContain("efk_");
});

test("what is set on a workspace is set one by one", async () => {
  const { id, created_at } = await make();
  const made = { id, created_at, name: "Acme", plan: "free", timezone: "UTC", hourly_cap: null };
  const set = (options: string) => answer(`workspace set --workspace ${id} ${options}`);
  expect(await set("--hourly-cap 100")).toMatchObject({ ...made, hourly_cap: 100 });
  expect(await set("--plan growth")).toMatchObject({ ...made, hourly_cap: 100, plan: "growth" });
  expect(await set("--notify-email ops@Acme.example")).toMatchObject({ notify_email: "ops@acme.example" });
  expect(await set("--default-sender shop@Acme.example")).toMatchObject({
    default_sender: "shop@acme.example",
  });
  expect(await set("--retry-hours 24")).toMatchObject({
    default_sender: "shop@acme.example",
    retry_hours: 24,
  });
  expect(await set("--track-transactional on")).toMatchObject({
    tracks_transactional: true,
    retry_hours: 24,
  });
  expect(await set("--track-transactional off")).toMatchObject({ tracks_transactional: false });
  const last = await set("--hourly-cap none --timezone Asia/Tokyo --notify-email none --default-sender none");
  expect(last).toMatchObject({ ...made, plan: "growth", timezone: "Asia/Tokyo", notify_email: null });
  expect(last).toMatchObject({ default_sender: null, retry_hours: 24 });
  expect(await answer("workspace list")).toContainEqual(last);
});

test("of a subscriber the plan in force is shown, and what was set beside it, until another is set", async () => {
  const { id } = await make();
  await service.database.transaction(async (tx) => {
    const money = { amount: "35.00", gateway: "manual", description: "" } as const;
    await topUp(tx, plans, id, money, service.clock.now());
    await subscribe(tx, plans, id, { plan_id: "growth", billing_interval: undefined }, service.clock.now());
  });
  const subscribed = { id, plan: "growth", plan_set: "free" };
  expect(await answer("workspace list")).toContainEqual(expect.objectContaining(subscribed));
  expect((await run("workspace list")).stdout).toMatch(new RegExp(`${id}  Acme .*growth +free`));
  const set = (options: string) => answer(`workspace set --workspace ${id} ${options}`);
  expect(await set("--hourly-cap 100")).toMatchObject(subscribed);
  expect(await set("--plan scale")).toMatchObject({ plan: "scale", plan_set: null });
});

test("a domain that the operator switches off sends nothing until it is on again", async () => {
  await service.database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${service.workspaceId}, ${newId()}, 'xn--bcher-kva.test', 'v', 'd', true, now())`);
  const mail = { to: "a@b.test", subject: "Hello", body: "Hello", from_email: "news@xn--bcher-kva.test" };
  const send = async () => (await service.call("POST", "/emails/send", mail)).status;
  expect(await send()).toBe(201);
  const off = { workspace_id: service.workspaceId, domain: "xn--bcher-kva.test", is_verified: true };
  expect(await answer("domain off --domain Bücher.test")).toEqual([{ ...off, is_active: false }]);
  expect(await send()).toBe(400);
  expect((await run(`domain on --domain bücher.test --workspace ${newId()}`)).code).toBe(1);
  expect(await send()).toBe(400);
  expect(await answer(`domain on --domain bücher.test --workspace ${service.workspaceId}`)).toEqual([
    { ...off, is_active: true },
  ]);
  expect(await send()).toBe(201);
});

test("a domain that no workspace has is switched off for workspaces that add it later, and the command says so", async () => {
  expect((await run("domain off --domain later.test")).stdout).toMatch(
    /^No workspace has the sending domain later\.test now\. .* that add it later/,
  );
  const added = await service.call("POST", "/sending-domains", { domain: "later.test" });
  expect(added.body.data).toMatchObject({ domain: "later.test", is_active: false });
  expect(await answer("domain on --domain later.test")).toMatchObject([{ is_active: true }]);
});

test("a running service notices a suspension and its end within two seconds", async () => {
  const { id, key } = await make();
  const write = () => service.call("POST", "/api-keys", { name: "New", permissions: ["*:*"] }, { key });
  expect((await write()).status).toBe(201);
  await run(`workspace suspend --workspace ${id}`);
  service.clock.advance(2_000);
  expect((await write()).body.code).toBe("SERVICE_SUSPENDED");
  expect((await keysOf(key)).status).toBe(200);
  await run(`workspace resume --workspace ${id}`);
  service.clock.advance(2_000);
  expect((await write()).status).toBe(201);
});

test("a key is made for a workspace that has lost its last one", async () => {
  const { id, key } = await make();
  const [own] = (await keysOf(key)).body.data;
  const last = await service.call("DELETE", `/api-keys/${own.id}/permanent`, undefined, { key });
  expect(last.status).toBe(409);
  await service.call("PUT", `/api-keys/${own.id}`, { name: "Lost" }, { key });
  await service.call("POST", `/api-keys/${own.id}/regenerate`, undefined, { key });
  expect((await keysOf(key)).status).toBe(401);
  const line = `key create --workspace ${id} --name Rescue --permissions api_keys:write,api_keys:read`;
  const rescue = await answer(`${line} --expires 2099-01-31T12:00:00+02:00`);
  expect(rescue).toMatchObject({
    name: "Rescue",
    permissions: ["api_keys:write", "api_keys:read"],
    expires_at: "2099-01-31T10:00:00.000Z",
  });
  expect((await keysOf(rescue.key)).status).toBe(200);
  expect((await run(line)).stdout.match(/efk_[0-9A-Za-z]{40}/g)).toHaveLength(1);
});

test("the keys of a workspace are listed without secrets, and a revoked one ends also if it is the last", async () => {
  const { id, key } = await make();
  const [listed, ...others] = await answer(`key list --workspace ${id}`);
  expect([listed, others]).toMatchObject([{ permissions: ["*:*"], is_active: true }, []]);
  expect(listed).not.toHaveProperty("key");
  expect((await run(`key list --workspace ${id}`)).stdout).toMatch(/^ID +NAME +PERMISSIONS +KEY PREFIX/);
  expect(await answer(`key revoke ${listed.id} --workspace ${id}`)).toEqual({ ...listed, is_active: false });
  service.clock.advance(2_000);
  expect((await keysOf(key)).status).toBe(401);
  expect(await answer(`key list --workspace ${id}`)).toMatchObject([{ id: listed.id, is_active: false }]);
  const events = await service.database.rows(sql`
    select operation, resource_kind, resource_id, result from audit_events
    where workspace_id = ${id} and operation like 'key %'`);
  expect(events).toEqual([
    { operation: "key revoke", resource_kind: "key", resource_id: listed.id, result: "done" },
  ]);
});

test("a key command needs no --workspace where there is one workspace, and says that it does where there are several", async () => {
  await using empty = await newDatabase();
  const own = { DATABASE_URL: empty.url };
  expect((await run("key list", own)).stderr).toContain("the database has no workspace");
  const { id } = await answer("workspace create --name Acme", own);
  const [listed] = await answer("key list", own);
  expect((await run(`key revoke ${listed.id}`, own)).stdout).toContain("The key is revoked");
  const events = await empty.rows(sql`select workspace_id from audit_events where operation = 'key revoke'`);
  expect(events).toEqual([{ workspace_id: id }]);
  await answer("workspace create --name Another", own);
  expect(await run("key list", own)).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "error: there are several workspaces: add --workspace ID; `npm run -s posthaste -- workspace list` shows their ids\n",
  });
});

test("a key is not revoked through another workspace", async () => {
  const [one, other] = [await make(), await make()];
  const [listed] = await answer(`key list --workspace ${one.id}`);
  const failed = await run(`key revoke ${listed.id} --workspace ${other.id}`);
  expect(failed).toEqual({ code: 1, stdout: "", stderr: "error: API key not found\n" });
  expect((await keysOf(one.key)).status).toBe(200);
});

test("--version prints the version of the program", async () => {
  expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.each([
  ["", "Usage"],
  ["nonsense", "nonsense"],
  ["workspace create", "--name"],
  ["workspace create --name Acme --plan gold", "free, growth, scale, enterprise"],
  ["workspace create --name Acme --timezone Mars/Olympus", "IANA"],
  ["workspace create --name Acme --colour red", "--colour"],
  [`workspace set --workspace ${newId()}`, "at least one"],
  [`workspace set --workspace ${newId()} --hourly-cap 0`, "whole number"],
  [`workspace set --workspace ${newId()} --notify-email nobody`, "with an @"],
  [`workspace set --workspace ${newId()} --default-sender nobody`, "with an @"],
  [`workspace set --workspace ${newId()} --retry-hours 169`, "from 1 to 168"],
  ["workspace suspend --workspace 7", "UUID"],
  [`key create --workspace ${newId()} --name Key --permissions nonsense:read`, "nonsense:read"],
  [`key create --workspace ${newId()} --name Key --permissions *:* --expires 2020-01-01`, "future"],
  [`key revoke 7 --workspace ${newId()}`, "UUID"],
  ["migrate-from postal suppressions.csv", "name what to read with --from: --from suppressions.csv"],
  ["lists refresh --list cooking --from list.txt", "disposable"],
  ["serve --roles api,cooking", "api, delivery, jobs, inbound"],
])("%j is wrong usage", async (line, word) => {
  const { code, stdout, stderr } = await run(line);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(word);
});

test.each([
  "workspace set --plan free",
  "workspace suspend",
  "key list",
  "key create --name Key --permissions *:*",
])("%s says that there is no such workspace", async (line) => {
  const failed = await run(`${line} --workspace ${newId()}`);
  expect(failed).toEqual({ code: 1, stdout: "", stderr: "error: Workspace not found\n" });
});

test("a database that cannot be reached is one sentence", async () => {
  const { code, stderr } = await run("workspace list", {
    DATABASE_URL: "postgresql://nobody@localhost:1/none",
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: [^\n]*ECONNREFUSED[^\n]*\n$/);
});

test("help is no error", async () => {
  expect(await run("--help")).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringContaining("workspace"),
  });
});

test("serve is handed the roles it was told, or all", async () => {
  await run("serve");
  await run("serve --roles delivery,api,delivery");
  expect(served).toEqual([
    ["api", "delivery", "jobs", "inbound"],
    ["delivery", "api"],
  ]);
});

test("config shows values and defaults and hides secrets", async () => {
  const secret = `efk_${"s".repeat(40)}`;
  const { code, stdout } = await run("config", { PORT: "9090", BOOTSTRAP_API_KEY: secret });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^PORT +9090 /m);
  expect(stdout).toMatch(/^HOST +127\.0\.0\.1 /m);
  expect(stdout).toMatch(/^BOOTSTRAP_API_KEY +\(hidden\) /m);
  expect(stdout).toMatch(/^SECRET_KEY +- /m);
  expect(stdout).not.toContain(secret);
});

test("refused settings are named", async () => {
  const { code, stderr } = await run("config", { PORT: "many" });
  expect([code, stderr]).toEqual([1, expect.stringContaining("PORT must be a whole number")]);
});

test("without a service a command runs the embedded database for itself, and joins it when it runs", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const environment = { DATA_DIR: dataDir };
  expect((await run("migrate", environment)).stdout).toContain("0001-workspaces.sql");
  expect((await run("migrate", environment)).stdout).toBe("The schema is up to date.\n");
  const first = await answer("workspace create --name First", environment);

  const running = await startEmbedded({ dataDir, log: createLog("silent") });
  try {
    const second = await answer("workspace create --name Second", environment);
    const workspaces: { id: string }[] = await answer("workspace list", environment);
    expect(workspaces.map(({ id }) => id)).toEqual([first.id, second.id]);
  } finally {
    await running.stop();
  }
});

test.each([
  "user list",
  "user disconnect a@b.example",
  "workspace list",
  "domain off --domain b.example",
  "secret-key list",
  "secret-key accept",
  "key list",
  "key revoke 019e0000-0000-7000-8000-000000000000",
  "mail list",
  "doctor --counters",
])("%s makes no installation in a wrong DATA_DIR", async (line) => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { code, stderr } = await run(line, { DATA_DIR: join(folder, "wrong") });
  expect([code, stderr]).toEqual([1, expect.stringContaining("wrong has no database: set the DATA_DIR")]);
  expect(await readdir(folder)).toEqual([]);
});

test("the address of the inbox has the token of the service, and a folder without one gets none", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const environment = { DATA_DIR: dataDir, PORT: "9090" };
  for (const line of ["inbox", "inbox --token"]) {
    expect(await run(line, environment)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: No inbox token in ${dataDir}: run this command with the DATA_DIR and PORT of the service\n`,
    });
  }
  expect(await readdir(dataDir)).toEqual([]);

  await writeFile(join(dataDir, "inbox.token"), "of-the-service\n");
  expect((await run("inbox", environment)).stdout).toBe("http://127.0.0.1:9090/inbox?token=of-the-service\n");
  expect((await run("inbox --token", environment)).stdout).toBe("of-the-service\n");
});

test("a newer list of disposable domains is taken, and a page is not", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const [list, page] = [join(dataDir, "list.txt"), join(dataDir, "page.html")];
  await writeFile(list, Array.from({ length: 150 }, (_, at) => `d${at}.example`).join("\n"));
  await writeFile(page, "<html></html>\n");
  const refresh = (from: string) =>
    run(`lists refresh --list disposable --from ${from}`, { DATA_DIR: dataDir });
  expect((await refresh(list)).stdout).toBe("The list of disposable domains has 150 domains.\n");
  expect(await refresh(page)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: The list was not replaced: .+\n$/),
  });
});

test("the doctor says where counters differ from the log, and fails then", async () => {
  expect(await answer("doctor --counters")).toEqual([]);
  const [workspace, campaign] = [newId(), newId()];
  await service.database.run(sql`
    insert into campaign_counters (workspace_id, campaign_id, delivered) values (${workspace}, ${campaign}, 3)`);
  await service.database.run(sql`
    insert into report_quarters (workspace_id, quarter, source, opens) values (${workspace}, now(), 'api', 2)`);
  const list = await newList(service.database, service.workspaceId);
  await service.database.run(sql`
    insert into list_days (workspace_id, mailing_list_id, day, sent_count) values (${service.workspaceId}, ${list}, now(), 1)`);
  const { code, stdout } = await run("doctor --counters --json");
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    [
      {
        counter_of: "campaign",
        origin_id: campaign,
        domain: null,
        counter: "delivered",
        kept: 3,
        counted: 0,
      },
      { counter_of: expect.stringContaining("report_quarters"), counter: "opens", kept: 2, counted: 0 },
      { counter_of: `list_days ${list}`, counter: "sent_count", kept: 1, counted: 0 },
    ].map((row) => expect.objectContaining(row)),
  ]);
  await service.database.run(sql`delete from report_quarters where workspace_id = ${workspace}`);
  await service.database.run(sql`delete from campaign_counters where campaign_id = ${campaign}`);
  await service.database.run(sql`delete from list_days where mailing_list_id = ${list}`);
});
