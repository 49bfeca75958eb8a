import { afterAll, expect, test } from "vitest";
import { shareOfThisThread } from "#test/support/cost.ts";
import { createMailParser } from "./parse-mail-in-threads.ts";

// A machine that is busy takes its time.
const parser = createMailParser({ deadlineMs: 110_000, heapMb: 512 });
afterAll(() => parser.close());

/** Of the CPU time that the parsing takes. */
const MOST_BLOCKED = 0.3;

const record = `<record><row><source_ip>192.0.2.1</source_ip><count>3</count><policy_evaluated><disposition>none</disposition>
<dkim>pass</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>shop\0.test</header_from></identifiers>
<auth_results><dkim><domain>shop.test</domain><result>pass</result></dkim></auth_results></record>`;
const dmarcReport = (records: number) =>
  Buffer.from(`<feedback><report_metadata><org_name>receiver.test</org_name><report_id>1</report_id>
<date_range><begin>1700000000</begin><end>1700086399</end></date_range></report_metadata>
<policy_published><domain>shop.test</domain></policy_published>${record.repeat(records)}</feedback>`);

test("parsing a DMARC report of ten thousand records does not block the event loop", async () => {
  const raw = dmarcReport(10_000);
  await parser.read("report", dmarcReport(1));
  const share = await shareOfThisThread(async () => {
    expect(await parser.read("report", raw)).toMatchObject({
      ok: true,
      answer: {
        reports: [{ kind: "dmarc", report: { orgName: "receiver.test", records: 10_000, messages: 30_000 } }],
        refused: [],
      },
    });
  });
  expect(share).toBeLessThan(MOST_BLOCKED);
});

test("the records of a report fit the table, without NUL", async () => {
  const read = await parser.read("report", dmarcReport(2));
  const first = read.ok ? read.answer.reports[0] : undefined;
  if (first?.kind !== "dmarc") throw new Error("it was not read");
  const records: unknown[] = JSON.parse(first.report.recordsJson);
  expect(records).toHaveLength(2);
  expect(records[1]).toEqual({
    position: 1,
    source_ip: "192.0.2.1",
    count: 3,
    disposition: "none",
    dkim: "pass",
    spf: "fail",
    header_from: "shop.test",
    envelope_from: null,
  });
});

test("a mail that is part of a larger buffer is parsed, and the buffer is not moved", async () => {
  const all = Buffer.from("before {} after");
  expect(await parser.read("report", all.subarray(7, 9))).toEqual({
    ok: true,
    answer: { sender: null, reports: [], refused: [{ kind: "tls", name: null, reason: "bad_date" }] },
  });
  expect(all.toString()).toBe("before {} after");
});

test("an ordinary mail is neither a complaint nor a bounce", async () => {
  const mail = Buffer.from("From: ada@example.test\nSubject: Hello\n\nThank you");
  expect(await parser.read("notice", mail)).toEqual({ ok: true, answer: { complaint: null, bounce: null } });
});

test("a mail that takes long does not delay the next one", async () => {
  const answered: string[] = [];
  const read = async (name: string, records: number) => {
    await parser.read("report", dmarcReport(records));
    answered.push(name);
  };
  await Promise.all([read("both threads", 1), read("are started", 1)]);
  await Promise.all([read("long", 10_000), read("short", 1), read("short too", 1)]);
  expect(answered.slice(2)).toEqual(["short", "short too", "long"]);
});

test("a mail that cannot be parsed in time is given up", async () => {
  const hasty = createMailParser({ deadlineMs: 1, heapMb: 512 });
  expect(await hasty.read("report", dmarcReport(1_000))).toEqual({ ok: false, reason: "too_slow" });
  await hasty.close();
});

test("parsing a TLS report of ten thousand failures does not block the event loop", async () => {
  const failure = {
    "result-type": "certificate-expired",
    "sending-mta-ip": "192.0.2.1",
    "receiving-mx-hostname": "mx.shop.test",
    "failed-session-count": 1,
    "additional-information": "x".repeat(500),
  };
  const policy = { "policy-type": "sts", "policy-domain": "shop.test" };
  const summary = { "total-failure-session-count": 9_999 };
  const raw = Buffer.from(
    JSON.stringify({
      "organization-name": "receiver.test",
      "report-id": "1",
      "date-range": { "start-datetime": "2026-11-20T00:00:00Z", "end-datetime": "2026-11-21T00:00:00Z" },
      policies: [{ policy, summary, "failure-details": Array(9_999).fill(failure) }],
    }),
  );
  const share = await shareOfThisThread(async () => {
    const read = await parser.read("report", raw);
    expect(read).toMatchObject({
      ok: true,
      answer: { reports: [{ kind: "tls", report: { failed: 9_999 } }] },
    });
  });
  expect(share).toBeLessThan(MOST_BLOCKED);
});
