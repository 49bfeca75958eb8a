/**
 * The page of a preview: HTML that a customer wrote, so it runs no script and sends no form. Its address has ids and a MAC, and
 * works for five minutes.
 */
import type { KeyObject } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { html, sendPage } from "#platform/http/response/html-page.ts";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";
import { readSignedToken, signToken } from "#platform/secrets/signed-token.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import { MEDIA_PATH } from "#sending/media/media-link.ts";
import { findPreview } from "./store.ts";

/** How long the address of a preview works. */
export const PREVIEW_MS = 5 * MINUTE_MS;

const PATH = "/previews/";
const FORMAT = { contentOctets: 32, macOctets: 16 };

export function previewKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("previews of mails");
}

/** @param base the public URL of the service, without a trailing slash */
export function previewLink(workspaceId: WorkspaceId, id: string, base: string, key: KeyObject): string {
  return `${base}${PATH}${signToken(FORMAT, octetsOfIds(workspaceId, id), key)}`;
}

/** Null when the token was not made with this key. */
function readPreviewToken(token: string, key: KeyObject): { workspaceId: WorkspaceId; id: string } | null {
  const ids = readSignedToken(FORMAT, token, key);
  return ids && { workspaceId: asWorkspaceId(idAt(ids, 0)), id: idAt(ids, 16) };
}

/** What the page may load from other hosts, unless the address ends with `remote=blocked`. */
const remote = [
  "img-src https: http: data:",
  "media-src https: http:",
  "style-src 'unsafe-inline' https:",
  "font-src https: data:",
];

/** What it may load then: what it contains, and the pictures of the workspace. */
const own = (pictures: readonly string[]) => [
  ["img-src data:", ...pictures].join(" "),
  "style-src 'unsafe-inline'",
  "font-src data:",
];

/** No script, form or frame. A console of the same origin may show the page in a frame. Links open outside of the sandbox. */
function headersOf(sources: readonly string[]): Readonly<Record<string, string>> {
  return {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": [
      "sandbox allow-popups allow-popups-to-escape-sandbox",
      "default-src 'none'",
      ...sources,
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'self'",
    ].join("; "),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Robots-Tag": "noindex",
  };
}

const headers = headersOf(remote);

export interface PreviewPageDeps {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly keys: PurposeKeys;
  /** The hosts that serve pictures of a workspace, as base URLs. */
  readonly mediaBases: (workspaceId: WorkspaceId) => Promise<readonly string[]>;
}

export function registerPreviews(
  pages: FastifyInstance,
  { db, clock, keys, mediaBases }: PreviewPageDeps,
): void {
  const picturesIn = async (page: string, workspaceId: WorkspaceId) => {
    const prefixes = (await mediaBases(workspaceId)).map((base) => base + MEDIA_PATH);
    return prefixes.filter((prefix) => page.includes(prefix));
  };
  pages.get<{ Params: { token: string }; Querystring: { theme?: unknown; remote?: unknown } }>(
    `${PATH}:token`,
    async ({ params, query }, reply) => {
      const named = keys.read((key) => readPreviewToken(params.token, key));
      const theme = query.theme === "dark" ? "dark" : "light";
      const page = named && (await findPreview(db, named.workspaceId, named.id, theme, clock.now()));
      if (!named || !page) {
        return sendPage(
          reply,
          404,
          "Preview not found",
          html`<p>A preview can be seen for five minutes. Render the mail again.</p>`,
        );
      }
      const isBlocked = query.remote === "blocked";
      return reply
        .headers(isBlocked ? headersOf(own(await picturesIn(page, named.workspaceId))) : headers)
        .type("text/html; charset=utf-8")
        .send(page);
    },
  );
}
