/**
 * Measures address validation with DNS and mail hosts on loopback: single addresses whose domain is cached, and files of
 * addresses from the call to the end of the job, with and without SMTP probes. The file for probes has as many addresses
 * as the limits allow in a minute: two thousand domains at a hundred providers, one SMTP session at a time for each.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { CallApi } from "#test/support/api-caller.ts";
import { type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { startProgram } from "#test/support/program.ts";
import { runHttpLoad } from "./http-load.ts";
import { type ProbedHosts, startProbedHosts } from "./probed-hosts.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped } from "./table.ts";

const DOMAINS = 2_000;
const PROVIDERS = 100;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;
const MOST_P95_MS = 30;
const LOOK_MS = 50;

/** Addresses per domain, and the aim in addresses per second. */
const unasked = { ofDomain: 15, least: 2_000 };
const asked = { ofDomain: 2, least: 200 };

export async function benchValidations(setup: BenchSetup): Promise<Figure[]> {
  await using hosts = await startProbedHosts(PROVIDERS);
  await using dns = await startFakeDns(zoneOf(hosts));
  const environment = {
    ...setup.environment,
    MAIL_MODE: "direct",
    DNS_SERVERS: dns.address,
    SMTP_PORT: String(hosts.port),
    ALLOW_PRIVATE_MX: "true",
  };
  const figures: Figure[] = [];
  {
    const settings = { ...environment, VALIDATION_PROBE: "off" };
    await using service = await startProgram(settings, ["serve", "--roles", "api,jobs"]);
    const call: CallApi = (method, path, body) => service.call(method, path, body, { key: setup.apiKey });
    figures.push(await single(setup, service.url));
    figures.push(bulkFigure("without servers", unasked, await bulk(call, unasked.ofDomain)));
  }
  await using service = await startProgram(environment, ["serve", "--roles", "api,jobs"]);
  const call: CallApi = (method, path, body) => service.call(method, path, body, { key: setup.apiKey });
  figures.push(bulkFigure("servers asked", asked, await bulk(call, asked.ofDomain)));
  return figures;
}

const domainName = (at: number) => `customer-${at}.test`;
const hostName = (at: number) => `mx.provider-${at % PROVIDERS}.test`;

function zoneOf({ addresses }: ProbedHosts): DnsZone {
  const domains = Array.from({ length: DOMAINS }, (_, at) => [
    domainName(at),
    { MX: [[10, hostName(at)] as [number, string]] },
  ]);
  const hosts = addresses.map((address, at) => [hostName(at), { A: [address] }]);
  return Object.fromEntries([...domains, ...hosts]);
}

/** One caller validates different addresses of one domain. */
async function single(setup: BenchSetup, url: string): Promise<Figure> {
  const { p50, p95, p99 } = await runHttpLoad({
    port: Number(new URL(url).port),
    path: "/api/v1/validations",
    headers: { "X-API-Key": setup.apiKey },
    body: JSON.stringify({ email: `person00000000@${domainName(0)}` }),
    connections: 1,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
  });
  return {
    what: "one address, its domain known, no server asked",
    measured: `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)}, p99 ${p99.toFixed(1)} ms`,
    aim: `p95 < ${MOST_P95_MS} ms`,
    isMet: p95 < MOST_P95_MS,
  };
}

/** Addresses per second from the call to the end of the job, which must find all addresses valid. */
async function bulk(call: CallApi, ofDomain: number): Promise<number> {
  const count = DOMAINS * ofDomain;
  const lines = Array.from({ length: count }, (_, at) => `person.${at}@${domainName(at % DOMAINS)}\n`);
  const form = new FormData();
  form.append("file", new Blob(["email\n", ...lines]), "people.csv");
  const from = performance.now();
  const started = await call("POST", "/validations/bulk", form);
  if (started.status !== 202) throw new Error(`the file was refused: ${JSON.stringify(started.body)}`);
  for (;;) {
    const { body } = await call("GET", `/jobs/${started.body.data.job_id}`);
    const { status, counts, error } = body.data;
    if (status === "completed" && counts.valid === count) break;
    if (!["pending", "processing"].includes(status)) {
      throw new Error(`the job ended as ${status}: ${error ?? JSON.stringify(counts)}`);
    }
    await delay(LOOK_MS);
  }
  return count / ((performance.now() - from) / 1_000);
}

function bulkFigure(what: string, { ofDomain, least }: typeof asked, rate: number): Figure {
  return {
    what: `a file of ${grouped(DOMAINS * ofDomain)}, ${what}`,
    measured: `${grouped(rate)} addresses/s`,
    aim: `≥ ${grouped(least)}/s`,
    isMet: rate >= least,
  };
}
