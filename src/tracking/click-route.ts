import type { FastifyInstance } from "fastify";
import { mostLinks } from "#mail/html/tag-positions.ts";
import { paths, readCarried, type TrackedMail } from "./link-tokens.ts";
import { findLink, type MailLink } from "./tracked-mail-store.ts";
import {
  engagementOf,
  mailOf,
  recorded,
  type TokenPath,
  type TrackingDeps,
  uncached,
} from "./tracking-deps.ts";
import { sendInvalidLink } from "./unsubscribe-page.ts";

/** A click this soon after the last change of the mail's status is held: link scanners click on arrival (engagement-recorder.ts). */
const SCAN_MS = 60_000;
/** Each link has one address: an index with leading zeros is invalid. */
const INDEX = /^(?:0|[1-9]\d*)$/;
/** Characters that a Location header may contain unencoded (RFC 9110 section 10.2.2): visible ASCII. */
const VISIBLE_ASCII = /^[!-~]+$/;

/** A tracked link: records a click and redirects to the link's target. */
export function registerClickRoute(pages: FastifyInstance, deps: TrackingDeps): void {
  const { db, clock, recorder } = deps;
  pages.get<TokenPath>(`${paths.click}*`, async (request, reply) => {
    const [token = "", place = "", carried, ...more] = request.params["*"].split("/");
    const index = Number(place);
    const isIndex = INDEX.test(place) && index < mostLinks;
    const mail = isIndex && more.length === 0 ? mailOf(deps, token, "click") : null;
    const link = mail && (await findLink(db, mail, index));
    const target = mail && link && targetOf(deps, mail, index, link, carried);
    if (!mail || !link || !target) return sendInvalidLink(reply);
    const click = { ...engagementOf(deps, request, mail, "clicked"), linkIndex: index, target };
    const isFresh = clock.now().getTime() - link.updated_at.getTime() < SCAN_MS;
    if (click.machineSign === null && isFresh) recorder.hold(click);
    else await recorded(recorder.record(click));
    return reply.headers(uncached).redirect(target, 302);
  });
}

/** The target of a link for this recipient; null when it is no http or https address. A link with merge tags carries its target. */
function targetOf(
  deps: TrackingDeps,
  mail: TrackedMail,
  index: number,
  link: MailLink,
  carried: string | undefined,
): string | null {
  if (carried !== undefined) {
    const target = deps.keys.read((key) => readCarried(mail, index, carried, key));
    return target === null ? null : linkTarget(target);
  }
  return link.url === null || link.is_personal ? null : linkTarget(link.url);
}

/** The address as a Location header carries it, unchanged where possible; null when it is no http or https address. */
export function linkTarget(address: string): string | null {
  const trimmed = address.trim();
  if (!URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  const isPlain = VISIBLE_ASCII.test(trimmed) && /^https?:\/\//i.test(trimmed) && !trimmed.includes("\\");
  return isPlain ? trimmed : url.href;
}
