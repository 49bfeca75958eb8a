import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, describe, expect, it, test } from "vitest";
import { openAddressChecker } from "#hygiene/validations/open-address-checker.ts";
import { readConfig } from "#platform/config/config.ts";
import { startRunner } from "#platform/jobs/runner.ts";
import { createLog } from "#platform/log/log.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { requireOutcome } from "#test/support/ended-job.ts";
import { eventually } from "#test/support/eventually.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { BULK_JOB, bulkHandler } from "./bulk-job.ts";

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-bulk-"));
const service = await startService({
  env: { DATA_DIR: dataDir },
  zone: { "good.test": { MX: [[10, "mx.good.test"]] }, "mx.good.test": { A: ["127.0.0.1"] } },
});
const { call, database, clock, dns } = service;
const config = readConfig({ DATA_DIR: dataDir, DNS_SERVERS: dns.address, ALLOW_PRIVATE_MX: "true" });
const checker = openAddressChecker({ config, clock }, null);
const handlers = { [BULK_JOB]: bulkHandler({ db: database, clock, plans, checker }) };
const runner = await startRunner({ database, dataDir, log: createLog("silent"), handlers, recurring: [] });
afterAll(async () => {
  await runner.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const upload = (content: string | Uint8Array, caller = call, field = "file") => {
  const form = new FormData();
  form.set(field, new Blob([typeof content === "string" ? content : new Uint8Array(content)]), "list.csv");
  return caller("POST", "/validations/bulk", form);
};

/** The rows of the result file: address and status. */
async function validated(content: string | Uint8Array) {
  const started = await upload(content);
  expect(started.status, started.body.error).toBe(202);
  const { job_id } = started.body.data;
  const job = await eventually("the job to end", async () => {
    const { body } = await call("GET", `/jobs/${job_id}`);
    return body.data.status === "completed" && body.data;
  });
  requireOutcome(job);
  const { body: text } = await call("GET", `/jobs/${job_id}/download`);
  const [, ...rows] = (text as string).trim().split("\r\n");
  return { job, rows: rows.map((row) => row.split(",").slice(0, 2).join(" ")) };
}

describe("kinds of files", () => {
  const both = ["zoë@good.test valid", "b@good.test valid"];
  const table = "Name;E-mail\r\nZoë;zoë@good.test\r\nB;b@good.test\r\n";
  it.each<[string, string | Uint8Array, string[]]>([
    ["one address a line", "zoë@good.test\nb@good.test", both],
    ["a header alone", "email\nzoë@good.test\nb@good.test\n", both],
    ["a header in the plural", "Emails\nzoë@good.test\nb@good.test\n", both],
    ["a header in other words", "Contact e-mail,id\nzoë@good.test,1\nb@good.test,2\n", both],
    ["a column named email", "id,email\n1,zoë@good.test\n2,b@good.test\n", both],
    ["a column named in another language", "Nr;E-Mail-Adresse\n1;zoë@good.test\n2;b@good.test\n", both],
    ["the first column of many", "zoë@good.test,1\nb@good.test,2\n", both],
    ["semicolons and CRLF", table, both],
    ["a byte order mark", `\ufeff${table}`, both],
    ["UTF-16", Buffer.from(`\ufeff${table}`, "utf16le"), both],
    ["Windows-1252", Buffer.from(table, "latin1"), both],
    ["quotes", '"email"\n"zoë@good.test"\n"b@good.test"\n', both],
    ["blank lines and blanks", "\n  zoë@good.test \n\n\tb@good.test\n\n", both],
    [
      "the same in another spelling",
      "zoë@good.test\nB@GOOD.test\nb@good.test\nZoë@good.test",
      ["zoë@good.test valid", "B@GOOD.test valid"],
    ],
  ])("%s", async (_name, content, rows) => {
    expect((await validated(content)).rows).toEqual(rows);
  });
});

describe("refused at once", () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ["an empty file", "", /empty/],
    ["blank lines", "\n \n", /empty/],
    ["a header and nothing else", "email\n", /no address/],
    ["a spreadsheet", Buffer.from("PK\u0003\u0004xlsx", "latin1"), /spreadsheet/],
    [
      "noise",
      Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 7919 + (at >> 3)) % 256)),
      /not text/,
    ],
    ["a web page", "<!doctype html>\n<p>a@good.test</p>\n", /web page/],
    ["JSON", '[{"email":"a@good.test"}]', /JSON/],
    ["a quotation mark that is never closed", 'email\n"a@good.test\n', /does not end/],
    ["too many", Array.from({ length: 100_001 }, (_, at) => `u${at}@good.test`).join("\n"), /100,000/],
  ])("%s", async (_name, content, sentence) => {
    const { status, body } = await upload(content);
    expect([status, body.code, body.error]).toEqual([400, "BAD_REQUEST", expect.stringMatching(sentence)]);
  });

  it("a file in another field", async () => {
    const { status, body } = await upload("a@good.test", call, "csvFile");
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("a file of more than 20 MB", async () => {
    const { status, body } = await upload(new Uint8Array(20 * 1024 ** 2 + 1).fill(0x61));
    expect([status, body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("a file that allowance and balance do not cover, without a charge", async () => {
    const { workspaceId, key } = await service.newWorkspace();
    const caller = apiCaller(() => service.url, key);
    await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
    const file = (count: number) => Array.from({ length: count }, (_, at) => `u${at}@good.test`).join("\n");
    const tooMany = await upload(file(101), caller);
    expect([tooMany.status, tooMany.body.code]).toEqual([402, "PLAN_LIMIT_REACHED"]);
    await database.run(
      sql`update billing_accounts set is_prepaid = true where workspace_id = ${workspaceId}`,
    );
    const tooDear = await upload(file(101), caller);
    expect([tooDear.status, tooDear.body.code]).toEqual([402, "INSUFFICIENT_BALANCE"]);
    expect((await caller("GET", "/validations/usage")).body.data.month_used).toBe(0);
    // Texts that are not addresses cost nothing.
    expect((await upload(`${file(100)}\nnobody\nnobody else\n`, caller)).status).toBe(202);
  });
});

test("a key without validations:read sees neither job nor file", async () => {
  const { job } = await validated("a@good.test");
  const key = await service.newKey(["subscribers:read"]);
  expect((await call("GET", `/jobs/${job.id}/download`, undefined, { key })).status).toBe(403);
});
