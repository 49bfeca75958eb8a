/** The TypeScript client against the real program: its API, its jobs and its webhook deliveries. */
import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";
import { type Arrived, startReceiver } from "#test/support/webhook-receiver.ts";
import {
  Posthaste,
  PosthasteError,
  type Upload,
  verifyWebhook,
  WebhookVerificationError,
} from "../../clients/typescript/src/index.ts";

const scene = await openScene({ env: { MAIL_MODE: "capture", ALLOW_PRIVATE_WEBHOOKS: "true" } });
const receiver = await startReceiver();
const folder = await mkdtemp(join(tmpdir(), "posthaste-client-"));
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

const baseUrl = scene.program.url;
const apiKey = `efk_${"e2e0".repeat(10)}`;
/** The requests of `client`, as "METHOD path?query". */
const sent: string[] = [];
const client = new Posthaste({
  baseUrl,
  apiKey,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    sent.push(`${request.method} ${pathname}${search}`);
    return fetch(request);
  },
});

const failureOf = (call: PromiseLike<unknown>): Promise<PosthasteError> =>
  Promise.resolve(call).then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: PosthasteError) => error,
  );
const newList = async (name = `List ${crypto.randomUUID()}`) =>
  (await client.createMailingList({ body: { name } })).id;

describe("a call", () => {
  const email = { to: "ada@example.com", subject: "Hello", body: "<p>Hello</p>" };

  test("sends an email, which is in the log afterwards", async () => {
    const { id, status } = await client.sendEmail({ body: email });
    expect(status).toBe("queued");
    expect(await client.getMessage({ id: id ?? "" })).toMatchObject({ subject: "Hello" });
  });

  test("takes query parameters beside the body", async () => {
    expect(await client.sendEmail({ body: email, query: { dry_run: true } })).toEqual({
      status: "valid",
      id: null,
    });
  });

  test("with the caller's idempotency key does its work once", async () => {
    const once = { body: email, idempotencyKey: "order-1001" };
    const first = await client.sendEmail(once);
    expect(await client.sendEmail(once)).toEqual(first);
    expect(await client.sendEmail({ body: email })).not.toEqual(first);
  });

  test("gives the whole answer on request: message, warnings, request id", async () => {
    const body = { name: "Warned", colour: "red" };
    const answer = await client.createMailingList({ body }).withResponse();
    expect(answer.data.name).toBe("Warned");
    expect(answer.message).toBe("Mailing list created");
    expect(answer.warnings).toEqual([
      { field: "colour", message: "colour is not a known field and was ignored" },
    ]);
    expect(answer.requestId).toBe(answer.response.headers.get("X-Request-Id"));
    expect(answer.response.status).toBe(201);
  });

  test("refuses an empty id, which would be another path", async () => {
    expect(await failureOf(client.getCampaign({ id: "" }))).toBeInstanceOf(TypeError);
    expect(await failureOf(client.getCampaign({ id: "../api-keys" }))).toBeInstanceOf(TypeError);
  });

  test("can be caught, finished and raced like any promise", async () => {
    let isFinished = false;
    const lists = client.listMailingLists().finally(() => {
      isFinished = true;
    });
    expect(Array.isArray(await Promise.race([lists, new Promise(() => {})]))).toBe(true);
    expect(isFinished).toBe(true);
    expect(await client.getCampaign({ id: crypto.randomUUID() }).catch(({ code }) => code)).toBe("NOT_FOUND");
  });
});

describe("a failed call", () => {
  test("has code, status, request id and the invalid fields", async () => {
    const error = await failureOf(client.sendEmail({ body: { to: "nobody", subject: "Hello", body: "x" } }));
    expect(error).toBeInstanceOf(PosthasteError);
    expect([error.code, error.status]).toEqual(["VALIDATION_ERROR", 400]);
    expect(error.details.map(({ field }) => field)).toContain("to");
    expect(error.requestId).toMatch(/./);
    expect(error.message).toContain("to");
  });

  test("has the permissions that the key lacks", async () => {
    const { key } = await client.createApiKey({ body: { name: "Reader", permissions: ["campaigns:read"] } });
    const reader = new Posthaste({ baseUrl, apiKey: key });
    const error = await failureOf(
      reader.sendEmail({ body: { to: "a@example.com", subject: "x", body: "x" } }),
    );
    expect([error.code, error.status, error.requiredScopes]).toEqual([
      "INSUFFICIENT_SCOPE",
      403,
      ["emails:send"],
    ]);
  });

  test("says that the key is wrong", async () => {
    const error = await failureOf(new Posthaste({ baseUrl, apiKey: "efk_wrong" }).listMailingLists());
    expect([error.code, error.status]).toEqual(["UNAUTHORIZED", 401]);
  });
});

describe("a list", () => {
  async function newListOfSegments(): Promise<string> {
    const id = await newList();
    const conditions = {
      logic: "and" as const,
      rules: [{ field: "email_domain", operator: "equals" as const, value: "example.com" }],
    };
    for (const name of ["One", "Two", "Three"])
      await client.createSegment({ id, body: { name, conditions } });
    return id;
  }

  test("with a cursor gives every row once, also while rows are added", async () => {
    const id = await newList();
    const emails = Array.from({ length: 5 }, (_, at) => `person${at}@example.com`);
    for (const email of emails) await client.addMember({ id, body: { email } });
    sent.length = 0;
    const seen: string[] = [];
    for await (const { email } of client.listMembers({ id, query: { limit: 2, status: "active" } })) {
      if (seen.length === 1) await client.addMember({ id, body: { email: "late@example.com" } });
      seen.push(email);
    }
    expect(seen).toEqual(emails.toReversed());
    const pages = sent.filter((line) => line.startsWith("GET"));
    expect(pages).toHaveLength(3);
    expect(pages[0]).not.toContain("after=");
    for (const page of pages.slice(1)) expect(page).toMatch(/limit=2&status=active&after=/);
  });

  test("with page numbers gives every row", async () => {
    const id = await newListOfSegments();
    const names: string[] = [];
    for await (const { name } of client.listSegmentsOfList({ id, query: { limit: 1 } })) names.push(name);
    expect(names).toEqual(["Three", "Two", "One"]);
  });

  test("can be read page by page, and be left early", async () => {
    const id = await newListOfSegments();
    const sizes: number[] = [];
    for await (const { segments, pagination } of client
      .listSegmentsOfList({ id, query: { limit: 2 } })
      .pages()) {
      expect(pagination.total).toBe(3);
      sizes.push(segments.length);
    }
    expect(sizes).toEqual([2, 1]);
    sent.length = 0;
    for await (const _row of client.listSegmentsOfList({ id, query: { limit: 1 } })) break;
    expect(sent).toHaveLength(1);
  });

  test("awaited gives one page, the one that was asked for", async () => {
    const id = await newListOfSegments();
    const { segments, pagination } = await client.listSegmentsOfList({ id, query: { limit: 1, page: 3 } });
    expect([segments.map(({ name }) => name), pagination.total_pages]).toEqual([["One"], 3]);
  });

  test("whose cursor is beside the rows gives every row", async () => {
    const { id } = await client.createSuppressionList({ body: { name: "Blocked" } });
    const entries = Array.from({ length: 1_200 }, (_, at) => `blocked${at}@example.com`);
    await client.addSuppressionEntries({ id, body: { entries: entries.join("\n") } });
    const seen = new Set<string>();
    sent.length = 0;
    for await (const { entry_value } of client.listSuppressionEntries({ id })) seen.add(entry_value);
    expect(seen).toEqual(new Set(entries));
    expect(sent.length).toBeGreaterThan(1);
  });
});

describe("files and jobs", () => {
  const csv = "email,first\nada@example.com,Ada\nnot an address,Bob\ngrace@example.com,Grace\n";
  const bytes = new TextEncoder().encode(csv);
  async function* chunks() {
    yield bytes.slice(0, 10);
    yield bytes.slice(10);
  }
  const path = join(folder, "people.csv");

  test.each<[string, () => Upload | Promise<Upload>]>([
    ["text", () => csv],
    ["a Buffer", () => Buffer.from(csv)],
    ["an ArrayBuffer", () => bytes.slice().buffer],
    ["a Blob", () => new Blob([csv])],
    ["a File", () => new File([csv], "people.csv", { type: "text/csv" })],
    ["a named stream", () => ({ name: "people.csv", content: new Blob([csv]).stream() })],
    ["an async iterable, such as a stream of Node.js", () => chunks()],
    [
      "a file of the disk",
      async () => {
        await writeFile(path, csv);
        return openAsBlob(path);
      },
    ],
  ])("uploads %s", async (_name, file) => {
    const started = await client.importSubscribers({
      id: await newList(),
      body: { csvFile: await file(), update_existing: false },
    });
    const job = await client.waitForJob(started.job_id, { intervalMs: 20 });
    expect([job.status, job.total, job.succeeded, job.failed]).toEqual(["completed", 3, 2, 1]);
  });

  test("a mapping of columns and a label are sent with a file", async () => {
    const id = await newList();
    const { job_id, file } = await client.importSubscribers({
      id,
      body: {
        csvFile: "Kontakt;Rufname\nmapped@example.com;Ada\n",
        mapping: [
          { column: "Kontakt", field: "email" },
          { column: 2, field: "first_name" },
        ],
        label: "From the fair",
      },
    });
    expect(file?.columns.map(({ field }) => field)).toEqual(["email", "first_name"]);
    const job = await client.waitForJob(job_id, { intervalMs: 20 });
    expect(job).toMatchObject({
      status: "completed",
      succeeded: 1,
      label: "From the fair",
      resource: { id },
    });
    const { jobs } = await client.listJobs({ query: { resource_id: id } });
    expect(jobs.map((one) => one.id)).toEqual([job_id]);
  });

  test("a job is followed to its end, and its files are read as text and as a stream", async () => {
    const id = await newList();
    const { job_id } = await client.importSubscribers({ id, body: { csvFile: csv } });
    const seen: string[] = [];
    for await (const { status } of client.watchJob(job_id, { intervalMs: 5 })) seen.push(status);
    expect([...new Set(seen)].slice(-2)).toEqual(["processing", "completed"]);
    const progress: number[] = [];
    await client.waitForJob(job_id, { onProgress: (job) => progress.push(job.progress) });
    expect(progress).toEqual([100]);
    const rejected = await client.downloadJobErrors({ job_id });
    expect(rejected.headers.get("Content-Disposition")).toContain("attachment");
    expect(await rejected.text()).toContain("not an address");

    const started = await client.exportSubscribers({ id, body: {} });
    await client.waitForJob(started.job_id, { intervalMs: 5 });
    const { body } = await client.downloadJobResult({ job_id: started.job_id });
    let text = "";
    for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk);
    expect(text).toContain("grace@example.com");
    expect((await (await client.downloadJobResult({ job_id: started.job_id })).blob()).size).toBe(
      text.length,
    );
  });

  test("waiting for an unknown job fails, and waiting can be given up", async () => {
    expect((await failureOf(client.waitForJob(crypto.randomUUID()))).code).toBe("NOT_FOUND");
    const { job_id } = await client.exportSubscribers({ id: await newList(), body: {} });
    const reason = await failureOf(client.waitForJob(job_id, { signal: AbortSignal.abort("enough") }));
    expect(reason).toBe("enough");
  });
});

describe("a webhook request", () => {
  /** Lets the service deliver a test event, and returns the request that arrived. */
  async function delivered(id: string): Promise<Arrived> {
    receiver.arrived.length = 0;
    await client.testWebhook({ id });
    return eventually("the delivery", async () =>
      receiver.arrived.find(({ body }) => body.includes(`"webhook_id":"${id}"`)),
    );
  }

  test("of the service is verified with its secret, as Node.js, fetch and plain objects carry it", async () => {
    const { id, secret } = await client.createWebhook({ body: { url: receiver.url, events: ["*"] } });
    const { headers, body } = await delivered(id);
    const event = await verifyWebhook({ secret, headers, body });
    expect(event).toMatchObject({
      type: "webhook.test",
      data: { webhook_id: id },
      id: headers["webhook-id"],
    });
    const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const carriers = [
      new Headers(entries),
      Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])),
    ];
    for (const carrier of carriers) {
      expect(await verifyWebhook({ secret, headers: carrier, body: Buffer.from(body) })).toEqual(event);
    }
    await client.deleteWebhook({ id });
  });

  test("is verified with the old and with the new secret while the secret is changed", async () => {
    const { id, secret } = await client.createWebhook({ body: { url: receiver.url, events: ["*"] } });
    const rotated = await client.rotateWebhookSecret({ id });
    const request = await delivered(id);
    const other = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    for (const one of [secret, rotated.secret, [other, rotated.secret]]) {
      expect((await verifyWebhook({ ...request, secret: one })).type).toBe("webhook.test");
    }
    await expect(verifyWebhook({ ...request, secret: other })).rejects.toThrow(WebhookVerificationError);
    await client.deleteWebhook({ id });
  });

  test("that was changed, is old, unsigned or of another secret is refused", async () => {
    const { id, secret } = await client.createWebhook({ body: { url: receiver.url, events: ["*"] } });
    const { headers, body } = await delivered(id);
    const without = (name: string) =>
      Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
    const wrong = [
      { body: body.replace("webhook.test", "message.bounced") },
      { body: `${body} ` },
      { headers: { ...headers, "webhook-id": crypto.randomUUID() } },
      { headers: { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) } },
      { headers: { ...headers, "webhook-timestamp": "soon" } },
      { headers: { ...headers, "webhook-signature": "v1," } },
      { headers: { ...headers, "webhook-signature": "v1,not Base64!" } },
      {
        headers: {
          ...headers,
          "webhook-signature": String(headers["webhook-signature"]).replace("v1,", "v2,"),
        },
      },
      { headers: without("webhook-signature") },
      { headers: without("webhook-id") },
      { headers: without("webhook-timestamp") },
      { toleranceSeconds: -1 },
    ];
    for (const change of wrong) {
      const verified = verifyWebhook({ secret, headers, body, ...change });
      await expect(verified, JSON.stringify(change)).rejects.toThrow(WebhookVerificationError);
    }
    for (const none of ["", "whsec_", "efk_1234", []]) {
      await expect(verifyWebhook({ secret: none, headers, body })).rejects.toThrow();
    }
    await client.deleteWebhook({ id });
  });

  test("has the id that is signed in its header, whatever its body names so", async () => {
    const key = Buffer.alloc(24, 7).toString("base64");
    const body = JSON.stringify({ id: "of the body", type: "webhook.test", timestamp: "", data: {} });
    const id = crypto.randomUUID();
    const now = new Date();
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": new Webhook(key).sign(id, now, body),
    };
    expect((await verifyWebhook({ secret: `whsec_${key}`, headers, body })).id).toBe(id);
  });

  test("tells its type, by which the fields of data are known", async () => {
    const { id, secret } = await client.createWebhook({
      body: { url: receiver.url, events: ["message.delivered"] },
    });
    receiver.arrived.length = 0;
    await client.sendEmail({ body: { to: "typed@example.com", subject: "Typed", body: "x" } });
    const request = await eventually("the delivery", async () =>
      receiver.arrived.find(({ body }) => body.includes("typed@example.com")),
    );
    const event = await verifyWebhook({ ...request, secret });
    if (event.type !== "message.delivered") throw new Error(event.type);
    expect([event.data.to, event.data.attempts]).toEqual(["typed@example.com", 1]);
    await client.deleteWebhook({ id });
  });
});

test("a call that is aborted rejects with the signal's reason", async () => {
  const abort = new AbortController();
  const call = client.listMailingLists({ signal: abort.signal });
  abort.abort(new Error("the user left"));
  expect((await failureOf(call)).message).toBe("the user left");
});
