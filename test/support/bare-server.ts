/** The HTTP server with endpoints that a test defines and API keys from an in-memory map. */
import { hash, randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import type { FastifyInstance } from "fastify";
import sql from "sql-template-tag";
import { afterAll } from "vitest";
import { systemClock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { unlimited } from "#platform/http/auth/rate-limit.ts";
import { Authenticator, type KeyRecord } from "#platform/http/authenticate.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { createServer, type ServerOptions } from "#platform/http/server.ts";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { type ApiAnswer, apiCaller } from "./api-caller.ts";

export interface BareServer {
  readonly server: FastifyInstance;
  readonly url: string;
  readonly port: number;
  /** Creates an API key of `workspaceId` that works at once. */
  newKey(workspaceId: WorkspaceId, changes?: Partial<KeyRecord>): string;
  /** Calls `/api/v1<path>`; a string is sent as it is, anything else as JSON. */
  call(
    method: string,
    path: string,
    key: string | null,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
}

/** Closed when the test file is done. */
export async function startBareServer(
  database: Database,
  endpoints: readonly Endpoint[],
  options: Partial<ServerOptions> = {},
): Promise<BareServer> {
  const keys = new Map<string, KeyRecord>();
  const authenticator = new Authenticator({
    findSession: async () => undefined,
    findMembership: async () => undefined,
    findKey: async (keyHash) => keys.get(keyHash.toString("base64")),
    clock: systemClock,
    onUse: () => {},
  });
  const server = createServer({
    endpoints,
    database,
    dataDir: tmpdir(),
    authenticator,
    rateLimiter: unlimited,
    trustedProxies: [],
    corsOrigins: [],
    log: createLog("silent"),
    onAnswer: () => {},
    pages: () => {},
    ...options,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  afterAll(() => server.close());
  const callApi = apiCaller(() => url, "");
  return {
    server,
    url,
    port: Number(new URL(url).port),
    newKey(workspaceId, changes = {}) {
      const secret = `efk_${randomBytes(20).toString("hex")}`;
      const record: KeyRecord = {
        workspaceId,
        timezone: "UTC",
        isSuspended: false,
        defaultSender: null,
        retryHours: 72,
        tracksTransactional: false,
        actor: { kind: "key", id: newId(), name: "Test key" },
        permissions: ["*:*"],
        isActive: true,
        expiresAt: null,
        ...changes,
      };
      keys.set(hash("sha256", secret, "base64"), record);
      return secret;
    },
    call: (method, path, key, body, headers = {}) => callApi(method, path, body, { key, headers }),
  };
}

/** Inserts the row of a workspace and nothing else. */
export async function insertBareWorkspace(database: Database): Promise<WorkspaceId> {
  const id = asWorkspaceId(newId());
  await database.run(sql`insert into workspaces (id, name) values (${id}, 'Test')`);
  return id;
}
