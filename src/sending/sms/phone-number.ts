/** Converts telephone numbers as people write them to E.164 (ITU-T), which SMS gateways need. */
import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js";

/** Longer texts are not parsed. */
const LONGEST = 40;

/**
 * "+49 (0)170 123 45 67" gives "+491701234567"; null when it is not a valid number of any country.
 * @param country the country of numbers without a country code; null: they are invalid
 */
export function readPhoneNumber(value: unknown, country: CountryCode | null): string | null {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  if (text === "" || text.length > LONGEST) return null;
  // The trunk prefix (0) after the country code, as it is written in Germany and elsewhere.
  const international = text.replace(/^00/, "+").replace(/^(\+\d{1,3}\s*)\(0\)/, "$1");
  const number = parsePhoneNumberFromString(international, country ?? undefined);
  return number?.isValid() && number.ext === undefined ? number.number : null;
}

/** The number in a subscriber's custom field. The field name may have the prefix `custom_fields.`. */
export function phoneIn(
  fields: Readonly<Record<string, unknown>> | null,
  fieldName: string,
  country: CountryCode | null,
): string | null {
  return readPhoneNumber(fields?.[fieldKey(fieldName)], country);
}

export function fieldKey(fieldName: string): string {
  return fieldName.replace(/^custom_fields\./, "");
}
