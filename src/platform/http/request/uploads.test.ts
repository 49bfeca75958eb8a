import { once } from "node:events";
import { mkdtemp, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { openApiDocument } from "#platform/http/openapi.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { fileField, type UploadedFile } from "./uploads.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const KB = 1024;
const LIMIT = 2 * KB * KB;
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-uploads-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

interface Body {
  readonly csvFile: UploadedFile;
  readonly is_new?: boolean;
  readonly note?: string;
}
/** Handler of the form. */
let work: (body: Body) => Promise<void>;
const seen: (Body & { readonly content: string })[] = [];
const importThings = endpoint({
  id: "importThings",
  method: "POST",
  path: "/things/import",
  summary: "Import things",
  needs: need(things, "write"),
  body: Type.Object({
    csvFile: fileField("The things."),
    is_new: Type.Optional(Type.Boolean()),
    note: Type.Optional(Type.String({ maxLength: 10 })),
  }),
  bodyLimit: LIMIT,
  answer: Type.Object({}),
  message: "Imported",
  async handle({ body }) {
    seen.push({ ...body, content: await readFile(body.csvFile.path, "utf8") });
    await work(body);
    return {};
  },
});
const database = await testDatabase();
const row = (scope: Limit["scope"], most: number): Limit => ({ what: "uploads", scope, most, beyond: "" });
const api = await startBareServer(database, [importThings], {
  dataDir,
  // An upload that has stopped is not let go while a test looks at it.
  patience: { headersMs: 15_000, requestMs: 60_000, checkMs: 2_000, stallMs: 3_600_000 },
  limits: { uploads: row("installation", 3 * LIMIT), uploadsOfWorkspace: row("workspace", 2 * LIMIT) },
});
const key = api.newKey(await insertBareWorkspace(database));
const other = api.newKey(await insertBareWorkspace(database));

const sockets: Socket[] = [];
beforeEach(() => {
  seen.length = 0;
  work = async () => {};
});
/** Whatever a request came to, nothing of it stays. */
afterEach(async () => {
  await eventually("the uploads to be gone", async () => (await lying()).length === 0);
  expect((await openFiles()).filter((path) => path.startsWith(dataDir))).toEqual([]);
});

const lying = () => readdir(join(dataDir, "uploads")).catch(() => []);

async function bytesOnDisk(): Promise<number> {
  const files = await Promise.all((await lying()).map((name) => stat(join(dataDir, "uploads", name))));
  return files.reduce((sum, { size }) => sum + size, 0);
}

async function openFiles(): Promise<string[]> {
  const numbers = await readdir("/proc/self/fd").catch(() => []);
  return Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => "")));
}

type Part = readonly [name: string, value: string | Blob, filename?: string];

function form(...parts: readonly Part[]): FormData {
  const data = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === "string") data.append(name, value);
    else data.append(name, value, filename);
  }
  return data;
}

const csv = (text = "email\r\na@b.example\r\n") => new Blob([text], { type: "text/csv" });

async function post(body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = {}) {
  const response = await fetch(`${api.url}/api/v1/things/import`, {
    method: "POST",
    headers: { "X-API-Key": key, ...headers },
    body,
    duplex: "half",
  } as RequestInit);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** A body as it goes over the wire. */
async function raw(body: string | Buffer, type = 'multipart/form-data; boundary="x"') {
  return post(new Uint8Array(Buffer.from(body)), { "Content-Type": type });
}

const part = (headers: string, content = "a") => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
const filePart = part('Content-Disposition: form-data; name="csvFile"; filename="a.csv"');

describe("a form with its file", () => {
  it("is a file on the disk for the handler, and is deleted with the response", async () => {
    const { status } = await post(form(["csvFile", csv(), "People.csv"]));
    expect(status).toBe(200);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      content: "email\r\na@b.example\r\n",
      csvFile: { name: "People.csv", bytes: 20 },
    });
    expect(seen[0]?.csvFile.path.startsWith(join(dataDir, "uploads"))).toBe(true);
  });

  it("is deleted if the handler refuses it", async () => {
    work = async () => {
      throw new ApiError("CONFLICT");
    };
    expect((await post(form(["csvFile", csv()]))).status).toBe(409);
  });

  it("has typed fields before or after the file; unknown ones are ignored", async () => {
    await post(form(["is_new", "true"], ["csvFile", csv()], ["note", "hä?"], ["other", "x"]));
    await post(form(["csvFile", csv()], ["is_new", "0"]));
    await post(form(["csvFile", csv()], ["is_new", ""]));
    expect(seen.map(({ is_new, note }) => [is_new, note])).toEqual([
      [true, "hä?"],
      [false, undefined],
      [undefined, undefined],
    ]);
    expect(seen[0]).not.toHaveProperty("other");
  });

  it("lists ignored fields, and is refused for one that is similar to a known field", async () => {
    const told = await post(form(["csvFile", csv()], ["other", "x"]));
    expect(told.body).toMatchObject({
      warnings: [{ field: "other", message: "other is not a known field and was ignored" }],
    });
    const refused = await post(form(["csvFile", csv()], ["isNew", "true"], ["csv_file", "x"]));
    expect(refused.status).toBe(400);
    expect(refused.body.error).toBe(
      "isNew is not a known field: did you mean is_new?; csv_file is not a known field: did you mean csvFile?",
    );
  });

  it("of any size up to the limit is taken whole, in chunks too", async () => {
    const whole = new Uint8Array(LIMIT).fill(97);
    expect((await post(form(["csvFile", new Blob([whole])]))).status).toBe(200);
    const { body, headers } = new Request("http://x", {
      method: "POST",
      body: form(["csvFile", new Blob([whole])]),
    });
    expect((await post(body ?? "", { "Content-Type": headers.get("content-type") ?? "" })).status).toBe(200);
    expect(seen.map(({ csvFile }) => csvFile.bytes)).toEqual([LIMIT, LIMIT]);
  });

  it.each([
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "/etc/passwd",
    "a\u0000b",
    "x".repeat(5_000),
    "ünïcode.csv",
    `${"a".repeat(254)}😀.csv`,
  ])("named %j is stored under a name of ours", async (filename) => {
    const { status } = await raw(
      `${part(`Content-Disposition: form-data; name="csvFile"; filename="${filename}"`)}--x--\r\n`,
    );
    expect(status).toBe(200);
    expect(seen[0]?.csvFile.path).toMatch(/uploads\/[0-9a-f-]{36}$/);
    expect(seen[0]?.csvFile.name).not.toMatch(/[/\0]/);
    expect(seen[0]?.csvFile.name.length).toBeLessThanOrEqual(255);
    expect(seen[0]?.csvFile.name.isWellFormed()).toBe(true);
  });
});

describe("a form is refused", () => {
  const refused = async (answer: ReturnType<typeof post>, error: RegExp, field?: string) => {
    const { status, body } = await answer;
    expect(body).toMatchObject({
      success: false,
      code: "VALIDATION_ERROR",
      error: expect.stringMatching(error),
    });
    expect(status).toBe(400);
    if (field !== undefined) expect(body.details[0].field).toBe(field);
    expect(seen).toEqual([]);
  };

  it("without a file", async () => {
    await refused(post(form(["note", "x"])), /csvFile is required/, "csvFile");
    await refused(post(form()), /csvFile is required|cannot be read/);
  });

  it("with the file in another field", () =>
    refused(post(form(["file", csv()])), /Send the file in the field csvFile/, "csvFile"));

  it("with text in the place of the file", () =>
    refused(post(form(["csvFile", "email\na@b.example"])), /csvFile must be a file/, "csvFile"));

  it("with two files", () => refused(post(form(["csvFile", csv()], ["csvFile", csv()])), /one file/));

  it("with an invalid flag, a text that is too long, a NUL", async () => {
    await refused(
      post(form(["csvFile", csv()], ["is_new", "maybe"])),
      /is_new must be true or false/,
      "is_new",
    );
    await refused(
      post(form(["csvFile", csv()], ["note", "x".repeat(11)])),
      /note must have at most 10/,
      "note",
    );
    await refused(
      post(form(["csvFile", csv()], ["note", "x".repeat(100_000)])),
      /note must have at most/,
      "note",
    );
    await refused(post(form(["csvFile", csv()], ["note", "a\0b"])), /note must not contain NUL/, "note");
  });

  it("with ten thousand parts", async () => {
    const parts = Array.from({ length: 10_000 }, (_, at) =>
      part(`Content-Disposition: form-data; name="f${at}"`),
    );
    await refused(raw(`${parts.join("")}--x--\r\n`), /too many parts|at most|fields/);
    await refused(raw(`${part("X: y").repeat(10_000)}--x--\r\n`), /too many parts/);
  });

  it("without a boundary, or with another one", async () => {
    await refused(raw(`${filePart}--x--\r\n`, "multipart/form-data"), /cannot be read/);
    await refused(raw(`${filePart}--x--\r\n`, "multipart/form-data; boundary="), /cannot be read/);
    await refused(raw(`${filePart}--x--\r\n`, "multipart/form-data; boundary=y"), /cannot be read|required/);
  });

  it("that is incomplete", async () => {
    await refused(raw(""), /required|cannot be read/);
    await refused(raw("--x\r\nContent-Dis"), /required|cannot be read/);
    await refused(raw(filePart.slice(0, -3)), /cannot be read/);
    await refused(raw(filePart), /cannot be read/);
  });

  it("with an invalid file name", async () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      await refused(post(form([name, csv()])), /csvFile|prototype/);
      await refused(post(form([name, "x"], ["csvFile", csv()])), /prototype/);
    }
    await refused(raw(`${part('Content-Disposition: form-data; filename="a"')}--x--\r\n`), /field csvFile/);
    expect(({} as Record<string, unknown>).csv).toBeUndefined();
  });

  it("with a field name of a megabyte", async () => {
    const name = "n".repeat(KB * KB);
    await refused(
      raw(`${part(`Content-Disposition: form-data; name="${name}"; filename="a"`)}--x--\r\n`),
      /./,
    );
  });

  it("if it is not a form", async () => {
    const wanted = /Send multipart\/form-data with the file in the field csvFile/;
    await refused(post('{"csvFile":"a"}', { "Content-Type": "application/json" }), wanted);
    await refused(post("email\na@b.example", { "Content-Type": "text/csv" }), wanted);
    await refused(post(new Uint8Array([1, 2])), wanted);
    const { status } = await api.call("POST", "/things/import", key);
    expect(status).toBe(400);
  });

  it("if it is compressed", async () => {
    const type = 'multipart/form-data; boundary="x"';
    await refused(
      post(filePart, { "Content-Type": type, "Content-Encoding": "gzip" }),
      /without Content-Encoding/,
    );
  });
});

describe("a file above the limit is 413, with the limit in the message", () => {
  const file = new Blob([new Uint8Array(LIMIT + 1)]);
  it.each([
    ["announced", file],
    ["announced as much more", new Blob([new Uint8Array(LIMIT * 4)])],
  ])("%s", async (_name, blob) => {
    const { status, body } = await post(form(["csvFile", blob]));
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: "PAYLOAD_TOO_LARGE", error: "The file must have at most 2 MB" });
  });

  it("in chunks", async () => {
    const { body, headers } = new Request("http://x", { method: "POST", body: form(["csvFile", file]) });
    const answer = await post(body ?? "", { "Content-Type": headers.get("content-type") ?? "" });
    expect(answer.status).toBe(413);
    expect(seen).toEqual([]);
  });
});

/** Headers and the beginning of a file; the rest does not come. */
async function begin(announced: number, bytes = KB, secret = key) {
  const socket = connect(api.port, "127.0.0.1");
  socket.on("error", () => {});
  const headers = ["Host: x", `X-API-Key: ${secret}`, `Content-Length: ${announced}`];
  const type = "Content-Type: multipart/form-data; boundary=x";
  const opening = filePart.slice(0, -2) + "a".repeat(bytes);
  socket.write(["POST /api/v1/things/import HTTP/1.1", ...headers, type, "", opening].join("\r\n"));
  await once(socket, "ready");
  sockets.push(socket);
  return socket;
}

it("an aborted upload leaves no file", async () => {
  const socket = await begin(LIMIT);
  await eventually("the file to be begun", async () => (await lying()).length === 1);
  socket.destroy();
  await eventually("the file to be gone", async () => (await lying()).length === 0);
  expect(seen).toEqual([]);
});

it("uploads that only announce their size do not count", async () => {
  for (let count = 0; count < 9; count += 1) await begin(LIMIT);
  await eventually("all to be begun", async () => (await lying()).length === 9);
  expect((await post(form(["csvFile", new Blob([new Uint8Array(LIMIT)])]))).status).toBe(200);
  for (const socket of sockets.splice(0)) socket.destroy();
});

it("a workspace above its limit of disk space is refused, and others are not", async () => {
  const stall = async (...secrets: string[]) => {
    for (const secret of secrets) await begin(LIMIT, LIMIT - KB, secret);
    const least = sockets.length * (LIMIT - 2 * KB);
    await eventually("all of it to be on the disk", async () => (await bytesOnDisk()) >= least);
  };
  const big = form(["csvFile", new Blob([new Uint8Array(LIMIT)])]);
  await stall(key, key);
  const { status, body } = await post(big);
  expect([status, body.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
  expect(body.error).toContain("uploads per workspace at one time");
  await eventually("room for others", async () => (await post(big, { "X-API-Key": other })).status === 200);
  await stall(other);
  expect((await post(big, { "X-API-Key": other })).status).toBe(503);
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually("room", async () => (await post(big)).status === 200);
});

it("openapi.json shows the form", () => {
  const document = openApiDocument([importThings], { version: "1" });
  const { content } = JSON.parse(JSON.stringify(document)).paths["/things/import"].post.requestBody;
  expect(Object.keys(content)).toEqual(["multipart/form-data"]);
  expect(content["multipart/form-data"].schema.properties.csvFile).toMatchObject({
    type: "string",
    format: "binary",
  });
});
