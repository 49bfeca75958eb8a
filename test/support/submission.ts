/** The submission ports of a test service, wired by src/processes/inbound.ts like the program. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { startInbound } from "#processes/inbound.ts";
import { SECRET_KEY, startService, type TestService } from "./service.ts";
import { openSmtp, type SmtpClient } from "./smtp-client.ts";

export interface TestSubmission {
  readonly service: TestService;
  /** The port with STARTTLS. */
  readonly port: number;
  /** The port with implicit TLS. */
  readonly tlsPort: number;
  /** A client that has logged in over STARTTLS. Default secret: the API key of the service. */
  readonly loggedIn: (secret?: string) => Promise<SmtpClient>;
}

/** Starts the service. Its workspace may send as any address at shop.test, and as me@elsewhere.test. */
export async function startSubmission(
  change: (database: Database) => Database | Promise<Database> = (database) => database,
): Promise<TestSubmission> {
  const service = await startService();
  const { database, clock, workspaceId } = service;
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-submission-"));
  const inbound = await startInbound({
    config: readConfig({
      DATA_DIR: dataDir,
      MAIL_HOSTNAME: "mail.posthaste.test",
      SUBMISSION_PORT: "0",
      SUBMISSIONS_PORT: "0",
    }),
    log: createLog("silent"),
    clock,
    database,
    requests: await change(database),
    secrets: createSecrets(SECRET_KEY),
  });
  afterAll(async () => {
    await inbound.stop(0);
    await rm(dataDir, { recursive: true, force: true });
  });
  const at = clock.now();
  await database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, ${at}),
           (${workspaceId}, gen_random_uuid(), 'unproven.test', 'v', 'd', false, null)`);
  await database.run(sql`
    insert into verified_senders (workspace_id, id, email, is_verified, verified_at, token_expires_at)
    values (${workspaceId}, gen_random_uuid(), 'me@elsewhere.test', true, ${at}, ${at})`);
  const port = inbound.submissionPort ?? 0;
  return {
    service,
    port,
    tlsPort: inbound.submissionsPort ?? 0,
    async loggedIn(secret = service.key) {
      const client = await openSmtp(port);
      await client.say("EHLO client.test");
      await client.startTls();
      const answer = await client.login(secret);
      if (!answer.startsWith("235")) throw new Error(`login refused: ${answer}`);
      return client;
    },
  };
}

/** Submits a message over an open session; returns the reply to it, or to the command that was refused. */
export async function handIn(
  client: SmtpClient,
  message: string | Buffer,
  recipients: readonly string[] = ["ada@example.test"],
  parameters = "",
): Promise<string> {
  const commands = [
    `MAIL FROM:<bounces@anywhere.test>${parameters}`,
    ...recipients.map((to) => `RCPT TO:<${to}>`),
  ];
  for (const command of commands) {
    const answer = await client.say(command);
    if (!answer.startsWith("250")) return answer;
  }
  const invited = await client.say("DATA");
  if (!invited.startsWith("354")) return invited;
  client.write(message);
  client.write("\r\n.\r\n");
  return client.reply();
}
