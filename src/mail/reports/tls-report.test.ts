import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ReportRefusal, readReports } from "./read-reports.ts";
import { tlsRecordLimit } from "./tls-report.ts";

const FAILURE = {
  "result-type": "certificate-expired",
  "sending-mta-ip": "2001:db8::1",
  "receiving-mx-hostname": "mx1.example.com",
  "receiving-mx-helo": "mx1",
  "receiving-ip": "192.0.2.1",
  "failed-session-count": 100,
  "failure-reason-code": "X509",
  "additional-information": "https://reports.example",
};
const POLICY = {
  policy: {
    "policy-type": "sts",
    "policy-string": ["version: STSv1", "mode: testing"],
    "policy-domain": "Example.com",
    "mx-host": ["*.mail.example.com"],
  },
  summary: { "total-successful-session-count": 5326, "total-failure-session-count": 303 },
  "failure-details": [FAILURE],
};
const REPORT = {
  "organization-name": "Receiver",
  "date-range": { "start-datetime": "2016-04-01T00:00:00Z", "end-datetime": "2016-04-01T23:59:59Z" },
  "contact-info": "tls@receiver.example",
  "report-id": "4711",
  policies: [POLICY],
};

/** The TLS reports in the input, and what is refused. */
function reading(report: unknown) {
  const octets = report instanceof Uint8Array ? report : Buffer.from(JSON.stringify(report));
  const { reports, refused } = readReports(octets);
  return { reports: reports.map((one) => one.report), reasons: refused.map(({ reason }) => reason) };
}

test("a report with begin and end swapped covers the time between them", () => {
  const range = { "start-datetime": "2016-04-01T23:59:59Z", "end-datetime": "2016-04-01T00:00:00Z" };
  expect(reading({ ...REPORT, "date-range": range }).reports).toMatchObject([
    { begin: new Date("2016-04-01T00:00:00Z"), end: new Date("2016-04-01T23:59:59Z") },
  ]);
});

describe("a report is read", () => {
  const expected = {
    organizationName: "Receiver",
    contactInfo: "tls@receiver.example",
    reportId: "4711",
    begin: new Date("2016-04-01T00:00:00Z"),
    end: new Date("2016-04-01T23:59:59Z"),
    policies: [
      {
        type: "sts",
        domain: "example.com",
        policyStrings: ["version: STSv1", "mode: testing"],
        mxHosts: ["*.mail.example.com"],
        successful: 5326,
        failed: 303,
        failures: [
          {
            resultType: "certificate-expired",
            sendingMtaIp: "2001:db8::1",
            receivingMxHostname: "mx1.example.com",
            receivingMxHelo: "mx1",
            receivingIp: "192.0.2.1",
            failedSessions: 100,
            reasonCode: "X509",
            additionalInformation: "https://reports.example",
          },
        ],
      },
    ],
    unread: [],
  };
  const mail = `Content-Type: multipart/report; report-type="tlsrpt"; boundary=b\n\n--b\nContent-Type: text/plain\n\nA report.\n--b\nContent-Type: application/tlsrpt+gzip\nContent-Transfer-Encoding: base64\n\n${gzipSync(JSON.stringify(REPORT)).toString("base64")}\n--b--\n`;

  test.each<[string, Uint8Array]>([
    ["JSON", Buffer.from(JSON.stringify(REPORT))],
    ["gzip", gzipSync(JSON.stringify(REPORT))],
    ["a mail", Buffer.from(mail)],
  ])("from %s", (_, octets) => {
    expect(reading(octets)).toEqual({ reports: [expected], reasons: [] });
  });

  test("without failures, with one host as a string and counts as strings", () => {
    const policy = {
      "policy-type": "no-policy-found",
      "policy-domain": "example.com",
      "mx-host": "mx.example.com",
    };
    const summary = { "total-successful-session-count": "12" };
    expect(reading({ ...REPORT, policies: [{ policy, summary }] })).toMatchObject({
      reports: [{ policies: [{ mxHosts: ["mx.example.com"], successful: 12, failed: 0, failures: [] }] }],
    });
  });

  const json = JSON.stringify(REPORT);
  const part = (type: string, content: string) => Buffer.from(`Content-Type: ${type}\n\n${content}\n`);
  test.each<[string, Uint8Array]>([
    ["JSON with a byte order mark", Buffer.from(`\ufeff${json}`)],
    ["JSON in UTF-16", Buffer.from(`\ufeff${json}`, "utf16le")],
    ["JSON with text after it", Buffer.from(`${json}\r\n\0\0`)],
    ["gzip with data after it", Buffer.concat([gzipSync(json), Buffer.from("\r\n")])],
    ["a list of one", Buffer.from(`[${json}]`)],
    [
      "names with underscores in capitals",
      Buffer.from(json.replace(/"[a-z-]+":/g, (name) => name.toUpperCase().replaceAll("-", "_"))),
    ],
    ["a plain part of another type", part("application/octet-stream", JSON.stringify(REPORT, null, 2))],
    ["a part of text", part("text/plain; charset=us-ascii", json)],
  ])("from %s", (_, octets) => {
    expect(reading(octets)).toEqual({ reports: [expected], reasons: [] });
  });

  test.each([
    ["organization-name", "", { organizationName: "receiver.example" }],
    ["organization-name", undefined, { organizationName: "receiver.example" }],
    ["report-id", 4711, { reportId: "4711" }],
    ["report-id", null, { reportId: expect.stringMatching(/^sha256:/) }],
    [
      "date-range",
      { "start-datetime": 1_459_468_800, "end-datetime": "1459555199000" },
      { begin: expected.begin },
    ],
    [
      "date-range",
      { "start-datetime": "2016-04-01 00:00:00", "end-datetime": "2016-04-01T23:59:59+0000" },
      { begin: expected.begin, end: expected.end },
    ],
    ["policies", POLICY, { policies: expected.policies }],
  ])("whose %s is %j", (name, value, report) => {
    expect(reading({ ...REPORT, [name]: value })).toMatchObject({ reports: [report], reasons: [] });
  });

  test("except for unreadable policies and failures, which are counted", () => {
    const { "failed-session-count": _, ...uncounted } = FAILURE;
    const policies = [
      { ...POLICY, "failure-details": [{ ...FAILURE, "failed-session-count": -1 }, uncounted, "x", FAILURE] },
      { ...POLICY, summary: { "total-successful-session-count": 1.5 } },
      { ...POLICY, policy: { "policy-type": "sts" } },
      null,
    ];
    const { reports, reasons } = reading({ ...REPORT, policies });
    expect(reasons).toEqual([]);
    expect(reports).toMatchObject([
      {
        policies: [{ successful: 5326, failures: [{ failedSessions: 0 }, { failedSessions: 100 }] }],
        unread: [
          { reason: "bad_count", records: 2 },
          { reason: "malformed", records: 2 },
          { reason: "missing_field", records: 1 },
        ],
      },
    ]);
  });

  test("beside a DMARC report in the same mail", () => {
    const xml =
      "<feedback><report_metadata><org_name>r</org_name><report_id>1</report_id><date_range><begin>1700000000</begin><end>1700086399</end></date_range></report_metadata><policy_published><domain>example.com</domain></policy_published></feedback>";
    const both = `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/xml\n\n${xml}\n--b\nContent-Type: application/json\n\n${json}\n--b--\n`;
    expect(readReports(Buffer.from(both)).reports.map(({ kind }) => kind)).toEqual(["dmarc", "tls"]);
  });
});

describe("a report is refused", () => {
  const withCount = (count: unknown) => ({
    ...REPORT,
    policies: [{ ...POLICY, summary: { "total-failure-session-count": count } }],
  });

  test.each<[ReportRefusal, string, unknown]>([
    ["malformed", "broken JSON", Buffer.from('{"a":')],
    ["malformed", "no policies object", { ...REPORT, policies: {} }],
    ["bad_date", "no date range", { ...REPORT, "date-range": null }],
    ["malformed", "endless nesting", Buffer.from(`{"a":${"[".repeat(500_000)}`)],
    [
      "bad_date",
      "dates in words",
      { ...REPORT, "date-range": { "start-datetime": "today", "end-datetime": "today" } },
    ],
    ["bad_count", "a negative count", withCount(-1)],
    ["bad_count", "part of a session", withCount(1.5)],
    ["bad_count", "1e18", withCount(1e18)],
    [
      "too_many_records",
      "too many failures",
      { ...REPORT, policies: [{ ...POLICY, "failure-details": Array(tlsRecordLimit).fill({}) }] },
    ],
    ["too_large", "a bomb", gzipSync(Buffer.alloc(20 * 1024 * 1024, "{"))],
    ["no_report", "a mail without one", Buffer.from("Subject: Hello\n\nHello")],
  ])("%s: %s", (reason, _, report) => {
    expect(reading(report)).toEqual({ reports: [], reasons: [reason] });
  });

  test("too_many_in_mail: reports beyond 20 in a list are named", () => {
    const outcome = (count: number) => {
      const { reports, reasons } = reading(Array(count).fill(REPORT));
      return [reports.length, ...reasons];
    };
    expect(outcome(20)).toEqual([20]);
    expect(outcome(25)).toEqual([20, "too_many_in_mail"]);
  });

  test("no input throws: any JSON, and a valid report changed anywhere", () => {
    const good = JSON.stringify(REPORT);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => reading(value)).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(fc.nat(good.length), fc.string({ maxLength: 4 }), (at, junk) => {
        const broken = good.slice(0, at) + junk + good.slice(at + 1);
        expect(() => readReports(Buffer.from(broken))).not.toThrow();
      }),
    );
  });
});
