import { expect, it } from "vitest";
import { valuesWithin } from "./filter.ts";

const properties = {
  opened: { type: ["boolean", "null"] },
  link: { type: ["integer", "null"] },
  joined_from: { type: "string", format: "date-time" },
  search: { type: "string" },
} as const;

it("a body gets the conditions that it knows, in its types", () => {
  const values = {
    opened: "false",
    link: "3",
    joined_from: "2026-03-01T00:00+01:00",
    search: "12",
    page: "2",
  };
  expect(valuesWithin(values, properties)).toEqual({
    opened: false,
    link: 3,
    joined_from: "2026-02-28T23:00:00.000Z",
    search: "12",
  });
});

it("a time that is none is left to the API, which says what is wrong with it", () => {
  expect(valuesWithin({ joined_from: "soon" }, properties)).toEqual({ joined_from: "soon" });
});
