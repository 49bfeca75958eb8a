/**
 * OpenAPI 3.1 as 3.0, for generators that read only 3.0. The meaning stays: what a schema loses is only validation that
 * clients do not do.
 */
type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNull = (schema: unknown) => isObject(schema) && schema.type === "null";

/** Keywords of JSON Schema that 3.0 does not have. */
const UNKNOWN_KEYWORDS = new Set([
  "contentMediaType",
  "contentEncoding",
  "patternProperties",
  "propertyNames",
  "$id",
]);

/** The document as OpenAPI 3.0. */
export function asOpenApi30(document: Json): Json {
  const { webhooks: _webhooks, info, ...rest } = document;
  const { summary: _summary, license: _license, ...plainInfo } = info as Json;
  return { ...(converted(rest) as Json), openapi: "3.0.3", info: plainInfo };
}

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted);
  if (!isObject(value)) return value;
  // Beside $ref, 3.0 ignores everything.
  if (typeof value.$ref === "string") return { $ref: value.$ref };
  // Examples of a schema are an array, those of a body an object, which 3.0 has too.
  const parts = Object.entries(value).filter(
    ([name, part]) => !UNKNOWN_KEYWORDS.has(name) && !(name === "examples" && Array.isArray(part)),
  );
  return nullable(
    Object.fromEntries(parts.map(([name, part]) => [name, name === "examples" ? part : converted(part)])),
  );
}

/** `const`, several types and null, as 3.0 writes them. */
function nullable(schema: Json): Json {
  const { type, anyOf, const: only, ...rest } = schema;
  // The generator writes an enum of booleans as text.
  if (typeof only === "boolean") return { ...rest, type: "boolean" };
  if ("const" in schema && !isObject(only)) return { ...rest, type: typeof only, enum: [only] };
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== "null");
    const single = types.length === 1 ? { type: types[0] } : {};
    const words = Array.isArray(rest.enum) ? { enum: rest.enum.filter((one) => one !== null) } : {};
    return { ...rest, ...words, ...single, ...(types.length < type.length && { nullable: true }) };
  }
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    const others = anyOf.filter((one) => !isNull(one));
    const [first] = others;
    if (others.length > 1) return { ...rest, anyOf: others, nullable: true };
    return isObject(first) && "$ref" in first
      ? { ...rest, allOf: [first], nullable: true }
      : { ...(first as Json), ...rest, nullable: true };
  }
  return schema;
}
