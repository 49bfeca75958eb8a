/**
 * The addresses of pictures. Mail in mailboxes has them for years, so they have no signature, and outlive secret keys and
 * names:
 *
 *     <base>/media/ base64url( workspace id 16 | id of the picture 16 ) /<file name>
 *
 * The 74 random bits of an id (RFC 9562 section 5.7) cannot be guessed. The file name is for people only.
 */
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PictureKind } from "./picture/picture.ts";

export const MEDIA_PATH = "/media/";

const IDS_OCTETS = 32;
const TOKEN = /^[\w-]{43}$/;
const inText = /\/media\/([\w-]{43})\/[\w%.-]{0,100}/g;
const LONGEST_FILE_NAME = 60;

const endings: Readonly<Record<PictureKind, string>> = { png: "png", jpeg: "jpg", gif: "gif", webp: "webp" };
const ending = /\.(?:png|jpe?g|gif|webp)$/i;

/** What an address is made of. */
export interface NamedPicture {
  readonly id: string;
  readonly name: string;
  readonly kind: PictureKind;
}

/** @param base a tracking domain or PUBLIC_URL, without a trailing slash */
export function mediaUrl(base: string, workspaceId: WorkspaceId, picture: NamedPicture): string {
  const token = octetsOfIds(workspaceId, picture.id).toString("base64url");
  return `${base}${MEDIA_PATH}${token}/${encodeURIComponent(fileNameOf(picture))}`;
}

/** The name in ASCII with the ending of its kind: `summer-sale.jpg`. */
export function fileNameOf({ name, kind }: NamedPicture): string {
  const words =
    name
      .replace(ending, "")
      .normalize("NFKD")
      .replaceAll(/\p{Mn}/gu, "")
      .match(/[A-Za-z0-9]+/g) ?? [];
  const stem = words.join("-").slice(0, LONGEST_FILE_NAME).toLowerCase();
  return `${stem || "picture"}.${endings[kind]}`;
}

/** Null for what is no token. */
export function readMediaToken(
  token: string,
): { readonly workspaceId: WorkspaceId; readonly id: string } | null {
  const octets = TOKEN.test(token) ? Buffer.from(token, "base64url") : null;
  // 32 octets leave two bits of their base64 open: each picture has one address.
  if (octets?.length !== IDS_OCTETS || octets.toString("base64url") !== token) return null;
  return { workspaceId: asWorkspaceId(idAt(octets, 0)), id: idAt(octets, IDS_OCTETS / 2) };
}

/** The ids of the pictures of a workspace whose addresses are in the HTML, on any host. */
export function mediaIn(html: string | null, workspaceId: WorkspaceId): string[] {
  return [...new Set(mediaLinksIn(html ?? "", workspaceId).map(({ id }) => id))];
}

/** An address of a picture in HTML. */
export interface MediaLink {
  readonly id: string;
  /** Without the host. */
  readonly path: string;
  /** Offset of the path. */
  readonly at: number;
}

/** Each address of a picture of the workspace in the HTML, on any host, in order. */
export function mediaLinksIn(html: string, workspaceId: WorkspaceId): MediaLink[] {
  return Array.from(html.matchAll(inText)).flatMap(({ 0: path, 1: token = "", index: at }) => {
    const picture = readMediaToken(token);
    return picture?.workspaceId === workspaceId ? [{ id: picture.id, path, at }] : [];
  });
}
