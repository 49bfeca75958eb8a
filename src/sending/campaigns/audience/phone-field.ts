/**
 * The custom field in which an SMS campaign looks for telephone numbers. A name that is mistyped would send it to nobody,
 * once and for all: it is refused as soon as that can be known. Values need no definition, so a name that the list does not
 * define may be right; whether anybody has a number there is looked for when the campaign is sent.
 */
import type { CountryCode } from "libphonenumber-js";
import { isReservedName, normalizeFieldName } from "#audience/custom-fields/field-name.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { NewCampaign } from "#sending/campaigns/campaign.ts";
import { fieldError } from "#sending/mail-fields.ts";
import { fieldKey, readPhoneNumber } from "#sending/sms/phone-number.ts";
import { listNumbered } from "#sending/sms/phone-numbers-store.ts";
import type { CampaignAudience } from "./audience.ts";
import { hasAtLeast, hasReachable } from "./recipients-store.ts";

/** Values that are read as numbers, a tenth of a second's work. */
const MOST_NUMBERS = 5_000;
const MOST_NAMED = 10;

/** @throws ApiError VALIDATION_ERROR for a name that no custom field can have, and one that the list spells otherwise */
export async function readPhoneField(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
  { message_type, phone_field_name }: Pick<NewCampaign, "message_type" | "phone_field_name">,
): Promise<string | null> {
  const name = phone_field_name?.trim() || null;
  if (message_type !== "sms") return name;
  if (name === null) throw fieldError("phone_field_name", "is required for an sms");
  const key = fieldKey(name);
  const meant = normalizeFieldName(key);
  if (isReservedName(meant)) {
    throw fieldError(
      "phone_field_name",
      `${name} is no custom field: name the one that holds telephone numbers`,
    );
  }
  const names = await namesInForce(db, workspaceId, listId);
  if (names.includes(meant) && !names.includes(key)) {
    throw fieldError("phone_field_name", `${name} is not how the list names its field: use ${meant}`);
  }
  return name;
}

/**
 * Whether an SMS may reach anybody of an audience, as mayReachAnybody has it for mail.
 * @throws ApiError VALIDATION_ERROR when nobody has a valid number in the field
 */
export async function hasReachableBySms(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people, list, terms }: CampaignAudience,
  phone: { readonly fieldName: string; readonly country: CountryCode | null; readonly most: number },
): Promise<boolean> {
  const { fieldName, country, most } = phone;
  const key = fieldKey(fieldName);
  const { found, numbered } = await listNumbered(tx, workspaceId, people, key, {
    looks: most,
    most: MOST_NUMBERS,
    isNumber: (text) => readPhoneNumber(text, country) !== null,
  });
  if (numbered !== null) {
    return (
      (await hasReachable(tx, workspaceId, numbered, { ...terms, most })) || hasAtLeast(tx, people, most)
    );
  }
  const names = await namesInForce(tx, workspaceId, list?.id ?? null);
  // Further behind there may be numbers, unless nobody has anything there and no list knows the field.
  const mayBeThere = found > 0 || names.includes(key);
  const goesOn = found === MOST_NUMBERS || (await hasAtLeast(tx, people, most));
  if (mayBeThere && goesOn) return true;
  throw fieldError("phone_field_name", nobodyHasANumber(fieldName, { found, names, country }));
}

function nobodyHasANumber(
  fieldName: string,
  known: {
    readonly found: number;
    readonly names: readonly string[];
    readonly country: CountryCode | null;
  },
): string {
  const { found, names, country } = known;
  const nobody = `${fieldName}: nobody of the audience has a valid telephone number in this custom field`;
  const fields = names.length === 0 ? "none" : names.slice(0, MOST_NAMED).join(", ");
  const advice = found > 0 && country === null ? "write numbers with + and their country code, or " : "";
  return `${nobody}; ${advice}name the field that holds them (defined are: ${fields})`;
}

async function namesInForce(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
): Promise<string[]> {
  const fields =
    listId === null
      ? await listFields(db, workspaceId, null)
      : await listFieldsInForce(db, workspaceId, listId);
  return fields.map(({ field_name }) => field_name);
}
