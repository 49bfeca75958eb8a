/** The types of an operation's parts, read from the generated types by its operation id. */
import type { components, operations } from "./generated.ts";

export type OperationId = keyof operations;

/** A named shape of the API, such as `Schema<"Subscriber">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

type Content<Part> = Part extends { content: infer Types } ? Types[keyof Types] : never;
type Success<Id extends OperationId> = operations[Id]["responses"] extends infer Responses
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202 ? Responses[Status] : never;
    }[keyof Responses]
  : never;

/** The body that an operation takes. */
export type Body<Id extends OperationId> = operations[Id] extends { requestBody?: infer Request }
  ? Content<NonNullable<Request>>
  : never;

/** The query parameters that an operation takes. */
export type Query<Id extends OperationId> = NonNullable<operations[Id]["parameters"]["query"]>;

/** The `data` that an operation answers; for a file the standard `Response`, with its body unread. */
export type Data<Id extends OperationId> =
  Content<Success<Id>> extends { data: infer Value } ? Value : Response;

/** What every method takes beside the ids of the path, `query` and `body`. */
export interface CallOptions {
  /** Ends the call, its retries and the reading of its answer. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names this piece of work: a second call with the same key and body gets the first answer again and does nothing
   * twice. The client makes a random one for each call of an operation that honours it.
   */
  readonly idempotencyKey?: string | undefined;
  /** Milliseconds until one try is given up. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** Tries after the first one. Default: that of the client. */
  readonly retries?: number | undefined;
  /** Headers of this call alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
