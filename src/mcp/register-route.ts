/**
 * `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions. A tool call becomes a request to the API
 * with the same key, so that permissions, limits, validation and the audit log are those of the API.
 */
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { KeyAuthenticator } from "#platform/http/authenticate.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { JsonReader } from "#platform/http/request/json-reader.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import { checkQueryNames } from "#platform/http/request/unknown-fields.ts";
import { API_PREFIX } from "#platform/http/server.ts";
import { inTime, PATIENCE_MS } from "#platform/in-time.ts";
import { HeldShares } from "#platform/limits/in-process-shares.ts";
import { shareRefusal } from "#platform/limits/limit-errors.ts";
import { limits } from "#platform/limits/limits.ts";
import { type ApiRequest, type ApiResponse, MOST_ANSWER_BYTES } from "./api-call.ts";
import { Toolset } from "./toolset.ts";

const PATH = "/mcp";
/** Of the route, and of a tool's input. */
const MOST_BYTES = 1024 * 1024;
const bearer = /^Bearer +(\S+) *$/i;
/** Headers that the protocol reads. */
const readHeaders = ["accept", "content-type", "mcp-protocol-version"] as const;

export interface McpDeps {
  readonly endpoints: readonly Endpoint[];
  readonly authenticator: Pick<KeyAuthenticator, "authenticate">;
  /** Address of the service. Pages of other origins may not call the route. */
  readonly publicUrl: () => string;
}

export function registerMcp(pages: FastifyInstance, deps: McpDeps): void {
  const reader = new JsonReader();
  const held = new HeldShares();
  let toolset: Toolset | undefined;
  pages.addHook("onClose", () => reader.close());
  pages.register(async (scope) => {
    takeBodies(scope, "application/json", (body, request) => reader.read(request, body), MOST_BYTES);
    scope.route<{ Querystring: { tools?: string | string[] } }>({
      method: "POST",
      url: PATH,
      bodyLimit: MOST_BYTES,
      config: { operation: "mcp" },
      async onRequest(request) {
        requireOwnOrigin(request, deps.publicUrl());
        request.caller = await inTime(PATIENCE_MS, deps.authenticator.authenticate(keyOf(request)));
      },
      async handler(request, reply) {
        const { actor, permissions } = request.caller as Caller;
        const { body, query } = request;
        checkQueryNames(["tools"], Object.keys(query), {});
        const amount = Array.isArray(body) ? body.length : 1;
        const taken = held.take([{ limit: limits.assistantCalls, holder: actor.id }], amount);
        if ("reached" in taken) throw shareRefusal(taken.reached);
        const sender = new ApiSender(pages, request);
        try {
          toolset ??= new Toolset(deps.endpoints);
          const tools = toolset.offer(permissions, [query.tools ?? []].flat().join(","));
          const { answerMcp } = await import("./mcp-server.ts");
          const asked = new Request(deps.publicUrl(), { method: "POST", headers: protocolHeaders(request) });
          const response = await answerMcp(asked, body, {
            tools,
            permissions,
            send: (call) => sender.send(call),
            onFault: (err) => request.log.error({ err, request_id: request.id }, "a tool call failed"),
          });
          return reply
            .code(response.status)
            .headers(Object.fromEntries(response.headers))
            .header("Cache-Control", "no-store")
            .send(await response.text());
        } finally {
          // A call that was given up still runs, and counts as long as it does.
          void sender.settled().then(() => taken.held.release());
        }
      },
    });
  });
}

/**
 * A page of a browser sends Origin. Its name may have been pointed at this machine (DNS rebinding), so Host proves nothing.
 * @throws ApiError FORBIDDEN
 */
function requireOwnOrigin({ headers: { origin } }: FastifyRequest, publicUrl: string): void {
  if (origin === undefined || origin === new URL(publicUrl).origin) return;
  throw new ApiError("FORBIDDEN", "Pages of other sites may not use this address");
}

/** @throws ApiError UNAUTHORIZED */
function keyOf({ headers }: FastifyRequest): string {
  const [, key] = bearer.exec(headers.authorization ?? "") ?? [];
  const given = key ?? headers["x-api-key"];
  if (typeof given === "string" && given !== "") return given;
  throw new ApiError("UNAUTHORIZED", "Send an API key: Authorization: Bearer efk_…", {
    headers: { "WWW-Authenticate": 'Bearer realm="Posthaste"' },
  });
}

function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    readHeaders.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : [])),
  );
}

/** Sends the requests of tool calls to the routes of this process, in the name of the assistant's client. */
class ApiSender {
  readonly #server: FastifyInstance;
  readonly #request: FastifyRequest;
  readonly #underWay = new Set<Promise<ApiResponse>>();

  constructor(server: FastifyInstance, request: FastifyRequest) {
    this.#server = server;
    this.#request = request;
  }

  send(call: ApiRequest): Promise<ApiResponse> {
    const sent = this.#inject(call);
    this.#underWay.add(sent);
    const forget = () => void this.#underWay.delete(sent);
    sent.then(forget, forget);
    return sent;
  }

  /** Resolves when every request has an answer or has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #inject({ method, path, headers, body }: ApiRequest): Promise<ApiResponse> {
    const response = await this.#server.inject({
      method,
      url: `${API_PREFIX}${path}`,
      headers: {
        ...headers,
        "x-api-key": keyOf(this.#request),
        // The audit log shows it.
        "user-agent": `MCP ${this.#request.headers["user-agent"] ?? ""}`.trim(),
      },
      ...(body !== undefined && { payload: body }),
      remoteAddress: this.#request.ip,
      payloadAsStream: true,
    });
    const { etag } = response.headers;
    return {
      status: response.statusCode,
      etag: typeof etag === "string" ? etag : undefined,
      body: await textWithin(response.stream(), MOST_ANSWER_BYTES),
    };
  }
}

/** The text of a stream; undefined if it has more octets, of which the rest is not read. */
async function textWithin(stream: Readable, mostBytes: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
