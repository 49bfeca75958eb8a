import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { offsetOf, pagination } from "#platform/http/response/pagination.ts";
import { choiceField, flagField, idField, pageFields, readQuery, textField } from "./query.ts";

const fields = {
  ...pageFields(),
  all: flagField(false, "All."),
  dry: flagField(false, "Dry.", true),
  state: choiceField(["new", "old"], "State."),
  email: textField(10, "E-mail."),
  list_id: idField("List."),
};
const read = (query: Record<string, unknown>) => readQuery(fields, query);
const defaults = {
  page: 1,
  limit: 50,
  all: false,
  dry: false,
  state: undefined,
  email: undefined,
  list_id: undefined,
};

describe("page and limit", () => {
  it("have defaults", () => {
    expect(read({})).toEqual(defaults);
  });

  it.each([
    "0",
    "-1",
    "abc",
    "1.5",
    "",
    " ",
    "NaN",
    "1e400",
    "-9223372036854775808",
    "1e3",
    "0x10",
    "+2",
    "\0",
    "½",
    "0x",
    "[]",
  ])("fall back when they are %j", (value) => {
    expect(read({ page: value, limit: value })).toEqual(defaults);
  });

  it.each(["201", "1000000000", "9223372036854775807"])("are clamped when they are %j", (value) => {
    const { page, limit } = read({ page: value, limit: value });
    expect(limit).toBe(200);
    expect(page).toBeLessThanOrEqual(1_000_000_000);
  });

  it("never fail and never leave their bounds, whatever is sent", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.array(fc.string()), fc.double().map(String)),
        (value) => {
          const { page, limit } = read({ page: value, limit: value }) as { page: number; limit: number };
          expect(Number.isInteger(page) && page >= 1 && page <= 1_000_000_000).toBe(true);
          expect(Number.isInteger(limit) && limit >= 1 && limit <= 200).toBe(true);
          expect(Number.isSafeInteger(offsetOf({ page, limit }))).toBe(true);
        },
      ),
    );
  });

  it("take the last of several values", () => {
    expect(read({ page: ["2", "3"], limit: ["7", "x"] })).toMatchObject({ page: 3, limit: 50 });
  });

  it("are echoed with the totals", () => {
    expect(pagination({ page: 3, limit: 50 }, 101)).toEqual({
      page: 3,
      limit: 50,
      total: 101,
      total_pages: 3,
    });
    expect(pagination({ page: 9, limit: 50 }, 0)).toEqual({ page: 9, limit: 50, total: 0, total_pages: 0 });
    expect(offsetOf({ page: 3, limit: 50 })).toBe(100);
  });
});

function refusalOf(query: Record<string, unknown>): ApiError {
  try {
    read(query);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
  throw new Error("was not refused");
}

describe("the other fields", () => {
  it("are read", () => {
    expect(read({ all: "true", state: "old", email: " a@b " })).toMatchObject({
      all: true,
      state: "old",
      email: "a@b",
    });
    expect(read({ all: "1" })).toMatchObject({ all: true });
    expect(read({ all: "0" })).toMatchObject({ all: false });
    expect(read({ all: "", dry: "" })).toMatchObject({ all: false, dry: true });
  });

  it("have ids in lower case", () => {
    const id = "019ab3c4-0000-7000-8000-00000000abcd";
    expect(read({ list_id: ` ${id.toUpperCase()} ` })).toMatchObject({ list_id: id });
  });

  it("count as absent when empty", () => {
    expect(read({ state: "", email: "  ", list_id: " " })).toEqual(defaults);
  });

  it.each([
    ["all", "yes", "all must be true or false"],
    ["state", "New", "state must be one of new, old"],
    ["state", "__proto__", "state must be one of new, old"],
    ["email", "x".repeat(11), "email must be at most 10 characters"],
    ["email", "a\0b", "email must not contain NUL characters"],
    ["list_id", "7", "list_id must be a UUID"],
  ])("refuse a value that must not be ignored: %s=%j", (field, value, message) => {
    expect(refusalOf({ [field]: value })).toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ field, message }],
    });
  });

  it.each([
    ["pageSize", "pageSize is not a known query parameter: did you mean limit?"],
    ["Page", "Page is not a known query parameter: did you mean page?"],
    ["offset", "offset is not a known query parameter: did you mean page?"],
    ["listId", "listId is not a known query parameter: did you mean list_id?"],
  ])("are refused under a name near to theirs: %s", (name, message) => {
    expect(refusalOf({ [name]: "2" }).details).toEqual([{ field: name, message }]);
  });

  it("are read beside unknown ones, which are reported", () => {
    const told: string[] = [];
    const query = { page: "2", _: "1", utm_source: "x" };
    expect(readQuery(fields, query, { onIgnored: ({ message }) => told.push(message) })).toMatchObject({
      page: 2,
    });
    expect(told).toEqual([
      "_ is not a known query parameter and was ignored",
      "utm_source is not a known query parameter and was ignored",
    ]);
  });

  it("are refused if they are fields of the body, and if the body is closed", () => {
    expect(() => readQuery({}, { subject: "x" }, { bodyFields: ["subject"] })).toThrow(
      "subject is a field of the body: send it there",
    );
    expect(() => readQuery({}, { when: "x" }, { isClosed: true })).toThrow(
      "when is not a known query parameter",
    );
  });

  it("ignore names of Object.prototype", () => {
    expect(readQuery({ constructor: textField(10, "") }, {})).toEqual({ constructor: undefined });
  });
});

it.each(["dry_run", "dryRun", "dry-run"])(
  "%s of an operation without a dry run is refused, so that nothing is done for real",
  (name) => {
    expect(() => read({ [name]: "true" })).toThrow("is not offered here: nothing was done");
  },
);
