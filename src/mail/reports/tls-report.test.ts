import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTlsReport, type TlsRefusal, tlsRecordLimit } from "./tls-report.ts";

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

function reading(report: unknown) {
  return readTlsReport(report instanceof Uint8Array ? report : Buffer.from(JSON.stringify(report)));
}

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
  };
  const mail = `Content-Type: multipart/report; report-type="tlsrpt"; boundary=b\n\n--b\nContent-Type: text/plain\n\nA report.\n--b\nContent-Type: application/tlsrpt+gzip\nContent-Transfer-Encoding: base64\n\n${gzipSync(JSON.stringify(REPORT)).toString("base64")}\n--b--\n`;

  test.each<[string, Uint8Array]>([
    ["JSON", Buffer.from(JSON.stringify(REPORT))],
    ["gzip", gzipSync(JSON.stringify(REPORT))],
    ["a mail", Buffer.from(mail)],
  ])("from %s", (_, octets) => {
    expect(readTlsReport(octets)).toEqual({ ok: true, report: expected });
  });

  test("without failures, with one host as a string and counts as strings", () => {
    const policy = {
      "policy-type": "no-policy-found",
      "policy-domain": "example.com",
      "mx-host": "mx.example.com",
    };
    const summary = { "total-successful-session-count": "12" };
    expect(reading({ ...REPORT, policies: [{ policy, summary }] })).toMatchObject({
      report: { policies: [{ mxHosts: ["mx.example.com"], successful: 12, failed: 0, failures: [] }] },
    });
  });
});

describe("a report is refused", () => {
  const withCount = (count: unknown) => ({
    ...REPORT,
    policies: [{ ...POLICY, summary: { "total-failure-session-count": count } }],
  });

  test.each<[TlsRefusal, string, unknown]>([
    ["malformed", "broken JSON", Buffer.from('{"a":')],
    ["malformed", "no policies object", { ...REPORT, policies: {} }],
    ["malformed", "no date range", { ...REPORT, "date-range": null }],
    ["malformed", "endless nesting", Buffer.from(`{"a":${"[".repeat(500_000)}`)],
    ["missing_field", "no id", { ...REPORT, "report-id": 4711 }],
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
    ["ratio_too_high", "a bomb", gzipSync(Buffer.alloc(20 * 1024 * 1024, "{"))],
    ["no_report", "a mail without one", Buffer.from("Subject: Hello\n\nHello")],
  ])("%s: %s", (reason, _, report) => {
    expect(reading(report)).toEqual({ ok: false, reason });
  });

  test("nothing throws: any JSON, and a good one changed anywhere", () => {
    const good = JSON.stringify(REPORT);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => reading(value)).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(fc.nat(good.length), fc.string({ maxLength: 4 }), (at, junk) => {
        const broken = good.slice(0, at) + junk + good.slice(at + 1);
        expect(() => readTlsReport(Buffer.from(broken))).not.toThrow();
      }),
    );
  });
});
