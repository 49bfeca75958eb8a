/**
 * Generates the two files of the client that follow from the contract: `generated.ts`, the types of openapi.json, and
 * `operations.ts`, a typed method and a row of a table for each operation. The same document always gives the same text.
 */
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Json>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: Json }>> }>
  >;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

const FOLDER = "clients/typescript/src";
const NOTE = "Generated from openapi.json by `npm run generate`; do not edit.";
/** Names that the client itself uses; an operation cannot have them. */
const RESERVED = new Set(["waitForJob", "watchJob", "constructor", "then"]);
/** Names beside the ids of the path in the argument of a method. */
const RESERVED_IDS = new Set([
  "body",
  "query",
  "headers",
  "signal",
  "timeoutMs",
  "retries",
  "idempotencyKey",
]);

/**
 * Texts of the client's files by path, relative to the root of the repository.
 * @param files the other generated files, of which one is openapi.json
 * @throws Error for an operation that the client cannot offer, such as one with a reserved name
 */
export async function generatedClientFiles(
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const document = JSON.parse(files.get("openapi.json") ?? "{}") as Contract;
  return new Map([
    [`${FOLDER}/generated.ts`, await typesOf(document)],
    [`${FOLDER}/operations.ts`, methodsOf(document)],
  ]);
}

async function typesOf(document: Contract): Promise<string> {
  const upload = ts.factory.createTypeReferenceNode("Upload");
  // A copy, because openapi-typescript changes what it reads.
  const nodes = await openapiTS(JSON.parse(JSON.stringify(document)), {
    // A field with a default may be left out of a request.
    defaultNonNullable: false,
    inject: 'import type { Upload } from "./upload.ts";\n',
    transform: (schema) => (schema.format === "binary" ? upload : undefined),
  });
  return `/** ${NOTE} */\n${astToString(nodes)}`;
}

function methodsOf(document: Contract): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => new Method(document, method, path, operation)),
  );
  return `/** ${NOTE} */
import type { Call, PagedCall } from "./call.ts";
import type { Body, CallOptions, Data, Query } from "./shapes.ts";

/** A method for each operation of the API. */
export interface Operations {
${operations.map((one) => one.declaration()).join("\n")}
}

/** Method, path and what is particular: \`key\`: honours Idempotency-Key; \`file\`: answers a file; \`(…)\`: the file in a form; \`[…]\`: the rows of a page. */
export const operationTable = {
${operations.map((one) => one.tableRow()).join("\n")}
} as const;
`;
}

/** The client's method for one operation. */
class Method {
  readonly #document: Contract;
  readonly #method: string;
  readonly #path: string;
  readonly #operation: Operation;
  readonly #ids: readonly string[];

  constructor(document: Contract, method: string, path: string, operation: Operation) {
    this.#document = document;
    this.#method = method.toUpperCase();
    this.#path = path;
    this.#operation = operation;
    this.#ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
    const taken = this.#ids.filter((name) => RESERVED_IDS.has(name));
    if (RESERVED.has(operation.operationId) || taken.length > 0) {
      throw new Error(`${operation.operationId} has a name that the client uses itself: ${taken.join(", ")}`);
    }
  }

  declaration(): string {
    const { operationId: id } = this.#operation;
    const data = `Data<"${id}">`;
    const rows = this.#rows();
    const result = rows === undefined ? `Call<${data}>` : `PagedCall<${data}, "${rows}">`;
    return `${this.#comment()}\n  ${id}(${this.#input()}): ${result};`;
  }

  tableRow(): string {
    const { operationId: id, requestBody } = this.#operation;
    const rows = this.#rows();
    const form = this.#resolved(requestBody?.content["multipart/form-data"]?.schema as Json | undefined);
    const fileField = Object.entries(propertiesOf(form)).find(([, { format }]) => format === "binary")?.[0];
    const particular = [
      this.#parametersIn("header").some(({ name }) => name === "Idempotency-Key") ? "key" : [],
      fileField === undefined ? [] : `(${fileField})`,
      this.#answer() === undefined ? "file" : [],
      rows === undefined ? [] : `[${rows}]`,
    ].flat();
    return `  ${id}: ${JSON.stringify([this.#method, this.#path, ...particular].join(" "))},`;
  }

  #comment(): string {
    const { summary, description = "" } = this.#operation;
    const lines = [`${summary}.`, ...description.split("\n"), "", `\`${this.#method} ${this.#path}\``];
    const text = lines.map((line) => `   * ${line.replaceAll("*/", "*\\/")}`.trimEnd());
    return `  /**\n${text.join("\n")}\n   */`;
  }

  #input(): string {
    const { operationId: id, requestBody } = this.#operation;
    const fields = this.#ids.map((name) => `${name}: string`);
    if (requestBody !== undefined) fields.push(`body${requestBody.required ? "" : "?"}: Body<"${id}">`);
    const inQuery = this.#parametersIn("query");
    if (inQuery.length > 0) {
      fields.push(`query${inQuery.some(({ required }) => required) ? "" : "?"}: Query<"${id}">`);
    }
    const isOptional = fields.every((field) => field.includes("?:"));
    const type = fields.length === 0 ? "CallOptions" : `{ ${fields.join("; ")} } & CallOptions`;
    return `input${isOptional ? "?" : ""}: ${type}`;
  }

  #parametersIn(place: string): Json[] {
    const parameters = (this.#operation.parameters ?? []).map((one) => this.#resolved(one));
    return parameters.filter((one) => one.in === place);
  }

  /** The envelope of a success; undefined if the answer is a file. */
  #answer(): Json | undefined {
    const success = Object.entries(this.#operation.responses).find(([status]) => status.startsWith("2"))?.[1];
    return success?.content?.["application/json"]?.schema;
  }

  /** The name of the array of rows in `data` of a list with pages; "data" if `data` is the array itself. */
  #rows(): string | undefined {
    const envelope = this.#answer();
    if (envelope === undefined) return undefined;
    const { data = {}, next_cursor } = propertiesOf(this.#resolved(envelope));
    if (next_cursor !== undefined) return "data";
    const fields = propertiesOf(this.#resolved(data));
    if (fields.pagination === undefined) return undefined;
    const arrays = Object.keys(fields).filter((name) => this.#resolved(fields[name]).type === "array");
    const { operationId } = this.#operation;
    const rows =
      arrays.length === 1
        ? arrays[0]
        : arrays.find((name) => operationId.toLowerCase().endsWith(name.replaceAll("_", "")));
    if (rows === undefined)
      throw new Error(`${operationId} has a pagination, but several arrays: ${arrays.join()}`);
    return rows;
  }

  #resolved(shape: Json = {}): Json {
    const { $ref } = shape;
    if (typeof $ref !== "string") return shape;
    const [, , group = "", name = ""] = $ref.split("/");
    return this.#resolved(this.#document.components[group]?.[name] ?? {});
  }
}

const propertiesOf = (shape: Json) => (shape.properties ?? {}) as Readonly<Record<string, Json>>;
