/** Validates bodies against their shapes, with errors that name the field and say what is valid. */
import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Pointer } from "typebox/value";
import { momentWords } from "#platform/dates/read-moment.ts";
import { ApiError, type FieldFault, invalid } from "#platform/errors.ts";
import { patternsInWords } from "#platform/shapes.ts";
import { idSpeller } from "./lower-case-ids.ts";
import { type Surroundings, unknownNamesIn } from "./unknown-fields.ts";

export interface BodyEvents {
  /** An id was converted to lower case. */
  onRespelled?(): void;
  /** A name is not in the shape, and was ignored. */
  onIgnored?(ignored: FieldFault): void;
}

/** A function that checks a value and returns it with its ids in lower case. @throws ApiError VALIDATION_ERROR */
export function bodyReader<Shape extends TSchema>(
  shape: Shape,
  surroundings?: Surroundings,
): (value: unknown, events?: BodyEvents) => Static<Shape> {
  // Compiled with the first request: compiling a hundred shapes at start would take a hundred milliseconds.
  let validator: Validator | undefined;
  const spellIds = idSpeller(shape);
  const findUnknown = unknownNamesIn(shape, surroundings);
  return (value, events = {}) => {
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
    for (const ignored of unknown?.ignored ?? []) events.onIgnored?.(ignored);
    return (spellIds?.(value, () => events.onRespelled?.()) ?? value) as Static<Shape>;
  };
}

/** One error for each field: that of its name, or else the first from TypeBox, which reports at most eight. */
function faultsOf(
  errors: readonly ShapeError[],
  value: unknown,
  ofNames: readonly FieldFault[],
): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  const named = new Map(ofNames.map((fault) => [fault.field, fault]));
  const nullables = new Set(errors.filter(isNotNull).map((error) => error.instancePath));
  const constants = constantsOf(errors);
  for (const error of errors.filter((error) => !isNotNull(error) && !isRedundant(error))) {
    for (const [field, wanted] of wantedBy(error, value, constants)) {
      // For a text that is too long, null is no useful suggestion; a field that is missing is another than the nullable one.
      const isOther = error.keyword === "maxLength" || error.keyword === "required";
      const orNull = nullables.has(error.instancePath) && !isOther ? " or null" : "";
      const fault = named.get(field) ?? { field, message: `${field} ${wanted}${orNull}` };
      if (!faults.has(field)) faults.set(field, fault);
    }
  }
  for (const [field, fault] of named) faults.set(field, fault);
  return [...faults.values()];
}

type ShapeError = ReturnType<Validator["Errors"]>[number];

/** Whether it is the error of the null branch of a union; the other branch has its own error. */
function isNotNull(error: ShapeError): boolean {
  return error.keyword === "type" && error.params.type === "null" && error.schemaPath.includes("/anyOf/");
}

/** Errors of closed objects and unions, whose unknown fields and branches have errors of their own. */
function isRedundant({ keyword }: ShapeError): boolean {
  return keyword === "additionalProperties" || keyword === "anyOf";
}

/** The values that each place of the body may have, from the errors of the branches of a union of constants. */
function constantsOf(errors: readonly ShapeError[]): ReadonlyMap<string, readonly unknown[]> {
  const byPath = new Map<string, unknown[]>();
  for (const { keyword, params, instancePath } of errors) {
    if (keyword !== "const") continue;
    byPath.set(instancePath, [...(byPath.get(instancePath) ?? []), params.allowedValue]);
  }
  return byPath;
}

function wantedBy(
  error: ShapeError,
  body: unknown,
  constants: ReadonlyMap<string, readonly unknown[]>,
): [field: string, wanted: string][] {
  const path = fieldName(error.instancePath);
  const allowed = error.keyword === "const" ? (constants.get(error.instancePath) ?? []) : [];
  if (allowed.length > 1) return [[path, `must be one of ${allowed.join(", ")}`]];
  if (error.keyword === "maxLength") return [[path, tooLong(error.params.limit, body, error.instancePath)]];
  if (error.keyword !== "required") return [[path, sentence(error)]];
  return error.params.requiredProperties.map((name) => [
    path === "body" ? name : `${path}.${name}`,
    "is required",
  ]);
}

/** A message for the caller; those of TypeBox are for the author of the shape. */
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
  // Counted in code points, as TypeBox does.
  const length = text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  const shown = (count: number) => count.toLocaleString("en");
  return `must have at most ${shown(limit)} characters, and has ${shown(length)}`;
}

const formats: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  "date-time": momentWords,
  date: "must be a date such as 2027-01-31",
};

function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** The field name for a JSON pointer: `/attachments/0/content` is `attachments[0].content`. */
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
