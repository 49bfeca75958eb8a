/**
 * The real API in the test process, on a free port, with a separate database, a fake DNS and a manual clock. It is wired
 * by src/processes/api.ts like the program: only the clock, the DNS servers and the log differ.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { type Api, createApi } from "#processes/api.ts";
import { issueKey } from "#workspace/api-keys/issue.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { apiCaller, type CallApi } from "./api-caller.ts";
import { type StubClock, stubClock } from "./clock.ts";
import { testDatabase } from "./database.ts";
import { type DnsZone, type FakeDns, startFakeDns } from "./fake-dns.ts";
import { type SignedInPerson, signInPerson } from "./people.ts";

/** Concurrent calls wait for one of four connections; on a slow machine that takes long. */
const REQUEST_MS = 60_000;

export const SECRET_KEY = "a secret key that only tests use, ever";

export interface TestService {
  readonly url: string;
  /** An API key of `workspaceId` with every permission. */
  readonly key: string;
  readonly workspaceId: WorkspaceId;
  readonly api: Api;
  readonly database: Database;
  readonly dns: FakeDns;
  readonly clock: StubClock;
  /** Calls the API with `key`. */
  readonly call: CallApi;
  /** Creates another workspace, and a key with every permission. */
  newWorkspace(): Promise<{ workspaceId: WorkspaceId; key: string }>;
  /** Creates another key of the first workspace. */
  newKey(permissions: readonly string[], name?: string): Promise<string>;
  /** Signs in a new member of a workspace, by default of the first one. */
  newPerson(
    permissions: readonly string[],
    options?: {
      readonly workspaceId?: WorkspaceId;
      readonly isOperator?: boolean;
      readonly hasSecondFactor?: boolean;
      readonly confirmedAt?: Date;
    },
  ): Promise<SignedInPerson>;
}

/** Starts the service; it stops after the test file. */
export async function startService(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly zone?: DnsZone;
    /** Secret keys, newest first. Default: SECRET_KEY alone. */
    readonly secretKeys?: readonly [string, ...string[]];
    /** Connects the database of requests, closed with the service. Default: the database of the test. */
    readonly requests?: (url: string) => Promise<Database>;
    /** Milliseconds that a request waits for the database in total. */
    readonly requestMs?: number;
  } = {},
): Promise<TestService> {
  const [database, dns, dataDir] = await Promise.all([
    testDatabase(),
    startFakeDns(options.zone),
    mkdtemp(join(tmpdir(), "posthaste-service-")),
  ]);
  const requests = (await options.requests?.(database.url)) ?? database;
  // Tests of an unresponsive database keep the real timeouts.
  const patience = requests === database ? { requestMs: options.requestMs ?? REQUEST_MS } : {};
  const clock = stubClock();
  const config = readConfig({
    RATE_LIMIT: "off",
    PORT: "0",
    MAIL_HOSTNAME: "mail.posthaste.test",
    SMTP_PORT: "2525",
    ALLOW_PRIVATE_MX: "true",
    DNS_SERVERS: dns.address,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    ...options.env,
  });
  const secrets = createSecrets(...(options.secretKeys ?? [SECRET_KEY]));
  const api = createApi({
    config,
    log: createLog("silent"),
    clock,
    database,
    requests,
    secrets,
    ...patience,
  });
  const url = await api.server.listen({ host: "127.0.0.1", port: 0 });
  afterAll(async () => {
    await api.stop();
    if (requests !== database) await requests.close();
    await dns.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const newKeyOf = async (workspaceId: WorkspaceId, permissions: readonly string[], name: string) => {
    const settings = { name, permissions: [...permissions], expires_at: null };
    return (await issueKey(database, workspaceId, settings, clock.now())).key;
  };
  const newWorkspace = async () => {
    const settings = { name: "Test", timezone: "UTC", plan: "enterprise" } as const;
    const { workspace, key } = await createWorkspace(database, settings, clock);
    return { workspaceId: workspace.id, key: key.key };
  };
  const first = await newWorkspace();
  return {
    url,
    ...first,
    api,
    database,
    dns,
    clock,
    newWorkspace,
    newKey: (permissions, name = "Another key") => newKeyOf(first.workspaceId, permissions, name),
    newPerson: (permissions, { workspaceId = first.workspaceId, ...options } = {}) =>
      signInPerson({ database, url: () => url, now: clock.now() }, workspaceId, permissions, options),
    call: apiCaller(() => url, first.key),
  };
}
