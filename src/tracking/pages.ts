/**
 * What the addresses in mails lead to, outside /api/v1 and on every host: the open pixel, links, unsubscribing, the mail
 * in the browser. Whoever has the address may call; nobody needs a key, and no cookie is set or read. A token that is
 * wrong in any way is 404, with a page for people.
 *
 * Programs open what is in mails, so a GET or HEAD never changes anything for the recipient: only POST unsubscribes,
 * whether a person pressed the button or a mail program did (one-click, RFC 8058).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { htmlFromText } from "#mail/html/body-forms.ts";
import { mostLinks } from "#mail/html/map.ts";
import type { Engagement } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import { sendErrorPage } from "#platform/http/response/error-page.ts";
import { ready, sendPage } from "#platform/http/response/page.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { machineSign } from "./machine.ts";
import type { Recorder } from "./recorder.ts";
import { findLink, findRecipient, type MailLink, type MailRecipient } from "./store.ts";
import { linkTarget } from "./target.ts";
import { sendTestUnsubscribe, sendTestView } from "./test-mail-page.ts";
import {
  type LinkPurpose,
  type MailLinks,
  mailLinks,
  PIXEL_ENDING,
  paths,
  readCarried,
  readToken,
  readView,
  TEST_TOKEN,
  type TrackedMail,
} from "./tokens.ts";
import { mayReturn, type OnReturned, type OnUnsubscribed, takeBack, unsubscribe } from "./unsubscribe.ts";
import {
  sendInvalid,
  sendQuestion,
  sendReturned,
  sendTrouble,
  sendUnsubscribed,
  TAKE_BACK,
} from "./unsubscribe-page.ts";

/** 1×1, transparent. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
/** An answer waits so long for its event to be on disk, and no longer. */
const RECORD_MS = 100;
/** Scanners follow links when a mail arrives; a click so soon is held (recorder.ts). */
const SCAN_MS = 60_000;
/** Each link has one address: zeros before an index make no other. */
const INDEX = /^(?:0|[1-9]\d*)$/;
/** A one-click form is one line. */
const FORM_BYTES = 4_096;

const uncached = { "Cache-Control": "no-store, max-age=0", "X-Robots-Tag": "noindex" };

/** A picture by itself is a document, too, and a scalable one can hold scripts. */
const imageHeaders = {
  ...uncached,
  "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  "X-Content-Type-Options": "nosniff",
};

/** What somebody else wrote: no script, no form, no frame; a link opens a tab that is free of this. */
const foreignHeaders = {
  ...uncached,
  "Content-Security-Policy": [
    "sandbox allow-popups allow-popups-to-escape-sandbox",
    "default-src 'none'",
    "img-src https: http: data:",
    "style-src 'unsafe-inline' https:",
    "font-src https: data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/**
 * The mail once more, as its recipient got it but for its links, and for its own pictures, which are at the address of the
 * page with `/<content id>` behind it. Null when what it was made of is not there any more.
 * @param shown the values that its address carries
 * @param linksAt the links, by what those of the mail begin with: people read addresses, so they are whole, and none is
 *   relative to the page
 */
export type RenderMail = (
  mail: TrackedMail,
  shown: string | null,
  linksAt: (base: string) => MailLinks,
) => Promise<{ readonly html: string | null; readonly text: string | null } | null>;

/** A picture that a mail brings with it. */
export interface MailImage {
  /** image/… */
  readonly type: string;
  readonly content: Buffer;
}

/** Null when the mail has none of that content id, or is not there any more. */
export type FindImage = (mail: TrackedMail, contentId: string) => Promise<MailImage | null>;

export interface TrackingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: PurposeKeys;
  readonly recorder: Recorder;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly onReturned: OnReturned;
  readonly renderMail: RenderMail;
  readonly findImage: FindImage;
}

type Token = { Params: { "*": string } };

export function registerTrackingPages(server: FastifyInstance, deps: TrackingDeps): void {
  const { db, clock, keys, recorder } = deps;
  const mailOf = (token: string, purpose: LinkPurpose) => keys.read((key) => readToken(token, purpose, key));

  server.register(async (pages) => {
    takeBodies(pages, "*", (body) => body.toString(), FORM_BYTES);
    pages.setErrorHandler((error, request, reply) => {
      if (error instanceof ApiError || (error instanceof Error && "statusCode" in error)) {
        return sendErrorPage(error, request, reply);
      }
      request.log.error({ err: error, request_id: request.id }, "a tracking page failed");
      return sendTrouble(reply);
    });
    // Wildcards, because a parameter that is too long would be answered by the router.
    for (const path of Object.values(paths)) takeBarePath(pages, path);

    pages.get<Token>(`${paths.open}*`, async (request, reply) => {
      const rest = request.params["*"];
      const mail = rest.endsWith(PIXEL_ENDING) ? mailOf(rest.slice(0, -PIXEL_ENDING.length), "open") : null;
      if (mail === null) return sendInvalid(reply);
      await shortly(recorder.record(engagementOf(request, mail, "opened")));
      return reply.headers(uncached).type("image/gif").send(PIXEL);
    });

    pages.get<Token>(`${paths.click}*`, async (request, reply) => {
      const [token = "", place = "", carried, ...more] = request.params["*"].split("/");
      const index = Number(place);
      const isIndex = INDEX.test(place) && index < mostLinks;
      const mail = isIndex && more.length === 0 ? mailOf(token, "click") : null;
      const link = mail && (await findLink(db, mail, index));
      const target = mail && link && (await targetOf(mail, index, link, carried));
      if (!mail || !link || !target) return sendInvalid(reply);
      const click = { ...engagementOf(request, mail, "clicked"), linkIndex: index, target };
      if (click.machineSign === null && isFresh(link)) recorder.hold(click);
      else await shortly(recorder.record(click));
      return reply.headers(uncached).redirect(target, 302);
    });

    pages.get<Token>(`${paths.unsubscribe}*`, async ({ params }, reply) => {
      if (params["*"] === TEST_TOKEN) return sendTestUnsubscribe(reply);
      const mail = mailOf(params["*"], "unsubscribe");
      const recipient = mail && (await findRecipient(db, mail));
      if (!recipient) return sendInvalid(reply);
      return recipient.is_subscribed ? sendQuestion(reply, recipient) : sendGone(reply, recipient);
    });
    pages.post<Token>(`${paths.unsubscribe}*`, async ({ params, body }, reply) => {
      if (params["*"] === TEST_TOKEN) return sendTestUnsubscribe(reply);
      const mail = mailOf(params["*"], "unsubscribe");
      if (mail && body === TAKE_BACK) {
        await takeBack(deps, mail);
        const asked = await findRecipient(db, mail);
        if (!asked) return sendInvalid(reply);
        return asked.is_subscribed ? sendReturned(reply, asked) : sendGone(reply, asked);
      }
      const recipient = mail && (await unsubscribe(deps, mail));
      if (!recipient) return sendInvalid(reply);
      if (!isOneClick(body)) return sendGone(reply, (await findRecipient(db, mail)) ?? recipient);
      return reply.headers(uncached).type("text/plain; charset=utf-8").send("Unsubscribed\n");
    });

    pages.get<Token>(`${paths.view}*`, async ({ params }, reply) => {
      if (params["*"] === TEST_TOKEN) return sendTestView(reply);
      const [address = "", ...contentId] = params["*"].split("/");
      const view = keys.read((key) => readView(address, key));
      if (view === null) return sendInvalid(reply);
      const { mail, values } = view;
      if (contentId.length > 0) return sendImage(reply, await deps.findImage(mail, contentId.join("/")));
      const content = await deps.renderMail(mail, values, (base) => ({
        ...plainLinks(mail)(base),
        view: base + paths.view + address,
      }));
      if (!content) return sendInvalid(reply);
      if (content.html === null) {
        return sendPage(reply, 200, "Your mail", ready(htmlFromText(content.text ?? "")));
      }
      return reply.headers(foreignHeaders).type("text/html; charset=utf-8").send(content.html);
    });
  });

  const sendGone = (reply: FastifyReply, recipient: MailRecipient) =>
    sendUnsubscribed(reply, recipient, mayReturn(recipient, clock.now()));

  const engagementOf = (
    request: FastifyRequest,
    mail: TrackedMail,
    kind: Engagement["kind"],
  ): Engagement => ({
    ...mail,
    kind,
    time: clock.now(),
    times: 1,
    linkIndex: null,
    target: null,
    userAgent: String(request.headers["user-agent"] ?? ""),
    machineSign: machineSign(request),
  });

  const isFresh = ({ updated_at }: MailLink) => clock.now().getTime() - updated_at.getTime() < SCAN_MS;

  /** Nothing of it is tracked: who looks at the mail in the browser has opened it already. */
  const plainLinks = (mail: TrackedMail) => (base: string) => ({
    ...mailLinks(mail, base, keys.signing),
    pixel: null,
    tracked: (_index: number, target: string) => target,
  });

  /**
   * Where the link leads for this recipient; null when that is nowhere we send people. A link with merge tags carries its
   * target; in mail that was sent before it did, it is rendered with the person's present values.
   */
  const targetOf = async (
    mail: TrackedMail,
    index: number,
    link: MailLink,
    carried: string | undefined,
  ): Promise<string | null> => {
    if (carried !== undefined) {
      const target = keys.read((key) => readCarried(mail, index, carried, key));
      return target === null ? null : linkTarget(target);
    }
    if (link.url === null) return null;
    if (!link.is_personal) return linkTarget(link.url);
    let personal: string | null = null;
    await deps.renderMail(mail, null, (base) => ({
      ...plainLinks(mail)(base),
      tracked(at, target) {
        if (at === index) personal = target;
        return target;
      },
    }));
    return personal === null ? null : linkTarget(personal);
  };
}

function sendImage(reply: FastifyReply, image: MailImage | null): FastifyReply {
  if (image === null) return sendInvalid(reply);
  return reply.headers(imageHeaders).type(image.type).send(image.content);
}

/** An address without a token. A wildcard stands for something: by itself it would leave the bare path to nobody. */
function takeBarePath(pages: FastifyInstance, path: string): void {
  const method = path === paths.unsubscribe ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
  pages.route({ method, url: path, handler: async (_request, reply) => sendInvalid(reply) });
}

/** RFC 8058 section 3.1: a form with this one field, urlencoded or multipart. */
function isOneClick(body: unknown): boolean {
  return typeof body === "string" && /List-Unsubscribe(?:=|"\s+)One-Click/i.test(body);
}

async function shortly(recorded: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, RECORD_MS);
  await Promise.race([recorded, late.promise]);
  clearTimeout(timer);
}
