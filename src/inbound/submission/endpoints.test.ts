/** What an SMTP client is told to fill in, and that it works. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { afterAll, expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { startInbound } from "#processes/inbound.ts";
import { freePort } from "#test/support/free-port.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";

const ports = { SUBMISSION_PORT: String(await freePort()), SUBMISSIONS_PORT: String(await freePort()) };
const service = await startService({ env: ports });

const settingsWith = async (env: Record<string, string>) => {
  const { call } = await startService({ env });
  return (await call("GET", "/smtp-settings")).body.data.submission;
};

test("a client with the shown host, ports, user name and a key hands in mail", async () => {
  const { database, clock, key } = service;
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-smtp-settings-"));
  const config = readConfig({ ...ports, DATA_DIR: dataDir, MAIL_HOSTNAME: "mail.posthaste.test" });
  const inbound = await startInbound({
    config,
    log: createLog("silent"),
    clock,
    database,
    requests: database,
    secrets: createSecrets(SECRET_KEY),
  });
  afterAll(async () => {
    await inbound.stop(0);
    await rm(dataDir, { recursive: true, force: true });
  });
  const { submission } = (await service.call("GET", "/smtp-settings")).body.data;
  expect(submission).toEqual({
    host: "127.0.0.1",
    ports: [
      { port: Number(ports.SUBMISSION_PORT), tls: "starttls" },
      { port: Number(ports.SUBMISSIONS_PORT), tls: "implicit" },
    ],
    username: "api",
    is_self_signed: true,
  });
  for (const { port, tls } of submission.ports) {
    const transport = createTransport({
      host: submission.host,
      port,
      secure: tls === "implicit",
      requireTLS: tls === "starttls",
      tls: { rejectUnauthorized: !submission.is_self_signed },
      auth: { user: submission.username, pass: key },
    });
    expect(await transport.verify()).toBe(true);
    transport.close();
  }
});

test("ports that are open to others are reached by the name of the service", async () => {
  const env = { SUBMISSIONS_PORT: "465", INBOUND_HOST: "0.0.0.0", MAIL_HOSTNAME: "mail.posthaste.test" };
  expect(await settingsWith(env)).toMatchObject({
    host: "mail.posthaste.test",
    ports: [{ port: 465, tls: "implicit" }],
  });
});

test("without a port there is nothing to show", async () => {
  expect(await settingsWith({})).toBeNull();
});

test("any key and any member of the workspace may ask, and no one else", async () => {
  const weak = await service.newKey(["segments:read"]);
  expect((await service.call("GET", "/smtp-settings", undefined, { key: weak })).status).toBe(200);
  expect((await service.call("GET", "/smtp-settings", undefined, { key: null })).status).toBe(401);
});
