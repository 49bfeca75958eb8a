/**
 * Examples for the generic contract test that it cannot derive from the endpoints: how to create the resource of a path
 * id, and a valid body. A new noun adds an entry for each kind of path id and for each body. The test fails until then.
 */
import { randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import { IMPORT_JOB } from "#audience/imports/import-job.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import type { CallApi } from "./api-caller.ts";
import type { StubClock } from "./clock.ts";
import { writeJobFile } from "./job-files.ts";
import type { SignedInPerson } from "./people.ts";

/** A workspace, a key with every permission, and a member who operates the installation. */
export interface Owner {
  readonly workspaceId: WorkspaceId;
  readonly call: CallApi;
  readonly person: SignedInPerson;
  readonly database: Database;
  readonly clock: StubClock;
}

/** A name that is not in use. */
const unique = () => `n${randomBytes(6).toString("hex")}`;

/** Creates a resource and returns its id. */
async function create(owner: Owner, path: string, body: object): Promise<string> {
  const answer = await owner.call("POST", path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status} ${answer.body.error}`);
  return answer.body.data.id;
}

const apiKey = () => ({ name: unique(), permissions: ["*:*"] });
const sendingDomain = () => ({ domain: `${unique()}.example.com` });
const trackingDomain = () => ({ domain: `${unique()}.example.com` });
let lastOctets = 1;
const sendingIp = () => {
  lastOctets += 1;
  return { ip: `198.51.${lastOctets >> 8}.${lastOctets & 255}`, pool: "main" };
};
const relayRule = () => ({ name: unique(), action: { relay_url: "smtp://smtp.example.com:587" } });
const mailingList = () => ({ name: unique() });
const subscriber = () => ({ email: `${unique()}@example.net`, custom_fields: { city: "Rome" } });
const customField = () => ({
  field_name: unique(),
  field_label: "Size",
  field_type: "select",
  field_options: ["S", "M"],
});
const conditions = {
  logic: "and",
  rules: [{ field: "email_domain", operator: "equals", value: "example.net" }],
};
const segment = () => ({ name: unique(), conditions });
const suppressionList = () => ({ name: unique() });
const entries = () => ({ entries: `${unique()}@example.net` });
const verifiedSender = () => ({ email: `${unique()}@example.org`, from_name: "Ada" });

/** Deletes older webhooks first, because a workspace may have only a few. */
async function webhook({ database, workspaceId }: Owner) {
  await database.run(sql`
    update webhooks set deleted_at = now() where workspace_id = ${workspaceId} and id not in (
      select id from webhooks where workspace_id = ${workspaceId} order by id desc limit 5)`);
  return { url: `https://${unique()}.example.net/hooks`, events: ["*"] };
}

/** Cancels the imports of earlier tests, which no runner takes. A custom field cannot be deleted while one waits. */
async function endImports({ database, workspaceId }: Owner) {
  await database.run(sql`
    update jobs set status = 'cancelled' where workspace_id = ${workspaceId} and type = ${IMPORT_JOB}`);
}
const monitor = () => ({ target: `${unique()}.example.net` });

/** By the path up to the id, or by the whole path of an action. `parents` are the ids further left in the path. */
export const resources: Readonly<
  Record<string, (owner: Owner, parents: readonly string[]) => Promise<string>>
> = {
  "/api-keys/{id}": (owner) => create(owner, "/api-keys", apiKey()),
  "/sending-domains/{id}": (owner) => create(owner, "/sending-domains", sendingDomain()),
  "/verified-senders/{id}": async (owner) => {
    const id = await create(owner, "/verified-senders", verifiedSender());
    owner.clock.advance(61_000); // a link is sent again after a minute
    return id;
  },
  "/sending-ips/{id}": (owner) => create(owner, "/sending-ips", sendingIp()),
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
  "/campaigns/{id}": (owner) => campaignIn()(owner),
  "/campaigns/{id}/links/activity": async (owner) => {
    const id = await campaignIn("sent")(owner);
    await owner.database.run(sql`
      insert into campaign_links (workspace_id, campaign_id, index, url, is_personal)
      select workspace_id, id, 0, 'https://shop.example.com/sale', false from campaigns where id = ${id}`);
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
  "/blacklist/monitors/{id}": (owner) => create(owner, "/blacklist/monitors", monitor()),
  "/suppression-lists/{id}": (owner) => create(owner, "/suppression-lists", suppressionList()),
  "/suppression-lists/{id}/entries/{entry_id}": async (owner, [list]) => {
    await owner.call("POST", `/suppression-lists/${list}/entries`, entries());
    const { body } = await owner.call("GET", `/suppression-lists/${list}/entries`);
    return body.data[0].id;
  },
  "/webhooks/{id}": async (owner) => create(owner, "/webhooks", await webhook(owner)),
  "/webhooks/{id}/deliveries/{delivery_id}": (owner, [id]) => create(owner, `/webhooks/${id}/test`, {}),
  "/messages/{id}": async (owner) => create(owner, "/emails/send", await email(owner)),
  "/jobs/{job_id}": async ({ database, workspaceId }) => {
    const resource = { name: jobResource, label: "", group: "" };
    const needs = { resource, action: "write", judgedBy: "server" } as const;
    const { job_id } = await startJob(database, workspaceId, { type: "example", needs, input: {} });
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

/** The resource whose permissions apply to the example job. */
export const jobResource = "examples";

async function dkimKey(owner: Owner) {
  const body = sendingDomain();
  await create(owner, "/sending-domains", body);
  return { ...body, selector: unique(), bits: 1024 };
}

/** A message from a domain that is marked as verified, because the contract test has no DNS. */
async function email(owner: Owner) {
  const { domain } = sendingDomain();
  const id = await create(owner, "/sending-domains", { domain });
  await owner.database.run(sql`
    update sending_domains set is_verified = true, verified_at = now() where id = ${id}`);
  return { to: "ada@example.net", subject: "Hello", body: "A line.", from_email: `news@${domain}` };
}

/** A plan for a workspace that has enough balance and no subscription. */
async function plan({ database, workspaceId, clock }: Owner) {
  await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
  const given = { amount: "1000.00", gateway: "manual", description: "Example" } as const;
  await database.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
  return { plan_id: "growth", billing_interval: "monthly" };
}

async function campaign(owner: Owner) {
  const { from_email } = await email(owner);
  const list = await newList(owner);
  await newMember(owner, [list]);
  return {
    name: unique(),
    subject: "Hello",
    from_email,
    mailing_list_id: list,
    html_content: "<p>Hello</p>",
  };
}

async function autoresponder(owner: Owner) {
  const { from_email } = await email(owner);
  return {
    name: unique(),
    mailing_list_id: await newList(owner),
    from_email,
    trigger: { type: "subscribed" },
    steps: [{ delay: { days: 1 }, subject: "Welcome", html_content: "<p>Hello</p>" }],
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

/** A multipart form with one CSV file. */
function fileForm(field: string, content: string): FormData {
  const form = new FormData();
  form.set(field, new Blob([content], { type: "text/csv" }), "example.csv");
  return form;
}

/** Valid bodies by operation id. */
export const bodies: Readonly<Record<string, (owner: Owner) => object | Promise<object>>> = {
  createApiKey: apiKey,
  updateApiKey: () => ({ name: unique() }),
  subscribe: plan,
  createTopUp: () => ({ amount: "25.00" }),
  cancelSubscription: async (owner) => {
    await owner.call("POST", "/billing/subscription", await plan(owner));
    return {};
  },
  createSendingDomain: sendingDomain,
  setCustomReturnPath: () => ({ enabled: true }),
  setDmarcIngestion: () => ({ enabled: true }),
  createVerifiedSender: verifiedSender,
  createDkimKey: dkimKey,
  createSendingIp: sendingIp,
  updateSendingIp: () => ({ warm_up_enabled: true }),
  createRoutingRule: relayRule,
  updateRoutingRule: () => ({ priority: 7 }),
  createTrackingDomain: trackingDomain,
  updateTrackingDomain: trackingDomain,
  sendEmail: email,
  createCampaign: campaign,
  replaceCampaign: campaign,
  renderContent: () => ({ subject: "Hello", html_content: "<p>Hello {{ first_name }}</p>" }),
  updateCampaign: () => ({ subject: "Hello again" }),
  sendCampaign: () => ({ send_now: true }),
  exportCampaignRecipients: () => ({ opened: true, domain: "example.com" }),
  createSegmentFromCampaign: async (owner) => ({
    name: unique(),
    list_id: await newList(owner),
    opened: true,
    clicked: false,
  }),
  testCampaign: () => ({ emails: ["ada@example.net"] }),
  createAutoresponder: autoresponder,
  replaceAutoresponder: autoresponder,
  createMailingList: mailingList,
  updateSignupForm: () => ({ is_active: true }),
  updateMailingList: () => ({ name: unique() }),
  addMember: subscriber,
  exportSubscribers: () => ({ status: "active", fields: [] }),
  importSubscribers: () => fileForm("csvFile", `Email\n${unique()}@example.net\n`),
  updateMember: () => ({ first_name: "Ada", status: "unsubscribed" }),
  setMemberStatus: () => ({ status: "bounced" }),
  runBulkAction: () => ({ action: "delete", filter: { search: unique() }, dry_run: true }),
  createSegment: segment,
  updateSegment: () => ({ is_active: true }),
  previewSegment: () => ({ conditions }),
  createWebhook: webhook,
  updateWebhook: () => ({ events: ["message.bounced"] }),
  checkBlacklists: monitor,
  createBlacklistMonitor: monitor,
  updateBlacklistMonitor: () => ({ status: "paused" }),
  createSuppressionList: suppressionList,
  updateSuppressionList: () => ({ name: unique() }),
  addSuppressionEntries: entries,
  importSuppressionEntries: () => fileForm("csvFile", `Email\n${unique()}@example.net\n`),
  findSuppressions: () => ({ addresses: ["ada@example.net"] }),
  testSuppression: () => ({ test_value: "ada@example.net" }),
  createCustomField: customField,
  updateCustomField: () => ({ field_label: "Waist" }),
  createGlobalCustomField: customField,
  validateEmail: () => ({ email: `${unique()}@example.net` }),
  validateFile: () => fileForm("file", `Email\n${unique()}@example.net\n`),
  updateGlobalCustomField: () => ({ field_label: "Waist" }),
};

/** The query of endpoints with required parameters. */
export const queries: Readonly<Record<string, string>> = {
  streamEvents: "?topics=jobs",
};
