/** Shortens large answers to what fits into the context of a model: long texts first, then rows of the largest list. */

type Answer = Readonly<Record<string, unknown>>;

/** Characters of JSON: some 15,000 tokens. */
const MOST_CHARACTERS = 60_000;
/** Lengths to which texts are cut, one after another until the answer is short enough. */
const TEXT_LENGTHS = [20_000, 4_000, 500];

/**
 * The answer, or a shorter one whose `shortened` says what is missing and how to get it.
 * @param parameters query parameters of the operation
 */
export function shortened(answer: Answer, parameters: readonly string[]): Answer {
  if (sizeOf(answer) <= MOST_CHARACTERS) return answer;
  const notes: string[] = [];
  let shorter = answer;
  for (const most of TEXT_LENGTHS) {
    shorter = cutTexts(answer, most) as Answer;
    if (sizeOf(shorter) <= MOST_CHARACTERS) break;
  }
  if (sizeOf(shorter) < sizeOf(answer)) notes.push("Long texts are cut.");
  while (sizeOf(shorter) > MOST_CHARACTERS) {
    const list = largestList(shorter, []);
    if (list === undefined || list.rows.length === 0) {
      return { message: answer.message, shortened: "The answer is too large to be shown." };
    }
    const share = (MOST_CHARACTERS * 0.9) / sizeOf(shorter);
    const kept = Math.min(list.rows.length - 1, Math.floor(list.rows.length * share));
    shorter = replaced(shorter, list.path, list.rows.slice(0, kept)) as Answer;
    const whole = at(answer, list.path) as readonly unknown[];
    const note = `\`${list.path.join(".")}\` has only the first ${kept} of ${whole.length} rows.`;
    const before = notes.findIndex((one) => one.startsWith(`\`${list.path.join(".")}\` `));
    if (before >= 0) notes.splice(before, 1);
    notes.push(note);
    // A cursor would skip the rows that are left out.
    shorter = withoutCursors(shorter) as Answer;
  }
  const isPaged = parameters.includes("limit");
  const paging = parameters.includes("after")
    ? " Ask again with that `limit`, then with `after` for the next rows."
    : " Ask again with that `limit`.";
  const hasLostRows = notes.some((note) => note.startsWith("`"));
  return { ...shorter, shortened: `${notes.join(" ")}${isPaged && hasLostRows ? paging : ""}` };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

function cutTexts(value: unknown, most: number): unknown {
  if (typeof value === "string") {
    const rest = value.length - most;
    return rest <= 0
      ? value
      : `${value.slice(0, most).toWellFormed()}… [${rest.toLocaleString("en")} more characters]`;
  }
  if (Array.isArray(value)) return value.map((part) => cutTexts(part, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cutTexts(part, most)]));
}

interface FoundList {
  readonly path: readonly string[];
  readonly rows: readonly unknown[];
  readonly size: number;
}

/** The list with the most characters; of a list within a list, the outer one. */
function largestList(value: unknown, path: readonly string[]): FoundList | undefined {
  if (Array.isArray(value)) return { path, rows: value, size: sizeOf(value) };
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value)
    .flatMap(([name, part]) => largestList(part, [...path, name]) ?? [])
    .reduce<FoundList | undefined>(
      (largest, list) => (largest && largest.size >= list.size ? largest : list),
      undefined,
    );
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((part, name) => (part as Record<string, unknown>)[name], value);
}

function replaced(value: unknown, [name, ...rest]: readonly string[], list: readonly unknown[]): unknown {
  if (name === undefined) return list;
  const whole = value as Record<string, unknown>;
  return { ...whole, [name]: replaced(whole[name], rest, list) };
}

function withoutCursors(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { next_cursor: _, ...rest } = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, withoutCursors(part)]));
}
