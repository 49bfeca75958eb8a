/** Serves pictures at their public addresses, on every host, to anyone: mail programs have no key. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { AsyncCache } from "#platform/cache.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { isKnownVersion } from "#platform/http/response/known-version.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { MEDIA_PATH, readMediaToken } from "./media-link.ts";
import { findMediaPart, findServedMedia, type ServedMedia } from "./store.ts";

/** Most pictures of mail are smaller, and are read by one statement. A connection holds two such parts at most. */
const PART_OCTETS = 256 * 1024;

/** After a campaign the same few pictures are asked for thousands of times. 25 MB are kept at most. */
const KEPT = { ms: 5_000, most: 100, isKept: (served: ServedMedia | undefined) => served !== undefined };

/** The content of an address never changes. Opened on its own, a picture is a document, too. */
const headers = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "Content-Disposition": "inline",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
};

export function registerMedia(pages: FastifyInstance, db: Queryable): void {
  const kept = new AsyncCache<ServedMedia | undefined>(KEPT);
  pages.get<{ Params: { "*": string } }>(`${MEDIA_PATH}*`, async (request, reply) => {
    const [token = "", ...rest] = request.params["*"].split("/");
    const named = rest.length === 1 ? readMediaToken(token) : null;
    const served =
      named && (await kept.get(token, () => findServedMedia(db, named.workspaceId, named.id, PART_OCTETS)));
    if (!named || !served) throw notFound("Picture");
    const etag = `"${served.sha256.toString("base64url")}"`;
    reply.headers({ ...headers, ETag: etag });
    if (isKnownVersion(request, etag)) return reply.code(304).send();
    // The stream of a HEAD request is empty: the length of its content is not that of the answer.
    const content = request.method === "HEAD" ? [] : partsOf(db, named, served);
    return reply
      .type(`image/${served.kind}`)
      .header("Content-Length", served.bytes)
      .send(Readable.from(content, { objectMode: false }));
  });
}

/** The content, of which a part is read when the client has taken the one before it. */
async function* partsOf(
  db: Queryable,
  { workspaceId, id }: { readonly workspaceId: WorkspaceId; readonly id: string },
  { beginning, bytes }: ServedMedia,
): AsyncGenerator<Buffer> {
  yield beginning;
  for (let start = beginning.length; start < bytes; start += PART_OCTETS) {
    const part = await findMediaPart(db, workspaceId, id, { start, length: PART_OCTETS });
    if (part === undefined) throw new Error("a picture was deleted while it was sent");
    yield part;
  }
}
