/** Mail that takes too long to parse. */
import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { createMailParser, type MailParser } from "#inbound/parsing/parse-mail-in-threads.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { eventually } from "#test/support/eventually.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { insertReceivedEmails } from "./accept-store.ts";
import { startReceiving } from "./process-received.ts";

const service = await startService();
const { database: db, clock, workspaceId, dns } = service;

beforeEach(() => db.run(sql`truncate received_emails`));

const store = (workspace = workspaceId) =>
  insertReceivedEmails(
    db,
    {
      workspaceId: workspace,
      mailFrom: "",
      remoteIp: "192.0.2.1",
      helo: "mx",
      network: "192.0.2.1",
      raw: Buffer.from("Subject: x\r\n\r\nhi"),
      spam: null,
      now: clock.now(),
    },
    [{ id: newId(), routeId: newId(), keep: true, webhook: false, rcptTo: "a@b.test" }],
  );

const process = (deadlineMs: number) => processWith(createMailParser({ deadlineMs, heapMb: 512 }));
const processWith = (parser: MailParser) => {
  const workers = startReceiving({
    db,
    clock,
    log: createLog("silent"),
    parser,
    resolver: createResolver({ servers: [dns.address], timeoutMs: 1_000, tries: 1 }),
    hostname: "mail.posthaste.test",
    returnPathKeys: returnPathKeys(createSecrets(SECRET_KEY)),
    onReceived: async () => true,
  });
  return {
    wake: () => workers.wake(),
    async stop() {
      await workers.stop();
      await parser.close();
    },
  };
};

const mail = () =>
  db.row<{ status: string; lease_number: number; is_leased: boolean }>(sql`
    select status, lease_number, due_at > ${new Date(clock.now().getTime() + 60_000)} as is_leased from received_emails`);

const until = (wanted: object) =>
  eventually("the mail", async () => {
    const found = { ...(await mail()) };
    return Object.entries(wanted).every(([key, value]) => Reflect.get(found, key) === value) || undefined;
  });

test("a mail that takes too long to parse gets one more attempt, later", async () => {
  await store();
  const hasty = process(1);
  await until({ status: "received", lease_number: 1, is_leased: false });
  await hasty.stop();
  clock.advance(60_000);
  const patient = process(30_000);
  await until({ status: "parsed", lease_number: 2 });
  await patient.stop();
});

test("a mail that takes too long twice is unreadable", async () => {
  await store();
  const hasty = process(1);
  await until({ status: "received", lease_number: 1, is_leased: false });
  clock.advance(60_000);
  hasty.wake();
  await until({ status: "unreadable", lease_number: 2 });
  await hasty.stop();
});

test("mails of one workspace that take long leave workers to others", async () => {
  const other = (await service.newWorkspace()).workspaceId;
  for (let n = 0; n < 10; n++) await store();
  const never = Promise.withResolvers<Awaited<ReturnType<MailParser["read"]>>>();
  const workers = processWith({ read: () => never.promise as never, close: async () => {} });
  const leased = async () => {
    const rows = await db.rows<{ workspace_id: string; mails: number }>(sql`
      select workspace_id, count(*) as mails from received_emails where lease_number > 0 group by workspace_id`);
    return new Map(rows.map(({ workspace_id, mails }) => [workspace_id, mails]));
  };
  await eventually(
    "the workers to be busy",
    async () => (await leased()).get(workspaceId) === 4 || undefined,
  );
  await store(other);
  workers.wake();
  await eventually(
    "the mail of the other workspace",
    async () => (await leased()).get(other) === 1 || undefined,
  );
  expect((await leased()).get(workspaceId)).toBe(4);
  await db.run(sql`truncate received_emails`);
  never.resolve({ ok: false, reason: "too_large" });
  await workers.stop();
});
