/** The merge tags that a template can use, for editors that offer them. */
import { type Static, Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { fieldTypes } from "#audience/custom-fields/field-types.ts";
import { choiceOf } from "#audience/custom-fields/field-value-reader.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import { requireKnownList } from "#audience/mailing-lists/store.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { idField } from "#platform/http/request/query.ts";
import { nullable } from "#platform/shapes.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { pathOfField, variableMeanings, variableNames } from "#sending/content/merge-tag-names.ts";
import type { CampaignContent } from "#sending/content/parse-content.ts";
import { sampleLinks, sampleValues, variablesOf } from "#sending/content/render.ts";

/** The fields of a campaign, an autoresponder step or an SMS that are templates. */
const templates = ["subject", "html_content", "text_content"] as const satisfies (keyof CampaignContent)[];

const MergeTag = Type.Object(
  {
    name: Type.String({
      description:
        "What a template writes between `{{` and `}}`, such as `first_name` or `custom_fields.city`.",
    }),
    tag: Type.String({ description: "The whole tag, such as `{{ first_name }}`." }),
    kind: Type.Enum(["built_in", "custom_field"], {
      description: "Whether every recipient has it, or it is a custom field.",
    }),
    meaning: Type.String({ description: "What it shows, in words; for a custom field its label." }),
    example: nullable(
      Type.String({
        description:
          "What it may show: for a custom field its placeholder or first choice; null without one.",
      }),
    ),
    field_type: nullable(
      Type.Enum([...fieldTypes], { description: "Type of the custom field; null for a built-in tag." }),
    ),
    valid_in: Type.Array(Type.Enum([...templates]), {
      description: "The fields whose templates can use it. An SMS has only `text_content`.",
    }),
  },
  { $id: "MergeTag" },
);
type MergeTag = Static<typeof MergeTag>;

export function mergeTagEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  return [
    endpoint({
      id: "listMergeTags",
      method: "GET",
      path: "/merge-tags",
      summary: "The merge tags that the content of a campaign or an autoresponder can use",
      description:
        "The built-in tags, in the order in which an editor would offer them, and the active custom fields in display order: with `list_id` those of that list and of all lists, without it those of all lists only. A value that a person lacks shows nothing.",
      needs: need(campaigns, "read"),
      query: { list_id: idField("The mailing list whose custom fields are wanted, too.") },
      answer: Type.Array(MergeTag),
      message: "Merge tags",
      async handle({ caller: { workspaceId }, query: { list_id } }) {
        if (list_id !== undefined) await requireKnownList(db, workspaceId, list_id);
        const fields =
          list_id === undefined
            ? await listFields(db, workspaceId, null)
            : await listFieldsInForce(db, workspaceId, list_id);
        return [...builtIn, ...fields.filter(({ is_active }) => is_active).map(tagOfField)];
      },
    }),
  ];
}

const examples = variablesOf(sampleValues, sampleLinks);

const builtIn = variableNames.map(
  (name): MergeTag => ({
    ...written(name),
    kind: "built_in",
    meaning: variableMeanings[name],
    example: examples[name],
    field_type: null,
  }),
);

function tagOfField({
  field_name,
  field_label,
  field_type,
  field_options,
  placeholder,
}: CustomField): MergeTag {
  return {
    ...written(pathOfField(field_name)),
    kind: "custom_field",
    meaning: field_label,
    example: placeholder ?? field_options?.map(choiceOf)[0] ?? null,
    field_type,
  };
}

function written(name: string): Pick<MergeTag, "name" | "tag" | "valid_in"> {
  return { name, tag: `{{ ${name} }}`, valid_in: [...templates] };
}
