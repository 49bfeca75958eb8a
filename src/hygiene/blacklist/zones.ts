/** The catalogue of blacklist zones: zones.json, and the operator's changes to it (BLACKLIST_ZONES_FILE). */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { TargetKind } from "./target.ts";
import builtIn from "./zones.json" with { type: "json" };

const DNS_NAME = "^(?=.{1,200}$)[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})+$";
const MOST_ZONES = 200;
/** Meanings of answers by code, or by bit. */
const meaningsOf = (pattern: string) =>
  Type.Record(Type.String({ pattern }), Type.String(), { additionalProperties: false });
const Meanings = meaningsOf("^\\d{1,3}(\\.\\d{1,3}){3}$");
const line = Type.String({ minLength: 1, maxLength: 500 });

/**
 * What a listing does to mail: high: large mailbox providers or many companies refuse it; medium: many filters count it;
 * low: few servers look at it.
 */
export const zoneWeights = ["high", "medium", "low"] as const;

const Zone = Type.Object(
  {
    name: Type.String({ pattern: DNS_NAME }),
    /** The zone to query if it differs from the name: it may contain a subscriber's key, which is not shown. */
    dns_name: Type.Optional(Type.String({ pattern: DNS_NAME })),
    types: Type.Array(Type.Enum(["ip4", "ip6", "domain"]), { minItems: 1 }),
    description: line,
    /** How much a listing costs. Default: low. */
    weight: Type.Optional(Type.Enum([...zoneWeights])),
    /** Where to ask for removal; `{target}` stands for the listed target. */
    delisting: Type.Optional(line),
    codes: Type.Optional(Meanings),
    bits: Type.Optional(meaningsOf("^(1|2|4|8|16|32|64|128)$")),
    not_listed: Type.Optional(Meanings),
    errors: Type.Optional(Meanings),
    only_known_codes: Type.Optional(Type.Boolean()),
    /** Null: the zone has no test points and is not tested. Default: the test points of RFC 5782 section 5. */
    self_test: Type.Optional(
      Type.Union([
        Type.Object(
          { listed: Type.Array(line, { minItems: 1, maxItems: 5 }), clean: line },
          { additionalProperties: false },
        ),
        Type.Null(),
      ]),
    ),
    enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export type Zone = Static<typeof Zone>;

const catalogue: readonly Zone[] = Value.Parse(Type.Array(Zone), builtIn);

/** For a built-in zone, the given fields are replaced. */
const ZonesFile = Type.Object(
  {
    replace: Type.Optional(Type.Boolean()),
    zones: Type.Array(
      Type.Object(
        { ...Type.Partial(Zone).properties, name: Zone.properties.name },
        { additionalProperties: false },
      ),
      { maxItems: MOST_ZONES },
    ),
  },
  { additionalProperties: false },
);

/**
 * The built-in zones with the operator's changes, or with `"replace": true` only the operator's zones; sorted by name.
 * @param file the parsed file; null: no changes
 * @throws Error that names the wrong field
 */
export function readZones(file: unknown): readonly Zone[] {
  const given: unknown = file ?? { zones: [] };
  if (!Value.Check(ZonesFile, given)) {
    const [fault] = Value.Errors(ZonesFile, given);
    throw new Error(`BLACKLIST_ZONES_FILE: ${fault?.instancePath || "/"} ${fault?.message ?? "is wrong"}`);
  }
  const zones = new Map(given.replace ? [] : catalogue.map((zone) => [zone.name, zone]));
  for (const change of given.zones) {
    const zone: unknown = { description: change.name, ...zones.get(change.name), ...change };
    if (!Value.Check(Zone, zone)) {
      throw new Error(`BLACKLIST_ZONES_FILE: ${change.name} is not a built-in zone and must have types`);
    }
    zones.set(zone.name, zone);
  }
  return [...zones.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the zone is queried for targets of this kind. */
export function isAsked({ types, enabled }: Zone, kind: TargetKind): boolean {
  return enabled !== false && types.includes(kind);
}
