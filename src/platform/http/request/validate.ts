/** Bodies against their shapes, with faults that name the field and say what is wanted. */
import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Pointer } from "typebox/value";
import { ApiError, type FieldFault, invalid } from "#platform/errors.ts";
import { patternsInWords } from "#platform/shapes.ts";
import { idSpeller } from "./body-ids.ts";
import { type Surroundings, unknownNamesIn } from "./unknown-names.ts";

/** What a reader of bodies tells besides. */
export interface BodyNews {
  /** An id was not in lower case. */
  onRespelled?(): void;
  /** A name is not of the shape, and was ignored. */
  onIgnored?(ignored: FieldFault): void;
}

/**
 * Compiles a shape once; the returned function gives the value back typed and its ids in lower case, or throws
 * VALIDATION_ERROR.
 */
export function bodyReader<Shape extends TSchema>(
  shape: Shape,
  surroundings?: Surroundings,
): (value: unknown, news?: BodyNews) => Static<Shape> {
  // Compiled at the first request, not at start: a hundred shapes would cost the start a hundred milliseconds.
  let validator: Validator | undefined;
  const spellIds = idSpeller(shape);
  const findUnknown = unknownNamesIn(shape, surroundings);
  return (value, news = {}) => {
    validator ??= Compile(shape);
    const unknown = findUnknown?.(value);
    const isWellFormed = validator.Check(value);
    if (value === undefined) throw new ApiError("VALIDATION_ERROR", "Send a JSON object as the request body");
    const [first, ...rest] = faultsOf(
      isWellFormed ? [] : validator.Errors(value),
      value,
      unknown?.faults ?? [],
    );
    if (first !== undefined) throw invalid(first, ...rest);
    if (!isWellFormed) throw new ApiError("VALIDATION_ERROR");
    for (const ignored of unknown?.ignored ?? []) news.onIgnored?.(ignored);
    return (spellIds?.(value, () => news.onRespelled?.()) ?? value) as Static<Shape>;
  };
}

/** One fault a field: of its name, or else the first that TypeBox found; it looks for eight at the most. */
function faultsOf(
  errors: readonly ShapeError[],
  value: unknown,
  ofNames: readonly FieldFault[],
): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  const named = new Map(ofNames.map((fault) => [fault.field, fault]));
  const nullables = new Set(errors.filter(isNotNull).map((error) => error.instancePath));
  for (const error of errors.filter((error) => !isNotNull(error) && !isSaidOtherwise(error))) {
    for (const [field, wanted] of wantedBy(error, value)) {
      // A text that is too long is not meant to be null.
      const orNull = nullables.has(error.instancePath) && error.keyword !== "maxLength" ? " or null" : "";
      const fault = named.get(field) ?? { field, message: `${field} ${wanted}${orNull}` };
      if (!faults.has(field)) faults.set(field, fault);
    }
  }
  for (const [field, fault] of named) faults.set(field, fault);
  return [...faults.values()];
}

type ShapeError = ReturnType<Validator["Errors"]>[number];

/** What a union with null says of a value that fits neither; the other branch says what else it may be. */
function isNotNull(error: ShapeError): boolean {
  return error.keyword === "type" && error.params.type === "null" && error.schemaPath.includes("/anyOf/");
}

/** What a closed object says of unknown fields, and a union of its branches: each of those has its own fault besides. */
function isSaidOtherwise({ keyword }: ShapeError): boolean {
  return keyword === "additionalProperties" || keyword === "anyOf";
}

function wantedBy(error: ShapeError, body: unknown): [field: string, wanted: string][] {
  const path = fieldName(error.instancePath);
  if (error.keyword === "maxLength") return [[path, tooLong(error.params.limit, body, error.instancePath)]];
  if (error.keyword !== "required") return [[path, sentence(error)]];
  return error.params.requiredProperties.map((name) => [
    path === "body" ? name : `${path}.${name}`,
    "is required",
  ]);
}

/** TypeBox's own sentences are for those who wrote the shape. */
function sentence(error: ShapeError): string {
  switch (error.keyword) {
    case "type":
      return `must be ${[error.params.type].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of ${error.params.allowedValues.join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case "minLength":
      return error.params.limit === 1
        ? "must not be empty"
        : `must have at least ${error.params.limit} characters`;
    case "minItems":
      return error.params.limit === 1
        ? "must not be empty"
        : `must have at least ${error.params.limit} items`;
    case "maxItems":
      return `must have at most ${error.params.limit} items`;
    case "minimum":
      return `must be at least ${error.params.limit}`;
    case "maximum":
      return `must be at most ${error.params.limit}`;
    case "boolean":
      return "is not a known field";
    case "format":
      return formats[error.params.format] ?? error.message;
    case "pattern": {
      const words = patternsInWords.get(String(error.params.pattern));
      return words === undefined ? error.message : `must be ${words}`;
    }
    default:
      return error.message;
  }
}

function tooLong(limit: number, body: unknown, instancePath: string): string {
  const text = String(Pointer.Get(Object(body), instancePath));
  // In code points, as TypeBox counts them.
  const length = text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  const shown = (count: number) => count.toLocaleString("en");
  return `must have at most ${shown(limit)} characters, and has ${shown(length)}`;
}

const formats: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  "date-time": "must be a date with time and zone, such as 2027-01-31T12:00:00Z",
  date: "must be a date such as 2027-01-31",
};

function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** A JSON pointer as people write it: `/attachments/0/content` is `attachments[0].content`. */
function fieldName(pointer: string): string {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return (
    steps.reduce(
      (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path ? `${path}.${step}` : step),
      "",
    ) || "body"
  );
}
