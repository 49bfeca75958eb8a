/**
 * The custom field with the telephone numbers of an SMS campaign. With a misspelled name the campaign would reach no one, so
 * the name is refused as soon as the mistake is certain. Subscribers may have values of undefined fields, so an undefined
 * name may be right: whether any number exists is checked when the campaign is sent.
 */
import type { CountryCode } from "libphonenumber-js";
import { isReservedName, normalizeFieldName } from "#audience/custom-fields/field-name.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { NewCampaign } from "#sending/campaigns/campaign.ts";
import { fieldError } from "#sending/mail-fields.ts";
import { listNumbered } from "#sending/sms/audience-phone-numbers-store.ts";
import { fieldKey, readPhoneNumber } from "#sending/sms/phone-number.ts";
import type { CampaignAudience } from "./find-audience.ts";
import { hasAtLeast, hasReachable } from "./recipients-store.ts";

/** Values that are parsed as telephone numbers, about a tenth of a second of work. */
const MOST_NUMBERS = 5_000;
const MOST_NAMED = 10;

/** @throws ApiError VALIDATION_ERROR for a reserved name, and for one that the list's field spells differently */
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
      `${name} is not a custom field: give the one that holds telephone numbers`,
    );
  }
  const names = await namesInForce(db, workspaceId, listId);
  if (names.includes(meant) && !names.includes(key)) {
    throw fieldError("phone_field_name", `${name} is not the name of the list's field: use ${meant}`);
  }
  return name;
}

/**
 * Whether an audience has a person who may get an SMS; hasReachable does the same for mail.
 * @throws ApiError VALIDATION_ERROR when no recipient has a valid number in the field
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
  // People after these may have numbers, unless none of these has a value and no list defines the field.
  const mayBeThere = found > 0 || names.includes(key);
  const goesOn = found === MOST_NUMBERS || (await hasAtLeast(tx, people, most));
  if (mayBeThere && goesOn) return true;
  throw fieldError("phone_field_name", noNumberMessage(fieldName, { found, names, country }));
}

function noNumberMessage(
  fieldName: string,
  known: {
    readonly found: number;
    readonly names: readonly string[];
    readonly country: CountryCode | null;
  },
): string {
  const { found, names, country } = known;
  const noNumber = `${fieldName}: no one in the audience has a valid telephone number in this custom field`;
  const fields = names.length === 0 ? "none" : names.slice(0, MOST_NAMED).join(", ");
  const advice = found > 0 && country === null ? "write numbers with + and their country code, or " : "";
  return `${noNumber}; ${advice}give the field that holds them (defined fields: ${fields})`;
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
