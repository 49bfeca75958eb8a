/** Finds the lane of a destination, and merges LANES_FILE into the built-in lanes. */

import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { MailHost } from "#smtp-client/mx.ts";
import { builtInLanes, defaultLane, type Lane } from "./default-lanes.ts";

/**
 * The lane of a destination, by the names of its MX hosts: the lane that matches all of them, else `default`. A domain owner
 * can list a provider's hosts beside a host of their own; failures of that host must not slow down the provider's lane. Only
 * `tls_required` applies per host (routes/find-destination.ts).
 */
export function laneFor(mxHostNames: readonly string[], lanes: readonly Lane[]): Lane {
  const [first, ...others] = new Set(mxHostNames.map((host) => laneOfHost(host, lanes)));
  const only = others.length === 0 ? first : undefined;
  return only ?? lanes.find(({ name }) => name === defaultLane.name) ?? defaultLane;
}

/** The longest matching suffix wins. */
function laneOfHost(host: string, lanes: readonly Lane[]): Lane | undefined {
  const claims = lanes.flatMap((lane) =>
    lane.mx_suffixes.filter((suffix) => `.${host}`.endsWith(suffix)).map(({ length }) => ({ lane, length })),
  );
  return claims.sort((a, b) => b.length - a.length)[0]?.lane;
}

/** The key by which the limits of a lane are counted. */
export function laneKey(lane: Lane, site: string): string {
  return lane.per_site ? `${lane.name} ${site}` : lane.name;
}

/**
 * The built-in lanes, overridden by LANES_FILE. For an existing lane the given fields are replaced; a new lane takes its
 * other fields from `default`. Null or undefined changes nothing.
 *
 * @param overrides `{ "lanes": [{ "name": "default", "connections": 50 }] }`, not yet validated
 * @throws an Error for the operator that names the field and the values it takes
 */
export function mergeLanes(overrides: unknown): readonly Lane[] {
  const changes = overrides === undefined || overrides === null ? [] : readChanges(overrides);
  const lanes = new Map(builtInLanes.map((lane) => [lane.name, lane]));
  const ownDefault = changes.find(({ name }) => name === defaultLane.name);
  const model = { ...defaultLane, ...ownDefault, mx_suffixes: [], per_site: false };
  for (const change of changes) {
    const suffixes = change.mx_suffixes?.map((suffix) => suffix.replace(/^\.?/, "."));
    const known = lanes.get(change.name) ?? model;
    lanes.set(change.name, { ...known, ...change, mx_suffixes: suffixes ?? known.mx_suffixes });
  }
  checkClaims([...lanes.values()]);
  return [...lanes.values()];
}

const count = Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]));
const flag = Type.Optional(Type.Boolean());
const HOST_ENDING = "^\\.?[a-z0-9-]+(?:\\.[a-z0-9-]+)*$";

const LaneChange = Type.Object(
  {
    name: Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{0,62}$" }),
    mx_suffixes: Type.Optional(Type.Array(Type.String({ pattern: HOST_ENDING }))),
    per_site: flag,
    connections: count,
    connections_per_minute: count,
    messages_per_connection: count,
    messages_per_second: Type.Optional(Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()])),
    tls_required: flag,
    failures_before_rest: count,
    suspensions: Type.Optional(
      Type.Array(
        Type.Object(
          { words: Type.String({ minLength: 1 }), seconds: Type.Integer({ minimum: 1 }) },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
);

const A_COUNT = "a whole number above 0, or null for no limit";
/** The values that each field takes, for error messages. */
const wanted: ReadonlyMap<string, string> = new Map(
  Object.entries({
    name: "a name of lower-case letters, digits, dots and hyphens",
    mx_suffixes: 'a list of host name endings in lower case, such as ".example.com"',
    per_site: "true or false",
    connections: A_COUNT,
    connections_per_minute: A_COUNT,
    messages_per_connection: A_COUNT,
    messages_per_second: "a number above 0, or null for no limit",
    tls_required: "true or false",
    failures_before_rest: A_COUNT,
    suspensions: 'a list of { "words": "…", "seconds": a whole number above 0 }',
  } satisfies Record<keyof Lane, string>),
);
const LanesFile = Type.Object({ lanes: Type.Array(LaneChange) }, { additionalProperties: false });

function readChanges(overrides: unknown): readonly Static<typeof LaneChange>[] {
  if (!Value.Check(LanesFile, overrides)) throw new Error(`LANES_FILE: ${firstFault(overrides)}`);
  const twice = overrides.lanes.find(({ name }, at, all) => all.findIndex((lane) => lane.name === name) < at);
  if (twice !== undefined) throw new Error(`LANES_FILE: lane "${twice.name}" is defined twice`);
  return overrides.lanes;
}

/** The first fault as "lanes[2].connections must be …". */
function firstFault(overrides: unknown): string {
  const [, list, at, field = "name"] = Value.Errors(LanesFile, overrides)[0]?.instancePath.split("/") ?? [];
  if (list !== "lanes" || at === undefined) return 'must be { "lanes": [ … ] } and nothing else';
  const form = wanted.get(field);
  return form === undefined
    ? `lanes[${at}] has an unknown field "${field}"`
    : `lanes[${at}].${field} must be ${form}`;
}

/** Each host belongs to exactly one lane; each lane except `default` must have mx_suffixes. */
function checkClaims(lanes: readonly Lane[]): void {
  const owners = new Map<string, string>();
  for (const { name, mx_suffixes } of lanes) {
    if ((name === defaultLane.name) !== (mx_suffixes.length === 0))
      throw new Error(
        `LANES_FILE: "default" must not have mx_suffixes, and every other lane must have some (see "${name}")`,
      );
    for (const suffix of mx_suffixes) {
      const owner = owners.get(suffix);
      if (owner !== undefined) throw new Error(`LANES_FILE: "${owner}" and "${name}" both claim ${suffix}`);
      owners.set(suffix, name);
    }
  }
}

/** The mail hosts of a domain, and their lane. */
export interface Destination {
  /** Names the hosts and their TLS demands. Domains of the same site share sessions. */
  readonly site: string;
  readonly lane: Lane;
  /** In the order in which they are tried. */
  readonly hosts: readonly MailHost[];
}
