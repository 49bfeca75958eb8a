/** Query parameters, each with its schema and its reader. Paging and lenient windows ignore invalid values; others are refused. */
import { type TSchema, Type } from "typebox";
import { DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { isUuid } from "#platform/ids.ts";
import { Id } from "#platform/shapes.ts";
import { checkQueryNames, type QuerySurroundings } from "./unknown-fields.ts";

export interface QueryField<Value> {
  readonly schema: TSchema;
  /** @throws ApiError VALIDATION_ERROR for an invalid value that is not ignored */
  read(text: string | undefined, name: string): Value;
}

export type QueryFields = Readonly<Record<string, QueryField<unknown>>>;
export type QueryValues<Fields extends QueryFields> = {
  readonly [Name in keyof Fields]: ReturnType<Fields[Name]["read"]>;
};

/** Whether requests without the parameter are refused. */
export function isRequired(field: QueryField<unknown>, name: string): boolean {
  try {
    field.read(undefined, name);
    return false;
  } catch (fault) {
    if (fault instanceof ApiError) return true;
    throw fault;
  }
}

/** An integer from 1 to `most`. Invalid values become the default, larger ones `most`, without an error. */
function clamped(fallback: number, most: number, description: string): QueryField<number> {
  return {
    schema: Type.Integer({ minimum: 1, maximum: most, default: fallback, description }),
    read(text) {
      const number = /^\d+$/.test(text ?? "") ? Number(text) : 0;
      return number < 1 ? fallback : Math.min(number, most);
    },
  };
}

/** Largest page number: beyond any real list, and small enough for OFFSET. */
const LAST_PAGE = 1_000_000_000;

/** The parameters `page` and `limit` of paginated lists. */
export const pageFields = (fallback = 50, most = 200) => ({
  page: clamped(1, LAST_PAGE, "Page to return, from 1."),
  limit: clamped(fallback, most, `Rows per page, at most ${most}.`),
});

/** `pageFields` and the cursor `after` (list-page.ts). */
export const cursorFields = (fallback?: number, most?: number) => ({
  ...pageFields(fallback, most),
  after: textField(
    200,
    "`next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored.",
  ),
});

/** The parameter `window_days`. @throws ApiError VALIDATION_ERROR for another value than 1 to `most` */
export function windowField(most: number): QueryField<number> {
  const { schema } = lenientWindowField(most);
  return {
    schema,
    read(text, name) {
      if (text === undefined || text === "") return DEFAULT_WINDOW;
      const days = readDays(text, most);
      if (days !== undefined) return days;
      throw invalid({ field: name, message: `${name} must be a whole number from 1 to ${most}` });
    },
  };
}

/** As windowField, for endpoints whose contract ignores invalid values: these become the default, without an error. */
export function lenientWindowField(most: number, fallback = DEFAULT_WINDOW): QueryField<number> {
  return {
    schema: Type.Integer({
      minimum: 1,
      maximum: most,
      default: fallback,
      description: "Number of days up to now.",
    }),
    read: (text = "") => readDays(text, most) ?? fallback,
  };
}

/** In days. */
const DEFAULT_WINDOW = 30;

function readDays(text: string, most: number): number | undefined {
  const days = /^\d+$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= most ? days : undefined;
}

/**
 * A parameter that is true or false.
 * @param fallback if it is absent
 * @param alone if it has no value (`?flag`)
 */
export function flagField(fallback: boolean, description: string, alone = fallback): QueryField<boolean> {
  return {
    schema: Type.Boolean({ default: fallback, description }),
    read(text, name) {
      if (text === undefined) return fallback;
      if (text === "") return alone;
      if (text === "true" || text === "1") return true;
      if (text === "false" || text === "0") return false;
      throw invalid({ field: name, message: `${name} must be true or false` });
    },
  };
}

/**
 * A parameter that is true or false; undefined if absent.
 * @param alone if it has no value (`?flag`)
 */
export function maybeField(description: string, alone?: boolean): QueryField<boolean | undefined> {
  const flag = flagField(false, description);
  return {
    schema: Type.Boolean({ description }),
    read: (text, name) => (text?.trim() ? flag.read(text, name) : text === undefined ? undefined : alone),
  };
}

/** A parameter that is one of some words; undefined if absent or empty. */
export function choiceField<const Word extends string>(
  words: readonly Word[],
  description: string,
): QueryField<Word | undefined> {
  return {
    schema: Type.Enum([...words], { description }),
    read(text, name) {
      if (text === undefined || text === "") return undefined;
      const word = words.find((candidate) => candidate === text);
      if (word === undefined)
        throw invalid({ field: name, message: `${name} must be one of ${words.join(", ")}` });
      return word;
    },
  };
}

/** A text parameter, trimmed; undefined if absent or empty. */
export function textField(maxLength: number, description: string): QueryField<string | undefined> {
  return {
    schema: Type.String({ maxLength, description }),
    read(text, name) {
      const value = text?.trim();
      if (!value) return undefined;
      if (value.includes("\0"))
        throw invalid({ field: name, message: `${name} must not contain NUL characters` });
      if (value.length > maxLength) {
        throw invalid({ field: name, message: `${name} must be at most ${maxLength} characters` });
      }
      return value;
    },
  };
}

/** A UUID parameter, in lower case as in the database; undefined if absent or empty. */
export function idField(description: string): QueryField<string | undefined> {
  return {
    schema: { ...Id, description },
    read(text, name) {
      const id = text?.trim().toLowerCase();
      if (!id) return undefined;
      if (!isUuid(id)) throw invalid({ field: name, message: `${name} must be a UUID` });
      return id;
    },
  };
}

const utcDates = new DateReader({ timeZone: "UTC" });
/** The last moment of the years with four digits. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A point in time; undefined if absent or empty. A date means its first moment, a time without an offset is in UTC. */
export function timeField(description: string): QueryField<Date | undefined> {
  return {
    schema: Type.String({
      maxLength: 100,
      description: `${description} A time such as 2026-03-01T09:30:00Z, or a date for its first moment in UTC.`,
    }),
    read(text, name) {
      if (!text?.trim()) return undefined;
      const at = utcDates.readMoment(text);
      if (at === undefined || at.getTime() < 0 || at.getTime() > LAST_MS) {
        throw invalid({ field: name, message: `${name} ${dateFaults.unreadable}` });
      }
      return at;
    },
  };
}

/**
 * Reads all query parameters of an endpoint. If a parameter is given twice, the last one counts.
 * @throws ApiError VALIDATION_ERROR for invalid values, and for unknown names that are similar to a known one
 */
export function readQuery(
  fields: QueryFields,
  given: Readonly<Record<string, unknown>>,
  setting: QuerySurroundings = {},
): Record<string, unknown> {
  checkQueryNames(Object.keys(fields), Object.keys(given), setting);
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined;
    const text: unknown = Array.isArray(raw) ? raw.at(-1) : raw;
    values[name] = field.read(typeof text === "string" ? text : undefined, name);
  }
  return values;
}
