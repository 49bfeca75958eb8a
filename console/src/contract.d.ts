/** Facts of the API's contract that the build reads from openapi.json (vite.config.ts), so that none is typed by hand. */

/** `import parameters from "operation:listMessages"`: the query parameters of an operation. */
declare module "operation:*" {
  const parameters: readonly {
    readonly name: string;
    readonly description: string;
    readonly type?: string | readonly string[];
    readonly enum?: readonly string[];
    readonly maxLength?: number;
    readonly format?: string;
    readonly maximum?: number;
    readonly default?: unknown;
  }[];
  export default parameters;
}

/** `import field from "schema:NewCustomField"`: a schema, for the values and limits of its properties. */
declare module "schema:*" {
  interface Schema {
    readonly description?: string;
    readonly type?: string | readonly string[];
    readonly format?: string;
    readonly default?: unknown;
    readonly enum?: readonly string[];
    readonly maxLength?: number;
    readonly minLength?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxItems?: number;
    readonly default?: string | number | boolean;
    readonly items?: Schema;
    readonly properties: Readonly<Record<string, Schema>>;
  }
  const schema: Schema;
  export default schema;
}

/** The permission that each operation needs; null when it needs none. */
declare module "operation-permissions" {
  const permissions: Readonly<Record<string, string | null>>;
  export default permissions;
}
