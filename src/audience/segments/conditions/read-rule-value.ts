/** Checks the form of rule values. A returned text is a refusal, which completes "value …". */

export const MOST_ITEMS = 1_000;
export const LONGEST_TEXT = 500;

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
