/** The names that merge tags of a campaign can use, and which of them its templates use. */

import type { Template, VariableUse } from "#mail/merge-tags/read-template.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";

/**
 * Names of values that every recipient has, with their meaning for authors. They take precedence over a custom field of the
 * same name.
 */
export const variableMeanings = {
  first_name: "First name",
  last_name: "Last name",
  email: "Address of the recipient",
  list_name: "Name of the mailing list",
  campaign_name: "Name of the campaign or the autoresponder",
  unsubscribe_url: "The recipient's own link to unsubscribe",
  view_in_browser_url: "The recipient's own link to the mail in a browser",
} as const;
export type VariableName = keyof typeof variableMeanings;
export const variableNames = Object.keys(variableMeanings) as VariableName[];

/** `{{ custom_fields.city }}`; `{{ city }}` is short for it. */
export const fieldsVariable = "custom_fields";

/** The names that a campaign's templates use. */
export interface UsedNames {
  readonly variables: readonly VariableName[];
  /** Names of custom fields; null when a template computes the name, so that any field may be used. */
  readonly fields: readonly string[] | null;
  /** Whether a time is shown, which depends on the time zone and, with `now`, on the time of rendering. */
  readonly usesDates: boolean;
}

/** The names over all templates: what has to be read of a recipient to render them. */
export function usedNames(templates: readonly Template[]): UsedNames {
  const variables = new Set<VariableName>();
  const fields = new Set<string | null>();
  for (const { path } of templates.flatMap((template) => template.variables)) {
    const [root] = path;
    if (isVariable(root)) variables.add(root);
    else fields.add(fieldOf(path));
  }
  const named = [...fields].filter((name) => name !== null);
  return {
    variables: [...variables],
    fields: named.length === fields.size ? named : null,
    usesDates: templates.some(showsTime),
  };
}

/** The names together with those of more custom fields. */
export function withFields(used: UsedNames, more: readonly string[]): UsedNames {
  return { ...used, fields: used.fields && [...new Set([...used.fields, ...more])] };
}

/** Whether a piece uses the filter `date`. A variable or string named `date` is a harmless false positive. */
function showsTime({ source, pieces }: Template): boolean {
  return pieces.some(({ kind, start, end }) => kind !== "text" && /\bdate\b/.test(source.slice(start, end)));
}

/**
 * Warnings for unknown names. A subscriber may still have a value of an undefined custom field, which is shown.
 * @param fields names of the defined custom fields
 */
export function unknownNames({ variables }: Template, fields: ReadonlySet<string>): PlacedFault[] {
  const known = new Map([...fields, ...variableNames].map((name) => [plain(name), name]));
  return variables.flatMap(({ path, at }) => {
    const [root] = path;
    const field = fieldOf(path);
    if (isVariable(root)) {
      if (path.length === 1 || path[1] === "size") return [];
      return { at, message: `There is no ${path.join(".")}: it shows nothing.` };
    }
    if (field === null || fields.has(field)) return [];
    const meant = known.get(plain(field));
    const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
    const message = `No custom field ${field} is defined: it shows nothing, except for people who have such a value.`;
    return { at, message: message + hint };
  });
}

/** The custom field that the path reads; null when it may be any field. */
function fieldOf([root, name]: VariableUse["path"]): string | null {
  const field = root === fieldsVariable ? name : root;
  return field === undefined || field === null ? null : String(field);
}

/** The path that shows a custom field: its name, unless the name means something else in a template. */
export function pathOfField(name: string): string {
  const isPlainName = /^[a-z_]/.test(name) && !literals.has(name) && !isVariable(name);
  return isPlainName ? name : `${fieldsVariable}.${name}`;
}

/** Words of Liquid that are values. */
const literals: ReadonlySet<string> = new Set(["true", "false", "nil", "null", "empty", "blank"]);

function isVariable(name: unknown): name is VariableName {
  return variableNames.some((variable) => variable === name);
}

/** A name without differences of style: FirstName and first-name become firstname. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
