/** Each row of the table "When TLS fails" of docs/delivery.md, with servers that have that fault. */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { describe, expect, test } from "vitest";
import { standardDeadlines } from "#smtp-client/deadlines.ts";
import type { TlsDemand } from "#smtp-client/tls.ts";
import { fakeMxCertificate } from "#test/support/fake-mx.ts";
import { routeTo, startSmtpTransport } from "#test/support/smtp-transport.ts";
import { type TlsFault, tlsFaults } from "#test/support/tls-faults.ts";
import { leased } from "#test/support/transport-recorder.ts";
import type { Lane } from "./lanes/default-lanes.ts";
import { resultOfSmtp } from "./queue/decide-result.ts";
import type { FindRoute } from "./routes/find-destination.ts";

/** Short for servers that do not answer. */
const hasty = { ...standardDeadlines, starttls: 200, ehloUnderTls: 200 };
const isSilent = ({ reason }: TlsFault) => reason.source.includes("in time");

/** Internal details of a TLS library: pointers, paths, codes and line breaks. */
const LIBRARY_TEXT = /[\r\n]|error:|\.c\b|SSL routines|[0-9A-F]{8}|_/;

const trusting = createSecureContext({ ca: fakeMxCertificate, minVersion: "TLSv1.2" });

async function start(fault: TlsFault, findRoute: FindRoute) {
  const { mx, recorder, transport } = await startSmtpTransport(findRoute, {
    mxOptions: fault.mx,
    options: { secureContext: trusting, ...(isSilent(fault) && { deadlines: hasty }) },
  });
  const send = async () => {
    const heard = recorder.heard.length + 1;
    const message = leased("ann");
    transport.send(message);
    const last = (await recorder.waitFor(heard)).at(-1);
    if (last?.kind !== "attempted") throw new Error(JSON.stringify(last));
    return resultOfSmtp(message, { mxHost: null, ...last }, new Date(), 0.5).outcome;
  };
  return { mx, send };
}

const laneOf = (change: Partial<Lane>) => routeTo({ messages_per_connection: 1, ...change });
const demanding =
  (tls: TlsDemand): FindRoute =>
  async (domain) => {
    const route = await laneOf({})(domain);
    if ("outcome" in route) throw new Error("no route");
    return { ...route, hosts: route.hosts.map((host) => ({ ...host, tls })) };
  };

const demanders = [
  ["The lane demands TLS", laneOf({ tls_required: true })],
  ["MTA-STS demands secure TLS", demanding({ by: "mta-sts" })],
  ["DANE demands secure TLS", demanding({ by: "dane", host: "mx.example.test", records: [] })],
] as const;

describe.each(tlsFaults)("a server that $row: $what", (fault) => {
  test("gets its mail in clear text at once, without another TLS attempt, and the timeline says why", async () => {
    const { mx, send } = await start(fault, laneOf({}));
    for (const _time of ["first", "remembered"]) {
      const outcome = await send();
      expect(outcome).toMatchObject({
        status: "delivered",
        attempts: 1,
        tls: { version: null, cipher: null, verified: false, policy: null },
      });
      expect(outcome?.tls?.clear_text_reason).toMatch(fault.reason);
      expect(outcome?.tls?.clear_text_reason).not.toMatch(LIBRARY_TEXT);
    }
    expect(mx.messages.map(({ tls, connection }) => [tls, connection])).toEqual([
      [false, 2],
      [false, 3],
    ]);
    expect(mx.commands.filter((command) => command === "STARTTLS")).toHaveLength(1);
  });

  const [demander, route] = demanders[tlsFaults.indexOf(fault) % demanders.length] ?? ["", laneOf({})];

  test(`gets no mail if TLS is demanded ("${demander}"): the message waits, and the timeline says why`, async () => {
    const { mx, send } = await start(fault, route);
    const outcome = await send();
    expect(outcome).toMatchObject({ status: "deferred", isAddressFault: false });
    expect(outcome?.detail).toMatch(fault.reason);
    expect(outcome?.detail).not.toMatch(LIBRARY_TEXT);
    if (outcome?.code === null) {
      expect(outcome.enhancedCode).toBe("4.7.5");
      expect(outcome.detail.startsWith(`${demander}: `)).toBe(true);
    } else expect(outcome?.detail).toMatch(/^4\d\d /);
    expect(mx.received).toBe(0);
    expect(mx.connections).toBe(1);
  });
});

test("the table of the documentation has these rows", async () => {
  const page = await readFile(new URL("../../docs/delivery.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("### When TLS fails");
  for (const { row } of tlsFaults) expect(section).toContain(`\n| ${row} |`);
});
