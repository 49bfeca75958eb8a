import { expect, test } from "vitest";
import { typedCommand } from "./typed-command.ts";

test.each([
  ["a checkout", "/srv/posthaste/src/platform/typed-command.ts", "npm run -s posthaste -- sending release"],
  ["a package", "/srv/node_modules/posthaste/lib/platform/typed-command.js", "npx posthaste sending release"],
  ["the image", "/opt/posthaste/lib/platform/typed-command.js", "posthaste sending release"],
])("a message names a command as it is typed in %s", (_, program, typed) => {
  expect(typedCommand("sending release", program)).toBe(typed);
});
