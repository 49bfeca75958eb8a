/** `/`: where a person finds what is here. */
import type { FastifyInstance } from "fastify";
import { html, sendPage } from "./response/page.ts";

export function registerHome(server: FastifyInstance, { hasInbox }: { readonly hasInbox: boolean }): void {
  server.get("/", (_request, reply) =>
    sendPage(
      reply,
      200,
      "Posthaste",
      html`<p><a href="/docs">API reference</a>: every call, to read and to try. The API is at <code>/api/v1</code>.</p>
        ${hasInbox ? html`<p><a href="/inbox">Local inbox</a>: mail stays on this machine (<code>MAIL_MODE=capture</code>). It opens with the address that the start printed.</p>` : html``}
        <p><a href="/readyz">Readiness</a>: whether the service can work. <a href="/healthz">Health</a>: whether it lives.</p>`,
    ),
  );
}
