/** Runs `posthaste doctor` as an operator does, with a fake DNS and a fake mail host. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { Finding } from "#cli/doctor/finding.ts";
import { runCli } from "#cli/program.ts";
import { saveSecretKey } from "#platform/secrets/key-fingerprints-store.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { type DnsZone, startFakeDns } from "./fake-dns.ts";
import { type FakeMx, type FakeMxOptions, startFakeMx } from "./fake-mx.ts";
import { SECRET_KEY, type TestService } from "./service.ts";

export const mailHostname = "mail.ours.test";

/** A zone with every record that docs/operations.md asks for. */
export const zoneInOrder: DnsZone = {
  [mailHostname]: { A: ["127.0.0.2"] },
  "2.0.0.127.in-addr.arpa": { PTR: [mailHostname] },
  [`spf.${mailHostname}`]: { TXT: ["v=spf1 ip4:127.0.0.2 -all"] },
  [`bounce.${mailHostname}`]: { MX: [[10, mailHostname]] },
  "example.test": { MX: [[10, "mx.example.test"]] },
  "mx.example.test": { A: ["127.0.0.1"] },
  "smart.test": { A: ["127.0.0.1"] },
  "post.ours.test": { A: ["127.0.0.1"] },
};

export interface DoctorRunOptions {
  readonly change?: DnsZone;
  /** Null: no mail host listens. */
  readonly mx?: FakeMxOptions | null;
  readonly env?: (port: number) => Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

export interface DoctorRun {
  readonly code: number;
  readonly findings: readonly Finding[];
  /** The last finding of the given check. */
  readonly of: (check: string) => Finding | undefined;
  readonly mx: FakeMx;
}

/** For a test file: examines an installation that is correct except for the given changes. */
export async function prepareDoctor(
  service: TestService,
): Promise<(options?: DoctorRunOptions) => Promise<DoctorRun>> {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-doctor-"));
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  // The first start of the service stores this fingerprint.
  await saveSecretKey(service.database, createSecrets(SECRET_KEY).fingerprints[0]);
  return async (options = {}) => {
    const dns = await startFakeDns({ ...zoneInOrder, ...options.change });
    onTestFinished(() => dns.close());
    const mx = await startFakeMx(options.mx ?? {});
    onTestFinished(() => mx.close());
    if (options.mx === null) await mx.close();
    const printed: string[] = [];
    const code = await runCli(["doctor", "--json", ...(options.words ?? [])], {
      stdout: { write: (text) => printed.push(String(text)) },
      stderr: { write: () => {} },
      environment: {
        DATABASE_URL: service.database.url,
        DATA_DIR: dataDir,
        SECRET_KEY,
        MAIL_MODE: "direct",
        MAIL_HOSTNAME: mailHostname,
        // No server listens there, because a test cannot have a certificate that browsers trust.
        PUBLIC_URL: "https://post.ours.test:9/",
        INBOUND_PORT: "2525",
        DNS_SERVERS: dns.address,
        SMTP_PORT: String(mx.port),
        ALLOW_PRIVATE_MX: "true",
        PLATFORM_FROM: "hello@example.test",
        ...options.env?.(mx.port),
      },
      endpoints: () => service.api.endpoints,
      serve: async () => {},
    });
    const findings: Finding[] = JSON.parse(printed.join(""));
    return { code, findings, of: (check) => findings.findLast((one) => one.check.startsWith(check)), mx };
  };
}
