/** The texts of a workspace over HTTP. */
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { choiceField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Language, languages } from "#platform/languages/language.ts";
import { nullable, Timestamp } from "#platform/shapes.ts";
import { brandResource } from "#workspace/brand/permission.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { defaultTexts } from "./default-texts.ts";
import { listReplacedTexts, putTexts, removeTexts } from "./store.ts";
import {
  LONGEST_WORDING,
  placeholders,
  placeholdersOf,
  readText,
  replaceableKeys,
  type TextKey,
  textCatalogue,
} from "./text-catalogue.ts";

const placeholderNames = Object.entries(placeholders)
  .map(([name, meaning]) => `{${name}} is ${meaning}`)
  .join("; ");

const Text = Type.Object(
  {
    name: Type.Enum([...replaceableKeys], { description: "Which text it is." }),
    about: Type.String({ description: "Where it is shown." }),
    text: Type.String({ description: "The wording in force." }),
    default_text: Type.String({ description: "The wording that comes with the service." }),
    is_replaced: Type.Boolean({ description: "Whether the workspace has replaced the default." }),
    placeholders: Type.Array(Type.String(), {
      description: `Names that the wording may have in braces: ${placeholderNames}.`,
    }),
    required_placeholders: Type.Array(Type.String(), { description: "Those that it must have, once." }),
    updated_at: nullable(
      Type.With(Timestamp, { description: "Time of the replacement; null for the default." }),
    ),
  },
  { $id: "Text" },
);

const wording = Type.Optional(nullable(Type.String({ maxLength: LONGEST_WORDING })));
const wordings = Object.fromEntries(
  replaceableKeys.map((key) => [key, Type.With(wording, { description: `${textCatalogue[key].about}.` })]),
);

const TextChanges = Type.Object(
  {
    language: Type.Enum([...languages], { description: "The language of the texts." }),
    texts: Type.Object(wordings, {
      additionalProperties: false,
      description: `Wordings by name, as plain text of at most ${LONGEST_WORDING} characters; null resets one to its default.`,
    }),
  },
  { $id: "TextChanges" },
);

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function textEndpoints({ db, clock }: Dependencies): Endpoint[] {
  return [
    endpoint({
      id: "listTexts",
      method: "GET",
      path: "/texts",
      summary: "The texts that recipients read, in one language",
      description: `The ${replaceableKeys.length} texts for recipients that a workspace can replace: on the pages of unsubscribing and signing up, in the mail that confirms a sign-up, and in the footer that is added to mail. Each with its default, and with the wording that the workspace has chosen instead.`,
      needs: need(brandResource, "read"),
      query: {
        language: choiceField(languages, "Language of the texts; that of the workspace if omitted."),
      },
      answer: Type.Array(Text),
      message: "Texts",
      async handle({ caller: { workspaceId }, query }) {
        const language =
          query.language ?? required(await findWorkspace(db, workspaceId), "Workspace").language;
        return textsOf(db, workspaceId, language);
      },
    }),
    endpoint({
      id: "updateTexts",
      method: "PATCH",
      path: "/texts",
      summary: "Replace texts that recipients read, or reset them; omitted ones stay",
      description:
        "Either all texts are stored or none. Placeholders in braces stand for values; markup and merge tags are refused. Pages change at once, the footer of campaigns that are being sent within ten minutes. A confirmation mail that comes from the service's own sender keeps the default wordings.",
      needs: need(brandResource, "write"),
      body: TextChanges,
      answer: Type.Array(Text),
      message: "Texts updated",
      async handle({ caller: { workspaceId }, body: { language, texts } }) {
        const given = Object.entries(texts) as [TextKey, string | null][];
        const put = new Map<TextKey, string>();
        for (const [key, text] of given) if (text !== null) put.set(key, readText(key, text));
        const reset = given.filter(([, text]) => text === null).map(([key]) => key);
        return db.transaction(async (tx) => {
          await putTexts(tx, workspaceId, language, put, clock.now());
          await removeTexts(tx, workspaceId, language, reset);
          return textsOf(tx, workspaceId, language);
        });
      },
    }),
  ];
}

async function textsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  language: Language,
): Promise<Static<typeof Text>[]> {
  const replaced = new Map((await listReplacedTexts(db, workspaceId, language)).map((row) => [row.key, row]));
  return replaceableKeys.map((key) => {
    const row = replaced.get(key);
    const { needs, may } = placeholdersOf(key);
    return {
      name: key,
      about: textCatalogue[key].about,
      text: row?.text ?? defaultTexts[language][key],
      default_text: defaultTexts[language][key],
      is_replaced: row !== undefined,
      placeholders: [...may],
      required_placeholders: [...needs],
      updated_at: row?.updated_at ?? null,
    };
  });
}
