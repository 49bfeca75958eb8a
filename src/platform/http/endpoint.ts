/**
 * An endpoint is one value. Routes, parsing, the permission check, the permission catalogue, openapi.json, the reference page
 * and the generic contract tests are all derived from it, so a new endpoint changes one folder.
 */

import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "#platform/errors.ts";
import type { Caller, SignedIn, Visitor } from "./auth/caller.ts";
import type { CookieJar } from "./auth/session-cookie.ts";
import type { Reservation, ResponseStored } from "./idempotency/idempotency.ts";
import type { QueryFields, QueryValues } from "./request/query.ts";
import type { EventStream } from "./response/event-stream.ts";
import type { FileAnswer } from "./response/file-answer.ts";

/** Default of `bodyLimit`, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

export type Action = "read" | "write" | "send";

/** A resource of the permission catalogue. Its actions and paths follow from the endpoints that need it. */
export interface Resource {
  /** Snake case, as in permission strings: `api_keys`. */
  readonly name: string;
  readonly label: string;
  readonly group: string;
  /** Its rows are about recipients: the audit log names changed fields without their values. */
  readonly isPersonal?: true;
  /** What the resource is, in a sentence for the API reference. */
  readonly about?: string;
}

/**
 * The permission that an endpoint requires. `judgedBy: "handler"` is for endpoints whose rows have different permissions
 * (jobs): the catalogue lists the permission, and the handler checks it.
 */
export interface Need {
  readonly resource: Resource;
  readonly action: Action;
  readonly judgedBy: "server" | "handler";
}

export function need(resource: Resource, action: Action, judgedBy: Need["judgedBy"] = "server"): Need {
  return { resource, action, judgedBy };
}

/** The permission string of a need, such as `sending_domains:write`. */
export function permissionOf(need: Need): string {
  return `${need.resource.name}:${need.action}`;
}

/**
 * The callers of an endpoint: a holder of a permission; any key or member of a workspace ("authenticated"); a signed-in
 * person without a workspace ("signed in"); a person who operates the installation ("operator"); or any client ("public").
 */
export type Needs = Need | "authenticated" | "signed in" | "operator" | "public";

type CallerOf<N extends Needs> = N extends "public"
  ? Visitor
  : N extends "signed in" | "operator"
    ? SignedIn
    : Caller;

/** What is known of the client of a request. */
export interface Client {
  readonly ip: string;
  /** The User-Agent header. */
  readonly agent: string;
}

export interface EndpointRequest<Params, Query, Body, CallerKind = Caller> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: CallerKind;
  readonly client: Client;
  readonly cookies: CookieJar;
  readonly requestId: string;
  /** Set if the caller sent an Idempotency-Key: the handler may store its response in its own transaction. */
  readonly idempotency: Reservation | undefined;
  /** With `conditional`: whether the version that the caller has seen (If-Match) may be this one. */
  readonly mayBe: (etag: string) => boolean;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** The envelope around `data` has a message. A file or a stream has no envelope, and cannot be replayed. */
type Envelope<Data> = [Data] extends [FileAnswer | EventStream]
  ? { readonly message?: never; readonly idempotent?: never; readonly etag?: never }
  : {
      /** The message in the envelope. */
      readonly message: string | ((data: Data) => string);
      /** Honours Idempotency-Key. */
      readonly idempotent?: true;
      /** The version of the answered resource, in quotation marks: the header ETag (RFC 9110 section 8.8.3). */
      readonly etag?: (data: Data) => string;
    };

interface Operation<
  Path extends string,
  N extends Needs,
  Query extends QueryFields,
  Body extends TSchema,
  Answer extends TSchema,
> {
  /** Operation id in openapi.json and name of the client's method. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to /api/v1; `{name}` parts are ids, and anything but a UUID there is answered with 404. */
  readonly path: Path;
  /** A few words for lists of operations, without a full stop. */
  readonly summary: string;
  /**
   * For the API reference, in sentences: what it does, when to use it, what else it changes, what comes afterwards. The
   * reference adds the permission and the size limit; test/reference.test.ts requires it.
   */
  readonly description?: string;
  /** Without a default, so that an endpoint without a permission does not compile. */
  readonly needs: N;
  /** A person must have confirmed who they are within the last ten minutes (`reauthenticate`). Keys need not. */
  readonly confirmed?: true;
  /**
   * What a call does outside of the service that cannot be taken back: mail or SMS to people, events to another system, or
   * money. By default it follows from action and errors (assistant-permission.ts): "nothing" is for those that only end sending, or only ask.
   */
  readonly outward?: "sends" | "spends" | "nothing";
  /** AI assistants get it as a tool of its own without asking for it (src/mcp). */
  readonly isEveryday?: true;
  readonly query?: Query;
  /**
   * Query parameters with which the audit log reads the resource before a change, instead of their defaults: contents, for
   * example, are not in the log.
   */
  readonly auditQuery?: Partial<QueryValues<Query>>;
  /** JSON; a multipart form if one of its fields is a file (uploads.ts). */
  readonly body?: Body;
  /**
   * Advice for an unknown field of the body, by its name, that replaces "did you mean"; undefined for a name without
   * advice.
   */
  readonly advise?: (name: string) => string | undefined;
  /** Reads the header If-Match: the handler compares it with the version of the resource (`request.mayBe`). */
  readonly conditional?: true;
  /** A call without a body is treated as `{}`. */
  readonly bodyMayBeAbsent?: true;
  /** Shape of `data`, a file (file-answer.ts), or a stream of events (event-stream.ts). */
  readonly answer: Answer;
  /** The envelope has `next_cursor` next to `data`, which has no `pagination` (`Continued`). */
  readonly isContinued?: true;
  /** The envelope of such a list has the `total` of all pages. */
  readonly isCounted?: true;
  /** 201 if a resource is created, 202 if a background job is started. */
  readonly status?: 200 | 201 | 202;
  /** Largest body, or file in a form, in bytes; default: BODY_LIMIT. */
  readonly bodyLimit?: number;
  /**
   * Why a response may take more than a few seconds: much data is read or stored ("reading"), other servers, such as name
   * servers, are queried ("asking others"), or a worker thread with deadlines of its own does the work ("working aside"). By
   * default a request fails with 503 after a few seconds.
   */
  readonly mayTakeLong?: "reading" | "asking others" | "working aside";
  /** Error codes of the handler, in addition to those that follow from the declaration (endpoint-error-codes.ts). */
  readonly errors?: readonly ErrorCode[];
  /** Why calls are not in the audit log, although the method is not GET: they only read, or are in a log of their own. */
  readonly unaudited?: string;
  /** A write that suspended workspaces may use (billing). */
  readonly openWhileSuspended?: true;
  handle(
    request: EndpointRequest<Record<ParamNames<Path>, string>, QueryValues<Query>, Static<Body>, CallerOf<N>>,
  ): Promise<Static<Answer> | ResponseStored>;
}

/** An endpoint without the types of its shapes, as the server uses it. */
export interface Endpoint extends Omit<Operation<string, Needs, QueryFields, TSchema, TSchema>, "handle"> {
  readonly message?: string | ((data: never) => string);
  readonly idempotent?: true;
  readonly etag?: (data: never) => string;
  handle(request: EndpointRequest<never, never, never, never>): Promise<unknown>;
}

/** Declares an endpoint; the types of its handler follow from the path and the shapes. */
export function endpoint<
  const Path extends string,
  Answer extends TSchema,
  const N extends Needs,
  Query extends QueryFields = Record<never, never>,
  Body extends TSchema = TSchema,
>(definition: Operation<Path, N, Query, Body, Answer> & Envelope<Static<Answer>>): Endpoint {
  return definition as unknown as Endpoint;
}
