/**
 * The tools that an assistant gets: those of the operations that its key may call. All of them would fill the context of a
 * model, so by default there are the everyday ones, and four tools that find and call the others (operation-finder.ts). A
 * selection, by resource of the permission catalogue or by operation, gives exactly its tools.
 */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { ApiError, invalid } from "#platform/errors.ts";
import { ASSISTANTS_MAY_SEND, assistantsMaySend } from "#platform/http/assistant-permission.ts";
import { grants, missingPermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, permissionOf } from "#platform/http/endpoint.ts";
import { InputSchemas } from "./input-schemas.ts";
import { OperationFinder } from "./operation-finder.ts";
import { isForAssistants, OperationTool } from "./operation-tool.ts";

/** The name that selects every tool. */
const ALL = "all";
/** Names that a selection may have. */
const MOST_SELECTED = 100;
/** Unknown names that an error shows. */
const MOST_NAMED = 10;

/** Everything that an assistant may be offered, made once for a process. */
export class Toolset {
  readonly #tools: readonly OperationTool[];
  readonly #names: ReadonlySet<string>;

  constructor(endpoints: readonly Endpoint[]) {
    const schemas = new InputSchemas(endpoints);
    const nameOf = new Map(endpoints.map(({ id, method, path }) => [`${method} ${path}`, id]));
    this.#tools = endpoints
      .filter(isForAssistants)
      .map((endpoint) => new OperationTool(endpoint, schemas, nameOf));
    this.#names = new Set(this.#tools.flatMap((tool) => namesOf(tool)));
  }

  /**
   * @param permissions of the key
   * @param selection "all", and names of resources and operations with commas between them; undefined: the everyday tools
   * @throws ApiError VALIDATION_ERROR for an unknown name
   */
  offer(permissions: readonly string[], selection: string | undefined): OfferedTools {
    const allowed = this.#tools.filter((tool) => toolRefusalOf(tool, permissions) === undefined);
    const known = new Map(this.#tools.map((tool) => [tool.name, tool]));
    const words = (selection ?? "").split(",").map((word) => word.trim());
    const asked = words.filter((word) => word !== "");
    if (asked.length === 0) {
      const everyday = allowed.filter(({ endpoint }) => endpoint.isEveryday);
      return new OfferedTools(everyday, known, permissions, new OperationFinder(allowed, known));
    }
    this.#requireKnown(asked);
    const selected = asked.includes(ALL)
      ? allowed
      : allowed.filter((tool) => namesOf(tool).some((name) => asked.includes(name)));
    return new OfferedTools(selected, known, permissions);
  }

  #requireKnown(asked: readonly string[]): void {
    const unknown = asked.filter((word) => word !== ALL && !this.#names.has(word)).slice(0, MOST_NAMED);
    if (asked.length <= MOST_SELECTED && unknown.length === 0) return;
    const named = unknown.map((word) => JSON.stringify(word.slice(0, 100))).join(", ");
    const what = unknown.length > 0 ? `unknown names ${named}` : `at most ${MOST_SELECTED} names`;
    const message = `tools: ${what}. Use "all", operations such as getMessage, and resources such as campaigns`;
    throw invalid({ field: "tools", message });
  }
}

/** The names that select a tool: its own, and that of its resource. */
function namesOf({ name, endpoint: { needs } }: OperationTool): string[] {
  return typeof needs === "string" ? [name] : [name, needs.resource.name];
}

/**
 * The permissions that a key lacks for the operation itself. What the handler judges row by row, such as jobs, needs any
 * permission with the same action.
 */
function missingOf({ needs }: Endpoint, permissions: readonly string[]): string[] {
  if (typeof needs === "string") return [];
  const missing = missingPermissions(permissions, [permissionOf(needs)]);
  const isRow = needs.judgedBy === "handler";
  return isRow && permissions.some((held) => grants(held, `${held.split(":")[0]}:${needs.action}`))
    ? []
    : missing;
}

/** Why a key with these permissions may not use the tool. The API itself checks the first kind again. */
export function toolRefusalOf(tool: OperationTool, permissions: readonly string[]): ApiError | undefined {
  const wanted = missingOf(tool.endpoint, permissions);
  const consent = tool.isGuarded && !assistantsMaySend(permissions) ? [ASSISTANTS_MAY_SEND] : [];
  const missing = [...wanted, ...consent];
  if (missing.length === 0) return undefined;
  const why =
    consent.length > 0
      ? ` Assistants may not send, spend or do what a person must confirm unless the key has ${ASSISTANTS_MAY_SEND}, which no other permission includes.`
      : "";
  return new ApiError("INSUFFICIENT_SCOPE", `The API key lacks ${missing.join(", ")}.${why}`, {
    requiredScopes: missing,
  });
}

/** The tools of one key and one selection. */
export class OfferedTools {
  readonly #tools: readonly OperationTool[];
  readonly #known: ReadonlyMap<string, OperationTool>;
  readonly #permissions: readonly string[];
  readonly finder: OperationFinder | undefined;

  constructor(
    tools: readonly OperationTool[],
    known: ReadonlyMap<string, OperationTool>,
    permissions: readonly string[],
    finder?: OperationFinder,
  ) {
    this.#tools = tools;
    this.#known = known;
    this.#permissions = permissions;
    this.finder = finder;
  }

  get definitions(): Tool[] {
    return [...this.#tools.map(({ definition }) => definition), ...(this.finder?.definitions ?? [])];
  }

  /**
   * The tool of this name. An operation that is not offered directly is found nevertheless when there are tools that call any.
   * @throws ApiError NOT_FOUND; INSUFFICIENT_SCOPE for an operation that the key may not call
   */
  find(name: string): OperationTool {
    const tool = this.#known.get(name);
    if (tool !== undefined) {
      const refused = toolRefusalOf(tool, this.#permissions);
      if (refused !== undefined) throw refused;
      if (this.finder !== undefined || this.#tools.includes(tool)) return tool;
    }
    const advice =
      this.finder === undefined ? "It is not among the selected tools." : "searchOperations finds them.";
    throw new ApiError("NOT_FOUND", `There is no operation ${JSON.stringify(name.slice(0, 100))}. ${advice}`);
  }
}
