import { expect, test } from "vitest";
import { optionalRole, rolesOfGroups } from "#platform/config/setting-readers.ts";
import { builtInRoleKeys } from "./built-in-roles.ts";

test("the settings of single sign-on take every built-in role but the owner's, and no other", () => {
  const given = builtInRoleKeys.filter((key) => key !== "owner");
  expect(given.map(optionalRole)).toEqual(given);
  expect(given.map((role) => rolesOfGroups(`group=${role}`))).toEqual(given.map((role) => [["group", role]]));
  expect(() => optionalRole("owner")).toThrow(`must be one of ${given.join(", ")}`);
  expect(() => rolesOfGroups("group=owner")).toThrow(`one of the roles ${given.join(", ")}`);
});
