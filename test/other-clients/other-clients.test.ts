/**
 * openapi.json makes working clients in other languages: OpenAPI Generator writes a Python and a PHP client into a
 * temporary folder, and a program of that language uses it against the real service. Nothing of it is shipped.
 *
 * The generator is the newest one that npm carries. It reads OpenAPI 3.0 (openapi-3.0.ts).
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { startService } from "#test/support/service.ts";
import { asOpenApi30 } from "./openapi-3.0.ts";

const GENERATOR = "@openapitools/openapi-generator-cli@1.0.18-5.0.0-beta2";
const TEST_MS = 300_000;
/** Debian's Python, which has the packages of Debian that the client imports. */
const PYTHON = "/usr/bin/python3";
const here = fileURLToPath(new URL("./", import.meta.url));
const run = promisify(execFile);

/** Why a language cannot be tried here; undefined if it can. */
function obstacle(what: string, command: string, ...words: string[]): string | undefined {
  return spawnSync(command, words).status === 0 ? undefined : `${what} is not installed`;
}
const java = obstacle("java", "java", "-version");
const obstacles = {
  python:
    java ??
    obstacle(
      "python3 with urllib3, dateutil, six and certifi",
      PYTHON,
      "-c",
      "import urllib3, dateutil, six, certifi",
    ),
  php:
    java ??
    obstacle(
      "php with curl, mbstring and Guzzle",
      "php",
      "-r",
      "mb_strlen(''); curl_version(); require 'GuzzleHttp/autoload.php';",
    ),
};

const folder = await mkdtemp(join(tmpdir(), "posthaste-clients-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const isPossible = obstacles.python === undefined || obstacles.php === undefined;
const jar = isPossible ? await fetchedGenerator() : undefined;

/** The path of the generator, which npm fetches; undefined if its registry cannot be reached. */
async function fetchedGenerator(): Promise<string | undefined> {
  try {
    const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder, GENERATOR], {
      cwd: folder,
    });
    await run("tar", ["xzf", join(folder, stdout.trim()), "-C", folder]);
    return join(folder, "package/bin/openapi-generator.jar");
  } catch {
    return undefined;
  }
}

const reasonFor = (language: keyof typeof obstacles) =>
  obstacles[language] ?? (jar === undefined ? `${GENERATOR} cannot be fetched from npm` : undefined);

const service = jar === undefined ? undefined : await startService();

/** Generates a client, and returns its folder. */
async function generated(language: string, ...options: string[]): Promise<string> {
  const input = join(folder, "openapi.json");
  const document = JSON.parse(await readFile(new URL("../../openapi.json", import.meta.url), "utf8"));
  await writeFile(input, JSON.stringify(asOpenApi30(document)));
  const output = join(folder, language);
  await run("java", ["-jar", jar ?? "", "generate", "-g", language, "-i", input, "-o", output, ...options], {
    maxBuffer: 64 * 1024 ** 2,
  });
  return output;
}

/** Runs a program with the client and a CSV file, and returns what it printed. */
async function used(command: string, program: string, client: string): Promise<unknown> {
  const csv = join(folder, "people.csv");
  await writeFile(csv, "email,first\nada@example.com,Ada\n");
  const env = { ...process.env, POSTHASTE_URL: service?.url, POSTHASTE_KEY: service?.key };
  const { stdout } = await run(command, [join(here, program), client, csv], { env });
  return JSON.parse(stdout);
}

const result = (subject: string) => ({
  keys: [expect.any(String)],
  status: "queued",
  subject,
  job: "pending",
  failure: [400, "VALIDATION_ERROR", "to"],
});

describe("a generated client lists API keys, sends an email, uploads a file and reads an error", () => {
  test(
    "in Python",
    async ({ skip }) => {
      const reason = reasonFor("python");
      skip(reason !== undefined, reason);
      const client = await generated("python", "--package-name", "posthaste");
      expect(await used(PYTHON, "use_client.py", client)).toEqual(result("From Python"));
    },
    TEST_MS,
  );

  test(
    "in PHP",
    async ({ skip }) => {
      const reason = reasonFor("php");
      skip(reason !== undefined, reason);
      const client = await generated("php", "--invoker-package", "Posthaste");
      expect(await used("php", "use-client.php", client)).toEqual(result("From PHP"));
    },
    TEST_MS,
  );
});
