/** The page at `/`, with links to the other pages. */
import type { FastifyInstance } from "fastify";
import { html, sendPage } from "./response/html-page.ts";

export function registerHome(server: FastifyInstance, { hasInbox }: { readonly hasInbox: boolean }): void {
  server.get("/", (_request, reply) =>
    sendPage(
      reply,
      200,
      "Posthaste",
      html`<p><a href="/docs">API reference</a>: read and try all calls. The API is at <code>/api/v1</code>.</p>
        ${hasInbox ? html`<p><a href="/inbox">Local inbox</a>: mail stays on this machine (<code>MAIL_MODE=capture</code>). Open it with the address printed at start.</p>` : html``}
        <p><a href="/readyz">Readiness</a>: whether the service can take requests. <a href="/healthz">Health</a>: whether it runs.</p>`,
    ),
  );
}
