import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import type { ReportedDomain } from "#identity/sending-domains/store.ts";
import { lookUpSourceHosts } from "#inbound/sources/look-up-hosts.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import { BOUNCE_DOMAIN, startReturns } from "#test/support/returns.ts";
import { insertRefusedReports } from "./refused-store.ts";

const { service, receive } = await startReturns();
const { database, call, clock } = service;
const address = `d-${"0123456789abcdef".repeat(2)}@${BOUNCE_DOMAIN}`;
const { body } = await call("GET", "/sending-domains");
const domainId: string = body.data[0].id;
const path = `/sending-domains/${domainId}`;

interface Record {
  readonly ip: string;
  readonly count: number;
  readonly disposition?: string;
  readonly dkim?: string;
  readonly spf?: string;
  readonly from?: string;
}

function dmarcReport(id: string, records: readonly Record[], domain = "shop.test", daysAgo = 1): string {
  const end = Math.floor(clock.now().getTime() / 1_000) - daysAgo * DAY_SECONDS;
  const rows = records.map(
    ({ ip, count, disposition = "none", dkim = "pass", spf = "pass", from = "shop.test" }) => `
    <record>
      <row><source_ip>${ip}</source_ip><count>${count}</count>
        <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated>
      </row>
      <identifiers><header_from>${from}</header_from></identifiers>
      <auth_results/>
    </record>`,
  );
  return `<?xml version="1.0"?><feedback>
    <report_metadata><org_name>receiver.test</org_name><email>dmarc@receiver.test</email><report_id>${id}</report_id>
      <date_range><begin>${end - DAY_SECONDS}</begin><end>${end}</end></date_range></report_metadata>
    <policy_published><domain>${domain}</domain><p>quarantine</p></policy_published>${rows.join("")}
  </feedback>`;
}

function mailWith(content: Buffer, type = "application/gzip"): string {
  return [
    "From: dmarc@receiver.test",
    "Subject: Report domain: shop.test",
    "MIME-Version: 1.0",
    `Content-Type: ${type}; name=report.gz`,
    "Content-Transfer-Encoding: base64",
    "",
    ...(content.toString("base64").match(/.{1,76}/g) ?? []),
  ].join("\n");
}

const send = (xml: string) => receive(address, mailWith(gzipSync(xml)), "dmarc@receiver.test");

describe("DMARC reports", () => {
  test("are shown by source and one by one, once each", async () => {
    const first = dmarcReport("r1", [
      { ip: "192.0.2.1", count: 10 },
      { ip: "198.51.100.7", count: 3, disposition: "quarantine", dkim: "fail", spf: "fail" },
    ]);
    expect(await send(first)).toEqual({ status: "processed", result: "dmarc_report" });
    expect(await send(first)).toMatchObject({ result: "known" });
    await send(dmarcReport("r2", [{ ip: "192.0.2.1", count: 5, spf: "fail" }], "news.shop.test", 2));
    await send(dmarcReport("old", [{ ip: "192.0.2.9", count: 1 }], "shop.test", 50));

    const { data } = (await call("GET", `${path}/dmarc-reports?limit=1`)).body;
    expect(data).toMatchObject({
      window_days: 30,
      totals: { messages: 18, passed: 15, dkim_aligned: 15, spf_aligned: 10, quarantined: 3, rejected: 0 },
      pagination: { page: 1, limit: 1, total: 2, total_pages: 2 },
    });
    expect(data.sources).toMatchObject([
      {
        source_ip: "192.0.2.1",
        messages: 15,
        passed: 15,
        dkim_aligned: 15,
        spf_aligned: 10,
        quarantined: 0,
        rejected: 0,
      },
      {
        source_ip: "198.51.100.7",
        messages: 3,
        passed: 0,
        dkim_aligned: 0,
        spf_aligned: 0,
        quarantined: 3,
        rejected: 0,
      },
    ]);
    expect(data.reports).toEqual([
      expect.objectContaining({
        org_name: "receiver.test",
        report_id: "r1",
        policy: "quarantine",
        messages: 13,
        records: 2,
      }),
    ]);
    const year = (await call("GET", `${path}/dmarc-reports?window_days=90`)).body.data;
    expect(year.pagination.total).toBe(3);
  });

  test.each([
    [
      "another domain",
      () => dmarcReport("x1", [{ ip: "192.0.2.1", count: 1 }], "victim.test"),
      "victim.test",
    ],
    [
      "a domain that ends alike",
      () => dmarcReport("x2", [{ ip: "192.0.2.1", count: 1 }], "notshop.test"),
      "notshop.test",
    ],
    [
      "days to come",
      () => dmarcReport("x0", [{ ip: "192.0.2.1", count: 1 }], "shop.test", -2),
      "a report about the future",
    ],
    ["an absurd count", () => dmarcReport("x3", [{ ip: "192.0.2.1", count: 1e18 }]), "bad_count"],
    [
      "entities of its own",
      () => dmarcReport("x4", []).replace("<feedback>", '<!DOCTYPE a [<!ENTITY b "c">]><feedback>'),
      "document_type",
    ],
  ])("about %s are refused", async (_, xml, reason) => {
    const { status, result } = await send(xml());
    expect(status).toBe("quarantined");
    expect(result).toContain(reason);
  });

  test("that are archive bombs are refused", async () => {
    const bomb = mailWith(gzipSync(Buffer.alloc(200_000_000, 32)));
    expect(await receive(address, bomb)).toMatchObject({ status: "quarantined" });
    expect(await receive(address, "Subject: hello\n\nno report")).toMatchObject({ status: "quarantined" });
  });

  test("beyond the daily limit of a domain are refused", async () => {
    const taken = await database.row<{ records: number }>(
      sql`select sum(records)::integer as records from dmarc_reports`,
    );
    const others = 20_000 - (taken?.records ?? 0) - 2;
    await database.run(sql`update dmarc_reports set records = records + ${others} where report_id = 'r1'`);
    const more = (id: string, count: number) =>
      send(dmarcReport(id, Array(count).fill({ ip: "192.0.2.1", count: 1 }), "shop.test", 300));
    const tooMany = {
      status: "quarantined",
      result: "the domain has had too many reports in a day",
    };
    expect(await more("r3", 3)).toEqual(tooMany);
    expect(await more("r4", 2)).toMatchObject({ result: "dmarc_report" });
    expect(await more("r5", 1)).toEqual(tooMany);
    await database.run(sql`update dmarc_reports set records = 2 where report_id = 'r1'`);
  });

  test("beyond the records read for sources still count, but show no sources", async () => {
    await send(dmarcReport("newest", [{ ip: "203.0.113.1", count: 1 }], "shop.test", 0));
    const shown = async () => {
      const { totals, sources } = (await call("GET", `${path}/dmarc-reports`)).body.data;
      const ips = sources.map(({ source_ip }: { source_ip: string }) => source_ip);
      return { messages: totals.messages, ips };
    };
    const all = { messages: 19, ips: ["192.0.2.1", "198.51.100.7", "203.0.113.1"] };
    expect(await shown()).toEqual(all);
    await database.run(sql`update dmarc_reports set records = 150000 where report_id = 'r1'`);
    expect(await shown()).toEqual({ ...all, ips: ["203.0.113.1"] });
    await database.run(sql`update dmarc_reports set records = 2 where report_id = 'r1'`);
  });

  test("of the organisational domain count for a subdomain without a DMARC record", async () => {
    const { workspaceId, key } = await service.newWorkspace();
    const [token, id] = ["fedcba9876543210".repeat(2), newId()];
    await database.run(sql`
      insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, dmarc_ingestion)
      values (${workspaceId}, ${id}, 'mail.corp.test', 'v', ${token}, true)`);
    const take = (xml: string) => receive(`d-${token}@${BOUNCE_DOMAIN}`, mailWith(gzipSync(xml)));
    const records = [
      { ip: "192.0.2.1", count: 2, from: "Mail.Corp.test" },
      { ip: "192.0.2.1", count: 3, from: "eu.mail.corp.test" },
      { ip: "192.0.2.2", count: 100, from: "corp.test" },
      { ip: "192.0.2.2", count: 100, from: "email.corp.test" },
    ];
    expect(await take(dmarcReport("p1", records, "corp.test"))).toMatchObject({ result: "dmarc_report" });
    expect(await take(dmarcReport("p2", records.slice(2), "corp.test"))).toMatchObject({ result: "known" });
    expect(await take(dmarcReport("p3", records, "other.test"))).toMatchObject({ status: "quarantined" });
    const { data } = (await call("GET", `/sending-domains/${id}/dmarc-reports`, undefined, { key })).body;
    expect(data).toMatchObject({ totals: { messages: 5 }, pagination: { total: 1 } });
    expect(data.reports).toMatchObject([{ policy_domain: "corp.test", messages: 5, records: 2 }]);
  });

  test("of another workspace's domain are not shown, and are removed with the domain", async () => {
    const other = await service.newWorkspace();
    expect((await call("GET", `${path}/dmarc-reports`, undefined, { key: other.key })).status).toBe(404);
    expect((await call("GET", `${path}/tls-reports`, undefined, { key: other.key })).status).toBe(404);
  });
});

describe("one DMARC report", () => {
  const idOf = async (reportId: string) => {
    const row = await database.row<{ id: string }>(sql`
      select id from dmarc_reports where report_id = ${reportId}`);
    return row?.id ?? expect.fail(`there is no report ${reportId}`);
  };

  test("has its policy and its records page by page, and the document as it came", async () => {
    const xml = dmarcReport("whole", [
      { ip: "192.0.2.1", count: 10 },
      { ip: "2001:db8::25", count: 3, disposition: "reject", dkim: "fail", spf: "fail" },
    ]);
    await send(xml);
    const one = `${path}/dmarc-reports/${await idOf("whole")}`;
    expect((await call("GET", one)).body.data).toMatchObject({
      org_name: "receiver.test",
      email: "dmarc@receiver.test",
      policy: { p: "quarantine", sp: null, pct: null },
      messages: 13,
      records: 2,
      has_xml: true,
    });
    expect((await call("GET", `${one}/records?limit=1&page=2`)).body.data).toMatchObject({
      records: [
        {
          source_ip: "2001:db8::25",
          messages: 3,
          disposition: "reject",
          dkim: "fail",
          header_from: "shop.test",
        },
      ],
      pagination: { total: 2, total_pages: 2 },
    });
    const file = await fetch(`${service.url}/api/v1${one}/xml`, { headers: { "X-API-Key": service.key } });
    expect([file.status, file.headers.get("content-type")]).toEqual([200, expect.stringContaining("xml")]);
    expect(await file.text()).toBe(xml);
    const { key } = await service.newWorkspace();
    for (const rest of ["", "/records", "/xml"]) {
      expect((await call("GET", one + rest, undefined, { key })).status).toBe(404);
      expect((await call("GET", `${path}/dmarc-reports/${newId()}${rest}`)).status).toBe(404);
    }
  });

  test("about the organisational domain keeps no document, which has records of others", async () => {
    const row = await database.row<{ xml: Buffer | null }>(sql`
      select xml from dmarc_reports where report_id = 'p1'`);
    expect(row).toEqual({ xml: null });
  });

  test("keeps no document beyond the octets of a day, and is stored all the same", async () => {
    await database.run(sql`
      update dmarc_reports set xml = decode(repeat('00', 4194304), 'hex') where report_id = 'whole'`);
    await send(dmarcReport("later", [{ ip: "192.0.2.1", count: 1 }]));
    const one = `${path}/dmarc-reports/${await idOf("later")}`;
    expect((await call("GET", one)).body.data).toMatchObject({ has_xml: false, messages: 1 });
    const refused = (await call("GET", `${one}/xml`)).body;
    expect(refused).toMatchObject({ code: "NOT_FOUND", error: "The document of this report was not kept" });
    await database.run(sql`delete from dmarc_reports where report_id in ('whole', 'later')`);
  });
});

test("sums by day add up to the totals", async () => {
  const { days, totals } = (await call("GET", `${path}/dmarc-reports`)).body.data;
  const sum = (name: "messages" | "passed") =>
    days.reduce((all: number, day: Record & { messages: number; passed: number }) => all + day[name], 0);
  expect([sum("messages"), sum("passed")]).toEqual([totals.messages, totals.passed]);
  const dates = days.map(({ date }: { date: string }) => date);
  expect(dates).toEqual([...new Set<string>(dates)].sort());
});

describe("the hosts of sources", () => {
  const context = { signal: new AbortController().signal, log: createLog("silent") };
  const sources = async () => (await call("GET", `${path}/dmarc-reports`)).body.data.sources;

  test("are named in the background, if the name leads back, with the organisation", async () => {
    const { dns } = service;
    await send(
      dmarcReport("hosts", [
        { ip: "93.184.100.41", count: 900 },
        { ip: "93.184.100.42", count: 800 },
        { ip: "93.184.100.43", count: 700 },
        { ip: "93.184.100.44", count: 600 },
      ]),
    );
    const reverse = (octet: number) => `${octet}.100.184.93.in-addr.arpa`;
    Object.assign(dns.zone, {
      [reverse(41)]: { PTR: ["mail-41.google.com"] },
      "mail-41.google.com": { A: ["93.184.100.41"] },
      [reverse(42)]: { PTR: ["bank.test"] },
      "bank.test": { A: ["192.0.2.200"] },
      [reverse(43)]: { PTR: ["Mx.News.Example.org"] },
      "mx.news.example.org": { A: ["93.184.100.43"] },
      [reverse(44)]: "servfail",
    });
    const resolver = createResolver({ servers: [dns.address], timeoutMs: 1_000, tries: 1 });
    await lookUpSourceHosts({ db: database, clock, resolver }).run(context);
    expect((await sources()).slice(0, 4)).toMatchObject([
      { source_ip: "93.184.100.41", host: "mail-41.google.com", organisation: "Google" },
      { source_ip: "93.184.100.42", host: null, organisation: null },
      { source_ip: "93.184.100.43", host: "mx.news.example.org", organisation: "example.org" },
      { source_ip: "93.184.100.44", host: null, organisation: null },
    ]);
    dns.questions.length = 0;
    await lookUpSourceHosts({ db: database, clock, resolver }).run(context);
    expect(dns.questions).toEqual([]);
  });

  test("wait some minutes, and not a day, while our own name servers do not answer", async () => {
    await database.run(sql`update source_hosts set due_at = ${clock.now()} where ip = '93.184.100.41'`);
    const silence = async () => ({ outcome: "failed", reason: "ETIMEOUT", isUnanswered: true }) as const;
    const silent = { ptr: silence, ipv4: silence, ipv6: silence };
    const run = lookUpSourceHosts({ db: database, clock, resolver: silent }).run(context);
    await expect(run).rejects.toMatchObject({ seconds: 30 });
    const google = async (ip: string) => {
      const mx = { outcome: "found", records: ["mail-41.google.com"] } as const;
      const found = { outcome: "found", records: [ip] } as const;
      const resolver = { ptr: async () => mx, ipv4: async () => found, ipv6: silence };
      await lookUpSourceHosts({ db: database, clock, resolver }).run(context);
    };
    await google("93.184.100.41");
    expect(
      await database.row(sql`
      select host, due_at > ${clock.now()}::timestamptz + interval '1 day' as is_answered
      from source_hosts where ip = '93.184.100.41'`),
    ).toEqual({ host: "mail-41.google.com", is_answered: true });
  });

  test("are noted up to a number for each domain and day", async () => {
    const countOf = async () =>
      (await database.row<{ count: number }>(sql`select count(*)::int as count from source_hosts`))?.count ??
      0;
    const before = await countOf();
    const report = (id: string, octet: number) =>
      dmarcReport(
        id,
        Array.from({ length: 150 }, (_, at) => ({ ip: `93.185.${octet}.${at}`, count: 1 })),
      );
    await send(report("wide", 1));
    expect(await countOf()).toBe(before + 100);
    await database.run(sql`update dmarc_reports set records = 2000 where report_id = 'wide'`);
    await send(report("wider", 2));
    expect(await countOf()).toBe(before + 100);
    await database.run(sql`delete from dmarc_reports where report_id in ('wide', 'wider')`);
  });
});

describe("reports that cannot be read whole", () => {
  test("are stored as far as they can be read; the owner sees what was refused, and why", async () => {
    const { workspaceId, key } = await service.newWorkspace();
    const [token, id] = ["0011223344556677".repeat(2), newId()];
    await database.run(sql`
      insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, dmarc_ingestion)
      values (${workspaceId}, ${id}, 'kept.test', 'v', ${token}, true)`);
    const take = (raw: string) => receive(`d-${token}@${BOUNCE_DOMAIN}`, raw, "dmarc@receiver.test");
    const shown = async (kind: "dmarc" | "tls") =>
      (await call("GET", `/sending-domains/${id}/${kind}-reports`, undefined, { key })).body.data;
    const nothing = { total: 0, reports: [] };
    expect([(await shown("dmarc")).put_aside, (await shown("tls")).put_aside]).toEqual([nothing, nothing]);

    const records = [
      { ip: "192.0.2.1:25", count: 4 },
      { ip: "192.0.2.1", count: -1 },
      { ip: "unknown", count: 1 },
    ];
    const good = dmarcReport("k1", records, "kept.test").replace("<org_name>receiver.test<", "<org_name><");
    const zip = zipSync({
      "a.xml": strToU8(good),
      "__MACOSX/._a.xml": strToU8("x"),
      "b.xml": strToU8(dmarcReport("k2", [{ ip: "192.0.2.1", count: 1 }], "victim.test")),
      "c.xml": strToU8("<feedback>\0</feedback>"),
    });
    expect(await take(mailWith(Buffer.from(zip)))).toEqual({ status: "processed", result: "dmarc_report" });
    const data = await shown("dmarc");
    expect(data.totals).toMatchObject({ messages: 4 });
    expect(data.reports).toMatchObject([
      {
        org_name: "receiver.test",
        records: 1,
        unread: [
          { reason: "bad_count", records: 1, message: expect.stringMatching(/^A count .*\.$/) },
          { reason: "bad_source_ip", records: 1, message: expect.stringMatching(/^The address .*\.$/) },
        ],
      },
    ]);
    expect(data.put_aside).toMatchObject({
      total: 2,
      reports: [
        {
          reason: "another_domain",
          detail: "victim.test",
          file_name: "b.xml",
          sender: "receiver.test",
          message: "The report is about another domain.",
        },
        { reason: "malformed", detail: null, file_name: "c.xml", received_at: clock.now().toISOString() },
      ],
    });

    const tls = mailWith(gzipSync('{"policies": []}'), "application/tlsrpt+gzip");
    expect(await take(tls)).toMatchObject({ status: "quarantined" });
    expect((await shown("tls")).put_aside).toMatchObject({ total: 1, reports: [{ reason: "bad_date" }] });
    await take("Subject: hello\n\nno report");
    expect((await shown("dmarc")).put_aside.reports[0]).toMatchObject({
      reason: "no_report",
      file_name: null,
    });
    expect((await shown("dmarc")).put_aside.total).toBe(3);
  });

  test("that are refused are listed newest first, up to a limit", async () => {
    const [domain] = await database.rows<ReportedDomain>(sql`
      select workspace_id, id, domain from sending_domains where domain = 'shop.test'`);
    if (domain === undefined) throw new Error("there is no domain");
    const refusal = { kind: "dmarc", sender: null, reason: "corrupt", detail: null } as const;
    const many = Array.from({ length: 190 }, (_, at) => ({ ...refusal, name: `${at}` }));
    await insertRefusedReports(database, domain, many, clock.now());
    await insertRefusedReports(database, domain, many, clock.now());
    const { put_aside } = (await call("GET", `${path}/dmarc-reports`)).body.data;
    expect(put_aside.total).toBe(200);
    expect(put_aside.reports).toHaveLength(50);
    expect(put_aside.reports[0]).toMatchObject({ file_name: "189" });
  });
});

test("TLS reports to the same address are shown with their failures, once each", async () => {
  const at = (daysAgo: number) =>
    new Date(clock.now().getTime() - daysAgo * DAY_SECONDS * 1_000).toISOString();
  const report = {
    "organization-name": "Receiver Inc.",
    "date-range": { "start-datetime": at(2), "end-datetime": at(1) },
    "contact-info": "tls@receiver.test",
    "report-id": "t1",
    policies: [
      {
        policy: { "policy-type": "sts", "policy-string": [], "policy-domain": "shop.test" },
        summary: { "total-successful-session-count": 40, "total-failure-session-count": 2 },
        "failure-details": [{ "result-type": "certificate-expired", "failed-session-count": 2 }],
      },
    ],
  };
  const mail = mailWith(gzipSync(JSON.stringify(report)), "application/tlsrpt+gzip");
  expect(await receive(address, mail)).toEqual({ status: "processed", result: "tls_report" });
  expect(await receive(address, mail)).toMatchObject({ result: "known" });
  const { data } = (await call("GET", `${path}/tls-reports`)).body;
  expect(data).toMatchObject({ totals: { successful: 40, failed: 2 }, pagination: { total: 1 } });
  expect(data.reports[0]).toMatchObject({
    organization_name: "Receiver Inc.",
    failures: [{ result_type: "certificate-expired", policy_type: "sts", failed: 2 }],
  });
});
