import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { endpointsForDocs } from "#processes/api.ts";
import { generatedClientFiles } from "../src/generated-client.ts";
import { generatedFiles } from "../src/generated-files.ts";

const root = new URL("../", import.meta.url);
const files = generatedFiles(endpointsForDocs());
const clientFiles = await generatedClientFiles(files);

describe("generated files", () => {
  it.each([...files, ...clientFiles])("%s is up to date (if not: npm run generate)", async (path, text) => {
    expect(await readFile(new URL(path, root), "utf8")).toBe(text);
  });

  it("of the client are the same each time they are generated", async () => {
    expect(await generatedClientFiles(files)).toEqual(clientFiles);
  });

  it("docs/limits.md lists the limit of every kind of row", async () => {
    const source = await readFile(new URL("src/generated-files.ts", root), "utf8");
    const folder = fileURLToPath(new URL("src", root));
    const found = spawnSync("grep", ["-rhoE", "export const \\w+Room\\b", folder], { encoding: "utf8" });
    const names = found.stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").at(-1) ?? "");
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !source.includes(`${name},`) && !source.includes(`...${name}`))).toEqual(
      [],
    );
  });

  it("openapi.json passes the linter without warnings", () => {
    const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const linter = fileURLToPath(new URL("node_modules/.bin/redocly", root));
    const { status, stderr } = spawnSync(linter, ["lint", "openapi.json"], {
      cwd: root,
      env: environment,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect(stderr).not.toMatch(/warning/i);
  }, 120_000);
});
