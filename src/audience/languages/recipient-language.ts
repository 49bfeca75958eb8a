/** The language in which a recipient reads what the service writes to them. */
import { type Language, readLanguage } from "#platform/languages/language.ts";

/** Names of custom fields that have a language, unless the workspace names its field: the first with a known value counts. */
const CONVENTIONAL_FIELDS = ["language", "locale"];

/** Where a recipient's language comes from. */
export interface LanguageSource {
  /** For recipients without a language of their own: that of the list, or of the workspace. */
  readonly language: Language;
  /** Defined custom fields that may have a recipient's language, in the order in which they count. */
  readonly fields: readonly string[];
}

/**
 * @param chosen the field that the workspace names; null for none
 * @param defined names of the custom fields that the recipient may have
 */
export function languageFields(chosen: string | null, defined: ReadonlySet<string>): readonly string[] {
  return (chosen === null ? CONVENTIONAL_FIELDS : [chosen]).filter((name) => defined.has(name));
}

/** @param values custom field values of the recipient by field_name */
export function languageOf(
  { language, fields }: LanguageSource,
  values: Readonly<Record<string, unknown>>,
): Language {
  return ownLanguage(fields, values) ?? language;
}

/** The language that a recipient's values name; undefined for none. @param fields in the order in which they count */
export function ownLanguage(
  fields: LanguageSource["fields"],
  values: Readonly<Record<string, unknown>>,
): Language | undefined {
  for (const name of fields) {
    const own = Object.hasOwn(values, name) ? readLanguage(values[name]) : undefined;
    if (own !== undefined) return own;
  }
  return undefined;
}
