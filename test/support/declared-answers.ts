/**
 * Checks that openapi.json declares the status and the error code of every answer that a test gets, so that a reader can
 * rely on its lists.
 */
import document from "../../openapi.json" with { type: "json" };

interface Declared {
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

type Operations = Readonly<Record<string, Declared>>;

/** The operations with the pattern of their path; paths without ids first, as the router does it. */
const paths: readonly (readonly [pattern: RegExp, operations: Operations])[] = Object.entries(document.paths)
  .toSorted(([one], [other]) => one.split("{").length - other.split("{").length)
  .map(([path, operations]) => [
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    operations as unknown as Operations,
  ]);

const refusals: Readonly<Record<string, { readonly content: object }>> = document.components.responses;

/** @throws Error for an answer of an operation that openapi.json does not declare */
export function requireDeclared(method: string, url: string, status: number, body: unknown): void {
  const path = url.split("?")[0] ?? "";
  const operations = paths.find(([pattern]) => pattern.test(path))?.[1];
  const operation = operations?.[method.toLowerCase()];
  if (operation === undefined) return;
  const response = operation.responses[status];
  const name = response?.$ref?.split("/").at(-1);
  const { code } = Object(body) as { code?: unknown };
  const isListed =
    name === undefined || JSON.stringify(refusals[name]?.content).includes(`"${String(code)}":`);
  if (response !== undefined && isListed) return;
  throw new Error(
    `${method} ${path} answered ${status} ${String(code)}, which openapi.json does not declare`,
  );
}
