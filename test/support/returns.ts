/** The inbound SMTP port for returned mail on a test service, wired by src/processes/inbound.ts like the program. */
import type { KeyObject } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll } from "vitest";
import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { unclassified } from "#messages/message/outcome.ts";
import type { OutcomeStatus } from "#messages/message/status.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { readConfig } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { startInbound } from "#processes/inbound.ts";
import { createReactions } from "#processes/reactions.ts";
import { eventually } from "./eventually.ts";
import { SECRET_KEY, startService, type TestService } from "./service.ts";
import { openSmtp, type SmtpClient } from "./smtp-client.ts";

export const BOUNCE_DOMAIN = "bounce.posthaste.test";

export interface TestReturns {
  readonly service: TestService;
  readonly port: number;
  /** Sends and delivers a message to this address; returns its id. */
  readonly deliver: (to: string, email?: object) => Promise<string>;
  /** Records how a message ended. */
  readonly settle: (id: string, status: Exclude<OutcomeStatus, "deferred">, type?: "soft") => Promise<void>;
  readonly returnPathKey: KeyObject;
  /** The return path of a message; below, its local part. */
  readonly returnPath: (id: string) => string;
  readonly token: (id: string) => string;
  /** Sends a mail to the inbound port, waits until it has been processed, and returns its state. */
  readonly receive: (
    rcptTo: string,
    raw: string | Buffer,
    mailFrom?: string,
  ) => Promise<{ status: string; result: string }>;
  readonly message: (
    id: string,
  ) => Promise<{ status: string; timeline: { type: string; detail: string | null }[] }>;
}

/** Starts the service. Its workspace may send as any address at shop.test. */
export async function startReturns(
  change: (database: Database) => Database = (database) => database,
  secretKeys: readonly [string, ...string[]] = [SECRET_KEY],
  env: Readonly<Record<string, string>> = {},
): Promise<TestReturns> {
  const service = await startService({
    env: { BOUNCE_DOMAIN, PLATFORM_FROM: "hello@posthaste.test", ...env },
    secretKeys,
  });
  const { database, clock, workspaceId } = service;
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-returns-"));
  const secrets = createSecrets(...secretKeys);
  const inbound = await startInbound({
    config: readConfig({
      DATA_DIR: dataDir,
      MAIL_HOSTNAME: "mail.posthaste.test",
      BOUNCE_DOMAIN,
      PLATFORM_FROM: "hello@posthaste.test",
      INBOUND_PORT: "0",
      DNS_SERVERS: service.dns.address,
      ...env,
    }),
    log: createLog("silent"),
    clock,
    database: change(database),
    requests: change(database),
    secrets,
  });
  afterAll(async () => {
    await inbound.stop(0);
    await rm(dataDir, { recursive: true, force: true });
  });
  await database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, dmarc_ingestion)
    values (${workspaceId}, ${newId()}, 'shop.test', 'v', ${"0123456789abcdef".repeat(2)}, true, true)`);
  await database.run(
    sql`insert into domain_claims (domain, workspace_id) values ('shop.test', ${workspaceId})`,
  );
  const port = inbound.inboundPort ?? 0;
  const onMoved = createReactions(clock);
  const key = returnPathKeys(secrets).signing;

  const returns: TestReturns = {
    service,
    port,
    async settle(messageId, status, type) {
      const outcome = {
        ...unclassified,
        classification: type === undefined ? null : ({ type, category: "MailboxFull" } as const),
        workspaceId,
        messageId,
        status,
        time: clock.now(),
        attempts: status === "suppressed" || status === "cancelled" ? null : 1,
        nextAttemptAt: null,
        detail: "said",
        mxHost: null,
        code: null,
        enhancedCode: null,
        isAddressFault: false,
      };
      await database.transaction(async (tx) => {
        await tx.run(sql`delete from delivery_queue where message_id = ${messageId}`);
        await recordOutcomes(tx, [outcome], onMoved);
      });
    },
    async deliver(to, email = {}) {
      const body = {
        to,
        from_email: "orders@shop.test",
        subject: "Your order",
        body: "<p>Thanks</p>",
        ...email,
      };
      const answer = await service.call("POST", "/emails/send", body);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      await returns.settle(answer.body.data.id, "delivered");
      return answer.body.data.id;
    },
    returnPathKey: key,
    token: (id) => encodeReturnPath(workspaceId, id, key),
    returnPath: (id) => `${returns.token(id)}@${BOUNCE_DOMAIN}`,
    async receive(rcptTo, raw, mailFrom = "") {
      const before = await newestMail(database);
      const answer = await sendIn(port, rcptTo, raw, mailFrom);
      if (!answer.startsWith("250")) throw new Error(answer);
      return eventually("the mail to be processed", async () => {
        const [mail] = await database.rows<{ status: string; result: string }>(sql`
          select status, result from inbound_mails
          where id > ${before} and status <> 'received' order by id desc limit 1`);
        return mail;
      });
    },
    message: async (id) => (await service.call("GET", `/messages/${id}`)).body.data,
  };
  return returns;
}

async function newestMail(database: Database): Promise<string> {
  const row = await database.row<{ id: string }>(sql`select id from inbound_mails order by id desc limit 1`);
  return row?.id ?? "00000000-0000-0000-0000-000000000000";
}

/** Sends one mail as another server does; returns the reply to the final dot, or to the command that was refused. */
export async function sendIn(
  port: number,
  rcptTo: string,
  raw: string | Buffer,
  mailFrom = "",
): Promise<string> {
  const client = await openSmtp(port);
  try {
    return await say(client, rcptTo, raw, mailFrom);
  } finally {
    client.close();
  }
}

async function say(
  client: SmtpClient,
  rcptTo: string,
  raw: string | Buffer,
  mailFrom: string,
): Promise<string> {
  for (const command of ["EHLO mx.test", `MAIL FROM:<${mailFrom}>`, `RCPT TO:<${rcptTo}>`, "DATA"]) {
    const answer = await client.say(command);
    if (!/^[23]/.test(answer)) return answer;
  }
  client.write(typeof raw === "string" ? raw.replace(/\r?\n/g, "\r\n").replace(/^\./gm, "..") : raw);
  client.write("\r\n.\r\n");
  return client.reply();
}

/** A delivery report (RFC 3464) about one recipient. */
export function deliveryReport(
  recipient: string,
  { action = "failed", status = "5.1.1", diagnostic = "550 5.1.1 No such user here", token = "" } = {},
): string {
  return [
    "From: MAILER-DAEMON@mx.example.test",
    "Subject: Undelivered Mail Returned to Sender",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "MIME-Version: 1.0",
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "This is the mail system. Your message could not be delivered.",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.test",
    "",
    ...(recipient === "" ? [] : [`Final-Recipient: rfc822; ${recipient}`]),
    `Action: ${action}`,
    `Status: ${status}`,
    "Remote-MTA: dns; store.example.test",
    `Diagnostic-Code: smtp; ${diagnostic}`,
    "",
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    `X-Posthaste-Message: ${token}`,
    "Subject: Your order",
    "",
    "--b--",
  ].join("\n");
}

/** A feedback report (RFC 5965) about a message with this token in its header. */
export function complaintReport(token: string, feedbackType = "abuse", more: readonly string[] = []): string {
  return [
    "From: Feedback <fbl@provider.test>",
    "Subject: FW: Your order",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    "MIME-Version: 1.0",
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "This is a complaint.",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    `Feedback-Type: ${feedbackType}`,
    "User-Agent: Provider/1.0",
    "Version: 1",
    ...more,
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    "From: orders@shop.test",
    "Subject: Your order",
    `X-Posthaste-Message: ${token}`,
    "",
    "Thanks",
    "--b--",
  ].join("\n");
}
