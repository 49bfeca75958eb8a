/** A machine that only delivers, as in the Kubernetes layout: it says how it is, and its counters are in no other process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { mailDomain, platform } from "#test/support/scene.ts";

const METRICS_TOKEN = "a token that only this test uses".replaceAll(" ", "-");
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const folder = await mkdtemp(join(tmpdir(), "posthaste-e2e-"));
stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const mx = await startFakeMx({ slowMs: 3_000 });
stack.defer(() => mx.close());
const dns = stack.use(await startFakeDns(mailDomain("example.test")));
const database = stack.use(await newDatabase(inject("template")));
const startMachine = async (role: string) =>
  stack.use(
    await startProgram(
      {
        ...platform,
        BOOTSTRAP_API_KEY: `efk_${"3333".repeat(10)}`,
        BOOTSTRAP_PLAN: "enterprise",
        SECRET_KEY: "3".repeat(64),
        MAIL_MODE: "direct",
        ALLOW_PRIVATE_MX: "true",
        SMTP_PORT: String(mx.port),
        DNS_SERVERS: dns.address,
        DATA_DIR: join(folder, role),
        DATABASE_URL: database.url,
        HEALTH_PORT: "0",
        METRICS_TOKEN,
      },
      ["serve", "--roles", role],
    ),
  );

let api: Program;
let delivery: Program;
beforeAll(async () => {
  api = await startMachine("api");
  delivery = await startMachine("delivery");
});

const metricsOf = async ({ url }: Program) => {
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  return { status: answer.status, text: await answer.text() };
};

test("it answers /healthz, and /readyz with the state of its delivery process", async () => {
  expect(await (await fetch(`${delivery.url}/healthz`)).json()).toEqual({ status: "ok" });
  expect(await (await fetch(`${delivery.url}/readyz`)).json()).toEqual({
    status: "ready",
    checks: { database: "ok", disk: "ok", delivery: "ok" },
  });
});

test("its metrics want the token, and count its attempts", async () => {
  expect((await fetch(`${delivery.url}/metrics`)).status).toBe(401);
  const mail = { to: "ada@example.test", subject: "Hello", body: "<p>Hello</p>" };
  expect((await api.call("POST", "/emails/send", mail)).status).toBe(201);
  const attempt = 'posthaste_provider_attempts_total{provider="default",result="delivered"} 1\n';
  await eventually("the attempt to be counted", async () =>
    (await metricsOf(delivery)).text.includes(attempt),
  );
  const { status, text } = await metricsOf(api);
  expect([status, text.includes(attempt)]).toEqual([200, false]);
});

test("any other path is answered 404, and the machine with the role api has no second port", async () => {
  const answer = await fetch(`${delivery.url}/api/v1/emails`);
  expect([answer.status, await answer.json()]).toMatchObject([404, { success: false, code: "NOT_FOUND" }]);
  expect(api.logged("health and metrics listen")).toEqual([]);
});

test("while it finishes its work it lives and is not ready, and answers nothing after its end", async () => {
  const mail = { to: "slow@example.test", subject: "Hello", body: "<p>Hello</p>" };
  const before = mx.received;
  const { status, body } = await api.call("POST", "/emails/send", mail);
  expect(status).toBe(201);
  // The server has the message, and its reply comes later.
  await eventually("the message to be sent", async () => mx.received > before);
  const ended = delivery.kill("SIGTERM");
  await eventually(
    "the stop to begin",
    async () => delivery.logged("stopping: finishing work in flight").length > 0,
  );
  const alive = await fetch(`${delivery.url}/healthz`);
  const ready = await fetch(`${delivery.url}/readyz`);
  const state: unknown = await ready.json();
  expect([delivery.isRunning, alive.status, ready.status]).toEqual([true, 200, 503]);
  expect(state).toMatchObject({ status: "stopping", checks: { database: "ok" } });
  expect(await ended).toEqual([0, null]);
  expect((await api.call("GET", `/messages/${body.data.id}`)).body.data.status).toBe("delivered");
  await expect(fetch(`${delivery.url}/healthz`)).rejects.toThrow();
});
