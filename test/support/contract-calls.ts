/** Calls every endpoint with the examples of contract-examples.ts. */
import type { Endpoint } from "#platform/http/endpoint.ts";
import { EVENT_STREAM } from "#platform/http/response/event-stream.ts";
import { mediaTypeOf } from "#platform/http/response/file-answer.ts";
import { newId } from "#platform/ids.ts";
import type { CallApi } from "./api-caller.ts";
import { bodies, type Owner, queries, resources } from "./contract-examples.ts";

/** The kinds of ids in a path; each is the path up to the id. */
const kindsOf = (path: string) =>
  [...path.matchAll(/\{\w+\}/g)].map(({ index, 0: id }) => path.slice(0, index + id.length));

/** Creates the resources of the path for this owner and returns their ids. */
export async function idsFor(path: string, owner: Owner): Promise<string[]> {
  const ids: string[] = [];
  for (const kind of kindsOf(path)) {
    const name = !path.endsWith("}") && path in resources ? path : kind;
    ids.push(await resourceOf(name)(owner, ids));
  }
  return ids;
}

function resourceOf(name: string) {
  const make = resources[name];
  if (make === undefined) throw new Error(`support/contract-examples.ts has no example for ${name}`);
  return make;
}

/** Examples of the same kind delete the older ones, because a workspace may have only a few. */
const passing = /^\/(webhooks|roles|team|me\/second-factors)\//;
const lasting = new WeakMap<Owner, Map<string, Promise<unknown>>>();

/** What `make` has created for this owner and name, which it does once. */
function onceFor<Made>(owner: Owner, name: string, make: () => Promise<Made>): Promise<Made> {
  const made = lasting.get(owner) ?? new Map<string, Promise<unknown>>();
  lasting.set(owner, made);
  const found = (made.get(name) as Promise<Made> | undefined) ?? make();
  made.set(name, found);
  return found;
}

/** For calls that are refused, and so change nothing: the ids of resources that all such calls share. */
export async function sharedIdsFor(path: string, owner: Owner): Promise<string[]> {
  if (passing.test(path)) return idsFor(path, owner);
  const ids: string[] = [];
  for (const kind of kindsOf(path)) {
    const name = !path.endsWith("}") && path in resources ? path : kind;
    const parents = [...ids];
    ids.push(await onceFor(owner, name, async () => resourceOf(name)(owner, parents)));
  }
  return ids;
}

/** For calls that are refused: a body that all calls of the endpoint share. */
export function sharedBodyFor(endpoint: Endpoint, owner: Owner): Promise<object | undefined> {
  return onceFor(owner, endpoint.id, () => bodyFor(endpoint, owner));
}

/** The path with these ids, and with unknown ones for those that are missing. */
export function fill(path: string, ids: readonly string[]): string {
  const left = [...ids];
  return path.replaceAll(/\{\w+\}/g, () => left.shift() ?? newId());
}

export async function bodyFor(endpoint: Endpoint, owner: Owner): Promise<object | undefined> {
  if (endpoint.body === undefined) return undefined;
  const make = bodies[endpoint.id];
  if (make === undefined) throw new Error(`support/contract-examples.ts has no body for ${endpoint.id}`);
  return make(owner);
}

/** Calls an operation with the owner's key, or as the owner's person where keys may not. */
export const callOf = ({ needs }: Endpoint, owner: Owner) =>
  needs === "signed in" || needs === "operator" ? owner.person.call : owner.call;

/** Calls an endpoint with its required query parameters. A stream is asked for its headers only, because it has no end. */
export function ask(endpoint: Endpoint, call: CallApi, url: string, body?: object) {
  const method = mediaTypeOf(endpoint.answer) === EVENT_STREAM ? "HEAD" : endpoint.method;
  return call(method, url + (queries[endpoint.id] ?? ""), body);
}
