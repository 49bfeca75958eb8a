import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import type { QuotaName } from "#platform/limits/quota-store.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { createPlatformMail, excuseSignupMail, type PlatformMailKind } from "./platform-mail.ts";

const db = await testDatabase();
const clock = stubClock();
const send = createPlatformMail("posthaste@mail.posthaste.test", clock);
let count = 0;
const newAddress = () => `p${++count}@example.test`;
const newWorkspace = async () => {
  const settings = { name: "Test", timezone: "UTC", plan: "enterprise" } as const;
  return (await createWorkspace(db, settings, clock)).workspace.id;
};

const mailTo = (workspaceId: WorkspaceId, kind: PlatformMailKind, to = newAddress(), text = "Weekly") =>
  db.transaction((tx) =>
    send(tx, workspaceId, {
      kind,
      to,
      named: { text, otherwise: "a mailing list" },
      write: (name) => ({ subject: name, html: `<p>${name}</p>`, text: name }),
    }),
  );
const sentTo = (address: string) =>
  db.rows<{ subject: string }>(sql`
    select subject from messages where localpart || '@' || domain = ${address} order by id`);
const use = (name: QuotaName, holder: string, used: number) =>
  db.run(sql`
    insert into quota_uses (limit_name, holder, ends_at, used)
    values (${name}, ${holder}, date_trunc('day', ${clock.now()}::timestamptz, 'UTC') + interval '1 day', ${used})`);

const kinds: readonly (readonly [PlatformMailKind, QuotaName, QuotaName])[] = [
  ["sender_confirmation", "senderConfirmationsOfWorkspace", "senderConfirmationsToMailbox"],
  ["signup_confirmation", "signupMailsOfWorkspace", "signupMailsToMailbox"],
  ["bounce_copy", "bounceCopiesOfWorkspace", "bounceCopiesToMailbox"],
  ["listing_notice", "listingNoticesOfWorkspace", "listingNoticesToMailbox"],
  ["team_invitation", "invitationsOfWorkspace", "invitationsToMailbox"],
];

test.each(kinds)(
  "%s ends at the limit of its workspace, and begins again the next day",
  async (kind, name) => {
    const workspaceId = await newWorkspace();
    await use(name, workspaceId, limits[name].most - 1);
    expect(await mailTo(workspaceId, kind)).toBeNull();
    const refused = newAddress();
    expect(await mailTo(workspaceId, kind, refused)).toMatchObject({ name, limit: limits[name] });
    expect(await sentTo(refused)).toEqual([]);
    expect(await mailTo(await newWorkspace(), kind, refused)).toBeNull();
    clock.advance(24 * 3_600_000);
    expect(await mailTo(workspaceId, kind, refused)).toBeNull();
  },
);

test.each(kinds)(
  "%s ends at the limit of a mailbox, whatever its workspace and spelling",
  async (kind, _, name) => {
    const address = newAddress();
    await use(name, address, limits[name].most - 1);
    const tagged = address.replace("@", "+Tag@");
    expect(await mailTo(await newWorkspace(), kind, tagged)).toBeNull();
    expect(await mailTo(await newWorkspace(), kind, address.toUpperCase())).toMatchObject({ name });
    expect(await sentTo(address.toUpperCase())).toEqual([]);
  },
);

test("of many mails to one mailbox at once, as many are accepted as may be, from several workspaces", async () => {
  const workspaces = await Promise.all(Array.from({ length: 4 }, newWorkspace));
  const address = newAddress();
  const sendings = workspaces.flatMap((id) =>
    Array.from({ length: 4 }, () => mailTo(id, "signup_confirmation", address)),
  );
  const reached = (await Promise.all(sendings)).filter((one) => one !== null);
  expect(reached).toHaveLength(13);
  expect(await sentTo(address)).toHaveLength(3);
});

test("what is refused uses up nothing that others share", async () => {
  const workspaceId = await newWorkspace();
  const address = newAddress();
  expect(await mailTo(workspaceId, "signup_confirmation", address)).toBeNull();
  for (let again = 0; again < 3; again++) await mailTo(workspaceId, "signup_confirmation", address);
  const uses = await db.rows(sql`
    select limit_name, used from quota_uses where holder in (${workspaceId}, ${address}) order by limit_name`);
  expect(uses).toEqual([
    { limit_name: "signupMailsOfWorkspace", used: 1 },
    { limit_name: "signupMailsToMailbox", used: 1 },
  ]);
  await db.transaction((tx) => excuseSignupMail(tx, workspaceId, address, clock.now()));
  expect(await mailTo(workspaceId, "signup_confirmation", address)).toBeNull();
});

test.each(kinds)("%s names nothing that reads like an advertisement", async (kind) => {
  const workspaceId = await newWorkspace();
  const [hostile, honest] = [newAddress(), newAddress()];
  await mailTo(workspaceId, kind, hostile, "You have won: evil.example/claim");
  await mailTo(workspaceId, kind, honest, "№1 Клуб");
  expect([await sentTo(hostile), await sentTo(honest)]).toEqual([
    [{ subject: "a mailing list" }],
    [{ subject: "№1 Клуб" }],
  ]);
});
