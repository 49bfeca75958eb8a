/**
 * The reference for people: the committed openapi.json at /api/v1/openapi.json and, at /docs, Scalar's page that
 * shows it and lets a reader try a call with a key of theirs. Everything comes from here: the policy header lets the
 * browser load nothing from elsewhere, whatever the page's script may want. Scalar is large (4 MB, 200 ms to import),
 * so the first reader loads it.
 */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { notFound } from "#platform/errors.ts";
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

export function registerDocs(server: FastifyInstance): void {
  let script: Promise<Buffer> | undefined;
  const send = (reply: FastifyReply, type: string, content: string | Buffer) =>
    reply.headers(headers).type(`${type}; charset=utf-8`).send(content);

  server.get(documentUrl, async (_request, reply) => {
    const document = await readFile(documentFile, "utf8").catch(() => {
      throw notFound("openapi.json");
    });
    return send(reply, "application/json", document);
  });
  server.get("/docs", async (_request, reply) => send(reply, "text/html", page));
  server.get("/docs/start.js", async (_request, reply) => send(reply, "text/javascript", start));
  server.get("/docs/scalar.js", async (_request, reply) => {
    script ??= loadScript();
    reply.headers({ "Content-Encoding": "gzip", "Cache-Control": "max-age=3600" });
    return send(reply, "text/javascript", await script);
  });
}

/** The page's script, compressed as every browser takes it. The package gives it out only through its plugin. */
async function loadScript(): Promise<Buffer> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const shelf = Fastify();
  await shelf.register(scalar, { routePrefix: "/docs", configuration: { url: documentUrl } });
  const { rawPayload } = await shelf.inject("/docs/js/scalar.js");
  await shelf.close();
  return promisify(gzip)(rawPayload);
}
