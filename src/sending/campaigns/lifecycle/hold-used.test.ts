/** Sending a campaign against the deletion of what it uses: one of them wins, never both. */
import sql, { type Sql } from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { addPeople, newList } from "../../../../test/support/audience.ts";
import { newCampaign, verifyShop } from "../../../../test/support/campaigns.ts";
import { startService } from "../../../../test/support/service.ts";
import { callsBehind } from "../../../../test/support/waiting.ts";
import { beginRoutingChange } from "../../../identity/sending-ips/routing-change.ts";
import type { Queryable } from "../../../platform/database/pool.ts";
import { newId } from "../../../platform/ids.ts";
import type { CampaignSettings } from "../campaign.ts";
import { wakeCampaigns } from "./advance.ts";

const service = await startService();
const { call, database: db, workspaceId } = service;
await verifyShop(db, workspaceId);
const list = await newList(db, workspaceId);
await addPeople(db, workspaceId, list, [{ email: "ada@example.com" }]);

interface Used {
  readonly path: string;
  /** The campaign uses it by these. */
  readonly settings: Partial<CampaignSettings>;
  /** How a campaign is refused that lost it. */
  readonly code: string;
  readonly remove: (tx: Queryable) => Promise<unknown>;
}

const removal = (table: Sql, id: string) => (tx: Queryable) =>
  tx.run(sql`delete from ${table} where workspace_id = ${workspaceId} and id = ${id}`);
const routeRemoval = (table: Sql, id: string) => async (tx: Queryable) => {
  await beginRoutingChange(tx, workspaceId);
  await removal(table, id)(tx);
};
const newDomain = async (domain: string) => {
  const id = newId();
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at,
      custom_return_path, return_path_verified)
    values (${workspaceId}, ${id}, ${domain}, 'v', 'd', true, now(), true, true)`);
  return { path: `/sending-domains/${id}`, remove: removal(sql`sending_domains`, id) };
};
const post = async (path: string, body: object) => {
  const answer = await call("POST", path, body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id as string;
};

const kinds: Record<string, () => Promise<Used>> = {
  "a tracking domain": async () => {
    const id = await post("/tracking-domains", { domain: "links.shop.test" });
    const remove = removal(sql`tracking_domains`, id);
    return {
      path: `/tracking-domains/${id}`,
      settings: { url_domain_id: id },
      code: "VALIDATION_ERROR",
      remove,
    };
  },
  "a verified sender": async () => {
    const id = newId();
    await db.run(sql`
      insert into verified_senders (workspace_id, id, email, is_verified, verified_at, token_expires_at)
      values (${workspaceId}, ${id}, 'ann@mail.test', true, now(), now())`);
    const remove = removal(sql`verified_senders`, id);
    const settings = { from_email: "Ann@mail.test" };
    return { path: `/verified-senders/${id}`, settings, code: "EMAIL_NOT_VERIFIED", remove };
  },
  "the domain of its sender": async () => ({
    ...(await newDomain("from.test")),
    settings: { from_email: "ann@from.test" },
    code: "EMAIL_NOT_VERIFIED",
  }),
  "the domain of its return path": async () => ({
    ...(await newDomain("back.test")),
    settings: { sender_email: "ann@back.test" },
    code: "VALIDATION_ERROR",
  }),
  "a routing rule": async () => {
    const action = { relay_url: "smtp://relay.example.com:587" };
    const id = await post("/routing-rules", { name: "Rule", action });
    const remove = routeRemoval(sql`routing_rules`, id);
    return {
      path: `/routing-rules/${id}`,
      settings: { routing_rule_id: id },
      code: "VALIDATION_ERROR",
      remove,
    };
  },
  "a sending IP": async () => {
    const id = await post("/sending-ips", { ip: "192.0.2.1" });
    const remove = routeRemoval(sql`sending_ips`, id);
    const settings = { virtual_mta_ip: "192.0.2.1" };
    return { path: `/sending-ips/${id}`, settings, code: "VALIDATION_ERROR", remove };
  },
};

beforeEach(async () => {
  await db.run(
    sql`truncate campaigns, tracking_domains, verified_senders, routing_rules, sending_ips cascade`,
  );
  await db.run(sql`delete from sending_domains where domain <> 'shop.test'`);
});

const behind = (work: (tx: Queryable) => Promise<unknown>, ...calls: (() => ReturnType<typeof call>)[]) =>
  callsBehind(db, work, ...calls);
const schedule = (id: string) => () =>
  call("POST", `/campaigns/${id}/send`, { scheduled_at: "2040-01-01T00:00:00Z" });
const statusOf = async (id: string) => (await call("GET", `/campaigns/${id}`)).body.data.status;

describe.each(Object.entries(kinds))("%s", (_, make) => {
  test("of a campaign that is being scheduled is not deleted", async () => {
    const { path, settings } = await make();
    const id = await newCampaign(db, workspaceId, list, settings);
    const [sent, deleted] = await behind(wakeCampaigns, schedule(id), () => call("DELETE", path));
    expect([sent?.status, deleted?.status]).toEqual([200, 409]);
    expect(await statusOf(id)).toBe("scheduled");
    await call("POST", `/campaigns/${id}/cancel`);
    expect((await call("DELETE", path)).status).toBe(200);
  });

  test("that is being deleted is no more to be sent with", async () => {
    const { remove, settings, code } = await make();
    const id = await newCampaign(db, workspaceId, list, settings);
    const [sent] = await behind(remove, schedule(id));
    expect(sent?.body.code).toBe(code);
    expect(await statusOf(id)).toBe("draft");
  });
});

test("a tracking domain of a campaign that is being scheduled keeps its name", async () => {
  const { path, settings } = (await kinds["a tracking domain"]?.()) ?? expect.unreachable();
  const id = await newCampaign(db, workspaceId, list, settings);
  const rename = () => call("PUT", path, { domain: "other.shop.test" });
  const [sent, renamed] = await behind(wakeCampaigns, schedule(id), rename);
  expect([sent?.status, renamed?.status]).toEqual([200, 409]);
  expect((await call("GET", path)).body.data.domain).toBe("links.shop.test");
});
