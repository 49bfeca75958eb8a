import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { Id, NullableTimestamp, nullable, patterned } from "#platform/shapes.ts";
import { bodyReader } from "./validate.ts";

const Person = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 10 }),
  age: Type.Optional(Type.Integer({ minimum: 0 })),
  kind: Type.Optional(Type.Enum(["a", "b"])),
  note: Type.Optional(nullable(Type.String())),
  home: Type.Optional(nullable(Type.Object({ town: Type.String() }))),
  theme: Type.Optional(nullable(Type.Union([Type.Literal("light"), Type.Literal("dark")]))),
  born: Type.Optional(NullableTimestamp),
  id: Type.Optional(Id),
  agreed: Type.Optional(Type.Literal(true)),
  code: Type.Optional(patterned("^a", "a word that begins with a")),
  delay: Type.Optional(Type.Object({ days: Type.Integer() }, { additionalProperties: false })),
  pets: Type.Optional(Type.Array(Type.Object({ "call-name": Type.String() }))),
  toys: Type.Optional(nullable(Type.Array(Type.Object({ owner: Type.String({ maxLength: 2_000 }) })))),
});
const read = bodyReader(Person);

function refusalOf(value: unknown): ApiError {
  try {
    read(value);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
  throw new Error("was not refused");
}

const fieldsOf = (value: unknown) => refusalOf(value).details?.map(({ field }) => field);

describe("a body of a shape", () => {
  it("is returned unchanged, including unknown fields", () => {
    const value = { name: "Ann", note: null, more: 1 };
    expect(read(value)).toBe(value);
  });

  it("has its ids in lower case at any place, and other texts unchanged", () => {
    const given = "019AB3C4-0000-7000-8000-00000000ABCD";
    const id = given.toLowerCase();
    const Family = Type.Object({
      id: Id,
      head: Type.Optional(nullable(Id)),
      note: Type.String(),
      members: nullable(Type.Array(Type.Object({ id: Type.Optional(Id) }))),
      friends: Type.Array(nullable(Id)),
    });
    const body = {
      id: given,
      head: given,
      note: given,
      members: [{ id: given }, {}],
      friends: [given, null],
    };
    expect(bodyReader(Family)(body)).toEqual({
      id,
      head: id,
      note: given,
      members: [{ id }, {}],
      friends: [id, null],
    });
    expect(bodyReader(Family)({ id: given, head: null, note: "", members: null, friends: [] })).toEqual({
      id,
      head: null,
      note: "",
      members: null,
      friends: [],
    });
  });

  it("lists at most twenty ignored names, also in nested objects and arrays", () => {
    const told: FieldFault[] = [];
    const value = {
      name: "Ann",
      colour: 1,
      pets: [{ "call-name": "a" }, { "call-name": "b", weight: 2 }],
      toys: null,
    };
    expect(read(value, { onIgnored: (one) => told.push(one) })).toBe(value);
    expect(told).toEqual([
      { field: "colour", message: "colour is not a known field and was ignored" },
      { field: "pets[1].weight", message: "pets[1].weight is not a known field and was ignored" },
    ]);
    told.length = 0;
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`x${at}`, at]));
    read({ name: "Ann", ...many }, { onIgnored: (one) => told.push(one) });
    expect(told).toHaveLength(20);
  });

  it("is refused for a name that is similar to a known one, with the path of the suggestion", () => {
    expect(refusalOf({ name: "Ann", Age: 3, pets: [{ callName: "a" }] }).details).toEqual([
      { field: "pets[0].call-name", message: "pets[0].call-name is required" },
      { field: "Age", message: "Age is not a known field: did you mean age?" },
      {
        field: "pets[0].callName",
        message: "pets[0].callName is not a known field: did you mean pets[0].call-name?",
      },
    ]);
    expect(refusalOf({ nmae: "Ann" }).message).toBe(
      "name is required; nmae is not a known field: did you mean name?",
    );
  });

  it("may contain a synonym of a field that it also has", () => {
    const told: FieldFault[] = [];
    const value = { name: "Ann", label: "A" };
    expect(read(value, { onIgnored: (one) => told.push(one) })).toBe(value);
    expect(told.map(({ field }) => field)).toEqual(["label"]);
    expect(refusalOf({ label: "A" }).message).toContain("label is not a known field: did you mean name?");
  });

  it("may contain names of the response, which callers send back", () => {
    const Answer = Type.Object({ ...Person.properties, names: Type.Array(Type.String()), kin: Person });
    const readBack = bodyReader(Person, { answer: Answer });
    const value = { name: "Ann", names: ["Ann"] };
    expect(readBack(value)).toBe(value);
    expect(() => read(value)).toThrow("names is not a known field: did you mean name?");
  });

  it("is refused for a query parameter, and for a name with advice of the endpoint", () => {
    const readWith = bodyReader(Person, {
      query: ["dry_run"],
      advise: (name) => (name === "cc" ? "send two" : undefined),
    });
    expect(() => readWith({ name: "Ann", dry_run: true, cc: "x" })).toThrow(
      "dry_run is a query parameter: send it in the URL; cc is not supported here: send two",
    );
  });

  it("is required", () => {
    expect(refusalOf(undefined)).toMatchObject({
      code: "VALIDATION_ERROR",
      message: "Send a JSON object as the request body",
    });
  });

  it("gets an error for each invalid field that says what is valid", () => {
    const { code, message, details } = refusalOf({ age: -1 });
    expect(code).toBe("VALIDATION_ERROR");
    expect(details).toEqual([
      { field: "name", message: "name is required" },
      { field: "age", message: "age must be at least 0" },
    ]);
    expect(message).toBe("name is required; age must be at least 0");
  });

  it("gets the error of a field within a nullable object, and not of the object", () => {
    expect(refusalOf({ name: "Ann", toys: [{}], home: {} }).details).toEqual([
      { field: "home.town", message: "home.town is required" },
      { field: "toys[0].owner", message: "toys[0].owner is required" },
    ]);
    expect(refusalOf({ name: "Ann", home: 7 }).message).toBe("home must be an object or null");
  });

  it.each([[[]], [null], ["text"], [7], [true]])("of another kind than an object is refused: %j", (value) => {
    expect(refusalOf(value).details).toEqual([{ field: "body", message: "body must be an object" }]);
  });

  it.each([
    [{ name: 7 }, ["name"]],
    [{ name: "" }, ["name"]],
    [{ name: "x".repeat(11) }, ["name"]],
    [{ name: "x", age: 1.5 }, ["age"]],
    [{ name: "x", age: Number.POSITIVE_INFINITY }, ["age"]],
    [{ name: "x", kind: "c" }, ["kind"]],
    [{ name: "x", note: [] }, ["note"]],
    [{ name: "x", pets: {} }, ["pets"]],
    [
      { name: "x", pets: [{ "call-name": "a" }, {}, { "call-name": 2 }] },
      ["pets[1].call-name", "pets[2].call-name"],
    ],
  ])("names the field as people write it: %j", (value, fields) => {
    expect(fieldsOf(value)).toEqual(fields);
  });

  it("gets one error for each field, and at most eight", () => {
    const pets = Array.from({ length: 500 }, () => ({}));
    expect(fieldsOf({ name: "x", pets })).toHaveLength(8);
    expect(fieldsOf({ name: "x", note: 7 })).toEqual(["note"]);
  });

  it.each([
    [{ name: "" }, "name must not be empty"],
    [{ name: "x".repeat(11) }, "name must have at most 10 characters, and has 11"],
    [{ name: "🙂".repeat(11) }, "name must have at most 10 characters, and has 11"],
    [
      { name: "x", toys: [{ owner: "x".repeat(2_001) }] },
      "toys[0].owner must have at most 2,000 characters, and has 2,001",
    ],
    [{ name: 7 }, "name must be a string"],
    [{ name: "x", age: "7" }, "age must be an integer"],
    [{ name: "x", kind: "c" }, "kind must be one of a, b"],
    [{ name: "x", note: 7 }, "note must be a string or null"],
    [{ name: "x", theme: "x" }, "theme must be one of light, dark or null"],
    [
      { name: "x", born: "yesterday" },
      "born must be a date with time and zone, such as 2027-01-31T12:00:00Z or null",
    ],
    [{ name: "x", id: "7" }, "id must be a UUID"],
    [{ name: "x", agreed: false }, "agreed must be true"],
    [{ name: "x", pets: null }, "pets must be an array"],
    [{ name: "x", code: "b" }, "code must be a word that begins with a"],
    [{ name: "x", delay: { days: 1, weeks: 1 } }, "delay.weeks is not a known field"],
    [{ name: "x", delay: { days: 1, Days: 1 } }, "delay.Days is not a known field: did you mean delay.days?"],
  ])("says what is wanted: %j", (value, message) => {
    expect(refusalOf(value).message).toBe(message);
  });
});
