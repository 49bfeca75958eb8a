/**
 * Examples for the generic contract test that it cannot derive from the endpoints: how to create the resource of a path
 * id, and a valid body. A new noun adds an entry for each kind of path id and for each body. The test fails until then.
 */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { TOTP } from "otpauth";
import sql from "sql-template-tag";
import { IMPORT_JOB } from "#audience/imports/import-job.ts";
import { readReceivedMail } from "#inbound/parsing/read-received-mail.ts";
import { ERASURE_JOB } from "#overview/person/erasure-job.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { insertRequests } from "#workspace/api-keys/requests/store.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { type AccountLinkPurpose, insertLink } from "#workspace/people/links-store.ts";
import { hashToken, newToken } from "#workspace/people/open-session.ts";
import { readNewPasskey, relyingPartyOf } from "#workspace/second-factors/passkeys.ts";
import { SecondFactors } from "#workspace/second-factors/second-factors.ts";
import { insertPasskey } from "#workspace/second-factors/store.ts";
import { insertInvitation } from "#workspace/team/invitations/store.ts";
import type { CallApi } from "./api-caller.ts";
import type { StubClock } from "./clock.ts";
import { writeJobFile } from "./job-files.ts";
import { type SignedInPerson, signInPerson } from "./people.ts";
import { png } from "./pictures.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

/** A workspace, a key with every permission, and a member who operates the installation. */
export interface Owner {
  readonly workspaceId: WorkspaceId;
  readonly call: CallApi;
  readonly person: SignedInPerson;
  readonly database: Database;
  readonly clock: StubClock;
}

/** A name that is not in use. The reference shows it without its mark (openapi-examples.test.ts). */
const unique = (word = "example", joint = "") => `${word}${joint}x${randomBytes(6).toString("hex")}`;

/** Creates a resource and returns its id. */
async function create(owner: Owner, path: string, body: object): Promise<string> {
  const answer = await owner.call("POST", path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status} ${answer.body.error}`);
  return answer.body.data.id;
}

const apiKey = () => ({ name: unique("Web shop", " "), permissions: ["*:*"] });
const sendingDomain = () => ({ domain: `${unique("mail")}.example.com` });
const trackingDomain = () => ({ domain: `${unique("links")}.example.com` });
let lastOctets = 1;
const sendingIp = () => {
  lastOctets += 1;
  return { ip: `198.51.${lastOctets >> 8}.${lastOctets & 255}`, pool: "main" };
};
const relayRule = () => ({
  name: unique("Over the relay", " "),
  action: { relay_url: "smtp://smtp.example.com:587" },
});
const mailingList = () => ({ name: unique("Newsletter", " ") });
const subscriber = () => ({
  email: `${unique("ada")}@example.net`,
  first_name: "Ada",
  last_name: "Lovelace",
  custom_fields: { city: "Rome" },
});
const customField = () => ({
  field_name: unique("size"),
  field_label: "Size",
  field_type: "select",
  field_options: ["S", "M"],
});
const conditions = {
  logic: "and",
  rules: [{ field: "email_domain", operator: "equals", value: "example.net" }],
};
const segment = () => ({ name: unique("Readers at example.net", " "), conditions });
const suppressionList = () => ({ name: unique("Former customers", " ") });
const entries = () => ({ entries: `${unique("grace")}@example.net` });
const verifiedSender = () => ({ email: `${unique("ada")}@example.org`, from_name: "Ada Lovelace" });

/** Deletes older webhooks first, because a workspace may have only a few. */
async function webhook({ database, workspaceId }: Owner) {
  await database.run(sql`
    update webhooks set deleted_at = now() where workspace_id = ${workspaceId} and id not in (
      select id from webhooks where workspace_id = ${workspaceId} order by id desc limit 5)`);
  return { url: `https://${unique("shop")}.example.net/hooks`, events: ["*"] };
}

/** Cancels the imports of earlier tests, which no runner takes. A custom field cannot be deleted while one waits. */
async function endImports({ database, workspaceId }: Owner) {
  await database.run(sql`
    update jobs set status = 'cancelled' where workspace_id = ${workspaceId} and type = ${IMPORT_JOB}`);
}
/** Deletes older views first, because a workspace may have only so many. */
async function savedView({ database, workspaceId }: Owner) {
  await database.run(sql`
    delete from saved_views where workspace_id = ${workspaceId} and id not in (
      select id from saved_views where workspace_id = ${workspaceId} order by id desc limit 20)`);
  const state = "status=sent&sort=sent";
  return { page_name: "campaigns", name: unique("Sent, newest first", " "), state, is_shared: true };
}
const monitor = () => ({ target: `${unique("mail")}.example.net` });

/** Removes older roles and their members first, because a workspace may have only so many. */
async function role({ database, workspaceId, person }: Owner) {
  const old = sql`
    select id from roles where workspace_id = ${workspaceId} and id not in (
      select role_id from workspace_members where user_id = ${person.userId} and role_id is not null)
    order by id desc offset 20`;
  await database.run(sql`
    delete from workspace_members where workspace_id = ${workspaceId} and role_id in (${old})`);
  await database.run(sql`delete from roles where workspace_id = ${workspaceId} and id in (${old})`);
  return { name: unique(), permissions: ["reports:read"] };
}
const invitation = () => ({ email: `${unique()}@example.com`, role: "support" });

async function newTeammate({ database, clock, workspaceId }: Owner): Promise<string> {
  const scene = { database, url: () => "", now: clock.now() };
  return (await signInPerson(scene, workspaceId, ["reports:read"])).userId;
}

/** A workspace that no test uses for anything else. */
async function newWorkspace({ database, clock }: Owner): Promise<WorkspaceId> {
  const settings = { name: "Other", timezone: "UTC", plan: "free" } as const;
  return (await createWorkspace(database, settings, clock)).workspace.id;
}

/** The token of an invitation that is open. */
async function invitationToken({ database, clock, workspaceId }: Owner): Promise<string> {
  const token = unique();
  const [now, end] = [clock.now(), new Date(clock.now().getTime() + 86_400_000)];
  const support = { builtInRole: "support", roleId: null, name: "Support", permissions: [] };
  const given = { id: newId(), role: support, inviter: { userId: null, keyId: null, name: "Ada" } };
  const times = { created_at: now, sent_at: now, expires_at: end };
  await insertInvitation(
    database,
    workspaceId,
    { ...given, ...times, email: `${unique()}@example.com` },
    token,
  );
  return token;
}

/** By the path up to the id, or by the whole path of an action. `parents` are the ids further left in the path. */
export const resources: Readonly<
  Record<string, (owner: Owner, parents: readonly string[]) => Promise<string>>
> = {
  "/sessions/{id}": async ({ database, person, clock }) => {
    const [id, now] = [newId(), clock.now()];
    await database.run(sql`
      insert into sessions (token_hash, id, user_id, has_second_factor, ip, agent, created_at, seen_at, expires_at)
      values (${randomBytes(32)}, ${id}, ${person.userId}, false, '192.0.2.1', 'Test', ${now}, ${now},
        ${new Date(now.getTime() + 60_000)})`);
    return id;
  },
  "/me/second-factors/{id}": async (owner) => (await addedPasskey(owner)).id,
  "/api-keys/{id}": (owner) => create(owner, "/api-keys", apiKey()),
  "/sending-domains/{id}": (owner) => create(owner, "/sending-domains", sendingDomain()),
  "/verified-senders/{id}": async (owner) => {
    const id = await create(owner, "/verified-senders", verifiedSender());
    owner.clock.advance(61_000); // a link is sent again after a minute
    return id;
  },
  "/sending-ips/{id}": (owner) => create(owner, "/sending-ips", sendingIp()),
  "/inbound-routes/{id}": async (owner) => create(owner, "/inbound-routes", await inboundRoute(owner)),
  "/received-emails/{id}": receivedEmail,
  "/received-emails/{id}/attachments/{attachment_id}": async ({ database }, [id]) => {
    const row = await database.row<{ id: string }>(sql`
      select details -> 'attachments' -> 0 ->> 'id' as id from received_emails where id = ${id ?? null}`);
    return row?.id ?? "";
  },
  "/routing-rules/{id}": (owner) => create(owner, "/routing-rules", relayRule()),
  "/tracking-domains/{id}": (owner) => create(owner, "/tracking-domains", trackingDomain()),
  "/dkims/{id}": async (owner) => create(owner, "/dkims", await dkimKey(owner)),
  "/mailing-lists/{id}": newList,
  "/mailing-lists/{id}/subscribers/{subscriber_id}": newMember,
  "/mailing-lists/{id}/custom-fields/{field_id}": (owner, [list]) =>
    create(owner, `/mailing-lists/${list}/custom-fields`, customField()),
  "/subscribers/{id}": async (owner) => newMember(owner, [await newList(owner)]),
  "/custom-fields/global/{field_id}": async (owner) => {
    await endImports(owner);
    return create(owner, "/custom-fields/global", customField());
  },
  "/mailing-lists/{id}/segments/{segment_id}": (owner, [list]) =>
    create(owner, `/mailing-lists/${list}/segments`, segment()),
  "/templates/{id}": (owner) => create(owner, "/templates", template()),
  "/templates/{id}/versions/{version_id}": firstVersion,
  "/campaigns/{id}": (owner) => campaignIn()(owner),
  "/campaigns/{id}/clients": async (owner) => {
    const id = await campaignIn("sent")(owner);
    const phone =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
    await owner.database.run(sql`
      insert into message_events (workspace_id, message_id, id, type, time, campaign_id, user_agent)
      values (${owner.workspaceId}, uuidv7(), uuidv7(), 'opened', now(), ${id}, ${phone})`);
    return id;
  },
  "/campaigns/{id}/links": sentLink,
  "/campaigns/{id}/links/activity": sentLink,
  "/media/{id}": async (owner) => (await owner.call("POST", "/media", pictureForm())).body.data.id,
  "/notices/{id}": (owner) => notice(owner),
  "/notices/{id}/restore": async (owner) => {
    const id = await notice(owner);
    await owner.call("POST", `/notices/${id}/dismiss`);
    return id;
  },
  "/campaigns/{id}/pause": (owner) => campaignIn("sending")(owner),
  "/campaigns/{id}/resume": (owner) => campaignIn("paused")(owner),
  "/campaigns/{id}/cancel": (owner) => campaignIn("sending")(owner),
  "/campaigns/{id}/unschedule": (owner) => campaignIn("scheduled")(owner),
  "/autoresponders/{id}": async (owner) => create(owner, "/autoresponders", await autoresponder(owner)),
  "/autoresponders/{id}/deactivate": async (owner) => {
    const id = await create(owner, "/autoresponders", await autoresponder(owner));
    await owner.call("POST", `/autoresponders/${id}/activate`);
    return id;
  },
  "/share-links/{id}": async (owner) => create(owner, "/share-links", await shareLink(owner)),
  "/views/{id}": async (owner) => create(owner, "/views", await savedView(owner)),
  "/sending-domains/{id}/dmarc-reports/{report_id}": dmarcReport,
  "/autoresponders/{id}/walk/{subscriber_id}": async (owner) => newMember(owner, [await newList(owner)]),
  "/blacklist/monitors/{id}": (owner) => create(owner, "/blacklist/monitors", monitor()),
  "/suppression-lists/{id}": (owner) => create(owner, "/suppression-lists", suppressionList()),
  "/suppression-lists/{id}/entries/{entry_id}": async (owner, [list]) => {
    await owner.call("POST", `/suppression-lists/${list}/entries`, entries());
    const { body } = await owner.call("GET", `/suppression-lists/${list}/entries`);
    return body.data[0].id;
  },
  "/webhooks/{id}": async (owner) => create(owner, "/webhooks", await webhook(owner)),
  "/webhooks/{id}/deliveries/{delivery_id}": (owner, [id]) => create(owner, `/webhooks/${id}/test`, {}),
  "/team/{id}": newTeammate,
  "/team/invitations/{id}": (owner) => create(owner, "/team/invitations", invitation()),
  "/roles/{id}": async (owner) => create(owner, "/roles", await role(owner)),
  "/workspaces/{id}/leave": async (owner) => {
    const id = await newWorkspace(owner);
    await owner.database.run(sql`
      insert into workspace_members (workspace_id, user_id, built_in_role) values (${id}, ${owner.person.userId}, 'support')`);
    return id;
  },
  "/operator/workspaces/{id}": newWorkspace,
  "/operator/users/{id}": newTeammate,
  "/messages/{id}": async (owner) => create(owner, "/emails/send", await email(owner)),
  "/emails/{id}": async (owner) => create(owner, "/emails", await emailToMany(owner)),
  "/jobs/{job_id}": async ({ database, workspaceId }) => {
    const resource = { name: jobResource, label: "", group: "" };
    const needs = { resource, action: "write", judgedBy: "server" } as const;
    const { job_id } = await startJob(database, workspaceId, { type: ERASURE_JOB, needs, input: {} });
    await writeJobFile(database, { workspaceId, jobId: job_id, name: "rows.csv" }, "a,b\r\n");
    await database.run(sql`
      update jobs set result_file = 'rows.csv', errors_file = 'rows.csv' where id = ${job_id}`);
    return job_id;
  },
};

function newList(owner: Owner): Promise<string> {
  return create(owner, "/mailing-lists", mailingList());
}

async function newMember(owner: Owner, [list]: readonly string[]): Promise<string> {
  const answer = await owner.call("POST", `/mailing-lists/${list}/subscribers`, subscriber());
  return answer.body.data.subscriber_id;
}

async function dmarcReport({ database, workspaceId, clock }: Owner, [domainId]: readonly string[]) {
  const [id, now] = [newId(), clock.now()];
  const policy = JSON.stringify({ p: "quarantine", adkim: "r", aspf: "r" });
  await database.run(sql`
    insert into dmarc_reports (workspace_id, id, sending_domain_id, org_name, report_id, policy_domain, policy, begins_at,
      ends_at, records, messages, passed, dkim_aligned, spf_aligned, quarantined, rejected, received_at, xml)
    values (${workspaceId}, ${id}, ${domainId}, 'example.net', ${id}, 'example.com', ${policy}::jsonb, ${now}, ${now}, 1, 12,
      12, 12, 12, 0, 0, ${now}, ${gzipSync("<feedback/>")})`);
  await database.run(sql`
    insert into dmarc_records (workspace_id, dmarc_report_id, position, source_ip, count, disposition, dkim, spf, header_from)
    values (${workspaceId}, ${id}, 0, '192.0.2.1', 12, 'none', 'pass', 'pass', 'example.com')`);
  return id;
}

/** The resource whose permissions apply to the example job. */
export const jobResource = "examples";

async function dkimKey(owner: Owner) {
  const body = sendingDomain();
  await create(owner, "/sending-domains", body);
  return { ...body, selector: unique("s2027"), bits: 1024 };
}

/** A message from a domain that is marked as verified, because the contract test has no DNS. */
async function email(owner: Owner) {
  const { domain } = sendingDomain();
  const id = await create(owner, "/sending-domains", { domain });
  await owner.database.run(sql`
    update sending_domains set is_verified = true, verified_at = now() where id = ${id}`);
  return {
    to: "ada@example.net",
    subject: "Your receipt",
    body: "<p>Thank you for your order.</p>",
    from_email: `shop@${domain}`,
  };
}

/** An address at a proven domain. */
async function inboundRoute(owner: Owner) {
  const { database, workspaceId } = owner;
  const { domain } = sendingDomain();
  const id = await create(owner, "/sending-domains", { domain });
  await database.run(sql`
    update sending_domains set is_verified = true, verified_at = now() where id = ${id}`);
  await database.run(sql`
    insert into domain_claims (domain, workspace_id) values (${domain}, ${workspaceId})`);
  return { pattern: `support@${domain}` };
}

/** A mail with an attachment, as the inbound port stores it and its processing completes it. */
async function receivedEmail(owner: Owner): Promise<string> {
  const { database, clock, workspaceId } = owner;
  const route = await create(owner, "/inbound-routes", await inboundRoute(owner));
  const id = newId();
  const raw = Buffer.from(
    [
      "From: Grace Hopper <grace@example.net>",
      "To: support@example.com",
      "Subject: My order",
      "Message-ID: <1@example.net>",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      "--b",
      "",
      "Where is it?",
      "--b",
      "Content-Type: text/csv; name=order.csv",
      "",
      "1042",
      "--b--",
      "",
    ].join("\r\n"),
  );
  const { from, subject, message_id, text, attachments, ...rest } = await readReceivedMail(raw, "");
  const details = { from, ...rest, attachments: attachments.map((one) => ({ id: newId(), ...one })) };
  await database.run(sql`
    insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network, raw,
      bytes, received_at, status, due_at, turn, from_email, subject, message_id, text, details)
    values (${workspaceId}, ${id}, ${route}, true, true, 'grace@example.net', 'support@example.com', '192.0.2.1',
      'mx.example.net', '192.0.2.1', ${raw}, ${raw.length}, ${clock.now()}, 'parsed', ${clock.now()}, 0,
      ${from?.email ?? null}, ${subject}, ${message_id}, ${text}, ${JSON.stringify(details)})`);
  return id;
}

async function emailToMany(owner: Owner) {
  const { from_email } = await email(owner);
  return {
    to: ["Ada Lovelace <ada@example.com>"],
    cc: ["accounts@example.com"],
    reply_to: ["support@example.com"],
    subject: "Your order 1042",
    html: "<p>Thank you for your order.</p>",
    from_email,
    tags: ["order"],
    metadata: { order: "1042" },
  };
}

/** A plan for a workspace that has enough balance and no subscription. */
async function plan({ database, workspaceId, clock }: Owner) {
  await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
  const given = { amount: "1000.00", gateway: "manual", description: "Example" } as const;
  await database.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
  return { plan_id: "growth", billing_interval: "monthly" };
}

const template = () => ({
  name: unique("Order confirmation", " "),
  subject: "Your order {{ order }}",
  preheader: "Thank you, {{ first_name }}",
  html_content: "<p>Thank you for your order {{ order }}.</p>",
  test_data: { order: "1042" },
});

async function firstVersion(owner: Owner, [template]: readonly string[]): Promise<string> {
  const { body } = await owner.call("GET", `/templates/${template}/versions`);
  return body.data.versions[0].id;
}

async function campaign(owner: Owner) {
  const { from_email } = await email(owner);
  const list = await newList(owner);
  await newMember(owner, [list]);
  return {
    name: unique("Spring sale", " "),
    subject: "The spring sale has begun",
    from_email,
    mailing_list_id: list,
    html_content: "<p>Hello {{ first_name }}, have a look at our offers.</p>",
  };
}

async function autoresponder(owner: Owner) {
  const { from_email } = await email(owner);
  return {
    name: unique("Welcome series", " "),
    mailing_list_id: await newList(owner),
    from_email,
    trigger: { type: "subscribed" },
    steps: [
      { delay: { days: 1 }, subject: "Welcome", html_content: "<p>Hello {{ first_name }}, welcome.</p>" },
    ],
  };
}

/** Creates a campaign in the state that the action requires. */
const campaignIn =
  (state = "draft") =>
  async (owner: Owner): Promise<string> => {
    const id = await create(owner, "/campaigns", await campaign(owner));
    await owner.database.run(sql`update campaigns set status = ${state} where id = ${id}`);
    return id;
  };

/** A sent campaign with a tracked link. */
async function sentLink(owner: Owner): Promise<string> {
  const id = await campaignIn("sent")(owner);
  await owner.database.run(sql`update campaigns set sent_at = created_at where id = ${id}`);
  await owner.database.run(sql`
    insert into campaign_links (workspace_id, campaign_id, index, url, is_personal)
    select workspace_id, id, 0, 'https://shop.example.com/sale', false from campaigns where id = ${id}`);
  return id;
}

/** Deletes older links first, because a workspace may have only so many. */
async function shareLink(owner: Owner) {
  const { database, workspaceId } = owner;
  await database.run(sql`
    delete from share_links where workspace_id = ${workspaceId} and id not in (
      select id from share_links where workspace_id = ${workspaceId} order by id desc limit 20)`);
  return { kind: "campaign_report", resource_id: await sentLink(owner) };
}

/** The notice of a campaign that was paused. */
async function notice(owner: Owner): Promise<string> {
  const campaignId = await campaignIn("paused")(owner);
  await owner.database.run(sql`
    update campaigns set paused_at = ${owner.clock.now()}, pause_reason = 'bounce_rate' where id = ${campaignId}`);
  const { body } = await owner.call("GET", "/notices");
  const found = body.data.notices.find((one: { resource: { id: string } }) => one.resource.id === campaignId);
  return found.id;
}

/** A multipart form with one CSV file. */
function fileForm(field: string, content: string): FormData {
  const form = new FormData();
  form.set(field, new Blob([content], { type: "text/csv" }), "people.csv");
  return form;
}

/** A multipart form with a picture of one pixel, and a text in it that makes each file another one. */
function pictureForm(): FormData {
  const form = new FormData();
  const picture = png(1, 1);
  const text = Buffer.from(unique());
  form.set("file", new Blob([new Uint8Array(picture), text], { type: "image/png" }), "summer-sale.png");
  form.set("alt_text", "A beach in the evening");
  return form;
}

/** What has to be done before an operation that has neither an id nor a body, by operation id. */
export const before: Readonly<Record<string, (owner: Owner) => Promise<unknown>>> = {
  listNotices: async (owner) => {
    await notice(owner);
  },
  listApiRequests: async ({ database, workspaceId }) => {
    const key = await database.row<{ id: string }>(sql`
      select id from api_keys where workspace_id = ${workspaceId} order by id limit 1`);
    const answer = { operation: "sendEmail", status: 403, ms: 12, requestId: "order-1042" };
    await insertRequests(database, [
      { id: newId(), workspaceId, keyId: key?.id ?? "", ...answer, leftOut: 0 },
    ]);
  },
  createRecoveryCodes: addedPasskey,
  cancelSubscription: async (owner) => owner.call("POST", "/billing/subscription", await plan(owner)),
};

/** A challenge of the API, answered by a passkey that the person has added. */
async function passkeyAnswer(owner: Owner, path: string) {
  const { key } = await addedPasskey(owner);
  const { challenge, passkey_options } = (await owner.person.call("POST", path)).body.data;
  return { challenge, passkey: key.get(passkey_options) };
}

async function begunPasskey({ database, person }: Owner) {
  await database.run(sql`delete from passkeys where user_id = ${person.userId}`);
  const key = new SoftwareAuthenticator(person.origin);
  const { challenge, passkey_options } = (await person.call("POST", "/me/passkeys/setup")).body.data;
  return { key, body: { challenge, passkey: key.create(passkey_options), name: unique() } };
}

/** Inserts the passkey, because adding it would give the session another cookie. */
async function addedPasskey(owner: Owner) {
  const { key, body } = await begunPasskey(owner);
  const party = relyingPartyOf(owner.person.origin);
  const challenge = JSON.parse(
    Buffer.from(body.passkey.response.clientDataJSON, "base64url").toString(),
  ).challenge;
  const passkey = await readNewPasskey(party, challenge, { ...body.passkey, type: "public-key" });
  if (passkey === null) throw new Error("the example of a passkey is not valid");
  const id = newId();
  const row = { ...passkey, id, user_id: owner.person.userId, name: unique() };
  await insertPasskey(owner.database, row, owner.clock.now());
  return { key, id };
}

const password = "a long password of a test";

/** A person with a password. */
async function accountWithPassword({ database, clock }: Owner) {
  const email = `${unique()}@example.com`;
  const passwordHash = await hasher.hash(password);
  const { id } = await createUser(database, { email, name: "Ada", passwordHash }, clock.now());
  return { id, email };
}

const hasher = new PasswordHasher();

async function linkToken(owner: Owner, purpose: AccountLinkPurpose) {
  const { id } = await accountWithPassword(owner);
  const token = newToken();
  const now = owner.clock.now();
  const email = purpose === "change_email" ? `${unique()}@example.com` : null;
  const row = { purpose, user_id: purpose === "first_owner" ? null : id, email };
  await insertLink(owner.database, hashToken(token), row, {
    now,
    expiresAt: new Date(now.getTime() + 60_000),
  });
  return token;
}

/** Valid bodies by operation id. */
export const bodies: Readonly<Record<string, (owner: Owner) => object | Promise<object>>> = {
  signIn: async (owner) => ({ email: (await accountWithPassword(owner)).email, password }),
  confirmSecondFactor: async (owner) => {
    const { key } = await addedPasskey(owner);
    const factors = new SecondFactors(createSecrets("unused"), () => relyingPartyOf(owner.person.origin));
    const { userId } = owner.person;
    const { challenge, passkey_options } = await factors.begin(
      owner.database,
      "second_factor",
      userId,
      owner.clock.now(),
    );
    return { challenge, passkey: key.get({ challenge: String(passkey_options?.["challenge"]) }) };
  },
  uploadMedia: pictureForm,
  updateMedia: () => ({ name: "Summer sale", alt_text: "A beach in the evening" }),
  replayFailedDeliveries: () => ({ event: "message.bounced" }),
  startSingleSignOn: () => ({ return_to: "/console/campaigns" }),
  getSecondFactorChallenge: async (owner) => {
    await addedPasskey(owner);
    const factors = new SecondFactors(createSecrets("unused"), () => relyingPartyOf(owner.person.origin));
    const { userId } = owner.person;
    return {
      challenge: (await factors.begin(owner.database, "second_factor", userId, owner.clock.now())).challenge,
    };
  },
  signInWithPasskey: (owner) => passkeyAnswer(owner, "/sign-in/passkey/challenge"),
  reauthenticate: (owner) => passkeyAnswer(owner, "/session/confirmation/challenge"),
  requestPasswordReset: () => ({ email: `${unique()}@example.com` }),
  resetPassword: async (owner) => ({
    token: await linkToken(owner, "set_password"),
    password: `${password} 2`,
  }),
  createFirstOwner: async (owner) => ({
    token: await linkToken(owner, "first_owner"),
    name: "Ada",
    email: `${unique()}@example.com`,
    password,
    workspace_name: "Acme",
    timezone: "UTC",
  }),
  updateMe: () => ({ name: unique() }),
  changePassword: () => ({ new_password: password }),
  changeEmail: () => ({ email: `${unique()}@example.com` }),
  confirmEmailChange: async (owner) => ({ token: await linkToken(owner, "change_email") }),
  startAuthenticatorApp: () => ({ name: unique() }),
  confirmAuthenticatorApp: async ({ person, clock }) => {
    const { body } = await person.call("POST", "/me/authenticator-apps/setup", { name: unique() });
    const { secret = "" } = body.data ?? {};
    return { code: secret && new TOTP({ secret }).generate({ timestamp: clock.now().getTime() }) };
  },
  addPasskey: async (owner) => (await begunPasskey(owner)).body,
  renameSecondFactor: () => ({ name: unique() }),
  createApiKey: apiKey,
  updateApiKey: () => ({ name: unique("Web shop 2", " ") }),
  subscribe: plan,
  createTopUp: () => ({ amount: "25.00" }),
  createSendingDomain: sendingDomain,
  setCustomReturnPath: () => ({ enabled: true }),
  setDmarcIngestion: () => ({ enabled: true }),
  createVerifiedSender: verifiedSender,
  createDkimKey: dkimKey,
  createSendingIp: sendingIp,
  updateSendingIp: () => ({ warm_up_enabled: true }),
  createInboundRoute: inboundRoute,
  updateInboundRoute: () => ({ spam_threshold: 5, spam_action: "reject" }),
  createRoutingRule: relayRule,
  updateRoutingRule: () => ({ priority: 7 }),
  createTrackingDomain: trackingDomain,
  updateTrackingDomain: trackingDomain,
  sendEmail: email,
  createEmail: emailToMany,
  createEmailBatch: async (owner) => ({ emails: [await emailToMany(owner)] }),
  createTemplate: template,
  updateTemplate: () => ({ subject: "Your order {{ order }} is on its way" }),
  testTemplate: async (owner) => ({
    emails: ["ada@example.com"],
    from_email: (await email(owner)).from_email,
  }),
  createCampaign: campaign,
  replaceCampaign: campaign,
  renderContent: () => ({ subject: "Hello", html_content: "<p>Hello {{ first_name }}</p>" }),
  checkContent: () => ({
    subject: "Hello",
    html_content:
      '<p>Hello {{ first_name }}, have a look at <a href="http://example.com/sale">our sale</a>.</p>',
    without: ["links", "images", "spam_score"],
  }),
  updateCampaign: () => ({ subject: "Hello again" }),
  updateCampaignLink: () => ({ index: 0, target_url: "https://shop.example.com/summer-sale" }),
  sendCampaign: () => ({ send_now: true }),
  requestApproval: () => ({ message: "The price in the headline is new: please check it." }),
  exportCampaignRecipients: () => ({ opened: true, domain: "example.com" }),
  createSegmentFromCampaign: async (owner) => ({
    name: unique(),
    list_id: await newList(owner),
    opened: true,
    clicked: false,
  }),
  testCampaign: () => ({ emails: ["ada@example.net"] }),
  createAutoresponder: autoresponder,
  testRouting: () => ({ to: "ada@example.net" }),
  testAutoresponder: () => ({ emails: ["ada@example.net"] }),
  replaceAutoresponder: autoresponder,
  createMailingList: mailingList,
  updateSignupForm: () => ({
    is_active: true,
    title: "Weekly tips",
    consent_text: "I agree that Acme sends me tips by email.",
    language: "visitor",
    fields: [{ field: "first_name", is_required: true, label: "Your first name" }],
  }),
  updateMailingList: () => ({ name: unique("Weekly newsletter", " ") }),
  addMember: subscriber,
  exportSubscribers: () => ({ status: "active", fields: [] }),
  importSubscribers: () => fileForm("csvFile", `Email\n${unique("ada")}@example.net\n`),
  inspectImportFile: () => fileForm("csvFile", "Email,First,City\nada@example.net,Ada,Rome\n"),
  updateMember: () => ({ first_name: "Ada", status: "unsubscribed" }),
  setMemberStatus: () => ({ status: "bounced" }),
  runBulkAction: () => ({ action: "delete", filter: { search: unique() }, dry_run: true }),
  eraseSubscriber: () => ({ suppress: true }),
  createSegment: segment,
  updateSegment: () => ({ is_active: true }),
  previewSegment: () => ({ conditions }),
  createShareLink: shareLink,
  createView: savedView,
  updateView: () => ({ state: "status=sent&sort=name" }),
  createWebhook: webhook,
  updateWebhook: () => ({ events: ["message.bounced"] }),
  checkBlacklists: monitor,
  createBlacklistMonitor: monitor,
  updateBlacklistMonitor: () => ({ status: "paused" }),
  createSuppressionList: suppressionList,
  updateSuppressionList: () => ({ name: unique("Left for good", " ") }),
  addSuppressionEntries: entries,
  importSuppressionEntries: () => fileForm("csvFile", `Email\n${unique("ada")}@example.net\n`),
  findSuppressions: () => ({ addresses: ["ada@example.net"] }),
  testSuppression: () => ({ test_value: "ada@example.net" }),
  createCustomField: customField,
  updateCustomField: () => ({ field_label: "Waist" }),
  createGlobalCustomField: customField,
  validateEmail: () => ({ email: `${unique("ada")}@example.net` }),
  validateFile: () => fileForm("file", `Email\n${unique("ada")}@example.net\n`),
  createRole: role,
  updateRole: () => ({ description: "For the desk" }),
  updateTeammate: () => ({ role: "support" }),
  inviteTeammate: invitation,
  previewInvitation: async (owner) => ({ token: await invitationToken(owner) }),
  acceptInvitation: async (owner) => ({
    token: await invitationToken(owner),
    name: "Grace Hopper",
    password: "correct horse battery staple",
  }),
  createWorkspace: () => ({ name: unique(), timezone: "Europe/Paris" }),
  updateWorkspace: () => ({ retry_hours: 48 }),
  updateBrand: () => ({ accent_color: "#0b5cad", postal_address: "Acme Ltd\n1 High Street\nLondon" }),
  updateTexts: () => ({ language: "de", texts: { signup_button: "Jetzt anmelden" } }),
  updateOperatedWorkspace: () => ({ plan: "growth", hourly_cap: 500 }),
  creditWorkspace: () => ({ amount: "10.00", reference: unique() }),
  updateInstallationUser: () => ({ is_disabled: true }),
  updateGlobalCustomField: () => ({ field_label: "Waist" }),
};

/** The query of endpoints with required parameters. */
export const queries: Readonly<Record<string, string>> = {
  streamEvents: "?topics=jobs",
  getLabelStats: "?tag=order",
  searchEverything: "?q=anna",
};
