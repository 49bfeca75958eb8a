/**
 * The client as strangers get it: packed, unpacked into an empty project, compiled with strict rules and run against the
 * real program. The examples of its pages are such programs.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";
import { startReceiver } from "#test/support/webhook-receiver.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const clientFolder = join(root, "clients/typescript");
const MOST_BYTES = 10_000;
const BUILD_MS = 240_000;
const pages = ["clients/typescript/README.md", "docs/sdk.md"];
const run = promisify(execFile);

const project = await mkdtemp(join(tmpdir(), "posthaste-stranger-"));
const scene = await openScene({ env: { MAIL_MODE: "capture", ALLOW_PRIVATE_WEBHOOKS: "true" } });
const receiver = await startReceiver();
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await receiver.close();
  await rm(project, { recursive: true, force: true });
});

const manifestOf = async (folder: string) => JSON.parse(await readFile(join(folder, "package.json"), "utf8"));

/** Compiles the files of the project with the strictest rules, the types of packages included. */
async function compile(...files: string[]): Promise<void> {
  const options = {
    target: "es2022",
    lib: ["es2022"],
    types: ["node"],
    module: "nodenext",
    outDir: "out",
    rootDir: ".",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files }));
  await run(join(root, "node_modules/.bin/tsc"), ["-p", project], { cwd: project }).catch((error) => {
    throw new Error(error.stdout);
  });
}

/** Runs a compiled program, and returns its output. */
async function runProgram(file: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [join(project, "out", file)], {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      POSTHASTE_URL: scene.program.url,
      POSTHASTE_KEY: `efk_${"e2e0".repeat(10)}`,
      ...env,
    },
    timeout: 60_000,
  });
  return stdout;
}

/** A request of the service to a webhook, and the secret of the webhook. */
async function webhookRequest() {
  const { url } = receiver;
  const { body } = await scene.program.call("POST", "/webhooks", { url, events: ["message.bounced"] });
  await scene.program.call("POST", `/webhooks/${body.data.id}/test`);
  const request = await eventually("the delivery", async () => receiver.arrived.shift());
  return { WEBHOOK_SECRET: String(body.data.secret), WEBHOOK_REQUEST: JSON.stringify(request) };
}

beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: clientFolder,
  });
  const installed = join(project, "node_modules/@posthaste/client");
  await mkdir(installed, { recursive: true });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  await run("tar", ["xzf", join(project, packed.filename), "-C", installed, "--strip-components=1"]);
  await mkdir(join(project, "node_modules/@types"));
  // What npm would install: the dependency of the client and its own; the stranger's types of Node.js and theirs.
  for (const name of ["openapi-fetch", "openapi-typescript-helpers", "@types/node", "undici-types"]) {
    await symlink(join(root, "node_modules", name), join(project, "node_modules", name));
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "stranger", type: "module" }));
  await writeFile(join(project, "people.csv"), "email,first\nada@example.com,Ada\n");
  await writeFile(join(project, "fair.csv"), "Kontakt,First\nada@example.com,Ada\n");
}, BUILD_MS);

describe("the package", () => {
  test(`is smaller than ${MOST_BYTES} bytes, minified and compressed, with its dependency`, async () => {
    const input = join(clientFolder, "src/index.ts");
    const { output } = await build({ input, platform: "browser", write: false, output: { minify: true } });
    expect(output).toHaveLength(1);
    const bytes = gzipSync(output[0].code).length;
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  test("imports nothing but its one dependency, so that it runs in every runtime", async () => {
    const installed = join(project, "node_modules/@posthaste/client");
    const { dependencies } = await manifestOf(installed);
    expect(Object.keys(dependencies)).toEqual(["openapi-fetch"]);
    const { stdout } = await run("grep", ["-rhoE", '(from|import\\() *"[^"]+"', join(installed, "dist")]);
    const imported = new Set(
      stdout
        .trim()
        .split("\n")
        .filter((line) => !line.includes('"./')),
    );
    expect([...imported]).toEqual(['from "openapi-fetch"']);
  });

  test("can be used without a build by other packages of this repository", async () => {
    const program = "import('@posthaste/client').then(({ Posthaste }) => console.log(typeof Posthaste))";
    const words = ["--conditions=posthaste-source", "--eval", program];
    expect((await run(process.execPath, words, { cwd: root })).stdout).toBe("function\n");
  });

  test("has the version of the service", async () => {
    expect((await manifestOf(clientFolder)).version).toBe((await manifestOf(root)).version);
  });

  test("has its page, its licence and its types, and no sources or tests", async () => {
    const { stdout } = await run("find", [".", "-type", "f"], {
      cwd: join(project, "node_modules/@posthaste/client"),
    });
    const files = stdout.trim().split("\n");
    for (const file of [
      "./README.md",
      "./LICENSE",
      "./package.json",
      "./dist/index.js",
      "./dist/index.d.ts",
    ]) {
      expect(files).toContain(file);
    }
    expect(files.filter((file) => /src|test|\.map$/.test(file))).toEqual([]);
  });
});

const stranger = `
import { Posthaste, PosthasteError, verifyWebhook, type Schema } from "@posthaste/client";

const { POSTHASTE_URL = "", POSTHASTE_KEY, WEBHOOK_SECRET = "", WEBHOOK_REQUEST = "" } = process.env;
const client = new Posthaste({ baseUrl: POSTHASTE_URL, apiKey: POSTHASTE_KEY });

const { id } = await client.sendEmail({ body: { to: "ada@example.com", subject: "Hello", body: "Hello" } });
const message: Schema<"Message"> = await client.getMessage({ id: id ?? "" });

const list = await client.createMailingList({ body: { name: "Readers" } });
for (const email of ["ada@example.com", "grace@example.com", "alan@example.com"]) {
  await client.addMember({ id: list.id, body: { email } });
}
const people: string[] = [];
for await (const { email } of client.listSubscribers({ query: { limit: 2 } })) people.push(email);

const started = await client.importSubscribers({
  id: list.id,
  body: { csvFile: { name: "people.csv", content: "Email\\nbarbara@example.com\\nbroken\\n" } },
});
const { status, succeeded, failed } = await client.waitForJob(started.job_id, { intervalMs: 100, signal: AbortSignal.timeout(60_000) });

const { headers, body } = JSON.parse(WEBHOOK_REQUEST) as { headers: Record<string, string>; body: string };
const event = await verifyWebhook({ secret: WEBHOOK_SECRET, headers, body });
const about: string = event.type === "webhook.test" ? event.data.webhook_id : event.type;

const code = await client.getCampaign({ id: list.id }).then(
  ({ name }) => name,
  (error: unknown) => (error instanceof PosthasteError && error.code === "NOT_FOUND" ? error.code : String(error)),
);
console.log(JSON.stringify({ subject: message.subject, people, job: [status, succeeded, failed], about: about.length, code }));

// Never called: each line must be an error of the compiler.
export async function wrong(): Promise<void> {
  // @ts-expect-error a field that is missing
  await client.sendEmail({ body: { to: "ada@example.com", subject: "Hello" } });
  // @ts-expect-error a field that does not exist
  await client.createMailingList({ body: { name: "News", colour: "red" } });
  // @ts-expect-error a parameter of another type
  await client.listSubscribers({ query: { limit: "many" } });
  // @ts-expect-error an id that is missing
  await client.getCampaign();
  // @ts-expect-error an operation that does not exist
  await client.sendLetter();
  // @ts-expect-error a parameter that is required
  await client.searchEverything();
  // @ts-expect-error a field that the answer does not have
  console.log((await client.getDashboard()).weather);
  // @ts-expect-error a field that this event does not have
  if (event.type === "campaign.sent") console.log(event.data.bounce_type);
  // @ts-expect-error a list without pages
  for await (const one of client.listMailingLists()) console.log(one);
}
`;

test(
  "a stranger's strict program compiles, and sends, verifies a webhook, walks subscribers and waits for an import",
  async () => {
    await writeFile(join(project, "stranger.ts"), stranger);
    await compile("stranger.ts");
    const output = JSON.parse(await runProgram("stranger.js", await webhookRequest()));
    expect(output).toEqual({
      subject: "Hello",
      people: ["alan@example.com", "grace@example.com", "ada@example.com"],
      job: ["completed", 1, 1],
      about: 36,
      code: "NOT_FOUND",
    });
  },
  BUILD_MS,
);

interface Example {
  readonly page: string;
  readonly file: string;
  readonly text: string;
}

/** What the examples of a page assume: the client of its first example, and ids. */
const PRELUDE = `
import { Posthaste as Client } from "@posthaste/client";
const client = new Client({ baseUrl: process.env.POSTHASTE_URL ?? "", apiKey: process.env.POSTHASTE_KEY });
const { LIST_ID: listId = "", JOB_ID: jobId = "" } = process.env;
`;

/** An example as a program. Its last lines let a receiver of webhooks handle the request of the environment. */
const programOf = (text: string) => `
${text.includes("const client =") ? "" : PRELUDE}
${text}
export {};
${
  text.includes("function POST(")
    ? `const { headers, body } = JSON.parse(process.env.WEBHOOK_REQUEST ?? "");
const call = (text: string) => POST(new Request("http://localhost/hooks", { method: "POST", headers, body: text }));
console.log([(await call(body)).status, (await call("{}")).status]);`
    : ""
}`;

const examples: Example[] = [];
for (const page of pages) {
  const text = await readFile(join(root, page), "utf8");
  for (const [, block = ""] of text.matchAll(/^```ts\n(.*?)^```/gms)) {
    examples.push({ page, file: `example${examples.length + 1}`, text: block });
  }
}

describe("an example", () => {
  test(
    "is compiled",
    async () => {
      for (const { file, text } of examples) await writeFile(join(project, `${file}.ts`), programOf(text));
      await compile(...examples.map(({ file }) => `${file}.ts`));
    },
    BUILD_MS,
  );

  test.each(examples)("of $page runs: $file", async ({ file, text }) => {
    const { call } = scene.program;
    const { body: list } = await call("POST", "/mailing-lists", { name: `List ${crypto.randomUUID()}` });
    const { body: started } = await call(
      "POST",
      `/mailing-lists/${list.data.id}/subscribers/export-async`,
      {},
    );
    const jobPath = `/jobs/${started.data.job_id}`;
    await eventually("the export", async () => (await call("GET", jobPath)).body.data.status === "completed");
    const output = await runProgram(`${file}.js`, {
      LIST_ID: list.data.id,
      JOB_ID: started.data.job_id,
      ...(text.includes("function POST(") && (await webhookRequest())),
    });
    if (text.includes("function POST(")) expect(output).toBe("webhook.test\n[ 204, 400 ]\n");
  });
});
