/** Checks the form of rule values. A returned text is a refusal, which completes "value …". */

export const MOST_ITEMS = 1_000;
export const LONGEST_TEXT = 500;

export const valueTypes = [
  "none",
  "text",
  "number",
  "boolean",
  "date",
  "days",
  "segment",
  "mailing_list",
  "campaign",
  "campaign_link",
] as const;

/** What an operator takes as the value of a rule, as GET /segments/fields says it. */
export interface ValueForm {
  readonly type: (typeof valueTypes)[number];
  /** Several of them in an array. */
  readonly is_array: boolean;
  /** Characters of a text. */
  readonly max_length?: number;
  readonly max_items?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The forms that readRuleText and readRuleTexts accept. */
export const oneText: ValueForm = { type: "text", is_array: false, max_length: LONGEST_TEXT };
export const someTexts: ValueForm = { ...oneText, is_array: true, max_items: MOST_ITEMS };

type Normal = (text: string) => string;

/** Reads one text. */
export function readRuleText<Result>(
  value: unknown,
  normal: Normal,
  use: (text: string) => Result,
): Result | string {
  const wanted = `must be a text of 1 to ${LONGEST_TEXT} characters`;
  if (typeof value !== "string") return wanted;
  const text = normal(value);
  return text === "" || value.length > LONGEST_TEXT ? wanted : use(text);
}

/** Reads an array of texts; duplicates are dropped. */
export function readRuleTexts<Result>(
  value: unknown,
  normal: Normal,
  use: (texts: readonly string[]) => Result,
): Result | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) {
    return `must be an array of 1 to ${MOST_ITEMS} texts`;
  }
  const texts = new Set<string>();
  for (const item of value) {
    const refusal = readRuleText(item, normal, (text) => void texts.add(text));
    if (refusal !== undefined) return `must be an array of texts of 1 to ${LONGEST_TEXT} characters`;
  }
  return use([...texts]);
}
