/**
 * The API reference: openapi.json at /api/v1/openapi.json, and at /docs Scalar's page, which shows it and can send requests
 * with a key of the reader. Everything is served from here; the Content-Security-Policy forbids the browser to load anything
 * from elsewhere. Scalar is large (4 MB, 200 ms to import), so it is loaded with the first request.
 */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { notFound } from "#platform/errors.ts";
import { isKnownVersion } from "./response/known-version.ts";
import { inPieces } from "./response/unsent-responses.ts";
import { API_PREFIX } from "./server.ts";

const documentFile = new URL("../../../openapi.json", import.meta.url);
const documentUrl = `${API_PREFIX}/openapi.json`;

/** Settings of Scalar, with everything off that would contact its vendor. */
const configuration = {
  url: documentUrl,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
  defaultOpenAllTags: false,
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posthaste API reference</title>
</head>
<body>
<div id="app"></div>
<script src="/docs/scalar.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `Scalar.createApiReference("#app", ${JSON.stringify(configuration)});\n`;

const headers = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** A file that is the same for every caller, kept in memory. */
interface SharedFile {
  readonly etag: string;
  /** Undefined if only the compressed form is served. */
  readonly plain: Buffer | undefined;
  readonly compressed: Buffer;
}

export function registerDocs(server: FastifyInstance): void {
  let script: Promise<SharedFile> | undefined;
  let document: Promise<SharedFile> | undefined;
  const send = (reply: FastifyReply, type: string, content: string) =>
    reply.headers(headers).type(`${type}; charset=utf-8`).send(content);

  server.get(documentUrl, async (request, reply) => {
    document ??= loadDocument();
    const file = await document.catch(() => {
      document = undefined;
      throw notFound("openapi.json");
    });
    return sendFile(request, reply, "application/json", file);
  });
  server.get("/docs", async (_request, reply) => send(reply, "text/html", page));
  server.get("/docs/start.js", async (_request, reply) => send(reply, "text/javascript", start));
  server.get("/docs/scalar.js", async (request, reply) => {
    script ??= loadScript();
    reply.header("Cache-Control", "max-age=3600");
    return sendFile(request, reply, "text/javascript", await script);
  });
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { etag, plain, compressed }: SharedFile,
): FastifyReply {
  reply.headers({ ...headers, Vary: "Accept-Encoding" });
  const isCompressed = plain === undefined || takesGzip(request.headers["accept-encoding"]);
  // Each encoding has its own ETag (RFC 9110 section 8.8.3.3).
  const tag = `"${etag}${isCompressed ? "-gzip" : ""}"`;
  reply.header("ETag", tag);
  if (isKnownVersion(request, tag)) return reply.code(304).send();
  const content = isCompressed ? compressed : plain;
  if (isCompressed) reply.header("Content-Encoding", "gzip");
  return reply
    .type(`${type}; charset=utf-8`)
    .header("Content-Length", content.length)
    .send(inPieces(content));
}

/** Whether Accept-Encoding allows gzip, by name or by `*`, with a weight above 0 (RFC 9110 section 12.5.3). */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const weights = new Map(
    String(accepted ?? "")
      .toLowerCase()
      .split(",")
      .map((one) => {
        const [coding = "", weight = "1"] = one.split(/;\s*q\s*=/).map((part) => part.trim());
        return [coding, Number(weight)] as const;
      }),
  );
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0;
}

async function loadDocument(): Promise<SharedFile> {
  const plain = await readFile(documentFile);
  return { etag: etagOf(plain), plain, compressed: await promisify(gzip)(plain) };
}

function etagOf(content: Buffer): string {
  return hash("sha256", content, "base64url").slice(0, 22);
}

/** The script of the page, compressed with gzip, which every browser accepts. The package serves it only by its plugin. */
async function loadScript(): Promise<SharedFile> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const shelf = Fastify();
  await shelf.register(scalar, { routePrefix: "/docs", configuration: { url: documentUrl } });
  const { rawPayload } = await shelf.inject("/docs/js/scalar.js");
  await shelf.close();
  return { etag: etagOf(rawPayload), plain: undefined, compressed: await promisify(gzip)(rawPayload) };
}
