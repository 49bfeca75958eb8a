/** Values of merge tags that a caller gives: the test data of a template, and the variables of a mail. */
import { invalid } from "#platform/errors.ts";
import type { VariableName } from "#sending/content/merge-tag-names.ts";
import type { RecipientValues } from "#sending/content/render.ts";

type MergeData = Readonly<Record<string, unknown>>;

const MOST_KILOBYTES = 64;
const DEEPEST_VALUE = 8;

/** @throws ApiError VALIDATION_ERROR */
export function readTestData(data: MergeData): MergeData {
  return readMergeData(data, "test_data");
}

/** @throws ApiError VALIDATION_ERROR for values that are too large or nested too deeply */
export function readMergeData(data: MergeData, field: string): MergeData {
  const refuse = (message: string) => invalid({ field, message: `${field} ${message}` });
  if (depthOf(data) > DEEPEST_VALUE) throw refuse(`must be nested at most ${DEEPEST_VALUE} levels deep`);
  if (Buffer.byteLength(JSON.stringify(data)) > MOST_KILOBYTES * 1024) {
    throw refuse(`must have at most ${MOST_KILOBYTES} KB as JSON`);
  }
  return data;
}

/** The names that every recipient has. Data may have them, too; other names are those of custom fields. */
const personal = ["email", "first_name", "last_name", "list_name", "campaign_name"] as const;
const links = ["unsubscribe_url", "view_in_browser_url"] as const satisfies VariableName[];

/** Data as the values of a person. Only texts and numbers are values of the names that every recipient has. */
export function mergeValuesOf(
  data: MergeData,
): Partial<Omit<RecipientValues, "now">> & Pick<RecipientValues, "custom_fields"> {
  const own = personal.flatMap((name) => {
    const text = textOf(data[name]);
    return text === null ? [] : [[name, text] as const];
  });
  const { custom_fields: nested, ...more } = data;
  const others = Object.entries(more).filter(
    ([name]) => ![...personal, ...links].some((one) => one === name),
  );
  return { ...Object.fromEntries(own), custom_fields: Object.fromEntries([...fieldsOf(nested), ...others]) };
}

/**
 * A person with the values of data. Those of a made-up person give way to the data; those of a subscriber do not.
 * @param isReal whether the person is a subscriber
 */
export function withMergeData<Person extends PersonalData>(
  person: Person,
  data: MergeData,
  isReal: boolean,
): Person {
  const given = mergeValuesOf(data);
  const [weak, strong] = isReal ? [given, person] : [person, given];
  return {
    ...person,
    email: strong.email ?? person.email,
    first_name: strong.first_name ?? weak.first_name ?? null,
    last_name: strong.last_name ?? weak.last_name ?? null,
    custom_fields: { ...weak.custom_fields, ...strong.custom_fields },
  };
}

type PersonalData = Pick<RecipientValues, "email" | "first_name" | "last_name" | "custom_fields">;

/** The address that data gives for a link; null without one. */
export function linkOf(data: MergeData, name: (typeof links)[number]): string | null {
  return textOf(data[name]);
}

/** `custom_fields` in data is what `{{ custom_fields.city }}` reads. */
function fieldsOf(nested: unknown): [string, unknown][] {
  return typeof nested === "object" && nested !== null && !Array.isArray(nested)
    ? Object.entries(nested)
    : [];
}

function textOf(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

/** Levels of objects and lists in a value, counted up to one more than is allowed. */
function depthOf(value: unknown, left = DEEPEST_VALUE + 1): number {
  if (typeof value !== "object" || value === null || left === 0) return 0;
  return 1 + Object.values(value).reduce<number>((most, one) => Math.max(most, depthOf(one, left - 1)), 0);
}
