import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { dmarcRecordLimit } from "./dmarc-report.ts";
import { type ReportRefusal, readReports } from "./read-reports.ts";

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

function reasonOf(report: string | Uint8Array): ReportRefusal | "none" {
  return readReports(Buffer.from(report)).refused[0]?.reason ?? "none";
}

/** All DMARC reports in the input, none of which may be refused. */
function readAll(report: string | Uint8Array) {
  const { reports, refused } = readReports(Buffer.from(report));
  const [refusal] = refused;
  if (refusal !== undefined) throw new Error(`refused: ${refusal.reason}`);
  return reports.flatMap((one) => (one.kind === "dmarc" ? [one.report] : []));
}

function read(report: string | Uint8Array) {
  const [first] = readAll(report);
  if (first === undefined) throw new Error("there is none");
  return first;
}

describe("a report is read", () => {
  test("with all fields of RFC 7489", () => {
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
      unread: [],
    });
  });

  test.each([
    ["with the namespace", 'feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"'],
    ["with a prefix", 'd:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0"'],
    ["without either", "feedback"],
  ])("in the format of RFC 9990 %s", (_, root) => {
    const policy =
      "<sp>none</sp><np>reject</np><testing>y</testing><discovery_method>treewalk</discovery_method>";
    expect(read(xml({ root, policy })).policy).toMatchObject({
      np: "reject",
      testing: "y",
      discoveryMethod: "treewalk",
      pct: null,
    });
  });

  test("with comments and blanks after it", () => {
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

describe("readable parts of a report are kept", () => {
  test.each([
    ["milliseconds", "1700000000000", "1700086399000"],
    ["microseconds", "1700000000000000", "1700086399000000"],
    ["decimals", "1700000000.0", "1700086399.999"],
    ["an exponent", "1.7E9", "1.700086399E9"],
    ["ISO 8601", "2023-11-14T22:13:20Z", "2023-11-15T22:13:19Z"],
    ["ISO 8601 with a zone", "2023-11-14T23:13:20+01:00", "2023-11-15T17:13:19-0500"],
    ["a date and a time", "2023-11-14 22:13:20", "2023-11-15 22:13:19 UTC"],
    ["the dates of mail", "Tue, 14 Nov 2023 22:13:20 +0000", "Wed, 15 Nov 2023 22:13:19 GMT"],
    ["blanks", "\n  1700000000 ", "\t1700086399\n"],
  ])("with times in %s", (_, begin, end) => {
    const report = read(xml({ range: `<begin>${begin}</begin><end>${end}</end>` }));
    expect(report.begin).toEqual(new Date(1_700_000_000_000));
    expect(Math.floor(report.end.getTime() / 1_000)).toBe(1_700_086_399);
  });

  const named = (name: string, report: string) =>
    mailWith("application/gzip", gzipSync(report)).toString("latin1").replace('name="r"', `name="${name}"`);

  test("with the times and the domain from its file name", () => {
    const bare = xml({ range: "", records: "" }).replaceAll("policy_published", "policy");
    const report = read(named("mx.example!example.com!1700000000!1700086399!x1.xml.gz", bare));
    expect(report).toMatchObject({
      begin: new Date(1_700_000_000_000),
      end: new Date(1_700_086_399_000),
      policy: { domain: "example.com" },
    });
  });

  test.each([
    ["empty", "<org_name></org_name>"],
    ["of blanks", "<org_name>  </org_name>"],
    ["missing", ""],
  ])("with an organization that is %s: the domain of the e-mail address is used", (_, organisation) => {
    const report = xml().replace(/<org_name.*<\/org_name>/, organisation);
    expect(read(report).orgName).toBe("mx.example");
    const nameless = report.replace(/<email>.*<\/email>/, "<email/>");
    expect(read(named("filter.example!example.com!1!2.xml.gz", nameless)).orgName).toBe("filter.example");
    expect(read(named("r.xml.gz", nameless)).orgName).toBe("mx.example");
    expect(read(nameless).orgName).toBe("unknown");
  });

  test("without an id: it gets one that is the same for the same report", () => {
    const report = xml().replace("<report_id>4711</report_id>", "<report_id> </report_id>");
    expect(read(report).reportId).toMatch(/^sha256:[\da-f]{32}$/);
    expect(read(gzipSync(report)).reportId).toBe(read(report).reportId);
    expect(read(report.replace(">3<", ">4<")).reportId).not.toBe(read(report).reportId);
  });

  test("without a policy: the domain of its records is used", () => {
    expect(read(xml().replaceAll("policy_published", "policy")).policy).toMatchObject({
      domain: "example.com",
      p: null,
    });
    expect(read(xml().replace("<domain>Example.com.</domain>", "")).policy).toMatchObject({
      domain: "example.com",
      p: "reject",
    });
  });

  const bad = (change: (record: string) => string) => change(RECORD);
  test.each<[string, string, object[]]>([
    ["a negative count", bad((one) => one.replace(">3<", ">-1<")), [{ reason: "bad_count", records: 1 }]],
    ["a huge count", bad((one) => one.replace(">3<", ">1e18<")), [{ reason: "bad_count", records: 1 }]],
    [
      "no address",
      bad((one) => one.replace("192.0.2.1", "unknown").repeat(2)),
      [{ reason: "bad_source_ip", records: 2 }],
    ],
    ["nothing", "<record/><record></record>", [{ reason: "bad_source_ip", records: 2 }]],
    [
      "two faults",
      bad((one) => one.replace("192.0.2.1", "x") + one.replace(">3<", "><")),
      [
        { reason: "bad_source_ip", records: 1 },
        { reason: "bad_count", records: 1 },
      ],
    ],
  ])("the records beside those with %s, which are counted", (_, records, unread) => {
    const report = read(xml({ records: RECORD + records + RECORD }));
    expect(report).toMatchObject({ messages: 6, unread });
    expect(report.rows).toHaveLength(2);
  });

  test.each([
    ["192.0.2.1:25", "192.0.2.1"],
    ["[192.0.2.1]", "192.0.2.1"],
    ["192.0.2.1/32", "192.0.2.1"],
    [" 192.0.2.1\n", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["[2001:db8::1]:587", "2001:db8::1"],
    ["IPv6:2001:db8::1", "2001:db8::1"],
    ["2001:DB8::1", "2001:DB8::1"],
    ["mail.example.com (192.0.2.1)", "192.0.2.1"],
  ])("with the source %j", (written, address) => {
    expect(read(xml({ records: RECORD.replace("192.0.2.1", written) })).rows[0]?.sourceIp).toBe(address);
  });

  test("with counts as decimals, results in capitals, and names in any case", () => {
    const records = RECORD.replace(">3<", "> 3.0 <")
      .replace("<dkim>pass<", "<dkim> PASS\n<")
      .replace(">none<", ">NONE<");
    expect(read(xml({ records })).rows[0]).toMatchObject({ count: 3, dkim: "pass", disposition: "none" });
    const capitals = xml().replace(
      /<(\/?)([a-z_]+)/g,
      (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}`,
    );
    expect(read(capitals)).toMatchObject({ orgName: "Receiver & Sons", messages: 3 });
  });

  test("with domain names in any script", () => {
    const records = RECORD.replace(">Example.com<", "> MÜNCHEN.example. <");
    expect(read(xml({ records })).rows[0]?.headerFrom).toBe("xn--mnchen-3ya.example");
  });

  test("with unknown elements, and without missing ones", () => {
    const records = `<record><extra><deep>1</deep></extra><row><source_ip>192.0.2.1</source_ip><count>2</count></row></record>`;
    expect(read(xml({ records, policy: "<unknown a='b'/>" }))).toMatchObject({
      messages: 2,
      rows: [{ headerFrom: "", dkim: null, spf: null, dkimResults: [] }],
      unread: [],
    });
  });

  const accented = xml().replace("Receiver &amp; Sons", "Empfänger");
  const declared = (name: string) => accented.replace("UTF-8", name);
  test.each<[string, Uint8Array]>([
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${accented}`)],
    ["UTF-16 little-endian", Buffer.from(`\ufeff${declared("UTF-16")}`, "utf16le")],
    ["UTF-16 big-endian", Buffer.from(`\ufeff${declared("utf-16")}`, "utf16le").swap16()],
    ["UTF-16 without a byte order mark", Buffer.from(declared("UTF-16"), "utf16le")],
    ["ISO-8859-1", Buffer.from(declared("ISO-8859-1"), "latin1")],
    ["Windows-1252", Buffer.from(declared("windows-1252"), "latin1")],
    ["a declaration that is wrong", Buffer.from(declared("UTF-16"))],
    ["an unknown declaration", Buffer.from(declared("x-own"))],
    ["Latin-1 that says it is UTF-8", Buffer.from(accented, "latin1")],
  ])("in %s", (_, octets) => {
    expect(read(octets).orgName).toBe("Empfänger");
    expect(read(gzipSync(octets)).orgName).toBe("Empfänger");
    expect(read(mailWith("application/octet-stream", octets)).orgName).toBe("Empfänger");
  });

  test("with text after it, quickly", () => {
    const start = process.threadCpuUsage();
    for (const rest of [
      "\0\0",
      "\x1a",
      `${"<!---->".repeat(280)}x`,
      "<!--".repeat(490),
      "-- \nsome words & a <footer>",
    ]) {
      expect(read(xml() + rest).messages).toBe(3);
    }
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });

  test.each(["1,024", "1 024", "1'024", "1\u00a0024", "1\u202f024", "1’024", "1,024.0", "01,024"])(
    "with a count in groups of three digits: %s",
    (count) => {
      expect(read(xml({ records: RECORD.replace(">3<", `>${count}<`) })).messages).toBe(1_024);
    },
  );

  test.each([
    ["1.234.567", 1_234_567],
    ["12,345,678", 12_345_678],
    ["1.000", 1],
  ])("with a count that is written %s", (count, messages) => {
    expect(read(xml({ records: RECORD.replace(">3<", `>${count}<`) })).messages).toBe(messages);
  });

  test("with begin and end swapped", () => {
    const { begin, end } = read(xml({ range: "<begin>1700086399</begin><end>1700000000</end>" }));
    expect([begin.getTime(), end.getTime()]).toEqual([1_700_000_000_000, 1_700_086_399_000]);
  });

  describe("in a truncated archive: the records before the cut", () => {
    const records = Array.from({ length: 500 }, (_, at) =>
      RECORD.replace("192.0.2.1", `192.0.${at % 200}.${at % 251}`),
    );
    const whole = xml({ records: records.join("") });
    test.each<[string, Uint8Array]>([
      ["gzip", gzipSync(whole)],
      ["zip", zipSync({ "r.xml": strToU8(whole) })],
      ["zlib", deflateSync(whole)],
      ["gzip in a zip", zipSync({ "r.xml.gz": [gzipSync(whole), { level: 0 }] })],
    ])("%s", (_, packed) => {
      const { rows, unread } = read(packed.subarray(0, packed.length * 0.7));
      expect(rows.length).toBeGreaterThan(200);
      expect(rows.length).toBeLessThan(500);
      expect(unread).toEqual([{ reason: "cut_off", records: 1 }]);
    });

    test.each<[string, Uint8Array]>([
      ["gzip", gzipSync(whole).subarray(0, -8)],
      ["zip", Buffer.from(zipSync({ "r.xml": strToU8(whole) })).subarray(0, -60)],
    ])("all of them if only the end of the %s is missing", (_, packed) => {
      expect(read(packed)).toMatchObject({ messages: 1_500, unread: [] });
    });

    test("and it is corrupt if there is none", () => {
      const noRecords = xml({ records: "" }).replace("</feedback>", "");
      for (const text of [noRecords, "hello ".repeat(200)]) {
        const packed = gzipSync(text).subarray(0, -9);
        expect(readReports(packed)).toMatchObject({ reports: [], refused: [{ reason: "corrupt" }] });
      }
    });
  });

  test("that is truncated: the records before the cut", () => {
    const whole = xml({ records: RECORD.repeat(3) });
    const report = read(whole.slice(0, whole.lastIndexOf("<identifiers>")));
    expect(report).toMatchObject({ messages: 6, unread: [{ reason: "cut_off", records: 1 }] });
  });

  const second = xml().replace("4711", "4712");
  const ids = (report: string | Uint8Array) => readAll(report).map(({ reportId }) => reportId);
  test("and a second report is read, too: in a file, a member, an archive or another part", () => {
    expect(ids(xml() + second)).toEqual(["4711", "4712"]);
    expect(ids(Buffer.concat([gzipSync(xml()), gzipSync(second)]))).toEqual(["4711", "4712"]);
    const files = { "a.xml": strToU8(xml()), "__MACOSX/._a.xml": strToU8("x"), "b.xml": strToU8(second) };
    expect(ids(mailWith("application/x-zip", zipSync(files)))).toEqual(["4711", "4712"]);
    const part = (content: Uint8Array) =>
      `--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: BASE64\n\n${Buffer.from(content).toString("base64")}\n`;
    const mail = `Content-Type: multipart/mixed; boundary=b\n\n${part(gzipSync(xml()))}${part(gzipSync(second))}--b--\n`;
    expect(ids(Buffer.from(mail))).toEqual(["4711", "4712"]);
    const forwarded = `Content-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: message/rfc822\n\n${mail}\n--c--\n`;
    expect(ids(Buffer.from(forwarded))).toEqual(["4711", "4712"]);
  });

  test("beside an unreadable one, which is named", () => {
    const files = {
      "a.xml": strToU8(xml()),
      "b.xml": strToU8("<feedback></feedback>"),
      "read me.txt": strToU8("Hello"),
    };
    const { reports, refused } = readReports(zipSync(files));
    expect(reports).toMatchObject([{ kind: "dmarc", name: "a.xml", report: { reportId: "4711" } }]);
    expect(refused).toEqual([{ kind: "dmarc", name: "b.xml", reason: "malformed" }]);
  });

  const base64 = gzipSync(xml()).toString("base64");
  test.each([
    ["blanks and odd characters", base64.replace(/.{40}/g, "$& *\t!\n")],
    ["the footer of a mailing list", `${base64}\n-- \nList information: https://lists.example\n`],
    ["padding in the middle", base64.replace(/^.{40}/, (start) => `${start}====\n`)],
  ])("in Base64 with %s", (_, text) => {
    const mail = `Content-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n${text}`;
    expect(read(mail).reportId).toBe("4711");
  });

  test("in base64 that no header field declares", () => {
    expect(read(`Subject: Report\nContent-Type: application/gzip\n\n${base64}\n`).reportId).toBe("4711");
  });

  test("of thousands of similar records", () => {
    const report = gzipSync(xml({ records: RECORD.repeat(2_286) }));
    expect(read(report).rows).toHaveLength(2_286);
  });
});

/** A mail with a text and an attachment. */
function mailOf(parts: readonly (readonly [type: string, content: Uint8Array])[]): Buffer {
  const written = parts.map(
    ([type, content]) =>
      `--b\nContent-Type: ${type}\nContent-Transfer-Encoding: base64\n\n${Buffer.from(content).toString("base64")}\n`,
  );
  return Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n${written.join("")}--b--\n`);
}

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

  test.each<[ReportRefusal, string, string | Uint8Array]>([
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
    [
      "bad_source_ip",
      "an address with a zone",
      xml({ records: RECORD.replace("192.0.2.1", "fe80::1%eth0") }),
    ],
    ["malformed", "deep nesting", xml({ records: "<a>".repeat(50_000) })],
    [
      "missing_field",
      "neither a policy nor mails",
      xml({ records: "" }).replaceAll("policy_published", "policy"),
    ],
    ["bad_date", "no dates", xml({ range: "" })],
    ["bad_date", "dates in words", xml({ range: "<begin>today</begin><end>1700086399</end>" })],
    ["bad_date", "a date far away", xml({ range: "<begin>1700000000</begin><end>9999999999</end>" })],
    ["bad_count", "a negative count", count("-1")],
    ["bad_count", "an endless count", count("1000000000000000000")],
    ["bad_count", "1e18", count("1e18")],
    ["bad_count", "part of a mail", count("1.5")],
    ["bad_count", "part of a mail with a comma", count("1,5")],
    ["bad_count", "groups of other lengths", count("1,02,4")],
    ["bad_count", "a negative count in groups", count("-1,024")],
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
    ["too_large", "a bomb", mailWith("application/gzip", gzipSync(Buffer.alloc(30 * 1024 * 1024, "<")))],
    ["corrupt", "a broken archive", mailWith("application/gzip", gzipSync(xml()).subarray(0, 200))],
    [
      "bad_entry_name",
      "a name with a path",
      mailWith("application/zip", zipSync({ "../../r.xml": strToU8(xml()) })),
    ],
  ])("%s: %s", (reason, _, report) => {
    const start = process.threadCpuUsage();
    expect(reasonOf(report)).toBe(reason);
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });

  test("too_large: the unpacked parts of a mail count together, whether they are read or not", () => {
    // Each inflates to 10 MB and has a wrong checksum.
    const archive = Buffer.from(zipSync({ "r.xml": Buffer.alloc(10 * 1024 * 1024, "<") }));
    archive.writeUInt32LE(1, archive.lastIndexOf("PK\x01\x02") + 16);
    const mail = mailOf(Array(6).fill(["application/zip", archive]));
    const reasons = readReports(mail).refused.map(({ reason }) => reason);
    expect(reasons).toEqual(["corrupt", ...Array(5).fill("too_large")]);
  });

  test("too_many_in_mail: reports beyond 20 in a file and parts beyond 50 in a mail are named", () => {
    const small = xml({ records: "" });
    const outcome = (report: string | Uint8Array) => {
      const { reports, refused } = readReports(Buffer.from(report));
      return { reports: reports.length, refused };
    };
    const named = { kind: "dmarc", name: null, reason: "too_many_in_mail" };
    expect(outcome(small.repeat(20))).toEqual({ reports: 20, refused: [] });
    expect(outcome(small.repeat(30))).toEqual({ reports: 20, refused: [named] });
    const parts = (count: number) => mailOf(Array(count).fill(["text/xml", Buffer.from(small)]));
    expect(outcome(parts(50))).toEqual({ reports: 50, refused: [] });
    expect(outcome(parts(51))).toEqual({ reports: 50, refused: [named] });
    expect(outcome(parts(60))).toEqual({ reports: 50, refused: [named] });
    // A truncated report after the last one that is read does not affect that one.
    const cut = xml({ records: RECORD.repeat(2) }).slice(0, -20);
    expect(
      readReports(Buffer.from(xml().repeat(20) + cut)).reports.map(({ report }) => report),
    ).not.toContainEqual(expect.objectContaining({ unread: [expect.anything()] }));
  });

  test("no input throws: a valid report cut and changed anywhere", () => {
    const good = xml();
    fc.assert(
      fc.property(fc.nat(good.length), fc.string({ maxLength: 8 }), fc.nat(good.length), (at, junk, cut) => {
        const broken = (good.slice(0, at) + junk + good.slice(at + junk.length)).slice(
          cut % 3 === 0 ? cut : 0,
        );
        expect(() => readReports(Buffer.from(broken))).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test("the maximum number of records takes linear time", () => {
    expectLinearCost(
      dmarcRecordLimit / 16,
      (records) => xml({ records: RECORD.repeat(records) }),
      (report) => read(report),
    );
    expect(read(xml({ records: RECORD.repeat(dmarcRecordLimit) })).rows).toHaveLength(dmarcRecordLimit);
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
