/**
 * The local inbox of capture mode: every message that would have been sent, for people (/inbox) and for tests
 * (/inbox/messages). It requires a token (inbox-access.ts). In the other mail modes the path does not exist.
 *
 * The content of messages is not trusted. HTML is a page of its own in a sandbox that runs no script and loads nothing;
 * attachments are only downloaded, and the source is plain text.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { pageFields, type QueryValues, readQuery } from "#platform/http/request/query.ts";
import { dispositionOf } from "#platform/http/response/file-answer.ts";
import { offsetOf, pagination } from "#platform/http/response/pagination.ts";
import { isUuid } from "#platform/ids.ts";
import type { InboxAccess } from "./inbox-access.ts";
import { sendInbox, sendMessage, sendNoMessage } from "./inbox-page.ts";
import { htmlForFrame, readCaptured } from "./parse-captured-message.ts";
import { countCaptured, findCaptured, listCaptured } from "./store.ts";

const query = pageFields();

const safeHeaders = {
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** For content of messages: no script, nothing loaded, no form; links may open tabs outside of the sandbox. */
const sandboxHeaders = {
  ...safeHeaders,
  "Content-Security-Policy": [
    "sandbox allow-popups allow-popups-to-escape-sandbox",
    "default-src 'none'",
    "img-src data:",
    "style-src 'unsafe-inline'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "X-DNS-Prefetch-Control": "off",
  "X-Frame-Options": "SAMEORIGIN",
};

type ById = { Params: { id: string } };

/** Registers the routes of the inbox, outside /api/v1. */
export function registerInbox(
  server: FastifyInstance,
  { db, access }: { readonly db: Database; readonly access: InboxAccess },
): void {
  const find = async (id: string) => {
    const row = isUuid(id) ? await findCaptured(db, id) : undefined;
    return row && { row, message: await readCaptured(row.raw) };
  };
  const get = async (id: string) => {
    return required(await find(id), "Message");
  };
  const list = (page: QueryValues<typeof query>) =>
    listCaptured(db, { limit: page.limit, offset: offsetOf(page) });

  server.register(
    async (inbox) => {
      inbox.addHook("onRequest", async (request, reply) => {
        reply.headers(safeHeaders);
        return access.check(request, reply);
      });

      inbox.get("/", async (request, reply) => {
        const page = readPage(request.query);
        const [rows, total] = await Promise.all([list(page), countCaptured(db)]);
        return sendInbox(reply, rows, pagination(page, total));
      });

      inbox.get<ById>("/:id", async ({ params }, reply) => {
        const found = await find(params.id);
        return found ? sendMessage(reply, found.row, found.message) : sendNoMessage(reply);
      });

      inbox.get<ById>("/:id/html", async ({ params }, reply) => {
        const { message } = await get(params.id);
        return sendForeign(reply, "text/html; charset=utf-8", htmlForFrame(message));
      });

      inbox.get<ById>("/:id/source", async ({ params }, reply) => {
        const { row } = await get(params.id);
        return sendForeign(reply, "text/plain; charset=utf-8", row.raw);
      });

      inbox.get<{ Params: { id: string; number: string } }>(
        "/:id/attachments/:number",
        async ({ params }, reply) => {
          const { message } = await get(params.id);
          const attachment = required(message.attachments[Number(params.number) - 1], "Attachment");
          reply.header("Content-Disposition", dispositionOf(attachment.filename));
          return sendForeign(reply, "application/octet-stream", attachment.content);
        },
      );

      inbox.get("/messages", async (request) => list(readPage(request.query)));

      inbox.get<ById>("/messages/:id", async ({ params }) => {
        const { row, message } = await get(params.id);
        const { id, from, to, subject, received_at } = row;
        return {
          id,
          from,
          to,
          subject,
          received_at,
          ...message,
          attachments: message.attachments.map(({ content, ...attachment }) => ({
            ...attachment,
            size: content.length,
            content: content.toString("base64"),
          })),
          raw: row.raw.toString("utf8"),
        };
      });
    },
    { prefix: "/inbox" },
  );
}

function readPage(given: unknown): QueryValues<typeof query> {
  const { token: _, ...fields } = given as Record<string, unknown>;
  return readQuery(query, fields) as QueryValues<typeof query>;
}

/** Sends content of a message. */
function sendForeign(reply: FastifyReply, type: string, content: string | Buffer): FastifyReply {
  return reply.headers(sandboxHeaders).type(type).send(content);
}
