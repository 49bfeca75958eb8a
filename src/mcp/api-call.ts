/** The HTTP request of a tool call, and the result that the assistant gets for its response. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { invalid } from "#platform/errors.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Failure, Success } from "#platform/http/response/envelope.ts";
import { isUuid } from "#platform/ids.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { IDEMPOTENCY_KEY, IF_MATCH, idsIn } from "./input-schemas.ts";
import { shortened } from "./shorten-answer.ts";

export interface ApiRequest {
  readonly method: Endpoint["method"];
  /** Below /api/v1, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly etag: string | undefined;
  /** Undefined if it has more than MOST_ANSWER_BYTES. */
  readonly body: string | undefined;
}

/** Calls the API with the key of the assistant. */
export type SendToApi = (request: ApiRequest) => Promise<ApiResponse>;

/** Larger answers are neither kept nor parsed. */
export const MOST_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Sorts the input of a tool into path, query, body and headers. Names that the operation does not know go where the API
 * reports them.
 * @throws ApiError VALIDATION_ERROR without an id of the path, or with one that is no UUID
 */
export function requestOf(endpoint: Endpoint, input: Readonly<Record<string, unknown>>): ApiRequest {
  const { method, query = {}, body } = endpoint;
  const left = new Map(Object.entries(input));
  const taken = (name: string): unknown => {
    const value = left.get(name);
    left.delete(name);
    return value;
  };
  let { path }: { path: string } = endpoint;
  for (const name of idsIn(path)) {
    const id = taken(name);
    if (id === undefined || id === null || id === "") {
      throw invalid({ field: name, message: `${name} is required` });
    }
    // Other texts could lead to another route: `..` removes a part of the path.
    if (typeof id !== "string" || !isUuid(id)) {
      throw invalid({ field: name, message: `${name} must be a UUID` });
    }
    path = path.replace(`{${name}}`, id);
  }
  const headers: Record<string, string> = {};
  if (endpoint.idempotent) addHeader(headers, "idempotency-key", taken(IDEMPOTENCY_KEY));
  if (endpoint.conditional) addHeader(headers, "if-match", taken(IF_MATCH));
  const inQuery = new URLSearchParams();
  for (const [name, value] of Array.from(left)) {
    if (body !== undefined && !Object.hasOwn(query, name)) continue;
    left.delete(name);
    const text = valueText(value);
    if (text !== undefined) inQuery.append(name, text);
  }
  return {
    method,
    path: inQuery.size > 0 ? `${path}?${inQuery.toString()}` : path,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(Object.fromEntries(left)) }),
  };
}

function addHeader(headers: Record<string, string>, name: string, value: unknown): void {
  const text = valueText(value);
  if (text !== undefined) headers[name] = text;
}

/** A value as query or header; a model may send a number where the API takes a text. */
function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map(valueText).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The result of a call: `data` and what is beside it, or the error of the API. */
export function toolResultOf(endpoint: Endpoint, { status, etag, body }: ApiResponse): CallToolResult {
  if (body === undefined) {
    return refusal({
      code: "PAYLOAD_TOO_LARGE",
      error: `The answer has more than ${bytesText(MOST_ANSWER_BYTES)}, which is too much for an assistant. Ask for fewer rows, or call ${endpoint.method} ${endpoint.path} of the API without an assistant.`,
    });
  }
  const envelope = JSON.parse(body) as Success | Failure;
  if (!envelope.success) {
    const { success: _, ...failed } = envelope;
    return refusal(failed);
  }
  const { success: _, ...answer } = envelope;
  const isUseful = status < 300 && etag !== undefined;
  return structured(shortened({ ...answer, ...(isUseful && { etag }) }, Object.keys(endpoint.query ?? {})));
}

/** A result that the assistant sees as an error: one sentence, and the details of the API. */
export function refusal({ error, code, ...more }: Omit<Failure, "success">): CallToolResult {
  const fields = (more.details ?? []).map(({ field }) => field).join(", ");
  return {
    isError: true,
    content: [{ type: "text", text: `${code}: ${error}${fields === "" ? "" : ` (${fields})`}` }],
    structuredContent: { code, error, ...more },
  };
}

/** The value as structured content, and as text for assistants that read only text. */
export function structured(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
