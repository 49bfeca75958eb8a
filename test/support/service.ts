/**
 * The real API in this process, on a port of its own, with a database, a fake DNS and a clock of its own. It is the
 * program's own wiring (src/processes/api.ts): only the clock, the DNS servers and the log differ from a machine's.
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

/** Many calls at once wait for four connections: how long depends on the machine. */
const REQUEST_MS = 60_000;

export const SECRET_KEY = "a secret key that only tests use, ever";

export interface TestService {
  readonly url: string;
  /** A key of `workspaceId` with every permission. */
  readonly key: string;
  readonly workspaceId: WorkspaceId;
  readonly api: Api;
  readonly database: Database;
  readonly dns: FakeDns;
  readonly clock: StubClock;
  /** With `key`. */
  readonly call: CallApi;
  /** Another workspace with a key that may do everything. */
  newWorkspace(): Promise<{ workspaceId: WorkspaceId; key: string }>;
  /** Another key of the first workspace. */
  newKey(permissions: readonly string[], name?: string): Promise<string>;
}

/** Starts it for the test file that calls this; stopped when the file is done. */
export async function startService(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly zone?: DnsZone;
    /** The ring; without it SECRET_KEY alone. */
    readonly secretKeys?: readonly [string, ...string[]];
    /** The database that requests ask; closed with the service. Unless said, the one that tests ask. */
    readonly requests?: (url: string) => Promise<Database>;
  } = {},
): Promise<TestService> {
  const [database, dns, dataDir] = await Promise.all([
    testDatabase(),
    startFakeDns(options.zone),
    mkdtemp(join(tmpdir(), "posthaste-service-")),
  ]);
  const requests = (await options.requests?.(database.url)) ?? database;
  // A test of a database that gives no answer has the time that a service has.
  const patience = requests === database ? { requestMs: REQUEST_MS } : {};
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
    call: apiCaller(() => url, first.key),
  };
}
