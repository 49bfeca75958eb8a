/**
 * The console: the files of its build at /console/assets, and its page at every other path of /console, which the console's own
 * router reads. The page has a fresh nonce for each request, so that only its own scripts and styles run.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ConsoleBuild } from "#platform/console/console-build.ts";
import { notFound } from "#platform/errors.ts";
import { html, sendPage } from "./response/html-page.ts";

const PREFIX = "/console";
const NONCE = /__NONCE__/g;
/** How often the page that stands for a build under way asks again, in seconds. */
const REFRESH_S = 2;

export function registerConsole(server: FastifyInstance, build = new ConsoleBuild()): void {
  server.register(fastifyStatic, {
    // The folder of the build comes and goes with it; this one is always there.
    root: dirname(build.folder),
    serve: false,
    preCompressed: true,
    // The name of each file has a hash of its content.
    immutable: true,
    maxAge: "1y",
    index: false,
    setHeaders: (reply) => {
      reply.header("X-Content-Type-Options", "nosniff");
    },
  });
  server.get<{ Params: { file: string } }>(`${PREFIX}/assets/:file`, ({ params }, reply) =>
    reply.sendFile(params.file, join(build.folder, "assets")),
  );
  server.get(`${PREFIX}/assets/*`, async () => {
    throw notFound("Page");
  });
  server.get(`${PREFIX}/icon.svg`, async (_request, reply) => {
    const icon = await readFile(join(build.folder, "icon.svg")).catch(() => undefined);
    if (icon === undefined) throw notFound("Page");
    return reply
      .headers({
        "Content-Type": "image/svg+xml",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        "Cache-Control": "max-age=86400",
        "X-Content-Type-Options": "nosniff",
      })
      .send(icon);
  });
  server.get(PREFIX, (_request, reply) => sendConsole(reply, build));
  server.get(`${PREFIX}/*`, (_request, reply) => sendConsole(reply, build));
}

async function sendConsole(reply: FastifyReply, build: ConsoleBuild): Promise<FastifyReply> {
  const page = await readFile(join(build.folder, "index.html"), "utf8").catch(() => undefined);
  if (page === undefined) return sendSubstitute(reply, build);
  const nonce = randomBytes(16).toString("base64url");
  return reply
    .headers({
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy(nonce),
      "Cache-Control": "no-store",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "X-Robots-Tag": "noindex",
    })
    .send(page.replace(NONCE, nonce));
}

/** What is shown while there is no build. */
async function sendSubstitute(reply: FastifyReply, build: ConsoleBuild): Promise<FastifyReply> {
  if (await build.isUnderWay()) {
    return sendPage(
      reply.header("Refresh", String(REFRESH_S)).header("Retry-After", String(REFRESH_S)),
      503,
      "The console is being built",
      html`<p>This takes some seconds, once. The console then opens by itself.</p>`,
    );
  }
  return sendPage(
    reply,
    503,
    "The console is not built",
    html`<p>Run <code>npm ci</code> in the folder of Posthaste, then reload this page. The log of the last start says why a build failed.</p>`,
  );
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    // Scripts that these import need no nonce of their own.
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // No code makes markup out of text.
    "trusted-types 'none'",
  ].join("; ");
}
