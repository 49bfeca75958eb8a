/**
 * An operation of the API as a tool of the Model Context Protocol, derived from its endpoint. Fields of path, query and body
 * are one object, because no operation has two of the same name.
 */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { isGuarded, outwardOf } from "#platform/http/assistant-permission.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { fileFieldOf } from "#platform/http/request/uploads.ts";
import { mediaTypeOf } from "#platform/http/response/file-answer.ts";
import type { InputSchemas } from "./input-schemas.ts";

/**
 * Whether assistants may call the operation at all: not those of people and visitors, not those that take or answer a file,
 * nor streams, nor changes that need no permission, such as of saved views: a key that may only read has no tool that changes
 * something.
 */
export function isForAssistants({ method, needs, body, answer }: Endpoint): boolean {
  if (needs === "public" || needs === "signed in" || needs === "operator") return false;
  if (needs === "authenticated" && method !== "GET") return false;
  return fileFieldOf(body) === undefined && mediaTypeOf(answer) === undefined;
}

/** Whether the operation only reads: some that compute something from a body are POST. */
function isReading({ method, needs }: Endpoint): boolean {
  return method === "GET" || (typeof needs !== "string" && needs.action === "read");
}

export class OperationTool {
  readonly endpoint: Endpoint;
  /** Whether calls need ASSISTANTS_MAY_SEND. */
  readonly isGuarded: boolean;
  readonly isReading: boolean;
  readonly #schemas: InputSchemas;
  readonly #nameOf: ReadonlyMap<string, string>;
  #definition: Tool | undefined;

  /** @param nameOf operation ids by method and path, such as `GET /messages/{id}` */
  constructor(endpoint: Endpoint, schemas: InputSchemas, nameOf: ReadonlyMap<string, string>) {
    this.endpoint = endpoint;
    this.isReading = isReading(endpoint);
    this.isGuarded = isGuarded(endpoint);
    this.#schemas = schemas;
    this.#nameOf = nameOf;
  }

  get name(): string {
    return this.endpoint.id;
  }

  get definition(): Tool {
    const { id: name, summary: title } = this.endpoint;
    this.#definition ??= {
      name,
      title,
      description: this.description,
      inputSchema: this.#schemas.of(this.endpoint),
      annotations: { title, ...this.#hints() },
    };
    return this.#definition;
  }

  /** Summary and description, which name other operations by their ids instead of their paths. */
  get description(): string {
    const { summary, description = "" } = this.endpoint;
    return `${summary}. ${description}`.replaceAll(
      /`([A-Z]+ \/[^`\s?]*)`/g,
      (whole, call: string) => this.#nameOf.get(call) ?? whole,
    );
  }

  #hints(): NonNullable<Tool["annotations"]> {
    const { method, status, mayTakeLong } = this.endpoint;
    const outward = outwardOf(this.endpoint);
    if (this.isReading) return { readOnlyHint: true, openWorldHint: mayTakeLong === "asking others" };
    return {
      readOnlyHint: false,
      // A creation only adds, also one that a person must confirm. What reaches people or costs money cannot be taken back.
      destructiveHint: outward !== "nothing" || status !== 201,
      idempotentHint: method === "PUT" || method === "DELETE",
      openWorldHint: outward !== "nothing" || mayTakeLong === "asking others",
    };
  }
}
