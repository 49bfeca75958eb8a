/** The names that merge tags of a campaign can use (decisions, section 8), and which of them a campaign does. */

import type { Template, VariableUse } from "#mail/merge-tags/read-template.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";

/** Values that every recipient has, as templates name them; a custom field of the same name is hidden by them. */
export const variableNames = [
  "email",
  "first_name",
  "last_name",
  "list_name",
  "campaign_name",
  "unsubscribe_url",
  "view_in_browser_url",
] as const;
export type VariableName = (typeof variableNames)[number];

/** `{{ custom_fields.city }}`; `{{ city }}` is short for it. */
export const fieldsVariable = "custom_fields";

/** What a campaign's templates ask for. */
export interface UsedNames {
  readonly variables: readonly VariableName[];
  /** Names of custom fields; null where a template finds out by itself which it reads. */
  readonly fields: readonly string[] | null;
  /** Whether a time is shown, which is a matter of the time zone and, with `now`, of the moment. */
  readonly usesDates: boolean;
}

/** What has to be known of a recipient to render the templates. */
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

/** Whether anything goes through the filter `date`; a name or a text of that word does no harm. */
function showsTime({ source, pieces }: Template): boolean {
  return pieces.some(({ kind, start, end }) => kind !== "text" && /\bdate\b/.test(source.slice(start, end)));
}

/**
 * Names of values that do not exist. People may have values of custom fields that nobody defined, which are shown.
 * @param fields names of the custom fields there are
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
    const message = `No custom field ${field} is defined: it shows nothing, but for people who have such a value.`;
    return { at, message: message + hint };
  });
}

/** The custom field that is read; null for any of them. */
function fieldOf([root, name]: VariableUse["path"]): string | null {
  const field = root === fieldsVariable ? name : root;
  return field === undefined || field === null ? null : String(field);
}

function isVariable(name: unknown): name is VariableName {
  return variableNames.some((variable) => variable === name);
}

/** What is left of a name that was written in another style: FirstName, first-name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
