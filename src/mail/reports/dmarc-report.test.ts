import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { type DmarcRefusal, dmarcRecordLimit, readDmarcReport } from "./dmarc-report.ts";

const RECORD = `<record><row><source_ip>192.0.2.1</source_ip><count>3</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf>
<reason><type>forwarded</type><comment>a &amp; b</comment></reason><reason><type>local_policy</type></reason></policy_evaluated></row>
<identifiers><envelope_to>mx.example</envelope_to><envelope_from>bounce.example.com</envelope_from><header_from>Example.com</header_from></identifiers>
<auth_results><dkim><domain>example.com</domain><selector>s1</selector><result>pass</result></dkim><dkim><domain>esp.example</domain><result>fail</result></dkim>
<spf><domain>bounce.example.com</domain><scope>mfrom</scope><result>softfail</result></spf></auth_results></record>`;

interface Parts {
  readonly root?: string;
  readonly range?: string;
  readonly policy?: string;
  readonly records?: string;
  readonly before?: string;
}

function xml({
  root = "feedback",
  range = "<begin>1700000000</begin><end>1700086399</end>",
  policy = "",
  records = RECORD,
  before = "",
}: Parts = {}) {
  return `<?xml version="1.0" encoding="UTF-8"?>${before}
<${root}><version>1.0</version><report_metadata><org_name lang="en">Receiver &amp; Sons</org_name><email>dmarc@mx.example</email>
<report_id>4711</report_id><date_range>${range}</date_range><error>one</error><error>two</error></report_metadata>
<policy_published><domain>Example.com.</domain><adkim>r</adkim><aspf>s</aspf><p>reject</p>${policy}</policy_published>
${records}</${root.split(" ")[0]}>
`;
}

function reasonOf(report: string | Uint8Array): DmarcRefusal | "none" {
  const reading = readDmarcReport(typeof report === "string" ? Buffer.from(report) : report);
  return reading.ok ? "none" : reading.reason;
}

function read(report: string | Uint8Array) {
  const reading = readDmarcReport(typeof report === "string" ? Buffer.from(report) : report);
  if (!reading.ok) throw new Error(`refused: ${reading.reason}`);
  return reading.report;
}

describe("a report is read", () => {
  test("with everything that RFC 7489 knows", () => {
    expect(read(xml({ policy: "<sp>none</sp><pct>50</pct><fo>1:d</fo>" }))).toEqual({
      orgName: "Receiver & Sons",
      email: "dmarc@mx.example",
      extraContactInfo: null,
      reportId: "4711",
      begin: new Date(1_700_000_000_000),
      end: new Date(1_700_086_399_000),
      errors: ["one", "two"],
      generator: null,
      policy: {
        domain: "example.com",
        adkim: "r",
        aspf: "s",
        p: "reject",
        sp: "none",
        np: null,
        pct: 50,
        fo: "1:d",
        testing: null,
        discoveryMethod: null,
      },
      rows: [
        {
          sourceIp: "192.0.2.1",
          count: 3,
          disposition: "none",
          dkim: "pass",
          spf: "fail",
          reasons: [
            { type: "forwarded", comment: "a & b" },
            { type: "local_policy", comment: null },
          ],
          headerFrom: "example.com",
          envelopeFrom: "bounce.example.com",
          envelopeTo: "mx.example",
          dkimResults: [
            { domain: "example.com", selector: "s1", scope: null, result: "pass" },
            { domain: "esp.example", selector: null, scope: null, result: "fail" },
          ],
          spfResults: [{ domain: "bounce.example.com", selector: null, scope: "mfrom", result: "softfail" }],
        },
      ],
      messages: 3,
    });
  });

  test.each([
    ["with the namespace", 'feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"'],
    ["with a prefix", 'd:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0"'],
    ["without either", "feedback"],
  ])("in the shape of RFC 9990 %s", (_, root) => {
    const policy =
      "<sp>none</sp><np>reject</np><testing>y</testing><discovery_method>treewalk</discovery_method>";
    expect(read(xml({ root, policy })).policy).toMatchObject({
      np: "reject",
      testing: "y",
      discoveryMethod: "treewalk",
      pct: null,
    });
  });

  test("with comments and blanks behind it", () => {
    expect(read(`${xml()}<!-- a --> \n<!---->\n`).messages).toBe(3);
  });

  test("without any record", () => {
    expect(read(xml({ records: "" }))).toMatchObject({ rows: [], messages: 0 });
  });

  test.each<[string, Uint8Array]>([
    ["gzip", gzipSync(xml())],
    ["zip", zipSync({ "mx.example!example.com!1!2.xml": strToU8(xml()) })],
    ["a mail with gzip", mailWith("application/gzip", gzipSync(xml()))],
    ["a mail with a wrong type", mailWith("text/plain", zipSync({ "r.xml": strToU8(xml()) }))],
    ["a mail with plain XML", mailWith("text/xml", Buffer.from(xml()))],
    [
      "a mail that is the attachment",
      Buffer.from(
        `Content-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n${gzipSync(xml()).toString("base64")}`,
      ),
    ],
  ])("from %s", (_, octets) => {
    expect(read(octets).reportId).toBe("4711");
  });
});

/** A mail with some words and an attachment. */
function mailWith(type: string, content: Uint8Array): Buffer {
  const encoded = Buffer.from(content).toString("base64").replace(/.{76}/g, "$&\n");
  return Buffer.from(`From: noreply@mx.example
Subject: Report domain: example.com
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

This is a report.
--b
Content-Type: ${type}; name="r"
Content-Transfer-Encoding: base64

${encoded}
--b--
`);
}

describe("a report is refused", () => {
  const doctype =
    '<!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const count = (value: string) => xml({ records: RECORD.replace(">3<", `>${value}<`) });

  test.each<[DmarcRefusal, string, string | Uint8Array]>([
    ["empty", "nothing", ""],
    ["no_report", "a mail without one", "Subject: Hello\n\nno report"],
    ["no_report", "random words", "hello"],
    ["document_type", "entities", xml({ before: doctype })],
    ["document_type", "a document type alone", xml({ before: "<!doctype html>" })],
    ["malformed", "another document", "<?xml version='1.0'?><html></html>"],
    ["malformed", "one that is cut", xml().slice(0, 900)],
    ["malformed", "names of JavaScript's own", xml({ policy: "<__proto__>x</__proto__>" })],
    ["too_large", "too many elements", xml({ policy: "<a/>".repeat(1_000_000) })],
    ["too_large", "an endless word", xml({ policy: `<a>${"x".repeat(1_000_000)}</a>` })],
    ["too_large", "more than any report", xml({ policy: `<a>${"x".repeat(90)}</a>`.repeat(200_000) })],
    ["malformed", "many processing instructions", xml({ policy: "<?a b?>".repeat(1_000) })],
    ["malformed", "comments without end", `${xml()}${"<!---->".repeat(280)}x`],
    ["malformed", "a comment that is left open", `${xml()}${"<!--".repeat(490)}`],
    [
      "bad_source_ip",
      "an address with a zone",
      xml({ records: RECORD.replace("192.0.2.1", "fe80::1%eth0") }),
    ],
    ["malformed", "deep nesting", xml({ records: "<a>".repeat(50_000) })],
    ["missing_field", "no organisation", xml().replace(/<org_name.*<\/org_name>/, "")],
    ["missing_field", "no id", xml().replace("<report_id>4711</report_id>", "<report_id> </report_id>")],
    ["missing_field", "no policy", xml().replaceAll("policy_published", "policy")],
    ["missing_field", "no domain", xml().replace("<domain>Example.com.</domain>", "")],
    ["bad_date", "no dates", xml({ range: "" })],
    ["bad_date", "dates in words", xml({ range: "<begin>today</begin><end>1700086399</end>" })],
    [
      "bad_date",
      "an end before the beginning",
      xml({ range: "<begin>1700086399</begin><end>1700000000</end>" }),
    ],
    ["bad_date", "a date far away", xml({ range: "<begin>1700000000</begin><end>9999999999</end>" })],
    ["bad_count", "a negative count", count("-1")],
    ["bad_count", "an endless count", count("1000000000000000000")],
    ["bad_count", "1e18", count("1e18")],
    ["bad_count", "part of a mail", count("1.5")],
    ["bad_count", "no count", count("")],
    ["bad_source_ip", "no address", xml({ records: RECORD.replace("192.0.2.1", "mx.example.com") })],
    [
      "too_many_records",
      "too many records",
      xml({ records: "<record></record>".repeat(dmarcRecordLimit + 1) }),
    ],
    [
      "too_many_records",
      "a million in a mail",
      mailWith("text/xml", Buffer.from(xml({ records: "<record/>".repeat(1_000_000) }))),
    ],
    ["ratio_too_high", "a bomb", mailWith("application/gzip", gzipSync(Buffer.alloc(30 * 1024 * 1024, "<")))],
    ["corrupt", "a broken archive", mailWith("application/gzip", gzipSync(xml()).subarray(0, 200))],
    [
      "bad_entry_name",
      "a name with a path",
      mailWith("application/zip", zipSync({ "../../r.xml": strToU8(xml()) })),
    ],
  ])("%s: %s", (reason, _, report) => {
    const start = process.threadCpuUsage();
    expect(reasonOf(report)).toBe(reason);
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(1_000);
  });

  test("nothing throws: a good one cut and changed anywhere", () => {
    const good = xml();
    fc.assert(
      fc.property(fc.nat(good.length), fc.string({ maxLength: 8 }), fc.nat(good.length), (at, junk, cut) => {
        const broken = (good.slice(0, at) + junk + good.slice(at + junk.length)).slice(
          cut % 3 === 0 ? cut : 0,
        );
        expect(() => readDmarcReport(Buffer.from(broken))).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test("as many records as are allowed take a bounded time", () => {
    const start = process.threadCpuUsage();
    expect(read(xml({ records: RECORD.repeat(dmarcRecordLimit) })).rows).toHaveLength(dmarcRecordLimit);
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(8_000);
  });
});

const folder = resolve(
  process.env.POSTHASTE_CORPORA ?? resolve(import.meta.dirname, "../../../../shared/corpora"),
  "dmarc",
);

describe.skipIf(!existsSync(folder))("the corpus of reports", () => {
  interface Labelled {
    readonly file: string;
    readonly expect: Readonly<Record<string, string | number>>;
  }
  const list = resolve(folder, "expected.json");
  const labelled: readonly Labelled[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];

  test.each(labelled)("$file is read exactly", ({ file, expect: expected }) => {
    const { orgName, reportId, begin, end, policy, rows, messages } = read(
      readFileSync(resolve(folder, file)),
    );
    const passed = (name: "dkim" | "spf") =>
      rows.reduce((sum, row) => sum + (row[name] === "pass" ? row.count : 0), 0);
    expect({
      org_name: orgName,
      report_id: reportId,
      begin: String(begin.getTime() / 1_000),
      end: String(end.getTime() / 1_000),
      domain: policy.domain,
      p: policy.p ?? "",
      sp: policy.sp ?? "",
      pct: String(policy.pct ?? ""),
      records: rows.length,
      messages,
      dkim_pass: passed("dkim"),
      spf_pass: passed("spf"),
      source_ips: new Set(rows.map(({ sourceIp }) => sourceIp)).size,
    }).toEqual(expected);
  });
});
