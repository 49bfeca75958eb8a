/**
 * Sending a campaign against the deletion of what it uses: one of them wins, never both. And as long as mail is still to
 * leave from the campaign, at its time or when it is resumed, what it uses stays.
 */
import sql, { type Sql } from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { beginRoutingChange } from "#identity/sending-ips/release-after-routing-change.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { CampaignSettings } from "#sending/campaigns/campaign.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { callsBehind } from "#test/support/waiting.ts";
import { advanceCampaignsNow } from "./advance.ts";

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
    const [sent, deleted] = await behind(advanceCampaignsNow, schedule(id), () => call("DELETE", path));
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

const newSegment = async (
  rules: object[] = [{ field: "email", operator: "contains", value: "ada" }],
  of = list,
) => {
  const body = { name: "Few", conditions: { logic: "and", rules: [{ logic: "and", rules }] } };
  const id = await post(`/mailing-lists/${of}/segments`, body);
  return { id, path: `/mailing-lists/${of}/segments/${id}` };
};
const custom = (rules: object[]) => ({
  recipient_type: "custom" as const,
  segment_conditions: { logic: "and", rules: [{ logic: "and", rules }] },
});
const newField = async (field_name: string, of = list) => {
  const body = { field_name, field_label: field_name, field_type: "text" };
  return `/mailing-lists/${of}/custom-fields/${await post(`/mailing-lists/${of}/custom-fields`, body)}`;
};

/** What says who gets a campaign, and the way of its mail; of each kind the path of what is deleted. */
const protectedKinds: Record<
  string,
  () => Promise<{
    readonly path: string;
    readonly settings: Partial<CampaignSettings>;
    readonly listId?: string;
  }>
> = {
  ...kinds,
  "its mailing list": async () => {
    const own = await newList(db, workspaceId);
    return { path: `/mailing-lists/${own}`, settings: {}, listId: own };
  },
  "its segment": async () => {
    const { id, path } = await newSegment();
    return { path, settings: { recipient_type: "segment", segment_id: id, mailing_list_id: null } };
  },
  "the list of its segment": async () => {
    const own = await newList(db, workspaceId);
    const { id } = await newSegment(undefined, own);
    const settings = { recipient_type: "segment" as const, segment_id: id, mailing_list_id: null };
    return { path: `/mailing-lists/${own}`, settings };
  },
  "a segment that its conditions name": async () => {
    const { id, path } = await newSegment();
    return { path, settings: custom([{ field: "segment", operator: "is_in", value: id }]) };
  },
  "a list that its conditions name": async () => {
    const other = await newList(db, workspaceId);
    const rules = [{ field: "mailing_list", operator: "is_active_in", value: other }];
    return { path: `/mailing-lists/${other}`, settings: { ...custom(rules), mailing_list_id: null } };
  },
  "a custom field that its conditions name": async () => {
    const path = await newField("size");
    return { path, settings: custom([{ field: "custom_fields.size", operator: "equals", value: "L" }]) };
  },
  "the field with the telephone numbers of an SMS": async () => {
    const path = await newField("mobile");
    return { path, settings: { message_type: "sms", phone_field_name: "mobile" } };
  },
};

describe.each(Object.entries(protectedKinds))("of a campaign, %s", (_, make) => {
  test("is not deleted while it is scheduled, sending or paused, and the refusal names it", async () => {
    const { path, settings, listId = list } = await make();
    const id = await newCampaign(db, workspaceId, listId, { name: "Summer sale", ...settings });
    const segments = sql`(select coalesce(array_agg(s.id), '{}') from segments s where s.workspace_id = ${workspaceId}
      and (s.id = c.segment_id or c.segment_conditions::text like '%' || s.id || '%'))`;
    for (const status of ["scheduled", "sending", "paused"]) {
      await db.run(
        sql`update campaigns c set status = ${status}, audience_segments = ${segments} where id = ${id}`,
      );
      const { status: code, body } = await call("DELETE", path);
      expect([status, code, body.code]).toEqual([status, 409, "CONFLICT"]);
      expect(body.error).toContain('"Summer sale"');
    }
    await db.run(sql`update campaigns set status = 'cancelled' where id = ${id}`);
    expect((await call("DELETE", path)).status).toBe(200);
  });
});

describe("a paused campaign", () => {
  const paused = async (
    settings: Partial<CampaignSettings>,
    isExpanded: boolean,
    listId: string | null = list,
  ) => {
    const id = await newCampaign(db, workspaceId, listId, settings);
    await db.run(sql`
      update campaigns set status = 'paused', sent_at = now(), audience_list_id = ${listId},
        expanded_at = case when ${isExpanded} then now() end
      where id = ${id}`);
    return id;
  };
  const resumed = async (id: string) => {
    const { status, body } = await call("POST", `/campaigns/${id}/resume`);
    return [status, body.code, body.error?.includes("audience_missing"), await statusOf(id)];
  };
  const refused = [409, "CONFLICT", true, "paused"];

  test.each([true, false])(
    "without its list is not resumed (all people looked at: %s)",
    async (isExpanded) => {
      expect(await resumed(await paused({}, isExpanded, newId()))).toEqual(refused);
    },
  );

  test("without a list or segment that it needs to find people is not resumed", async () => {
    for (const settings of [
      { recipient_type: "segment" as const, segment_id: newId() },
      custom([{ field: "segment", operator: "is_in", value: newId() }]),
      custom([{ field: "mailing_list", operator: "is_active_in", value: newId() }]),
    ]) {
      expect(await resumed(await paused(settings, false))).toEqual(refused);
    }
  });

  test("that has found all people is resumed without a segment that it does not need any more", async () => {
    const id = await paused({ recipient_type: "segment", segment_id: newId() }, true);
    expect(await resumed(id)).toEqual([200, undefined, undefined, "sending"]);
  });
});

test("a tracking domain of a campaign that is being scheduled keeps its name", async () => {
  const { path, settings } = (await kinds["a tracking domain"]?.()) ?? expect.unreachable();
  const id = await newCampaign(db, workspaceId, list, settings);
  const rename = () => call("PUT", path, { domain: "other.shop.test" });
  const [sent, renamed] = await behind(advanceCampaignsNow, schedule(id), rename);
  expect([sent?.status, renamed?.status]).toEqual([200, 409]);
  expect((await call("GET", path)).body.data.domain).toBe("links.shop.test");
});
