/** Pictures of mail: the permission, and the shapes in requests and answers. */
import { type Static, Type } from "typebox";
import { UsedBy } from "#audience/uses/used-by.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { fileField } from "#platform/http/request/uploads.ts";
import { CreatedAt, described, Id, UpdatedAt } from "#platform/shapes.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";
import { MOST_PIXELS, MOST_WIDTH, pictureKinds } from "./picture/picture.ts";
import { MOST_BYTES } from "./picture/recode-picture.ts";

export const mediaResource: Resource = {
  name: "media",
  label: "Media",
  group: "Sending",
  about:
    "Pictures that mail shows: uploaded, written again without hidden data, and served under the tracking domain.",
};

const LONGEST_ALT_TEXT = 500;

const name = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  description: "Name for display and for the end of the address; it is trimmed.",
});
const altText = Type.String({
  maxLength: LONGEST_ALT_TEXT,
  description: "What the picture shows, for readers who do not see it; empty if it says nothing.",
});

const fields = {
  id: described(Id, "Id of the picture."),
  name: Type.String({ description: "Name for display." }),
  alt_text: Type.String({
    description: "What the picture shows, for the `alt` of an `img`; empty if there is none.",
  }),
  kind: Type.Enum([...pictureKinds], { description: "Kind of the stored file." }),
  width: Type.Integer({ description: "Width of the stored picture in pixels." }),
  height: Type.Integer({ description: "Height of the stored picture in pixels." }),
  frames: Type.Integer({ description: "Frames of an animation; 1 for other pictures." }),
  bytes: Type.Integer({ description: "Size of the stored file in bytes." }),
  url: Type.String({
    format: "uri",
    description:
      "Public address, for the `src` of an `img`: on a tracking domain of the workspace if one is in use, else on that of the service. Addresses of other domains go on working.",
  }),
  used_by: described(UsedBy, "Campaigns and autoresponders whose HTML shows it."),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
};

export const Media = Type.Object(fields, { $id: "Media", description: "A picture for mail." });
export type Media = Static<typeof Media>;

export const UploadedMedia = Type.Object(
  {
    ...fields,
    is_duplicate: Type.Boolean({
      description:
        "Whether the same file was uploaded before: then this is that picture, with its name and alternative text, and nothing was stored.",
    }),
  },
  { $id: "UploadedMedia", description: "The picture that was stored, or is stored already." },
);

export const NewMedia = Type.Object(
  {
    file: fileField(
      `PNG, JPEG, GIF or WebP with at most ${MOST_BYTES / 1024 ** 2} MB and ${MOST_PIXELS / 1_000_000} megapixels. A picture wider than ${MOST_WIDTH.toLocaleString("en")} pixels is scaled down.`,
    ),
    name: Type.Optional(described(name, "Name for display; by default that of the file.")),
    alt_text: Type.Optional(altText),
  },
  { $id: "NewMedia" },
);
export type NewMedia = Static<typeof NewMedia>;

export const MediaChanges = Type.Partial(Type.Object({ name, alt_text: altText }), { $id: "MediaChanges" });
