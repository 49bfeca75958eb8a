/**
 * Query parameters. Each is a reader with a documented shape: some fall back on a bad value (paging, windows: the
 * contract says so), the others refuse it.
 */
import { type TSchema, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { isUuid } from "#platform/ids.ts";
import { Id } from "#platform/shapes.ts";
import { judgeQueryNames, type QuerySurroundings } from "./unknown-names.ts";

export interface QueryField<Value> {
  readonly schema: TSchema;
  /** @throws ApiError VALIDATION_ERROR for a value that may not be ignored. */
  read(text: string | undefined, name: string): Value;
}

export type QueryFields = Readonly<Record<string, QueryField<unknown>>>;
export type QueryValues<Fields extends QueryFields> = {
  readonly [Name in keyof Fields]: ReturnType<Fields[Name]["read"]>;
};

/** A whole number that silently becomes the default when it cannot be read, and the nearest bound when too large. */
function clamped(fallback: number, most: number, description: string): QueryField<number> {
  return {
    schema: Type.Integer({ minimum: 1, maximum: most, default: fallback, description }),
    read(text) {
      const number = /^\d+$/.test(text ?? "") ? Number(text) : 0;
      return number < 1 ? fallback : Math.min(number, most);
    },
  };
}

/** Deepest page that is counted to: past any real list, and small enough for OFFSET arithmetic. */
const LAST_PAGE = 1_000_000_000;

/** `page` and `limit` of every paginated list (specification, section 1; maximum 200 unless said otherwise). */
export const pageFields = (fallback = 50, most = 200) => ({
  page: clamped(1, LAST_PAGE, "Page to return, from 1."),
  limit: clamped(fallback, most, `Rows a page, at most ${most}.`),
});

/** The same for lists that can be walked by a cursor, too (walk-schema.ts). */
export const cursorFields = (fallback?: number, most?: number) => ({
  ...pageFields(fallback, most),
  after: textField(
    200,
    "`next_cursor` of an answer with the same filter: the rows after that answer, whatever came or went meanwhile. `page` does not count then.",
  ),
});

/** `window_days`: what cannot be read or is out of range becomes the default, silently (specification, Query semantics). */
export function windowField(most: number, fallback = 30): QueryField<number> {
  return {
    schema: Type.Integer({ minimum: 1, maximum: most, default: fallback, description: "Days up to now." }),
    read(text) {
      const days = /^\d+$/.test(text ?? "") ? Number(text) : 0;
      return days >= 1 && days <= most ? days : fallback;
    },
  };
}

/**
 * true or false; absent or empty is the fallback, anything else is refused.
 * @param alone what `?flag` without a value means
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

/** One of some words, or undefined when absent; an unknown word is refused. */
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

/** Free text, trimmed; empty counts as absent. */
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

/** An id, in the one spelling that rows have; empty counts as absent. */
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

/**
 * Reads all fields of an endpoint. Of a parameter given twice the last one counts.
 * @throws ApiError VALIDATION_ERROR also for an unknown name that is near to a known one
 */
export function readQuery(
  fields: QueryFields,
  given: Readonly<Record<string, unknown>>,
  setting: QuerySurroundings = {},
): Record<string, unknown> {
  judgeQueryNames(Object.keys(fields), Object.keys(given), setting);
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined;
    const text: unknown = Array.isArray(raw) ? raw.at(-1) : raw;
    values[name] = field.read(typeof text === "string" ? text : undefined, name);
  }
  return values;
}
