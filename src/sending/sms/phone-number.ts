/** Telephone numbers as people write them, in the one spelling that gateways take (ITU-T E.164). */
import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js";

/** Nobody writes a number in more characters. */
const LONGEST = 40;

/**
 * "+49 (0)170 123 45 67" gives "+491701234567"; null for what is no valid number of any country.
 * @param country of numbers without a country code; null: they are not valid
 */
export function readPhoneNumber(value: unknown, country: CountryCode | null): string | null {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  if (text === "" || text.length > LONGEST) return null;
  // The trunk prefix that Germans and others write behind the country code.
  const international = text.replace(/^00/, "+").replace(/^(\+\d{1,3}\s*)\(0\)/, "$1");
  const number = parsePhoneNumberFromString(international, country ?? undefined);
  return number?.isValid() && number.ext === undefined ? number.number : null;
}

/** The number in a person's custom field, which may be named `custom_fields.phone`, too. */
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
