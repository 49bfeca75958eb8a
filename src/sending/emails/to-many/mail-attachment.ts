/** Attachments of POST /emails: files with their content, or pictures of the workspace by their ids. */
import { type Static, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { omittable } from "#platform/shapes.ts";
import { NewAttachment, requireFewFiles } from "#sending/emails/read-attachments.ts";
import { fileNameOf } from "#sending/media/media-link.ts";
import type { MediaFile } from "#sending/media/store.ts";

const { filename, content, content_type, content_id } = NewAttachment.properties;

export const MailAttachment = Type.Object(
  {
    filename: omittable(filename),
    content: omittable(content),
    content_type: omittable(content_type),
    media_id: omittable(
      Type.String({
        format: "uuid",
        description:
          "A picture of `GET /media` instead of `content` and `content_type`; `filename` is then optional. The mail gets a copy.",
      }),
    ),
    disposition: omittable(
      Type.Enum(["attachment", "inline"], {
        description:
          "Whether it is listed as a file, or shown within the HTML by its `content_id`. Default: `attachment`; `inline` for a picture by `media_id` that has a `content_id`.",
      }),
    ),
    content_id,
  },
  {
    $id: "MailAttachment",
    description: "A file in a mail: with `filename`, `content` and `content_type`, or with `media_id`.",
  },
);
export type MailAttachment = Static<typeof MailAttachment>;

/** A picture to attach, with its content in Base64. */
export type AttachedPicture = MediaFile & { readonly content: string };
/** By id, in lower case. */
export type AttachedPictures = ReadonlyMap<string, AttachedPicture>;

/**
 * The attachments of a mail with their content.
 * @throws ApiError VALIDATION_ERROR naming the attachment
 */
export function withPictures(
  attachments: readonly MailAttachment[],
  pictures: AttachedPictures,
): Static<typeof NewAttachment>[] {
  requireFewFiles(attachments.length);
  return attachments.map(({ media_id, ...given }, index) => {
    const at = `attachments[${index}]`;
    if (media_id == null) return requireContent(given, at);
    if (given.content != null || given.content_type != null) {
      throw invalid({
        field: `${at}.media_id`,
        message: `${at}.media_id excludes content and content_type: give one`,
      });
    }
    const picture = pictures.get(media_id.toLowerCase());
    if (picture === undefined) {
      throw invalid({ field: `${at}.media_id`, message: `${at}.media_id is no picture of this workspace` });
    }
    return {
      ...given,
      filename: given.filename ?? fileNameOf(picture),
      content: picture.content,
      content_type: `image/${picture.kind}`,
      disposition: given.disposition ?? (given.content_id == null ? "attachment" : "inline"),
    };
  });
}

function requireContent(given: Omit<MailAttachment, "media_id">, at: string): Static<typeof NewAttachment> {
  const { filename: name, content: octets, content_type: type } = given;
  if (name != null && octets != null && type != null) {
    return { ...given, filename: name, content: octets, content_type: type };
  }
  const missing = name == null ? "filename" : octets == null ? "content" : "content_type";
  const message = `${at}.${missing} is required, unless the attachment has a media_id`;
  throw invalid({ field: `${at}.${missing}`, message });
}
