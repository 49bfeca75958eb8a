import { gzipSync } from "node:zlib";
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { BOUNCE_DOMAIN, startReturns } from "../../../test/support/returns.ts";
import { newId } from "../../platform/ids.ts";

const { service, receive } = await startReturns();
const { database, call, clock } = service;
const address = `d-${"0123456789abcdef".repeat(2)}@${BOUNCE_DOMAIN}`;
const { body } = await call("GET", "/sending-domains");
const domainId: string = body.data[0].id;
const path = `/sending-domains/${domainId}`;
const DAY_SECONDS = 86_400;

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
    expect(data.sources).toEqual([
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
  ])("about %s are put aside", async (_, xml, reason) => {
    const { status, result } = await send(xml());
    expect(status).toBe("quarantined");
    expect(result).toContain(reason);
  });

  test("that are bombs are put aside", async () => {
    const bomb = mailWith(gzipSync(Buffer.alloc(200_000_000, 32)));
    expect(await receive(address, bomb)).toMatchObject({ status: "quarantined" });
    expect(await receive(address, "Subject: hello\n\nno report")).toMatchObject({ status: "quarantined" });
  });

  test("of a domain that takes too many in a day are put aside", async () => {
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

  test("past what a page looks through still count, but show no sources", async () => {
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

  test("of the organisational domain, whose record holds for its subdomain, count for that subdomain's mail", async () => {
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

  test("of another workspace's domain are nobody's business, and go with the domain", async () => {
    const other = await service.newWorkspace();
    expect((await call("GET", `${path}/dmarc-reports`, undefined, { key: other.key })).status).toBe(404);
    expect((await call("GET", `${path}/tls-reports`, undefined, { key: other.key })).status).toBe(404);
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
