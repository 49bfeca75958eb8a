/** What a subscriber of listmonk is here, read by the API and from its export alike. */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { GivenValue } from "#cli/migrate-from/source.ts";

/** The suppression list of blocklisted people. */
export const BLOCKLIST = "listmonk: blocklisted";

type Values = readonly (readonly [name: string, value: GivenValue])[];

/** Attributes within attributes that become fields of their own: {"stack": {"languages": …}} is `stack_languages`. */
const DEEPEST = 3;

/** Values of custom fields from the attributes, which are any JSON object. */
export function attributeValues(attributes: unknown, prefix = "", depth = 1): Values {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) return [];
  return Object.entries(attributes).flatMap(([key, value]: [string, unknown]): Values => {
    const name = `${prefix}${key}`;
    if (value === null || value === undefined) return [];
    if (typeof value === "object" && !Array.isArray(value) && depth < DEEPEST) {
      return attributeValues(value, `${name}.`, depth + 1);
    }
    return [[name, givenValueOf(value)]];
  });
}

function givenValueOf(value: unknown): GivenValue {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  const isPlainArray = Array.isArray(value) && value.every((one) => typeof one !== "object");
  return isPlainArray ? value.map(String) : JSON.stringify(value);
}

export function statusOfPerson(status: string): SubscriberStatus {
  return status === "enabled" ? "active" : "unsubscribed";
}

/** listmonk has one field for the whole name. */
export function splitName(name: string): { readonly first_name: string; readonly last_name: string } {
  const [first_name = "", ...rest] = name.trim().split(/\s+/);
  return { first_name, last_name: rest.join(" ") };
}
