/** A test of the routing rules over HTTP: how a message to a recipient would leave, decided by the code that sends. */
import { Type } from "typebox";
import { findRouting, readRouteFields, routeChoice } from "#identity/routing-rules/load-routing.ts";
import { routingRules } from "#identity/routing-rules/permission.ts";
import { redacted } from "#identity/routing-rules/relay-url.ts";
import { parseAddress, parseDomain } from "#mail/address.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { described, Id, nullable, omittable } from "#platform/shapes.ts";

const kinds = ["default", "sending_ips", "relay", "unavailable", "provider_unknown", "unroutable"] as const;

const RoutingTestOrder = Type.Object(
  {
    to: Type.String({ minLength: 1, maxLength: 320, description: "An address, or a domain." }),
    virtual_mta_ip: omittable(
      Type.String({
        maxLength: 100,
        description: "The choice of the campaign or message: a sending IP, or `routing_rule:<uuid>`.",
      }),
    ),
    routing_rule_id: omittable(
      Type.Unsafe<string>({ ...Id, description: "The choice of the campaign or message: a routing rule." }),
    ),
  },
  { $id: "RoutingTestOrder", additionalProperties: false },
);

const RoutingTest = Type.Object(
  {
    domain: Type.String({ description: "The domain of the recipient." }),
    provider: nullable(
      Type.String({
        description:
          "Mailbox provider, as `match.providers` of routing rules has it. Null: the domain has no mail hosts, or the DNS does not name them now.",
      }),
    ),
    mail_hosts: Type.Array(Type.String(), {
      description: "The hosts that accept its mail, in the order in which they are tried.",
    }),
    kind: Type.Enum([...kinds], {
      description:
        "`default`: from the machine's own address; `sending_ips`: from one of `sending_ips`; `relay`: through `relay_url`; `unavailable`: it waits, because the chosen address or rule is switched off; `provider_unknown`: it waits, because the rule depends on the provider and the DNS does not answer; `unroutable`: no mail host can be reached, see `reason`.",
    }),
    reason: nullable(Type.String({ description: "Why it does not leave; null if it does." })),
    rule: nullable(
      Type.Object(
        {
          id: described(Id, "Id of the rule."),
          name: Type.String({ description: "Name of the rule." }),
          is_chosen: Type.Boolean({
            description: "Whether it applies because the campaign names it, and not because it matches.",
          }),
        },
        { description: "The rule that applies; null if none does." },
      ),
    ),
    sending_ips: Type.Array(
      Type.Object({
        id: described(Id, "Id of the sending IP."),
        ip: Type.String({ description: "The address." }),
        pool: nullable(Type.String({ description: "Its pool; null for none." })),
        is_warming_up: Type.Boolean({
          description: "Whether its daily quota may send the message from another address, or another day.",
        }),
      }),
      { description: "The addresses that the message may leave from." },
    ),
    relay_url: nullable(Type.String({ description: "The smart host of the rule, without its password." })),
  },
  { $id: "RoutingTest" },
);

type Routing = Awaited<ReturnType<typeof findRouting>>;

/** How a message would leave. */
interface EgressPreview {
  readonly provider: string | null;
  readonly mailHosts: readonly string[];
  readonly fault: string | null;
  readonly ruleId: string | null;
  readonly selection:
    | { readonly kind: "default" | "provider_unknown" }
    | { readonly kind: "relay"; readonly url: string }
    | { readonly kind: "ips"; readonly ips: readonly { readonly id: string }[] }
    | { readonly kind: "unavailable"; readonly reason: string };
}

export interface RoutingTestDeps {
  readonly db: Database;
  readonly secrets: Secrets;
  /** Decides as delivery does. */
  readonly previewEgress: (
    routing: Routing,
    choice: ReturnType<typeof routeChoice>,
    domain: string,
  ) => Promise<EgressPreview>;
}

export function routingTestEndpoints({ db, secrets, previewEgress }: RoutingTestDeps): Endpoint[] {
  return [
    endpoint({
      id: "testRouting",
      method: "POST",
      path: "/routing-rules/test",
      mayTakeLong: "asking others",
      summary: "Show how a message to a recipient would leave, without sending it",
      description:
        "Looks up the mail hosts of the recipient and decides by the code that sends: which rule applies, and from which address or through which relay the message leaves. Rules depend on the recipient alone, so sender and tags make no difference. In capture mode nothing leaves; the answer is that of direct mode.",
      needs: need(routingRules, "read"),
      unaudited: "only reads",
      body: RoutingTestOrder,
      answer: RoutingTest,
      message: "How the message would leave",
      async handle({ caller: { workspaceId }, body }) {
        const domain = readRecipientDomain(body.to);
        const choice = await readChoice(db, workspaceId, body);
        const routing = await findRouting(db, secrets, workspaceId);
        const preview = await previewEgress(routing, choice, domain);
        const { selection } = preview;
        const rule = routing.rules.find(({ id }) => id === preview.ruleId);
        const ids = selection.kind === "ips" ? selection.ips.map(({ id }) => id) : [];
        return {
          domain,
          provider: preview.provider,
          mail_hosts: [...preview.mailHosts],
          ...resultOf(preview),
          rule: rule ? { id: rule.id, name: rule.name, is_chosen: rule.id === choice.ruleId } : null,
          sending_ips: routing.ips
            .filter(({ id }) => ids.includes(id))
            .map(({ id, ip, pool, warm_up_started_at }) => {
              return { id, ip, pool, is_warming_up: warm_up_started_at !== null };
            }),
          relay_url: selection.kind === "relay" ? redacted(selection.url) : null,
        };
      },
    }),
  ];
}

/** In the order in which delivery decides: a relay needs no mail hosts of the recipient. */
function resultOf({ selection, fault }: EgressPreview): {
  readonly kind: (typeof kinds)[number];
  readonly reason: string | null;
} {
  if (selection.kind === "relay") return { kind: "relay", reason: null };
  if (selection.kind === "provider_unknown") return { kind: "provider_unknown", reason: fault };
  if (selection.kind === "unavailable") return { kind: "unavailable", reason: selection.reason };
  if (fault !== null) return { kind: "unroutable", reason: fault };
  return { kind: selection.kind === "ips" ? "sending_ips" : "default", reason: null };
}

/** @throws ApiError VALIDATION_ERROR */
function readRecipientDomain(to: string): string {
  const parsed = to.includes("@") ? parseAddress(to) : parseDomain(to);
  if (!parsed.ok) throw invalid({ field: "to", message: `to: ${parsed.message}` });
  return parsed.domain;
}

/** @throws ApiError VALIDATION_ERROR for an address or rule that the workspace does not have */
async function readChoice(
  db: Database,
  workspaceId: WorkspaceId,
  given: Parameters<typeof readRouteFields>[2],
): Promise<ReturnType<typeof routeChoice>> {
  const fields = await readRouteFields(db, workspaceId, given);
  if (!("unknown" in fields)) return routeChoice(fields);
  const { unknown: field } = fields;
  const what = field === "routing_rule_id" ? "routing rule" : "sending IP or routing rule";
  throw invalid({ field, message: `${field} is no ${what} of this workspace` });
}
