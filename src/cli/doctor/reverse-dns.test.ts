import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { mailHostname, prepareDoctor } from "#test/support/doctor-run.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const examineAll = await prepareDoctor(service);

/** The doctor's findings on reverse names, one line each. */
async function examine(change: DnsZone, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { findings } = await examineAll({ change, env: () => env });
  return findings
    .filter(({ check }) => check === "reverse DNS")
    .map(({ status, message }) => `${status}: ${message}`);
}

async function addSendingIp(ip: string, hostname: string | null, isActive = true) {
  await service.database.run(sql`delete from sending_ips`);
  await service.database.run(sql`
    insert into sending_ips (workspace_id, id, ip, hostname, is_active, created_at)
    values (${service.workspaceId}, ${newId()}, ${ip}, ${hostname}, ${isActive}, now())`);
}

const reverse = "2.0.0.127.in-addr.arpa";
const inOrder = `ok: 127.0.0.2 is called ${mailHostname}, which leads back.`;

test.each<[string, DnsZone, string]>([
  ["a name without an address", { [mailHostname]: {} }, `MAIL_HOSTNAME ${mailHostname} has no address`],
  ["an address without a name", { [reverse]: {} }, "127.0.0.2 has no name"],
  [
    "an address of another name",
    { [reverse]: { PTR: ["vps7.provider.test"] } },
    `127.0.0.2 is called vps7.provider.test, but greets as ${mailHostname}`,
  ],
])("%s is a fault", async (_, change, message) => {
  expect(await examine(change)).toEqual([expect.stringContaining(`fault: ${message}`)]);
});

test("names are the same in any case", async () => {
  expect(
    await examine({ [reverse]: { PTR: ["MAIL.ours.test"] } }, { MAIL_HOSTNAME: "Mail.Ours.Test" }),
  ).toEqual([inOrder]);
});

test("each address of MAIL_HOSTNAME is checked, and a failed address look-up is a finding", async () => {
  const both = { A: ["127.0.0.2"], AAAA: ["2001:db8::25"] };
  expect(await examine({ [mailHostname]: both })).toEqual([
    inOrder,
    expect.stringContaining("fault: 2001:db8::25 has no name"),
  ]);
  expect(await examine({ [mailHostname]: { A: ["127.0.0.2"], AAAA: "servfail" } })).toEqual([
    inOrder,
    `not_checked: The IPv6 addresses of ${mailHostname} could not be looked up (ESERVFAIL).`,
  ]);
  expect(await examine({ [reverse]: "servfail" })).toEqual([
    "not_checked: The name of 127.0.0.2 could not be looked up (ESERVFAIL).",
  ]);
});

test("every sending IP that is on needs a name, and that name has to lead back to it", async () => {
  const named = { "7.2.0.192.in-addr.arpa": { PTR: ["out7.ours.test"] } };
  const sendingIp = async (change: DnsZone) => (await examine(change))[1];
  await addSendingIp("192.0.2.7", "out7.ours.test");
  expect(await sendingIp({})).toContain("fault: 192.0.2.7 has no name, but greets as out7.ours.test");
  expect(await sendingIp(named)).toContain(
    "fault: 192.0.2.7 is called out7.ours.test, but that name has no address",
  );
  expect(await sendingIp({ ...named, "out7.ours.test": { A: ["192.0.2.8"] } })).toContain(
    "fault: 192.0.2.7 is called out7.ours.test, but that name leads to 192.0.2.8",
  );
  expect(await sendingIp({ ...named, "out7.ours.test": "servfail" })).toBe(
    "not_checked: The IPv4 addresses of out7.ours.test could not be looked up (ESERVFAIL).",
  );
  expect(await sendingIp({ ...named, "out7.ours.test": { A: ["192.0.2.8", "192.0.2.7"] } })).toBe(
    "ok: 192.0.2.7 is called out7.ours.test, which leads back.",
  );
  await addSendingIp("192.0.2.7", "out7.ours.test", false);
  expect(await examine({})).toEqual([inOrder]);
});

test("a sending IP that greets as MAIL_HOSTNAME has to be one of its addresses", async () => {
  await addSendingIp("192.0.2.7", null);
  expect(await examine({ "7.2.0.192.in-addr.arpa": { PTR: [mailHostname] } })).toEqual([
    inOrder,
    expect.stringContaining(`fault: 192.0.2.7 is called ${mailHostname}, but that name leads to 127.0.0.2`),
  ]);
});

test("an address that greets by two names needs both", async () => {
  await addSendingIp("127.0.0.2", "out1.ours.test");
  const change: DnsZone = { "out1.ours.test": { A: ["127.0.0.2"] } };
  expect(await examine(change)).toEqual([
    inOrder,
    expect.stringContaining(`fault: 127.0.0.2 is called ${mailHostname}, but greets as out1.ours.test`),
  ]);
  expect(await examine({ ...change, [reverse]: { PTR: [mailHostname, "out1.ours.test"] } })).toEqual([
    inOrder,
    "ok: 127.0.0.2 is called out1.ours.test, which leads back.",
  ]);
  await addSendingIp("127.0.0.2", null);
  expect(await examine({})).toEqual([inOrder]);
});
