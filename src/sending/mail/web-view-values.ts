/**
 * The values that a mail shows: of its recipient, its campaign and the time. The web view of a sent mail is rendered with
 * them, because subscribers, lists and campaigns change later. Only values that the content uses are kept, and none if the
 * content has no link to its web view.
 */

import type { UsedNames, VariableName } from "#sending/content/merge-tag-names.ts";
import type { RecipientValues } from "#sending/content/render.ts";
import type { CampaignToSend } from "./presend-store.ts";

export type PersonalValues = Pick<RecipientValues, "email" | "first_name" | "last_name" | "custom_fields">;

const names = ["email", "first_name", "last_name", "list_name", "campaign_name"] as const;

/** The JSON form; values that the content does not use are missing. */
interface ShownValues extends Partial<Omit<RecipientValues, "now">> {
  /** IANA name; only with `now`. */
  readonly timezone?: string;
  /** In milliseconds. */
  readonly now?: number;
}

/** The values that a campaign's mail is rendered with. */
export function mailValues(
  { mailing_list_name, name }: Pick<CampaignToSend, "mailing_list_name" | "name">,
  person: PersonalValues,
  now?: Date,
): RecipientValues {
  return { ...person, list_name: mailing_list_name, campaign_name: name, now };
}

/**
 * The values as JSON; null when the web view needs none.
 * @param address the recipient's address in the message log
 */
export function shownValues(
  { variables, fields, usesDates }: UsedNames,
  { now, ...values }: RecipientValues,
  { address, timezone }: { readonly address: string; readonly timezone: string },
): string | null {
  const isUsed = (name: VariableName) => variables.includes(name);
  const used = names.filter(isUsed);
  const needsNone = used.length === 0 && fields?.length === 0 && !usesDates;
  if (needsNone || !isUsed("view_in_browser_url")) return null;
  const plain = used.filter((name) => name !== "email" || values.email !== address);
  const shown: ShownValues = {
    ...Object.fromEntries(plain.map((name) => [name, values[name]])),
    custom_fields: fields === null ? values.custom_fields : chosen(values.custom_fields, fields),
    ...(usesDates && now && { timezone, now: now.getTime() }),
  };
  return JSON.stringify(shown);
}

/** The values for rendering the web view; `timezone` is undefined when the mail shows no time. */
export function readShown(
  json: string,
  address: string,
): { readonly values: RecipientValues; readonly timezone: string | undefined } {
  const { timezone, now, ...shown } = JSON.parse(json) as ShownValues;
  const values = {
    email: address,
    first_name: null,
    last_name: null,
    list_name: null,
    campaign_name: "",
    custom_fields: {},
    ...shown,
    now: now === undefined ? undefined : new Date(now),
  };
  return { values, timezone };
}

function chosen(
  fields: RecipientValues["custom_fields"],
  wanted: readonly string[],
): RecipientValues["custom_fields"] {
  return Object.fromEntries(
    wanted.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]),
  );
}
