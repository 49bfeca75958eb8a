/**
 * The reference for people: the committed openapi.json at /api/v1/openapi.json and, at /docs, Scalar's page that
 * shows it and lets a reader try a call with a key of theirs. Everything comes from here: the policy header lets the
 * browser load nothing from elsewhere, whatever the page's script may want. Scalar is large (4 MB, 200 ms to import),
 * so the first reader loads it.
 */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { notFound } from "#platform/errors.ts";
import { inPieces } from "./response/unsent-answers.ts";
import { API_PREFIX } from "./server.ts";

const documentFile = new URL("../../../openapi.json", import.meta.url);
const documentUrl = `${API_PREFIX}/openapi.json`;

/** Scalar's own settings, with everything off that would call its makers. */
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

/** A file that is the same for every caller: made once, and sent from the same memory to all. */
interface SharedFile {
  readonly etag: string;
  /** Absent where only the compressed form is given out. */
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
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { etag, plain, compressed }: SharedFile,
): FastifyReply {
  reply.headers({ ...headers, Vary: "Accept-Encoding" });
  const isCompressed = plain === undefined || takesGzip(asked["accept-encoding"]);
  // Each form has a tag of its own (RFC 9110 section 8.8.3.3).
  const tag = `"${etag}${isCompressed ? "-gzip" : ""}"`;
  reply.header("ETag", tag);
  const known = asked["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, ""));
  if (known?.includes(tag) || known?.includes("*")) return reply.code(304).send();
  const content = isCompressed ? compressed : plain;
  if (isCompressed) reply.header("Content-Encoding", "gzip");
  return reply
    .type(`${type}; charset=utf-8`)
    .header("Content-Length", content.length)
    .send(inPieces(content));
}

/** Accept-Encoding names gzip, or anything, with a weight above 0 (RFC 9110 section 12.5.3). */
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

/** The page's script, compressed as every browser takes it. The package gives it out only through its plugin. */
async function loadScript(): Promise<SharedFile> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const shelf = Fastify();
  await shelf.register(scalar, { routePrefix: "/docs", configuration: { url: documentUrl } });
  const { rawPayload } = await shelf.inject("/docs/js/scalar.js");
  await shelf.close();
  return { etag: etagOf(rawPayload), plain: undefined, compressed: await promisify(gzip)(rawPayload) };
}
