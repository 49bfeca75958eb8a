/** `/` leads browsers to the console. Other callers, such as health checks and curl, get a page with links. */
import type { FastifyInstance } from "fastify";
import { html, sendPage } from "./response/html-page.ts";

export function registerHome(server: FastifyInstance, { hasInbox }: { readonly hasInbox: boolean }): void {
  server.get("/", (request, reply) => {
    reply.header("Vary", "Accept");
    if (request.headers.accept?.includes("text/html"))
      return reply.header("Cache-Control", "no-store").redirect("/console");
    return sendPage(
      reply,
      200,
      "Posthaste",
      html`<p><a href="/console">Console</a>: sign in and work with people, campaigns and messages.</p>
        <p><a href="/docs">API reference</a>: read and try all calls. The API is at <code>/api/v1</code>.</p>
        ${hasInbox ? html`<p><a href="/inbox">Local inbox</a>: mail stays on this machine (<code>MAIL_MODE=capture</code>). Open it with the address printed at start.</p>` : html``}
        <p><a href="/readyz">Readiness</a>: whether the service can take requests. <a href="/healthz">Health</a>: whether it runs.</p>`,
    );
  });
}
