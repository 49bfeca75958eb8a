/**
 * The console: the files of its build at /console/assets, and its page at every other path of /console, which the console's own
 * router reads. The page has a fresh nonce for each request, so that only its own script and styles run.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { html, sendPage } from "./response/html-page.ts";

const build = fileURLToPath(new URL("../../../console/dist", import.meta.url));
const PREFIX = "/console";
const NONCE = /__NONCE__/g;

export function registerConsole(server: FastifyInstance): void {
  server.register(fastifyStatic, {
    root: `${build}/assets`,
    prefix: `${PREFIX}/assets/`,
    preCompressed: true,
    // The name of each file has a hash of its content.
    immutable: true,
    maxAge: "1y",
    index: false,
    decorateReply: false,
  });
  server.get(`${PREFIX}/icon.svg`, async (_request, reply) =>
    reply
      .type("image/svg+xml")
      .header("Cache-Control", "max-age=86400")
      .send(await readFile(`${build}/icon.svg`)),
  );
  server.get(PREFIX, (_request, reply) => sendConsole(reply));
  server.get(`${PREFIX}/*`, (_request, reply) => sendConsole(reply));
}

async function sendConsole(reply: FastifyReply): Promise<FastifyReply> {
  const page = await readFile(`${build}/index.html`, "utf8").catch(() => undefined);
  if (page === undefined) {
    return sendPage(
      reply,
      404,
      "The console is not built",
      html`<p>Run <code>npm run -s build -w console</code> in the folder of Posthaste, then reload this page.</p>`,
    );
  }
  const nonce = randomBytes(16).toString("base64url");
  return reply
    .headers({
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy(nonce),
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "X-Robots-Tag": "noindex",
    })
    .send(page.replace(NONCE, nonce));
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
