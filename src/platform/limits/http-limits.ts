/** Limits on HTTP connections, requests, bodies and responses. Each API process counts its own. */
import { type Limit, MIB } from "./limit.ts";

export const httpLimits = {
  connectionsOfNetwork: {
    what: "HTTP connections",
    scope: "network",
    most: 1_000,
    beyond:
      "the connection of the network that has been idle longest is closed; if none is idle, the new one is. Trusted proxies are exempt",
  },
  unansweredOfConnection: {
    what: "HTTP requests that wait for their responses",
    scope: "connection",
    most: 8,
    beyond: "these are answered, the next one is answered 429, and the connection is closed",
  },
  refusalsOfConnection: {
    what: "responses with 429",
    scope: "connection",
    most: 10,
    beyond: "the connection is closed with the last of them. Trusted proxies are exempt",
  },
  unsent: {
    what: "large responses that their clients have not read",
    scope: "installation",
    most: 128 * MIB,
    unit: "bytes",
    beyond: "connections that have read nothing for five seconds are closed; then 503",
  },
  unsentOfNetwork: {
    what: "large responses that their clients have not read",
    scope: "network",
    most: 16 * MIB,
    unit: "bytes",
    beyond: "as for the installation, but with 429",
  },
  unfinishedOfNetwork: {
    what: "requests whose body is still arriving",
    scope: "network",
    most: 500,
    beyond: "429",
  },
  unfinishedOfKey: {
    what: "requests whose body is still arriving",
    scope: "API key or person",
    most: 250,
    beyond: "429",
  },
  bodies: {
    what: "request bodies in memory",
    scope: "installation",
    most: 256 * MIB,
    unit: "bytes",
    beyond: "bodies that have stopped arriving are answered 408 and release their budget; then 503",
  },
  bodiesOfWorkspace: {
    what: "request bodies in memory",
    scope: "workspace",
    most: 64 * MIB,
    unit: "bytes",
    beyond: "as for the installation, but with 429",
  },
  bodiesOfNetwork: {
    what: "request bodies in memory of callers without a key",
    scope: "network",
    most: 4 * MIB,
    unit: "bytes",
    beyond: "as for the installation, but with 429",
  },
  eventStreams: {
    what: "event streams",
    scope: "installation",
    most: 2_000,
    beyond: "503",
  },
  eventStreamsOfWorkspace: {
    what: "event streams",
    scope: "workspace",
    most: 200,
    beyond: "429",
  },
  eventStreamsOfCaller: {
    what: "event streams",
    scope: "API key or session",
    most: 3,
    beyond: "429",
  },
  assistantCalls: {
    what: "requests of AI assistants (MCP) under way",
    scope: "API key or person",
    most: 16,
    beyond: "429",
  },
  uploads: {
    what: "uploads on disk",
    scope: "installation",
    most: 1024 * MIB,
    unit: "bytes",
    beyond: "uploads that have stopped arriving are answered 408 and release their budget; then 503",
  },
  uploadsOfWorkspace: {
    what: "uploads on disk",
    scope: "workspace",
    most: 256 * MIB,
    unit: "bytes",
    beyond: "as for the installation, but with 429",
  },
} as const satisfies Record<string, Limit>;

/** The limits in force: `httpLimits`, or other values in a test. */
export type HttpLimits = Readonly<Record<keyof typeof httpLimits, Limit>>;
