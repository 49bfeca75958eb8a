/** `import parameters from "operation:listMessages"`: the query parameters of an operation (vite.config.ts). */
declare module "operation:*" {
  const parameters: readonly {
    readonly name: string;
    readonly description: string;
    readonly enum?: readonly string[];
    readonly maxLength?: number;
    readonly format?: string;
  }[];
  export default parameters;
}
