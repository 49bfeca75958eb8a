/** The fields of mails that are made from MJML, a design or a template: their shapes in requests and answers. */
import { Type } from "typebox";
import { described, Id, nullable, omittable } from "#platform/shapes.ts";
import { LONGEST_DESIGN } from "#sending/mail-fields.ts";
import { LONGEST_MJML } from "./compile/content-source.ts";

/** The largest integer of PostgreSQL. */
const MOST_INTEGER = 2_147_483_647;

/** A design of ours, or the document of another editor. Assistants would get its large schema with every campaign. */
const anyDesign = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** The number of a version in a request. */
export const versionNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MOST_INTEGER, description });

export const contentFields = {
  template_id: omittable(
    Type.Unsafe<string>({
      ...Id,
      description:
        "The template that subject, HTML, text and source are copied from, where the request has none of its own; requires `templates:read`. With html_content, mjml or design in the same request, their content counts and the template is only named. So is it beside html_content null, an own text_content and template_version: a mail with text only.",
    }),
  ),
  template_version: omittable(versionNumber("The version of the template; omitted: the present one.")),
  mjml: omittable(
    Type.String({
      maxLength: LONGEST_MJML,
      description:
        "MJML from which html_content is made, unless the request has html_content itself. May hold merge tags.",
    }),
  ),
  design: omittable(
    anyDesign(
      `A design of blocks (the component Design), from which html_content is made, unless the request has html_content itself. The document of another editor, without \`version\` 1 and \`blocks\`, is stored and returned only. At most ${LONGEST_DESIGN.toLocaleString("en")} characters as JSON.`,
    ),
  ),
};

export const shownContent = {
  template_id: nullable(
    described(
      Id,
      "The template that the content was copied from, which may be deleted since; null for none.",
    ),
  ),
  template_version: nullable(Type.Integer({ description: "The version of that template." })),
  mjml: nullable(
    Type.String({ description: "The MJML that html_content was made from; null if it was not." }),
  ),
  design: nullable(anyDesign("The document of a block editor; null for none.")),
};
