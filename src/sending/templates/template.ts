/** The shapes of templates and their versions in requests and answers. */
import { type Static, Type } from "typebox";
import { UsedBy } from "#audience/uses/used-by.ts";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { CreatedAt, described, Id, nullable, omittable, Timestamp, UpdatedAt } from "#platform/shapes.ts";
import { ContentWarning } from "#sending/content/content-warning.ts";
import { DesignDocument } from "#sending/designs/design.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";
import { contentFormats, LONGEST_MJML } from "./compile/content-source.ts";

export const templates: Resource = {
  name: "templates",
  label: "Templates",
  group: "Sending",
  about: "Templates of mail and the layouts around them, with every saved version.",
};

export const templateKinds = ["mail", "layout"] as const;
export type MailTemplateKind = (typeof templateKinds)[number];
const versionCauses = ["created", "changed", "restored", "layout_changed"] as const;
export type VersionCause = (typeof versionCauses)[number];

const Data = Type.Record(Type.String(), Type.Unknown());

/** What an author gives. html_content, mjml and design exclude each other. */
const given = {
  name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Internal name." }),
  subject: omittable(
    Type.String({
      maxLength: LONGEST_SUBJECT,
      description: "The subject, which may hold merge tags. Required, except for layouts, which have none.",
    }),
  ),
  preheader: omittable(
    Type.String({
      maxLength: LONGEST_SUBJECT,
      description: "The text that lists of mail show beside the subject. May hold merge tags.",
    }),
  ),
  html_content: omittable(
    Type.String({ maxLength: LONGEST_BODY, description: "The body as HTML. May hold merge tags." }),
  ),
  mjml: omittable(
    Type.String({
      maxLength: LONGEST_MJML,
      description: "The body as MJML, in place of html_content. May hold merge tags. mj-include is refused.",
    }),
  ),
  design: omittable(
    described(
      Type.Unsafe<Record<string, unknown>>(DesignDocument),
      "The body as a design of blocks, in place of html_content.",
    ),
  ),
  text_content: omittable(
    Type.String({ maxLength: LONGEST_BODY, description: "The text part. Omitted: made from the HTML." }),
  ),
  layout_id: omittable(
    Type.Unsafe<string>({
      ...Id,
      description:
        "The layout that wraps the body. HTML needs a layout in HTML; MJML and designs need one in MJML or a design.",
    }),
  ),
  test_data: omittable(
    described(
      Data,
      "Values of merge tags for previews and tests: names of person and fields, and any others, at most 64 KB as JSON.",
    ),
  ),
};

export const NewTemplate = Type.Object(
  {
    kind: omittable(
      Type.Enum([...templateKinds], {
        default: "mail",
        description: "`layout`: it wraps other templates, at its merge tag `{{ content }}`.",
      }),
    ),
    ...given,
  },
  { $id: "NewTemplate" },
);
export type NewTemplate = Static<typeof NewTemplate>;

/** The body of PATCH. A field that is omitted stays as it is; null returns it to its default. */
export const TemplateChange = Type.Partial(Type.Object(given), { $id: "TemplateChange" });
export type TemplateChange = Static<typeof TemplateChange>;

const summary = {
  id: described(Id, "Id of the template."),
  kind: Type.Enum([...templateKinds], { description: "A mail, or a layout around other templates." }),
  name: Type.String({ description: "Internal name." }),
  format: Type.Enum([...contentFormats], { description: "In which form the body was written." }),
  subject: Type.String({ description: "The subject, with merge tags; empty in layouts." }),
  preheader: nullable(
    Type.String({ description: "The text that lists of mail show beside the subject; null for none." }),
  ),
  layout_id: nullable(described(Id, "The layout that wraps the body; null for none.")),
  version: Type.Integer({ description: "Number of the present version, from 1." }),
  revision: Type.Integer({
    description:
      "Rises with every change. In quotation marks it is the `ETag`, and the value for `If-Match`.",
  }),
  used_by: described(
    UsedBy,
    "Campaigns and autoresponders whose content was taken from it, and the templates that a layout wraps.",
  ),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
};

export const TemplateSummary = Type.Object(summary, { $id: "TemplateSummary" });
export type TemplateSummary = Static<typeof TemplateSummary>;

const content = {
  html_content: nullable(Type.String({ description: "The body as written, if it is HTML; otherwise null." })),
  mjml: nullable(Type.String({ description: "The body as written, if it is MJML; otherwise null." })),
  design: nullable(
    described(
      Type.Unsafe<Record<string, unknown>>(DesignDocument),
      "The body as written, if it is a design; otherwise null.",
    ),
  ),
  text_content: nullable(
    Type.String({ description: "The text part, with merge tags; null if it is made from the HTML." }),
  ),
  compiled_html: Type.String({
    description: "What is sent, with merge tags: the HTML of the body, in its layout, with the preheader.",
  }),
  warnings: Type.Array(ContentWarning, {
    description: "Merge tags that are neither custom fields nor names of the test data.",
  }),
};

export const MailTemplate = Type.Object(
  { ...summary, ...content, test_data: described(Data, "Values for previews and tests.") },
  { $id: "Template" },
);
export type MailTemplate = Static<typeof MailTemplate>;

const versionSummary = {
  id: described(Id, "Id of the version."),
  version: Type.Integer({ description: "Its number, from 1." }),
  cause: Type.Enum([...versionCauses], {
    description:
      "Why it exists: the template was created or changed, an older version was restored, or its layout changed.",
  }),
  format: summary.format,
  subject: summary.subject,
  preheader: summary.preheader,
  layout_id: nullable(described(Id, "The layout around it, which may be deleted since; null for none.")),
  created_by: Type.String({ description: "Name of the person or API key that saved it." }),
  created_at: described(Timestamp, "When it was saved, in UTC."),
};

export const TemplateVersionSummary = Type.Object(versionSummary, { $id: "TemplateVersionSummary" });
export type TemplateVersionSummary = Static<typeof TemplateVersionSummary>;

export const TemplateVersion = Type.Object({ ...versionSummary, ...content }, { $id: "TemplateVersion" });
export type TemplateVersion = Static<typeof TemplateVersion>;
