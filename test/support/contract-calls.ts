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
    const make = (path.endsWith("}") ? undefined : resources[path]) ?? resources[kind];
    if (make === undefined) throw new Error(`support/contract-examples.ts has no example for ${kind}`);
    ids.push(await make(owner, ids));
  }
  return ids;
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
