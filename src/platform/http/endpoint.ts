/**
 * An endpoint is one value. Routes, parsing, the permission check, the permission catalogue, openapi.json, the
 * reference page and the generic contract tests are all read from it, so a new endpoint changes one folder.
 */

import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "#platform/errors.ts";
import type { Caller } from "./auth/caller.ts";
import type { Answered, Reservation } from "./idempotency/idempotency.ts";
import type { QueryFields, QueryValues } from "./request/query.ts";
import type { FileAnswer } from "./response/file-answer.ts";

/** Most bytes of a body whose endpoint says nothing else. */
export const BODY_LIMIT = 1024 * 1024;

export type Action = "read" | "write" | "send";

/** A governed resource of the permission catalogue. Its actions and paths follow from the endpoints that need it. */
export interface Resource {
  /** Snake case, as in permission strings: `api_keys`. */
  readonly name: string;
  readonly label: string;
  readonly group: string;
}

/**
 * What a key must hold. `judgedBy: "handler"` is for endpoints whose rows carry a permission of their own (jobs):
 * the catalogue lists the permission, the handler decides.
 */
export interface Need {
  readonly resource: Resource;
  readonly action: Action;
  readonly judgedBy: "server" | "handler";
}

export function need(resource: Resource, action: Action, judgedBy: Need["judgedBy"] = "server"): Need {
  return { resource, action, judgedBy };
}

/** The permission string of a need, as it stands in a key: `sending_domains:write`. */
export function permissionOf(need: Need): string {
  return `${need.resource.name}:${need.action}`;
}

export interface EndpointRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  /** Set when the caller sent an Idempotency-Key: the handler may store its answer in its own transaction. */
  readonly idempotency: Reservation | undefined;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** What goes round `data`: a sentence. A file goes without, and cannot be replayed. */
type Envelope<Data> = [Data] extends [FileAnswer]
  ? { readonly message?: never; readonly idempotent?: never }
  : {
      /** The sentence in the envelope. */
      readonly message: string | ((data: Data) => string);
      /** Honours Idempotency-Key. */
      readonly idempotent?: true;
    };

interface Operation<
  Path extends string,
  Query extends QueryFields,
  Body extends TSchema,
  Answer extends TSchema,
> {
  /** Operation id in openapi.json and name of the client's method. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to /api/v1; `{name}` parts are ids, and one that is no UUID is answered 404. */
  readonly path: Path;
  readonly summary: string;
  /** There is no default: an endpoint that forgot to say who may call it does not compile. */
  readonly needs: Need | "authenticated";
  readonly query?: Query;
  /** JSON; a form where one of its fields is a file (uploads.ts). */
  readonly body?: Body;
  /**
   * For unknown fields of the body that need more than "did you mean": what to do instead, by name. Undefined for a name
   * without advice.
   */
  readonly advise?: (name: string) => string | undefined;
  /** A call without any body means the same as `{}`. */
  readonly bodyMayBeAbsent?: true;
  /** Shape of `data`, or a file (file-answer.ts). */
  readonly answer: Answer;
  /** `next_cursor` stands beside `data`, which has no `pagination` (answer.ts, Continued). */
  readonly isContinued?: true;
  /** 201 when a resource is made, 202 when a background job starts. */
  readonly status?: 200 | 201 | 202;
  /** Most bytes of a body, or of the file in a form; BODY_LIMIT unless said. */
  readonly bodyLimit?: number;
  /**
   * Why an answer may take more than a few seconds: because much is read or stored ("reading"), or because others are
   * asked, such as name servers ("asking others"). Unless said, a caller waits a few seconds and is answered 503.
   */
  readonly mayTakeLong?: "reading" | "asking others";
  /** Refusals of its handler, beside those that follow from what is declared here (error-codes.ts). */
  readonly errors?: readonly ErrorCode[];
  /** A write that stays open for a suspended workspace (billing). */
  readonly openWhileSuspended?: true;
  handle(
    request: EndpointRequest<Record<ParamNames<Path>, string>, QueryValues<Query>, Static<Body>>,
  ): Promise<Static<Answer> | Answered>;
}

/** An endpoint as the server sees it, with the shapes forgotten by the type system but not by the values. */
export interface Endpoint extends Omit<Operation<string, QueryFields, TSchema, TSchema>, "handle"> {
  readonly message?: string | ((data: never) => string);
  readonly idempotent?: true;
  handle(request: EndpointRequest<never, never, never>): Promise<unknown>;
}

/** Declares an endpoint; the handler's types follow from the path and the shapes. */
export function endpoint<
  const Path extends string,
  Answer extends TSchema,
  Query extends QueryFields = Record<never, never>,
  Body extends TSchema = TSchema,
>(definition: Operation<Path, Query, Body, Answer> & Envelope<Static<Answer>>): Endpoint {
  return definition as Endpoint;
}
