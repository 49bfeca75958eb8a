import { expect, test } from "vitest";
import { nameOf } from "./person-name.ts";

test("the name of a person does not turn the words around it", () => {
  expect(nameOf({ first_name: "\u202eAda", last_name: "\u2067Lovelace\u2069" })).toBe("Ada Lovelace");
  expect(nameOf({ first_name: "עדה", last_name: null })).toBe("עדה");
  expect(nameOf({ first_name: "\u202e", last_name: "" })).toBeUndefined();
});
