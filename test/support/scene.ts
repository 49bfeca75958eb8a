/**
 * The setting of an end-to-end test: the real program with a migrated database, a temporary folder and a fake DNS. Tests
 * use the program as operators, API clients and mail servers do. test/e2e/two-machines.test.ts begins with an empty database.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { Database } from "#platform/database/pool.ts";
import type { ApiAnswer } from "./api-caller.ts";
import { newDatabase } from "./database.ts";
import { eventually } from "./eventually.ts";
import { type DnsZone, type FakeDns, startFakeDns } from "./fake-dns.ts";
import { INBOX_TOKEN } from "./inbox.ts";
import { type Program, startProgram } from "./program.ts";

export interface Scene extends AsyncDisposable {
  readonly program: Program;
  /** For reading, and for making scheduled work due now. */
  readonly database: Database;
  readonly dns: FakeDns;
  /** DATA_DIR of the program. */
  readonly dataDir: string;
  /** Sends a small message from the platform's address and returns its id. `email` may replace every field. */
  send(to: string, email?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Waits until the message is in this state; returns the `data` of GET /messages/{id}. */
  messageWhen(status: string, id: string): Promise<ApiAnswer["body"]>;
}

/** Settings of every scene. EHLO name, return paths and SPF record are derived from the first. */
export const platform = {
  MAIL_HOSTNAME: "mail.posthaste.test",
  BOUNCE_DOMAIN: "bounce.mail.posthaste.test",
  PLATFORM_SPF_DOMAIN: "spf.mail.posthaste.test",
  PLATFORM_FROM: "hello@posthaste.test",
};

/** Starts the program in direct mode unless the environment says otherwise. */
export async function openScene(options: {
  readonly env?: Readonly<Record<string, string>>;
  readonly zone?: DnsZone;
}): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "posthaste-e2e-"));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { DATA_DIR: dataDir = join(folder, "data") } = options.env ?? {};
  const dns = stack.use(await startFakeDns(options.zone));
  const database = stack.use(await newDatabase(inject("template")));
  const program = stack.use(
    await startProgram({
      ...platform,
      BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}`,
      BOOTSTRAP_PLAN: "enterprise",
      MAIL_MODE: "direct",
      INBOX_TOKEN,
      ALLOW_PRIVATE_MX: "true",
      DNS_SERVERS: dns.address,
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      ...options.env,
    }),
  );
  const everything = stack.move();
  return {
    program,
    database,
    dns,
    dataDir,
    async send(to, email = {}) {
      const message = { to, subject: "Hello", body: "<p>Hello</p>", ...email };
      const { status, body } = await program.call("POST", "/emails/send", message);
      if (status !== 201) throw new Error(`${status} for a message to ${to}: ${JSON.stringify(body)}`);
      return body.data.id;
    },
    messageWhen: (wanted, id) =>
      eventually(`message ${id} to be ${wanted}`, async () => {
        const { body } = await program.call("GET", `/messages/${id}`);
        return body.data.status === wanted && body.data;
      }),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** The zone of a domain whose mail host has this address. */
export function mailDomain(domain: string, address = "127.0.0.1"): DnsZone {
  return { [domain]: { MX: [[10, `mx.${domain}`]] }, [`mx.${domain}`]: { A: [address] } };
}
