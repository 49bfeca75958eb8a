/** Endpoints of media: pictures that mail shows. */

import { findUsers } from "#audience/uses/used-by.ts";
import { required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, textField } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import { readName } from "#workspace/read-display-name.ts";
import { Media, MediaChanges, mediaResource, NewMedia, UploadedMedia } from "./media.ts";
import { mediaUrl } from "./media-link.ts";
import { type MediaUse, requireMediaUnused } from "./media-use.ts";
import { pictureKinds } from "./picture/picture.ts";
import { PictureRecoder } from "./picture/recode-in-thread.ts";
import { MOST_BYTES } from "./picture/recode-picture.ts";
import {
  countMedia,
  findMedia,
  listMedia,
  lockMediaForRemoval,
  type MediaRow,
  removeMedia,
  updateMedia,
} from "./store.ts";
import { readAltText, type UploadDeps, uploadMedia } from "./upload-media.ts";

interface Dependencies extends Omit<UploadDeps, "recoder"> {
  /** The base URL of the workspace's pictures. */
  readonly mediaBase: (workspaceId: WorkspaceId) => Promise<string>;
  /** What keeps a picture from being deleted. */
  readonly uses: readonly MediaUse[];
}

export function mediaEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock, uses, mediaBase } = deps;
  const recoder = new PictureRecoder();
  const shown = async ({ workspaceId, permissions }: Caller, rows: readonly MediaRow[]) => {
    const ids = rows.map(({ id }) => id);
    const [base, users] = await Promise.all([
      mediaBase(workspaceId),
      findUsers(db, workspaceId, permissions, ids, uses),
    ]);
    return (row: MediaRow) => ({ ...row, url: mediaUrl(base, workspaceId, row), used_by: users(row.id) });
  };
  const shownOne = async (caller: Caller, row: MediaRow | undefined): Promise<Media> => {
    const picture = required(row, "Picture");
    return (await shown(caller, [picture]))(picture);
  };
  return [
    endpoint({
      id: "listMedia",
      method: "GET",
      path: "/media",
      summary: "Pictures, newest first",
      description: "Pictures that were uploaded for mail, with their public addresses and what uses them.",
      needs: need(mediaResource, "read"),
      query: {
        ...cursorFields(),
        search: textField(200, "A part of the name."),
        kind: choiceField(pictureKinds, "Only pictures of this kind."),
      },
      answer: pageOf("media", Media),
      message: "Pictures",
      async handle({ caller, query }) {
        const { workspaceId } = caller;
        const { search, kind } = query;
        const walk = new ListPage(query, "listMedia", workspaceId, search, kind);
        const [listed, total] = await Promise.all([
          listMedia(db, workspaceId, { search, kind }, walk.page),
          countMedia(db, workspaceId, { search, kind }),
        ]);
        const { rows, pagination } = walk.shown(listed, total, ({ id }) => id);
        return { media: rows.map(await shown(caller, rows)), pagination };
      },
    }),
    endpoint({
      id: "uploadMedia",
      method: "POST",
      path: "/media",
      mayTakeLong: "working aside",
      summary: "Upload a picture for mail",
      description:
        "PNG, JPEG, GIF (animated, too) and WebP. The picture is written again, so that nothing but its pixels is stored: Exif data such as the place where it was taken is removed, and its orientation applied. The answer has its public address. The same file is stored once: uploaded again, the answer is the picture that is there. It counts in the storage of the plan.",
      needs: need(mediaResource, "write"),
      body: NewMedia,
      answer: UploadedMedia,
      status: 201,
      message: ({ is_duplicate }) => (is_duplicate ? "The picture was uploaded before" : "Picture stored"),
      bodyLimit: MOST_BYTES,
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller, body }) {
        const { picture, isDuplicate } = await uploadMedia({ ...deps, recoder }, caller.workspaceId, body);
        return { ...(await shownOne(caller, picture)), is_duplicate: isDuplicate };
      },
    }),
    endpoint({
      id: "getMedia",
      method: "GET",
      path: "/media/{id}",
      summary: "One picture",
      description: "The picture with its public address and what uses it. The file itself is at `url`.",
      needs: need(mediaResource, "read"),
      answer: Media,
      message: "Picture",
      handle: async ({ caller, params: { id } }) =>
        shownOne(caller, await findMedia(db, caller.workspaceId, id)),
    }),
    endpoint({
      id: "updateMedia",
      method: "PATCH",
      path: "/media/{id}",
      summary: "Change the name or the alternative text of a picture",
      description:
        "Omitted fields stay. `url` ends with the new name; addresses with the old one work, too. Mail and drafts that show the picture do not change.",
      needs: need(mediaResource, "write"),
      body: MediaChanges,
      answer: Media,
      message: "Picture changed",
      async handle({ caller, params: { id }, body }) {
        if (isEmptyChange(MediaChanges, body)) {
          return shownOne(caller, await findMedia(db, caller.workspaceId, id));
        }
        const { name, alt_text } = body;
        const changes = {
          ...(name !== undefined && { name: readName(name) }),
          ...(alt_text !== undefined && { alt_text: readAltText(alt_text) }),
        };
        return shownOne(caller, await updateMedia(db, caller.workspaceId, id, changes, clock.now()));
      },
    }),
    endpoint({
      id: "deleteMedia",
      method: "DELETE",
      path: "/media/{id}",
      summary: "Delete a picture that no campaign, autoresponder, template or brand shows",
      description:
        "Its address answers 404 from now on, also in transactional mail that shows it. 409 while a campaign, sent ones included, a step of an autoresponder, the present version of a template or the brand shows it; the message names them.",
      needs: need(mediaResource, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Picture deleted",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await db.transaction(async (tx) => {
          required((await lockMediaForRemoval(tx, workspaceId, id)) || undefined, "Picture");
          await requireMediaUnused(tx, workspaceId, id, uses);
          await removeMedia(tx, workspaceId, id);
        });
        return { id, deleted: true } as const;
      },
    }),
  ];
}
