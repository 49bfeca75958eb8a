import { expect, onTestFinished, test } from "vitest";
import { prepareDoctor, zoneInOrder } from "#test/support/doctor-run.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";

const examine = await prepareDoctor(await startService());

/** The address of a server that has stopped. */
async function silentServer(): Promise<string> {
  const dns = await startFakeDns();
  await dns.close();
  return dns.address;
}

test("in every mode servers of DNS_SERVERS that do not answer are found: all are a fault, some a warning", async () => {
  const silent = await silentServer();
  const none = await examine({ env: () => ({ MAIL_MODE: "capture", DNS_SERVERS: silent }) });
  expect(none.of("DNS servers")).toMatchObject({
    status: "fault",
    message: expect.stringContaining(`No DNS server answers: ${silent} (ECONNREFUSED). No mail leaves`),
  });
  expect(none.code).toBe(1);
  const answering = await startFakeDns(zoneInOrder);
  onTestFinished(() => answering.close());
  const some = await examine({ env: () => ({ DNS_SERVERS: `${answering.address},${silent}` }) });
  expect(some.of("DNS servers")).toMatchObject({
    status: "warning",
    message: expect.stringContaining(`these do not answer: ${silent} (ECONNREFUSED).`),
  });
});

test("a server that answers without knowing the name answers", async () => {
  const { of } = await examine({ change: { com: "servfail" }, env: () => ({ MAIL_MODE: "capture" }) });
  expect(of("DNS servers")).toMatchObject({ status: "ok" });
});

test("in capture mode the servers of the system are not asked", async () => {
  const { of } = await examine({ env: () => ({ MAIL_MODE: "capture", DNS_SERVERS: "" }) });
  expect(of("DNS servers")).toBeUndefined();
});
