/** The catalogue of zones: data (zones.json), and the operator's changes to it (BLACKLIST_ZONES_FILE). */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { TargetKind } from "./target.ts";
import builtIn from "./zones.json" with { type: "json" };

const DNS_NAME = "^(?=.{1,200}$)[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})+$";
const MOST_ZONES = 200;
/** By code, or by bit. */
const meaningsOf = (pattern: string) =>
  Type.Record(Type.String({ pattern }), Type.String(), { additionalProperties: false });
const Meanings = meaningsOf("^\\d{1,3}(\\.\\d{1,3}){3}$");
const line = Type.String({ minLength: 1, maxLength: 500 });

const Zone = Type.Object(
  {
    name: Type.String({ pattern: DNS_NAME }),
    /** What is asked where it is not the name: a subscriber's key may be in it, which nobody else is to see. */
    dns_name: Type.Optional(Type.String({ pattern: DNS_NAME })),
    types: Type.Array(Type.Enum(["ip4", "ip6", "domain"]), { minItems: 1 }),
    description: line,
    /** Where to ask for removal; `{target}` stands for what is listed. */
    delisting: Type.Optional(line),
    codes: Type.Optional(Meanings),
    bits: Type.Optional(meaningsOf("^(1|2|4|8|16|32|64|128)$")),
    not_listed: Type.Optional(Meanings),
    errors: Type.Optional(Meanings),
    only_known_codes: Type.Optional(Type.Boolean()),
    /** Null: the zone has no test points and is believed as it is. Left out: those of RFC 5782 section 5. */
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

/** Of a zone that is there the given fields are replaced. */
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
 * The built-in zones with an operator's file laid over them, or with `"replace": true` the file's alone; by name.
 * Null changes nothing.
 * @throws an Error for the operator that names the field
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
      throw new Error(`BLACKLIST_ZONES_FILE: ${change.name} is new and must have types`);
    }
    zones.set(zone.name, zone);
  }
  return [...zones.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the zone is asked about targets of that kind. */
export function isAsked({ types, enabled }: Zone, kind: TargetKind): boolean {
  return enabled !== false && types.includes(kind);
}
