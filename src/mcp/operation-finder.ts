/**
 * Four tools for all operations that are no tools of their own: one finds them, the others call them. There are three of
 * those because people allow an assistant to read, to change and to send by tool.
 */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { ApiError, invalid } from "#platform/errors.ts";
import type { OperationTool } from "./operation-tool.ts";

export const SEARCH = "searchOperations";

const callers = {
  readOperation: {
    title: "Call an operation that reads",
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  changeOperation: {
    title: "Call an operation that changes something",
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  },
  sendOperation: {
    title: "Call an operation that sends, spends, or that a person must confirm",
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
} as const;
type CallerName = keyof typeof callers;

const DEFAULT_FOUND = 5;
const MOST_FOUND = 20;
const LONGEST_QUERY = 500;
/** Characters of an unknown name that an error shows. */
const LONGEST_SHOWN = 100;

function callerOf(tool: OperationTool): CallerName {
  if (tool.isGuarded) return "sendOperation";
  return tool.isReading ? "readOperation" : "changeOperation";
}

const searchTool: Tool = {
  name: SEARCH,
  title: "Find operations of Posthaste",
  description:
    "Finds operations by words, such as `suppression list add`, with the input that each takes and the tool that calls it. Without words it lists the names of all operations that this key may call.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", maxLength: LONGEST_QUERY, description: "Words, or the name of an operation." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MOST_FOUND,
        default: DEFAULT_FOUND,
        description: "Operations in the answer.",
      },
    },
    additionalProperties: false,
  },
  annotations: { title: "Find operations of Posthaste", readOnlyHint: true, openWorldHint: false },
};

export class OperationFinder {
  readonly #allowed: readonly OperationTool[];
  readonly #known: ReadonlyMap<string, OperationTool>;

  /** @param allowed the tools that the key may call; @param known all */
  constructor(allowed: readonly OperationTool[], known: ReadonlyMap<string, OperationTool>) {
    this.#allowed = allowed;
    this.#known = known;
  }

  get definitions(): Tool[] {
    const used = (Object.keys(callers) as CallerName[]).filter((name) =>
      this.#allowed.some((tool) => callerOf(tool) === name),
    );
    return [searchTool, ...used.map(callerTool)];
  }

  /** Operations for `searchOperations`: the best matches first. @throws ApiError VALIDATION_ERROR for an unknown name */
  search(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    requireKnownNames(searchTool, input);
    const query = typeof input.query === "string" ? input.query.slice(0, LONGEST_QUERY) : "";
    const words = wordsOf(query);
    if (words.length === 0) return { operations: this.#allowed.map(({ name }) => name) };
    const limit = typeof input.limit === "number" ? Math.trunc(input.limit) : DEFAULT_FOUND;
    const found = this.#allowed
      .map((tool) => ({ tool, score: scoreOf(tool, query, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score);
    return {
      operations: found.slice(0, Math.min(MOST_FOUND, Math.max(1, limit))).map(({ tool }) => ({
        operation: tool.name,
        call_with: tool.endpoint.isEveryday ? tool.name : callerOf(tool),
        description: tool.description,
        input: tool.definition.inputSchema,
      })),
      total: found.length,
    };
  }

  /**
   * The name of the operation and the input in a call of `readOperation` and its like; undefined for other tools.
   * @throws ApiError VALIDATION_ERROR without a name, with an unknown field beside it, and for an operation of another of
   *   these tools
   */
  called(
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): { readonly operation: string; readonly input: Readonly<Record<string, unknown>> } | undefined {
    if (!isCaller(name)) return undefined;
    requireKnownNames(callerTool(name), given);
    const { operation, input } = given;
    if (typeof operation !== "string") {
      throw invalid({ field: "operation", message: `operation must be a name that ${SEARCH} finds` });
    }
    const tool = this.#known.get(operation);
    const right = tool && callerOf(tool);
    if (right !== undefined && right !== name) {
      throw new ApiError("BAD_REQUEST", `Call ${operation} with ${right}`);
    }
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    if (input !== undefined && !isObject) {
      throw invalid({ field: "input", message: "input must be an object" });
    }
    return { operation, input: (input ?? {}) as Readonly<Record<string, unknown>> };
  }
}

const isCaller = (name: string): name is CallerName => Object.hasOwn(callers, name);

/** A name that a model made up would be lost silently. @throws ApiError VALIDATION_ERROR */
function requireKnownNames({ name, inputSchema }: Tool, input: Readonly<Record<string, unknown>>): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const [unknown] = Object.keys(input).filter((given) => !known.includes(given));
  if (unknown === undefined) return;
  const field = unknown.slice(0, LONGEST_SHOWN).toWellFormed();
  const message = `${field} is not a known field: ${name} takes ${known.join(" and ")}`;
  throw invalid({ field, message });
}

function callerTool(name: CallerName): Tool {
  const { title, annotations } = callers[name];
  return {
    name,
    title,
    description: `${title}. ${SEARCH} says which operations these are, and which input each takes.`,
    inputSchema: {
      type: "object",
      properties: {
        operation: { type: "string", description: `Name of the operation, as ${SEARCH} answers it.` },
        input: { type: "object", description: "Its input." },
      },
      required: ["operation"],
      additionalProperties: false,
    },
    annotations: { title, ...annotations },
  };
}

/** Lower-case words without a plural ending; the parts of camel-case names are words. */
function wordsOf(text: string): string[] {
  const words = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return (words.match(/[a-z0-9]+/g) ?? []).map((word) => word.replace(/(?<=..)(?:ies|y|es|s)$/, ""));
}

/** Words of the name count most, then those of the summary, then those of the description. */
function scoreOf(
  { name, endpoint, description }: OperationTool,
  query: string,
  words: readonly string[],
): number {
  if (query.trim() === name) return Number.POSITIVE_INFINITY;
  const places = [
    { words: new Set(wordsOf(name)), weight: 6 },
    { words: new Set(wordsOf(endpoint.summary)), weight: 3 },
    { words: new Set(wordsOf(`${endpoint.path} ${description}`)), weight: 1 },
  ];
  return words
    .map((word) =>
      Math.max(0, ...places.filter((place) => place.words.has(word)).map(({ weight }) => weight)),
    )
    .reduce((sum, weight) => sum + weight, 0);
}
