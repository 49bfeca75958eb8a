/** The designs that come with the service, for those who do not begin with an empty page: a file each. */
import { readFileSync } from "node:fs";
import { type Static, Type } from "typebox";
import { DesignDocument } from "#sending/designs/design.ts";

export const TemplateStarter = Type.Object(
  {
    key: Type.String({ description: "Its name in English, as in `newsletter-lead-story`." }),
    name: Type.String({ description: "What it is." }),
    description: Type.String({ description: "What it is for." }),
    subject: Type.String({ description: "A subject that fits, with merge tags." }),
    preheader: Type.String({ description: "A preheader that fits, with merge tags." }),
    design: Type.Unsafe<Record<string, unknown>>(DesignDocument),
    test_data: Type.Record(Type.String(), Type.Unknown(), {
      description: "Values of its merge tags, for previews.",
    }),
  },
  { $id: "TemplateStarter" },
);
export type TemplateStarter = Static<typeof TemplateStarter>;

/** In the order in which a person chooses among them. */
const keys = [
  "newsletter-lead-story",
  "newsletter-short-news",
  "newsletter-two-columns",
  "product-news",
  "event",
  "digest",
  "receipt",
  "welcome",
  "password-reset",
  "invitation",
  "survey",
  "letter",
] as const;

let starters: readonly TemplateStarter[] | undefined;

/** All starters. Their files are read with the first call. */
export function listStarters(): readonly TemplateStarter[] {
  starters ??= keys.map((key) => ({
    key,
    ...JSON.parse(readFileSync(new URL(`${key}.json`, import.meta.url), "utf8")),
  }));
  return starters;
}
