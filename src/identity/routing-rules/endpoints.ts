/**
 * Routing rules over HTTP: which mail of a workspace leaves from which address or pool, or through which smart host.
 */
import { type Static, Type } from "typebox";
import { beginRoutingChange } from "#identity/sending-ips/release-after-routing-change.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { CreatedAt, Deleted, described, Id, omittable } from "#platform/shapes.ts";
import { actionOf } from "./load-routing.ts";
import { routingRules } from "./permission.ts";
import { type ReaderOptions, type RuleInput, readRule } from "./read-rule.ts";
import { redacted } from "./relay-url.ts";
import {
  findRoutingRule,
  insertRoutingRule,
  listRoutingRules,
  type RoutingRuleRow,
  removeRoutingRule,
  routingRuleRoom,
  updateRoutingRule,
} from "./store.ts";

const MOST_NAMES = 1_000;
const DEFAULT_PRIORITY = 100;

const RuleMatch = Type.Object(
  {
    recipient_domains: omittable(
      Type.Array(Type.String({ maxLength: 300 }), {
        maxItems: MOST_NAMES,
        description: "Domains of recipients; empty or absent for all.",
      }),
    ),
    providers: omittable(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 100,
        description: "Mailbox providers, by the names of lanes: google, yahoo, outlook ...",
      }),
    ),
  },
  { $id: "RoutingRuleMatch", description: "Both have to match; an empty one matches everything." },
);

const RuleAction = Type.Object(
  {
    source_ip_id: omittable(Type.Unsafe<string>({ ...Id, description: "A sending IP." })),
    pool: omittable(Type.String({ maxLength: 300, description: "Any sending IP of this pool." })),
    relay_url: omittable(
      Type.String({
        maxLength: 1_000,
        description: "A smart host, `smtp://user:password@host:587`; the password is never shown.",
      }),
    ),
  },
  { $id: "RoutingRuleAction", description: "One of the three." },
);

const priority = Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Lower goes first." });

const RoutingRule = Type.Object(
  {
    id: described(Id, "Id of the rule."),
    name: Type.String({ description: "Name for display." }),
    priority,
    match: Type.Object(
      {
        recipient_domains: Type.Array(Type.String(), {
          description: "Domains of recipients; empty for all.",
        }),
        providers: Type.Array(Type.String(), { description: "Mailbox providers by name; empty for all." }),
      },
      { description: "Which messages the rule is for; a message has to meet all conditions." },
    ),
    action: described(RuleAction, "How the messages leave."),
    is_active: Type.Boolean({ description: "Whether the rule is tried." }),
    is_automatic: Type.Boolean({ description: "False: applies only to campaigns that name the rule." }),
    created_at: CreatedAt,
  },
  { $id: "RoutingRule" },
);

const optional = {
  priority: omittable(priority),
  match: omittable(RuleMatch),
  is_active: omittable(Type.Boolean({ description: "Whether the rule is tried; true when omitted." })),
  is_automatic: omittable(
    Type.Boolean({ description: "Whether messages use the rule without naming it; true when omitted." }),
  ),
};

const RoutingRuleInput = Type.Object(
  {
    name: Type.String({ description: "Name for display." }),
    action: described(RuleAction, "How the messages leave."),
    ...optional,
  },
  { $id: "RoutingRuleInput" },
);

const RoutingRuleUpdate = Type.Object(
  {
    name: omittable(Type.String({ description: "Name for display." })),
    action: omittable(described(RuleAction, "How the messages leave.")),
    ...optional,
  },
  { $id: "RoutingRuleUpdate" },
);

export interface RoutingRuleDeps extends Pick<ReaderOptions, "providers" | "allowPrivate"> {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** The campaign that uses the rule and keeps it from being deleted, as the beginning of a sentence. */
  readonly userOf: (db: Queryable, workspaceId: WorkspaceId, ruleId: string) => Promise<string | undefined>;
}

export function routingRuleEndpoints(deps: RoutingRuleDeps): Endpoint[] {
  const { db, clock, secrets } = deps;
  const shown = (row: RoutingRuleRow): Static<typeof RoutingRule> => {
    const action = actionOf(secrets, row);
    return {
      id: row.id,
      name: row.name,
      priority: row.priority,
      match: { recipient_domains: [...row.recipient_domains], providers: [...row.providers] },
      action: "relay_url" in action ? { relay_url: redacted(action.relay_url) } : action,
      is_active: row.is_active,
      is_automatic: row.is_automatic,
      created_at: row.created_at,
    };
  };
  const found = async (tx: Queryable, workspaceId: WorkspaceId, id: string) => {
    return required(await findRoutingRule(tx, workspaceId, id), "Routing rule");
  };
  const read = (tx: Queryable, workspaceId: WorkspaceId, body: RuleInput, before: RoutingRuleRow) =>
    readRule({ ...deps, tx, workspaceId }, body, before);
  const change = <Answer>(workspaceId: WorkspaceId, work: (tx: Queryable) => Promise<Answer>) =>
    db.transaction(async (tx) => {
      await beginRoutingChange(tx, workspaceId);
      return work(tx);
    });
  return [
    endpoint({
      id: "listRoutingRules",
      method: "GET",
      path: "/routing-rules",
      summary: "List the routing rules in the order in which they are tried",
      description:
        "A message takes the first active, automatic rule that matches it, in this order; without one it leaves by the default route. A campaign may name a rule itself.",
      needs: need(routingRules, "read"),
      answer: Type.Array(RoutingRule),
      message: "Routing rules",
      handle: async ({ caller }) => (await listRoutingRules(db, caller.workspaceId)).map(shown),
    }),
    endpoint({
      id: "createRoutingRule",
      method: "POST",
      path: "/routing-rules",
      summary: "Add a routing rule",
      description:
        "Sends matching messages from chosen addresses or over a relay. The rule holds for messages that are sent from now on, also for those that wait. Credentials of a relay are stored sealed and never shown.",
      needs: need(routingRules, "write"),
      body: RoutingRuleInput,
      answer: RoutingRule,
      status: 201,
      errors: ["CONFLICT"],
      message: "Routing rule created",
      handle: ({ caller: { workspaceId }, body }) =>
        change(workspaceId, async (tx) => {
          await requireBelowRowLimitUnderLock(tx, workspaceId, routingRuleRoom);
          const rule = await read(tx, workspaceId, body, { ...empty, id: newId(), created_at: clock.now() });
          await insertRoutingRule(tx, workspaceId, rule);
          return shown(rule);
        }),
    }),
    endpoint({
      id: "getRoutingRule",
      method: "GET",
      path: "/routing-rules/{id}",
      summary: "One routing rule",
      description: "The rule without the credentials of its relay.",
      needs: need(routingRules, "read"),
      answer: RoutingRule,
      message: "Routing rule",
      handle: async ({ caller, params }) => shown(await found(db, caller.workspaceId, params.id)),
    }),
    endpoint({
      id: "updateRoutingRule",
      method: "PATCH",
      path: "/routing-rules/{id}",
      summary: "Change a routing rule; omitted fields stay, match and action are replaced as a whole",
      description:
        "The change holds within seconds, also for messages that wait. A relay that is sent back as it is shown keeps its password.",
      needs: need(routingRules, "write"),
      body: RoutingRuleUpdate,
      answer: RoutingRule,
      message: "Routing rule updated",
      handle: ({ caller: { workspaceId }, params: { id }, body }) =>
        change(workspaceId, async (tx) => {
          const rule = await read(tx, workspaceId, body, await found(tx, workspaceId, id));
          await updateRoutingRule(tx, workspaceId, rule);
          return shown(rule);
        }),
    }),
    endpoint({
      id: "deleteRoutingRule",
      method: "DELETE",
      path: "/routing-rules/{id}",
      summary: "Delete a routing rule that no scheduled or sending campaign names",
      description:
        "Messages that wait take the next rule that matches. Refused (409) while a scheduled or sending campaign names it.",
      needs: need(routingRules, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Routing rule deleted",
      handle: ({ caller: { workspaceId }, params: { id } }) =>
        change(workspaceId, async (tx) => {
          await found(tx, workspaceId, id);
          const user = await deps.userOf(tx, workspaceId, id);
          if (user !== undefined) throw new ApiError("CONFLICT", `${user} uses the routing rule`);
          await removeRoutingRule(tx, workspaceId, id);
          return { id, deleted: true } as const;
        }),
    }),
  ];
}

const empty = {
  name: "",
  priority: DEFAULT_PRIORITY,
  is_active: true,
  is_automatic: true,
  recipient_domains: [],
  providers: [],
  source_ip_id: null,
  pool: null,
  relay_url: null,
} satisfies Omit<RoutingRuleRow, "id" | "created_at">;
